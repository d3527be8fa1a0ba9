// SPDX-License-Identifier: Apache-2.0
// Named ranges (NVTX, roctx, record_function) as a tree, with the device time launched within each.
#include "analysis/facts/gaps.h"
#include "analysis/facts/host_stack.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/stats/groups.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/trace/analyses.h"
#include "ingest/base/first_after.h"

enum { MOST_NODES = 20000, MOST_DEPTH = 64 };

// A call of a range.
struct call {
    uint32_t node;
    uint32_t parent; // the call around it, or FACTS_NONE
    int64_t host_ns, owned_ns;
    int64_t first_ns, last_ns; // of its device events
};

// Ranges with the same names down to it. 0 is the root: all device work.
struct node {
    uint32_t parent, depth, name; // index into the names
    int64_t children, calls, steps, host_ns;
    int64_t class_ns[DEVICE_CLASS_COUNT], idle_ns; // of its calls, nested ones included
    uint32_t last_step;
};

// A name, or the start that several have in common: "ProfilerStep#".
struct name {
    struct str text;
    bool numbered;
};

struct ranges {
    const struct facts *facts;
    struct arena *arena;
    struct groups by_name;  // (hash, length) of a name
    struct groups by_place; // (parent node, name), node - 1
    struct name *names;
    size_t name_cap;
    struct node *nodes;
    size_t node_cap;
    uint32_t node_count;
    struct call *calls;
    size_t call_cap;
    uint32_t call_count;
    uint32_t *call_of; // per event of the trace, of annotations
    int64_t *gap_sum;  // idle time of the gaps before each
    uint32_t main_track;
    struct keyed *left; // launches of threads without an open range, by time
    uint32_t left_count;
};

// --- names --------------------------------------------------------------------------------------

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool counts_things(struct str before)
{
    static const char *const words[] = {"step",  "iter",  "iteration",
                                        "epoch", "batch", "microbatch"};
    size_t from = before.len;
    while (from > 0 && before.at[from - 1] != ' ' && before.at[from - 1] != '_')
        from--;
    struct str word = {before.at + from, before.len - from};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_equal_nocase(word, str_of(words[i])))
            return true;
    return false;
}

// Steps have numbers, which make no other range: "ProfilerStep#12", "step 12".
static struct name name_of(struct str text)
{
    size_t end = text.len;
    while (end > 0 && is_digit(text.at[end - 1]))
        end--;
    bool hash = end > 0 && text.at[end - 1] == '#';
    bool apart = end > 0 && (text.at[end - 1] == ' ' || text.at[end - 1] == '_');
    bool numbered =
        end < text.len && (hash || (apart && counts_things((struct str){text.at, end - 1})));
    return (struct name){{text.at, numbered ? end : text.len}, numbered};
}

static bool find_name(struct ranges *ranges, str_id id, uint32_t *index, struct err *err)
{
    struct name name = name_of(trace_text(ranges->facts->trace, id));
    uint32_t known = ranges->by_name.count;
    uint64_t length = (uint64_t)name.text.len << 1 | name.numbered;
    if (!groups_index(&ranges->by_name, hash_bytes(name.text.at, name.text.len), length, index,
                      err))
        return false;
    if (*index < known)
        return true;
    struct name *names = budget_room(ranges->facts->budget, ranges->names, &ranges->name_cap,
                                     known + 1, sizeof *names, err);
    if (!names)
        return false;
    ranges->names = names;
    names[known] = name;
    return true;
}

// --- nodes --------------------------------------------------------------------------------------

static bool add_node(struct ranges *ranges, struct node node, struct err *err)
{
    struct node *nodes = budget_room(ranges->facts->budget, ranges->nodes, &ranges->node_cap,
                                     ranges->node_count + 1, sizeof *nodes, err);
    if (!nodes)
        return false;
    ranges->nodes = nodes;
    node.last_step = FACTS_NONE;
    nodes[ranges->node_count++] = node;
    return true;
}

