// SPDX-License-Identifier: Apache-2.0
// Operators, their shapes and their tree, and modules: cases computed by hand, sums that must be
// exact on generated and real traces, and an independent count.
#include "analysis/trace/analyses.h"

#include "ingest/ingest.h"
#include "tests/unit/hand_trace.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static void add_op(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){
                       .kind = EVENT_CPU_OP, .name = name, .begin_ns = begin_ns, .dur_ns = dur_ns});
}

static void add_launch(struct hand *hand, int64_t begin_ns, int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                       .name = "cudaLaunchKernel",
                                       .begin_ns = begin_ns,
                                       .dur_ns = 1,
                                       .correlation = correlation});
}

static void add_kernel(struct hand *hand, const char *name, int64_t begin_ns, int64_t dur_ns,
                       int64_t correlation)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_KERNEL,
                                       .name = name,
                                       .row = 7 + correlation % 3,
                                       .begin_ns = begin_ns,
                                       .dur_ns = dur_ns,
                                       .correlation = correlation});
}

static int64_t column_sum(const struct hand *hand, const char *table, const char *column)
{
    int64_t sum = 0;
    for (size_t row = 0; row < hand_rows(hand, table); row++) {
        const struct cell *cell = hand_cell(hand, table, row, column);
        sum += cell->null ? 0 : cell->i;
    }
    return sum;
}

static int64_t busy_of(const struct hand *hand)
{
    return hand_i64(hand, "breakdown", 0, "busy_ns");
}

// Sums of a node's children; self is what the node has besides them.
struct node_sum {
    int64_t children, total_ns, ops_ns;
};

static void assert_node(const struct hand *hand, const char *table, size_t row,
                        const struct node_sum *sum)
{
    bool tree = strcmp(table, "op_tree") == 0;
    int64_t self_ns = hand_i64(hand, table, row, "self_owned_ns");
    int64_t total_ns = hand_i64(hand, table, row, "total_owned_ns");
    assert_int_equal(hand_i64(hand, table, row, "children"), sum->children);
    assert_int_equal(self_ns + (tree ? sum->ops_ns : sum->total_ns), total_ns);
    if (tree && sum->children)
        assert_int_equal(sum->total_ns, total_ns);
    if (!tree)
        assert_int_equal(hand_i64(hand, table, row, "forward_ns") +
                             hand_i64(hand, table, row, "backward_ns") +
                             hand_i64(hand, table, row, "recompute_ns"),
                         total_ns);
}

// The parts of every node sum to it, and the root is the busy time.
static void assert_tree(const struct hand *hand, const char *table)
{
    size_t rows = hand_rows(hand, table);
    assert_true(rows > 0);
    assert_int_equal(hand_i64(hand, table, 0, "total_owned_ns"), busy_of(hand));
    struct node_sum *sums = calloc(rows, sizeof *sums);
    assert_non_null(sums);
    for (size_t row = 1; row < rows; row++) {
        int64_t parent = hand_i64(hand, table, row, "parent");
        assert_true(parent >= 0 && parent < hand_i64(hand, table, row, "id"));
        bool op = hand_word(hand, table, row, "name") == NULL || strcmp(table, "op_tree") != 0 ||
                  (strcmp(hand_word(hand, table, row, "kind"), "kernel") != 0 &&
                   strcmp(hand_word(hand, table, row, "kind"), "more") != 0);
        int64_t total_ns = hand_i64(hand, table, row, "total_owned_ns");
        sums[parent].children++;
        sums[parent].total_ns += total_ns;
        sums[parent].ops_ns += op ? total_ns : 0;
    }
    for (size_t row = 0; row < rows; row++)
        assert_node(hand, table, row, &sums[hand_i64(hand, table, row, "id")]);
    free(sums);
}

