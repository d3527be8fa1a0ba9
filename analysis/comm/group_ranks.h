// SPDX-License-Identifier: Apache-2.0
// Which ranks a process group has, and whether they share a node, from whatever the recording says.
#ifndef ANALYSIS_GROUP_RANKS_H
#define ANALYSIS_GROUP_RANKS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

#include <jansson.h>

// What the calls of a group say of it, taken together: of each argument the first that is given,
// of lists of ranks the first that is whole.
struct group_about {
    str_id description, ranks;
    bool whole;                            // ranks is a list that is not cut
    int64_t size, rank_start, rank_stride; // VALUE_ABSENT when not given
};

struct group_about group_about_none(void);
void group_about_add(struct group_about *about, const struct trace *trace,
                     const struct collective *collective);

// What the recording says of the job: groups by name and GPUs per node. Borrows the trace.
struct group_places {
    const struct trace *trace;
    json_t *info;    // distributedInfo
    json_t *by_name; // its pg_config
    int64_t gpus;    // listed in the recording; 0 when not known
};
void group_places_open(struct group_places *places, const struct trace *trace);
void group_places_close(struct group_places *places);

struct group_place {
    struct str description, ranks; // "" when not known
    int64_t size;                  // 0 when not known
    const char *span;              // "intra-node", "inter-node", NULL when not known
};

// Texts live in arena or in the trace.
MUST_CHECK bool group_places_find(const struct group_places *places, struct str name,
                                  const struct group_about *about, struct arena *arena,
                                  struct group_place *place, struct err *err);

// Whether ranks lie on one node, on nodes with that many GPUs each: of a list "[0, 1]", or of
// `size` ranks from start on. NULL when that cannot be said.
const char *group_span_of_list(struct str list, int64_t gpus);
const char *group_span_of_stride(int64_t start, int64_t stride, int64_t size, int64_t gpus);

// Ranks of a list "[0, 1]" one after the other: *at, which begins as the list, moves on past
// each. False at its end, and at anything that is no list of ranks.
bool group_ranks_next(struct str *at, int64_t *rank);

// A place's ranks as a list, also those that are told by first:last:stride; "" when they are not
// known whole. Text lives in arena or in the place; NULL text on failure.
#define GROUP_RANKS_MAX 65536
struct str group_ranks_list(struct str ranks, struct arena *arena, struct err *err);

#endif