// Beyond the limits a range counts in the node above.
static bool find_node(struct ranges *ranges, uint32_t parent, str_id id, uint32_t *node,
                      struct err *err)
{
    uint32_t name, place, known = ranges->by_place.count;
    *node = parent;
    if (ranges->nodes[parent].depth == MOST_DEPTH || !find_name(ranges, id, &name, err))
        return ranges->nodes[parent].depth == MOST_DEPTH;
    if (parent && ranges->nodes[parent].name == name)
        return true; // a range within one of the same name, as in recursion
    if (ranges->node_count == MOST_NODES)
        return true;
    if (!groups_index(&ranges->by_place, parent, name, &place, err))
        return false;
    *node = place + 1;
    if (place < known)
        return true;
    ranges->nodes[parent].children++;
    return add_node(
        ranges,
        (struct node){.parent = parent, .depth = ranges->nodes[parent].depth + 1, .name = name},
        err);
}

// --- calls --------------------------------------------------------------------------------------

static uint32_t step_at(const struct facts *facts, int64_t host_ns)
{
    for (uint32_t from = 0, to = facts->marked ? facts->step_count : 0; from < to;) {
        uint32_t middle = from + (to - from) / 2;
        const struct step *step = &facts->steps[middle];
        if (host_ns < step->mark_begin_ns)
            to = middle;
        else if (host_ns >= step->mark_end_ns)
            from = middle + 1;
        else
            return middle;
    }
    return FACTS_NONE;
}

static bool add_call(struct ranges *ranges, uint32_t event, uint32_t around, struct err *err)
{
    const struct trace *trace = ranges->facts->trace;
    uint32_t parent = around == FACTS_NONE ? FACTS_NONE : ranges->call_of[around];
    uint32_t above = parent == FACTS_NONE ? 0 : ranges->calls[parent].node, node;
    if (!find_node(ranges, above, trace->name[event], &node, err))
        return false;
    if (node == above) { // it counts there
        ranges->call_of[event] = parent;
        return true;
    }
    struct call *calls = budget_room(ranges->facts->budget, ranges->calls, &ranges->call_cap,
                                     ranges->call_count + 1, sizeof *calls, err);
    if (!calls)
        return false;
    ranges->calls = calls;
    calls[ranges->call_count] = (struct call){
        .node = node, .parent = parent, .host_ns = trace->dur_ns[event], .first_ns = INT64_MAX};
    ranges->call_of[event] = ranges->call_count++;
    struct node *own = &ranges->nodes[node];
    uint32_t step = step_at(ranges->facts, trace->begin_ns[event]);
    own->calls++;
    own->host_ns += trace->dur_ns[event];
    own->steps += step != FACTS_NONE && step != own->last_step;
    own->last_step = step;
    return true;
}

static bool walk_track(struct ranges *ranges, const struct track *track, struct err *err)
{
    struct host_stack stack;
    uint32_t event, around;
    bool ok = true;
    host_stack_init(&stack, ranges->facts->trace, ranges->facts->budget);
    host_stack_start(&stack, track, HOST_STACK_NOTES);
    while (ok && (ok = host_stack_next(&stack, &event, &around, err)) && event != FACTS_NONE)
        if (ranges->facts->trace->kind[event] == EVENT_ANNOTATION)
            ok = add_call(ranges, event, around, err);
    host_stack_free(&stack);
    return ok;
}

// --- device time --------------------------------------------------------------------------------

static void add_device(struct ranges *ranges, uint32_t index, const struct device_event *device)
{
    for (uint32_t at = index; at != FACTS_NONE; at = ranges->calls[at].parent) {
        struct call *call = &ranges->calls[at];
        ranges->nodes[call->node].class_ns[device->class] += device->owned_ns;
        call->owned_ns += device->owned_ns;
        call->first_ns = device->begin_ns < call->first_ns ? device->begin_ns : call->first_ns;
        call->last_ns = device->end_ns > call->last_ns ? device->end_ns : call->last_ns;
    }
}

static void add_launch(struct ranges *ranges, const struct launch *launch, uint32_t around)
{
    uint32_t call = around == FACTS_NONE ? FACTS_NONE : ranges->call_of[around];
    for (uint32_t d = launch->first; d != FACTS_NONE; d = ranges->facts->devices[d].next)
        add_device(ranges, call, &ranges->facts->devices[d]);
}

