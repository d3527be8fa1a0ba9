// SPDX-License-Identifier: Apache-2.0
// What tests of links say about a collective of a trace.
#include "analysis/comm/link_reference.h"
#include "ingest/links/link_settle.h"
#include "ingest/source/source.h"
#include "tests/unit/near.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

struct tests {
    struct budget budget;
    struct evidence evidence;
    struct link_reference reference;
    struct arena arena;
};

static void open_tests(struct tests *tests)
{
    *tests = (struct tests){0};
    evidence_init(&tests->evidence, &tests->budget);
    arena_init(&tests->arena, NULL);
}

static void close_tests(struct tests *tests)
{
    evidence_free(&tests->evidence);
    arena_free(&tests->arena);
}

static struct link_run *add_run(struct tests *tests, const char *collective, int64_t ranks,
                                int64_t nodes)
{
    struct err err;
    struct link_run run = link_empty_run("nccl-tests", 0), *runs;
    run.collective = str_of(collective);
    run.ranks = ranks;
    run.nodes = nodes;
    if (!link_tests_add(&tests->evidence, LINK_RUNS, &run, &err))
        fail_msg("%s", err.msg);
    runs = tests->evidence.links.parts[LINK_RUNS].items;
    return &runs[tests->evidence.links.parts[LINK_RUNS].count - 1];
}

static struct link_row *add_row(struct tests *tests, int64_t bytes, double time_us, double factor)
{
    struct err err;
    struct link_row row = link_empty_row((uint32_t)tests->evidence.links.parts[LINK_RUNS].count - 1,
                                         0),
                    *rows;
    row.bytes = bytes;
    row.time_ns = time_us * 1e3;
    row.algorithm_bps = (double)bytes / time_us * 1e6;
    row.bus_bps = row.algorithm_bps * factor;
    if (!link_tests_add(&tests->evidence, LINK_ROWS, &row, &err))
        fail_msg("%s", err.msg);
    rows = tests->evidence.links.parts[LINK_ROWS].items;
    return &rows[tests->evidence.links.parts[LINK_ROWS].count - 1];
}

static const struct link_curve *make(struct tests *tests, size_t curves)
{
    struct err err;
    if (!link_reference_make(&tests->evidence.links, &tests->arena, &tests->reference, &err))
        fail_msg("%s", err.msg);
    assert_int_equal(tests->reference.count, curves);
    return tests->reference.curves;
}

static struct link_expected find(const struct tests *tests, enum collective_kind kind,
                                 int64_t bytes, int64_t ranks)
{
    return link_reference_find(&tests->reference,
                               &(struct link_query){.kind = kind, .bytes = bytes, .ranks = ranks});
}

// 10 us and 100 GB/s of algorithm bandwidth.
static double time_us(int64_t bytes)
{
    return 10 + (double)bytes / 100e9 * 1e6;
}

static void add_curve(struct tests *tests, int64_t from, int64_t to, double factor)
{
    for (int64_t bytes = from; bytes <= to; bytes *= 2)
        (void)add_row(tests, bytes, time_us(bytes), factor);
}

static void a_size_measured_has_its_own_figures(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    add_curve(&tests, 1 << 20, 1 << 30, 1.75);
    (void)make(&tests, 1);
    struct link_expected found = find(&tests, KIND_ALL_REDUCE, 1 << 24, 8);
    assert_int_equal(found.answer, LINK_FOUND);
    assert_near(found.time_ns, time_us(1 << 24) * 1e3, 1e-3);
    assert_near(found.bus_bps, (1 << 24) / time_us(1 << 24) * 1.75e6, 1e3);
    close_tests(&tests);
}

static void between_sizes_it_is_a_power_law(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "AllGather", 4, 0);
    (void)add_row(&tests, 1 << 20, 100, 0.75);
    (void)add_row(&tests, 1 << 24, 400, 0.75);
    (void)make(&tests, 1);
    struct link_expected found = find(&tests, KIND_ALL_GATHER, 1 << 22, 4);
    assert_near(found.time_ns, 200e3, 1e-3);
    assert_near(found.bus_bps, (1 << 22) / 200.0 * 0.75e6, 1e3);
    close_tests(&tests);
}

