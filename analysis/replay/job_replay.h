// SPDX-License-Identifier: Apache-2.0
// The ranks of a run as one graph: a collective starts for all of its ranks when the last one has
// reached it, and takes as long as on the rank that waited least.
#ifndef ANALYSIS_JOB_REPLAY_H
#define ANALYSIS_JOB_REPLAY_H

#include "analysis/ranks/run_comm.h"
#include "analysis/replay/whatif.h"

struct job_rank {
    int64_t rank;
    const struct whatif *whatif; // none of them refused
    uint32_t first;              // of its nodes in the graph
    uint32_t first_step;         // of its steps in base_ns
};

struct job_join;

struct job_replay {
    struct job_rank *ranks;
    uint32_t rank_count;
    struct replay_graph graph;
    struct job_join *joins; // calls that ranks make together
    uint32_t join_count;
    uint32_t *members;      // nodes of the calls, by join
    uint32_t first_arrival; // from this one on, nodes are where calls are reached,
    uint32_t first_join;    // then the joins,
    uint32_t first_origin;  // then the starts of the ranks' recordings
    int64_t *origin_ns;     // per rank: start of its recording after the first one's
    int64_t *base_ns;       // per steady step of each rank, of the unchanged replay
};

// Joins ranks by their matched communication. comm has the same ranks in the same order. Arrays
// live in arena. ERR_FORMAT if what was matched contradicts itself.
MUST_CHECK bool job_replay_make(struct job_rank *ranks, const struct run_comm *comm,
                                struct arena *arena, struct job_replay *job, struct err *err);

// What a rank by itself has on a path.
struct path_rank {
    int64_t own_ns, delay_ns; // its work; what delayed it
};

// The critical path of one rank's steps through all ranks. What ranks have by themselves, what they
// do together and the replay error sum to the steps, too.
struct job_path {
    uint32_t rank; // index; of whose steps
    struct path_sums sums;
    struct path_rank *ranks; // by rank; room for rank_count
    int64_t joint_ns;        // transfers that ranks make together
};

// What changes make of all ranks. It lives in arena.
MUST_CHECK bool job_replay_view(const struct job_replay *job, const struct change_list *list,
                                struct arena *arena, struct replay_view *view, struct err *err);

// What changes bring on each rank: answers has one per rank. path: as of whatif_change.
MUST_CHECK bool job_replay_change(const struct job_replay *job, const struct change_list *list,
                                  struct arena *arena, struct whatif_answer *answers,
                                  struct job_path *path, struct err *err);

// Ranks of the job that are not among these, as far as traces say how many there are.
int64_t job_replay_missing(const struct job_rank *ranks, uint32_t count);

#endif
