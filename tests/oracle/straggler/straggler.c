// SPDX-License-Identifier: Apache-2.0
// How much stragglers slow a job down, by the definitions of the paper (see job.h): it is replayed
// without delays, with every operation as long as operations of its type usually are (ideal), and
// with one group of operations as measured.
#include "tests/oracle/straggler/order.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] = "usage: straggler TRACE.csv[.zst] META.yaml\n";

#define PICOSECONDS  1e12 // in which jobs are replayed: rounding stays far below single precision
#define WORST_SHARE  3    // percent of the workers that may be at fault
#define LATE_CLOCK_S 1e-2 // a transfer that ends longer than this before it begins took no time

enum { COMPUTE_TYPES = 1u << OP_FORWARD | 1u << OP_BACKWARD | 1u << OP_OPTIMIZER | 1u << OP_GC };

struct study {
    const struct job *job;
    struct order order;
    int64_t *measured; // per operation, as job_time
    int64_t ideal[OP_TYPES];
    int64_t *dur, *end; // of one step
};

// The operations that a scenario selects: all, of types, of a data rank, of a stage, or of workers.
struct selection {
    unsigned types; // bits
    uint32_t data_rank, stage;
    const bool *workers; // [data_rank * stages + stage], or NULL
};
static const struct selection everything = {~0u, JOB_NONE, JOB_NONE, NULL};
static const struct selection nothing = {0, JOB_NONE, JOB_NONE, NULL};

static bool selects(const struct study *study, const struct selection *selection,
                    uint32_t data_rank, const struct op *op)
{
    return (selection->types & 1u << op->type) &&
           (selection->data_rank == JOB_NONE || selection->data_rank == data_rank) &&
           (selection->stage == JOB_NONE || selection->stage == op->stage) &&
           (!selection->workers ||
            selection->workers[(size_t)data_rank * study->job->stages + op->stage]);
}

// --- transfers ----------------------------------------------------------------------------------

static size_t latest_at(const struct study *study, uint32_t data_rank, uint32_t group)
{
    uint32_t of = study->order.all_data_ranks[group] ? 0 : data_rank;
    return (size_t)of * study->order.group_count + group;
}

static void find_latest(const struct study *study, uint32_t step, double *begin_s)
{
    const struct job *job = study->job;
    for (size_t i = 0; i < (size_t)job->data_ranks * study->order.group_count; i++)
        begin_s[i] = -INFINITY;
    for (uint32_t d = 0; d < job->data_ranks; d++)
        for (uint32_t o = 0; o < job->op_count; o++) {
            if (study->order.group[o] == JOB_NONE)
                continue;
            double *latest = &begin_s[latest_at(study, d, study->order.group[o])];
            double own_s = job_time(job, step, d, o)->begin_s;
            *latest = own_s > *latest ? own_s : *latest;
        }
}

static float transfer_of(const struct job *job, const struct op_time *time, double latest_s)
{
    double transfer_s = time->end_s - latest_s;
    transfer_s = job->is_single ? (double)(float)transfer_s : transfer_s;
    return transfer_s <= -LATE_CLOCK_S ? 0 : (float)transfer_s;
}

static bool measure(struct study *study, struct err *err)
{
    const struct job *job = study->job;
    size_t groups = (size_t)job->data_ranks * study->order.group_count, at = 0;
    double *latest_s = arena_room(job->arena, groups, sizeof *latest_s, err);
    study->measured = arena_room(job->arena, (size_t)job->step_count * job->data_ranks,
                                 job->op_count * sizeof *study->measured, err);
    if (!latest_s || !study->measured)
        return false;
    for (uint32_t s = 0; s < job->step_count; s++) {
        find_latest(study, s, latest_s);
        for (uint32_t d = 0; d < job->data_ranks; d++)
            for (uint32_t o = 0; o < job->op_count; o++) {
                struct op_time *time = job_time(job, s, d, o);
                uint32_t group = study->order.group[o];
                time->transfer_s =
                    group == JOB_NONE
                        ? time->dur_s
                        : transfer_of(job, time, latest_s[latest_at(study, d, group)]);
                study->measured[at++] = llround((double)time->transfer_s * PICOSECONDS);
            }
    }
    return true;
}

// --- ideal --------------------------------------------------------------------------------------

