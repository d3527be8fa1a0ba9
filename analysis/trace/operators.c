// SPDX-License-Identifier: Apache-2.0
// Operators by name: what their calls launched, alone and with the calls below.
// The most expensive analysis (about 6 % of the scan, tests/bench/README.md): it walks every
// operator call, of which there are more than kernels, and adds each launch to all names around it.
#include "analysis/trace/analyses.h"
#include "analysis/facts/op_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "analysis/stats/tally.h"

// Names around a launch that get a total, from the outside; no program nests this deeply, and a
// hostile file must not make each launch count a thousand times.
#define MAX_OPEN 64

enum { FORWARD = 1, BACKWARD = 2 };
enum { OUTERMOST, NESTED, TOO_DEEP }; // marks of frames

// Row 0 is the device events without an operator.
struct op_row {
    str_id name;
    uint32_t category; // enum category
    uint32_t open;     // open calls on the path to the current one
    uint32_t directions;
    uint32_t first; // of its samples
    int64_t calls, host_ns;
    int64_t launching, kernels;
    int64_t self_ns, total_ns, owned_ns, recompute_ns;
};

struct op_table {
    const struct facts *facts;
    struct op_union room;
    uint32_t *row_of; // per string, 0 without
    struct op_row *rows;
    uint32_t count;
    size_t cap;
    int64_t *samples; // self_ns of the launching calls by row, and room for as many
    struct tally categories;
    uint32_t open_names;
    const struct op_call *last; // launching call visited last
};

static bool open_row(struct op_table *table, str_id name, struct err *err)
{
    struct op_row *rows = budget_room(table->facts->budget, table->rows, &table->cap,
                                      table->count + (size_t)1, sizeof *rows, err);
    if (!rows)
        return false;
    table->rows = rows;
    rows[table->count++] = (struct op_row){.name = name};
    return true;
}

static bool add_host(struct op_table *table, uint32_t event, struct err *err)
{
    const struct trace *trace = table->facts->trace;
    uint32_t *at = &table->row_of[trace->name[event]];
    if (!*at) {
        if (!open_row(table, trace->name[event], err))
            return false;
        *at = table->count - 1;
    }
    struct op_row *row = &table->rows[*at];
    row->calls++;
    if (__builtin_add_overflow(row->host_ns, trace->dur_ns[event], &row->host_ns))
        row->host_ns = INT64_MAX;
    return true;
}

static bool make_rows(struct op_table *table, struct arena *arena, struct err *err)
{
    const struct trace *trace = table->facts->trace;
    table->row_of = arena_array(arena, trace->strings.count, sizeof *table->row_of, err);
    if (!table->row_of || !open_row(table, 0, err)) // for launches without an operator
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++) {
        const struct track *track = &trace->tracks[t];
        uint32_t end = track->family == TRACK_HOST ? track->first + track->count : 0;
        for (uint32_t e = track->first; e < end; e++)
            if (trace->kind[e] == EVENT_CPU_OP && !add_host(table, e, err))
                return false;
    }
    return true;
}

static struct op_row *row_of(const struct op_table *table, uint32_t op)
{
    return &table->rows[table->row_of[table->facts->trace->name[op]]];
}

static bool add_device(struct op_table *table, uint32_t index, const struct device_event *device,
                       struct err *err)
{
    struct op_row *row = &table->rows[index];
    row->kernels++;
    row->owned_ns += device->owned_ns;
    return tally_add(&table->categories, index, device->category, device->owned_ns, err);
}

static bool enter(void *context, struct op_frame *frame, const struct op_frame *above,
                  struct err *err)
{
    (void)above;
    (void)err;
    struct op_table *table = context;
    struct op_row *row = row_of(table, frame->op);
    if (row->open++)
        frame->mark = NESTED;
    else
        frame->mark = table->open_names < MAX_OPEN ? OUTERMOST : TOO_DEEP;
    table->open_names += frame->mark == OUTERMOST;
    return true;
}

static bool launched(void *context, struct op_frame *frame, const struct op_call *call,
                     struct err *err)
{
    struct op_table *table = context;
    const struct facts *facts = table->facts;
    struct op_row *row = row_of(table, call->op);
    table->last = call;
    row->launching++;
    row->self_ns += call->self_ns;
    if (frame->mark == TOO_DEEP)
        row->total_ns += call->self_ns;
    for (uint32_t i = call->from; i < call->to; i++) {
        const struct launch *launch = &facts->launches[facts->calls->order[i]];
        frame->flags |= launch->backward ? BACKWARD : FORWARD;
        for (uint32_t d = launch->first; d != FACTS_NONE; d = facts->devices[d].next) {
            row->recompute_ns += launch->recompute ? facts->devices[d].owned_ns : 0;
            if (!add_device(table, (uint32_t)(row - table->rows), &facts->devices[d], err))
                return false;
        }
    }
    return true;
}

static void leave(void *context, const struct op_frame *frame, struct op_frame *above, uint32_t to)
{
    struct op_table *table = context;
    struct op_row *row = row_of(table, frame->op);
    row->open--;
    row->directions |= frame->flags;
    if (above)
        above->flags |= frame->flags;
    if (frame->mark != OUTERMOST)
        return;
    table->open_names--;
    bool same = table->last->from == frame->from && table->last->to == to;
    row->total_ns += same
                         ? table->last->self_ns
                         : op_union_time(&table->room, table->facts->calls->order, frame->from, to);
}