static void assert_sums(const struct hand *hand)
{
    int64_t unlinked_ns = 0;
    for (size_t row = 0; row < hand_rows(hand, "operators"); row++)
        if (!hand_word(hand, "operators", row, "name"))
            unlinked_ns += hand_i64(hand, "operators", row, "owned_ns");
    assert_int_equal(column_sum(hand, "operators", "owned_ns"), busy_of(hand));
    assert_int_equal(column_sum(hand, "op_shapes", "owned_ns") + unlinked_ns, busy_of(hand));
    assert_int_equal(column_sum(hand, "operators", "recompute_ns"),
                     hand_i64(hand, "modules", 0, "recompute_ns"));
    assert_int_equal(column_sum(hand, "op_shapes", "self_ns"),
                     column_sum(hand, "operators", "self_ns"));
    assert_tree(hand, "op_tree");
    assert_tree(hand, "modules");
}

// linear [0,100) launches [1000,1010) itself; addmm [10,60) in it [1005,1025) and [1020,1040);
// a second addmm outside [2000,2007); one kernel without a launch.
static void add_nested(struct hand *hand)
{
    hand_begin(hand);
    add_op(hand, "aten::linear", 0, 100);
    add_op(hand, "aten::addmm", 10, 50);
    add_launch(hand, 20, 1);
    add_launch(hand, 30, 2);
    add_launch(hand, 70, 3);
    add_op(hand, "aten::addmm", 200, 30);
    add_launch(hand, 210, 4);
    add_op(hand, "aten::view", 300, 5);
    add_kernel(hand, "gemm", 1005, 20, 1);
    add_kernel(hand, "gemm", 1020, 20, 2);
    add_kernel(hand, "fill", 1000, 10, 3);
    add_kernel(hand, "gemm", 2000, 7, 4);
    add_kernel(hand, "lost", 3000, 4, 0);
    hand_analyze(hand);
}

static void a_total_joins_what_lies_below_and_a_self_time_does_not(void **state)
{
    (void)state;
    struct hand hand;
    add_nested(&hand);
    size_t linear = hand_find(&hand, "operators", "name", "aten::linear");
    assert_int_equal(hand_i64(&hand, "operators", linear, "self_ns"), 10);
    assert_int_equal(hand_i64(&hand, "operators", linear, "total_ns"), 40); // [1000,1040)
    assert_int_equal(hand_i64(&hand, "operators", linear, "host_ns"), 100);
    size_t addmm = hand_find(&hand, "operators", "name", "aten::addmm");
    assert_int_equal(hand_i64(&hand, "operators", addmm, "calls"), 2);
    assert_int_equal(hand_i64(&hand, "operators", addmm, "kernels"), 3);
    assert_int_equal(hand_i64(&hand, "operators", addmm, "self_ns"), 35 + 7);
    assert_int_equal(hand_i64(&hand, "operators", addmm, "total_ns"), 35 + 7);
    assert_int_equal(hand_i64(&hand, "operators", addmm, "median_ns"), 7);
    assert_int_equal(hand_i64(&hand, "operators", addmm, "p95_ns"), 35);
    assert_string_equal(hand_word(&hand, "operators", addmm, "category"), "GEMM");
    assert_string_equal(hand_word(&hand, "operators", addmm, "direction"), "forward");
    size_t view = hand_find(&hand, "operators", "name", "aten::view");
    assert_int_equal(hand_i64(&hand, "operators", view, "total_ns"), 0);
    assert_null(hand_word(&hand, "operators", view, "category"));
    assert_null(hand_word(&hand, "operators", view, "direction"));
    assert_true(hand_cell(&hand, "operators", view, "median_ns")->null);
    assert_int_equal(busy_of(&hand), 40 + 7 + 4);
    assert_sums(&hand);
    hand_end(&hand);
}

static void what_no_operator_launched_is_a_row_without_a_name(void **state)
{
    (void)state;
    struct hand hand;
    add_nested(&hand);
    size_t rows = hand_rows(&hand, "operators"), unnamed = rows;
    assert_int_equal(rows, 4);
    for (size_t row = 0; row < rows; row++)
        if (!hand_word(&hand, "operators", row, "name"))
            unnamed = row;
    assert_true(unnamed < rows);
    assert_int_equal(hand_i64(&hand, "operators", unnamed, "owned_ns"), 4);
    assert_int_equal(hand_i64(&hand, "operators", unnamed, "kernels"), 1);
    assert_true(hand_cell(&hand, "operators", unnamed, "calls")->null);
    size_t node = hand_find(&hand, "op_tree", "kind", "unlinked");
    assert_int_equal(hand_i64(&hand, "op_tree", node, "self_owned_ns"), 4);
    hand_end(&hand);
}

