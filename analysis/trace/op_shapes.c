// SPDX-License-Identifier: Apache-2.0
// Operators by name, shapes and types of their inputs.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/facts/op_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/names/shape_text.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "analysis/stats/tally.h"

#define MAX_ROWS 5000 // of single shapes; those that own less are summed in one row
#define OTHER    STR("(other shapes)")

struct shape_row {
    str_id name, dims, types;
    uint32_t first; // of its samples
    int64_t launching, kernels, self_ns, owned_ns;
    uint32_t category, module, kernel; // with most of its owned time
};

struct shape_table {
    const struct facts *facts;
    struct groups inputs; // (dims, types)
    struct groups keys;   // (name, inputs)
    uint32_t *row_of;     // per call
    struct shape_row *rows;
    int64_t *samples; // self_ns of the calls by row, and room for as many
    struct tally categories, modules, kernels;
};

static struct op_inputs inputs_of(const struct trace *trace, uint32_t op)
{
    uint32_t inputs = op_calls_inputs(trace, op);
    return inputs == ARGS_NONE ? (struct op_inputs){0} : trace->op_inputs[inputs];
}

static bool find_row(struct shape_table *table, uint32_t call, struct err *err)
{
    const struct trace *trace = table->facts->trace;
    uint32_t op = table->facts->calls->calls[call].op, index;
    struct op_inputs inputs = inputs_of(trace, op);
    return groups_index(&table->inputs, inputs.dims, inputs.types, &index, err) &&
           groups_index(&table->keys, trace->name[op], index, &table->row_of[call], err);
}

static bool make_rows(struct shape_table *table, struct arena *arena, struct err *err)
{
    table->row_of = arena_room(arena, table->facts->calls->count, sizeof *table->row_of, err);
    if (!table->row_of)
        return false;
    for (uint32_t c = 0; c < table->facts->calls->count; c++)
        if (!find_row(table, c, err))
            return false;
    table->rows = arena_array(arena, table->keys.count, sizeof *table->rows, err);
    if (!table->rows)
        return false;
    for (uint32_t r = 0; r < table->keys.count; r++) {
        const struct group_key *key = &table->keys.keys[r];
        const struct group_key *inputs = &table->inputs.keys[key->b];
        table->rows[r] = (struct shape_row){
            .name = (str_id)key->a, .dims = (str_id)inputs->a, .types = (str_id)inputs->b};
    }
    return true;
}

static bool add_device(struct shape_table *table, uint32_t row, uint32_t index, struct err *err)
{
    const struct facts *facts = table->facts;
    const struct device_event *device = &facts->devices[index];
    uint32_t module = facts->launches[device->launch].module;
    table->rows[row].kernels++;
    table->rows[row].owned_ns += device->owned_ns;
    return tally_add(&table->categories, row, device->category, device->owned_ns, err) &&
           tally_add(&table->modules, row, module, device->owned_ns, err) &&
           tally_add(&table->kernels, row, facts_device_name(facts, index), device->owned_ns, err);
}

static bool add_call(struct shape_table *table, uint32_t index, struct err *err)
{
    const struct facts *facts = table->facts;
    const struct op_call *call = &facts->calls->calls[index];
    uint32_t row = table->row_of[index];
    table->rows[row].launching++;
    table->rows[row].self_ns += call->self_ns;
    for (uint32_t i = call->from; i < call->to; i++)
        for (uint32_t d = facts->launches[facts->calls->order[i]].first; d != FACTS_NONE;
             d = facts->devices[d].next)
            if (!add_device(table, row, d, err))
                return false;
    return true;
}

static bool gather_samples(struct shape_table *table, struct arena *arena, struct err *err)
{
    uint32_t count = table->facts->calls->count;
    table->samples = arena_room(arena, 2 * (size_t)count, sizeof(int64_t), err);
    if (!table->samples)
        return false;
    for (uint32_t r = 1; r < table->keys.count; r++)
        table->rows[r].first = table->rows[r - 1].first + (uint32_t)table->rows[r - 1].launching;
    for (uint32_t c = 0; c < count; c++)
        table->samples[table->rows[table->row_of[c]].first++] =
            table->facts->calls->calls[c].self_ns;
    for (uint32_t r = 0; r < table->keys.count; r++) // each has moved to the start of the next
        table->rows[r].first -= (uint32_t)table->rows[r].launching;
    return true;
}

static bool name_most(struct shape_table *table, struct arena *arena, struct err *err)
{
    const struct tally *tallies[] = {&table->categories, &table->modules, &table->kernels};
    uint32_t *most = arena_array(arena, table->keys.count, sizeof *most, err);
    int64_t *best = arena_array(arena, table->keys.count, sizeof *best, err);
    if (!most || !best)
        return false;
    for (int t = 0; t < 3; t++) {
        for (uint32_t r = 0; r < table->keys.count; r++)
            best[r] = -1;
        tally_most(tallies[t], most, best);
        for (uint32_t r = 0; r < table->keys.count; r++) {
            struct shape_row *row = &table->rows[r];
            uint32_t *slots[] = {&row->category, &row->module, &row->kernel};
            *slots[t] = most[r];
        }
    }
    return true;
}

