// SPDX-License-Identifier: Apache-2.0
// Device time by nn.Module, forward, backward and recomputed, as a tree; and how much is
// recomputed. Of a part of the trace only modules with time are listed: parts are many.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"

// Owned time of one module, by itself and with the modules below.
struct module_time {
    int64_t forward_self_ns, backward_self_ns, recompute_self_ns;
    int64_t forward_ns, backward_ns, recompute_ns;
    int64_t children;
};

struct metric_row {
    const char *name;
    bool known;
    double value;
    const char *unit, *help;
};

struct module_walk {
    const struct facts *facts;
    struct module_time *times; // per module
    int64_t busy_ns;
};

static int64_t self_of(const struct module_time *time)
{
    return time->forward_self_ns + time->backward_self_ns + time->recompute_self_ns;
}

static int64_t total_of(const struct module_time *time)
{
    return time->forward_ns + time->backward_ns + time->recompute_ns;
}

static void add_device(struct module_walk *walk, const struct device_event *device)
{
    const struct facts *facts = walk->facts;
    walk->busy_ns += device->owned_ns;
    if (device->launch == FACTS_NONE) {
        walk->times[0].forward_self_ns += device->owned_ns;
        return;
    }
    const struct launch *launch = &facts->launches[device->launch];
    struct module_time *time = &walk->times[launch->module];
    if (launch->recompute)
        time->recompute_self_ns += device->owned_ns;
    else if (launch->backward)
        time->backward_self_ns += device->owned_ns;
    else
        time->forward_self_ns += device->owned_ns;
}

static bool is_listed(const struct module_walk *walk, uint32_t index)
{
    return index == 0 || !walk->facts->is_part || total_of(&walk->times[index]) > 0;
}

static void sum(struct module_walk *walk)
{
    const struct facts *facts = walk->facts;
    for (uint32_t d = 0; d < facts->device_count; d++)
        add_device(walk, &facts->devices[d]);
    for (uint32_t m = facts->module_count; m-- > 0;) {
        struct module_time *time = &walk->times[m];
        time->forward_ns += time->forward_self_ns;
        time->backward_ns += time->backward_self_ns;
        time->recompute_ns += time->recompute_self_ns;
        if (m == 0)
            break;
        struct module_time *above = &walk->times[facts->modules[m].parent];
        above->forward_ns += time->forward_ns;
        above->backward_ns += time->backward_ns;
        above->recompute_ns += time->recompute_ns;
        above->children += is_listed(walk, m);
    }
}

static bool add_row(const struct module_walk *walk, uint32_t index, struct report *report,
                    struct err *err)
{
    const struct module *module = &walk->facts->modules[index];
    const struct module_time *time = &walk->times[index];
    struct arena scratch;
    arena_init(&scratch, walk->facts->budget);
    struct str path = context_module_path(walk->facts, index, &scratch, err);
    struct row row = {.desc = &table_modules};
    row_i64(&row, MODULES_ID, index);
    row_i64_if(&row, MODULES_PARENT, index != 0, module->parent);
    row_i64(&row, MODULES_DEPTH, module->depth);
    row_i64(&row, MODULES_CHILDREN, time->children);
    row_text_if(&row, MODULES_NAME, index != 0, module->name);
    row_text(&row, MODULES_PATH, path);
    row_i64_if(&row, MODULES_CALLS, index != 0 && !walk->facts->is_part, (int64_t)module->calls);
    row_i64(&row, MODULES_FORWARD_SELF_NS, time->forward_self_ns);
    row_i64(&row, MODULES_FORWARD_NS, time->forward_ns);
    row_i64(&row, MODULES_BACKWARD_SELF_NS, time->backward_self_ns);
    row_i64(&row, MODULES_BACKWARD_NS, time->backward_ns);
    row_i64(&row, MODULES_RECOMPUTE_NS, time->recompute_ns);
    row_i64(&row, MODULES_SELF_OWNED_NS, self_of(time));
    row_i64(&row, MODULES_TOTAL_OWNED_NS, total_of(time));
    if (index)
        row_share(&row, MODULES_PARENT_SHARE, total_of(time),
                  total_of(&walk->times[module->parent]));
    bool ok = path.at && row_end(&row, report, err);
    arena_free(&scratch);
    return ok;
}

// The root first, then by total time; ids are those of the facts, so any order can be read.
static bool add_rows(const struct module_walk *walk, struct arena *arena, struct report *report,
                     struct err *err)
{
    const struct facts *facts = walk->facts;
    struct ranked *ranked = arena_array(arena, facts->module_count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t m = 0; m < facts->module_count; m++)
        ranked[m] = (struct ranked){total_of(&walk->times[m]), facts->modules[m].name, m};
    ranked_sort(ranked + 1, facts->module_count - 1);
    for (uint32_t i = 0; i < facts->module_count; i++)
        if (is_listed(walk, ranked[i].index) && !add_row(walk, ranked[i].index, report, err))
            return false;
    return true;
}

static bool add_metric(struct report *report, struct metric_row metric, struct err *err)
{
    struct row row = {.desc = &table_utilization};
    row_word(&row, UTILIZATION_METRIC, metric.name);
    row_f64_if(&row, UTILIZATION_VALUE, metric.known, metric.value);
    row_word(&row, UTILIZATION_UNIT, metric.unit);
    row_word(&row, UTILIZATION_HELP,
             metric.known ? metric.help
                          : "Unknown: without Python frames (with_stack) a repeated forward "
                            "looks like the first one.");
    return row_end(&row, report, err);
}

// What checkpointing repeats is visible through Python frames, or through the engine's operators
// when it runs a function; without either it is unknown whether there was any.
static bool add_metrics(const struct module_walk *walk, struct report *report, struct err *err)
{
    int64_t recompute_ns = walk->times[0].recompute_ns;
    bool known = walk->facts->frame_state || recompute_ns > 0;
    double busy_ns = (double)(walk->busy_ns ? walk->busy_ns : 1);
    struct metric_row share = {
        "recompute_share", known && walk->busy_ns, (double)recompute_ns / busy_ns, "share",
        "Owned time of forward passes that activation checkpointing repeats, divided by the busy "
        "time."};
    struct metric_row time = {
        "recompute_ns", known, (double)recompute_ns, "ns",
        "Owned time of forward passes that activation checkpointing repeats, in the whole trace."};
    return add_metric(report, share, err) && add_metric(report, time, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    if (facts->device_count == 0)
        return true;
    struct module_walk walk = {.facts = facts};
    walk.times = arena_array(scratch, facts->module_count, sizeof *walk.times, err);
    bool ok = walk.times != NULL;
    if (ok)
        sum(&walk);
    ok = ok && add_rows(&walk, scratch, report, err) && add_metrics(&walk, report, err);
    return ok;
}

const struct analysis modules_analysis = {"modules", run};
