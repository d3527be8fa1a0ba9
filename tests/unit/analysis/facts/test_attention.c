// SPDX-License-Identifier: Apache-2.0
// Attention composed of products and a softmax: what belongs to it, and what does not.
#include "tests/unit/findings_hand.h"

#include "ingest/ingest.h"

#include <unistd.h>

#define BF16x2 "[\"c10::BFloat16\",\"c10::BFloat16\"]"
#define BF16x1 "[\"c10::BFloat16\"]"
#define QK     "[[8,1024,64],[8,64,1024]]"
#define PV     "[[8,1024,1024],[8,1024,64]]"
#define SCORES "[[8,1024,1024]]"

static void run(struct busy *busy, const char *op, const char *dims, int64_t dur_ns)
{
    bool product = strstr(op, "mm") != NULL;
    busy_run(busy, (struct busy_work){.op = op,
                                      .kernel = product ? "nvjet_tst_128x256" : "some_kernel",
                                      .dims = dims,
                                      .types = !dims     ? NULL
                                               : product ? BF16x2
                                                         : BF16x1,
                                      .dur_ns = dur_ns});
}

static int64_t bar_ns(struct hand *hand, const char *column)
{
    return hand_i64(hand, "breakdown", 0, column);
}

static int64_t category_ns(const struct hand *hand, const char *category)
{
    for (size_t i = 0; i < hand_rows(hand, "categories"); i++)
        if (strcmp(hand_word(hand, "categories", i, "category"), category) == 0)
            return hand_i64(hand, "categories", i, "owned_ns");
    return 0;
}

// Attention's time, after checking that all compute is in its category.
static int64_t attention_ns(struct busy *busy)
{
    hand_analyze(&busy->hand);
    int64_t found_ns = category_ns(&busy->hand, "attention");
    assert_int_equal(bar_ns(&busy->hand, "attention_ns"), found_ns);
    hand_end(&busy->hand);
    return found_ns;
}

static void products_and_what_is_between_them_are_attention(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run(&busy, "aten::mm", "[[1024,512],[512,512]]", 70 * US);
    run(&busy, "aten::bmm", QK, 30 * US);
    run(&busy, "aten::div", "[[8,1024,1024]]", 10 * US);
    run(&busy, "aten::add", "[[8,1024,1024]]", 11 * US);
    run(&busy, "aten::_softmax", "[[1,8,1024,1024]]", 20 * US);
    run(&busy, "aten::native_dropout", SCORES, 12 * US);
    run(&busy, "aten::bmm", PV, 31 * US);
    run(&busy, "aten::mm", "[[1024,512],[512,512]]", 70 * US);
    run(&busy, "aten::gelu", "[[1024,512]]", 9 * US);
    hand_analyze(&busy.hand);
    assert_int_equal(bar_ns(&busy.hand, "attention_ns"), 114 * US);
    assert_int_equal(bar_ns(&busy.hand, "gemm_ns"), 140 * US);
    assert_int_equal(bar_ns(&busy.hand, "other_compute_ns"), 9 * US);
    assert_int_equal(category_ns(&busy.hand, "reduction"), 0);
    assert_int_equal(cost_of(&busy.hand, "unfused_attention"), 53 * US);
    size_t row = hand_find(&busy.hand, "roofline", "dims", PV);
    assert_string_equal(hand_word(&busy.hand, "roofline", row, "kind"), "gemm");
    assert_int_equal(hand_i64(&busy.hand, "roofline", row, "flops"),
                     INT64_C(2) * 8 * 1024 * 1024 * 64);
    // Their operations are known, and those of nothing else.
    row = hand_find(&busy.hand, "utilization", "metric", "flops_time_share");
    assert_true(hand_cell(&busy.hand, "utilization", row, "value")->f == 1);
    hand_end(&busy.hand);
}

