// SPDX-License-Identifier: Apache-2.0
// Filters, search, order and paging of a table in memory; and the checks shared with SQL queries.
#include "server/store/table_query.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

// --- checks -------------------------------------------------------------------------------------

static bool unknown_column(const struct table_desc *desc, struct str name, struct err *err)
{
    char known[160];
    size_t len = 0;
    known[0] = '\0';
    for (unsigned i = 0; i < desc->column_count; i++) {
        size_t add = strlen(desc->columns[i].name) + 2;
        if (len + add + sizeof ", ..." > sizeof known) {
            memcpy(known + len, ", ...", 6);
            break;
        }
        memcpy(known + len, len ? ", " : "", len ? 2 : 0);
        len += len ? 2 : 0;
        memcpy(known + len, desc->columns[i].name, add - 1);
        len += add - 2;
    }
    return err_set(err, ERR_USAGE, "table %s has no column '%.*s'; it has %s", desc->name,
                   (int)(name.len < 40 ? name.len : 40), name.at, known);
}

static bool to_f64(struct str text, double *value)
{
    char copy[64];
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = '\0';
    char *end;
    *value = strtod(copy, &end);
    return *end == '\0' && isfinite(*value);
}

static bool to_bool(struct str text, int64_t *value)
{
    *value = str_equal(text, STR("true")) || str_equal(text, STR("1"));
    return *value || str_equal(text, STR("false")) || str_equal(text, STR("0"));
}

// The value of a filter on a column; an empty text is null and selects rows without a value.
static bool filter_value(const struct column *column, struct str text, struct cell *value,
                         struct err *err)
{
    *value = cell_text(text);
    bool fits = true;
    const char *expected = "";
    if (text.len == 0) {
        *value = cell_null();
    } else if (column->type == COLUMN_I64) {
        fits = str_to_i64(text, &value->i);
        expected = "a whole number";
    } else if (column->type == COLUMN_F64) {
        fits = to_f64(text, &value->f);
        expected = "a number";
    } else if (column->type == COLUMN_BOOL) {
        fits = to_bool(text, &value->i);
        expected = "true or false";
    }
    return fits || err_set(err, ERR_USAGE, "%s: expected %s, found '%.*s'", column->name, expected,
                           (int)(text.len < 40 ? text.len : 40), text.at);
}

bool table_query_sorts_by(const struct table_query *query, const struct table_desc *desc,
                          struct str name)
{
    return table_column(desc, name) >= 0 || (query->also_sorts_by && query->also_sorts_by(name));
}

bool table_query_check(const struct table_query *query, const struct table_desc *desc,
                       struct err *err)
{
    if (query->sort_count > TABLE_QUERY_MAX_SORTS || query->filter_count > TABLE_QUERY_MAX_FILTERS)
        return err_set(err, ERR_USAGE, "more than %d sort columns or %d filters",
                       TABLE_QUERY_MAX_SORTS, TABLE_QUERY_MAX_FILTERS);
    for (unsigned i = 0; i < query->sort_count; i++)
        if (!table_query_sorts_by(query, desc, query->sorts[i].column))
            return unknown_column(desc, query->sorts[i].column, err);
    for (unsigned i = 0; i < query->filter_count; i++) {
        int column = table_column(desc, query->filters[i].column);
        struct cell value;
        if (column < 0)
            return unknown_column(desc, query->filters[i].column, err);
        if (!filter_value(&desc->columns[column], query->filters[i].value, &value, err))
            return false;
    }
    return true;
}

// --- filters ------------------------------------------------------------------------------------

static bool cell_equals(enum column_type type, const struct cell *cell, const struct cell *value)
{
    if (value->null) // an empty value selects rows that have none
        return cell->null || (type == COLUMN_TEXT && cell->s.len == 0);
    if (cell->null)
        return false;
    switch (type) {
    case COLUMN_I64:
    case COLUMN_BOOL: return cell->i == value->i;
    case COLUMN_F64: return !(cell->f < value->f) && !(cell->f > value->f);
    case COLUMN_TEXT: return str_equal(cell->s, value->s);
    }
    return false;
}

// A query with its names looked up and its values parsed.
struct plan {
    const struct table_desc *desc;
    unsigned filter_count;
    int filter_columns[TABLE_QUERY_MAX_FILTERS];
    struct cell filter_values[TABLE_QUERY_MAX_FILTERS];
    unsigned sort_count;
    int sort_columns[TABLE_QUERY_MAX_SORTS];
    bool descending[TABLE_QUERY_MAX_SORTS];
    struct str search; // lower case
};

