// SPDX-License-Identifier: Apache-2.0
// Communication by process group: members, volume, and what compute did not hide.
#include "analysis/comm/comm_calls.h"
#include "analysis/comm/group_ranks.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

struct group_sums {
    struct group_about about;
    int64_t calls, bytes, total_ns, exposed_ns;
    bool sized, overflows; // sized: some size is known; overflows: their sum does
};

struct process_groups {
    const struct facts *facts;
    const struct comm_calls *calls;
    struct groups groups;
    uint32_t *group_of; // per call
    struct group_sums *sums;
    bool *recorded; // per collective of the trace: counted in its group already
};

static bool find_groups(struct process_groups *all, struct arena *arena, struct err *err)
{
    all->group_of = arena_room(arena, all->calls->count, sizeof *all->group_of, err);
    for (uint32_t i = 0; all->group_of && i < all->calls->count; i++) {
        struct group_key key = comm_calls_group(all->facts, &all->calls->calls[i]);
        if (!groups_index(&all->groups, key.a, key.b, &all->group_of[i], err))
            return false;
    }
    return all->group_of != NULL;
}

// Calls share metadata: each tuple is looked at once.
static void tell(struct process_groups *all, uint32_t collective, struct group_sums *sums)
{
    const struct trace *trace = all->facts->trace;
    if (collective == ARGS_NONE || all->recorded[collective])
        return;
    all->recorded[collective] = true;
    group_about_add(&sums->about, trace, &trace->collectives[collective]);
}

static void add_call(struct process_groups *all, uint32_t index)
{
    const struct comm_call *call = &all->calls->calls[index];
    const struct device_event *device = &all->facts->devices[call->device];
    struct group_sums *sums = &all->sums[all->group_of[index]];
    int64_t bytes = comm_calls_bytes(all->calls, index);
    tell(all, call->collective, sums);
    sums->calls++;
    sums->total_ns += device->end_ns - device->begin_ns;
    sums->exposed_ns += device->owned_ns;
    if (bytes < 0)
        return;
    sums->sized = true;
    sums->overflows |= __builtin_add_overflow(sums->bytes, bytes, &sums->bytes);
}

static bool add_row(const struct process_groups *all, uint32_t group, struct arena *arena,
                    struct report *report, struct err *err)
{
    const struct trace *trace = all->facts->trace;
    const struct group_sums *sums = &all->sums[group];
    bool named = all->groups.keys[group].a != UINT64_MAX;
    str_id name = named ? (str_id)all->groups.keys[group].a : 0;
    struct group_place place = {0};
    if (named && !group_place_find(trace, name, &sums->about, arena, &place, err))
        return false;
    struct row row = {.desc = &table_process_groups};
    row_text_if(&row, PROCESS_GROUPS_PROCESS_GROUP, name != 0, trace_text(trace, name));
    row_text_if(&row, PROCESS_GROUPS_DESCRIPTION, place.description.len != 0, place.description);
    row_i64_if(&row, PROCESS_GROUPS_SIZE, place.size > 0, place.size);
    row_text_if(&row, PROCESS_GROUPS_RANKS, place.ranks.len != 0, place.ranks);
    row_word(&row, PROCESS_GROUPS_SPAN, place.span);
    row_i64(&row, PROCESS_GROUPS_CALLS, sums->calls);
    row_i64_if(&row, PROCESS_GROUPS_BYTES, sums->sized && !sums->overflows, sums->bytes);
    row_i64(&row, PROCESS_GROUPS_TOTAL_NS, sums->total_ns);
    row_i64(&row, PROCESS_GROUPS_EXPOSED_NS, sums->exposed_ns);
    row_share(&row, PROCESS_GROUPS_EXPOSED_SHARE, sums->exposed_ns, sums->total_ns);
    row_share(&row, PROCESS_GROUPS_WINDOW_SHARE, sums->exposed_ns,
              parts_window_ns(&all->facts->whole));
    return row_end(&row, report, err);
}

static bool add_rows(struct process_groups *all, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = all->groups.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    all->sums = arena_array(arena, count, sizeof *all->sums, err);
    all->recorded =
        arena_array(arena, all->facts->trace->collective_count, sizeof *all->recorded, err);
    if (!ranked || !all->sums || !all->recorded)
        return false;
    for (uint32_t g = 0; g < count; g++)
        all->sums[g].about = group_about_none();
    for (uint32_t i = 0; i < all->calls->count; i++)
        add_call(all, i);
    for (uint32_t g = 0; g < count; g++)
        ranked[g] = (struct ranked){all->sums[g].total_ns, STR(""), g};
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(all, ranked[i].index, arena, report, err))
            return false;
    return true;
}

bool process_groups_add(const struct facts *facts, const struct comm_calls *calls,
                        struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct process_groups all = {.facts = facts, .calls = calls};
    groups_init(&all.groups, facts->budget);
    bool ok = find_groups(&all, &scratch, err) && add_rows(&all, &scratch, report, err);
    groups_free(&all.groups);
    arena_free(&scratch);
    return ok;
}
