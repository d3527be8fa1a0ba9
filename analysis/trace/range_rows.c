// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_rows.h"

#include "analysis/facts/facts_within.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/trace/analyses.h"
#include "analysis/trace/range_calls.h"
#include "analysis/trace/range_gaps.h"
#include "analysis/trace/range_memory.h"
#include "analysis/trace/streams.h"

enum {
    MOST_RANGES = RANGE_GAPS_MOST, // bits of range_set
    MOST_ROWS = 8192,              // wide ones: about 5 MB; as many calls of collectives
    MOST_TIMES = 6,                // device events of all ranges, times those of the trace
    FREE_ALLOCATIONS = 3000000,    // to read for all ranges, each of which takes those of the trace
};

typedef uint32_t range_set;

// --- which tables -------------------------------------------------------------------------------

// An analysis and which of the tables that it makes are kept.
static const struct ranged {
    const struct analysis *analysis;
    const struct table_desc *descs[2];
} analyses[] = {
    {&op_shapes_analysis, {&table_op_shapes}},
    {&roofline_analysis, {&table_roofline, &table_utilization}},
    {&copies_analysis, {&table_copies}},
    {&comm_sizes_analysis, {&table_comm_sizes}},
    {&launches_analysis, {&table_launches}},
    {&launch_delays_analysis, {&table_launch_delays}},
    {&short_kernels_analysis, {&table_short_kernels}},
    {&kernel_shapes_analysis, {&table_kernel_shapes}},
    {&modules_analysis, {&table_modules}},
    {&op_tree_analysis, {&table_op_tree}},
    {&stream_idle_analysis, {&table_stream_idle}},
    {&queues_analysis, {&table_queues}},
    {&memory_use_analysis, {&table_memory}},
};

enum { ANALYSES = sizeof analyses / sizeof *analyses };

// Tables that are made once for all ranges.
static const struct table_desc *const others[] = {&table_idle_gaps, &table_comm_ops,
                                                  &table_comm_calls};

bool range_rows_have(const struct table_desc *desc)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (desc == others[i])
            return true;
    for (int i = 0; i < ANALYSES; i++)
        if (desc == analyses[i].descs[0] || desc == analyses[i].descs[1])
            return true;
    return false;
}

// --- rows of one form ---------------------------------------------------------------------------

// The next column of range_rows for each type.
struct slots {
    unsigned text, integer, real;
};

static const struct slots first_slots = {RANGE_ROWS_TEXT_1, RANGE_ROWS_INT_1, RANGE_ROWS_REAL_1};

static unsigned take_slot(struct slots *slots, enum column_type type)
{
    unsigned slot = type == COLUMN_TEXT  ? slots->text++
                    : type == COLUMN_F64 ? slots->real++
                                         : slots->integer++;
    assert(type != COLUMN_TEXT || slot <= RANGE_ROWS_TEXT_12);
    assert(type != COLUMN_F64 || slot <= RANGE_ROWS_REAL_8);
    assert(slot < RANGE_ROWS_REAL_1 || type == COLUMN_F64);
    return slot;
}

// Says that the range has the table, of whatever length.
static bool add_head(const char *range, const struct table_desc *desc, struct report *report,
                     struct err *err)
{
    struct row row = {.desc = &table_range_rows};
    row_word(&row, RANGE_ROWS_RANGE, range);
    row_word(&row, RANGE_ROWS_TABLE, RANGE_ROWS_HEAD);
    row_word(&row, RANGE_ROWS_TEXT_1, desc->name);
    return row_end(&row, report, err);
}

static bool add_row(const char *range, const struct table *table, size_t index,
                    struct report *report, struct err *err)
{
    const struct table_desc *desc = table->desc;
    struct slots slots = first_slots;
    struct row row = {.desc = &table_range_rows};
    row_word(&row, RANGE_ROWS_RANGE, range);
    row_word(&row, RANGE_ROWS_TABLE, desc->name);
    for (unsigned c = 0; c < desc->column_count; c++)
        row_cell(&row, take_slot(&slots, desc->columns[c].type),
                 table->cells[index * desc->column_count + c]);
    return row_end(&row, report, err);
}

