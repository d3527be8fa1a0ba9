// SPDX-License-Identifier: Apache-2.0
// What each named range consists of, and tables of one range.
#include "analysis/report/tables.h"
#include "analysis/trace/range_rows.h"
#include "analysis/trace/range_view.h"
#include "tests/unit/hand_trace.h"

#include <stdio.h>

static void add_range(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand,
             (struct hand_event){
                 .kind = EVENT_ANNOTATION, .name = name, .begin_ns = begin_ns, .dur_ns = dur_ns});
}

static void add_work(struct hand *hand, const char *kernel, int64_t launch_ns, int64_t begin_ns,
                     int64_t dur_ns)
{
    static int64_t correlation;
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = launch_ns,
                                       .dur_ns = 1,
                                       .correlation = ++correlation});
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = kernel,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

// Two steps: in each a forward with a product and a small kernel, idle time between them, and a
// backward with a product inside a nested "forward", as checkpointing does.
static void begin_job(struct hand *hand)
{
    hand_begin(hand);
    for (int64_t i = 0; i < 2; i++) {
        int64_t at = 100000 * i;
        add_range(hand, i ? "step 1" : "step 0", at, 90000);
        add_range(hand, "forward", at + 10, 200);
        add_work(hand, "gemm", at + 20, at + 1000, 100 + i);
        add_work(hand, "relu", at + 30, at + 5000, 50);
        add_range(hand, "backward", at + 400, 400);
        add_range(hand, "forward", at + 410, 100);
        add_work(hand, "gemm", at + 420, at + 9000, 300);
        add_work(hand, "relu", at + 700, at + 9300, 10);
    }
    hand_analyze(hand);
}

static const struct table *parts(struct hand *hand)
{
    const struct table *table = report_find(&hand->report, "range_parts");
    assert_non_null(table);
    return table;
}

// The rows of a range.
static void pick(struct hand *hand, const char *range, struct report *picked)
{
    const struct table *all = parts(hand);
    *picked = (struct report){.arena = &hand->arena};
    for (size_t i = 0; i < all->row_count; i++)
        if (table_is(all, i, RANGE_PARTS_RANGE, str_of(range)))
            assert_true(report_add(picked, &table_range_parts,
                                   all->cells + i * table_range_parts.column_count, &hand->err));
}

static const struct table *view(struct hand *hand, const char *range, const struct table_desc *desc,
                                struct report *shown)
{
    struct report picked;
    pick(hand, range, &picked);
    *shown = (struct report){.arena = &hand->arena};
    assert_true(range_view_has(desc));
    assert_true(range_view_add(report_find(&picked, "range_parts"), desc, shown, &hand->err));
    return report_find(shown, desc->name);
}

static int64_t owned_of(struct hand *hand, const char *range)
{
    const struct table *all = parts(hand);
    int64_t sum = 0;
    for (size_t i = 0; i < all->row_count; i++)
        if (table_is(all, i, RANGE_PARTS_RANGE, str_of(range)) &&
            !table_cell(all, i, RANGE_PARTS_CLASS)->null)
            sum += table_i64(all, i, RANGE_PARTS_OWNED_NS, 0);
    return sum;
}

static void the_parts_of_a_range_sum_to_its_device_time(void **state)
{
    (void)state;
    struct hand hand;
    begin_job(&hand);
    const struct table *ranges = report_find(&hand.report, "ranges");
    int64_t forward_ns = 0;
    for (size_t i = 0; i < ranges->row_count; i++) {
        if (table_is(ranges, i, RANGES_NAME, STR("forward")))
            forward_ns += table_i64(ranges, i, RANGES_TOTAL_OWNED_NS, 0);
        if (table_is(ranges, i, RANGES_NAME, STR("step *")))
            assert_int_equal(owned_of(&hand, "step *"),
                             table_i64(ranges, i, RANGES_TOTAL_OWNED_NS, 0));
    }
    assert_int_equal(forward_ns, 201 + 100 + 600);
    assert_int_equal(owned_of(&hand, "forward"), forward_ns);
    assert_int_equal(owned_of(&hand, "backward"), 620);
    hand_end(&hand);
}

