// SPDX-License-Identifier: Apache-2.0
// The overview of a run's ranks against every nanosecond of generated traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "ingest/trace/overview.h"
#include "ingest/trace/trace_builder.h"
#include "ingest/trace/trace_file.h"

enum { RANKS = 70, WITHOUT = 3, SPAN_NS = 50000, KERNELS = 75, BASE_NS = 1000000 };

struct job {
    int fds[RANKS];
    int64_t ranks[RANKS];
    struct piece_clock clocks[RANKS];
    uint8_t (*does)[SPAN_NS]; // what each rank's devices do, a bit per part
    struct overview *overview;
    int fd;
    struct arena arena;
};

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void add(struct trace_builder *builder, const char *name, int64_t begin_ns, int64_t dur_ns,
                int64_t stream)
{
    static const enum event_kind kinds[] = {EVENT_KERNEL, EVENT_KERNEL, EVENT_MEMCPY};
    struct err err;
    struct event_record event = {.kind = kinds[stream],
                                 .pid = {0, 0},
                                 .tid = {stream, 0},
                                 .begin_ns = begin_ns,
                                 .dur_ns = dur_ns};
    assert_true(strtab_intern(trace_builder_strings(builder), str_of(name), &event.name, &err));
    assert_true(trace_builder_add(builder, &event, &err));
}

// Kernels on two streams and copies on a third, which overlap.
static struct trace *make_trace(uint32_t rank, uint8_t *does, struct budget *budget)
{
    static const char *const names[] = {"gemm", "ncclDevKernel_AllReduce", "Memcpy DtoD"};
    struct err err;
    uint64_t state = rank + 1;
    struct trace_builder *builder = trace_builder_new(budget, &err);
    assert_non_null(builder);
    add(builder, "gemm", 0, 1, 0);
    add(builder, "gemm", SPAN_NS - 1, 1, 0);
    does[0] |= 1;
    does[SPAN_NS - 1] |= 1;
    for (uint32_t i = 0; i < KERNELS; i++) {
        int64_t begin_ns = (int64_t)(next_random(&state) % (SPAN_NS - 2000)) + 1;
        int64_t dur_ns = (int64_t)(next_random(&state) % (100 + 5 * rank));
        uint32_t part = (uint32_t)(next_random(&state) % 3);
        add(builder, names[part], begin_ns, dur_ns, part);
        for (int64_t ns = begin_ns; ns < begin_ns + dur_ns; ns++)
            does[ns] |= (uint8_t)(1u << part);
    }
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    return trace;
}

static struct trace_file *open_rank(void *context, uint32_t index, struct err *err)
{
    const struct job *job = context;
    if (index == WITHOUT) {
        err_set(err, ERR_NOT_FOUND, "gone");
        return NULL;
    }
    return trace_file_open_fd(dup(job->fds[index]), "rank", err);
}

