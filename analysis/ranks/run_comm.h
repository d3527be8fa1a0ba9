// SPDX-License-Identifier: Apache-2.0
// The collectives of all ranks of a run: which calls belong together, by how much the ranks' clocks
// differ, how long each call waited for the last rank, and who was last.
#ifndef ANALYSIS_RUN_COMM_H
#define ANALYSIS_RUN_COMM_H

#include "analysis/names/bandwidth.h"
#include "analysis/report/report.h"
#include "ingest/base/cores.h"

#define RUN_NONE      UINT32_MAX
#define RUN_MAX_JUMPS 4 // per clock

// Earlier clocks have another origin: times of different ones say nothing about each other.
#define RUN_YEAR_2000_NS INT64_C(946684800000000000)

// What a rank's device did since the start of its window, as exclusive parts of the time.
enum comm_before {
    BEFORE_COMPUTE,
    BEFORE_MEMORY, // exposed
    BEFORE_COMM,   // exposed
    BEFORE_DATA_LOADING,
    BEFORE_HOST, // idle because of the host: sync, allocator, host_compute, launch_overhead
    BEFORE_IDLE, // other idle time, and unrecorded time: cause unknown
    BEFORE_COUNT
};

// One call of one rank: a row of its table comm_calls.
struct comm_event {
    int64_t begin_ns, dur_ns; // absolute, by the rank's own clock
    int64_t exposed_ns;
    union {
        int64_t exposed_wait_ns; // the part before the wait's end
        const char *exposed_at;  // until that is known: comm_calls.exposed_at, NULL without
    };
    int64_t wait_ns;                 // until the last rank had started; the transfer is the rest
    int64_t before_ns[BEFORE_COUNT]; // from the start of the rank's window to begin_ns
    int64_t launch_ns;               // by the rank's own clock; INT64_MIN if unknown
    int64_t blocked_ns;              // how long the host had been in calls that wait for the device
                                     // by then
    uint32_t kernels : 30;           // compute kernels that started in the same time
    // Whether it is another send or receive of the previous event's kernel: one time and one wait,
    // counted there.
    uint32_t joined : 1;
    uint32_t alone : 1; // its kernel communicates with a single peer (run_clock_sends_find)
    uint32_t op;        // in the run
    uint32_t match;     // RUN_NONE if no other rank's call belongs to it
    uint32_t step;      // index into the rank's steps, RUN_NONE outside
};

// Per step: the waits and exposed time within its bounds, as in its bars; calls and lateness by
// where the calls were launched.
struct comm_sums {
    int64_t wait_ns;                            // of matched calls
    int64_t exposed_wait_ns;                    // exposed time before the waits' ends
    int64_t exposed_transfer_ns;                // the rest of the exposed time
    int64_t apart_ns;                           // part of that in calls whose clocks are not
                                                // comparable
    int64_t lateness_ns;                        // see comm_match
    int64_t calls, late_calls, unmatched_calls; // collectives and send/recv; late: collectives
    int64_t apart_calls;                        // matched, of ranks whose clocks are not comparable
};

// One row of a rank's table steps, in order.
struct comm_step {
    int64_t number;           // column step
    int64_t begin_ns, end_ns; // absolute, by the rank's own clock
    bool steady;
    double ratio; // step_rates.ratio; 1 if unknown
    struct comm_sums sums;
};

struct comm_rank {
    int64_t rank;
    struct comm_event *events; // in order of begin
    struct comm_step *steps;
    uint32_t count, step_count;
    uint64_t marks;     // hash of what marks its steps; ranks number steps alike if it is the same
    uint32_t component; // ranks of one number have comparable clocks; numbered by lowest rank
    uint32_t clock_calls; // matches that the offset is based on
    int64_t offset_ns;    // to be added to its clock; 0 for the lowest rank of a component
    int64_t error_ns;     // p95 of the distances of its ends from the others', -1: unknown
    // Also added: from a time of its clock on this much per ns, and each jump after its time.
    // Relative to the majority of ranks, or the lowest one.
    double drift;
    int64_t drift_from_ns;
    struct clock_jump {
        int64_t at_ns, by_ns;
    } jumps[RUN_MAX_JUMPS];
    uint32_t jump_count;
    bool open;               // its calls may as well be those of another step of the others
    int64_t origin_ns;       // start of its window on its clock
    double work_ratio;       // its time for work that others have, too, over theirs; NaN: unknown
    struct comm_sums steady; // over its steady steps
};

// Calls that are equal except for the rank and the time. Texts without length: unknown.
struct comm_op {
    uint32_t group;
    enum collective_kind kind;
    int64_t bytes; // -1: unknown
    int64_t peer;  // global rank of the peer of a send or recv, -1: unknown
    struct str dtype, phase, kernel;
};

// A process group. Groups of the same name with other lists of ranks are different groups.
struct comm_group {
    struct str name;       // no length: calls without metadata
    struct str list;       // "[0, 1]", no length if unknown
    int64_t size;          // -1: unknown
    const uint32_t *ranks; // indices of the run's ranks that called it, ascending
    uint32_t rank_count;
    // Has ranks that send to each other, directly or through others, such as pipeline stages: they
    // arrive at different times by design, so no rank is late there. Rings do not count: their
    // ranks do the same.
    bool staged;
    bool context;          // its ranks share a context, by its description
    const char *span;      // "intra-node", "inter-node", NULL: unknown
    const char *dimension; // what it shares ("data", ...), set by run_strategy; NULL: unknown
};

