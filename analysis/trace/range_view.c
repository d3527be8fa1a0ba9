// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/range_view.h"

#include "analysis/names/parts.h"
#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include "analysis/trace/kernel_name_row.h"
#include "ingest/trace/strtab.h"

// Rows of range_parts that make one row of a table.
struct sum {
    size_t first;    // of them
    size_t heaviest; // by total time
    int64_t heaviest_ns, calls, total_ns, owned_ns, exposed_ns, min_ns, max_ns;
    int64_t bytes; // of the calls whose size is known
    bool sized, overflows;
};

struct view {
    const struct table *parts;
    struct sum *sums;
    uint32_t count;
    int64_t busy_ns, idle_ns;
    struct kernel_name_texts *texts; // of the current row
};

// --- the tables ---------------------------------------------------------------------------------

static int64_t number(const struct view *view, size_t row, unsigned column)
{
    return table_i64(view->parts, row, column, 0);
}

static bool is_idle(const struct view *view, size_t row)
{
    return table_cell(view->parts, row, RANGE_PARTS_CLASS)->null;
}

static void put_text(struct row *row, unsigned column, const struct view *view, size_t of,
                     unsigned from)
{
    row_cell(row, column, *table_cell(view->parts, of, from));
}

static void put_kernel(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, KERNELS_NAME, view, sum->first, RANGE_PARTS_KERNEL);
    put_text(row, KERNELS_CLASS, view, sum->heaviest, RANGE_PARTS_CLASS);
    put_text(row, KERNELS_CATEGORY, view, sum->heaviest, RANGE_PARTS_CATEGORY);
    put_text(row, KERNELS_OP, view, sum->heaviest, RANGE_PARTS_OP);
    kernel_name_put(row, table_text(view->parts, sum->first, RANGE_PARTS_KERNEL), view->texts);
    row_i64(row, KERNELS_CALLS, sum->calls);
    row_i64(row, KERNELS_TOTAL_NS, sum->total_ns);
    row_i64(row, KERNELS_OWNED_NS, sum->owned_ns);
    row_i64(row, KERNELS_EXPOSED_NS, sum->exposed_ns);
    row_share(row, KERNELS_WINDOW_SHARE, sum->total_ns, view->busy_ns + view->idle_ns);
    row_share(row, KERNELS_BUSY_SHARE, sum->owned_ns, view->busy_ns);
    row_i64(row, KERNELS_MIN_NS, sum->min_ns);
    row_share(row, KERNELS_MEAN_NS, sum->total_ns, sum->calls);
    row_i64(row, KERNELS_MAX_NS, sum->max_ns);
}

static void put_operator(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, OPERATORS_NAME, view, sum->first, RANGE_PARTS_OP);
    put_text(row, OPERATORS_CATEGORY, view, sum->heaviest, RANGE_PARTS_CATEGORY);
    row_i64(row, OPERATORS_KERNELS, sum->calls);
    row_i64(row, OPERATORS_OWNED_NS, sum->owned_ns);
    row_share(row, OPERATORS_WINDOW_SHARE, sum->owned_ns, view->busy_ns + view->idle_ns);
    row_share(row, OPERATORS_BUSY_SHARE, sum->owned_ns, view->busy_ns);
}

static void put_category(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, CATEGORIES_BAR, view, sum->first, RANGE_PARTS_BAR);
    put_text(row, CATEGORIES_CATEGORY, view, sum->first, RANGE_PARTS_CATEGORY);
    row_i64(row, CATEGORIES_CALLS, sum->calls);
    row_i64(row, CATEGORIES_TOTAL_NS, sum->total_ns);
    row_i64(row, CATEGORIES_OWNED_NS, sum->owned_ns);
    row_share(row, CATEGORIES_BUSY_SHARE, sum->owned_ns, view->busy_ns);
}

