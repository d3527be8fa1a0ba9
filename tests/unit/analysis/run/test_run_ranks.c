// SPDX-License-Identifier: Apache-2.0
// Handmade ranks: what a run reports about each, about their steps, about missing or inconsistent
// ones, and how well the devices are used.
// labels: threads
#include "analysis/analysis.h"
#include "analysis/report/tables.h"
#include "tests/named_cell.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>

enum { MAX_RANKS = 48 };

// Tables of some ranks, as a source of ranks.
struct ranks {
    int64_t numbers[MAX_RANKS];
    struct report reports[MAX_RANKS];
    size_t count;
    struct arena arena;
    struct rank_source source;
    struct report run;
    struct err err;
    atomic_int loads;
    int fails; // index that cannot be loaded, -1: none
};

static bool load(void *context, size_t index, const struct table_desc *const *known,
                 struct report *report, struct err *err)
{
    struct ranks *ranks = context;
    atomic_fetch_add(&ranks->loads, 1);
    if ((int)index == ranks->fails)
        return err_set(err, ERR_IO, "a disk is gone");
    for (; *known; known++) {
        const struct table *table = report_find(&ranks->reports[index], (*known)->name);
        if (table && !report_borrow(report, table, err))
            return false;
    }
    return true;
}

static void begin(struct ranks *ranks)
{
    *ranks = (struct ranks){.fails = -1};
    arena_init(&ranks->arena, NULL);
    ranks->source = (struct rank_source){.context = ranks, .load = load};
}

static void end(struct ranks *ranks)
{
    arena_free(&ranks->arena);
}

static void join(struct ranks *ranks)
{
    ranks->source.ranks = ranks->numbers;
    ranks->source.count = ranks->count;
    ranks->run = (struct report){.arena = &ranks->arena};
    if (!analyze_run(&ranks->source, &ranks->run, &ranks->err))
        fail_msg("%s", ranks->err.msg);
}

// --- making tables ------------------------------------------------------------------------------

struct set {
    const char *column;
    struct cell cell;
};

// A row of zeros and nulls except what is set.
static void add(struct ranks *ranks, const struct table_desc *desc, const struct set *sets)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned c = 0; c < desc->column_count; c++)
        row[c] = cell_null();
    for (; sets->column; sets++)
        row[table_column(desc, str_of(sets->column))] = sets->cell;
    assert_true(report_add(&ranks->reports[ranks->count - 1], desc, row, &ranks->err));
}

#define ADD(ranks, desc, ...) add(ranks, desc, (const struct set[]){__VA_ARGS__, {0}})

// What a rank did in its one steady step of 100 us, on a clock that is ahead.
struct rank_like {
    int64_t number, compute_ns, ahead_ns, world;
    int64_t step;    // the number in its mark; 0: 7, without a mark
    int64_t says_it; // the rank given in its trace, plus 1; 0: none
    const char *gpu, *device, *host, *version;
};

#define STEP_NS 100000

static void add_parts(struct ranks *ranks, const struct table_desc *desc, const char *scope,
                      const struct rank_like *like)
{
    const struct set sets[] = {
        {scope ? "scope" : "step",
         scope ? cell_text(str_of(scope)) : cell_i64(like->step ? like->step : 7)},
        {scope ? "steps" : "steady", cell_i64(1)},
        {"window_ns", cell_i64(STEP_NS)},
        {"compute_ns", cell_i64(like->compute_ns)},
        {"gemm_ns", cell_i64(like->compute_ns)},
        {"exposed_comm_ns", cell_i64(STEP_NS - like->compute_ns)},
        {"total_comm_ns", cell_i64(STEP_NS - like->compute_ns)},
        {"busy_ns", cell_i64(STEP_NS)},
        {scope ? "scope" : "begin_ns", scope ? cell_text(str_of(scope)) : cell_i64(0)},
        {!scope && like->step ? "name" : NULL, cell_text(STR("ProfilerStep#"))},
        {0}};
    add(ranks, desc, sets);
}

