// SPDX-License-Identifier: Apache-2.0
// Assembles the facts: population, links, classes, steps, ownership.
#include "analysis/facts/facts.h"

#include "analysis/facts/attention.h"
#include "analysis/facts/context.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/links.h"
#include "analysis/facts/population.h"
#include "analysis/facts/steps.h"
#include "analysis/facts/sweep.h"
#include "ingest/base/crew.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define SHORT_NAME 64 // bytes

int64_t facts_event_end(const struct trace *trace, uint32_t event)
{
    int64_t end_ns;
    if (__builtin_add_overflow(trace->begin_ns[event], trace->dur_ns[event], &end_ns))
        return trace->dur_ns[event] < 0 ? INT64_MIN : INT64_MAX;
    return end_ns;
}

uint32_t facts_launch_by(const struct facts *facts, uint32_t call)
{
    uint32_t low = 0, high = facts->launch_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->launches[middle].event < call)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < facts->launch_count && facts->launches[low].event == call;
    return found ? low : FACTS_NONE;
}

uint32_t facts_devices_before(const struct facts *facts, int64_t time_ns)
{
    uint32_t low = 0, high = facts->device_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (facts->devices[middle].begin_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool facts_is_steady(const struct facts *facts, uint32_t device)
{
    uint32_t step = facts->devices[device].step;
    return step != FACTS_NONE && facts->steps[step].steady;
}

str_id facts_device_name(const struct facts *facts, uint32_t device)
{
    return facts->trace->name[facts->devices[device].event];
}

str_id facts_device_op(const struct facts *facts, uint32_t device)
{
    uint32_t launch = facts->devices[device].launch;
    uint32_t op = launch == FACTS_NONE ? FACTS_NONE : facts->launches[launch].op;
    return op == FACTS_NONE ? 0 : facts->trace->name[op];
}

// Whether PyTorch's profiler recorded what the launching call was given: the grid in work items.
static bool counts_items(const struct facts *facts, uint32_t device)
{
    static const char *const names[] = {"hipExtModuleLaunchKernel", "hipHccModuleLaunchKernel"};
    const struct trace *trace = facts->trace;
    uint32_t launch = facts->devices[device].launch;
    if (launch == FACTS_NONE || trace->job.recorder != RECORDER_PYTORCH)
        return false;
    struct str name = trace_text(trace, trace->name[facts->launches[launch].event]);
    return str_is_one_of(name, names, sizeof names / sizeof *names);
}

struct launch_shape facts_launch_shape(const struct facts *facts, uint32_t device)
{
    uint32_t args = facts->trace->args[facts->devices[device].event];
    if (args == ARGS_NONE)
        return (struct launch_shape){.registers = -1,
                                     .occupancy_percent = -1,
                                     .shared_bytes = VALUE_ABSENT,
                                     .bytes = VALUE_ABSENT};
    struct launch_shape shape = facts->trace->shapes[facts->trace->device_args[args].shape];
    bool items = counts_items(facts, device);
    for (int i = 0; items && i < 3; i++)
        if (shape.block[i] > 0)
            shape.grid[i] = shape.grid[i] / shape.block[i] + (shape.grid[i] % shape.block[i] != 0);
    return shape;
}

struct cores *facts_cores(const struct facts *facts)
{
    return facts->options ? facts->options->cores : NULL;
}

struct str facts_short_name(const struct trace *trace, str_id name)
{
    struct str text = trace_text(trace, name);
    if (text.len <= SHORT_NAME)
        return text;
    text.len = SHORT_NAME;
    text.len = str_valid_utf8(text);
    return text;
}

struct str facts_label(const struct trace *trace, struct label label, char text[32])
{
    if (label.text)
        return trace_text(trace, label.text);
    snprintf(text, 32, "%" PRId64, label.number);
    return str_of(text);
}

// Rule results, looked up once per name: 0 is "not looked up yet".
struct memo {
    uint8_t *classes;         // class + 1; low half for kernels without metadata
    uint8_t *op_categories;   // category + 1
    uint8_t *name_categories; // category + 1
};

static enum device_class class_of(const struct facts *facts, uint32_t event, struct memo *memo)
{
    const struct trace *trace = facts->trace;
    enum event_kind kind = (enum event_kind)trace->kind[event];
    uint32_t args = trace->args[event];
    bool collective = args != ARGS_NONE && trace->device_args[args].collective != ARGS_NONE;
    str_id name = trace->name[event];
    if (kind != EVENT_KERNEL)
        return event_device_class(kind, trace_text(trace, name), collective);
    int shift = collective ? 4 : 0;
    if (!(memo->classes[name] >> shift & 15)) {
        enum device_class class = event_device_class(kind, trace_text(trace, name), collective);
        memo->classes[name] |= (uint8_t)((class + 1) << shift);
    }
    return (enum device_class)((memo->classes[name] >> shift & 15) - 1);
}

static enum category compute_category(const struct trace *trace, struct memo *memo, str_id op,
                                      str_id name)
{
    if (op && !memo->op_categories[op])
        memo->op_categories[op] = (uint8_t)(category_of_op(trace_text(trace, op)) + 1);
    if (op && memo->op_categories[op] != CATEGORY_NONE + 1)
        return (enum category)(memo->op_categories[op] - 1);
    if (!memo->name_categories[name])
        memo->name_categories[name] = (uint8_t)(category_of_kernel(trace_text(trace, name)) + 1);
    enum category category = (enum category)(memo->name_categories[name] - 1);
    return category ? category : CATEGORY_OTHER;
}

static enum category memory_category(const struct trace *trace, uint32_t event)
{
    struct str name = facts_short_name(trace, trace->name[event]);
    bool fills = trace->kind[event] == EVENT_MEMSET || str_contains_nocase(name, STR("memset")) ||
                 str_contains_nocase(name, STR("fillbuffer"));
    return fills ? CATEGORY_FILL : CATEGORY_COPY;
}

static void classify(struct facts *facts, struct memo *memo)
{
    const struct trace *trace = facts->trace;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        struct device_event *device = &facts->devices[i];
        enum device_class class = class_of(facts, device->event, memo);
        enum category category = CATEGORY_COMMUNICATION;
        if (class == CLASS_COMPUTE)
            category = compute_category(trace, memo, facts_device_op(facts, i),
                                        facts_device_name(facts, i));
        else if (class == CLASS_MEMORY)
            category = memory_category(trace, device->event);
        device->class = (uint8_t) class;
        device->category = (uint8_t)category;
        device->bar = (uint8_t)category_bar(class, category);
    }
}

bool facts_list_classes(struct facts *facts, struct err *err)
{
    uint32_t *list = arena_room(facts->arena, facts->device_count, sizeof *list, err);
    uint32_t *first = facts->class_first, next[DEVICE_CLASS_COUNT];
    if (!list)
        return false;
    memset(first, 0, sizeof facts->class_first);
    for (uint32_t i = 0; i < facts->device_count; i++)
        first[facts->devices[i].class + 1]++;
    for (int c = 0; c < DEVICE_CLASS_COUNT; c++) {
        first[c + 1] += first[c];
        next[c] = first[c];
    }
    for (uint32_t i = 0; i < facts->device_count; i++)
        list[next[facts->devices[i].class]++] = i;
    facts->class_devices = list;
    return true;
}

static bool classify_all(struct facts *facts, struct err *err)
{
    size_t names = facts->trace->strings.count;
    uint8_t *seen = budget_alloc(facts->budget, 3 * names, err);
    if (!seen)
        return false;
    memset(seen, 0, 3 * names);
    classify(facts, &(struct memo){seen, seen + names, seen + 2 * names});
    budget_free(facts->budget, seen, 3 * names);
    return facts_list_classes(facts, err);
}

static void account(void *context, const struct segment *segment)
{
    struct facts *facts = context;
    if (segment->bar < BAR_DEVICE_COUNT)
        facts->devices[segment->device].owned_ns += segment->end_ns - segment->begin_ns;
    sweep_add(&facts->whole, segment);
    if (segment->step == FACTS_NONE)
        return;
    sweep_add(&facts->step_parts[segment->step], segment);
    if (!facts->steps[segment->step].steady)
        return;
    sweep_add(&facts->steady, segment);
    if (segment->bar >= BAR_DEVICE_COUNT)
        return;
    int64_t length_ns = segment->end_ns - segment->begin_ns;
    facts->steady_owned_ns[segment->device] += length_ns;
    facts->steady_category_ns[facts->devices[segment->device].category] += length_ns;
}

static bool account_all(struct facts *facts, struct err *err)
{
    facts->step_parts =
        arena_array(facts->arena, facts->step_count, sizeof *facts->step_parts, err);
    facts->steady_owned_ns =
        arena_array(facts->arena, facts->device_count, sizeof *facts->steady_owned_ns, err);
    if (!facts->step_parts || !facts->steady_owned_ns)
        return false;
    sweep_run(facts, SWEEP_ALL, account, facts);
    assert(parts_window_ns(&facts->whole) == facts->end_ns - facts->begin_ns);
    return true;
}

// The second phase: the launches' context on the host, and what the devices did. Neither reads what
// the other writes, and each has its own arena.
struct branch {
    struct facts facts;
    struct arena arena;
};

static bool follow_host(void *context, struct err *err)
{
    struct branch *branch = context;
    return context_make(&branch->facts, err);
}

static bool follow_devices(void *context, struct err *err)
{
    struct branch *branch = context;
    struct facts *facts = &branch->facts;
    return classify_all(facts, err) && steps_make(facts, err) && gaps_make(facts, err);
}

static void join_branches(struct facts *facts, const struct facts *host,
                          const struct facts *devices)
{
    struct arena *arena = facts->arena;
    *facts = *devices;
    facts->arena = arena;
    facts->op_parent = host->op_parent;
    facts->frame_state = host->frame_state;
    facts->calls = host->calls;
    facts->modules = host->modules;
    facts->module_count = host->module_count;
}

static bool follow(struct facts *facts, struct err *err)
{
    struct branch host = {.facts = *facts}, devices = {.facts = *facts};
    struct crew_task tasks[] = {{.run = follow_host, .context = &host},
                                {.run = follow_devices, .context = &devices}};
    arena_init(&host.arena, facts->arena->budget);
    arena_init(&devices.arena, facts->arena->budget);
    host.facts.arena = &host.arena;
    devices.facts.arena = &devices.arena;
    bool ok = crew_run(facts_cores(facts), tasks, 2, err);
    arena_take(facts->arena, &host.arena);
    arena_take(facts->arena, &devices.arena);
    if (ok)
        join_branches(facts, &host.facts, &devices.facts);
    return ok;
}

static bool has_waits_only(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->collective_count; i++)
        if (str_equal(trace_text(trace, trace->collectives[i].name), STR(TRACE_ASYNC_START)))
            return true;
    return false;
}

bool facts_make(const struct trace *trace, const struct analysis_options *options,
                struct arena *arena, struct facts *facts, struct err *err)
{
    *facts = (struct facts){.trace = trace,
                            .options = options,
                            .arena = arena,
                            .budget = trace->budget,
                            .waits_only = has_waits_only(trace)};
    return identity_of(trace, arena, &facts->identity, err) && population_make(facts, err) &&
           links_make(facts, err) && follow(facts, err) && attention_make(facts, err) &&
           account_all(facts, err);
}