static void kernels_of_a_range_are_those_launched_in_it(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_job(&hand);
    const struct table *kernels = view(&hand, "forward", &table_kernels, &shown);
    assert_int_equal(kernels->row_count, 2);
    assert_true(table_is(kernels, 0, KERNELS_NAME, STR("gemm")));
    assert_int_equal(table_i64(kernels, 0, KERNELS_CALLS, -1), 4);
    assert_int_equal(table_i64(kernels, 0, KERNELS_TOTAL_NS, -1), 801);
    assert_int_equal(table_i64(kernels, 0, KERNELS_MIN_NS, -1), 100);
    assert_int_equal(table_i64(kernels, 0, KERNELS_MAX_NS, -1), 300);
    assert_true(table_f64(kernels, 0, KERNELS_BUSY_SHARE, -1) == 801.0 / 901);
    assert_true(table_cell(kernels, 0, KERNELS_MEDIAN_NS)->null);
    assert_true(table_is(kernels, 0, KERNELS_LABEL, STR("gemm")));
    kernels = view(&hand, "backward", &table_kernels, &shown);
    assert_int_equal(table_i64(kernels, 1, KERNELS_TOTAL_NS, -1), 20);
    hand_end(&hand);
}

// Between the first and the last device event of each call; the nested one has none.
static void idle_time_of_a_range_is_that_between_its_device_events(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_job(&hand);
    const struct table *causes = view(&hand, "forward", &table_idle_causes, &shown);
    int64_t sum = 0;
    for (size_t i = 0; i < causes->row_count; i++)
        sum += table_i64(causes, i, IDLE_CAUSES_TOTAL_NS, 0);
    assert_int_equal(sum, (5000 - 1100) + (5000 - 1101));
    const struct table *parts_of_time = view(&hand, "forward", &table_breakdown, &shown);
    assert_int_equal(table_i64(parts_of_time, 0, BREAKDOWN_BUSY_NS, -1), 901);
    assert_int_equal(table_i64(parts_of_time, 0, BREAKDOWN_IDLE_NS, -1), sum);
    assert_int_equal(table_i64(parts_of_time, 0, BREAKDOWN_WINDOW_NS, -1), sum + 901);
    assert_int_equal(table_i64(parts_of_time, 0, BREAKDOWN_GEMM_NS, -1), 801);
    assert_true(table_cell(parts_of_time, 0, BREAKDOWN_TOTAL_COMM_NS)->null);
    assert_null(view(&hand, "backward", &table_idle_causes, &shown));
    hand_end(&hand);
}

static void a_range_within_another_of_its_name_counts_once(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_range(&hand, "a", 0, 1000);
    add_range(&hand, "b", 10, 500);
    add_range(&hand, "a", 20, 300);
    add_work(&hand, "k", 30, 2000, 100);
    add_work(&hand, "k", 40, 3000, 100);
    hand_analyze(&hand);
    assert_int_equal(owned_of(&hand, "a"), 200);
    assert_int_equal(owned_of(&hand, "b"), 200);
    struct report shown;
    const struct table *parts_of_time = view(&hand, "a", &table_breakdown, &shown);
    assert_int_equal(table_i64(parts_of_time, 0, BREAKDOWN_IDLE_NS, -1), 900);
    hand_end(&hand);
}