static void add_rank(struct ranks *ranks, const struct rank_like *like)
{
    assert_true(ranks->count < MAX_RANKS);
    ranks->reports[ranks->count] = (struct report){.arena = &ranks->arena};
    ranks->numbers[ranks->count++] = like->number;
    const char *gpu = like->gpu ? like->gpu : "H100";
    ADD(ranks, &table_summary, {"steady_steps", cell_i64(1)}, {"step_count", cell_i64(1)},
        {"step_median_ns", cell_i64(STEP_NS)}, {"gpu", cell_text(str_of(gpu))},
        {"world_size", like->world ? cell_i64(like->world) : cell_null()},
        {"rank", like->says_it ? cell_i64(like->says_it - 1) : cell_null()},
        {"window_begin_ns", cell_i64(1700000000000000000 + like->ahead_ns)});
    add_parts(ranks, &table_breakdown, "trace", like);
    add_parts(ranks, &table_breakdown, "steady", like);
    add_parts(ranks, &table_steps, NULL, like);
    if (like->device)
        ADD(ranks, &table_breakdown, {"scope", cell_text(STR("device"))},
            {"device", cell_text(str_of(like->device))});
    // host_name is Kineto's name for it.
    struct str key = like->number % 2 ? STR("host_name") : STR("hostname");
    if (like->host)
        ADD(ranks, &table_environment, {"key", cell_text(key)},
            {"value", cell_text(str_of(like->host))});
    if (like->version)
        ADD(ranks, &table_environment, {"key", cell_text(STR("pytorch_version"))},
            {"value", cell_text(str_of(like->version))});
}

// An all_reduce of all ranks from the end of compute to the end of the step.
static void add_all_reduce(struct ranks *ranks, const struct rank_like *like, const char *members)
{
    int64_t dur_ns = STEP_NS - like->compute_ns;
    ADD(ranks, &table_comm_ops, {"process_group", cell_text(STR("0"))},
        {"group_ranks", cell_text(str_of(members))}, {"group_size", cell_i64(2)},
        {"kind", cell_text(STR("all_reduce"))}, {"bytes", cell_i64(1 << 20)});
    ADD(ranks, &table_comm_calls, {"op", cell_i64(0)},
        {"step", cell_i64(like->step ? like->step : 7)}, {"begin_ns", cell_i64(like->compute_ns)},
        {"dur_ns", cell_i64(dur_ns)}, {"exposed_ns", cell_i64(dur_ns)},
        {"compute_ns", cell_i64(like->compute_ns)}, {"kernels", cell_i64(5)},
        {"memory_ns", cell_i64(0)}, {"comm_ns", cell_i64(0)}, {"data_loading_ns", cell_i64(0)},
        {"host_ns", cell_i64(0)}, {"idle_ns", cell_i64(0)});
}

static const struct cell *cell_of(const struct ranks *ranks, const char *table, size_t row,
                                  const char *column)
{
    const struct table *found = report_find(&ranks->run, table);
    assert_non_null(found);
    assert_true(row < found->row_count);
    return named_cell(found, row, column);
}

static void expect_i64(const struct ranks *ranks, const char *table, size_t row, const char *column,
                       int64_t expected)
{
    const struct cell *cell = cell_of(ranks, table, row, column);
    if (cell->null || cell->i != expected)
        fail_msg("%s.%s of row %zu: found %lld, expected %lld", table, column, row,
                 cell->null ? -1LL : (long long)cell->i, (long long)expected);
}

static void expect_text(const struct ranks *ranks, const char *table, size_t row,
                        const char *column, const char *expected)
{
    const struct cell *cell = cell_of(ranks, table, row, column);
    assert_false(cell->null);
    assert_string_equal(cell->s.at, expected);
}

static double efficiency_of(const struct ranks *ranks, const char *metric)
{
    const struct table *table = report_find(&ranks->run, "efficiency");
    for (size_t i = 0; table && i < table->row_count; i++)
        if (str_equal(named_cell(table, i, "metric")->s, str_of(metric)))
            return named_cell(table, i, "value")->null ? NAN : named_cell(table, i, "value")->f;
    fail_msg("efficiency has no row %s", metric);
    return NAN;
}