static void the_tree_has_kernels_as_leaves_below_their_operator(void **state)
{
    (void)state;
    struct hand hand;
    add_nested(&hand);
    size_t linear = hand_find(&hand, "op_tree", "name", "aten::linear");
    int64_t id = hand_i64(&hand, "op_tree", linear, "id");
    assert_int_equal(hand_i64(&hand, "op_tree", linear, "parent"), 0);
    assert_int_equal(hand_i64(&hand, "op_tree", linear, "calls"), 1);
    assert_int_equal(hand_i64(&hand, "op_tree", linear, "children"), 2);
    size_t fill = hand_find(&hand, "op_tree", "name", "fill");
    assert_int_equal(hand_i64(&hand, "op_tree", fill, "parent"), id);
    assert_int_equal(hand_i64(&hand, "op_tree", fill, "depth"), 2);
    assert_string_equal(hand_word(&hand, "op_tree", fill, "kind"), "kernel");
    int64_t below = 0, top = 0;
    for (size_t row = 0; row < hand_rows(&hand, "op_tree"); row++) {
        const char *name = hand_word(&hand, "op_tree", row, "name");
        if (!name || strcmp(name, "aten::addmm") != 0)
            continue;
        bool nested = hand_i64(&hand, "op_tree", row, "parent") == id;
        *(nested ? &below : &top) += hand_i64(&hand, "op_tree", row, "total_owned_ns");
    }
    assert_int_equal(top, 7);
    assert_int_equal(below, 30); // the fill started first, and owns the shared time
    assert_int_equal(hand_i64(&hand, "op_tree", linear, "total_owned_ns"), 40);
    assert_int_equal(hand_i64(&hand, "op_tree", linear, "self_owned_ns"), 10);
    assert_true(hand_cell(&hand, "op_tree", linear, "parent_share")->f == 40.0 / 51);
    hand_end(&hand);
}

// Reference tools count a norm inside a norm twice.
static void a_call_within_one_of_its_own_name_is_counted_once(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "norm", 0, 100);
    add_op(&hand, "inner", 10, 50);
    add_op(&hand, "norm", 20, 30);
    add_launch(&hand, 30, 1);
    add_launch(&hand, 80, 2);
    add_kernel(&hand, "k", 1000, 10, 1);
    add_kernel(&hand, "k", 1100, 5, 2);
    hand_analyze(&hand);
    size_t norm = hand_find(&hand, "operators", "name", "norm");
    assert_int_equal(hand_i64(&hand, "operators", norm, "self_ns"), 15);
    assert_int_equal(hand_i64(&hand, "operators", norm, "total_ns"), 15);
    assert_int_equal(hand_i64(&hand, "operators", norm, "launching_calls"), 2);
    size_t inner = hand_find(&hand, "operators", "name", "inner");
    assert_int_equal(hand_i64(&hand, "operators", inner, "self_ns"), 0);
    assert_int_equal(hand_i64(&hand, "operators", inner, "total_ns"), 10);
    assert_sums(&hand);
    hand_end(&hand);
}

static void add_shaped(struct hand *hand, int64_t at, const char *dims, int64_t dur_ns)
{
    hand_add(hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                       .name = "aten::mm",
                                       .begin_ns = at,
                                       .dur_ns = 8,
                                       .dims = dims,
                                       .types = "[\"a b\", \"c\"]"});
    add_launch(hand, at + 1, at);
    add_kernel(hand, dur_ns > 50 ? "big" : "small", 100000 + 1000 * at, dur_ns, at);
}