static int compare_floats(const void *left, const void *right)
{
    const float *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static double mean_of(const float *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)values[i];
    return sum / (double)count;
}

static double median_of(float *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_floats);
    return ((double)values[(count - 1) / 2] + (double)values[count / 2]) / 2;
}

static bool idealize(struct study *study, struct err *err)
{
    const struct job *job = study->job;
    size_t all = (size_t)job->step_count * job->data_ranks * job->op_count;
    float *values = arena_room(job->arena, all, sizeof *values, err);
    for (uint32_t type = 0; values && type < OP_TYPES; type++) {
        size_t count = 0;
        for (size_t i = 0; i < all; i++)
            if (job->ops[i % job->op_count].type == type)
                values[count++] = job->times[i].transfer_s;
        if (count == 0)
            continue;
        bool computes = COMPUTE_TYPES & 1u << type;
        double usual_s =
            computes ? mean_of(values, count) : (double)(float)median_of(values, count);
        study->ideal[type] = llround(usual_s * PICOSECONDS);
    }
    return values != NULL;
}

// --- scenarios ----------------------------------------------------------------------------------

// Mean over the steps: to the last end, and to the last end of an optimizer.
struct step_time {
    double all_s, optimizer_s;
};

static int64_t last_optimizer(const struct study *study)
{
    const struct job *job = study->job;
    int64_t last = 0;
    for (uint32_t d = 0; d < job->data_ranks; d++)
        for (uint32_t o = 0; o < job->op_count; o++) {
            int64_t end = study->end[order_node(job, d, o)];
            last = job->ops[o].type == OP_OPTIMIZER && end > last ? end : last;
        }
    return last;
}

// What is selected takes as long as measured, the rest as long as usual.
static struct step_time replay(struct study *study, const struct selection *selection)
{
    const struct job *job = study->job;
    struct step_time time = {0, 0};
    for (uint32_t s = 0; s < job->step_count; s++) {
        const int64_t *measured = &study->measured[(size_t)s * job->data_ranks * job->op_count];
        for (uint32_t d = 0; d < job->data_ranks; d++)
            for (uint32_t o = 0; o < job->op_count; o++) {
                uint32_t node = order_node(job, d, o);
                bool kept = selects(study, selection, d, &job->ops[o]);
                study->dur[node] = kept ? measured[node] : study->ideal[job->ops[o].type];
            }
        time.all_s += (double)replay_run(&study->order.graph, study->dur, study->end);
        time.optimizer_s += (double)last_optimizer(study);
    }
    time.all_s /= PICOSECONDS * job->step_count;
    time.optimizer_s /= PICOSECONDS * job->step_count;
    return time;
}

// The share of the slowdown that goes away with the selection's deviations.
static double share_of(struct study *study, const bool *workers, struct step_time slow,
                       struct step_time ideal)
{
    // What stays as measured is everything else.
    const struct job *job = study->job;
    size_t count = (size_t)job->data_ranks * job->stages;
    bool *others = arena_array(job->arena, count, sizeof *others, NULL);
    if (!others)
        return NAN;
    for (size_t i = 0; i < count; i++)
        others[i] = !workers[i];
    struct selection rest = {~0u, JOB_NONE, JOB_NONE, others};
    return (slow.all_s - replay(study, &rest).all_s) / (slow.all_s - ideal.all_s);
}

// --- workers ------------------------------------------------------------------------------------

struct score {
    double slowdown;
    const struct worker *worker;
};

static int compare_scores(const void *left, const void *right)
{
    const struct score *a = left, *b = right;
    if (a->slowdown != b->slowdown)
        return a->slowdown > b->slowdown ? -1 : 1;
    return a->worker->rank < b->worker->rank ? -1 : a->worker->rank > b->worker->rank;
}

// Selects the workers with the largest slowdown: the lesser of those by data rank and by stage.
static bool select_worst(const struct job *job, const double *by_data_rank, const double *by_stage,
                         bool *workers, struct err *err)
{
    struct score *scores = arena_room(job->arena, job->worker_count, sizeof *scores, err);
    if (!scores)
        return false;
    for (uint32_t w = 0; w < job->worker_count; w++) {
        const struct worker *worker = &job->workers[w];
        double data = by_data_rank[worker->data_rank], stage = by_stage[worker->stage];
        scores[w] = (struct score){data < stage ? data : stage, worker};
    }
    qsort(scores, job->worker_count, sizeof *scores, compare_scores);
    uint32_t count = (job->worker_count * WORST_SHARE + 99) / 100;
    for (uint32_t w = 0; w < count; w++)
        workers[(size_t)scores[w].worker->data_rank * job->stages + scores[w].worker->stage] = true;
    return true;
}