static const struct table *trust_row(const struct ranks *ranks, const char *item, size_t *row)
{
    const struct table *trust = report_find(&ranks->run, "trust");
    for (*row = 0; trust && *row < trust->row_count; ++*row)
        if (str_equal(named_cell(trust, *row, "item")->s, str_of(item)))
            return trust;
    return NULL;
}

static void expect_trust(const struct ranks *ranks, const char *item, int64_t count,
                         const char *listed)
{
    size_t row;
    const struct table *trust = trust_row(ranks, item, &row);
    if (!trust)
        fail_msg("trust has no row %s", item);
    assert_int_equal(named_cell(trust, row, "count")->i, count);
    struct str detail = named_cell(trust, row, "detail")->s;
    const char *list = strrchr(detail.at, ':');
    assert_non_null(list);
    assert_string_equal(list + 2, listed);
}

// --- two ranks, one slower ----------------------------------------------------------------------

static void add_pair(struct ranks *ranks)
{
    static const struct rank_like slow = {.number = 0, .compute_ns = 80000, .device = "0"};
    static const struct rank_like fast = {
        .number = 1, .compute_ns = 40000, .ahead_ns = 5000000, .device = "1"};
    add_rank(ranks, &slow);
    add_all_reduce(ranks, &slow, "[0, 1]");
    add_rank(ranks, &fast);
    add_all_reduce(ranks, &fast, "[0, 1]");
}

static void exposed_communication_parts_into_wait_and_transfer(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    add_pair(&ranks);
    join(&ranks);
    static const char *const tables[] = {"ranks", "rank_steps"};
    for (size_t t = 0; t < 2; t++) {
        expect_i64(&ranks, tables[t], 0, "exposed_wait_ns", 0);
        expect_i64(&ranks, tables[t], 0, "exposed_transfer_ns", 20000);
        expect_i64(&ranks, tables[t], 0, "lateness_ns", 40000);
        expect_i64(&ranks, tables[t], 1, "exposed_wait_ns", 40000);
        expect_i64(&ranks, tables[t], 1, "exposed_transfer_ns", 20000);
        expect_i64(&ranks, tables[t], 1, "wait_ns", 40000);
        expect_i64(&ranks, tables[t], 1, "lateness_ns", 0);
    }
    expect_i64(&ranks, "rank_steps", 1, "rank", 1);
    expect_i64(&ranks, "rank_steps", 1, "step", 7);
    expect_i64(&ranks, "rank_steps", 1, "step_ns", STEP_NS);
    expect_i64(&ranks, "ranks", 0, "clock_offset_ns", 0);
    expect_i64(&ranks, "ranks", 1, "clock_offset_ns", -5000000);
    end(&ranks);
}

static void ranks_with_the_number_of_their_place_are_named(void **state)
{
    (void)state;
    static const bool by_order[] = {false, true};
    size_t row;
    struct ranks ranks;
    begin(&ranks);
    add_pair(&ranks);
    join(&ranks);
    assert_null(trust_row(&ranks, "rank_by_order", &row));
    ranks.source.by_order = by_order;
    join(&ranks);
    expect_trust(&ranks, "rank_by_order", 1, "1");
    end(&ranks);
}

