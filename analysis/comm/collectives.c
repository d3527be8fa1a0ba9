// SPDX-License-Identifier: Apache-2.0
// Communication of one rank by collective, size and process group.
#include "analysis/trace/analyses.h"
#include "analysis/names/bandwidth.h"
#include "analysis/facts/grouping.h"
#include "analysis/report/ranked.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "ingest/trace/record_set.h"

#include <math.h>

#define WITHOUT_METADATA 1 // in the second half of a key whose first half is a kernel's name

struct collective_sums {
    const struct facts *facts;
    struct grouping grouping;
    uint32_t *row_of;    // per group: the group it shares a row with
    int64_t *exposed_ns; // per group
    int64_t *total_ns;
};

static bool collective_key(const struct facts *facts, uint32_t device, struct group_key *key)
{
    if (facts->devices[device].class != CLASS_COMMUNICATION)
        return false;
    uint32_t args = facts->trace->args[facts->devices[device].event];
    uint32_t collective =
        args == ARGS_NONE ? ARGS_NONE : facts->trace->device_args[args].collective;
    *key = collective == ARGS_NONE
               ? (struct group_key){facts_device_name(facts, device), WITHOUT_METADATA}
               : (struct group_key){collective, 0};
    return true;
}

static bool share_row(struct collective_sums *sums, struct record_set *known, uint32_t *first_of,
                      uint32_t group, struct err *err)
{
    struct group_key key = sums->grouping.groups.keys[group];
    uint32_t index;
    sums->row_of[group] = group;
    if (key.b)
        return true;
    struct collective collective = sums->facts->trace->collectives[key.a];
    collective.peer = collective.peer_in_group = VALUE_ABSENT;
    uint32_t count = known->count;
    if (!record_set_add(known, &collective, &index, err))
        return false;
    if (index == count)
        first_of[index] = group;
    sums->row_of[group] = first_of[index];
    return true;
}

// Sends and receives that differ only in their peer share a row.
static bool share_rows(struct collective_sums *sums, struct arena *arena, struct err *err)
{
    const struct facts *facts = sums->facts;
    uint32_t count = sums->grouping.groups.count;
    uint32_t *first_of = arena_array(arena, count, sizeof *first_of, err);
    sums->row_of = arena_array(arena, count, sizeof *sums->row_of, err);
    struct record_set known;
    record_set_init(&known, sizeof(struct collective), facts->budget);
    bool ok = first_of && sums->row_of;
    for (uint32_t g = 0; ok && g < count; g++)
        ok = share_row(sums, &known, first_of, g, err);
    record_set_free(&known);
    for (uint32_t i = 0; ok && i < facts->device_count; i++)
        if (sums->grouping.group_of[i] != FACTS_NONE)
            sums->grouping.group_of[i] = sums->row_of[sums->grouping.group_of[i]];
    return ok;
}

static void add_identity(struct row *row, const struct trace *trace, const struct collective *c,
                         enum collective_kind kind)
{
    row_text_if(row, COLLECTIVES_COLLECTIVE, c->name != 0, trace_text(trace, c->name));
    row_word(row, COLLECTIVES_KIND, bandwidth_kind_word(kind));
    row_text_if(row, COLLECTIVES_DTYPE, c->dtype != 0, trace_text(trace, c->dtype));
    row_i64_if(row, COLLECTIVES_IN_ELEMS, c->in_elems != VALUE_ABSENT, c->in_elems);
    row_i64_if(row, COLLECTIVES_OUT_ELEMS, c->out_elems != VALUE_ABSENT, c->out_elems);
    row_i64_if(row, COLLECTIVES_GROUP_SIZE, c->group_size != VALUE_ABSENT, c->group_size);
    row_text_if(row, COLLECTIVES_PROCESS_GROUP, c->group != 0, trace_text(trace, c->group));
}

