// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_link_shares.h"

#include "analysis/comm/link_reference.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "ingest/evidence/evidence.h"

#include <math.h>

// --- the tests of a run -------------------------------------------------------------------------

static int64_t measured_i64(const struct table *measured, size_t i, unsigned column)
{
    return table_i64(measured, i, column, -1);
}

// Each row of the table as a run of one row, so that a run's number is that of its row.
static bool add_test(const struct table *measured, size_t i, struct evidence *tests,
                     struct err *err)
{
    struct link_run run = {
        .tool = table_text(measured, i, LINK_TESTS_TOOL),
        .collective = table_text(measured, i, LINK_TESTS_KIND),
        .guessed = measured_i64(measured, i, LINK_TESTS_GUESSED) > 0,
        .ranks = table_i64(measured, i, LINK_TESTS_RANKS, 0),
        .nodes = table_i64(measured, i, LINK_TESTS_NODES, 0),
    };
    int64_t time_ns = measured_i64(measured, i, LINK_TESTS_TIME_NS);
    struct link_row row = {
        .run = (uint32_t)i,
        .bytes = measured_i64(measured, i, LINK_TESTS_BYTES),
        .time_ns = time_ns >= 0 ? (double)time_ns : NAN,
        .algorithm_bps = table_f64(measured, i, LINK_TESTS_ALGO_GBPS, NAN) * 1e9,
        .bus_bps = table_f64(measured, i, LINK_TESTS_BUS_GBPS, NAN) * 1e9,
        .wrong = measured_i64(measured, i, LINK_TESTS_WRONG),
    };
    return link_tests_add(tests, LINK_RUNS, &run, err) &&
           link_tests_add(tests, LINK_ROWS, &row, err);
}

// Hundreds of files; more would only cost memory.
enum { MOST_TESTS = 100000 };

static bool add_tests(const struct table *measured, struct evidence *tests, struct err *err)
{
    for (size_t i = 0; i < measured->row_count && i < MOST_TESTS; i++)
        if (!add_test(measured, i, tests, err))
            return false;
    return true;
}

// --- curves -------------------------------------------------------------------------------------

static bool add_curve(const struct link_curve *curve, struct report *report, struct err *err)
{
    bool floored = curve->floor_ns >= 0; // not NAN
    struct row row = {.desc = &table_run_link_curves};
    row_word(&row, RUN_LINK_CURVES_KIND, bandwidth_kind_word(curve->kind));
    row_i64(&row, RUN_LINK_CURVES_RANKS, curve->ranks);
    row_i64_if(&row, RUN_LINK_CURVES_NODES, curve->nodes > 0, curve->nodes);
    row_bool(&row, RUN_LINK_CURVES_GUESSED, curve->guessed);
    row_i64(&row, RUN_LINK_CURVES_SIZES, (int64_t)curve->count);
    row_i64(&row, RUN_LINK_CURVES_LEAST_BYTES, curve->points[0].bytes);
    row_i64(&row, RUN_LINK_CURVES_MOST_BYTES, curve->points[curve->count - 1].bytes);
    row_f64(&row, RUN_LINK_CURVES_PEAK_GBPS, curve->peak_bps / 1e9);
    row_i64(&row, RUN_LINK_CURVES_PEAK_BYTES, curve->peak_bytes);
    row_bool(&row, RUN_LINK_CURVES_RISING, curve->rising);
    row_i64(&row, RUN_LINK_CURVES_ENOUGH_BYTES, curve->enough_bytes);
    row_i64_if(&row, RUN_LINK_CURVES_FLOOR_NS, floored, floored ? (int64_t)curve->floor_ns : 0);
    return row_end(&row, report, err);
}

static bool add_curves(const struct link_reference *reference, struct report *report,
                       struct err *err)
{
    for (size_t i = 0; i < reference->count; i++)
        if (!add_curve(&reference->curves[i], report, err))
            return false;
    return true;
}

// --- shares -------------------------------------------------------------------------------------

// A table of collectives; columns that it lacks are 0.
struct shared_table {
    struct table *table;
    const struct table *waits; // that say which groups span nodes
    unsigned kind, bytes, ranks, group, span, bus_gbps, reference;
};

static int64_t nodes_of_span(struct str span)
{
    if (span.len == 0)
        return 0;
    return str_equal(span, STR("intra-node")) ? 1 : LINK_NODES_SEVERAL;
}