// Steps end at 100 and 200 us. An all_reduce launched in the second starts at 90 us on rank 0 and
// at 70 us on rank 1, where 70 to 80 and 95 to 120 are exposed. Both end at 120, so rank 1 waits
// until 90: 10 us of that are exposed; of its transfer 5 us are in the first step and 20 us in the
// second.
static void parts_lie_in_the_steps_in_which_they_run(void **state)
{
    (void)state;
    static const struct {
        int64_t begin_ns;
        const char *exposed_at;
        int64_t exposed_ns, parts_ns[2][2];
    } calls[] = {{90000, NULL, 30000, {{0, 10000}, {0, 20000}}},
                 {70000, "0+10000 25000+25000", 35000, {{10000, 5000}, {0, 20000}}}};
    struct ranks ranks;
    begin(&ranks);
    for (int64_t r = 0; r < 2; r++) {
        const char *at = calls[r].exposed_at;
        add_rank(&ranks, &(struct rank_like){.number = r, .compute_ns = 80000});
        ADD(&ranks, &table_steps, {"step", cell_i64(8)}, {"steady", cell_i64(1)},
            {"begin_ns", cell_i64(STEP_NS)}, {"window_ns", cell_i64(STEP_NS)});
        ADD(&ranks, &table_comm_ops, {"process_group", cell_text(STR("0"))},
            {"group_ranks", cell_text(STR("[0, 1]"))}, {"group_size", cell_i64(2)},
            {"kind", cell_text(STR("all_reduce"))}, {"bytes", cell_i64(1 << 20)});
        ADD(&ranks, &table_comm_calls, {"op", cell_i64(0)}, {"step", cell_i64(8)},
            {"begin_ns", cell_i64(calls[r].begin_ns)},
            {"dur_ns", cell_i64(120000 - calls[r].begin_ns)},
            {"exposed_ns", cell_i64(calls[r].exposed_ns)},
            {"exposed_at", at ? cell_text(str_of(at)) : cell_null()});
    }
    join(&ranks);
    for (size_t row = 0; row < 4; row++) {
        const int64_t *parts_ns = calls[row / 2].parts_ns[row % 2];
        expect_i64(&ranks, "rank_steps", row, "exposed_wait_ns", parts_ns[0]);
        expect_i64(&ranks, "rank_steps", row, "exposed_transfer_ns", parts_ns[1]);
        expect_i64(&ranks, "rank_steps", row, "wait_ns", row == 2 ? 20000 : 0);
    }
    expect_i64(&ranks, "comm_waits", 0, "exposed_wait_ns", 10000);
    end(&ranks);
}

static void a_group_lies_where_its_ranks_do(void **state)
{
    (void)state;
    static const char *const second[] = {"a", "b"};
    static const char *const spans[] = {"intra-node", "inter-node"};
    for (size_t i = 0; i < 2; i++) {
        struct ranks ranks;
        begin(&ranks);
        const struct rank_like likes[] = {
            {.number = 0, .compute_ns = 80000, .host = "a"},
            {.number = 1, .compute_ns = 40000, .host = second[i]},
        };
        for (size_t r = 0; r < 2; r++) {
            add_rank(&ranks, &likes[r]);
            add_all_reduce(&ranks, &likes[r], "[0, 1]");
        }
        join(&ranks);
        expect_text(&ranks, "comm_waits", 0, "span", spans[i]);
        end(&ranks);
    }
}

static void calls_that_nothing_matches_count_as_transfer(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    add_pair(&ranks);
    for (int64_t i = 0; i < 3; i++) // more than are matched
        ADD(&ranks, &table_comm_calls, {"op", cell_i64(1)}, {"step", cell_i64(7)},
            {"begin_ns", cell_i64(100 + i)}, {"dur_ns", cell_i64(10)}, {"exposed_ns", cell_i64(2)},
            {"compute_ns", cell_i64(100 + i)}, {"kernels", cell_i64(0)}, {"memory_ns", cell_i64(0)},
            {"comm_ns", cell_i64(0)}, {"data_loading_ns", cell_i64(0)}, {"host_ns", cell_i64(0)},
            {"idle_ns", cell_i64(0)});
    ADD(&ranks, &table_comm_ops, {"process_group", cell_text(STR("1"))},
        {"group_ranks", cell_text(STR("[1, 2]"))}, {"group_size", cell_i64(2)},
        {"kind", cell_text(STR("all_reduce"))}, {"bytes", cell_i64(8)});
    join(&ranks);
    expect_i64(&ranks, "ranks", 1, "exposed_wait_ns", 40000);
    expect_i64(&ranks, "ranks", 1, "exposed_transfer_ns", 20006);
    end(&ranks);
}

