// SPDX-License-Identifier: Apache-2.0
// Groups whose ranks come at different times by design, because they send to each other.
#include "analysis/run_comm_stages.h"

static uint32_t root_of(uint32_t *parent, uint32_t rank)
{
    while (parent[rank] != rank) {
        parent[rank] = parent[parent[rank]];
        rank = parent[rank];
    }
    return rank;
}

// Joins ranks that send to each other, directly or through others.
static void join_senders(const struct run_comm *comm, uint32_t *parent)
{
    for (uint32_t r = 0; r < comm->rank_count; r++)
        parent[r] = r;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_match *match = &comm->matches[m];
        if (!run_comm_is_p2p(comm->ops[match->op].kind))
            continue;
        uint32_t a = root_of(parent, comm->members[match->first].rank);
        uint32_t b = root_of(parent, comm->members[match->first + 1].rank);
        parent[a > b ? a : b] = a > b ? b : a;
    }
}

static bool is_staged(const struct comm_group *group, uint32_t mark, uint32_t *parent,
                      uint32_t *marks)
{
    for (uint32_t i = 0; i < group->rank_count; i++) {
        uint32_t root = root_of(parent, group->ranks[i]);
        if (marks[root] == mark)
            return true;
        marks[root] = mark;
    }
    return false;
}

bool run_staged_make(struct run_comm *comm, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    uint32_t *parent = arena_room(&scratch, comm->rank_count, sizeof *parent, err);
    uint32_t *marks = arena_array(&scratch, comm->rank_count, sizeof *marks, err);
    bool ok = parent && marks;
    if (ok)
        join_senders(comm, parent);
    for (uint32_t g = 0; ok && g < comm->group_count; g++)
        comm->groups[g].staged = is_staged(&comm->groups[g], g + 1, parent, marks);
    arena_free(&scratch);
    return ok;
}
