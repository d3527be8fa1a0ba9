// SPDX-License-Identifier: Apache-2.0
#include "server/exports/sorted_spill.h"

#include "ingest/base/budget.h"
#include "ingest/base/fd_io.h"
#include "ingest/base/scratch.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define WRITE_BYTES ((size_t)256 << 10)
#define READ_BYTES  ((size_t)16 << 20) // of all runs together
#define MOST_WINDOW ((size_t)64 << 10) // of a run

struct line_head {
    int64_t time_ns;
    uint32_t len;
};

struct run {
    uint64_t at, end;  // in the file, of what is not read
    char *window;      // read so far
    size_t used, held; // of the window
    struct line_head head;
};

struct sorted_spill {
    struct scratch file;
    uint64_t min_free_bytes;
    uint64_t written, bytes;
    struct buf out; // not written yet
    struct run *runs;
    size_t run_count, run_room;
    size_t window_bytes; // of a run; holds more than a line
    uint32_t *heap;      // runs with lines left, the earliest first
    size_t heap_count;
};

struct sorted_spill *sorted_spill_new(uint64_t min_free_bytes, struct err *err)
{
    struct sorted_spill *spill = calloc(1, sizeof *spill);
    if (!spill) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    spill->min_free_bytes = min_free_bytes;
    spill->file = scratch_open();
    if (spill->file.fd >= 0)
        return spill;
    free(spill);
    err_set(err, ERR_SPACE, "found no room in the temporary folder");
    return NULL;
}

void sorted_spill_free(struct sorted_spill *spill)
{
    if (!spill)
        return;
    for (size_t i = 0; i < spill->run_count; i++)
        free(spill->runs[i].window);
    free(spill->runs);
    free(spill->heap);
    buf_free(&spill->out);
    scratch_close(spill->file);
    free(spill);
}

uint64_t sorted_spill_bytes(const struct sorted_spill *spill)
{
    return spill->bytes;
}

// --- writing ------------------------------------------------------------------------------------

static bool check_free(const struct sorted_spill *spill, struct err *err)
{
    struct statvfs disk;
    if (!spill->min_free_bytes)
        return true;
    if (fstatvfs(spill->file.fd, &disk) != 0)
        return err_set_errno(err, "the temporary folder");
    return (uint64_t)disk.f_bavail * disk.f_frsize >= spill->min_free_bytes ||
           err_set(err, ERR_SPACE, "too little room is left in the temporary folder");
}

static bool flush(struct sorted_spill *spill, struct err *err)
{
    if (!buf_ok(&spill->out, err) || !check_free(spill, err))
        return false;
    if (!fd_write(spill->file.fd, spill->out.at, spill->out.len))
        return err_set_errno(err, "writing to the temporary folder");
    spill->written += spill->out.len;
    buf_clear(&spill->out);
    return true;
}

bool sorted_spill_run(struct sorted_spill *spill, struct err *err)
{
    struct run *grown =
        budget_room(NULL, spill->runs, &spill->run_room, spill->run_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    spill->runs = grown;
    uint64_t at = spill->written + spill->out.len;
    spill->runs[spill->run_count++] = (struct run){.at = at, .end = at};
    return true;
}

bool sorted_spill_add(struct sorted_spill *spill, int64_t time_ns, struct str line, struct err *err)
{
    assert(spill->run_count && line.len <= SPILL_MOST_LINE);
    struct line_head head = {time_ns, (uint32_t)line.len};
    buf_add(&spill->out, &head, sizeof head);
    buf_add_str(&spill->out, line);
    spill->bytes += line.len;
    spill->runs[spill->run_count - 1].end = spill->written + spill->out.len;
    return spill->out.len < WRITE_BYTES || flush(spill, err);
}

// --- merging ------------------------------------------------------------------------------------

// Has at least that many bytes of the run in its window, from `used` on.
static bool fill(struct sorted_spill *spill, struct run *run, size_t wanted, struct err *err)
{
    if (run->held - run->used >= wanted)
        return true;
    memmove(run->window, run->window + run->used, run->held - run->used);
    run->held -= run->used;
    run->used = 0;
    uint64_t left = run->end - run->at;
    size_t room = spill->window_bytes - run->held;
    ssize_t got = fd_read_at(spill->file.fd, run->window + run->held,
                             left < room ? (size_t)left : room, run->at);
    run->held += got > 0 ? (size_t)got : 0;
    run->at += got > 0 ? (uint64_t)got : 0;
    return run->held >= wanted || err_set_errno(err, "reading from the temporary folder");
}

static bool is_over(const struct run *run)
{
    return run->at == run->end && run->used == run->held;
}

// Reads the head of the run's next line.
static bool advance(struct sorted_spill *spill, struct run *run, struct err *err)
{
    if (!fill(spill, run, sizeof run->head, err))
        return false;
    memcpy(&run->head, run->window + run->used, sizeof run->head);
    run->used += sizeof run->head;
    return fill(spill, run, run->head.len, err);
}

static bool is_before(const struct sorted_spill *spill, uint32_t a, uint32_t b)
{
    int64_t left = spill->runs[a].head.time_ns, right = spill->runs[b].head.time_ns;
    return left < right || (left == right && a < b);
}

static void sift_down(struct sorted_spill *spill, size_t at)
{
    for (;;) {
        size_t least = at, child = 2 * at + 1;
        for (size_t i = child; i < child + 2 && i < spill->heap_count; i++)
            if (is_before(spill, spill->heap[i], spill->heap[least]))
                least = i;
        if (least == at)
            return;
        uint32_t run = spill->heap[at];
        spill->heap[at] = spill->heap[least];
        spill->heap[least] = run;
        at = least;
    }
}

bool sorted_spill_merge(struct sorted_spill *spill, struct err *err)
{
    size_t least = 2 * SPILL_MOST_LINE, share = READ_BYTES / (spill->run_count + 1);
    share = share < MOST_WINDOW ? share : MOST_WINDOW;
    spill->window_bytes = share > least ? share : least;
    spill->heap = malloc((spill->run_count + 1) * sizeof *spill->heap);
    if (!spill->heap || !flush(spill, err))
        return spill->heap || err_set(err, ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < spill->run_count; i++) {
        struct run *run = &spill->runs[i];
        if (is_over(run))
            continue;
        if (!(run->window = malloc(spill->window_bytes)))
            return err_set(err, ERR_MEMORY, "out of memory");
        if (!advance(spill, run, err))
            return false;
        spill->heap[spill->heap_count++] = (uint32_t)i;
    }
    for (size_t i = spill->heap_count / 2; i-- > 0;)
        sift_down(spill, i);
    return true;
}

bool sorted_spill_next(struct sorted_spill *spill, size_t bytes, struct buf *out, bool *more,
                       struct err *err)
{
    for (size_t goal = out->len + bytes; spill->heap_count && out->len < goal;) {
        struct run *run = &spill->runs[spill->heap[0]];
        buf_add(out, run->window + run->used, run->head.len);
        run->used += run->head.len;
        if (is_over(run))
            spill->heap[0] = spill->heap[--spill->heap_count];
        else if (!advance(spill, run, err))
            return false;
        sift_down(spill, 0);
    }
    *more = spill->heap_count > 0;
    return buf_ok(out, err);
}