static void shapes_have_rows_of_their_own_written_without_blanks(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_shaped(&hand, 10, "[[2, 3], [3,\n 4]]", 100);
    add_shaped(&hand, 20, "[[2, 3], [3,\n 4]]", 30);
    add_shaped(&hand, 30, "[[9, 9], [9, 9]]", 40);
    add_shaped(&hand, 40, NULL, 1);
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "op_shapes"), 3);
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "dims"), "[[2,3],[3,4]]");
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "types"), "[\"a b\",\"c\"]");
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "launching_calls"), 2);
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "self_ns"), 130);
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "min_ns"), 30);
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "median_ns"), 30);
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "p95_ns"), 100);
    assert_int_equal(hand_i64(&hand, "op_shapes", 0, "max_ns"), 100);
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "kernel"), "big");
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "category"), "GEMM");
    assert_null(hand_word(&hand, "op_shapes", 0, "module"));
    assert_null(hand_word(&hand, "op_shapes", 2, "dims"));
    assert_sums(&hand);
    hand_end(&hand);
}

static void more_shapes_than_rows_are_summed_in_one(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t i = 1; i <= 5003; i++) {
        char dims[32];
        snprintf(dims, sizeof dims, "[[%d]]", (int)i);
        add_shaped(&hand, 10 * i, dims, i);
    }
    hand_analyze(&hand);
    assert_int_equal(hand_rows(&hand, "op_shapes"), 5001);
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "dims"), "[[5003]]");
    assert_string_equal(hand_word(&hand, "op_shapes", 5000, "name"), "(other shapes)");
    assert_int_equal(hand_i64(&hand, "op_shapes", 5000, "launching_calls"), 3);
    assert_int_equal(hand_i64(&hand, "op_shapes", 5000, "owned_ns"), 1 + 2 + 3);
    assert_sums(&hand);
    hand_end(&hand);
}

static void operators_deeper_than_the_tree_count_as_the_last_one_in_it(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    for (int64_t depth = 1; depth <= 70; depth++) {
        char name[16];
        snprintf(name, sizeof name, "op%d", (int)depth);
        add_op(&hand, name, depth, 1000 - 2 * depth);
    }
    add_launch(&hand, 400, 1); // in op70
    add_launch(&hand, 932, 2); // in op67
    add_kernel(&hand, "a", 2000, 10, 1);
    add_kernel(&hand, "b", 3000, 5, 2);
    hand_analyze(&hand);
    size_t last = hand_find(&hand, "op_tree", "name", "op64");
    assert_int_equal(hand_i64(&hand, "op_tree", last, "depth"), 64);
    assert_int_equal(hand_i64(&hand, "op_tree", last, "self_owned_ns"), 15);
    assert_int_equal(hand_rows(&hand, "op_tree"), 1 + 64 + 2);
    size_t inner = hand_find(&hand, "operators", "name", "op67");
    assert_int_equal(hand_i64(&hand, "operators", inner, "self_ns"), 5);
    assert_int_equal(hand_i64(&hand, "operators", inner, "total_ns"), 5); // only its own
    size_t outer = hand_find(&hand, "operators", "name", "op64");
    assert_int_equal(hand_i64(&hand, "operators", outer, "total_ns"), 15);
    assert_sums(&hand);
    hand_end(&hand);
}