static void add_bandwidth(struct row *row, const struct trace *trace, const struct collective *c,
                          enum collective_kind kind, int64_t median_ns)
{
    int element = bandwidth_element_bytes(trace_text(trace, c->dtype));
    int64_t bytes = bandwidth_bytes(kind, c, element);
    bool known = bytes > 0 && median_ns > 0;
    double algo = known ? (double)bytes / (double)median_ns : NAN; // bytes per ns are GB/s
    row_i64_if(row, COLLECTIVES_BYTES, bytes >= 0, bytes);
    row_f64(row, COLLECTIVES_ALGO_GBPS, algo);
    row_f64(row, COLLECTIVES_BUS_GBPS, algo * bandwidth_bus_factor(kind, c->group_size));
}

static bool add_row(const struct collective_sums *sums, uint32_t group, struct report *report,
                    struct err *err)
{
    const struct trace *trace = sums->facts->trace;
    struct group_key key = sums->grouping.groups.keys[group];
    struct collective unknown = {
        .in_elems = VALUE_ABSENT, .out_elems = VALUE_ABSENT, .group_size = VALUE_ABSENT};
    const struct collective *c = key.b ? &unknown : &trace->collectives[key.a];
    struct str kernel = key.b ? trace_text(trace, (str_id)key.a) : (struct str){0};
    enum collective_kind kind = bandwidth_kind(key.b ? kernel : trace_text(trace, c->name));
    uint32_t first = sums->grouping.first[group];
    struct stats stats =
        stats_of(sums->grouping.dur_ns + first, sums->grouping.first[group + 1] - first);
    struct row row = {.desc = &table_collectives};
    add_identity(&row, trace, c, kind);
    row_i64(&row, COLLECTIVES_CALLS, (int64_t)stats.count);
    row_i64(&row, COLLECTIVES_TOTAL_NS, sums->total_ns[group]);
    row_i64(&row, COLLECTIVES_MIN_NS, stats.min);
    row_i64(&row, COLLECTIVES_MEDIAN_NS, stats.median);
    row_i64(&row, COLLECTIVES_P95_NS, stats.p95);
    row_i64(&row, COLLECTIVES_MAX_NS, stats.max);
    add_bandwidth(&row, trace, c, kind, stats.median);
    row_i64(&row, COLLECTIVES_EXPOSED_NS, sums->exposed_ns[group]);
    row_share(&row, COLLECTIVES_EXPOSED_SHARE, sums->exposed_ns[group], sums->total_ns[group]);
    row_text_if(&row, COLLECTIVES_KERNEL, key.b != 0, kernel);
    return row_end(&row, report, err);
}

static bool sum(struct collective_sums *sums, struct arena *arena, struct err *err)
{
    const struct facts *facts = sums->facts;
    uint32_t count = sums->grouping.groups.count;
    sums->exposed_ns = arena_array(arena, count, sizeof(int64_t), err);
    sums->total_ns = arena_array(arena, count, sizeof(int64_t), err);
    if (!sums->exposed_ns || !sums->total_ns)
        return false;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        uint32_t group = sums->grouping.group_of[i];
        if (group == FACTS_NONE)
            continue;
        sums->exposed_ns[group] += facts->devices[i].owned_ns;
        sums->total_ns[group] += facts->devices[i].end_ns - facts->devices[i].begin_ns;
    }
    return true;
}

static bool add_rows(const struct collective_sums *sums, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t groups = sums->grouping.groups.count, count = 0;
    struct ranked *ranked = arena_array(arena, groups, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < groups; g++) {
        if (sums->row_of[g] != g)
            continue;
        struct group_key key = sums->grouping.groups.keys[g];
        str_id name = key.b ? 0 : sums->facts->trace->collectives[key.a].name;
        ranked[count++] =
            (struct ranked){sums->total_ns[g], trace_text(sums->facts->trace, name), g};
    }
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(sums, ranked[i].index, report, err))
            return false;
    return true;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct collective_sums sums = {.facts = facts};
    bool ok = grouping_make(facts, collective_key, scratch, &sums.grouping, err) &&
              share_rows(&sums, scratch, err) &&
              grouping_sort(facts, scratch, &sums.grouping, err) && sum(&sums, scratch, err) &&
              add_rows(&sums, scratch, report, err);
    grouping_free(&sums.grouping);
    return ok;
}

const struct analysis collectives_analysis = {"collectives", run};