static void efficiency_is_a_product_of_its_causes(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    add_pair(&ranks);
    join(&ranks);
    assert_true(fabs(efficiency_of(&ranks, "load_balance") - 0.75) < 1e-12);
    assert_true(fabs(efficiency_of(&ranks, "communication_efficiency") - 0.8) < 1e-12);
    assert_true(fabs(efficiency_of(&ranks, "transfer_efficiency") - 0.8) < 1e-12);
    assert_true(fabs(efficiency_of(&ranks, "serialization_efficiency") - 1) < 1e-12);
    assert_true(fabs(efficiency_of(&ranks, "parallel_efficiency") - 0.6) < 1e-12);
    assert_true(fabs(efficiency_of(&ranks, "offload_efficiency") - 1) < 1e-12);
    end(&ranks);
}

// Both ranks gain 40 us by a transfer before the step. In it they lose them, as their hosts launch
// the next call when they did, and gain 20.
static void steps_are_no_longer_without_transfers(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    for (int64_t r = 0; r < 2; r++) {
        add_rank(&ranks, &(struct rank_like){.number = r, .compute_ns = 80000});
        ADD(&ranks, &table_comm_ops, {"process_group", cell_text(STR("0"))},
            {"group_ranks", cell_text(STR("[0, 1]"))}, {"group_size", cell_i64(2)},
            {"kind", cell_text(STR("all_reduce"))}, {"bytes", cell_i64(1 << 20)});
        for (int64_t i = 0; i < 2; i++)
            ADD(&ranks, &table_comm_calls, {"op", cell_i64(0)}, {"step", cell_i64(i ? 7 : 6)},
                {"begin_ns", cell_i64(i ? 80000 : -60000)}, {"dur_ns", cell_i64(i ? 20000 : 40000)},
                {"exposed_ns", cell_i64(i ? 20000 : 40000)},
                {"launch_ns", cell_i64(i ? 79000 : -61000)}, {"blocked_ns", cell_i64(0)},
                {"compute_ns", cell_i64(0)}, {"kernels", cell_i64(5)}, {"memory_ns", cell_i64(0)},
                {"comm_ns", cell_i64(i ? 40000 : 0)}, {"data_loading_ns", cell_i64(0)},
                {"host_ns", cell_i64(i ? 50000 : 0)}, {"idle_ns", cell_i64(0)});
    }
    join(&ranks);
    assert_true(efficiency_of(&ranks, "transfer_efficiency") == 1);
    end(&ranks);
}

static void waits_that_nobody_can_know_are_left_empty(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    static const struct rank_like likes[] = {{.number = 0, .compute_ns = 80000},
                                             {.number = 1, .compute_ns = 40000}};
    add_rank(&ranks, &likes[0]); // communication ran, but no call of it is known
    add_rank(&ranks, &likes[1]);
    join(&ranks);
    for (size_t row = 0; row < 2; row++) {
        assert_true(cell_of(&ranks, "ranks", row, "exposed_wait_ns")->null);
        assert_true(cell_of(&ranks, "rank_steps", row, "wait_ns")->null);
        assert_true(cell_of(&ranks, "ranks", row, "clock_offset_ns")->null);
    }
    assert_true(isnan(efficiency_of(&ranks, "transfer_efficiency")));
    assert_true(fabs(efficiency_of(&ranks, "parallel_efficiency") - 0.6) < 1e-12);
    end(&ranks);
}

// --- several jobs -------------------------------------------------------------------------------

