// SPDX-License-Identifier: Apache-2.0
// What no category rule matches, by name, and the trust report's line about it.
#include "analysis/trace/analyses.h"
#include "analysis/facts/grouping.h"
#include "analysis/report/trust.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

#include <stdio.h>

#define OTHER_WARN_SHARE 0.05 // of busy time; above this the categories are doubtful
#define NAMED            3    // kernels named in the trust report

struct unknown {
    int64_t calls, owned_ns;
    uint32_t device; // one of its device events
};

struct unknown_walk {
    const struct facts *facts;
    struct grouping grouping;
    struct unknown *unknowns; // per group
    struct ranked *ranked;    // of all groups, largest first
    uint32_t count;
};

static bool unknown_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    *key = (struct group_key){facts_device_op(facts, device), facts_device_name(facts, device)};
    return facts->devices[device].category == CATEGORY_OTHER;
}

static bool sum(struct unknown_walk *walk, struct arena *arena, struct err *err)
{
    const struct facts *facts = walk->facts;
    walk->count = walk->grouping.groups.count;
    walk->unknowns = arena_array(arena, walk->count, sizeof *walk->unknowns, err);
    walk->ranked = arena_array(arena, walk->count, sizeof *walk->ranked, err);
    if (!walk->unknowns || !walk->ranked)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t group = walk->grouping.group_of[i];
        if (group == FACTS_NONE)
            continue;
        struct unknown *unknown = &walk->unknowns[group];
        unknown->calls++;
        unknown->owned_ns += facts->devices[i].owned_ns;
        unknown->device = i;
    }
    for (uint32_t g = 0; g < walk->count; g++) {
        str_id name = facts_device_name(facts, walk->unknowns[g].device);
        walk->ranked[g] =
            (struct ranked){walk->unknowns[g].owned_ns, trace_text(facts->trace, name), g};
    }
    ranked_sort(walk->ranked, walk->count);
    return true;
}

static bool add_rows(const struct unknown_walk *walk, struct report *report, struct err *err)
{
    const struct facts *facts = walk->facts;
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct unknown *unknown = &walk->unknowns[walk->ranked[i].index];
        str_id op = facts_device_op(facts, unknown->device);
        struct row row = {.desc = &table_uncategorized};
        row_text(&row, UNCATEGORIZED_KERNEL, walk->ranked[i].name);
        row_text_if(&row, UNCATEGORIZED_OP, op != 0, trace_text(facts->trace, op));
        row_i64(&row, UNCATEGORIZED_CALLS, unknown->calls);
        row_i64(&row, UNCATEGORIZED_OWNED_NS, unknown->owned_ns);
        row_share(&row, UNCATEGORIZED_BUSY_SHARE, unknown->owned_ns, parts_busy_ns(&facts->whole));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static double busy_percent(const struct facts *facts, int64_t time_ns)
{
    int64_t busy_ns = parts_busy_ns(&facts->whole);
    return busy_ns ? 100.0 * (double)time_ns / (double)busy_ns : 0;
}

// "...; most in NAME (3.1 %), NAME (0.4 %)". text has room for all of it: names are cut short.
static void describe(const struct unknown_walk *walk, int64_t time_ns, char *text, size_t size)
{
    int n = snprintf(text, size, "compute not matched by any category rule: %.1f %% of busy time",
                     busy_percent(walk->facts, time_ns));
    for (uint32_t i = 0; i < walk->count && i < NAMED; i++) {
        uint32_t device = walk->unknowns[walk->ranked[i].index].device;
        struct str name =
            facts_short_name(walk->facts->trace, facts_device_name(walk->facts, device));
        n += snprintf(text + n, size - (size_t)n, "%s%.*s (%.1f %%)", i ? ", " : "; most in ",
                      (int)name.len, name.at, busy_percent(walk->facts, walk->ranked[i].total_ns));
    }
}

static bool add_doubt(const struct unknown_walk *walk, struct report *report, struct err *err)
{
    char detail[512];
    struct doubt other = {
        .item = "uncategorized",
        .timed = true,
        .detail = detail,
        .effect = "it counts as other compute; the table uncategorized lists it",
    };
    for (uint32_t g = 0; g < walk->count; g++) {
        other.count += walk->unknowns[g].calls;
        other.time_ns += walk->unknowns[g].owned_ns;
    }
    bool much = busy_percent(walk->facts, other.time_ns) > 100 * OTHER_WARN_SHARE;
    other.severity = much ? "warning" : "info";
    describe(walk, other.time_ns, detail, sizeof detail);
    return !other.count || doubt_add(report, &other, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct unknown_walk walk = {.facts = facts};
    bool ok = grouping_make(facts, unknown_key, scratch, &walk.grouping, err) &&
              sum(&walk, scratch, err) && add_rows(&walk, report, err) &&
              add_doubt(&walk, report, err);
    grouping_free(&walk.grouping);
    return ok;
}

const struct analysis uncategorized_analysis = {"uncategorized", run};