static void put_collective(const struct view *view, const struct sum *sum, struct row *row)
{
    bool named = !table_cell(view->parts, sum->first, RANGE_PARTS_KIND)->null ||
                 !table_cell(view->parts, sum->first, RANGE_PARTS_COLLECTIVE)->null;
    put_text(row, COLLECTIVES_COLLECTIVE, view, sum->first, RANGE_PARTS_COLLECTIVE);
    put_text(row, COLLECTIVES_KIND, view, sum->first, RANGE_PARTS_KIND);
    put_text(row, COLLECTIVES_DTYPE, view, sum->first, RANGE_PARTS_DTYPE);
    put_text(row, COLLECTIVES_GROUP_SIZE, view, sum->first, RANGE_PARTS_GROUP_SIZE);
    put_text(row, COLLECTIVES_PROCESS_GROUP, view, sum->first, RANGE_PARTS_PROCESS_GROUP);
    put_text(row, COLLECTIVES_BYTES, view, sum->first, RANGE_PARTS_BYTES);
    if (!named)
        put_text(row, COLLECTIVES_KERNEL, view, sum->first, RANGE_PARTS_KERNEL);
    row_i64(row, COLLECTIVES_CALLS, sum->calls);
    row_i64(row, COLLECTIVES_TOTAL_NS, sum->total_ns);
    row_i64(row, COLLECTIVES_MIN_NS, sum->min_ns);
    row_i64(row, COLLECTIVES_MAX_NS, sum->max_ns);
    row_i64(row, COLLECTIVES_EXPOSED_NS, sum->exposed_ns);
    row_share(row, COLLECTIVES_EXPOSED_SHARE, sum->exposed_ns, sum->total_ns);
}

static void put_process_group(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, PROCESS_GROUPS_PROCESS_GROUP, view, sum->first, RANGE_PARTS_PROCESS_GROUP);
    put_text(row, PROCESS_GROUPS_SIZE, view, sum->first, RANGE_PARTS_GROUP_SIZE);
    row_i64(row, PROCESS_GROUPS_CALLS, sum->calls);
    row_i64_if(row, PROCESS_GROUPS_BYTES, sum->sized && !sum->overflows, sum->bytes);
    row_i64(row, PROCESS_GROUPS_TOTAL_NS, sum->total_ns);
    row_i64(row, PROCESS_GROUPS_EXPOSED_NS, sum->exposed_ns);
    row_share(row, PROCESS_GROUPS_EXPOSED_SHARE, sum->exposed_ns, sum->total_ns);
    row_share(row, PROCESS_GROUPS_WINDOW_SHARE, sum->exposed_ns, view->busy_ns + view->idle_ns);
}

static void put_uncategorized(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, UNCATEGORIZED_KERNEL, view, sum->first, RANGE_PARTS_KERNEL);
    put_text(row, UNCATEGORIZED_OP, view, sum->first, RANGE_PARTS_OP);
    row_i64(row, UNCATEGORIZED_CALLS, sum->calls);
    row_i64(row, UNCATEGORIZED_OWNED_NS, sum->owned_ns);
    row_share(row, UNCATEGORIZED_BUSY_SHARE, sum->owned_ns, view->busy_ns);
}

static const char *help_of(struct str cause)
{
    for (int c = 0; c < IDLE_CAUSE_COUNT; c++)
        if (str_equal(cause, str_of(idle_cause_word((enum idle_cause)c))))
            return idle_cause_help((enum idle_cause)c);
    return NULL;
}

static void put_idle(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, IDLE_CAUSES_CAUSE, view, sum->first, RANGE_PARTS_CATEGORY);
    put_text(row, IDLE_CAUSES_BAR, view, sum->first, RANGE_PARTS_BAR);
    row_i64(row, IDLE_CAUSES_TOTAL_NS, sum->total_ns);
    row_share(row, IDLE_CAUSES_WINDOW_SHARE, sum->total_ns, view->busy_ns + view->idle_ns);
    row_word(row, IDLE_CAUSES_HELP,
             help_of(table_text(view->parts, sum->first, RANGE_PARTS_CATEGORY)));
}

static void put_class(const struct view *view, const struct sum *sum, struct row *row)
{
    put_text(row, CLASSES_CLASS, view, sum->first, RANGE_PARTS_CLASS);
    row_i64(row, CLASSES_EVENTS, sum->calls);
    row_i64(row, CLASSES_SUM_NS, sum->total_ns);
}

