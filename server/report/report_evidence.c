// SPDX-License-Identifier: Apache-2.0
#include "server/report/report_evidence.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "server/base/number_text.h"

#include <math.h>

static void columns(struct document *doc, const char *first, const struct report_sides *sides)
{
    doc_column(doc, str_of(first));
    for (size_t side = 0; side < sides->count; side++)
        doc_column(doc, sides->names[side]);
}

// --- links --------------------------------------------------------------------------------------

static struct str operation_of(const struct table *tests, size_t row)
{
    const struct cell *kind = table_cell(tests, row, LINK_TESTS_KIND);
    const struct cell *operation = table_cell(tests, row, LINK_TESTS_OPERATION);
    return !kind->null ? kind->s : operation->null ? STR("") : operation->s;
}

// The row with the highest bandwidth; SIZE_MAX if there is none.
static size_t best_row(const struct table *tests, struct str operation)
{
    size_t best = SIZE_MAX;
    for (size_t row = 0; tests && row < tests->row_count; row++) {
        double found = table_f64(tests, row, LINK_TESTS_BUS_GBPS, NAN);
        if (found > 0 && str_equal(operation_of(tests, row), operation) &&
            (best == SIZE_MAX || found > table_f64(tests, best, LINK_TESTS_BUS_GBPS, NAN)))
            best = row;
    }
    return best;
}

// "of 1.07 GB, 8 ranks, nccl-tests"
static struct str test_words(struct document *doc, const struct table *tests, size_t row)
{
    struct buf words = {0};
    const struct cell *tool = table_cell(tests, row, LINK_TESTS_TOOL);
    int64_t ranks = table_i64(tests, row, LINK_TESTS_RANKS, 0);
    buf_puts(&words, "of ");
    number_text_add(table_number(tests, row, LINK_TESTS_BYTES, NAN), "bytes", &words);
    if (ranks > 0)
        buf_printf(&words, ", %lld ranks", (long long)ranks);
    if (!tool->null)
        buf_printf(&words, ", %.*s", (int)tool->s.len, tool->s.at);
    struct str copy = doc_printf(doc, "%.*s", (int)words.len, words.len ? words.at : "");
    buf_free(&words);
    return copy;
}

static void add_operation(struct document *doc, const struct report_sides *sides,
                          struct str operation)
{
    doc_text(doc, operation);
    for (size_t side = 0; side < sides->count; side++) {
        const struct table *tests = report_find(sides->tables[side], "link_tests");
        size_t row = best_row(tests, operation);
        bool known = row != SIZE_MAX;
        double value = known ? table_f64(tests, row, LINK_TESTS_BUS_GBPS, NAN) : (double)NAN;
        struct doc_cell *cell = doc_number(doc, value, "GB/s");
        if (known)
            cell->note = test_words(doc, tests, row);
    }
}

static bool is_first(const struct report_sides *sides, size_t side, size_t row,
                     struct str operation)
{
    for (size_t s = 0; s <= side; s++) {
        const struct table *tests = report_find(sides->tables[s], "link_tests");
        size_t end = s < side ? SIZE_MAX : row;
        for (size_t i = 0; tests && i < tests->row_count && i < end; i++)
            if (str_equal(operation_of(tests, i), operation))
                return false;
    }
    return true;
}

void report_add_links(struct document *doc, const struct report_sides *sides)
{
    enum { MOST_OPERATIONS = 16 };
    size_t left = MOST_OPERATIONS;
    doc_begin(doc, STR("Links"),
              STR("The highest bus bandwidth of each collective in the tests that were uploaded."));
    columns(doc, "Collective", sides);
    for (size_t side = 0; side < sides->count; side++) {
        const struct table *tests = report_find(sides->tables[side], "link_tests");
        struct str before = STR("");
        for (size_t row = 0; tests && left && row < tests->row_count; row++) {
            struct str operation = operation_of(tests, row);
            bool known = str_equal(operation, before); // rows of a test follow one another
            before = operation;
            if (known || !is_first(sides, side, row, operation) ||
                best_row(tests, operation) == SIZE_MAX)
                continue;
            add_operation(doc, sides, operation);
            left--;
        }
    }
}

// --- convergence --------------------------------------------------------------------------------

// The curve of a side's longest log.
struct curve {
    const struct table *table;
    struct str file;
    size_t count;  // of its losses
    size_t window; // losses that are averaged before they count as reached
};

static struct str file_of(const struct table *table, size_t row)
{
    return table_cell(table, row, LOG_CURVE_FILE)->s;
}

// Rows of a log follow one another.
static struct curve curve_of(const struct report *tables)
{
    struct curve curve = {.table = report_find(tables, "log_curve"), .file = STR("")};
    int64_t most = -1, steps = 0;
    for (size_t row = 0; curve.table && row < curve.table->row_count; row++) {
        bool same = row > 0 && str_equal(file_of(curve.table, row), file_of(curve.table, row - 1));
        steps = (same ? steps : 0) + table_i64(curve.table, row, LOG_CURVE_STEPS, 0);
        if (steps > most) {
            most = steps;
            curve.file = file_of(curve.table, row);
        }
    }
    return curve;
}