// --- output -------------------------------------------------------------------------------------

static void print_types(struct study *study, double ideal_s)
{
    unsigned done = 0;
    const char *comma = "";
    printf(" \"by_type\": {");
    for (uint32_t o = 0; o < study->job->op_count; o++) {
        uint32_t type = study->job->ops[o].type;
        unsigned forward = 1u << OP_FORWARD_SEND | 1u << OP_FORWARD_RECV;
        unsigned backward = 1u << OP_BACKWARD_SEND | 1u << OP_BACKWARD_RECV;
        unsigned own = 1u << type;
        unsigned types = own & forward ? forward : own & backward ? backward : own;
        if (done & own)
            continue;
        done |= types;
        struct selection selection = {types, JOB_NONE, JOB_NONE, NULL};
        printf("%s\n  \"%s\": %.17g", comma,
               types == forward    ? "forward-pp-comm"
               : types == backward ? "backward-pp-comm"
                                   : op_type_name[type],
               replay(study, &selection).optimizer_s / ideal_s);
        comma = ",";
    }
    printf("},\n");
}

static void print_list(const char *name, const double *values, uint32_t count)
{
    printf(" \"%s\": {", name);
    for (uint32_t i = 0; i < count; i++)
        printf("%s\"%u\": %.17g", i ? ", " : "", i, values[i]);
    printf("},\n");
}

static bool answer(struct study *study, struct err *err)
{
    const struct job *job = study->job;
    double *by_data_rank = arena_array(job->arena, job->data_ranks, sizeof *by_data_rank, err);
    double *by_stage = arena_array(job->arena, job->stages, sizeof *by_stage, err);
    size_t places = (size_t)job->data_ranks * job->stages;
    bool *worst = arena_array(job->arena, places, sizeof *worst, err);
    bool *last = arena_array(job->arena, places, sizeof *last, err);
    if (!by_data_rank || !by_stage || !worst || !last)
        return false;
    struct step_time slow = replay(study, &everything), ideal = replay(study, &nothing);
    printf("{\"S\": %.17g,\n", slow.all_s / ideal.optimizer_s);
    print_types(study, ideal.optimizer_s);
    for (uint32_t d = 0; d < job->data_ranks; d++) {
        struct selection selection = {~0u, d, JOB_NONE, NULL};
        by_data_rank[d] = replay(study, &selection).optimizer_s / ideal.optimizer_s;
        last[(size_t)d * job->stages + job->stages - 1] = true;
    }
    for (uint32_t s = 0; s < job->stages; s++) {
        struct selection selection = {~0u, JOB_NONE, s, NULL};
        by_stage[s] = replay(study, &selection).optimizer_s / ideal.optimizer_s;
    }
    print_list("by_dp_rank", by_data_rank, job->data_ranks);
    print_list("by_stage", by_stage, job->stages);
    if (!select_worst(job, by_data_rank, by_stage, worst, err))
        return false;
    printf(" \"Ms\": %.17g,\n \"Mw\": %.17g}\n", share_of(study, last, slow, ideal),
           share_of(study, worst, slow, ideal));
    return true;
}

static bool run(const char *csv, const char *meta, struct arena *arena, struct err *err)
{
    struct job job;
    struct study study = {.job = &job};
    if (!job_read(csv, meta, arena, &job, err) || !order_make(&job, &study.order, err) ||
        !measure(&study, err) || !idealize(&study, err))
        return false;
    uint32_t nodes = study.order.graph.node_count;
    study.dur = arena_array(arena, nodes, sizeof *study.dur, err); // joins take no time
    study.end = arena_room(arena, nodes, sizeof *study.end, err);
    return study.dur && study.end && answer(&study, err);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct arena arena;
    if (argc != 3) {
        fputs(usage, stderr);
        return 2;
    }
    arena_init(&arena, NULL);
    bool ok = run(argv[1], argv[2], &arena, &err);
    arena_free(&arena);
    if (!ok)
        fprintf(stderr, "straggler: %s\n", err.msg);
    return ok ? 0 : 1;
}
