// SPDX-License-Identifier: Apache-2.0
// Prefill and decode of models that no engine annotates: what the shapes of attention prove, and
// where they prove nothing.
#include "tests/unit/findings_hand.h"

#include "ingest/ingest.h"

#include <inttypes.h>
#include <unistd.h>

#define LAYERS 3

// A model: its attention operator with heads of 16.
struct model {
    const char *op;
    int layers;
    int64_t heads;
    bool silent_lookup; // it has no table lookups
};

static const struct model llama = {"aten::_flash_attention_forward", LAYERS, 4, false};

static void look_up(struct busy *busy, int64_t sequences, int64_t tokens)
{
    char dims[96];
    snprintf(dims, sizeof dims, "[[1000,64],[%" PRId64 ",%" PRId64 "],[],[],[]]", sequences,
             tokens);
    busy_run(busy, (struct busy_work){.op = "aten::embedding",
                                      .kernel = "vectorized_gather_kernel",
                                      .dims = dims,
                                      .types = "[\"float\",\"long int\",\"Scalar\",\"\",\"\"]",
                                      .dur_ns = 10 * US});
}

// A call of 20 us: batch, length, heads, width of a head.
static void attend(struct busy *busy, const struct model *model, int64_t sequences, int64_t queries,
                   int64_t keys)
{
    char dims[160];
    bool heads_first = strncmp(model->op, "aten::_scaled", 13) == 0;
    int64_t q[2] = {heads_first ? model->heads : queries, heads_first ? queries : model->heads};
    int64_t k[2] = {heads_first ? model->heads : keys, heads_first ? keys : model->heads};
    snprintf(dims, sizeof dims,
             "[[%" PRId64 ",%" PRId64 ",%" PRId64 ",16],[%" PRId64 ",%" PRId64 ",%" PRId64
             ",16],[%" PRId64 ",%" PRId64 ",%" PRId64 ",16]]",
             sequences, q[0], q[1], sequences, k[0], k[1], sequences, k[0], k[1]);
    busy_run(busy,
             (struct busy_work){.op = model->op,
                                .kernel = "flash_fwd_kernel",
                                .dims = dims,
                                .types = "[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]",
                                .dur_ns = 20 * US});
}

// One forward: a lookup of 10, in each layer a call of 20, and a product of 30 after them.
static void forward(struct busy *busy, const struct model *model, int64_t sequences,
                    int64_t queries, int64_t keys)
{
    if (!model->silent_lookup)
        look_up(busy, sequences, queries);
    for (int i = 0; i < model->layers; i++)
        attend(busy, model, sequences, queries, keys);
    busy_run(busy, (struct busy_work){.op = "aten::mm", .kernel = "nvjet", .dur_ns = 30 * US});
}

// A prompt, and `count` more tokens with a growing cache.
static void generate(struct busy *busy, const struct model *model, int64_t sequences,
                     int64_t prompt, int count)
{
    forward(busy, model, sequences, prompt, prompt);
    for (int i = 1; i <= count; i++)
        forward(busy, model, sequences, 1, prompt + i);
}

static void expect(struct busy *busy, size_t row, const char *phase, int64_t passes, int64_t tokens)
{
    assert_string_equal(hand_word(&busy->hand, "phases", row, "phase"), phase);
    assert_int_equal(hand_i64(&busy->hand, "phases", row, "passes"), passes);
    assert_int_equal(hand_i64(&busy->hand, "phases", row, "tokens"), tokens);
}

static void expect_nothing(struct busy *busy)
{
    hand_analyze(&busy->hand);
    assert_int_equal(hand_rows(&busy->hand, "phases"), 0);
    hand_end(&busy->hand);
}

static void a_growing_cache_tells_prefill_from_decode(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    generate(&busy, &llama, 8, 50, 3);
    hand_analyze(&busy.hand);
    // A pass: 10 + 3 x 20 + 30 = 100 us.
    assert_int_equal(hand_rows(&busy.hand, "phases"), 2);
    expect(&busy, 0, "prefill", 1, 400);
    assert_int_equal(hand_i64(&busy.hand, "phases", 0, "window_ns"), 100 * US);
    assert_int_equal(hand_i64(&busy.hand, "phases", 0, "attention_ns"), 60 * US);
    expect(&busy, 1, "decode", 3, 24);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "requests"), 24);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "window_ns"), 300 * US);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "median_pass_ns"), 100 * US);
    assert_about((int64_t)hand_cell(&busy.hand, "phases", 1, "tokens_per_second")->f, 80e3);
    hand_end(&busy.hand);
}

