// SPDX-License-Identifier: Apache-2.0
// The order in which to fix what was found: by severity, then by what fixing it brings.
#include "analysis/report/tables.h"
#include "analysis/run/findings_run.h"

#include <string.h>

struct place {
    bool leads; // prevents judging the rest
    int severity;
    int64_t worth_ns, cost_ns;
};

static int severity_of(const struct table *table, size_t row)
{
    static const char *const words[] = {"info", "low", "medium", "high"};
    int i = 3;
    while (i > 0 && !table_is(table, row, RUN_FINDINGS_SEVERITY, str_of(words[i])))
        i--;
    return i;
}

// What fixing it is worth: simulated where a step could be replayed, else its own cost.
static struct place place_of(const struct table *table, size_t row)
{
    int64_t cost_ns = table_i64(table, row, RUN_FINDINGS_COST_NS, 0);
    int64_t own_ns = table_i64(table, row, RUN_FINDINGS_OWN_COST_NS, cost_ns);
    return (struct place){
        .leads = table_is(table, row, RUN_FINDINGS_RULE, STR("several_jobs")),
        .severity = severity_of(table, row),
        .worth_ns = table_i64(table, row, RUN_FINDINGS_GAIN_NS, own_ns),
        .cost_ns = cost_ns,
    };
}

static bool is_before(const struct place *a, const struct place *b)
{
    if (a->leads != b->leads)
        return a->leads;
    if (a->severity != b->severity)
        return a->severity > b->severity;
    return a->worth_ns != b->worth_ns ? a->worth_ns > b->worth_ns : a->cost_ns > b->cost_ns;
}

// Where a row belongs among those before it, which are in order; equal ones keep their order.
static size_t find_place(const struct table *table, size_t row)
{
    struct place place = place_of(table, row);
    for (; row > 0; row--) {
        struct place other = place_of(table, row - 1);
        if (!is_before(&place, &other))
            break;
    }
    return row;
}

static void move_row(struct table *table, size_t from, size_t to)
{
    struct cell row[TABLE_MAX_COLUMNS];
    size_t width = table->desc->column_count, size = width * sizeof *table->cells;
    memcpy(row, table->cells + from * width, size);
    memmove(table->cells + (to + 1) * width, table->cells + to * width, (from - to) * size);
    memcpy(table->cells + to * width, row, size);
}

void run_findings_order(struct report *report)
{
    for (unsigned t = 0; t < report->table_count; t++) {
        struct table *table = &report->tables[t];
        for (size_t row = 1; table->desc == &table_run_findings && row < table->row_count; row++)
            move_row(table, row, find_place(table, row));
    }
}
