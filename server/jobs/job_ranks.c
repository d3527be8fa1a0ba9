// SPDX-License-Identifier: Apache-2.0
// Each rank is a header followed by its table parts. Both sides are the same program.
#include "server/jobs/job_ranks.h"

#include "server/store/store_inputs.h"

#include "analysis/report/report_parts.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_RANK (-1) // an attachment

struct header {
    int64_t rank;
    bool by_order;
    char role[TRACE_ROLE_MAX + 1];
    uint64_t end; // where its parts end in the file
};

static bool start(const struct header *header, int fd, off_t *at, struct err *err)
{
    *at = lseek(fd, 0, SEEK_CUR);
    errno = ENOSPC; // a short write means a full disk
    return (*at >= 0 && write(fd, header, sizeof *header) == (ssize_t)sizeof *header) ||
           err_set_errno(err, "writing the ranks");
}

static bool finish(struct header *header, int fd, off_t at, struct err *err)
{
    header->end = (uint64_t)lseek(fd, 0, SEEK_CUR);
    errno = ENOSPC;
    return pwrite(fd, header, sizeof *header, at) == (ssize_t)sizeof *header ||
           err_set_errno(err, "writing the ranks");
}

bool job_ranks_write(struct store *store, const struct rank_trace *rank, int fd, struct err *err)
{
    struct header header = {.rank = rank->rank, .by_order = rank->by_order};
    memcpy(header.role, rank->role.at,
           rank->role.len < TRACE_ROLE_MAX ? rank->role.len : TRACE_ROLE_MAX);
    off_t at;
    return start(&header, fd, &at, err) &&
           store_copy_trace_parts(store, rank->trace_id, run_rank_tables, fd, err) &&
           finish(&header, fd, at, err);
}

bool job_ranks_write_evidence(struct store *store, struct str input_id, int fd, struct err *err)
{
    struct header header = {.rank = NO_RANK};
    off_t at;
    return start(&header, fd, &at, err) &&
           store_copy_input_parts(store, input_id, evidence_tables, fd, err) &&
           finish(&header, fd, at, err);
}

// --- reading ------------------------------------------------------------------------------------

// The position of each rank's parts, then of each attachment's.
struct place {
    uint64_t from, end;
};

struct ranks {
    int fd;
    struct place *places;
    size_t count; // of ranks
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    const struct ranks *ranks = context;
    struct report_parts parts;
    bool found = true, ok = true;
    report_parts_open(&parts, ranks->fd, index < ranks->count ? run_rank_tables : evidence_tables);
    parts.at = ranks->places[index].from;
    parts.end = ranks->places[index].end;
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = !known[table_place(known, parts.part.desc)] ||
             report_part_load(&parts.part, report, err);
    report_parts_close(&parts);
    return ok;
}

struct found {
    size_t ranks, evidence;
};

// Of each.
struct listed {
    int64_t *numbers;
    bool *by_order;
    struct str *roles;
    struct place *places;
};

static bool list_rank(const struct listed *listed, size_t index, const struct header *header,
                      uint64_t at, struct arena *arena, struct err *err)
{
    struct str role = {header->role, strnlen(header->role, TRACE_ROLE_MAX)};
    listed->numbers[index] = header->rank;
    listed->by_order[index] = header->by_order;
    listed->places[index] = (struct place){at + sizeof *header, header->end};
    listed->roles[index] = (struct str){arena_strdup(arena, role, err), role.len};
    return listed->roles[index].at;
}

// Counts them, and records as many as there is room for.
static bool find_ranks(int fd, struct listed *listed, struct found *found, struct arena *arena,
                       struct err *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return err_set_errno(err, "reading the ranks");
    *found = (struct found){0};
    for (uint64_t at = 0; at < (uint64_t)info.st_size;) {
        struct header header;
        if (pread(fd, &header, sizeof header, (off_t)at) != (ssize_t)sizeof header ||
            header.end < at + sizeof header || header.end > (uint64_t)info.st_size ||
            (found->evidence && header.rank != NO_RANK))
            return err_set(err, ERR_INTERNAL, "the file of ranks is damaged");
        size_t index = found->ranks + found->evidence;
        if (listed && !list_rank(listed, index, &header, at, arena, err))
            return false;
        *(header.rank == NO_RANK ? &found->evidence : &found->ranks) += 1;
        at = header.end;
    }
    return true;
}

bool job_ranks_read(int fd, struct arena *arena, struct rank_source *source, struct err *err)
{
    struct found found;
    if (!find_ranks(fd, NULL, &found, arena, err))
        return false;
    size_t count = found.ranks + found.evidence;
    struct ranks *ranks = arena_alloc(arena, sizeof *ranks, err);
    struct listed listed = {arena_array(arena, count + 1, sizeof(int64_t), err),
                            arena_array(arena, count + 1, sizeof(bool), err),
                            arena_array(arena, count + 1, sizeof(struct str), err),
                            arena_array(arena, count + 1, sizeof(struct place), err)};
    if (!ranks || !listed.numbers || !listed.by_order || !listed.roles || !listed.places ||
        !find_ranks(fd, &listed, &found, arena, err))
        return false;
    *ranks = (struct ranks){fd, listed.places, found.ranks};
    *source = (struct rank_source){.ranks = listed.numbers,
                                   .roles = listed.roles,
                                   .by_order = listed.by_order,
                                   .count = found.ranks,
                                   .evidence_count = found.evidence,
                                   .context = ranks,
                                   .load = load};
    return true;
}
