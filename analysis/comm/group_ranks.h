// SPDX-License-Identifier: Apache-2.0
// Which ranks a process group has, and whether they share a node, from anything in the recording.
#ifndef ANALYSIS_GROUP_RANKS_H
#define ANALYSIS_GROUP_RANKS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

// What the calls of a group say about it together: for each argument the first one given,
// for lists of ranks the first whole one.
struct group_about {
    str_id description, ranks;
    bool whole;                            // ranks is not truncated
    int64_t size, rank_start, rank_stride; // VALUE_ABSENT if not given
};

struct group_about group_about_none(void);
void group_about_add(struct group_about *about, const struct trace *trace,
                     const struct collective *collective);

struct group_place {
    struct str description, ranks; // "" if unknown
    int64_t size;                  // 0 if unknown
    const char *span;              // "intra-node", "inter-node", NULL if unknown
};

// By the calls of the group and by what the recording says about the job. Texts live in arena or in
// the trace.
MUST_CHECK bool group_place_find(const struct trace *trace, str_id name,
                                 const struct group_about *about, struct arena *arena,
                                 struct group_place *place, struct err *err);

// Whether ranks are on one node, with that many GPUs per node: for a list "[0, 1]", or for `size`
// ranks from start on. NULL if that cannot be determined.
const char *group_span_of_list(struct str list, int64_t gpus);
const char *group_span_of_stride(int64_t start, int64_t stride, int64_t size, int64_t gpus);

// Ranks of a list "[0, 1]" one by one: *at, which starts as the list, advances past each.
// False at its end, and for anything that is not a list of ranks.
bool group_ranks_next(struct str *at, int64_t *rank);

// A place's ranks as a list, also if given as first:last:stride; "" unless all are known. Text
// lives in arena or in the place; NULL text on failure.
#define GROUP_RANKS_MAX 65536
struct str group_ranks_list(struct str ranks, struct arena *arena, struct err *err);

#endif