static void what_comes_once_after_a_text_is_in_no_pass(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 2; i++) {
        generate(&busy, &llama, 1, 50 + 9 * i, 3);
        busy_run(&busy,
                 (struct busy_work){.op = "aten::argmax", .kernel = "reduce", .dur_ns = 7 * US});
    }
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "phases"), 3);
    expect(&busy, 0, "prefill", 2, 109);
    expect(&busy, 1, "decode", 6, 6);
    assert_string_equal(hand_word(&busy.hand, "phases", 2, "phase"), "between");
    assert_int_equal(hand_i64(&busy.hand, "phases", 2, "window_ns"), 14 * US);
    hand_end(&busy.hand);
}

static void operators_in_operators_are_one_call(void **state)
{
    (void)state;
    static const struct model backends[] = {
        {"aten::_scaled_dot_product_efficient_attention", LAYERS, 4, false},
        {"flash_attn::_flash_attn_forward", LAYERS, 4, false},
        {"flash_attn::_flash_attn_forward", LAYERS, 4, true}, // compiled code has no lookup
    };
    for (size_t i = 0; i < sizeof backends / sizeof *backends; i++) {
        struct busy busy;
        busy_begin(&busy);
        generate(&busy, &backends[i], 2, 5, 4);
        hand_analyze(&busy.hand);
        expect(&busy, 0, "prefill", 1, 10);
        expect(&busy, 1, "decode", 4, 8);
        hand_end(&busy.hand);
    }
}

// A cache for 1,024 positions that is passed whole, as torch.compile prefers.
static void a_static_cache_needs_the_lookups(void **state)
{
    (void)state;
    struct model model = llama;
    for (int silent = 0; silent < 2; silent++) {
        struct busy busy;
        busy_begin(&busy);
        model.silent_lookup = silent;
        forward(&busy, &model, 2, 65, 1024); // with 64 it might be a draft
        for (int i = 0; i < 3; i++)
            forward(&busy, &model, 2, 1, 1024);
        if (silent) {
            expect_nothing(&busy);
            continue;
        }
        hand_analyze(&busy.hand);
        expect(&busy, 0, "prefill", 1, 130);
        expect(&busy, 1, "decode", 3, 6);
        hand_end(&busy.hand);
    }
    struct busy busy;
    busy_begin(&busy);
    forward(&busy, &llama, 2, 64, 1024);
    for (int i = 0; i < 3; i++)
        forward(&busy, &llama, 2, 1, 1024);
    expect_nothing(&busy);
}

static void chunks_of_a_prompt_are_prefill(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 1; i <= 3; i++)
        forward(&busy, &llama, 1, 256, 256 * i);
    for (int i = 1; i <= 3; i++)
        forward(&busy, &llama, 1, 1, 768 + i);
    hand_analyze(&busy.hand);
    expect(&busy, 0, "prefill", 3, 768);
    expect(&busy, 1, "decode", 3, 3);
    hand_end(&busy.hand);
}

// Four draft tokens verified at once; the small model that made them is not decode.
static void drafts_are_neither(void **state)
{
    (void)state;
    struct model small = llama;
    struct busy busy;
    small.heads = 2;
    busy_begin(&busy);
    forward(&busy, &llama, 1, 50, 50);
    forward(&busy, &small, 1, 50, 50);
    for (int i = 0; i < 3; i++) {
        for (int64_t d = 1; d <= 4; d++)
            forward(&busy, &small, 1, 1, 50 + 5 * i + d);
        forward(&busy, &llama, 1, 5, 55 + 5 * i);
    }
    expect_nothing(&busy);

    // Same without a draft model: n-grams of the prompt, single tokens if none fits.
    busy_begin(&busy);
    generate(&busy, &llama, 1, 50, 3);
    forward(&busy, &llama, 1, 5, 58);
    forward(&busy, &llama, 1, 1, 57);
    expect_nothing(&busy);
}

static void encoders_have_no_prefill(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 4; i++)
        forward(&busy, &llama, 8, 50 + i, 50 + i);
    expect_nothing(&busy);

    // A tower without lookups, and a head that pools by one query.
    struct model tower = {llama.op, LAYERS, 4, true};
    busy_begin(&busy);
    for (int i = 0; i < 4; i++) {
        forward(&busy, &tower, 8, 196, 196);
        attend(&busy, &tower, 8, 1, 196);
    }
    expect_nothing(&busy);

    // Pooling over texts of growing length.
    busy_begin(&busy);
    for (int i = 0; i < 4; i++) {
        forward(&busy, &llama, 8, 50 + i, 50 + i);
        attend(&busy, &llama, 8, 1, 50 + i);
    }
    expect_nothing(&busy);
}

