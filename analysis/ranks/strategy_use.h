// SPDX-License-Identifier: Apache-2.0
// The traffic of sets of ranks: their calls in the steady steps by kind and phase.
#ifndef ANALYSIS_STRATEGY_USE_H
#define ANALYSIS_STRATEGY_USE_H

#include "analysis/trace/comm_phase.h"
#include "analysis/ranks/run_comm.h"

// Messages up to this size only agree on something: a norm, a loss, whether to continue.
#define STRATEGY_SMALL_BYTES 1024

// For a rank in a ring, the calls it sends and receives in the forward differ by less than this;
// the first stage of a pipeline sends more, with v chunks of layers by 1 / (2 v - 1).
#define STRATEGY_RING_SHARE 0.05

enum use_kind {
    USE_ALL_REDUCE,
    USE_ALL_GATHER,
    USE_REDUCE_SCATTER, // or a reduce to the rank that owns the part
    USE_ALL_TO_ALL,
    USE_BROADCAST,
    USE_SEND, // or calls that may be either
    USE_RECV,
    USE_KIND_COUNT
};

struct use {
    int64_t calls, bytes; // over all ranks
    double per_step;      // calls per rank and steady step
};

// The process groups with one list of ranks, taken together; or one whose list is unknown.
struct team {
    struct str name, list;  // of the first of its groups
    int64_t size;           // -1: unknown
    uint32_t groups, ranks; // ranks: those that are there
    int64_t rank_steps;     // steady steps over these ranks
    bool context;           // they share one, by the description of its groups
    struct use uses[USE_KIND_COUNT][COMM_PHASE_COUNT];
};

struct strategy_use {
    struct team *teams;
    uint32_t team_count;
    uint32_t *team_of; // per group of the run
    bool steady;       // figures are from steady steps, else from all calls
};

// Whether an operation counts, and as what. False for small messages, barriers and unknown kinds.
bool strategy_use_kind(const struct comm_op *op, enum use_kind *kind);
enum comm_phase strategy_use_phase(const struct comm_op *op);

// Whether the event counts for the figures.
bool strategy_use_counts(const struct comm_rank *rank, const struct comm_event *event, bool steady);

// Arrays live in arena. Linear.
MUST_CHECK bool strategy_use_make(const struct run_comm *comm, struct arena *arena,
                                  struct strategy_use *use, struct err *err);

// Calls per rank and steady step of a kind in all phases.
double strategy_use_of_kind(const struct team *team, enum use_kind kind);

// Appends "4 all_gather of 2.1 MB in forward, ...": the uses of kinds first to last.
void strategy_use_text(const struct team *team, enum use_kind first, enum use_kind last,
                       struct buf *text);

#endif
