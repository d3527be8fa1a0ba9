// SPDX-License-Identifier: Apache-2.0
// Adds up with a sweep over the ends of a step's spans.
#include "tests/tracegen/logbook.h"

#include <stdlib.h>

// One end of a span: +1 opens, -1 closes.
struct edge {
    int64_t at_ns;
    size_t span;
    int32_t change;
};

enum { OPEN_MOST = 64 };

// The spans running at an instant.
struct open_spans {
    size_t at[OPEN_MOST];
    size_t count;
};

static void *grow(void *rows, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity)
        return rows;
    *capacity = *capacity * 2 + 256;
    rows = realloc(rows, *capacity * size);
    if (!rows)
        outfile_die("found no memory for %zu rows", *capacity);
    return rows;
}

void logbook_add(struct logbook *logbook, const struct logbook_span *span)
{
    logbook->spans =
        grow(logbook->spans, logbook->span_count, &logbook->span_capacity, sizeof *logbook->spans);
    logbook->spans[logbook->span_count++] = *span;
}

static int by_time(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns ? -1 : 1;
    return b->change - a->change; // a span that starts when another ends leaves no gap
}

static struct edge *sort_edges(const struct logbook *logbook)
{
    struct edge *edges = outfile_memory(2 * logbook->span_count, sizeof *edges);
    for (size_t i = 0; i < logbook->span_count; i++) {
        const struct logbook_span *span = &logbook->spans[i];
        edges[2 * i] = (struct edge){span->begin_ns, i, 1};
        edges[2 * i + 1] = (struct edge){span->end_ns, i, -1};
    }
    qsort(edges, 2 * logbook->span_count, sizeof *edges, by_time);
    return edges;
}

// Credits a stretch of time in which `open` spans per class run.
static void credit(struct logbook_times *times, const int32_t *open, int64_t ns)
{
    if (open[LOGBOOK_COMPUTE])
        times->compute_ns += ns;
    else if (open[LOGBOOK_COMMUNICATION])
        times->exposed_comm_ns += ns;
    else if (open[LOGBOOK_MEMORY])
        times->exposed_memory_ns += ns;
    else
        times->idle_ns += ns;
    if (open[LOGBOOK_COMMUNICATION])
        times->total_comm_ns += ns;
    if (open[LOGBOOK_MEMORY])
        times->total_memory_ns += ns;
}

static bool comes_first(const struct logbook_span *a, const struct logbook_span *b)
{
    return a->class != b->class ? a->class < b->class : a->begin_ns < b->begin_ns;
}

// Credits a stretch of time to the one span that owns it.
static void own(struct logbook *logbook, const struct open_spans *open, int64_t ns)
{
    struct logbook_span *owner = NULL;
    for (size_t i = 0; i < open->count; i++) {
        struct logbook_span *span = &logbook->spans[open->at[i]];
        if (!owner || comes_first(span, owner))
            owner = span;
    }
    if (owner)
        owner->owned_ns += ns;
}

static void change_open(struct open_spans *open, const struct edge *edge)
{
    if (edge->change > 0) {
        if (open->count == OPEN_MOST)
            outfile_die("found more than %d device events at once, expected fewer", OPEN_MOST);
        open->at[open->count++] = edge->span;
        return;
    }
    for (size_t i = 0; i < open->count; i++)
        if (open->at[i] == edge->span)
            open->at[i] = open->at[--open->count];
}

static void note_gap(struct logbook *logbook, int64_t begin_ns, const struct logbook_span *after)
{
    enum idle_cause cause = after->work->cause;
    if (cause == IDLE_UNTOLD || after->begin_ns == begin_ns)
        return;
    logbook->gaps =
        grow(logbook->gaps, logbook->gap_count, &logbook->gap_capacity, sizeof *logbook->gaps);
    logbook->gaps[logbook->gap_count++] = (struct logbook_gap){begin_ns, after->begin_ns, cause};
}

static void count_spans(const struct logbook *logbook, struct logbook_times *times)
{
    times->events = (int64_t)logbook->span_count;
    for (size_t i = 0; i < logbook->span_count; i++) {
        const struct logbook_span *span = &logbook->spans[i];
        times->class_events[span->class]++;
        times->class_sum_ns[span->class] += span->end_ns - span->begin_ns;
    }
}

static struct logbook_step sweep(struct logbook *logbook)
{
    struct logbook_step step = {0};
    struct edge *edges = sort_edges(logbook);
    struct open_spans open = {.count = 0};
    int32_t running[LOGBOOK_CLASSES] = {0};
    size_t count = 2 * logbook->span_count;
    for (size_t i = 0; i < count; i++) {
        const struct logbook_span *span = &logbook->spans[edges[i].span];
        int64_t ns = i > 0 ? edges[i].at_ns - edges[i - 1].at_ns : 0;
        credit(&step.times, running, ns);
        own(logbook, &open, ns);
        if (i > 0 && open.count == 0)
            note_gap(logbook, edges[i - 1].at_ns, span);
        running[span->class] += edges[i].change;
        change_open(&open, &edges[i]);
    }
    step.begin_ns = edges[0].at_ns;
    step.end_ns = edges[count - 1].at_ns;
    if (logbook->spans[edges[count - 1].span].class != LOGBOOK_COMPUTE)
        outfile_die("found a step that does not end with compute");
    if (logbook->step_count > 0)
        note_gap(logbook, logbook->steps[logbook->step_count - 1].end_ns,
                 &logbook->spans[edges[0].span]);
    free(edges);
    count_spans(logbook, &step.times);
    return step;
}

