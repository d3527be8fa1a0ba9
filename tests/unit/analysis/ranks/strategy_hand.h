// SPDX-License-Identifier: Apache-2.0
// A job of handmade calls, for strategies and pipelines.
#ifndef TESTS_STRATEGY_HAND_H
#define TESTS_STRATEGY_HAND_H

#include "analysis/ranks/strategy.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "tests/named_cell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#define MIB        ((int64_t)1 << 20)
#define STEPS      2
#define MAX_RANKS  32
#define MAX_OPS    4096
#define MAX_GROUPS 256
#define MAX_CALLS  1024

// A job whose calls are added one by one.
struct job {
    struct budget budget;
    struct arena arena;
    struct run_comm comm;
    struct run_passes passes;
    struct report report;
    struct err err;
    int64_t transfer_bytes; // of what add_transfer adds; 0: 4 MiB
};

static inline void *room(struct job *job, size_t count, size_t size)
{
    void *at = arena_array(&job->arena, count, size, &job->err);
    assert_non_null(at);
    return at;
}

static inline void job_begin(struct job *job, uint32_t ranks)
{
    *job = (struct job){0};
    arena_init(&job->arena, &job->budget);
    job->report.arena = &job->arena;
    job->comm = (struct run_comm){.budget = &job->budget, .rank_count = ranks};
    job->comm.ranks = room(job, ranks, sizeof *job->comm.ranks);
    job->comm.ops = room(job, MAX_OPS, sizeof *job->comm.ops);
    job->comm.groups = room(job, MAX_GROUPS, sizeof *job->comm.groups);
    assert_true(run_passes_open(&job->passes, ranks, &job->budget, &job->err));
    job->passes.count = ranks;
    for (uint32_t r = 0; r < ranks; r++) {
        struct comm_rank *rank = &job->comm.ranks[r];
        *rank = (struct comm_rank){.rank = r, .step_count = STEPS};
        rank->events = room(job, MAX_CALLS, sizeof *rank->events);
        rank->steps = room(job, STEPS, sizeof *rank->steps);
        job->passes.ranks[r].steps = room(job, STEPS, sizeof(struct step_times));
        job->passes.ranks[r].count = STEPS;
        for (int s = 0; s < STEPS; s++) {
            rank->steps[s] = (struct comm_step){.number = s, .steady = s > 0};
            job->passes.ranks[r].steps[s] =
                (struct step_times){.number = s, .steady = s > 0, .micro_batches = 1};
        }
    }
}

static inline void job_end(struct job *job)
{
    run_passes_close(&job->passes);
    arena_free(&job->arena);
    assert_int_equal(job->budget.used, 0);
}

// The ranks first, first + stride, ... as a group.
struct members {
    uint32_t first, stride, size;
};

static inline uint32_t group_of(struct job *job, struct members members)
{
    char list[256] = "[";
    uint32_t *ranks = room(job, members.size, sizeof *ranks);
    size_t len = 1;
    for (uint32_t i = 0; i < members.size; i++) {
        ranks[i] = members.first + i * members.stride;
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%u", i ? ", " : "", ranks[i]);
    }
    snprintf(list + len, sizeof list - len, "]");
    for (uint32_t g = 0; g < job->comm.group_count; g++)
        if (str_equal(job->comm.groups[g].list, str_of(list)))
            return g;
    assert_true(job->comm.group_count < MAX_GROUPS);
    struct comm_group *group = &job->comm.groups[job->comm.group_count];
    char *text = arena_strdup(&job->arena, str_of(list), &job->err);
    *group = (struct comm_group){.name = str_of(text),
                                 .list = str_of(text),
                                 .size = members.size,
                                 .ranks = ranks,
                                 .rank_count = members.size};
    return job->comm.group_count++;
}

static inline uint32_t op_of(struct job *job, struct comm_op op)
{
    for (uint32_t o = 0; o < job->comm.op_count; o++) {
        const struct comm_op *known = &job->comm.ops[o];
        if (known->group == op.group && known->kind == op.kind && known->bytes == op.bytes &&
            known->peer == op.peer && str_equal(known->phase, op.phase))
            return o;
    }
    assert_true(job->comm.op_count < MAX_OPS);
    job->comm.ops[job->comm.op_count] = op;
    return job->comm.op_count++;
}

// A call by one rank in each step.
static inline void add_call(struct job *job, uint32_t rank, struct comm_op op)
{
    uint32_t index = op_of(job, op);
    struct comm_rank *at = &job->comm.ranks[rank];
    for (uint32_t step = 0; step < STEPS; step++) {
        assert_true(at->count < MAX_CALLS);
        at->events[at->count++] = (struct comm_event){.op = index, .step = step};
    }
}

// What all ranks of a group call in each step.
struct what {
    enum collective_kind kind;
    const char *phase;
    int64_t bytes;
    int calls;
};

static inline void add_all(struct job *job, struct members members, struct what what)
{
    struct comm_op op = {.group = group_of(job, members),
                         .kind = what.kind,
                         .bytes = what.bytes,
                         .peer = -1,
                         .dtype = STR("Float"),
                         .phase = str_of(what.phase)};
    for (uint32_t i = 0; i < members.size; i++)
        for (int c = 0; c < what.calls; c++)
            add_call(job, members.first + i * members.stride, op);
}

// One micro-batch's tensor from one rank to another, all sends launched by the main thread.
static inline void add_transfer(struct job *job, uint32_t from, uint32_t to, uint32_t world,
                                const char *phase)
{
    struct comm_op op = {.group = group_of(job, (struct members){0, 1, world}),
                         .kind = KIND_SEND,
                         .bytes = job->transfer_bytes ? job->transfer_bytes : 4 * MIB,
                         .peer = to,
                         .dtype = STR("BFloat16"),
                         .phase = str_of(phase)};
    add_call(job, from, op);
    op.kind = KIND_RECV;
    op.peer = from;
    add_call(job, to, op);
}

static inline const struct cell *cell_of(const struct job *job, const char *table, size_t row,
                                         const char *column)
{
    const struct table *found = report_find(&job->report, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static inline void tell(struct job *job)
{
    assert_true(strategy_add(&job->comm, &job->passes, &job->report, &job->err));
}

static inline void assert_overall(struct job *job, const char *expected)
{
    tell(job);
    assert_string_equal(cell_of(job, "strategy", 0, "dimension")->s.at, "overall");
    assert_string_equal(cell_of(job, "strategy", 0, "variant")->s.at, expected);
}

static inline size_t row_of(const struct job *job, const char *dimension)
{
    const struct table *table = report_find(&job->report, "strategy");
    for (size_t row = 0; row < table->row_count; row++)
        if (strcmp(named_cell(table, row, "dimension")->s.at, dimension) == 0)
            return row;
    fail_msg("no row %s", dimension);
    return 0;
}

static inline void add_ddp(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 25 * MIB, 6});
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 7 * MIB, 1});
}

static inline void add_fsdp(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_GATHER, "forward", 32 * MIB, 12});
    add_all(job, members, (struct what){KIND_ALL_GATHER, "backward", 32 * MIB, 11});
    add_all(job, members, (struct what){KIND_REDUCE_SCATTER, "backward", 32 * MIB, 12});
}

static inline void add_tensor(struct job *job, struct members members)
{
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "forward", 16 * MIB, 24});
    add_all(job, members, (struct what){KIND_ALL_REDUCE, "backward", 16 * MIB, 24});
}

#endif