// Calls of different ranks that are one collective, or one send with its recv.
struct comm_match {
    uint32_t op;           // of the first member
    uint32_t first, count; // members, ascending by rank
    uint32_t latest_rank;  // index of the rank that started last; RUN_NONE: clocks not comparable
    int64_t latest_ns;     // its start on the common clock
    int64_t transfer_ns;   // the smallest of its members' durations minus waits
    bool tells;            // its ends show how clocks differ
    bool doubtful;         // whether it is one is open until clocks are known
};

struct comm_member {
    uint32_t rank, event; // indices
};

struct run_comm {
    struct arena arena;  // owns all that follows
    struct arena pieces; // texts of comm_event.exposed_at, until run_comm_solve is done
    struct budget *budget;
    struct cores *cores;        // whose free ones may help; NULL: none
    struct comm_rank *ranks;    // ascending by rank
    const uint32_t *recordings; // of each rank: groups do not span them; NULL: there is only one
    struct comm_op *ops;
    struct comm_group *groups;
    // A group's collectives are consecutive, by begin, and so are the sends of one rank to another.
    struct comm_match *matches;
    struct comm_member *members;
    uint32_t rank_count, op_count, group_count, match_count, member_count, component_count;
    bool has_guesses;          // whether clocks may show other matches
    uint32_t impossible_count; // matches that were undone (run_match_finish)
    size_t match_cap;
    struct comm_loader *loader; // while ranks are added
};

// An empty run with room for that many ranks. Pair with run_comm_close, even after a failure.
MUST_CHECK bool run_comm_open(struct run_comm *comm, size_t ranks, struct budget *budget,
                              struct err *err);
void run_comm_close(struct run_comm *comm);

// Adds a rank from its tables summary, steps, process_groups, comm_ops and comm_calls; keeps
// nothing of the report. Call for every rank of the run, ascending, including those without calls.
MUST_CHECK bool run_comm_add(struct run_comm *comm, int64_t rank, const struct report *report,
                             struct err *err);

// After the last rank: matches, aligns clocks, separates waits from transfers. At most about 130
// bytes per call, linear except for ranks that miss calls.
MUST_CHECK bool run_comm_solve(struct run_comm *comm, struct err *err);

// The tables clocks (run_clocks.c), comm_waits (run_waits.c), lateness (run_lateness.c), and the
// rows of the table trust that concern them (run_clocks.c).
MUST_CHECK bool run_clocks_add(const struct run_comm *comm, struct report *report, struct err *err);
MUST_CHECK bool run_waits_add(const struct run_comm *comm, struct report *report, struct err *err);
MUST_CHECK bool run_lateness_add(const struct run_comm *comm, struct report *report,
                                 struct err *err);
MUST_CHECK bool run_clocks_judge(const struct run_comm *comm, struct report *report,
                                 struct err *err);

// What is to be added to the rank's clock at that time.
static inline int64_t run_comm_offset(const struct comm_rank *rank, int64_t own_ns)
{
    double away_ns = rank->drift * (double)(own_ns - rank->drift_from_ns);
    int64_t offset_ns = rank->offset_ns + (int64_t)away_ns;
    for (uint32_t j = 0; j < rank->jump_count; j++)
        offset_ns += own_ns >= rank->jumps[j].at_ns ? rank->jumps[j].by_ns : 0;
    return offset_ns;
}

// Begin and end of an event on the common clock of its rank's component.
static inline int64_t run_comm_begin(const struct comm_rank *rank, const struct comm_event *event)
{
    return event->begin_ns + run_comm_offset(rank, event->begin_ns);
}

static inline int64_t run_comm_end(const struct comm_rank *rank, const struct comm_event *event)
{
    int64_t end_ns = event->begin_ns + event->dur_ns;
    return end_ns + run_comm_offset(rank, end_ns);
}

// Whether it is a send, a recv or both.
static inline bool run_comm_is_p2p(enum collective_kind kind)
{
    return kind == KIND_SEND || kind == KIND_RECV || kind == KIND_SEND_RECV;
}

// A send and its recv are one kind.
static inline enum collective_kind run_comm_kind(const struct comm_op *op)
{
    return run_comm_is_p2p(op->kind) ? KIND_SEND_RECV : op->kind;
}

// How many steps a rank has, or steady ones; 1 without any, to divide by.
static inline int64_t run_comm_steps(const struct comm_rank *rank, bool steady)
{
    int64_t steps = 0;
    for (uint32_t s = 0; s < rank->step_count; s++)
        steps += rank->steps[s].steady || !steady;
    return steps ? steps : 1;
}

// Whether all ranks leave such a collective together.
static inline bool run_comm_is_joint(enum collective_kind kind)
{
    return kind == KIND_ALL_REDUCE || kind == KIND_ALL_GATHER || kind == KIND_REDUCE_SCATTER ||
           kind == KIND_ALL_TO_ALL || kind == KIND_BARRIER;
}

#endif