static int open_job(void **state)
{
    struct job *job = calloc(1, sizeof *job);
    struct err err = {0};
    job->does = calloc(RANKS, sizeof *job->does);
    for (uint32_t i = 0; i < RANKS; i++) {
        struct budget budget = {0};
        struct trace *trace = make_trace(i, job->does[i], &budget);
        job->fds[i] = memfd_create("rank", 0);
        job->ranks[i] = 2 * i;
        job->clocks[i] = (struct piece_clock){.base_ns = BASE_NS, .offset_ns = -(int64_t)i};
        assert_true(trace_file_save_fd(trace, dup(job->fds[i]), "rank", &err));
        trace_free(trace);
    }
    struct overview_source source = {RANKS, job, open_rank, job->ranks, job->clocks};
    struct budget budget = {0};
    int scratch = memfd_create("scratch", 0);
    job->fd = memfd_create("overview", 0);
    if (!overview_write(&source, job->fd, scratch, &budget, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(budget.used, 0);
    close(scratch);
    job->overview = overview_open_fd(dup(job->fd), &err);
    assert_non_null(job->overview);
    arena_init(&job->arena, NULL);
    *state = job;
    return 0;
}

static int close_job(void **state)
{
    struct job *job = *state;
    for (uint32_t i = 0; i < RANKS; i++)
        close(job->fds[i]);
    overview_close(job->overview);
    close(job->fd);
    arena_free(&job->arena);
    free(job->does);
    free(job);
    return 0;
}

static struct overview_window read_window(struct job *job, struct overview_query query)
{
    struct overview_window window;
    struct err err;
    if (!overview_read(job->overview, &query, &job->arena, &window, &err))
        fail_msg("%s", err.msg);
    return window;
}

static struct overview_query whole(uint32_t px, uint32_t first, uint32_t count, uint32_t lanes)
{
    return (struct overview_query){INT64_MIN, INT64_MAX, px, first, count, lanes};
}

// The shares of a piece on a rank, each rounded with those before it; false: outside its trace.
static bool shares_of(const struct job *job, uint32_t rank, const struct overview_window *window,
                      uint32_t piece, int shares[OVERVIEW_OF_RANK])
{
    int64_t shift_ns = BASE_NS - (int64_t)rank;
    int64_t from_ns = window->begin_ns + piece * window->piece_ns - shift_ns;
    int64_t to_ns = from_ns + window->piece_ns, sums[OVERVIEW_OF_RANK] = {0};
    from_ns = from_ns > 0 ? from_ns : 0;
    to_ns = to_ns < SPAN_NS ? to_ns : SPAN_NS;
    if (rank == WITHOUT || from_ns >= to_ns)
        return false;
    for (int64_t ns = from_ns; ns < to_ns; ns++)
        for (uint32_t part = 0; part < OVERVIEW_OF_RANK; part++)
            sums[part] += (job->does[rank][ns] & ((2u << part) - 1)) != 0;
    for (uint32_t part = 0, before = 0; part < OVERVIEW_OF_RANK; part++) {
        uint32_t upto = (uint32_t)(255.0 * (double)sums[part] / (double)(to_ns - from_ns) + 0.5);
        shares[part] = (int)(upto - before);
        before = upto;
    }
    return true;
}

static void check_piece(const struct job *job, const struct overview_window *window, uint32_t rank,
                        uint32_t piece)
{
    const struct overview_lane *lane = &window->lanes[rank];
    int shares[OVERVIEW_OF_RANK];
    bool known = shares_of(job, rank, window, piece, shares);
    assert_int_equal(known, lane->share[0][piece] + lane->share[1][piece] <= 255);
    for (uint32_t part = 0; known && part < OVERVIEW_OF_RANK; part++)
        assert_int_equal(lane->share[part][piece], shares[part]);
}

static void ranks_have_the_exact_shares_of_every_piece_of_every_level(void **state)
{
    struct job *job = *state;
    for (uint32_t px = OVERVIEW_MIN_PX; px <= OVERVIEW_MAX_PX; px *= 2) {
        struct overview_window window = read_window(job, whole(px, 0, RANKS, RANKS));
        assert_int_equal(window.lane_count, RANKS);
        assert_in_range(window.piece_count, 1, px);
        for (uint32_t rank = 0; rank < RANKS; rank++)
            for (uint32_t i = 0; i < window.piece_count; i++)
                check_piece(job, &window, rank, i);
    }
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// A piece of a lane.
struct place {
    const struct job *job;
    const struct overview_window *window;
    const struct overview_lane *lane;
    uint32_t piece;
};

// What a group should say about a part, OVERVIEW_IDLE included; the median in the middle.
static int extents(const struct place *at, uint32_t part, int extent[3])
{
    int values[RANKS], count = 0;
    for (uint32_t i = 0; i < at->lane->rank_count; i++) {
        int shares[OVERVIEW_OF_RANK];
        if (!shares_of(at->job, at->lane->first_rank + i, at->window, at->piece, shares))
            continue;
        values[count++] =
            part == OVERVIEW_IDLE ? 255 - shares[0] - shares[1] - shares[2] : shares[part];
    }
    qsort(values, (size_t)count, sizeof *values, by_value);
    for (int i = 0; count && i < 3; i++)
        extent[i] = values[i * (count - 1) / 2];
    return count;
}

static void check_lane(const struct place *at)
{
    const struct overview_lane *lane = at->lane;
    uint32_t piece = at->piece;
    static const uint32_t figures[][3] = {
        {OVERVIEW_COMPUTE_LEAST, OVERVIEW_COMPUTE, OVERVIEW_COMPUTE_MOST},
        {OVERVIEW_COMMUNICATION_LEAST, OVERVIEW_COMMUNICATION, OVERVIEW_COMMUNICATION_MOST},
        {OVERVIEW_IDLE_LEAST, OVERVIEW_IDLE, OVERVIEW_IDLE_MOST}};
    static const uint32_t parts[] = {OVERVIEW_COMPUTE, OVERVIEW_COMMUNICATION, OVERVIEW_IDLE};
    for (size_t i = 0; i < 3; i++) {
        int extent[3], found[3];
        if (!extents(at, parts[i], extent))
            return;
        for (int k = 0; k < 3; k++)
            found[k] = lane->share[figures[i][k]][piece];
        assert_memory_equal(found, extent, sizeof found);
    }
    int shares[OVERVIEW_OF_RANK];
    uint32_t idlest = lane->idlest[piece], slowest = lane->slowest[piece];
    if (idlest != OVERVIEW_NOBODY) {
        assert_true(shares_of(at->job, lane->first_rank + idlest, at->window, piece, shares));
        assert_int_equal(255 - shares[0] - shares[1] - shares[2],
                         lane->share[OVERVIEW_IDLE_MOST][piece]);
    }
    if (slowest != OVERVIEW_NOBODY) {
        assert_true(shares_of(at->job, lane->first_rank + slowest, at->window, piece, shares));
        assert_int_equal(shares[1], lane->share[OVERVIEW_COMMUNICATION_LEAST][piece]);
    }
}

static void groups_have_the_median_and_the_extremes_of_their_ranks(void **state)
{
    struct job *job = *state;
    static const struct {
        uint32_t lanes, found;
    } cases[] = {{16, 9}, {8, 2}, {1, 1}};
    for (size_t c = 0; c < 3; c++) {
        struct overview_window window = read_window(job, whole(300, 0, RANKS, cases[c].lanes));
        assert_int_equal(window.lane_count, cases[c].found);
        for (uint32_t lane = 0; lane < window.lane_count; lane++)
            for (uint32_t i = 0; i < window.piece_count; i++)
                check_lane(&(struct place){job, &window, &window.lanes[lane], i});
    }
}

static void a_narrow_window_of_few_ranks_is_cut_out_of_the_whole(void **state)
{
    struct job *job = *state;
    struct overview_window all = read_window(job, whole(2048, 0, RANKS, RANKS));
    struct overview_query query = {
        all.begin_ns + 40 * all.piece_ns, all.begin_ns + 90 * all.piece_ns, 64, 17, 5, 16};
    struct overview_window window = read_window(job, query);
    assert_int_equal(window.lane_count, 5);
    assert_int_equal(window.lanes[0].first_rank, 17);
    assert_int_equal(window.piece_ns, all.piece_ns);
    assert_int_equal(window.piece_count, 50);
    assert_memory_equal(window.lanes[4].share[1], all.lanes[21].share[1] + 40, 50);
}

static void a_file_that_is_cut_or_changed_is_refused(void **state)
{
    struct job *job = *state;
    struct err err;
    off_t size = lseek(job->fd, 0, SEEK_END);
    for (off_t at = 0; at < size; at += at < 100 ? 1 : 20011) {
        char was;
        int fd = memfd_create("cut", 0);
        off_t from = 0;
        assert_true(sendfile(fd, job->fd, &from, (size_t)at) == (ssize_t)at);
        struct overview *cut = overview_open_fd(fd, &err);
        assert_null(cut); // the index is at the end, but so are the ranks
        if (at >= (off_t)sizeof(struct overview_header))
            continue;
        assert_true(pread(job->fd, &was, 1, at) == 1);
        assert_true(pwrite(job->fd, &(char){(char)(was ^ 0x10)}, 1, at) == 1);
        assert_null(overview_open_fd(dup(job->fd), &err));
        assert_true(pwrite(job->fd, &was, 1, at) == 1);
    }
}

static void pieces_beyond_all_times_are_refused(void **state)
{
    struct job *job = *state;
    const struct overview_header was = *overview_header(job->overview);
    struct overview_header header = was;
    struct err err;
    header.width_bits = 55;
    header.first = 0;
    header.checksum = overview_checksum(&header, overview_ranks(job->overview));
    assert_true(pwrite(job->fd, &header, sizeof header, 0) == (ssize_t)sizeof header);
    assert_null(overview_open_fd(dup(job->fd), &err));
    assert_non_null(strstr(err.msg, "header does not add up"));
    assert_true(pwrite(job->fd, &was, sizeof was, 0) == (ssize_t)sizeof was);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_have_the_exact_shares_of_every_piece_of_every_level),
        cmocka_unit_test(groups_have_the_median_and_the_extremes_of_their_ranks),
        cmocka_unit_test(a_narrow_window_of_few_ranks_is_cut_out_of_the_whole),
        cmocka_unit_test(a_file_that_is_cut_or_changed_is_refused),
        cmocka_unit_test(pieces_beyond_all_times_are_refused),
    };
    return cmocka_run_group_tests(tests, open_job, close_job);
}
