// SPDX-License-Identifier: Apache-2.0
// Picks what the command line's object has under fixed keys from a report's tables.
#include "analysis/run/analysis_json.h"

#include "analysis/report/ranked.h"
#include "analysis/report/tables.h"
#include <assert.h>
#include <stdlib.h>

static void put_key(struct buf *out, const char *key)
{
    if (out->len && out->at[out->len - 1] != '{')
        buf_putc(out, ',');
    buf_json(out, str_of(key));
    buf_putc(out, ':');
}

static const char *name_of(const struct table_desc *desc, unsigned column)
{
    return desc->columns[column_place(desc, column)].name;
}

static void put_cell(struct buf *out, const char *key, const struct cell *cell)
{
    put_key(out, key);
    if (cell->null)
        buf_puts(out, "null");
    else
        buf_i64(out, cell->i);
}

// Counts that are 0 are left out.
static void put_quarantine(struct buf *out, const struct table *summary)
{
    static const unsigned kinds[] = {SUMMARY_INCOMPLETE, SUMMARY_IMPLAUSIBLE, SUMMARY_CLIPPED};
    put_key(out, "quarantined");
    buf_putc(out, '{');
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct cell *count = table_cell(summary, 0, kinds[i]);
        if (count->i)
            put_cell(out, name_of(summary->desc, kinds[i]), count);
    }
    buf_putc(out, '}');
}

static void put_summary(struct buf *out, const struct table *summary)
{
    put_cell(out, "trace_events", table_cell(summary, 0, SUMMARY_INPUT_EVENTS));
    put_cell(out, "device_events", table_cell(summary, 0, SUMMARY_DEVICE_EVENTS));
    put_cell(out, "linked_device_events", table_cell(summary, 0, SUMMARY_LINKED_DEVICE_EVENTS));
    put_cell(out, "streams", table_cell(summary, 0, SUMMARY_STREAMS));
    put_quarantine(out, summary);
    put_cell(out, "rank", table_cell(summary, 0, SUMMARY_RANK));
    put_cell(out, "world_size", table_cell(summary, 0, SUMMARY_WORLD_SIZE));
}

// Columns `first` to `last` of the row of all devices merged, which is the first.
static void put_columns(struct buf *out, const struct table *breakdown, unsigned first,
                        unsigned last)
{
    if (!breakdown) {
        buf_puts(out, "null");
        return;
    }
    assert(table_is(breakdown, 0, BREAKDOWN_SCOPE, STR("trace")));
    const struct table_desc *desc = breakdown->desc;
    buf_putc(out, '{');
    for (unsigned c = first; c <= last; c++) {
        const struct column *column = &desc->columns[column_place(desc, c)];
        const struct cell *cell = table_cell(breakdown, 0, c);
        if (cell->null || column->type == COLUMN_I64) {
            put_cell(out, column->name, cell);
        } else {
            put_key(out, column->name);
            buf_f64(out, cell->f);
        }
    }
    buf_putc(out, '}');
}

static void put_breakdown(struct buf *out, const struct table *breakdown)
{
    put_key(out, "breakdown");
    put_columns(out, breakdown, BREAKDOWN_WINDOW_NS, BREAKDOWN_OVERLAP_SHARE);
    put_key(out, "breakdown_split");
    put_columns(out, breakdown, BREAKDOWN_GEMM_NS, BREAKDOWN_UNRECORDED_NS);
}

static void put_classes(struct buf *out, const struct table *classes)
{
    put_key(out, "classes");
    buf_putc(out, '{');
    for (size_t i = 0; classes && i < classes->row_count; i++) {
        put_key(out, table_cell(classes, i, CLASSES_CLASS)->s.at);
        buf_putc(out, '{');
        put_cell(out, "events", table_cell(classes, i, CLASSES_EVENTS));
        put_cell(out, "sum_ns", table_cell(classes, i, CLASSES_SUM_NS));
        buf_putc(out, '}');
    }
    buf_putc(out, '}');
}

static void put_rows(struct buf *out, const char *key, const struct table *table)
{
    put_key(out, key);
    buf_putc(out, '[');
    for (size_t i = 0; table && i < table->row_count; i++) {
        if (i)
            buf_putc(out, ',');
        report_row_json(table, i, out);
    }
    buf_putc(out, ']');
}

// A collective regardless of its process group, as listed under the fixed key.
struct merged {
    struct cell cells[5];
    int64_t calls, total_ns, min_ns, max_ns;
};

static const unsigned merged_columns[5] = {COLLECTIVES_COLLECTIVE, COLLECTIVES_DTYPE,
                                           COLLECTIVES_IN_ELEMS, COLLECTIVES_OUT_ELEMS,
                                           COLLECTIVES_GROUP_SIZE};

static struct merged read_merged(const struct table *table, size_t row)
{
    struct merged merged = {
        .calls = table_cell(table, row, COLLECTIVES_CALLS)->i,
        .total_ns = table_cell(table, row, COLLECTIVES_TOTAL_NS)->i,
        .min_ns = table_cell(table, row, COLLECTIVES_MIN_NS)->i,
        .max_ns = table_cell(table, row, COLLECTIVES_MAX_NS)->i,
    };
    for (int c = 0; c < 5; c++)
        merged.cells[c] = *table_cell(table, row, merged_columns[c]);
    return merged;
}