// Backward and forward launches of one operator; a repeated forward counts as forward.
static void a_direction_is_that_of_what_was_launched_below(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    add_op(&hand, "aten::mul", 0, 10);
    add_launch(&hand, 2, 1);
    add_op(&hand, "autograd::engine::evaluate_function: MulBackward0", 100, 50);
    add_op(&hand, "aten::mul", 110, 10);
    add_launch(&hand, 112, 2);
    add_op(&hand, "autograd::engine::evaluate_function: CheckpointFunctionBackward", 200, 50);
    add_op(&hand, "aten::add", 210, 10);
    add_launch(&hand, 212, 3);
    for (int64_t i = 1; i <= 3; i++)
        add_kernel(&hand, "k", 1000 * i, 10 * i, i);
    hand_analyze(&hand);
    size_t mul = hand_find(&hand, "operators", "name", "aten::mul");
    size_t add = hand_find(&hand, "operators", "name", "aten::add");
    size_t node =
        hand_find(&hand, "operators", "name", "autograd::engine::evaluate_function: MulBackward0");
    assert_string_equal(hand_word(&hand, "operators", mul, "direction"), "both");
    assert_string_equal(hand_word(&hand, "operators", node, "direction"), "backward");
    assert_string_equal(hand_word(&hand, "operators", add, "direction"), "forward");
    assert_int_equal(hand_i64(&hand, "operators", add, "recompute_ns"), 30);
    assert_int_equal(hand_i64(&hand, "operators", mul, "recompute_ns"), 0);
    assert_int_equal(hand_i64(&hand, "modules", 0, "forward_ns"), 10);
    assert_int_equal(hand_i64(&hand, "modules", 0, "backward_ns"), 20);
    assert_int_equal(hand_i64(&hand, "modules", 0, "recompute_ns"), 30);
    size_t share = hand_find(&hand, "utilization", "metric", "recompute_share");
    assert_true(hand_cell(&hand, "utilization", share, "value")->f == 0.5);
    assert_sums(&hand);
    hand_end(&hand);
}

static void without_frames_or_checkpoints_nobody_knows_what_was_recomputed(void **state)
{
    (void)state;
    struct hand hand;
    add_nested(&hand);
    size_t share = hand_find(&hand, "utilization", "metric", "recompute_share");
    assert_true(hand_cell(&hand, "utilization", share, "value")->null);
    assert_non_null(strstr(hand_word(&hand, "utilization", share, "help"), "with_stack"));
    assert_int_equal(hand_rows(&hand, "modules"), 1);
    hand_end(&hand);
}

static void modules_are_a_tree_of_forward_and_backward_time(void **state)
{
    (void)state;
    struct hand hand;
    hand_begin(&hand);
    hand_add(&hand,
             (struct hand_event){.kind = EVENT_PYTHON, .name = "nn.Module: Net_0", .dur_ns = 100});
    hand_add(&hand, (struct hand_event){.kind = EVENT_PYTHON,
                                        .name = "nn.Module: Linear_0",
                                        .begin_ns = 10,
                                        .dur_ns = 40});
    hand_add(&hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                        .name = "aten::linear",
                                        .begin_ns = 12,
                                        .dur_ns = 30,
                                        .sequence = 5});
    add_launch(&hand, 15, 1);
    add_launch(&hand, 60, 2);
    hand_add(&hand,
             (struct hand_event){.kind = EVENT_CPU_OP,
                                 .name = "autograd::engine::evaluate_function: AddmmBackward0",
                                 .row = 2,
                                 .begin_ns = 200,
                                 .dur_ns = 100,
                                 .sequence = 5});
    hand_add(&hand, (struct hand_event){.kind = EVENT_RUNTIME,
                                        .name = "cudaLaunchKernel",
                                        .row = 2,
                                        .begin_ns = 210,
                                        .dur_ns = 1,
                                        .correlation = 3});
    add_launch(&hand, 400, 4); // the optimizer
    int64_t const dur_ns[] = {0, 1, 10, 100, 1000};
    for (int64_t i = 1; i <= 4; i++)
        add_kernel(&hand, "k", 10000 * i, dur_ns[i], i);
    hand_analyze(&hand);
    size_t linear = hand_find(&hand, "modules", "name", "Linear_0");
    size_t net = hand_find(&hand, "modules", "name", "Net_0");
    assert_string_equal(hand_word(&hand, "modules", linear, "path"), "Net_0/Linear_0");
    assert_int_equal(hand_i64(&hand, "modules", linear, "parent"),
                     hand_i64(&hand, "modules", net, "id"));
    assert_int_equal(hand_i64(&hand, "modules", linear, "forward_self_ns"), 1);
    assert_int_equal(hand_i64(&hand, "modules", linear, "backward_self_ns"), 100);
    assert_int_equal(hand_i64(&hand, "modules", linear, "calls"), 1);
    assert_int_equal(hand_i64(&hand, "modules", net, "forward_self_ns"), 10);
    assert_int_equal(hand_i64(&hand, "modules", net, "forward_ns"), 11);
    assert_int_equal(hand_i64(&hand, "modules", net, "backward_self_ns"), 0);
    assert_int_equal(hand_i64(&hand, "modules", net, "backward_ns"), 100);
    assert_int_equal(hand_i64(&hand, "modules", 0, "self_owned_ns"), 1000);
    assert_string_equal(hand_word(&hand, "op_shapes", 0, "module"), "Net_0/Linear_0");
    size_t share = hand_find(&hand, "utilization", "metric", "recompute_share");
    assert_true(hand_cell(&hand, "utilization", share, "value")->f == 0.0);
    assert_sums(&hand);
    hand_end(&hand);
}