static uint32_t end_of(const struct track *track)
{
    return track->first + track->count;
}

static bool launches_before(const void *launches, size_t index, const void *event)
{
    return ((const struct launch *)launches)[index].event < *(const uint32_t *)event;
}

// The first launch on a row or after it.
static uint32_t first_launch(const struct facts *facts, uint32_t event)
{
    return (uint32_t)first_after(facts->launches, facts->launch_count, launches_before, &event);
}

static bool give_launches(struct ranges *ranges, uint32_t index, struct err *err)
{
    const struct facts *facts = ranges->facts;
    const struct track *track = &facts->trace->tracks[index];
    struct host_stack own;
    bool ok = true;
    host_stack_init(&own, facts->trace, facts->budget);
    host_stack_start(&own, track, HOST_STACK_NOTES);
    for (uint32_t i = first_launch(facts, track->first);
         ok && i < facts->launch_count && facts->launches[i].event < end_of(track); i++) {
        const struct launch *launch = &facts->launches[i];
        int64_t now_ns = facts->trace->begin_ns[launch->event];
        uint32_t around;
        ok = host_stack_find(&own, now_ns, now_ns, &around, err);
        if (ok && around == FACTS_NONE && index != ranges->main_track)
            ranges->left[ranges->left_count++] = (struct keyed){.key = now_ns, .a = i};
        else if (ok)
            add_launch(ranges, launch, around);
    }
    host_stack_free(&own);
    return ok;
}

// A thread without an open range, such as autograd's, works for the main thread.
static bool give_rest_to_main(struct ranges *ranges, struct err *err)
{
    const struct facts *facts = ranges->facts;
    struct host_stack main;
    struct keyed *scratch =
        arena_array(ranges->arena, ranges->left_count + 1, sizeof *scratch, err);
    bool ok = scratch;
    if (!scratch || ranges->main_track == FACTS_NONE)
        return ok;
    sort_keyed(ranges->left, scratch, ranges->left_count);
    host_stack_init(&main, facts->trace, facts->budget);
    host_stack_start(&main, &facts->trace->tracks[ranges->main_track], HOST_STACK_NOTES);
    for (uint32_t i = 0; ok && i < ranges->left_count; i++) {
        const struct keyed *left = &ranges->left[i];
        uint32_t around;
        ok = host_stack_find(&main, left->key, left->key, &around, err);
        if (ok)
            add_launch(ranges, &facts->launches[left->a], around);
    }
    host_stack_free(&main);
    return ok;
}

// The thread whose ranges last longest in total.
static void choose_main(struct ranges *ranges)
{
    const struct trace *trace = ranges->facts->trace;
    int64_t most_ns = 0;
    ranges->main_track = FACTS_NONE;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        int64_t sum_ns = 0;
        for (uint32_t i = track->first; track->family == TRACK_HOST && i < end_of(track); i++)
            if (trace->kind[i] == EVENT_ANNOTATION && trace->dur_ns[i] < INT64_MAX - sum_ns)
                sum_ns += trace->dur_ns[i];
        if (sum_ns > most_ns)
            ranges->main_track = t;
        most_ns = sum_ns > most_ns ? sum_ns : most_ns;
    }
}

// --- idle time ----------------------------------------------------------------------------------

static bool starts_before(const void *gaps, size_t index, const void *now_ns)
{
    return ((const struct gap *)gaps)[index].begin_ns < *(const int64_t *)now_ns;
}

// Idle time before a moment.
static int64_t idle_until(const struct ranges *ranges, int64_t now_ns)
{
    const struct gap_list *list = &ranges->facts->gaps;
    size_t from = first_after(list->gaps, list->count, starts_before, &now_ns);
    int64_t idle_ns = ranges->gap_sum[from];
    const struct gap *last = from ? &list->gaps[from - 1] : NULL;
    return last && last->end_ns > now_ns ? idle_ns - (last->end_ns - now_ns) : idle_ns;
}