static int compare_cells(const struct cell *a, const struct cell *b, bool text)
{
    if (a->null || b->null)
        return b->null - a->null;
    return text ? str_compare(a->s, b->s) : (a->i > b->i) - (a->i < b->i);
}

static int compare_keys(const void *a, const void *b)
{
    const struct merged *x = a, *y = b;
    for (int c = 0; c < 5; c++) {
        int order = compare_cells(&x->cells[c], &y->cells[c], c < 2);
        if (order)
            return order;
    }
    return 0;
}

static int compare_totals(const void *a, const void *b)
{
    const struct merged *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return compare_keys(a, b);
}

// Joins rows with equal keys; returns how many are left.
static size_t merge(struct merged *rows, size_t count)
{
    qsort(rows, count, sizeof *rows, compare_keys);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_keys(&rows[kept - 1], &rows[i]) != 0) {
            rows[kept++] = rows[i];
            continue;
        }
        struct merged *into = &rows[kept - 1];
        into->calls += rows[i].calls;
        into->total_ns += rows[i].total_ns;
        into->min_ns = rows[i].min_ns < into->min_ns ? rows[i].min_ns : into->min_ns;
        into->max_ns = rows[i].max_ns > into->max_ns ? rows[i].max_ns : into->max_ns;
    }
    qsort(rows, kept, sizeof *rows, compare_totals);
    return kept;
}

static void put_merged(struct buf *out, const struct merged *row)
{
    buf_putc(out, '{');
    for (int c = 0; c < 5; c++) {
        put_key(out, name_of(&table_collectives, merged_columns[c]));
        if (row->cells[c].null)
            buf_puts(out, "null");
        else if (c < 2)
            buf_json(out, row->cells[c].s);
        else
            buf_i64(out, row->cells[c].i);
    }
    buf_puts(out, ",\"calls\":");
    buf_i64(out, row->calls);
    buf_puts(out, ",\"total_ns\":");
    buf_i64(out, row->total_ns);
    buf_puts(out, ",\"min_ns\":");
    buf_i64(out, row->min_ns);
    buf_puts(out, ",\"max_ns\":");
    buf_i64(out, row->max_ns);
    buf_putc(out, '}');
}

static bool put_collectives(struct buf *out, const struct table *table, struct err *err)
{
    size_t count = table ? table->row_count : 0;
    struct merged *rows = calloc(count ? count : 1, sizeof *rows);
    if (!rows)
        return err_set(err, ERR_MEMORY, "out of memory for %zu collectives", count);
    for (size_t i = 0; i < count; i++)
        rows[i] = read_merged(table, i);
    count = count ? merge(rows, count) : 0;
    put_key(out, "collectives");
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        put_merged(out, &rows[i]);
    }
    buf_putc(out, ']');
    free(rows);
    return true;
}

static void put_op(struct buf *out, const struct table *table, size_t row)
{
    buf_puts(out, "{\"name\":");
    buf_json(out, table_cell(table, row, OPERATORS_NAME)->s);
    buf_puts(out, ",\"launching_calls\":");
    buf_i64(out, table_i64(table, row, OPERATORS_LAUNCHING_CALLS, 0));
    buf_puts(out, ",\"total_ns\":");
    buf_i64(out, table_i64(table, row, OPERATORS_SELF_NS, 0));
    buf_putc(out, '}');
}

// Operators by the device events they launched directly.
static bool put_ops(struct buf *out, const struct table *table, struct err *err)
{
    size_t count = 0, rows = table ? table->row_count : 0;
    struct ranked *ranked = calloc(rows ? rows : 1, sizeof *ranked);
    if (!ranked)
        return err_set(err, ERR_MEMORY, "out of memory for %zu operators", rows);
    for (uint32_t i = 0; i < rows; i++)
        if (table_i64(table, i, OPERATORS_LAUNCHING_CALLS, 0) > 0)
            ranked[count++] = (struct ranked){table_i64(table, i, OPERATORS_SELF_NS, 0),
                                              table_cell(table, i, OPERATORS_NAME)->s, i};
    ranked_sort(ranked, count);
    put_key(out, "ops");
    buf_putc(out, '[');
    for (size_t i = 0; i < count; i++) {
        if (i)
            buf_putc(out, ',');
        put_op(out, table, ranked[i].index);
    }
    buf_putc(out, ']');
    free(ranked);
    return true;
}

// Rows of range_rows are those of other tables in a form for storing.
static struct report without_range_rows(const struct report *report)
{
    struct report shown = *report;
    shown.table_count = 0;
    for (unsigned i = 0; i < report->table_count; i++)
        if (report->tables[i].desc != &table_range_rows)
            shown.tables[shown.table_count++] = report->tables[i];
    return shown;
}

bool analysis_json_trace(const struct report *report, struct buf *out, struct err *err)
{
    const struct table *summary = report_find(report, "summary");
    if (!summary)
        return err_set(err, ERR_INTERNAL, "report without a summary");
    buf_putc(out, '{');
    put_summary(out, summary);
    put_breakdown(out, report_find(report, "breakdown"));
    put_classes(out, report_find(report, "classes"));
    put_rows(out, "kernels", report_find(report, "kernels"));
    if (!put_ops(out, report_find(report, "operators"), err) ||
        !put_collectives(out, report_find(report, "collectives"), err))
        return false;
    put_key(out, "tables");
    struct report shown = without_range_rows(report);
    report_json(&shown, out);
    buf_putc(out, '}');
    return buf_ok(out, err);
}
