// SPDX-License-Identifier: Apache-2.0
// Groups by hashing, orders by counting and sorting.
#include "analysis/facts/grouping.h"

#include "analysis/stats/sort.h"

bool grouping_make(const struct facts *facts, grouping_key *key, struct arena *arena,
                   struct grouping *grouping, struct err *err)
{
    *grouping = (struct grouping){0};
    groups_init(&grouping->groups, facts->budget);
    grouping->group_of = arena_room(arena, facts->device_count, sizeof(uint32_t), err);
    if (!grouping->group_of)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        struct group_key found;
        grouping->group_of[i] = FACTS_NONE;
        if (key(facts, i, &found) &&
            !groups_index(&grouping->groups, found.a, found.b, &grouping->group_of[i], err))
            return false;
    }
    return true;
}

// Durations by group, each group's in order of begin.
static void scatter(const struct facts *facts, struct grouping *grouping)
{
    uint32_t *first = grouping->first, count = grouping->groups.count;
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (grouping->group_of[i] != FACTS_NONE)
            first[grouping->group_of[i] + 1]++;
    for (uint32_t g = 0; g < count; g++)
        first[g + 1] += first[g];
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (grouping->group_of[i] != FACTS_NONE)
            grouping->dur_ns[first[grouping->group_of[i]]++] = device->end_ns - device->begin_ns;
    }
    // Each entry has moved to the start of the next group.
    for (uint32_t g = count; g > 0; g--)
        first[g] = first[g - 1];
    first[0] = 0;
}

bool grouping_sort(const struct facts *facts, struct arena *arena, struct grouping *grouping,
                   struct err *err)
{
    uint32_t count = grouping->groups.count;
    grouping->first = arena_array(arena, (size_t)count + 1, sizeof(uint32_t), err);
    grouping->dur_ns = arena_room(arena, facts->device_count, sizeof(int64_t), err);
    size_t size = facts->device_count * sizeof(int64_t);
    if (!grouping->first || !grouping->dur_ns)
        return false;
    int64_t *scratch = budget_alloc(facts->budget, size, err);
    if (!scratch)
        return false;
    scatter(facts, grouping);
    for (uint32_t g = 0; g < count; g++)
        sort_i64(grouping->dur_ns + grouping->first[g], scratch,
                 grouping->first[g + 1] - grouping->first[g]);
    budget_free(facts->budget, scratch, size);
    return true;
}

void grouping_free(struct grouping *grouping)
{
    if (grouping->groups.budget)
        groups_free(&grouping->groups);
}