static void backward_has_two_products_on_either_side(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run(&busy, "aten::mm", "[[1024,512],[512,512]]", 70 * US);
    run(&busy, "aten::bmm", "[[8,1024,1024],[8,1024,64]]", 30 * US); // of the values
    run(&busy, "aten::bmm", "[[8,1024,64],[8,64,1024]]", 31 * US);   // of the scores
    run(&busy, "aten::_softmax_backward_data", SCORES, 20 * US);
    run(&busy, "aten::div", SCORES, 10 * US);
    run(&busy, "aten::bmm", "[[8,1024,1024],[8,1024,64]]", 32 * US); // of the queries
    run(&busy, "aten::bmm", "[[8,64,1024],[8,1024,1024]]", 33 * US); // of the keys
    run(&busy, "aten::bmm", "[[8,512,256],[8,256,512]]", 50 * US);   // something else
    assert_int_equal(attention_ns(&busy), 156 * US);
}

static void extra_scores_between_belong_to_it(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run(&busy, "aten::bmm", QK, 30 * US);
    run(&busy, "aten::bmm", "[[8,1024,64],[8,64,32]]", 5 * US); // relative positions
    run(&busy, "aten::mm", "[[32,512],[512,512]]", 7 * US);     // their own projection is not one
    run(&busy, "aten::gather", SCORES, 6 * US);
    run(&busy, "aten::cat", NULL, 4 * US);
    run(&busy, "aten::_softmax", "[[8,1024,1025]]", 20 * US); // with a column of sinks
    run(&busy, "aten::bmm", PV, 31 * US);
    assert_int_equal(attention_ns(&busy), 96 * US);
}