static void a_collective_of_several_kernels_is_one_row(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_range(&hand, "reduce", 0, 1000);
    for (int64_t i = 0; i < 2; i++) {
        hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                            .name = "cudaLaunchKernel",
                                            .begin_ns = 10 + i,
                                            .dur_ns = 1,
                                            .correlation = 900 + i});
        hand_add(&hand, (struct hand_event){.kind = EVENT_KERNEL,
                                            .name = i ? "ncclDevKernel_b" : "ncclDevKernel_a",
                                            .begin_ns = 2000 * (i + 1),
                                            .dur_ns = 100,
                                            .correlation = 900 + i,
                                            .collective = "allreduce",
                                            .dtype = "Float",
                                            .group = "0",
                                            .in_elems = 256,
                                            .out_elems = 256,
                                            .group_size = 8});
    }
    hand_analyze(&hand);
    struct report shown;
    const struct table *rows = view(&hand, "reduce", &table_collectives, &shown);
    assert_int_equal(rows->row_count, 1);
    assert_int_equal(table_i64(rows, 0, COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_CALLS, -1),
                     2);
    assert_int_equal(table_i64(rows, 0, COLLECTIVES_COLLECTIVE_SUMS + COLLECTIVE_SUMS_BYTES, -1),
                     1024);
    rows = view(&hand, "reduce", &table_process_groups, &shown);
    assert_int_equal(rows->row_count, 1);
    assert_int_equal(table_i64(rows, 0, PROCESS_GROUPS_BYTES, -1), 2048);
    assert_int_equal(table_i64(rows, 0, PROCESS_GROUPS_SIZE, -1), 8);
    assert_int_equal(table_i64(rows, 0, PROCESS_GROUPS_TOTAL_NS, -1), 200);
    hand_end(&hand);
}

// Of the whole trace, in the same order: all its work is in the range.
static void uncategorized_kernels_of_a_range_are_those_of_no_rule(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_range(&hand, "all", 0, 1000);
    add_work(&hand, "gemm", 10, 2000, 100);
    add_work(&hand, "frobnicate", 20, 3000, 70);
    hand_analyze(&hand);
    struct report shown;
    const struct table *whole = report_find(&hand.report, "uncategorized");
    const struct table *rows = view(&hand, "all", &table_uncategorized, &shown);
    assert_int_equal(rows->row_count, whole->row_count);
    assert_true(table_is(rows, 0, UNCATEGORIZED_KERNEL, STR("frobnicate")));
    assert_int_equal(table_i64(rows, 0, UNCATEGORIZED_OWNED_NS, -1), 70);
    assert_int_equal(table_i64(whole, 0, UNCATEGORIZED_OWNED_NS, -1), 70);
    hand_end(&hand);
}

static void other_tables_cannot_be_had_by_range(void **state)
{
    (void)state;
    assert_false(range_view_has(&table_steps));
    assert_false(range_view_has(&table_run_kernels));
}

// The table of a range as range_rows keeps it; NULL without rows.
static const struct table *kept(struct hand *hand, const char *range, const struct table_desc *desc,
                                struct report *shown)
{
    const struct table *all = report_find(&hand->report, "range_rows");
    struct report picked = {.arena = &hand->arena};
    assert_non_null(all);
    assert_true(range_rows_have(desc));
    for (size_t i = 0; i < all->row_count; i++)
        if (table_is(all, i, RANGE_ROWS_RANGE, str_of(range)) &&
            (table_is(all, i, RANGE_ROWS_TABLE, str_of(desc->name)) ||
             table_is(all, i, RANGE_ROWS_TABLE, STR(RANGE_ROWS_HEAD))))
            assert_true(report_add(&picked, &table_range_rows,
                                   all->cells + i * table_range_rows.column_count, &hand->err));
    *shown = (struct report){.arena = &hand->arena};
    assert_true(range_rows_view(report_find(&picked, "range_rows"), desc, shown, &hand->err));
    return report_find(shown, desc->name);
}

static void add_call(struct hand *hand, const char *op, const char *dims, struct hand_event device,
                     int64_t at_ns)
{
    static int64_t correlation = 1000;
    bool copies = device.kind == EVENT_MEMCPY;
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = op,
                                       .begin_ns = at_ns,
                                       .dur_ns = 10,
                                       .dims = dims,
                                       .types = "[\"float\", \"float\"]"});
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = copies ? "cudaMemcpyAsync" : "cudaLaunchKernel",
                                       .begin_ns = at_ns + 1,
                                       .dur_ns = 2,
                                       .correlation = ++correlation});
    device.begin_ns = 1000 + 100 * at_ns;
    device.correlation = correlation;
    hand_add(hand, device);
}