// What distinguishes the rows of a table: columns of range_parts.
static const struct shape {
    const struct table_desc *desc;
    bool idle;        // made of idle time, or of device events
    unsigned only_in; // the column in which they have the word; 0: all
    const char *only;
    unsigned keys[7]; // 0-terminated
    void (*put)(const struct view *view, const struct sum *sum, struct row *row);
} shapes[] = {
    {&table_kernels, .keys = {RANGE_PARTS_KERNEL}, .put = put_kernel},
    {&table_operators, .keys = {RANGE_PARTS_OP}, .put = put_operator},
    {&table_categories, .keys = {RANGE_PARTS_BAR, RANGE_PARTS_CATEGORY}, .put = put_category},
    {&table_collectives,
     false,
     RANGE_PARTS_CLASS,
     "communication",
     {RANGE_PARTS_COLLECTIVE, RANGE_PARTS_DTYPE, RANGE_PARTS_GROUP_SIZE, RANGE_PARTS_PROCESS_GROUP,
      RANGE_PARTS_BYTES, RANGE_PARTS_KERNEL},
     put_collective},
    {&table_process_groups,
     false,
     RANGE_PARTS_CLASS,
     "communication",
     {RANGE_PARTS_PROCESS_GROUP},
     put_process_group},
    {&table_uncategorized,
     false,
     RANGE_PARTS_CATEGORY,
     "other",
     {RANGE_PARTS_OP, RANGE_PARTS_KERNEL},
     put_uncategorized},
    {&table_idle_causes, .idle = true, .keys = {RANGE_PARTS_CATEGORY}, .put = put_idle},
    {&table_classes, .keys = {RANGE_PARTS_CLASS}, .put = put_class},
};

static const struct shape *shape_of(const struct table_desc *desc)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (shapes[i].desc == desc)
            return &shapes[i];
    return NULL;
}

bool range_view_has(const struct table_desc *desc)
{
    return desc == &table_breakdown || shape_of(desc);
}

// --- sums ---------------------------------------------------------------------------------------

static void write_key(const struct view *view, const struct shape *shape, size_t row,
                      struct buf *key)
{
    bool named = !table_cell(view->parts, row, RANGE_PARTS_COLLECTIVE)->null;
    key->len = 0;
    for (const unsigned *column = shape->keys; *column; column++) {
        // a collective may have several kernels
        if (*column == RANGE_PARTS_KERNEL && shape->only && named)
            continue;
        if (*column == RANGE_PARTS_GROUP_SIZE || *column == RANGE_PARTS_BYTES)
            buf_i64(key, table_i64(view->parts, row, *column, -1));
        else
            buf_add_str(key, table_text(view->parts, row, *column));
        buf_putc(key, '\n');
    }
}

static void add_bytes(const struct view *view, struct sum *sum, size_t row)
{
    int64_t bytes;
    if (table_cell(view->parts, row, RANGE_PARTS_BYTES)->null)
        return;
    sum->sized = true;
    sum->overflows |= __builtin_mul_overflow(number(view, row, RANGE_PARTS_BYTES),
                                             number(view, row, RANGE_PARTS_CALLS), &bytes) ||
                      __builtin_add_overflow(sum->bytes, bytes, &sum->bytes);
}

static bool is_of(const struct view *view, const struct shape *shape, size_t row)
{
    return is_idle(view, row) == shape->idle &&
           (!shape->only || table_is(view->parts, row, shape->only_in, str_of(shape->only)));
}