static void a_softmax_on_something_else_makes_no_attention(void **state)
{
    (void)state;
    static const char *const others[][4] = {
        // a router: softmax after a linear, then experts
        {"aten::bmm", "[[8,256,512],[8,512,256]]", "[[2048,8]]", "[[8,256,256],[8,256,512]]"},
        // masks by queries, classes by softmax, and the product of both
        {"aten::bmm", "[[2,100,256],[2,256,4096]]", "[[2,100,81]]", "[[2,80,100],[2,100,4096]]"},
        // pooling: softmax after a linear
        {"aten::mm", "[[1024,512],[512,1]]", "[[8,128,1]]", "[[8,1,128],[8,128,512]]"},
        // scores that the next product does not read
        {"aten::bmm", QK, SCORES, "[[8,256,64],[8,64,32]]"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct busy busy;
        busy_begin(&busy);
        run(&busy, others[i][0], others[i][1], 30 * US);
        run(&busy, "aten::_softmax", others[i][2], 20 * US);
        run(&busy, "aten::bmm", others[i][3], 30 * US);
        assert_int_equal(attention_ns(&busy), 0);
    }
}

static void without_shapes_nothing_may_stand_between(void **state)
{
    (void)state;
    static const struct {
        const char *between;
        int64_t attention_ns;
    } cases[] = {{"aten::mul", 90 * US}, {"aten::mm", 0}, {"aten::native_layer_norm", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct busy busy;
        busy_begin(&busy);
        run(&busy, "aten::baddbmm", NULL, 30 * US);
        run(&busy, cases[i].between, NULL, 10 * US);
        run(&busy, "ScaledMaskedSoftmax", NULL, 20 * US);
        run(&busy, "aten::bmm", NULL, 30 * US);
        assert_int_equal(attention_ns(&busy), cases[i].attention_ns);
    }
}

static void what_no_operator_launches_goes_by_its_kernel(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run(&busy, "aten::bmm", NULL, 30 * US);
    busy_run(&busy, (struct busy_work){.op = "triton_per_fused__softmax_add_div_3",
                                       .kernel = "triton_per_fused__softmax_add_div_3",
                                       .dur_ns = 20 * US});
    run(&busy, "aten::bmm", NULL, 30 * US);
    assert_int_equal(attention_ns(&busy), 80 * US);
}

// The fallback of scaled_dot_product_attention scales queries and keys first.
static void all_of_the_fallback_is_attention(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    int64_t begin_ns = busy.host_ns + US;
    run(&busy, "aten::mul", "[[8,1024,64]]", 3 * US); // before it
    busy_host(&busy, EVENT_CPU_OP, "aten::_scaled_dot_product_attention_math", begin_ns + 2 * US,
              18 * US);
    run(&busy, "aten::mul", "[[8,1024,64]]", 4 * US);
    run(&busy, "aten::mul", "[[8,1024,64]]", 5 * US);
    run(&busy, "aten::bmm", QK, 30 * US);
    run(&busy, "aten::_softmax", SCORES, 20 * US);
    run(&busy, "aten::bmm", PV, 30 * US);
    assert_int_equal(attention_ns(&busy), 89 * US);
}

// A mask's gradient is outside the four products, but its forward was part of an attention.
static void the_backward_of_a_part_is_a_part(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run(&busy, "aten::bmm", QK, 30 * US);
    busy_run_numbered(&busy,
                      (struct busy_work){.op = "aten::add", .kernel = "add", .dur_ns = 10 * US}, 5);
    run(&busy, "aten::_softmax", SCORES, 20 * US);
    run(&busy, "aten::bmm", PV, 30 * US);
    busy_run_numbered(&busy,
                      (struct busy_work){.op = "aten::mul", .kernel = "mul", .dur_ns = 9 * US}, 6);
    for (int64_t sequence = 6; sequence >= 5; sequence--) {
        int64_t begin_ns = busy.host_ns;
        hand_add(&busy.hand, (struct hand_event){.kind = EVENT_CPU_OP,
                                                 .name = "autograd::engine::evaluate_function: B",
                                                 .begin_ns = begin_ns,
                                                 .dur_ns = 4 * US,
                                                 .pid = 1,
                                                 .row = 1,
                                                 .sequence = sequence});
        run(&busy, "aten::sum", NULL, 7 * US);
        busy.host_ns = begin_ns + 5 * US;
    }
    assert_int_equal(attention_ns(&busy), 97 * US);
}

static void on_real_models_both_vendors_have_it(void **state)
{
    (void)state;
    static const char *const paths[] = {"../shared/traces/h100_owlv2.json.gz",
                                        "../shared/traces/mi300x_owlv2.json.gz"};
    for (int i = 0; i < 2; i++) {
        if (access(paths[i], R_OK) != 0) {
            print_message("no real traces: %s is absent\n", paths[i]);
            skip();
        }
        struct hand hand = {.options = {.warmup_steps = -1}};
        arena_init(&hand.arena, &hand.budget);
        hand.report.arena = &hand.arena;
        hand.trace = ingest_file(paths[i], &hand.budget, NULL, &hand.err);
        assert_true(hand.trace &&
                    analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err));
        int64_t softmaxes = 0;
        for (size_t r = 0; r < hand_rows(&hand, "op_shapes"); r++)
            if (strcmp(hand_word(&hand, "op_shapes", r, "name"), "aten::_softmax") == 0) {
                softmaxes += hand_i64(&hand, "op_shapes", r, "kernels");
                assert_string_equal(hand_word(&hand, "op_shapes", r, "category"), "attention");
            }
        assert_int_equal(softmaxes, 180);
        hand_end(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_what_is_between_them_are_attention),
        cmocka_unit_test(backward_has_two_products_on_either_side),
        cmocka_unit_test(extra_scores_between_belong_to_it),
        cmocka_unit_test(a_softmax_on_something_else_makes_no_attention),
        cmocka_unit_test(without_shapes_nothing_may_stand_between),
        cmocka_unit_test(what_no_operator_launches_goes_by_its_kernel),
        cmocka_unit_test(all_of_the_fallback_is_attention),
        cmocka_unit_test(the_backward_of_a_part_is_a_part),
        cmocka_unit_test(on_real_models_both_vendors_have_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