// Ranks 0 to 3 of one job, 4 to 6 of another: on other devices, of another size, two hours later.
// Within each job the others wait for rank 0, or 4.
static void across_jobs_nothing_is_judged_and_it_is_said_first(void **state)
{
    (void)state;
    static const struct {
        const char *gpu, *signs;
        int64_t world, later_ns;
    } cases[] = {
        {"A100", "by device", 0, 0},
        {"H10", "by device", 0, 0}, // not a short name of H100
        {NULL, "by number of ranks", 16, 0},
        {NULL, "by time", 0, INT64_C(7200000000000)},
        {"MI300X", "by device, number of ranks, time", 16, INT64_C(7200000000000)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ranks ranks;
        begin(&ranks);
        for (int64_t r = 0; r < 7; r++) {
            bool other = r >= 4;
            struct rank_like like = {.number = r,
                                     .compute_ns = r % 4 == 0 ? 80000 : 40000,
                                     .world = other && cases[i].world ? cases[i].world : 8,
                                     .gpu = other ? cases[i].gpu : NULL,
                                     .ahead_ns = other ? cases[i].later_ns : 0};
            add_rank(&ranks, &like);
            add_all_reduce(&ranks, &like, "[0, 1, 2, 3, 4, 5, 6, 7]");
        }
        join(&ranks);
        expect_text(&ranks, "trust", 0, "item", "several_jobs");
        expect_text(&ranks, "trust", 0, "severity", "error");
        expect_trust(&ranks, "several_jobs", 3, "4-6");
        assert_non_null(strstr(cell_of(&ranks, "trust", 0, "detail")->s.at, cases[i].signs));
        expect_text(&ranks, "findings", 0, "rule", "several_jobs");
        assert_null(report_find(&ranks.run, "efficiency"));
        expect_i64(&ranks, "clocks", 3, "component", 0);
        expect_i64(&ranks, "clocks", 4, "component", 1);
        for (size_t r = 0; r < 7; r++) // each waits for the late rank of its own job
            expect_i64(&ranks, "ranks", r, "exposed_wait_ns", r % 4 == 0 ? 0 : 40000);
        assert_true(cell_of(&ranks, "summary", 0, "headline_rank")->i < 4);
        end(&ranks);
    }
}

// Four ranks, the last two of which are recorded later, at other steps, or claim something else.
struct apart {
    int64_t later_ns, step[2], says_it[2][2];
    const char *job, *recording; // ranks of another job, ranks recorded apart
    const char *host;            // of all
    bool doubtful;               // clocks differ by more than the ranks recorded
};

static void check_apart(const struct apart *its)
{
    struct ranks ranks;
    begin(&ranks);
    for (int64_t r = 0; r < 4; r++) {
        bool other = r >= 2;
        struct rank_like like = {.number = r,
                                 .compute_ns = r % 2 ? 40000 : 80000,
                                 .ahead_ns = other ? its->later_ns : 0,
                                 .world = 4,
                                 .step = its->step[other],
                                 .says_it = its->says_it[other][r % 2],
                                 .host = its->host};
        add_rank(&ranks, &like);
        add_all_reduce(&ranks, &like, "[0, 1, 2, 3]");
    }
    join(&ranks);
    size_t row;
    assert_true((its->job != NULL) == (trust_row(&ranks, "several_jobs", &row) != NULL));
    assert_true((its->recording != NULL) == (trust_row(&ranks, "recorded_apart", &row) != NULL));
    assert_true(its->doubtful == (trust_row(&ranks, "windows_apart", &row) != NULL));
    if (its->job)
        expect_trust(&ranks, "several_jobs", 2, its->job);
    if (its->recording)
        expect_trust(&ranks, "recorded_apart", 2, its->recording);
    bool together = !its->job && !its->recording;
    expect_i64(&ranks, "clocks", 1, "component", 0);
    expect_i64(&ranks, "clocks", 2, "component", !together);
    assert_true((report_find(&ranks.run, "efficiency") != NULL) == !its->job);
    end(&ranks);
}

// In turn: all claim to be rank 0; each profiler counts its own steps; steps 1,000 to 10 in the
// same minute; 7,200 s after step 10 of 100 us comes step 72,000,010, or step 1,000; all claim to
// be rank 0, at once and ten seconds later; two of each rank at a time; both ranks again, ten
// seconds later; other ranks ten seconds later, by clocks that may differ, and by one clock.
static void ranks_recorded_apart_are_no_other_job(void **state)
{
    (void)state;
    const int64_t s = 1000000000;
    const struct apart cases[] = {
        {0, {7, 7}, {{1, 1}, {1, 1}}, NULL, NULL, NULL, false},
        {50000, {10, 400}, {{1, 2}, {3, 4}}, NULL, NULL, NULL, false},
        {s, {1000, 10}, {{1, 2}, {3, 4}}, NULL, "2-3", NULL, false},
        {7200 * s, {10, 72000010}, {{1, 2}, {3, 4}}, NULL, "2-3", NULL, false},
        {7200 * s, {10, 1000}, {{1, 2}, {3, 4}}, "2-3", NULL, NULL, false},
        {10 * s, {0, 0}, {{1, 1}, {1, 1}}, NULL, "2-3", NULL, false},
        {0, {7, 7}, {{1, 2}, {1, 2}}, NULL, "2-3", NULL, false},
        {10 * s, {7, 7}, {{1, 2}, {1, 2}}, NULL, "2-3", NULL, false},
        {10 * s, {7, 7}, {{1, 2}, {3, 4}}, NULL, NULL, NULL, true},
        {10 * s, {7, 7}, {{1, 2}, {3, 4}}, NULL, "2-3", "node1", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_apart(&cases[i]);
}

// --- who is there -------------------------------------------------------------------------------

static void ranks_that_are_missing_or_do_not_fit_are_named(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    static const struct rank_like likes[] = {
        {.number = 1, .compute_ns = 1, .world = 8, .version = "2.6"},
        {.number = 2, .compute_ns = 1, .world = 8, .version = "2.6", .gpu = "A100"},
        {.number = 3, .compute_ns = 1, .world = 8, .version = "2.6", .gpu = "A100"},
        {.number = 5, .compute_ns = 1, .world = 4, .version = "2.5", .gpu = "A100"},
        {.number = 6, .compute_ns = 1, .world = 8, .version = "2.6"},
    };
    for (size_t i = 0; i < sizeof likes / sizeof *likes; i++)
        add_rank(&ranks, &likes[i]);
    join(&ranks);
    expect_i64(&ranks, "summary", 0, "world_size", 8);
    expect_trust(&ranks, "missing_ranks", 3, "0, 4, 7");
    expect_trust(&ranks, "world_sizes_differ", 1, "5");
    expect_trust(&ranks, "software_differs", 1, "5");
    int64_t headline = cell_of(&ranks, "summary", 0, "headline_rank")->i;
    bool a100 = headline == 2 || headline == 3 || headline == 5;
    expect_trust(&ranks, "devices_differ", a100 ? 2 : 3, a100 ? "1, 6" : "2-3, 5");
    size_t row;
    assert_null(trust_row(&ranks, "steps_differ", &row));
    end(&ranks);
}

static void nodes_follow_from_the_numbers_of_devices(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    static const char *const devices[] = {"0", "1", "2", "3"};
    for (int64_t i = 0; i < 8; i++)
        if (i != 6)
            add_rank(&ranks,
                     &(struct rank_like){.number = i, .compute_ns = 1, .device = devices[i % 4]});
    join(&ranks);
    expect_text(&ranks, "ranks", 3, "node", "0");
    expect_i64(&ranks, "ranks", 3, "local_rank", 3);
    expect_text(&ranks, "ranks", 4, "node", "1");
    expect_text(&ranks, "ranks", 6, "node", "1");
    expect_i64(&ranks, "ranks", 6, "local_rank", 3);
    end(&ranks);
}

static void ranks_that_see_one_device_each_have_no_known_place(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    for (int64_t i = 0; i < 4; i++)
        add_rank(&ranks, &(struct rank_like){.number = i, .compute_ns = 1, .device = "0"});
    join(&ranks);
    assert_true(cell_of(&ranks, "ranks", 1, "node")->null);
    assert_true(cell_of(&ranks, "ranks", 1, "local_rank")->null);
    end(&ranks);
}

static void a_host_that_is_recorded_is_the_node(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    add_rank(&ranks, &(struct rank_like){.number = 0, .compute_ns = 1, .host = "a"});
    add_rank(&ranks, &(struct rank_like){.number = 1, .compute_ns = 1, .host = "b"});
    join(&ranks);
    expect_text(&ranks, "ranks", 0, "node", "a");
    expect_text(&ranks, "ranks", 1, "node", "b");
    end(&ranks);
}

// --- the source ---------------------------------------------------------------------------------

static void add_many(struct ranks *ranks)
{
    for (int64_t i = 0; i < MAX_RANKS; i++) {
        struct rank_like like = {.number = 2 * i, .compute_ns = 10000 + 7 * (i * 31 % 48)};
        add_rank(ranks, &like);
        add_all_reduce(ranks, &like, "[0, 2]");
    }
}

static void helpers_change_no_figure(void **state)
{
    (void)state;
    struct ranks ranks;
    struct cores cores;
    struct buf alone = {0}, helped = {0};
    begin(&ranks);
    add_many(&ranks);
    join(&ranks);
    report_json(&ranks.run, &alone);
    cores_init(&cores, 4);
    cores_hold(&cores);
    ranks.source.cores = &cores;
    join(&ranks);
    report_json(&ranks.run, &helped);
    assert_int_equal(alone.len, helped.len);
    assert_memory_equal(alone.at, helped.at, alone.len);
    buf_free(&alone);
    buf_free(&helped);
    end(&ranks);
}

static void each_rank_is_loaded_a_few_times_however_many_there_are(void **state)
{
    (void)state;
    struct ranks ranks;
    begin(&ranks);
    add_many(&ranks);
    join(&ranks);
    assert_true(ranks.loads <= 2 * MAX_RANKS + 2);
    end(&ranks);
}

static void a_rank_that_cannot_be_loaded_is_named(void **state)
{
    (void)state;
    struct ranks ranks;
    struct budget budget = {0};
    struct arena arena;
    begin(&ranks);
    add_many(&ranks);
    arena_init(&arena, &budget);
    ranks.fails = 20;
    ranks.source.ranks = ranks.numbers;
    ranks.source.count = ranks.count;
    ranks.run = (struct report){.arena = &arena};
    assert_false(analyze_run(&ranks.source, &ranks.run, &ranks.err));
    assert_int_equal(ranks.err.code, ERR_IO);
    assert_non_null(strstr(ranks.err.msg, "rank 40"));
    arena_free(&arena);
    assert_int_equal(budget.used, 0);
    end(&ranks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exposed_communication_parts_into_wait_and_transfer),
        cmocka_unit_test(ranks_with_the_number_of_their_place_are_named),
        cmocka_unit_test(parts_lie_in_the_steps_in_which_they_run),
        cmocka_unit_test(a_group_lies_where_its_ranks_do),
        cmocka_unit_test(calls_that_nothing_matches_count_as_transfer),
        cmocka_unit_test(efficiency_is_a_product_of_its_causes),
        cmocka_unit_test(steps_are_no_longer_without_transfers),
        cmocka_unit_test(waits_that_nobody_can_know_are_left_empty),
        cmocka_unit_test(across_jobs_nothing_is_judged_and_it_is_said_first),
        cmocka_unit_test(ranks_recorded_apart_are_no_other_job),
        cmocka_unit_test(ranks_that_are_missing_or_do_not_fit_are_named),
        cmocka_unit_test(nodes_follow_from_the_numbers_of_devices),
        cmocka_unit_test(ranks_that_see_one_device_each_have_no_known_place),
        cmocka_unit_test(a_host_that_is_recorded_is_the_node),
        cmocka_unit_test(helpers_change_no_figure),
        cmocka_unit_test(each_rank_is_loaded_a_few_times_however_many_there_are),
        cmocka_unit_test(a_rank_that_cannot_be_loaded_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