static void add(const struct view *view, struct sum *sum, size_t row)
{
    int64_t total_ns = number(view, row, RANGE_PARTS_TOTAL_NS);
    int64_t owned_ns = number(view, row, RANGE_PARTS_OWNED_NS);
    int64_t min_ns = number(view, row, RANGE_PARTS_MIN_NS);
    int64_t max_ns = number(view, row, RANGE_PARTS_MAX_NS);
    bool is_first = sum->first == row;
    add_bytes(view, sum, row);
    sum->calls += number(view, row, RANGE_PARTS_CALLS);
    sum->total_ns += total_ns;
    sum->owned_ns += owned_ns;
    sum->exposed_ns += table_is(view->parts, row, RANGE_PARTS_CLASS, STR("compute")) ? 0 : owned_ns;
    sum->min_ns = is_first || min_ns < sum->min_ns ? min_ns : sum->min_ns;
    sum->max_ns = max_ns > sum->max_ns ? max_ns : sum->max_ns;
    if (is_first || total_ns > sum->heaviest_ns) {
        sum->heaviest = row;
        sum->heaviest_ns = total_ns;
    }
}

static bool add_row(struct view *view, const struct shape *shape, size_t row, struct strtab *keys,
                    struct buf *key, struct err *err)
{
    str_id id;
    if (!is_of(view, shape, row))
        return true;
    write_key(view, shape, row, key);
    if (!buf_ok(key, err) || !strtab_intern(keys, (struct str){key->at, key->len}, &id, err))
        return false;
    if (id > view->count)
        view->sums[view->count++] = (struct sum){.first = row};
    add(view, &view->sums[id - 1], row);
    return true;
}

static bool sum_rows(struct view *view, const struct shape *shape, struct err *err)
{
    struct budget uncounted = {0};
    struct strtab keys;
    struct buf key = {0};
    if (!strtab_init(&keys, &uncounted, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < view->parts->row_count; i++)
        ok = add_row(view, shape, i, &keys, &key, err);
    buf_free(&key);
    strtab_free(&keys);
    return ok;
}

static bool add_sums(const struct view *view, const struct shape *shape, struct report *report,
                     struct err *err)
{
    struct ranked *ranked = arena_array(report->arena, view->count, sizeof *ranked, err);
    for (uint32_t i = 0; ranked && i < view->count; i++)
        ranked[i] = (struct ranked){view->sums[i].total_ns, STR(""), i};
    if (ranked)
        ranked_sort(ranked, view->count);
    for (uint32_t i = 0; ranked && i < view->count; i++) {
        struct row row = {.desc = shape->desc};
        shape->put(view, &view->sums[ranked[i].index], &row);
        if (!row_end(&row, report, err))
            return false;
    }
    return ranked;
}

// --- breakdown ----------------------------------------------------------------------------------

static bool add_breakdown(const struct view *view, struct report *report, struct err *err)
{
    struct parts parts = {0};
    struct row row = {.desc = &table_breakdown};
    for (size_t i = 0; i < view->parts->row_count; i++) {
        enum bar bar = category_bar_of_word(table_text(view->parts, i, RANGE_PARTS_BAR));
        if (bar < BAR_COUNT)
            parts.bar_ns[bar] += number(view, i, RANGE_PARTS_OWNED_NS);
    }
    row_word(&row, BREAKDOWN_SCOPE, "range");
    parts_row(&row, BREAKDOWN_TIMES, &parts);
    // of what is hidden only the sum is known, not the union
    row_cell(&row, BREAKDOWN_TOTAL_COMM_NS, cell_null());
    row_cell(&row, BREAKDOWN_TOTAL_MEMORY_NS, cell_null());
    row_cell(&row, BREAKDOWN_OVERLAP_SHARE, cell_null());
    return row_end(&row, report, err);
}

bool range_view_add(const struct table *parts, const struct table_desc *desc, struct report *report,
                    struct err *err)
{
    const struct shape *shape = shape_of(desc);
    struct kernel_name_texts texts;
    struct view view = {.parts = parts, .texts = &texts};
    for (size_t i = 0; i < parts->row_count; i++)
        *(is_idle(&view, i) ? &view.idle_ns : &view.busy_ns) +=
            number(&view, i, RANGE_PARTS_OWNED_NS);
    if (!shape)
        return add_breakdown(&view, report, err);
    view.sums = arena_array(report->arena, parts->row_count, sizeof *view.sums, err);
    return view.sums && sum_rows(&view, shape, err) && add_sums(&view, shape, report, err);
}