// An embedding model with as many layers and heads as the one that generates.
static void an_encoder_beside_a_model_is_no_prefill(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    forward(&busy, &llama, 1, 30, 30);
    generate(&busy, &llama, 1, 50, 3);
    forward(&busy, &llama, 1, 30, 30);
    hand_analyze(&busy.hand);
    expect(&busy, 0, "prefill", 1, 50);
    expect(&busy, 1, "decode", 3, 3);
    hand_end(&busy.hand);
}

// A decoder that attends to an encoder's 1,500 positions in every layer, after two of its own.
static void attend_decoder(struct busy *busy, int64_t queries, int64_t keys)
{
    look_up(busy, 1, queries);
    for (int i = 0; i < 2; i++) {
        attend(busy, &llama, 1, queries, keys);
        attend(busy, &llama, 1, queries, 1500);
    }
}

static void cross_attention_does_not_disturb(void **state)
{
    (void)state;
    struct model encoder = {llama.op, 4, 4, true}; // as many calls as in the decoder
    struct busy busy;
    busy_begin(&busy);
    for (int i = 0; i < 2; i++) {
        forward(&busy, &encoder, 1, 1500, 1500);
        attend_decoder(&busy, 4, 4);
        for (int64_t keys = 5; keys < 9; keys++)
            attend_decoder(&busy, 1, keys);
    }
    hand_analyze(&busy.hand);
    expect(&busy, 0, "prefill", 2, 8);
    expect(&busy, 1, "decode", 8, 8);
    hand_end(&busy.hand);

    // Without a prompt the decoder starts with one token.
    busy_begin(&busy);
    forward(&busy, &encoder, 1, 1500, 1500);
    for (int64_t keys = 1; keys < 5; keys++)
        attend_decoder(&busy, 1, keys);
    hand_analyze(&busy.hand);
    expect(&busy, 0, "decode", 4, 4);
    hand_end(&busy.hand);
}

// Every second layer sees only the last 64 positions.
static void a_window_does_not_disturb(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    forward(&busy, &(struct model){llama.op, 4, 4, false}, 1, 100, 100);
    for (int64_t keys = 101; keys < 104; keys++) {
        look_up(&busy, 1, 1);
        for (int i = 0; i < 4; i++)
            attend(&busy, &llama, 1, 1, i % 2 ? keys : 64);
    }
    hand_analyze(&busy.hand);
    expect(&busy, 0, "prefill", 1, 100);
    expect(&busy, 1, "decode", 3, 3);
    hand_end(&busy.hand);
}

static void a_recording_that_cuts_a_pass_does_not_count_it(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    attend(&busy, &llama, 1, 1, 70); // its last layer
    for (int64_t keys = 71; keys < 75; keys++)
        forward(&busy, &llama, 1, 1, keys);
    look_up(&busy, 1, 1);
    attend(&busy, &llama, 1, 1, 75); // its first layer
    hand_analyze(&busy.hand);
    expect(&busy, 0, "decode", 4, 4);
    hand_end(&busy.hand);
}

// Compiled with a cache that is passed whole: only marks separate the passes, and marks alone do
// not prove what they are.
static void marks_part_passes(void **state)
{
    (void)state;
    static const struct model compiled = {"flash_attn::_flash_attn_forward", LAYERS, 4, true};
    struct busy busy;
    busy_begin(&busy);
    for (int pass = 0; pass < 5; pass++) {
        int64_t begin_ns = busy_step_begin(&busy);
        // Without marks, layers that see an encoder's output first would look like one long run.
        attend(&busy, &compiled, 2, 1, 77);
        forward(&busy, &compiled, 2, 1, 50 + pass);
        busy_step_end(&busy, begin_ns, pass);
    }
    hand_analyze(&busy.hand);
    expect(&busy, 0, "decode", 5, 10);
    hand_end(&busy.hand);
}

// Each request on its own, as in engines without their own kernels: lookups show the pass, calls do
// not.
static void a_call_for_each_request_tells_no_tokens(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int pass = 0; pass < 4; pass++) {
        look_up(&busy, 2, 1);
        for (int layer = 0; layer < LAYERS; layer++) {
            attend(&busy, &llama, 1, 1, 50 + pass);
            attend(&busy, &llama, 1, 1, 90 + pass);
        }
    }
    expect_nothing(&busy);
}

// A pipeline stage has no lookups, and two micro-batches of one length look like more layers.
static void a_stage_without_lookups_tells_nothing(void **state)
{
    (void)state;
    struct model stage = {llama.op, LAYERS, 4, true};
    for (int sends = 0; sends < 2; sends++) {
        struct busy busy;
        busy_begin(&busy);
        for (int pass = 0; pass < 4; pass++) {
            forward(&busy, &stage, 1, 1, 50 + pass);
            busy_run(&busy, (struct busy_work){.op = "c10d::send",
                                               .kernel = sends ? "ncclDevKernel_SendRecv(x)"
                                                               : "elementwise_kernel",
                                               .dur_ns = 5 * US});
        }
        hand_analyze(&busy.hand);
        assert_int_equal(hand_rows(&busy.hand, "phases") > 0, !sends);
        hand_end(&busy.hand);
    }
}