// Work of every kind within one range, in which another has only the products.
static void begin_mixed_job(struct hand *hand)
{
    hand_begin(hand);
    add_range(hand, "all", 0, 1000);
    for (int64_t i = 0; i < 3; i++) {
        int64_t at = 100 * i;
        add_range(hand, "products", at + 10, 40);
        add_call(
            hand, "aten::mm", "[[64, 32], [32, 16]]",
            (struct hand_event){.kind = EVENT_KERNEL, .name = "gemm", .dur_ns = 700, .grid = 4},
            at + 20);
        add_call(hand, "aten::add", "[[64, 16], [64, 16]]",
                 (struct hand_event){.kind = EVENT_KERNEL, .name = "add", .dur_ns = 300, .grid = 8},
                 at + 60);
        add_call(hand, "aten::copy_", "[[64], [64]]",
                 (struct hand_event){.kind = EVENT_MEMCPY,
                                     .name = "Memcpy HtoD (Pinned -> Device)",
                                     .dur_ns = 200,
                                     .bytes = 256},
                 at + 71);
        add_call(hand, "c10d::allreduce_", "[[64], [64]]",
                 (struct hand_event){.kind = EVENT_KERNEL,
                                     .name = "ncclDevKernel_AllReduce",
                                     .dur_ns = 500,
                                     .collective = "allreduce",
                                     .dtype = "Float",
                                     .group = "0",
                                     .in_elems = 64,
                                     .out_elems = 64,
                                     .group_size = 2},
                 at + 82);
    }
    hand_analyze(hand);
}

static void assert_equal_cells(const struct table_desc *desc, const struct cell *a,
                               const struct cell *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct column *column = &desc->columns[i % desc->column_count];
        assert_int_equal(a[i].null, b[i].null);
        if (a[i].null)
            continue;
        if (column->type == COLUMN_TEXT)
            assert_true(str_equal(a[i].s, b[i].s));
        else if (column->type == COLUMN_F64)
            assert_true(a[i].f == b[i].f);
        else
            assert_int_equal(a[i].i, b[i].i);
    }
}

static void a_range_around_everything_has_the_tables_of_the_trace(void **state)
{
    (void)state;
    static const struct table_desc *const tables[] = {
        &table_op_shapes,     &table_roofline,      &table_copies,        &table_comm_sizes,
        &table_launch_delays, &table_short_kernels, &table_kernel_shapes, &table_op_tree,
        &table_stream_idle,   &table_queues,        &table_idle_gaps,     &table_comm_ops,
        &table_comm_calls};
    struct hand hand;
    struct report shown;
    begin_mixed_job(&hand);
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++) {
        const struct table *whole = report_find(&hand.report, tables[t]->name);
        const struct table *ranged = kept(&hand, "all", tables[t], &shown);
        assert_non_null(whole);
        assert_non_null(ranged);
        assert_int_equal(ranged->row_count, whole->row_count);
        assert_equal_cells(tables[t], whole->cells, ranged->cells,
                           whole->row_count * tables[t]->column_count);
    }
    hand_end(&hand);
}

static void utilization_within_everything_is_that_of_the_trace(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_mixed_job(&hand);
    const struct table *whole = report_find(&hand.report, "utilization");
    const struct table *own = kept(&hand, "all", &table_utilization, &shown);
    assert_true(own->row_count > 10); // all but recomputation, which is of modules
    for (size_t i = 0, at = 0; i < own->row_count; i++, at++) {
        while (!table_is(whole, at, UTILIZATION_METRIC, table_text(own, i, UTILIZATION_METRIC)))
            at++;
        assert_equal_cells(&table_utilization, whole->cells + at * table_utilization.column_count,
                           own->cells + i * table_utilization.column_count,
                           table_utilization.column_count);
    }
    hand_end(&hand);
}