static bool sum_gaps(struct ranges *ranges, struct err *err)
{
    const struct gap_list *list = &ranges->facts->gaps;
    int64_t *sum = arena_array(ranges->arena, list->count + 1, sizeof *sum, err);
    ranges->gap_sum = sum;
    for (uint32_t i = 0; sum && i < list->count; i++)
        sum[i + 1] = sum[i] + list->gaps[i].end_ns - list->gaps[i].begin_ns;
    return sum;
}

static void add_idle(struct ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->call_count; i++) {
        const struct call *call = &ranges->calls[i];
        if (call->first_ns < call->last_ns)
            ranges->nodes[call->node].idle_ns +=
                idle_until(ranges, call->last_ns) - idle_until(ranges, call->first_ns);
    }
}

// --- rows ---------------------------------------------------------------------------------------

// The calls of each node, together: node n's are first[n] .. first[n + 1] - 1.
struct samples {
    uint32_t *first, *calls;
    int64_t *values, *scratch;
};

static bool sort_calls(const struct ranges *ranges, struct samples *samples, struct err *err)
{
    uint32_t count = ranges->node_count;
    samples->first = arena_array(ranges->arena, count + 2, sizeof *samples->first, err);
    samples->calls = arena_array(ranges->arena, ranges->call_count, sizeof *samples->calls, err);
    samples->values = arena_array(ranges->arena, ranges->call_count, sizeof *samples->values, err);
    samples->scratch =
        arena_array(ranges->arena, ranges->call_count, sizeof *samples->scratch, err);
    if (!samples->first || !samples->calls || !samples->values || !samples->scratch)
        return false;
    for (uint32_t i = 0; i < ranges->call_count; i++)
        samples->first[ranges->calls[i].node + 2]++;
    for (uint32_t n = 2; n < count + 2; n++)
        samples->first[n] += samples->first[n - 1];
    for (uint32_t i = 0; i < ranges->call_count; i++)
        samples->calls[samples->first[ranges->calls[i].node + 1]++] = i;
    return true;
}

static struct quantiles quantiles_of(const struct ranges *ranges, struct samples *samples,
                                     uint32_t node, bool of_device)
{
    uint32_t first = samples->first[node], count = samples->first[node + 1] - first;
    for (uint32_t i = 0; i < count; i++) {
        const struct call *call = &ranges->calls[samples->calls[first + i]];
        samples->values[i] = of_device ? call->owned_ns : call->host_ns;
    }
    return stats_quantiles(samples->values, samples->scratch, count);
}

static int64_t device_of(const struct node *node)
{
    return node->class_ns[CLASS_COMPUTE] + node->class_ns[CLASS_COMMUNICATION] +
           node->class_ns[CLASS_MEMORY];
}

static char *text_of(const struct ranges *ranges, const struct node *node, struct err *err)
{
    const struct name *name = &ranges->names[node->name];
    return arena_printf(ranges->arena, err, "%.*s%s", (int)name->text.len, name->text.at,
                        name->numbered ? "*" : "");
}

static void put_calls(const struct ranges *ranges, struct samples *samples, uint32_t index,
                      struct row *row)
{
    const struct node *node = &ranges->nodes[index];
    struct quantiles host = quantiles_of(ranges, samples, index, false);
    struct quantiles device = quantiles_of(ranges, samples, index, true);
    row_i64(row, RANGES_CALLS, node->calls);
    row_i64_if(row, RANGES_STEPS, ranges->facts->marked, node->steps);
    row_i64(row, RANGES_HOST_NS, node->host_ns);
    row_i64(row, RANGES_HOST_MEDIAN_NS, host.median);
    row_i64(row, RANGES_HOST_P95_NS, host.p95);
    row_i64(row, RANGES_OWNED_MEDIAN_NS, device.median);
    row_i64(row, RANGES_OWNED_P95_NS, device.p95);
    row_i64(row, RANGES_IDLE_NS, node->idle_ns);
}