static void softmax_run(struct busy *busy, int64_t queries, int64_t keys)
{
    char dims[3][96];
    snprintf(dims[0], 96, "[[8,%" PRId64 ",16],[8,16,%" PRId64 "]]", queries, keys);
    snprintf(dims[1], 96, "[[2,4,%" PRId64 ",%" PRId64 "],[],[]]", queries, keys);
    snprintf(dims[2], 96, "[[8,%" PRId64 ",%" PRId64 "],[8,%" PRId64 ",16]]", queries, keys, keys);
    const char *two = "[\"float\",\"float\"]";
    busy_run(
        busy,
        (struct busy_work){
            .op = "aten::bmm", .kernel = "gemv", .dims = dims[0], .types = two, .dur_ns = 5 * US});
    busy_run(busy, (struct busy_work){.op = "aten::_softmax",
                                      .kernel = "softmax_warp_forward",
                                      .dims = dims[1],
                                      .types = "[\"float\",\"Scalar\",\"Scalar\"]",
                                      .dur_ns = 5 * US});
    busy_run(
        busy,
        (struct busy_work){
            .op = "aten::bmm", .kernel = "gemv", .dims = dims[2], .types = two, .dur_ns = 5 * US});
}

static void attention_from_parts_tells_it_too(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    for (int pass = 0; pass < 4; pass++) {
        look_up(&busy, 2, pass ? 1 : 9);
        for (int i = 0; i < LAYERS; i++)
            softmax_run(&busy, pass ? 1 : 9, 9 + pass);
    }
    hand_analyze(&busy.hand);
    expect(&busy, 0, "prefill", 1, 18);
    expect(&busy, 1, "decode", 3, 6);
    hand_end(&busy.hand);
}

static void a_training_has_no_phases(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    generate(&busy, &llama, 8, 50, 3); // samples of a run that trains on them
    busy_host(&busy, EVENT_CPU_OP, "autograd::engine::evaluate_function: MmBackward0", busy.host_ns,
              5 * US);
    busy.host_ns += US;
    busy_run(&busy, (struct busy_work){.op = "MmBackward0", .kernel = "nvjet", .dur_ns = 30 * US});
    expect_nothing(&busy);
}

static void real_traces_without_decode_have_no_phases(void **state)
{
    (void)state;
    static const char *const real[] = {
        "h100_qwen1.5", "h100_bert_small", "h100_owlv2", "h100_vit_detection", "mi300x_qwen1.5",
    };
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        char path[96];
        snprintf(path, sizeof path, "../shared/traces/%s.json.gz", real[i]);
        if (access(path, R_OK) != 0) {
            print_message("no real traces: %s is absent\n", path);
            skip();
        }
        struct hand hand = {.options = {.warmup_steps = -1}};
        arena_init(&hand.arena, &hand.budget);
        hand.report.arena = &hand.arena;
        hand.trace = ingest_file(path, &hand.budget, NULL, &hand.err);
        assert_true(hand.trace &&
                    analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err));
        assert_int_equal(hand_rows(&hand, "phases"), 0);
        hand_end(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_growing_cache_tells_prefill_from_decode),
        cmocka_unit_test(what_comes_once_after_a_text_is_in_no_pass),
        cmocka_unit_test(operators_in_operators_are_one_call),
        cmocka_unit_test(a_static_cache_needs_the_lookups),
        cmocka_unit_test(chunks_of_a_prompt_are_prefill),
        cmocka_unit_test(drafts_are_neither),
        cmocka_unit_test(encoders_have_no_prefill),
        cmocka_unit_test(an_encoder_beside_a_model_is_no_prefill),
        cmocka_unit_test(cross_attention_does_not_disturb),
        cmocka_unit_test(a_window_does_not_disturb),
        cmocka_unit_test(a_recording_that_cuts_a_pass_does_not_count_it),
        cmocka_unit_test(marks_part_passes),
        cmocka_unit_test(a_call_for_each_request_tells_no_tokens),
        cmocka_unit_test(a_stage_without_lookups_tells_nothing),
        cmocka_unit_test(attention_from_parts_tells_it_too),
        cmocka_unit_test(a_training_has_no_phases),
        cmocka_unit_test(real_traces_without_decode_have_no_phases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