static void tables_of_a_range_have_only_what_was_launched_in_it(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_mixed_job(&hand);
    const struct table *shapes = kept(&hand, "products", &table_op_shapes, &shown);
    assert_int_equal(shapes->row_count, 1);
    assert_true(table_is(shapes, 0, OP_SHAPES_NAME, STR("aten::mm")));
    assert_int_equal(table_i64(shapes, 0, OP_SHAPES_OWNED_NS, -1), 2100);
    assert_int_equal(table_i64(shapes, 0, OP_SHAPES_MEDIAN_NS, -1), 700);
    assert_true(table_f64(shapes, 0, OP_SHAPES_BUSY_SHARE, -1) == 1);
    assert_null(kept(&hand, "products", &table_copies, &shown));
    const struct table *launches = kept(&hand, "products", &table_launches, &shown);
    assert_int_equal(table_i64(launches, 0, LAUNCHES_VALUE, -1), 3);
    for (size_t i = 0; i < launches->row_count; i++)
        assert_false(table_is(launches, i, LAUNCHES_METRIC, STR("launches_without_device_events")));
    hand_end(&hand);
}

// Of the job: gaps within a range are before its events, whatever ran before them.
static void idle_time_of_streams_is_parted_among_ranges(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_mixed_job(&hand);
    const struct table *own = kept(&hand, "products", &table_stream_idle, &shown);
    int64_t gaps = 0, idle_ns = 0;
    for (size_t i = 0; i < own->row_count; i++) {
        gaps += table_i64(own, i, STREAM_IDLE_GAPS, 0);
        idle_ns += table_i64(own, i, STREAM_IDLE_IDLE_NS, 0);
    }
    assert_int_equal(gaps, 2);                     // the first product starts the stream
    assert_int_equal(idle_ns, 2 * (13000 - 9700)); // since the collective before it ended
    own = kept(&hand, "products", &table_queues, &shown);
    assert_int_equal(own->row_count, 1);
    assert_int_equal(table_i64(own, 0, QUEUES_LAUNCHES, -1), 3);
    assert_null(kept(&hand, "products", &table_idle_gaps, &shown)); // one event in each call
    hand_end(&hand);
}

static void the_longest_gaps_of_a_range_are_inside_its_calls(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    begin_job(&hand);
    const struct table *gaps = kept(&hand, "forward", &table_idle_gaps, &shown);
    assert_int_equal(gaps->row_count, 2);
    assert_int_equal(table_i64(gaps, 0, IDLE_GAPS_DUR_NS, -1), 5000 - 1100);
    assert_int_equal(table_i64(gaps, 1, IDLE_GAPS_DUR_NS, -1), 5000 - 1101);
    assert_true(table_is(gaps, 0, IDLE_GAPS_BEFORE, STR("gemm")));
    assert_true(table_is(gaps, 0, IDLE_GAPS_AFTER, STR("relu")));
    assert_null(kept(&hand, "backward", &table_idle_gaps, &shown));
    hand_end(&hand);
}

static void add_message(struct hand *hand, const char *kind, int64_t elems, int64_t at_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "record_param_comms",
                                       .begin_ns = at_ns,
                                       .dur_ns = 5,
                                       .collective = kind,
                                       .dtype = "Float",
                                       .group = "pp",
                                       .in_elems = elems,
                                       .out_elems = elems,
                                       .group_size = 4});
}

// A launch takes the messages recorded since the launch before it, in whatever range that was.
static void messages_of_other_ranges_are_not_taken(void **state)
{
    (void)state;
    const struct hand_event kernel = {
        .kind = EVENT_KERNEL, .name = "ncclDevKernel_SendRecv(x)", .dur_ns = 50};
    struct hand hand;
    struct report shown;
    hand_begin(&hand);
    add_range(&hand, "forward", 0, 90);
    add_message(&hand, "send", 100, 10);
    add_message(&hand, "recv", 200, 20);
    add_call(&hand, "c10d::batch", NULL, kernel, 30);
    add_range(&hand, "backward", 100, 90);
    add_message(&hand, "recv", 100, 110);
    add_call(&hand, "c10d::batch", NULL, kernel, 130);
    hand_analyze(&hand);
    const struct table *sizes = kept(&hand, "forward", &table_comm_sizes, &shown);
    assert_int_equal(sizes->row_count, 1);
    assert_true(table_is(sizes, 0, COMM_SIZES_KIND, STR("send_recv")));
    assert_int_equal(table_i64(sizes, 0, COMM_SIZES_BYTES, -1), 800);
    sizes = kept(&hand, "backward", &table_comm_sizes, &shown);
    assert_int_equal(sizes->row_count, 1);
    assert_true(table_is(sizes, 0, COMM_SIZES_KIND, STR("recv")));
    assert_int_equal(table_i64(sizes, 0, COMM_SIZES_BYTES, -1), 400);
    hand_end(&hand);
}