static void inputs_cell(const struct shape_table *table, struct row *row, unsigned column,
                        str_id id, char text[SHAPE_TEXT_SIZE])
{
    row_text_if(row, column, id != 0, shape_text(trace_text(table->facts->trace, id), text));
}

static void distribution(const struct shape_table *table, const struct shape_row *from,
                         struct row *row)
{
    struct quantiles call_ns =
        stats_quantiles(table->samples + from->first, table->samples + table->facts->calls->count,
                        (size_t)from->launching);
    row_i64(row, OP_SHAPES_MIN_NS, call_ns.min);
    row_i64(row, OP_SHAPES_MEDIAN_NS, call_ns.median);
    row_i64(row, OP_SHAPES_P95_NS, call_ns.p95);
    row_i64(row, OP_SHAPES_MAX_NS, call_ns.max);
}

static bool add_row(const struct shape_table *table, const struct shape_row *from,
                    struct report *report, struct err *err)
{
    const struct facts *facts = table->facts;
    char dims[SHAPE_TEXT_SIZE], types[SHAPE_TEXT_SIZE];
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct str path = context_module_path(facts, from->module, &scratch, err);
    struct row row = {.desc = &table_op_shapes};
    row_text(&row, OP_SHAPES_NAME, op_calls_name(facts, from->name));
    inputs_cell(table, &row, OP_SHAPES_DIMS, from->dims, dims);
    inputs_cell(table, &row, OP_SHAPES_TYPES, from->types, types);
    row_word(&row, OP_SHAPES_CATEGORY, category_word((enum category)from->category));
    row_text_if(&row, OP_SHAPES_MODULE, from->module != 0, path);
    row_i64(&row, OP_SHAPES_LAUNCHING_CALLS, from->launching);
    row_i64(&row, OP_SHAPES_KERNELS, from->kernels);
    row_i64(&row, OP_SHAPES_SELF_NS, from->self_ns);
    row_i64(&row, OP_SHAPES_OWNED_NS, from->owned_ns);
    row_share(&row, OP_SHAPES_BUSY_SHARE, from->owned_ns, parts_busy_ns(&facts->whole));
    distribution(table, from, &row);
    row_text(&row, OP_SHAPES_KERNEL, op_calls_name(facts, from->kernel));
    bool ok = path.at && row_end(&row, report, err);
    arena_free(&scratch);
    return ok;
}

static bool add_others(const struct shape_table *table, const struct shape_row *sum,
                       struct report *report, struct err *err)
{
    struct row row = {.desc = &table_op_shapes};
    row_text(&row, OP_SHAPES_NAME, OTHER);
    row_i64(&row, OP_SHAPES_LAUNCHING_CALLS, sum->launching);
    row_i64(&row, OP_SHAPES_KERNELS, sum->kernels);
    row_i64(&row, OP_SHAPES_SELF_NS, sum->self_ns);
    row_i64(&row, OP_SHAPES_OWNED_NS, sum->owned_ns);
    row_share(&row, OP_SHAPES_BUSY_SHARE, sum->owned_ns, parts_busy_ns(&table->facts->whole));
    return row_end(&row, report, err);
}

static bool add_rows(const struct shape_table *table, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = table->keys.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t r = 0; r < count; r++)
        ranked[r] = (struct ranked){table->rows[r].owned_ns,
                                    trace_text(table->facts->trace, table->rows[r].name), r};
    ranked_sort(ranked, count);
    struct shape_row others = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct shape_row *row = &table->rows[ranked[i].index];
        if (i < MAX_ROWS && !add_row(table, row, report, err))
            return false;
        if (i < MAX_ROWS)
            continue;
        others.launching += row->launching;
        others.kernels += row->kernels;
        others.self_ns += row->self_ns;
        others.owned_ns += row->owned_ns;
    }
    return count <= MAX_ROWS || add_others(table, &others, report, err);
}

static bool fill(struct shape_table *table, struct arena *arena, struct report *report,
                 struct err *err)
{
    if (!make_rows(table, arena, err))
        return false;
    for (uint32_t c = 0; c < table->facts->calls->count; c++)
        if (!add_call(table, c, err))
            return false;
    return gather_samples(table, arena, err) && name_most(table, arena, err) &&
           add_rows(table, arena, report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct shape_table table = {.facts = facts};
    groups_init(&table.inputs, facts->budget);
    groups_init(&table.keys, facts->budget);
    struct tally *const tallies[] = {&table.categories, &table.modules, &table.kernels};
    for (int t = 0; t < 3; t++)
        tally_init(tallies[t], facts->budget);
    bool ok = fill(&table, scratch, report, err);
    for (int t = 0; t < 3; t++)
        tally_free(tallies[t]);
    groups_free(&table.keys);
    groups_free(&table.inputs);
    return ok;
}

const struct analysis op_shapes_analysis = {"op_shapes", run};