static void settle(struct logbook_step *step)
{
    struct logbook_times *times = &step->times;
    times->window_ns = step->end_ns - step->begin_ns;
    times->busy_ns = times->compute_ns + times->exposed_comm_ns + times->exposed_memory_ns;
    times->idle_ns = times->window_ns - times->busy_ns;
}

static void keep(struct logbook *logbook, const struct logbook_span *span)
{
    logbook->events = grow(logbook->events, logbook->event_count, &logbook->event_capacity,
                           sizeof *logbook->events);
    logbook->events[logbook->event_count++] = *span;
}

static void enter(struct ledger *ledger, const struct logbook_span *span)
{
    const struct instruction *work = span->work, *op = span->op;
    struct ledger_entry entry = {
        .calls = 1, .total_ns = span->end_ns - span->begin_ns, .owned_ns = span->owned_ns};
    ledger_add(ledger, LEDGER_OPS, op ? op->name : "", "", &entry);
    if (work->kernel)
        ledger_add(ledger, LEDGER_CATEGORIES, vendor_category_name(work->kernel->category), "",
                   &entry);
    ledger_add(ledger, LEDGER_MODULES, work->path ? work->path : "", ledger_phase(work->phase),
               &entry);
    if (op && op->flops) {
        entry.call = span->op_call;
        entry.bytes = op->least_bytes;
        entry.flops = op->flops;
        ledger_add(ledger, LEDGER_WORK, op->name, op->dims, &entry);
    }
    if (span->class == LOGBOOK_COMMUNICATION) {
        entry.bytes = work->collective ? work->collective->bytes : 0;
        const char *group = work->collective ? work->collective->group->name : "";
        ledger_add(ledger, LEDGER_GROUPS, group, "", &entry);
        if (work->collective)
            ledger_add(ledger, LEDGER_COLLECTIVES, group, work->collective->kind, &entry);
    }
    if (span->class == LOGBOOK_MEMORY) {
        entry.bytes = work->bytes;
        ledger_add(ledger, LEDGER_COPIES, ledger_copy(work), ledger_host_memory(work), &entry);
    }
}

void logbook_close_step(struct logbook *logbook, int32_t number)
{
    struct logbook_step step = sweep(logbook);
    step.number = number;
    step.wait_ns = logbook->wait_ns;
    step.transfer_ns = logbook->transfer_ns;
    for (int i = 0; i < PLANT_COUNT; i++)
        step.plant_ns[i] = logbook->plant_ns[i];
    if (logbook->step_count > 0) {
        const struct logbook_step *before = &logbook->steps[logbook->step_count - 1];
        if (step.begin_ns < before->end_ns)
            outfile_die("step %d starts before all work of the step before has ended", number);
        step.begin_ns = before->end_ns;
    }
    settle(&step);
    logbook->steps =
        grow(logbook->steps, logbook->step_count, &logbook->step_capacity, sizeof *logbook->steps);
    logbook->steps[logbook->step_count++] = step;
    for (size_t i = 0; i < logbook->span_count; i++) {
        enter(&logbook->ledger, &logbook->spans[i]);
        if (logbook->keeps_events)
            keep(logbook, &logbook->spans[i]);
    }
    logbook->span_count = 0;
    logbook->wait_ns = logbook->transfer_ns = 0;
    for (int i = 0; i < PLANT_COUNT; i++)
        logbook->plant_ns[i] = 0;
}

struct logbook_times logbook_total(const struct logbook *logbook)
{
    struct logbook_times sum = {0};
    for (size_t i = 0; i < logbook->step_count; i++) {
        const struct logbook_times *times = &logbook->steps[i].times;
        for (int class = 0; class < LOGBOOK_CLASSES; class ++) {
            sum.class_events[class] += times->class_events[class];
            sum.class_sum_ns[class] += times->class_sum_ns[class];
        }
        sum.events += times->events;
        sum.window_ns += times->window_ns;
        sum.compute_ns += times->compute_ns;
        sum.exposed_comm_ns += times->exposed_comm_ns;
        sum.exposed_memory_ns += times->exposed_memory_ns;
        sum.idle_ns += times->idle_ns;
        sum.busy_ns += times->busy_ns;
        sum.total_comm_ns += times->total_comm_ns;
        sum.total_memory_ns += times->total_memory_ns;
    }
    return sum;
}

void logbook_free(struct logbook *logbook)
{
    free(logbook->steps);
    free(logbook->spans);
    free(logbook->gaps);
    free(logbook->events);
    ledger_free(&logbook->ledger);
}