// A generated trace with its own simple records.
#define PLAIN_MAX 400

struct plain {
    struct plain_op {
        int name;
        int64_t begin, end;
    } ops[PLAIN_MAX];
    struct plain_launch {
        int64_t at, kernel_begin, kernel_end;
    } launches[PLAIN_MAX];
    int op_count, launch_count;
};

static const char *const plain_names[] = {"a", "b", "c", "d", "e"};

static uint32_t next_random(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33);
}

// Opens, closes and launches at random, one step per 10 ns.
static void generate(struct plain *plain, uint64_t random)
{
    int open[PLAIN_MAX], depth = 0;
    *plain = (struct plain){.op_count = 0};
    for (int64_t now = 10; now < 3000 || depth; now += 10) {
        uint32_t choice = now < 3000 ? next_random(&random) % 4 : 1;
        if (choice == 0 && depth < 12) {
            open[depth++] = plain->op_count;
            plain->ops[plain->op_count++] =
                (struct plain_op){(int)(next_random(&random) % 5), now, 0};
        } else if (choice == 1 && depth) {
            plain->ops[open[--depth]].end = now;
        } else if (choice > 1) {
            int64_t begin = 5000 + (int64_t)(next_random(&random) % 4000);
            plain->launches[plain->launch_count++] =
                (struct plain_launch){now, begin, begin + 1 + (int64_t)(next_random(&random) % 60)};
        }
    }
}

static bool within(const struct plain *plain, int op, int64_t at)
{
    return plain->ops[op].begin <= at && at < plain->ops[op].end;
}

static bool below_its_own_name(const struct plain *plain, int op)
{
    for (int i = 0; i < plain->op_count; i++)
        if (i != op && plain->ops[i].name == plain->ops[op].name &&
            within(plain, i, plain->ops[op].begin) && plain->ops[i].end >= plain->ops[op].end)
            return true;
    return false;
}

static int innermost(const struct plain *plain, int64_t at)
{
    int found = -1;
    for (int i = 0; i < plain->op_count; i++)
        if (within(plain, i, at) && (found < 0 || plain->ops[i].begin > plain->ops[found].begin))
            found = i;
    return found;
}

// Counts nanosecond by nanosecond.
static int64_t plain_time(const struct plain *plain, int op, bool below)
{
    int64_t time = 0;
    for (int64_t at = 5000; at < 9100; at++) {
        bool runs = false;
        for (int l = 0; l < plain->launch_count && !runs; l++) {
            const struct plain_launch *launch = &plain->launches[l];
            runs = launch->kernel_begin <= at && at < launch->kernel_end &&
                   (below ? within(plain, op, launch->at) : innermost(plain, launch->at) == op);
        }
        time += runs;
    }
    return time;
}

static void assert_plain(const struct hand *hand, const struct plain *plain)
{
    for (int name = 0; name < 5; name++) {
        int64_t self_ns = 0, total_ns = 0, calls = 0;
        for (int op = 0; op < plain->op_count; op++) {
            if (plain->ops[op].name != name)
                continue;
            calls++;
            self_ns += plain_time(plain, op, false);
            total_ns += below_its_own_name(plain, op) ? 0 : plain_time(plain, op, true);
        }
        if (!calls)
            continue;
        size_t row = hand_find(hand, "operators", "name", plain_names[name]);
        assert_int_equal(hand_i64(hand, "operators", row, "calls"), calls);
        assert_int_equal(hand_i64(hand, "operators", row, "self_ns"), self_ns);
        assert_int_equal(hand_i64(hand, "operators", row, "total_ns"), total_ns);
    }
}