static bool has_loss(const struct curve *curve, size_t row)
{
    return str_equal(file_of(curve->table, row), curve->file) &&
           !table_cell(curve->table, row, LOG_CURVE_LOSS)->null;
}

// As on the comparison page: a single low loss does not count as reached.
static void find_window(struct curve *curve)
{
    enum { LONGEST = 20 };
    for (size_t row = 0; curve->table && row < curve->table->row_count; row++)
        curve->count += has_loss(curve, row);
    curve->window = curve->count / LONGEST < LONGEST ? curve->count / LONGEST : LONGEST;
    curve->window = curve->window ? curve->window : 1;
}

// Mean of the losses up to a row.
static double smoothed(const struct curve *curve, size_t row)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = row + 1; i > 0 && count < curve->window; i--)
        if (has_loss(curve, i - 1)) {
            sum += table_f64(curve->table, i - 1, LOG_CURVE_LOSS, NAN);
            count++;
        }
    return sum / (double)count;
}

static double lowest_loss(const struct curve *curve)
{
    double lowest = INFINITY;
    for (size_t row = 0; curve->count && row < curve->table->row_count; row++)
        if (has_loss(curve, row))
            lowest = fmin(lowest, smoothed(curve, row));
    return lowest;
}

// The first row of a loss; SIZE_MAX if it is not reached.
static size_t reached(const struct curve *curve, double loss)
{
    for (size_t row = 0; curve->count && row < curve->table->row_count; row++)
        if (has_loss(curve, row) && smoothed(curve, row) <= loss)
            return row;
    return SIZE_MAX;
}

// The last row with a loss up to a step.
static size_t row_of_step(const struct curve *curve, int64_t step)
{
    size_t found = SIZE_MAX;
    for (size_t row = 0; curve->count && row < curve->table->row_count; row++)
        if (has_loss(curve, row) && table_i64(curve->table, row, LOG_CURVE_STEP, 0) <= step)
            found = row;
    return found;
}

static int64_t last_step(const struct curve *curve)
{
    int64_t last = 0;
    for (size_t row = 0; curve->count && row < curve->table->row_count; row++)
        if (has_loss(curve, row) && table_i64(curve->table, row, LOG_CURVE_STEP, 0) > last)
            last = table_i64(curve->table, row, LOG_CURVE_STEP, 0);
    return last;
}

static void add_losses(struct document *doc, const struct curve *curves, size_t count, int64_t step)
{
    doc_text(doc, doc_printf(doc, "Loss after step %lld", (long long)step));
    for (size_t i = 0; i < count; i++) {
        size_t row = row_of_step(&curves[i], step);
        bool known = row != SIZE_MAX;
        doc_number(doc, known ? table_f64(curves[i].table, row, LOG_CURVE_LOSS, NAN) : (double)NAN,
                   "");
    }
}

// What a side had used when it reached a loss; NAN unknown.
static double spent(const struct curve *curve, double loss, unsigned column)
{
    size_t row = reached(curve, loss);
    return row == SIZE_MAX ? (double)NAN : table_number(curve->table, row, column, NAN);
}

static void add_race(struct document *doc, const struct curve *curves, size_t count, double loss)
{
    static const struct {
        const char *label;
        unsigned column;
        const char *unit;
    } rows[] = {{"Steps", LOG_CURVE_STEP, "count"},
                {"Tokens", LOG_CURVE_CONSUMED_TOKENS, "count"},
                {"Time", LOG_CURVE_TIME_NS, "ns"}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        bool known = false;
        for (size_t i = 0; i < count; i++)
            known = known || !isnan(spent(&curves[i], loss, rows[r].column));
        if (!known)
            continue;
        doc_text(doc, doc_printf(doc, "%s to loss %.4g", rows[r].label, loss));
        for (size_t i = 0; i < count; i++)
            doc_number(doc, spent(&curves[i], loss, rows[r].column), rows[r].unit);
    }
}

enum { MOST_SIDES = DOC_MOST_COLUMNS, QUARTERS = 4 };

void report_add_convergence(struct document *doc, struct str title,
                            const struct report_sides *sides)
{
    struct curve curves[MOST_SIDES];
    int64_t shortest = INT64_MAX;
    double loss = -INFINITY; // a loss that all reach: the highest of their lowest ones
    for (size_t i = 0; i < sides->count && i < MOST_SIDES; i++) {
        curves[i] = curve_of(sides->tables[i]);
        find_window(&curves[i]);
        if (!curves[i].count)
            continue;
        int64_t last = last_step(&curves[i]);
        shortest = last < shortest ? last : shortest;
        loss = fmax(loss, lowest_loss(&curves[i]));
    }
    if (!isfinite(loss) || shortest < QUARTERS)
        return;
    doc_begin(doc, title,
              STR("As the training logs say. A loss counts as reached by the mean of "
                  "those up to it."));
    columns(doc, "Loss", sides);
    for (int64_t quarter = 1; quarter <= QUARTERS; quarter++)
        add_losses(doc, curves, sides->count, shortest / QUARTERS * quarter);
    add_race(doc, curves, sides->count, loss);
}
