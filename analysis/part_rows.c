// SPDX-License-Identifier: Apache-2.0
// What the seven bars of the steady steps consist of.
#include "analysis/analyses.h"
#include "analysis/grouping.h"
#include "analysis/ranked.h"
#include "analysis/tables.h"

struct part {
    int64_t calls, owned_ns;
    uint32_t device; // one of its device events
};

struct part_walk {
    const struct facts *facts;
    struct grouping grouping;
    struct part *parts; // per group
};

static bool part_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    *key = (struct group_key){(uint64_t)facts_device_op(facts, device) << 32 |
                                  facts_device_name(facts, device),
                              facts->devices[device].category};
    return true;
}

static bool is_steady(const struct facts *facts, uint32_t step)
{
    return step != FACTS_NONE && facts->steps[step].steady;
}

static void sum(struct part_walk *walk)
{
    const struct facts *facts = walk->facts;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        struct part *part = &walk->parts[walk->grouping.group_of[i]];
        part->calls += is_steady(facts, facts->devices[i].step);
        part->owned_ns += facts->steady_owned_ns[i];
        part->device = i;
    }
}

static bool add_part(const struct facts *facts, const struct part *part, struct report *report,
                     struct err *err)
{
    const struct device_event *device = &facts->devices[part->device];
    str_id op = facts_device_op(facts, part->device);
    struct row row = {0};
    row_word(&row, category_bar_word((enum bar)device->bar));
    row_word(&row, category_word((enum category)device->category));
    row_text_if(&row, op != 0, trace_text(facts->trace, op));
    for (int i = 0; i < 3; i++)
        row_null(&row);
    row_text(&row, trace_text(facts->trace, facts_device_name(facts, part->device)));
    row_i64(&row, part->calls);
    row_i64(&row, part->owned_ns);
    return row_end(&row, &table_parts, report, err);
}

static bool add_idle(const struct facts *facts, enum bar bar, struct report *report,
                     struct err *err)
{
    if (facts->steady.bar_ns[bar] == 0)
        return true;
    struct row row = {0};
    row_word(&row, category_bar_word(bar));
    row_word(&row, "idle");
    for (int i = 0; i < 5; i++)
        row_null(&row);
    row_i64(&row, 0);
    row_i64(&row, facts->steady.bar_ns[bar]);
    return row_end(&row, &table_parts, report, err);
}

static bool add_rows(const struct part_walk *walk, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = walk->grouping.groups.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < count; g++) {
        str_id name = facts_device_name(walk->facts, walk->parts[g].device);
        ranked[g] =
            (struct ranked){walk->parts[g].owned_ns, trace_text(walk->facts->trace, name), g};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct part *part = &walk->parts[ranked[i].index];
        if ((part->calls || part->owned_ns) && !add_part(walk->facts, part, report, err))
            return false;
    }
    return add_idle(walk->facts, BAR_IDLE_HOST_WAIT, report, err) &&
           add_idle(walk->facts, BAR_IDLE_OTHER, report, err);
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct part_walk walk = {.facts = facts};
    bool ok = grouping_make(facts, part_key, &scratch, &walk.grouping, err);
    if (ok)
        walk.parts = arena_array(&scratch, walk.grouping.groups.count, sizeof *walk.parts, err);
    ok = ok && walk.parts;
    if (ok) {
        sum(&walk);
        ok = add_rows(&walk, &scratch, report, err);
    }
    grouping_free(&walk.grouping);
    arena_free(&scratch);
    return ok;
}

const struct analysis part_rows_analysis = {"parts", run};