static bool add_row(const struct ranges *ranges, struct samples *samples, uint32_t index,
                    struct report *report, struct err *err)
{
    const struct node *node = &ranges->nodes[index];
    struct row row = {.desc = &table_ranges};
    const char *text = index ? text_of(ranges, node, err) : "";
    if (!text)
        return false;
    row_i64(&row, RANGES_ID, index);
    row_i64_if(&row, RANGES_PARENT, index != 0, node->parent);
    row_i64(&row, RANGES_DEPTH, node->depth);
    row_i64(&row, RANGES_CHILDREN, node->children);
    row_text_if(&row, RANGES_NAME, index != 0, str_of(text));
    if (index)
        put_calls(ranges, samples, index, &row);
    row_i64(&row, RANGES_TOTAL_OWNED_NS, device_of(node));
    row_i64(&row, RANGES_COMPUTE_NS, node->class_ns[CLASS_COMPUTE]);
    row_i64(&row, RANGES_COMMUNICATION_NS, node->class_ns[CLASS_COMMUNICATION]);
    row_i64(&row, RANGES_COPY_NS, node->class_ns[CLASS_MEMORY]);
    if (index)
        row_share(&row, RANGES_PARENT_SHARE, device_of(node),
                  device_of(&ranges->nodes[node->parent]));
    return row_end(&row, report, err);
}

// The root first, then by device time.
static bool add_rows(struct ranges *ranges, struct report *report, struct err *err)
{
    struct samples samples;
    struct ranked *ranked = arena_array(ranges->arena, ranges->node_count, sizeof *ranked, err);
    if (!ranked || !sort_calls(ranges, &samples, err))
        return false;
    for (uint32_t n = 0; n < ranges->node_count; n++) {
        const struct node *node = &ranges->nodes[n];
        struct str name = n ? ranges->names[node->name].text : STR("");
        ranked[n] = (struct ranked){device_of(node), name, n};
    }
    ranked_sort(ranked + 1, ranges->node_count - 1);
    for (uint32_t i = 0; i < ranges->node_count; i++)
        if (!add_row(ranges, &samples, ranked[i].index, report, err))
            return false;
    return true;
}

// --- the analysis -------------------------------------------------------------------------------

static bool build(struct ranges *ranges, struct err *err)
{
    const struct facts *facts = ranges->facts;
    const struct trace *trace = facts->trace;
    ranges->call_of = arena_array(ranges->arena, trace->event_count, sizeof *ranges->call_of, err);
    ranges->left = arena_array(ranges->arena, facts->launch_count + 1, sizeof *ranges->left, err);
    if (!ranges->call_of || !ranges->left || !sum_gaps(ranges, err) ||
        !add_node(ranges, (struct node){0}, err))
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && !walk_track(ranges, &trace->tracks[t], err))
            return false;
    choose_main(ranges);
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && !give_launches(ranges, t, err))
            return false;
    if (!give_rest_to_main(ranges, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        ranges->nodes[0].class_ns[facts->devices[d].class] += facts->devices[d].owned_ns;
    add_idle(ranges);
    return true;
}

static bool has_ranges(const struct trace *trace)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == EVENT_ANNOTATION)
            return true;
    return false;
}

static void let_go(struct ranges *ranges)
{
    struct budget *budget = ranges->facts->budget;
    budget_free(budget, ranges->names, ranges->name_cap * sizeof *ranges->names);
    budget_free(budget, ranges->nodes, ranges->node_cap * sizeof *ranges->nodes);
    budget_free(budget, ranges->calls, ranges->call_cap * sizeof *ranges->calls);
    groups_free(&ranges->by_name);
    groups_free(&ranges->by_place);
}

static bool run(const struct facts *facts, struct report *report, struct err *err)
{
    struct arena scratch;
    struct ranges ranges = {.facts = facts, .arena = &scratch};
    if (!has_ranges(facts->trace))
        return true;
    arena_init(&scratch, facts->budget);
    groups_init(&ranges.by_name, facts->budget);
    groups_init(&ranges.by_place, facts->budget);
    bool ok = build(&ranges, err) && add_rows(&ranges, report, err);
    let_go(&ranges);
    arena_free(&scratch);
    return ok;
}

const struct analysis ranges_analysis = {"ranges", run};