static bool add_unlinked(struct op_table *table, struct err *err)
{
    const struct facts *facts = table->facts;
    for (uint32_t d = 0; d < facts->device_count; d++) {
        const struct device_event *device = &facts->devices[d];
        const struct launch *launch =
            device->launch == FACTS_NONE ? NULL : &facts->launches[device->launch];
        if (launch && launch->op != FACTS_NONE)
            continue;
        if (!add_device(table, 0, device, err))
            return false;
        if (launch)
            table->rows[0].directions |= launch->backward ? BACKWARD : FORWARD;
        if (launch && launch->recompute)
            table->rows[0].recompute_ns += device->owned_ns;
    }
    return true;
}

static bool gather_samples(struct op_table *table, struct arena *arena, struct err *err)
{
    const struct op_calls *calls = table->facts->calls;
    table->samples = arena_room(arena, 2 * (size_t)calls->count, sizeof(int64_t), err);
    if (!table->samples)
        return false;
    for (uint32_t r = 1; r < table->count; r++)
        table->rows[r].first = table->rows[r - 1].first + (uint32_t)table->rows[r - 1].launching;
    for (uint32_t c = 0; c < calls->count; c++)
        table->samples[row_of(table, calls->calls[c].op)->first++] = calls->calls[c].self_ns;
    for (uint32_t r = 0; r < table->count; r++) // each has moved to the start of the next
        table->rows[r].first -= (uint32_t)table->rows[r].launching;
    return true;
}

static bool name_categories(struct op_table *table, struct arena *arena, struct err *err)
{
    uint32_t *most = arena_array(arena, table->count, sizeof *most, err);
    int64_t *best = arena_array(arena, table->count, sizeof *best, err);
    if (!most || !best)
        return false;
    for (uint32_t r = 0; r < table->count; r++)
        best[r] = -1;
    tally_most(&table->categories, most, best);
    for (uint32_t r = 0; r < table->count; r++)
        table->rows[r].category = best[r] < 0 ? CATEGORY_NONE : most[r];
    return true;
}

static const char *direction_word(uint32_t directions)
{
    static const char *const words[] = {NULL, "forward", "backward", "both"};
    return words[directions];
}

static bool add_row(const struct op_table *table, const struct op_row *from, struct report *report,
                    struct err *err)
{
    const struct facts *facts = table->facts;
    size_t count = (size_t)from->launching;
    struct quantiles call_ns =
        stats_quantiles(table->samples + from->first, table->samples + facts->calls->count, count);
    bool op = from != table->rows;
    struct row row = {.desc = &table_operators};
    row_text_if(&row, OPERATORS_NAME, op, trace_text(facts->trace, from->name));
    row_word(&row, OPERATORS_CATEGORY,
             from->category == CATEGORY_NONE ? NULL : category_word((enum category)from->category));
    row_word(&row, OPERATORS_DIRECTION, direction_word(from->directions));
    row_i64_if(&row, OPERATORS_CALLS, op, from->calls);
    row_i64_if(&row, OPERATORS_LAUNCHING_CALLS, op, from->launching);
    row_i64(&row, OPERATORS_KERNELS, from->kernels);
    row_i64_if(&row, OPERATORS_SELF_NS, op, from->self_ns);
    row_i64_if(&row, OPERATORS_TOTAL_NS, op, from->total_ns);
    row_i64(&row, OPERATORS_OWNED_NS, from->owned_ns);
    row_share(&row, OPERATORS_WINDOW_SHARE, from->owned_ns, parts_window_ns(&facts->whole));
    row_share(&row, OPERATORS_BUSY_SHARE, from->owned_ns, parts_busy_ns(&facts->whole));
    row_i64_if(&row, OPERATORS_HOST_NS, op, from->host_ns);
    row_i64_if(&row, OPERATORS_MEDIAN_NS, count != 0, call_ns.median);
    row_i64_if(&row, OPERATORS_P95_NS, count != 0, call_ns.p95);
    row_i64(&row, OPERATORS_RECOMPUTE_NS, from->recompute_ns);
    return row_end(&row, report, err);
}

static bool add_rows(const struct op_table *table, struct arena *arena, struct report *report,
                     struct err *err)
{
    struct ranked *ranked = arena_array(arena, table->count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t r = 0; r < table->count; r++)
        ranked[r] = (struct ranked){table->rows[r].owned_ns,
                                    trace_text(table->facts->trace, table->rows[r].name), r};
    ranked_sort(ranked, table->count);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct op_row *row = &table->rows[ranked[i].index];
        if (row == table->rows && row->kernels == 0)
            continue;
        if (!add_row(table, row, report, err))
            return false;
    }
    return true;
}

static bool fill(struct op_table *table, struct arena *arena, struct report *report,
                 struct err *err)
{
    const struct op_visitor visitor = {table, enter, launched, leave};
    return make_rows(table, arena, err) && op_union_init(&table->room, table->facts, arena, err) &&
           op_calls_walk(table->facts, &visitor, err) && add_unlinked(table, err) &&
           gather_samples(table, arena, err) && name_categories(table, arena, err) &&
           add_rows(table, arena, report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct op_table table = {.facts = facts};
    tally_init(&table.categories, facts->budget);
    bool ok = fill(&table, scratch, report, err);
    tally_free(&table.categories);
    budget_free(facts->budget, table.rows, table.cap * sizeof *table.rows);
    return ok;
}

const struct analysis operators_analysis = {"operators", run};