static bool make_plan(const struct table_query *query, const struct table_desc *desc,
                      struct arena *arena, struct plan *plan, struct err *err)
{
    if (!table_query_check(query, desc, err))
        return false;
    *plan = (struct plan){
        .desc = desc, .filter_count = query->filter_count, .sort_count = query->sort_count};
    for (unsigned i = 0; i < query->filter_count; i++) {
        int column = table_column(desc, query->filters[i].column);
        plan->filter_columns[i] = column;
        if (!filter_value(&desc->columns[column], query->filters[i].value, &plan->filter_values[i],
                          err))
            return false;
    }
    for (unsigned i = 0; i < query->sort_count; i++) {
        plan->sort_columns[i] = table_column(desc, query->sorts[i].column);
        plan->descending[i] = query->sorts[i].descending;
    }
    char *lower = arena_alloc(arena, query->search.len + 1, err);
    for (size_t i = 0; lower && i < query->search.len; i++) {
        char c = query->search.at[i];
        lower[i] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
    }
    plan->search = (struct str){lower, query->search.len};
    return lower != NULL;
}

// Whether any filter on the column of filter `first` holds.
static bool matches_column(const struct plan *plan, const struct cell *row, unsigned first)
{
    int column = plan->filter_columns[first];
    for (unsigned i = first; i < plan->filter_count; i++)
        if (plan->filter_columns[i] == column &&
            cell_equals(plan->desc->columns[column].type, &row[column], &plan->filter_values[i]))
            return true;
    return false;
}

static bool is_first_of_column(const struct plan *plan, unsigned filter)
{
    for (unsigned i = 0; i < filter; i++)
        if (plan->filter_columns[i] == plan->filter_columns[filter])
            return false;
    return true;
}

static bool is_found(const struct plan *plan, const struct cell *row)
{
    if (plan->search.len == 0)
        return true;
    for (unsigned i = 0; i < plan->desc->column_count; i++)
        if (plan->desc->columns[i].type == COLUMN_TEXT && !row[i].null &&
            str_contains_nocase(row[i].s, plan->search))
            return true;
    return false;
}

static bool matches(const struct plan *plan, const struct cell *row)
{
    for (unsigned i = 0; i < plan->filter_count; i++)
        if (is_first_of_column(plan, i) && !matches_column(plan, row, i))
            return false;
    return is_found(plan, row);
}

// --- order --------------------------------------------------------------------------------------

static int compare_cells(enum column_type type, const struct cell *a, const struct cell *b)
{
    switch (type) {
    case COLUMN_I64:
    case COLUMN_BOOL: return (a->i > b->i) - (a->i < b->i);
    case COLUMN_F64: return (a->f > b->f) - (a->f < b->f);
    case COLUMN_TEXT: return str_compare(a->s, b->s);
    }
    return 0;
}

struct ordering {
    const struct plan *plan;
    const struct cell *cells;
};

static int compare_rows(const void *left, const void *right, void *ctx)
{
    const struct ordering *ordering = ctx;
    const struct plan *plan = ordering->plan;
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    for (unsigned i = 0; i < plan->sort_count; i++) {
        int column = plan->sort_columns[i];
        const struct cell *x = &ordering->cells[a * plan->desc->column_count + (size_t)column];
        const struct cell *y = &ordering->cells[b * plan->desc->column_count + (size_t)column];
        if (x->null != y->null)
            return x->null ? 1 : -1;
        int order = x->null ? 0 : compare_cells(plan->desc->columns[column].type, x, y);
        if (order)
            return plan->descending[i] ? -order : order;
    }
    return (a > b) - (a < b);
}

// --- the page -----------------------------------------------------------------------------------

static bool copy_page(const struct table *from, const size_t *rows, const struct table_query *query,
                      struct arena *arena, struct table_page *page, struct err *err)
{
    uint64_t left = page->total > query->offset ? page->total - query->offset : 0;
    size_t count = (size_t)(left < query->limit ? left : query->limit);
    size_t width = from->desc->column_count;
    page->offset = query->offset;
    page->table = (struct table){.desc = from->desc, .row_count = count, .row_cap = count};
    if (count == 0)
        return true;
    page->table.cells = arena_array(arena, count * width, sizeof *page->table.cells, err);
    if (!page->table.cells)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(&page->table.cells[i * width], &from->cells[rows[query->offset + i] * width],
               width * sizeof *page->table.cells);
    return true;
}

bool table_select(const struct table *from, const struct table_query *query, struct arena *arena,
                  struct table_page *page, struct err *err)
{
    struct plan plan;
    *page = (struct table_page){0};
    if (!make_plan(query, from->desc, arena, &plan, err))
        return false;
    size_t *rows = arena_array(arena, from->row_count + 1, sizeof *rows, err);
    if (!rows)
        return false;
    for (size_t row = 0; row < from->row_count; row++)
        if (matches(&plan, &from->cells[row * from->desc->column_count]))
            rows[page->total++] = row;
    struct ordering ordering = {&plan, from->cells};
    if (plan.sort_count)
        qsort_r(rows, page->total, sizeof *rows, compare_rows, &ordering);
    return copy_page(from, rows, query, arena, page, err);
}
