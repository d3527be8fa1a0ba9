// SPDX-License-Identifier: Apache-2.0
// Each rank is a header followed by its table parts. Both sides are the same program.
#include "server/jobs/job_ranks.h"

#include "analysis/report/report_parts.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

struct header {
    int64_t rank;
    uint64_t end; // where its parts end in the file
};

bool job_ranks_write(struct store *store, const struct rank_trace *rank, int fd, struct err *err)
{
    struct header header = {.rank = rank->rank};
    off_t begin = lseek(fd, 0, SEEK_CUR);
    errno = ENOSPC; // a short write means a full disk
    if (begin < 0 || write(fd, &header, sizeof header) != (ssize_t)sizeof header)
        return err_set_errno(err, "writing the ranks");
    if (!store_copy_trace_parts(store, rank->trace_id, run_rank_tables, fd, err))
        return false;
    header.end = (uint64_t)lseek(fd, 0, SEEK_CUR);
    errno = ENOSPC;
    return pwrite(fd, &header, sizeof header, begin) == (ssize_t)sizeof header ||
           err_set_errno(err, "writing the ranks");
}

// --- reading ------------------------------------------------------------------------------------

// The position of each rank's parts.
struct place {
    uint64_t from, end;
};

struct ranks {
    int fd;
    struct place *places;
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    const struct ranks *ranks = context;
    struct report_parts parts;
    bool found = true, ok = true;
    report_parts_open(&parts, ranks->fd, run_rank_tables);
    parts.at = ranks->places[index].from;
    parts.end = ranks->places[index].end;
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = !known[table_place(known, parts.part.desc)] ||
             report_part_load(&parts.part, report, err);
    report_parts_close(&parts);
    return ok;
}

static bool refuse_damaged(struct err *err)
{
    return err_set(err, ERR_INTERNAL, "the file of ranks is damaged");
}

// Counts the ranks, and records as many as there is room for.
static bool find_ranks(int fd, int64_t *numbers, struct place *places, size_t *count,
                       struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set_errno(err, "reading the ranks");
    *count = 0;
    for (uint64_t at = 0; at < (uint64_t)info.st_size; ++*count) {
        struct header header;
        if (pread(fd, &header, sizeof header, (off_t)at) != (ssize_t)sizeof header ||
            header.end < at + sizeof header || header.end > (uint64_t)info.st_size)
            return refuse_damaged(err);
        if (numbers) {
            numbers[*count] = header.rank;
            places[*count] = (struct place){at + sizeof header, header.end};
        }
        at = header.end;
    }
    return true;
}

bool job_ranks_read(int fd, struct arena *arena, struct rank_source *source, struct err *err)
{
    size_t count;
    if (!find_ranks(fd, NULL, NULL, &count, err))
        return false;
    struct ranks *ranks = arena_alloc(arena, sizeof *ranks, err);
    int64_t *numbers = arena_array(arena, count + 1, sizeof *numbers, err);
    struct place *places = arena_array(arena, count + 1, sizeof *places, err);
    if (!ranks || !numbers || !places || !find_ranks(fd, numbers, places, &count, err))
        return false;
    *ranks = (struct ranks){fd, places};
    *source =
        (struct rank_source){.ranks = numbers, .count = count, .context = ranks, .load = load};
    return true;
}