// Of two ranges that communicate in turn, with messages of their own sizes.
static void calls_of_a_range_name_its_own_operations(void **state)
{
    (void)state;
    struct hand hand;
    struct report shown;
    hand_begin(&hand);
    for (int64_t i = 0; i < 4; i++) {
        const struct hand_event kernel = {.kind = EVENT_KERNEL,
                                          .name = "ncclDevKernel_AllReduce",
                                          .dur_ns = 500,
                                          .collective = "allreduce",
                                          .dtype = "Float",
                                          .group = "0",
                                          .in_elems = i % 2 ? 64 : 32,
                                          .out_elems = i % 2 ? 64 : 32,
                                          .group_size = 2};
        add_range(&hand, i % 2 ? "odd" : "even", 100 * i, 90);
        add_call(&hand, "c10d::allreduce_", NULL, kernel, 100 * i + 10);
    }
    hand_analyze(&hand);
    const struct table *ops = kept(&hand, "odd", &table_comm_ops, &shown);
    assert_int_equal(ops->row_count, 1);
    assert_int_equal(table_i64(ops, 0, COMM_OPS_BYTES, -1), 256);
    const struct table *calls = kept(&hand, "odd", &table_comm_calls, &shown);
    const struct table *all = report_find(&hand.report, "comm_calls");
    assert_int_equal(calls->row_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(table_i64(calls, i, COMM_CALLS_OP, -1), 0);
        assert_int_equal(table_i64(calls, i, COMM_CALLS_BEGIN_NS, -1),
                         table_i64(all, 2 * i + 1, COMM_CALLS_BEGIN_NS, -2));
    }
    hand_end(&hand);
}

static void add_allocation(struct hand *hand, int64_t at_ns, int64_t bytes, int64_t total)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_ALLOCATION,
                                       .begin_ns = at_ns,
                                       .bytes = bytes,
                                       .device_type = 1,
                                       .allocated = total,
                                       .reserved = 1000});
}

static void memory_of_a_range_is_that_of_its_allocations(void **state)
{
    (void)state;
    const struct hand_event kernel = {.kind = EVENT_KERNEL, .name = "gemm", .dur_ns = 50};
    struct hand hand;
    struct report shown;
    hand_begin(&hand);
    for (int64_t i = 0; i < 2; i++) {
        add_range(&hand, "forward", 200 * i, 90);
        add_call(&hand, "aten::mm", NULL, kernel, 200 * i + 10);
        add_allocation(&hand, 200 * i + 30, 100, 300 + 10 * i);
        add_allocation(&hand, 200 * i + 40, -50, 250 + 10 * i);
        add_range(&hand, "backward", 200 * i + 100, 90);
        add_call(&hand, "aten::mm", NULL, kernel, 200 * i + 110);
        add_allocation(&hand, 200 * i + 130, 600, 850 + 10 * i);
        add_allocation(&hand, 200 * i + 150, -650, 200 + 10 * i);
    }
    hand_analyze(&hand);
    const struct table *own = kept(&hand, "forward", &table_memory, &shown);
    assert_int_equal(own->row_count, 1);
    assert_int_equal(table_i64(own, 0, MEMORY_EVENTS, -1), 4);
    assert_int_equal(table_i64(own, 0, MEMORY_BEGIN_BYTES, -1), 200);
    assert_int_equal(table_i64(own, 0, MEMORY_PEAK_ALLOCATED_BYTES, -1), 310);
    assert_int_equal(table_i64(own, 0, MEMORY_END_BYTES, -1), 260);
    own = kept(&hand, "backward", &table_memory, &shown);
    assert_int_equal(table_i64(own, 0, MEMORY_PEAK_ALLOCATED_BYTES, -1), 860);
    assert_int_equal(table_i64(own, 0, MEMORY_BEGIN_BYTES, -1), 250);
    hand_end(&hand);
}