bool range_rows_view(const struct table *rows, const struct table_desc *desc, struct report *report,
                     struct err *err)
{
    struct cell cells[TABLE_MAX_COLUMNS];
    bool has_head = false;
    for (size_t i = 0; i < rows->row_count; i++) {
        struct slots slots = first_slots;
        if (table_is(rows, i, RANGE_ROWS_TABLE, STR(RANGE_ROWS_HEAD))) {
            has_head |= table_is(rows, i, RANGE_ROWS_TEXT_1, str_of(desc->name));
            continue;
        }
        for (unsigned c = 0; c < desc->column_count; c++)
            cells[c] = *table_cell(rows, i, take_slot(&slots, desc->columns[c].type));
        if (!report_add(report, desc, cells, err))
            return false;
    }
    return has_head || err_set(err, ERR_NOT_FOUND,
                               "the table %s is kept for the %d ranges with the most device time, "
                               "as space allows; this range is not among them",
                               desc->name, MOST_RANGES);
}

// --- which ranges -------------------------------------------------------------------------------

struct range_rows {
    const struct range_tree *tree;
    const char **texts; // per name
    uint32_t names[MOST_RANGES];
    unsigned count;  // of them
    range_set *sets; // per node: the chosen names that it is in
    struct report *report;
    size_t room; // rows left
    size_t room_of_calls;
    uint64_t devices; // left
    uint64_t allocations;
    const int64_t *free_ns;
    const uint32_t *memory_sets;
    struct range_gaps gaps;
    struct range_calls calls;
};

static bool choose_names(struct range_rows *all, struct err *err)
{
    const struct range_tree *tree = all->tree;
    const bool *is_nested = range_tree_nested(tree, err);
    uint32_t count = tree->by_name.count;
    struct ranked *ranked = arena_array(tree->arena, count, sizeof *ranked, err);
    if (!is_nested || !ranked)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ranked[i] = (struct ranked){0, str_of(all->texts[i] ? all->texts[i] : ""), i};
    for (uint32_t n = 1; n < tree->node_count; n++)
        if (!is_nested[n])
            ranked[tree->nodes[n].name].total_ns += range_node_ns(&tree->nodes[n]);
    ranked_sort(ranked, count);
    while (all->count < count && all->count < MOST_RANGES && ranked[all->count].total_ns > 0) {
        all->names[all->count] = ranked[all->count].index;
        all->count++;
    }
    return true;
}

static bool mark_nodes(struct range_rows *all, struct err *err)
{
    const struct range_tree *tree = all->tree;
    all->sets = arena_array(tree->arena, tree->node_count, sizeof *all->sets, err);
    for (uint32_t n = 1; all->sets && n < tree->node_count; n++) {
        all->sets[n] = all->sets[tree->nodes[n].parent];
        for (unsigned i = 0; i < all->count; i++)
            if (all->names[i] == tree->nodes[n].name)
                all->sets[n] |= UINT32_C(1) << i;
    }
    return all->sets;
}

// --- one range ----------------------------------------------------------------------------------

// A tree without some of its nodes, or shapes without some, would mislead: all rows or none.
static bool add_table(struct range_rows *all, const struct table_desc *desc,
                      const struct report *from, unsigned range, size_t *room, struct err *err)
{
    const char *name = all->texts[all->names[range]];
    const struct table *table = report_find(from, desc->name);
    size_t rows = table ? table->row_count : 0;
    if (rows >= *room)
        return true;
    *room -= rows + 1;
    bool ok = add_head(name, desc, all->report, err);
    for (size_t i = 0; ok && i < rows; i++)
        ok = add_row(name, table, i, all->report, err);
    return ok;
}

static bool add_analysis(struct range_rows *all, const struct ranged *ranged,
                         const struct facts *part, unsigned range, struct err *err)
{
    struct arena scratch, arena;
    struct report report = {.arena = &arena};
    arena_init(&scratch, part->budget);
    arena_init(&arena, part->budget);
    bool ok = ranged->analysis->run(part, &scratch, &report, err);
    arena_free(&scratch);
    for (int i = 0; ok && i < 2 && ranged->descs[i]; i++)
        ok = add_table(all, ranged->descs[i], &report, range, &all->room, err);
    arena_free(&arena);
    return ok;
}