static void nothing_is_said_beyond_what_was_measured(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    add_curve(&tests, 1 << 20, 1 << 22, 1.75);
    (void)make(&tests, 1);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 950000, 8).answer, LINK_TOO_SMALL);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 4620000, 8).answer, LINK_TOO_LARGE);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 1 << 21, 16).answer, LINK_NO_RANKS);
    assert_int_equal(find(&tests, KIND_BROADCAST, 1 << 21, 8).answer, LINK_NO_COLLECTIVE);
    assert_true(isnan(find(&tests, KIND_ALL_REDUCE, 1, 8).bus_bps));
    assert_true(isnan(find(&tests, KIND_ALL_REDUCE, 1, 8).time_ns));
    assert_non_null(find(&tests, KIND_ALL_REDUCE, 1, 8).curve);
    assert_null(find(&tests, KIND_ALL_REDUCE, 1, 16).curve);
    close_tests(&tests);
}

static void a_size_near_the_ends_has_their_bandwidth(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    (void)add_row(&tests, 1000000, 10, 1.75);
    (void)make(&tests, 1);
    assert_near(find(&tests, KIND_ALL_REDUCE, 910000, 8).bus_bps, 175e9, 1e3);
    assert_near(find(&tests, KIND_ALL_REDUCE, 1100000, 8).bus_bps, 175e9, 1e3);
    assert_near(find(&tests, KIND_ALL_REDUCE, 1100000, 8).time_ns, 11e3, 1e-3);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 909000, 8).answer, LINK_TOO_SMALL);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 1100001, 8).answer, LINK_TOO_LARGE);
    close_tests(&tests);
}

static void numbers_of_nodes_are_apart(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    (void)add_row(&tests, 1 << 20, 10, 1.75);
    (void)add_run(&tests, "all_reduce", 8, 2);
    (void)add_row(&tests, 1 << 20, 50, 1.75);
    (void)make(&tests, 2);
    struct link_query query = {KIND_ALL_REDUCE, 1 << 20, 8, 0};
    assert_int_equal(link_reference_find(&tests.reference, &query).answer, LINK_SEVERAL_NODES);
    query.nodes = 2;
    assert_near(link_reference_find(&tests.reference, &query).time_ns, 50e3, 1e-3);
    query.nodes = 1;
    assert_near(link_reference_find(&tests.reference, &query).time_ns, 10e3, 1e-3);
    query.nodes = 4;
    assert_int_equal(link_reference_find(&tests.reference, &query).answer, LINK_NO_RANKS);
    close_tests(&tests);
}

static void a_test_that_says_its_nodes_is_preferred(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 2);
    (void)add_row(&tests, 1 << 20, 50, 1.75);
    (void)add_run(&tests, "all_reduce", 8, 0);
    (void)add_row(&tests, 1 << 20, 20, 1.75);
    (void)make(&tests, 2);
    struct link_query query = {KIND_ALL_REDUCE, 1 << 20, 8, 2};
    assert_near(link_reference_find(&tests.reference, &query).time_ns, 50e3, 1e-3);
    query.nodes = 1;
    assert_near(link_reference_find(&tests.reference, &query).time_ns, 20e3, 1e-3);
    close_tests(&tests);
}

static void the_best_of_both_modes_and_all_runs_counts(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 2, 1);
    (void)add_row(&tests, 1 << 20, 30, 1);
    add_row(&tests, 1 << 20, 20, 1)->in_place = true;
    add_run(&tests, "all_reduce", 2, 1)->guessed = true;
    (void)add_row(&tests, 1 << 20, 25, 1);
    const struct link_curve *curve = make(&tests, 1);
    assert_int_equal(curve->count, 1);
    assert_true(curve->guessed);
    assert_near(curve->points[0].time_ns, 20e3, 1e-3);
    assert_near(curve->peak_bps, (1 << 20) / 20.0 * 1e6, 1);
    close_tests(&tests);
}

static void peak_knee_and_floor_describe_the_curve(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    add_curve(&tests, 8, INT64_C(1) << 32, 1.75);
    const struct link_curve *curve = make(&tests, 1);
    assert_true(curve->peak_bytes == INT64_C(1) << 32);
    assert_near(curve->peak_bps, 175e9, 0.1e9);
    assert_false(curve->rising);
    // S / (10 us x 100 GB/s + S) = 0.8 at 4 MB
    assert_int_equal(curve->enough_bytes, 1 << 22);
    assert_near(curve->floor_ns, 10e3, 1);
    close_tests(&tests);
}