static void generated_traces_agree_with_a_count_by_the_nanosecond(void **state)
{
    (void)state;
    static struct plain plain;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct hand hand;
        generate(&plain, seed);
        hand_begin(&hand);
        for (int i = 0; i < plain.op_count; i++)
            add_op(&hand, plain_names[plain.ops[i].name], plain.ops[i].begin,
                   plain.ops[i].end - plain.ops[i].begin);
        for (int i = 0; i < plain.launch_count; i++) {
            add_launch(&hand, plain.launches[i].at, i + 1);
            add_kernel(&hand, i % 5 ? "k" : "gemm", plain.launches[i].kernel_begin,
                       plain.launches[i].kernel_end - plain.launches[i].kernel_begin, i + 1);
        }
        hand_analyze(&hand);
        assert_plain(&hand, &plain);
        assert_sums(&hand);
        hand_end(&hand);
    }
}

// Overlapping operators, as only a damaged file has them: sums stay exact.
static void crossing_operators_keep_the_sums_exact(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct hand hand;
        uint64_t random = seed;
        hand_begin(&hand);
        for (int i = 1; i <= 300; i++) {
            add_op(&hand, plain_names[next_random(&random) % 5], next_random(&random) % 500,
                   next_random(&random) % (i % 8 ? 12 : 200));
            add_launch(&hand, next_random(&random) % 600, i);
            add_kernel(&hand, "k", 1000 + next_random(&random) % 5000, next_random(&random) % 50,
                       i);
        }
        hand_analyze(&hand);
        assert_sums(&hand);
        hand_end(&hand);
    }
}

static int is_trace(const struct dirent *entry)
{
    return strstr(entry->d_name, ".json.gz") != NULL;
}

static void assert_real(const char *path)
{
    struct hand hand = {.options = {.warmup_steps = -1}};
    hand.trace = ingest_file(path, &hand.budget, NULL, &hand.err);
    if (!hand.trace)
        fail_msg("%s: %s", path, hand.err.msg);
    arena_init(&hand.arena, &hand.budget);
    hand.report.arena = &hand.arena;
    if (!analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err))
        fail_msg("%s: %s", path, hand.err.msg);
    if (hand_rows(&hand, "kernels"))
        assert_sums(&hand);
    hand_end(&hand);
}

static void sums_are_exact_on_real_traces(void **state)
{
    (void)state;
    static const char folder[] = "../shared/traces";
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_trace, alphasort);
    if (count < 1)
        skip();
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        assert_real(path);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_total_joins_what_lies_below_and_a_self_time_does_not),
        cmocka_unit_test(what_no_operator_launched_is_a_row_without_a_name),
        cmocka_unit_test(the_tree_has_kernels_as_leaves_below_their_operator),
        cmocka_unit_test(a_call_within_one_of_its_own_name_is_counted_once),
        cmocka_unit_test(shapes_have_rows_of_their_own_written_without_blanks),
        cmocka_unit_test(more_shapes_than_rows_are_summed_in_one),
        cmocka_unit_test(operators_deeper_than_the_tree_count_as_the_last_one_in_it),
        cmocka_unit_test(a_direction_is_that_of_what_was_launched_below),
        cmocka_unit_test(without_frames_or_checkpoints_nobody_knows_what_was_recomputed),
        cmocka_unit_test(modules_are_a_tree_of_forward_and_backward_time),
        cmocka_unit_test(generated_traces_agree_with_a_count_by_the_nanosecond),
        cmocka_unit_test(crossing_operators_keep_the_sums_exact),
        cmocka_unit_test(sums_are_exact_on_real_traces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