static void modules_of_a_range_are_those_with_time_in_it(void **state)
{
    (void)state;
    static const char *const modules[] = {"nn.Module: Encoder_0", "nn.Module: Decoder_0"};
    const struct hand_event kernel = {.kind = EVENT_KERNEL, .name = "gemm", .dur_ns = 50};
    struct hand hand;
    struct report shown;
    hand_begin(&hand);
    for (int64_t i = 0; i < 2; i++) {
        add_range(&hand, i ? "second" : "first", 100 * i, 90);
        hand_add(&hand, (struct hand_event){.kind = EVENT_PYTHON,
                                            .name = modules[i],
                                            .begin_ns = 100 * i + 5,
                                            .dur_ns = 70});
        add_call(&hand, "aten::mm", NULL, kernel, 100 * i + 10);
    }
    hand_analyze(&hand);
    assert_int_equal(report_find(&hand.report, "modules")->row_count, 3);
    const struct table *own = kept(&hand, "second", &table_modules, &shown);
    assert_int_equal(own->row_count, 2);
    assert_int_equal(table_i64(own, 0, MODULES_CHILDREN, -1), 1);
    assert_true(table_is(own, 1, MODULES_NAME, STR("Decoder_0")));
    assert_int_equal(table_i64(own, 1, MODULES_TOTAL_OWNED_NS, -1), 50);
    hand_end(&hand);
}

static void the_tables_of_ranges_are_bounded(void **state)
{
    (void)state;
    struct hand hand;
    struct report picked = {0}, shown;
    char name[32];
    hand_begin(&hand);
    for (int64_t i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "part %c%c", (char)('a' + i / 26), (char)('a' + i % 26));
        add_range(&hand, name, 1000 * i, 900);
        add_work(&hand, "gemm", 1000 * i + 10, 1000 * i + 100, 500 - i);
    }
    hand_analyze(&hand);
    assert_non_null(kept(&hand, "part bf", &table_launches, &shown)); // the 32nd
    const struct table *all = report_find(&hand.report, "range_rows");
    for (size_t i = 0; i < all->row_count; i++)
        assert_false(table_is(all, i, RANGE_ROWS_RANGE, STR("part bg")));
    picked.arena = &hand.arena;
    struct table none = {.desc = &table_range_rows};
    assert_false(range_rows_view(&none, &table_launches, &picked, &hand.err));
    assert_int_equal(hand.err.code, ERR_NOT_FOUND);
    hand_end(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_of_a_range_sum_to_its_device_time),
        cmocka_unit_test(kernels_of_a_range_are_those_launched_in_it),
        cmocka_unit_test(idle_time_of_a_range_is_that_between_its_device_events),
        cmocka_unit_test(a_range_within_another_of_its_name_counts_once),
        cmocka_unit_test(a_collective_of_several_kernels_is_one_row),
        cmocka_unit_test(uncategorized_kernels_of_a_range_are_those_of_no_rule),
        cmocka_unit_test(other_tables_cannot_be_had_by_range),
        cmocka_unit_test(a_range_around_everything_has_the_tables_of_the_trace),
        cmocka_unit_test(idle_time_of_streams_is_parted_among_ranges),
        cmocka_unit_test(the_longest_gaps_of_a_range_are_inside_its_calls),
        cmocka_unit_test(utilization_within_everything_is_that_of_the_trace),
        cmocka_unit_test(tables_of_a_range_have_only_what_was_launched_in_it),
        cmocka_unit_test(messages_of_other_ranges_are_not_taken),
        cmocka_unit_test(calls_of_a_range_name_its_own_operations),
        cmocka_unit_test(memory_of_a_range_is_that_of_its_allocations),
        cmocka_unit_test(modules_of_a_range_are_those_with_time_in_it),
        cmocka_unit_test(the_tables_of_ranges_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