static void large_messages_alone_show_no_floor(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    add_curve(&tests, 1 << 21, 1 << 23, 1.75);
    const struct link_curve *curve = make(&tests, 1);
    assert_true(isnan(curve->floor_ns));
    assert_true(curve->rising);
    close_tests(&tests);
}

static void times_give_bandwidths_that_print_as_zero(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 8, 1);
    struct link_row *row = add_row(&tests, 8, 10, 1.75);
    row->algorithm_bps = row->bus_bps = 0;
    // the host's time, with -C
    struct link_row *host = add_row(&tests, 1 << 20, 1, 1.75);
    host->algorithm_bps = 20e9;
    host->bus_bps = 35e9;
    const struct link_curve *curve = make(&tests, 1);
    assert_near(curve->points[0].bus_bps, 8 / 10e-6 * 1.75, 1);
    assert_near(curve->points[1].bus_bps, 35e9, 1);
    assert_true(isnan(curve->points[1].time_ns));
    close_tests(&tests);
}

static void what_says_nothing_of_links_is_left_out(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)add_run(&tests, "all_reduce", 1, 1);
    (void)add_row(&tests, 8, 10, 1);
    (void)add_run(&tests, "all_reduce", 0, 0);
    (void)add_row(&tests, 8, 10, 1);
    (void)add_run(&tests, "", 8, 1);
    (void)add_row(&tests, 8, 10, 1);
    add_run(&tests, "Send BW", 2, 0)->tool = STR("perftest");
    (void)add_row(&tests, 8, 10, 1);
    (void)add_run(&tests, "all_reduce", 2, 1);
    add_row(&tests, 8, 10, 1)->wrong = 3;
    add_row(&tests, 8, 10, 1)->bytes = 0;
    struct link_row *none = add_row(&tests, 8, 10, 1);
    none->bus_bps = none->time_ns = NAN;
    (void)make(&tests, 0);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 8, 2).answer, LINK_NO_COLLECTIVE);
    close_tests(&tests);
}

static void without_tests_nothing_is_known(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    (void)make(&tests, 0);
    assert_int_equal(find(&tests, KIND_ALL_REDUCE, 8, 2).answer, LINK_NO_COLLECTIVE);
    close_tests(&tests);
}

// --- real files ---------------------------------------------------------------------------------

static void read_sample(struct tests *tests, const char *name)
{
    char path[256];
    struct err err;
    const struct format *format = format_named(STR("nccl-tests"));
    struct format_input input = {.budget = &tests->budget, .evidence = &tests->evidence};
    snprintf(path, sizeof path, "../shared/samples/nccl/%s", name);
    input.source = source_file_open(path, &err);
    if (!input.source) {
        print_message("no real tests of links: %s is absent\n", path);
        skip();
    }
    if (!format->gather(&input, &err))
        fail_msg("%s: %s", path, err.msg);
    source_close(input.source);
}

// Of 8 H100: the file names neither the ranks nor the collective.
static void an_excerpt_of_a_real_test_is_a_reference(void **state)
{
    (void)state;
    struct tests tests;
    open_tests(&tests);
    read_sample(&tests, "aws_efa_allreduce.txt");
    const struct link_curve *curve = make(&tests, 1);
    assert_int_equal(curve->kind, KIND_ALL_REDUCE);
    assert_int_equal(curve->ranks, 8);
    assert_int_equal(curve->count, 32);
    assert_near(curve->peak_bps, 483.35e9, 1);
    assert_int_equal(curve->enough_bytes, 1 << 27);
    assert_near(curve->floor_ns, 12830, 1e-3);
    close_tests(&tests);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_measured_has_its_own_figures),
        cmocka_unit_test(between_sizes_it_is_a_power_law),
        cmocka_unit_test(nothing_is_said_beyond_what_was_measured),
        cmocka_unit_test(a_size_near_the_ends_has_their_bandwidth),
        cmocka_unit_test(numbers_of_nodes_are_apart),
        cmocka_unit_test(a_test_that_says_its_nodes_is_preferred),
        cmocka_unit_test(the_best_of_both_modes_and_all_runs_counts),
        cmocka_unit_test(peak_knee_and_floor_describe_the_curve),
        cmocka_unit_test(large_messages_alone_show_no_floor),
        cmocka_unit_test(times_give_bandwidths_that_print_as_zero),
        cmocka_unit_test(what_says_nothing_of_links_is_left_out),
        cmocka_unit_test(without_tests_nothing_is_known),
        cmocka_unit_test(an_excerpt_of_a_real_test_is_a_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