static bool add_gaps(const struct range_gaps *gaps, unsigned range, struct report *report,
                     struct err *err)
{
    bool ok = true;
    for (size_t i = 0; ok && gaps->rows && i < gaps->rows->row_count; i++)
        if (gaps->sets[i] >> range & 1)
            ok = report_add(report, &table_idle_gaps,
                            gaps->rows->cells + i * table_idle_gaps.column_count, err);
    return ok;
}

static bool add_others(struct range_rows *all, unsigned range, struct err *err)
{
    struct arena arena;
    struct report report = {.arena = &arena};
    arena_init(&arena, all->tree->facts->budget);
    bool ok = add_gaps(&all->gaps, range, &report, err) &&
              range_calls_add(&all->calls, range, all->room_of_calls, &report, err) &&
              add_table(all, &table_idle_gaps, &report, range, &all->room, err) &&
              add_table(all, &table_comm_ops, &report, range, &all->room_of_calls, err) &&
              add_table(all, &table_comm_calls, &report, range, &all->room_of_calls, err);
    arena_free(&arena);
    return ok;
}

static uint32_t list_devices(const struct range_rows *all, unsigned range, uint32_t *list)
{
    const struct range_tree *tree = all->tree;
    uint32_t count = 0;
    for (uint32_t d = 0; d < tree->facts->device_count; d++) {
        uint32_t call = tree->device_call[d];
        if (call != FACTS_NONE && all->sets[tree->calls[call].node] >> range & 1)
            list[count++] = d;
    }
    return count;
}

static bool has_room_for_memory(struct range_rows *all)
{
    uint64_t count = all->tree->facts->trace->memory_args_count;
    if (count > all->allocations)
        return false;
    all->allocations -= count;
    return true;
}

static bool add_range(struct range_rows *all, unsigned range, uint32_t *list, struct err *err)
{
    const struct facts *facts = all->tree->facts;
    uint32_t count = list_devices(all, range, list);
    struct arena arena;
    struct facts_part part;
    if (count > all->devices)
        return true;
    all->devices -= count;
    arena_init(&arena, facts->budget);
    bool ok = facts_within(facts, list, count, &arena, &part, err);
    part.free_ns = all->free_ns;
    part.memory_sets = all->memory_sets;
    part.memory_bit = UINT32_C(1) << range;
    for (int i = 0; ok && i < ANALYSES; i++)
        ok = (analyses[i].analysis == &memory_use_analysis && !has_room_for_memory(all)) ||
             add_analysis(all, &analyses[i], &part.facts, range, err);
    arena_free(&arena);
    return ok && add_others(all, range, err);
}

static bool look_around(struct range_rows *all, struct err *err)
{
    const struct range_tree *tree = all->tree;
    struct streams streams;
    return streams_make(tree->facts, tree->arena, &streams, err) &&
           (all->free_ns = streams_free(tree->facts, &streams, tree->arena, err)) &&
           (all->memory_sets = range_memory_sets(tree, all->sets, err)) &&
           range_gaps_make(tree, all->names, all->count, &all->gaps, err) &&
           range_calls_make(tree, all->sets, all->report, &all->calls, err);
}

bool range_rows_add(const struct range_tree *tree, struct report *report, struct err *err)
{
    const struct facts *facts = tree->facts;
    struct range_rows all = {
        .tree = tree, .report = report, .room = MOST_ROWS, .room_of_calls = MOST_ROWS};
    all.devices = (uint64_t)MOST_TIMES * facts->device_count;
    all.allocations = FREE_ALLOCATIONS + (uint64_t)MOST_TIMES * facts->trace->memory_args_count;
    all.texts = range_tree_names(tree, err);
    uint32_t *list = arena_room(tree->arena, facts->device_count, sizeof *list, err);
    bool ok = all.texts && list && choose_names(&all, err) && mark_nodes(&all, err) &&
              look_around(&all, err);
    for (unsigned i = 0; ok && i < all.count; i++)
        ok = add_range(&all, i, list, err);
    return ok;
}