// The number of nodes of all groups of that name, if they agree.
static int64_t nodes_of_group(const struct table *waits, struct str group)
{
    int64_t nodes = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        if (!str_equal(table_text(waits, i, RUN_COMM_WAITS_PROCESS_GROUP), group))
            continue;
        int64_t own = nodes_of_span(table_text(waits, i, RUN_COMM_WAITS_SPAN));
        if (nodes && own != nodes)
            return 0;
        nodes = own;
    }
    return nodes;
}

static struct link_query query_of(const struct shared_table *of, size_t i)
{
    struct str group = table_text(of->table, i, of->group);
    return (struct link_query){
        .kind = bandwidth_kind(table_text(of->table, i, of->kind)),
        .bytes = table_i64(of->table, i, of->bytes, 0),
        .ranks = table_i64(of->table, i, of->ranks, 0),
        .nodes = of->span ? nodes_of_span(table_text(of->table, i, of->span))
                          : nodes_of_group(of->waits, group),
    };
}

static const char *why_not(enum link_answer answer)
{
    static const char *const words[] = {
        [LINK_NO_COLLECTIVE] = "not tested",
        [LINK_NO_RANKS] = "not tested with this many ranks and nodes",
        [LINK_SEVERAL_NODES] = "tested on different numbers of nodes",
        [LINK_TOO_SMALL] = "smaller than tested",
        [LINK_TOO_LARGE] = "larger than tested",
    };
    return words[answer];
}

static void put(const struct shared_table *of, size_t i, unsigned column, struct cell cell)
{
    const struct table_desc *desc = of->table->desc;
    of->table->cells[i * desc->column_count + column_place(desc, of->reference + column)] = cell;
}

static void put_share(const struct shared_table *of, size_t i,
                      const struct link_reference *reference, const struct table *measured)
{
    struct link_query query = query_of(of, i);
    if (query.bytes <= 0 || query.ranks <= 0) {
        put(of, i, REFERENCE_REFERENCE_BASIS, cell_text(STR("size or ranks unknown")));
        return;
    }
    struct link_expected expected = link_reference_find(reference, &query);
    if (expected.answer != LINK_FOUND) {
        put(of, i, REFERENCE_REFERENCE_BASIS, cell_text(str_of(why_not(expected.answer))));
        return;
    }
    double share = table_f64(of->table, i, of->bus_gbps, NAN) * 1e9 / expected.bus_bps;
    put(of, i, REFERENCE_REFERENCE_GBPS, cell_f64(expected.bus_bps / 1e9));
    if (!isnan(share))
        put(of, i, REFERENCE_REFERENCE_SHARE, cell_f64(share));
    put(of, i, REFERENCE_REFERENCE_BASIS, *table_cell(measured, expected.run, LINK_TESTS_FILE));
}

static void put_shares(struct report *report, const struct link_reference *reference,
                       const struct table *measured)
{
    struct table *waits = report_table(report, &table_run_comm_waits);
    const struct shared_table tables[] = {
        {waits, waits, RUN_COMM_WAITS_KIND, RUN_COMM_WAITS_BYTES, RUN_COMM_WAITS_GROUP_SIZE,
         RUN_COMM_WAITS_PROCESS_GROUP, RUN_COMM_WAITS_SPAN, RUN_COMM_WAITS_BUS_GBPS,
         RUN_COMM_WAITS_REFERENCE},
        {report_table(report, &table_run_collectives), waits,
         RUN_COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_KIND,
         RUN_COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_BYTES,
         RUN_COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_GROUP_SIZE,
         RUN_COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_PROCESS_GROUP, 0,
         RUN_COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_BUS_GBPS, RUN_COLLECTIVES_REFERENCE}};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; tables[t].table && i < tables[t].table->row_count; i++)
            put_share(&tables[t], i, reference, measured);
}

bool run_link_shares(struct report *report, struct err *err)
{
    const struct table *measured = report_table(report, &table_link_tests);
    struct link_reference reference;
    struct budget uncounted = {0};
    struct evidence tests;
    if (!measured)
        return true;
    evidence_init(&tests, report->arena->budget ? report->arena->budget : &uncounted);
    bool ok = add_tests(measured, &tests, err) &&
              link_reference_make(&tests.links, &tests.arena, &reference, err);
    if (ok && reference.count)
        put_shares(report, &reference, measured);
    ok = ok && add_curves(&reference, report, err);
    evidence_free(&tests);
    return ok;
}
