// SPDX-License-Identifier: Apache-2.0
// Prefill and decode of inference engines: what annotations say, and how time is split between
// them.
#include "tests/unit/findings_hand.h"

#include "analysis/work/serving.h"
#include "analysis/work/work_model.h"
#include "ingest/ingest.h"

#include <unistd.h>

static struct serving_pass read_name(const char *name)
{
    struct serving_pass pass;
    serving_read(str_of(name), &pass);
    return pass;
}

static void names_of_engines_are_read(void **state)
{
    (void)state;
    struct serving_pass pass = read_name("execute_context_1(512)_generation_3(3)");
    assert_int_equal(pass.phase, SERVING_MIXED);
    assert_int_equal(pass.context.tokens, 512);
    assert_int_equal(pass.generation.requests, 3);
    assert_false(count_known(pass.context.pairs));

    pass = read_name("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32"
                     "sqsk55086)");
    assert_int_equal(pass.phase, SERVING_DECODE);
    assert_int_equal(pass.generation.tokens, 32);
    assert_int_equal(pass.generation.keys, 55086);
    assert_int_equal(pass.generation.pairs, 55086);

    pass = read_name("step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]");
    assert_int_equal(pass.phase, SERVING_PREFILL);
    assert_int_equal(pass.context.requests, 2);
    assert_int_equal(pass.context.tokens, 12);
    assert_int_equal(pass.context.squares, 80);
    assert_int_equal(pass.context.pairs, 120);
    assert_int_equal(pass.context.keys, 20);
    assert_int_equal(pass.generation.tokens, 0);

    pass = read_name("step[DECODE bs=32]");
    assert_int_equal(pass.phase, SERVING_DECODE);
    assert_int_equal(pass.generation.tokens, 32);
    assert_false(count_known(pass.generation.keys));

    pass = read_name("step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 "
                     "g_sqsq=1 g_sqsk=12]");
    assert_int_equal(pass.phase, SERVING_MIXED);
    assert_int_equal(pass.context.tokens, 5);
    assert_int_equal(pass.generation.keys, 12);

    assert_int_equal(read_name("prefill[bs=2 tok=16384]").context.tokens, 16384);
    assert_int_equal(read_name("step[TARGET_VERIFY bs=4]").phase, SERVING_VERIFY);
    static const char *const others[] = {
        "execute_context_",
        "execute_context_0(0)_generation_0(0)",
        "step[EXTEND bs=2",
        "step[IDLE bs=0]",
        "ProfilerStep#3",
        "decode[0]",
        "",
        "execute_context_99999999999999999999(1)_generation_0(0)",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(read_name(others[i]).phase, SERVING_NONE);
}

// A pass of back-to-back kernels of `dur_ns` each.
static void run_pass(struct busy *busy, const char *name, int kernels, int64_t dur_ns)
{
    int64_t begin_ns = busy->host_ns;
    busy->host_ns += US;
    busy_repeat(busy, kernels,
                (struct busy_work){.op = "aten::mm", .kernel = "nvjet", .dur_ns = dur_ns});
    busy_host(busy, EVENT_ANNOTATION, name, begin_ns, busy->host_ns + US - begin_ns);
    busy->host_ns += 2 * US;
}

static void each_phase_has_its_tokens_and_time(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run_pass(&busy, "step[EXTEND bs=2 toks=1000]", 4, 100 * US); // 400 us
    for (int i = 0; i < 3; i++)
        run_pass(&busy, "step[DECODE bs=8]", 2, 25 * US); // 50 us each
    busy_run(&busy, (struct busy_work){.op = "aten::argmax", .kernel = "reduce", .dur_ns = 7 * US});
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "phases"), 3);
    assert_string_equal(hand_word(&busy.hand, "phases", 0, "phase"), "prefill");
    assert_int_equal(hand_i64(&busy.hand, "phases", 0, "tokens"), 1000);
    assert_int_equal(hand_i64(&busy.hand, "phases", 0, "window_ns"), 400 * US);
    assert_about((int64_t)hand_cell(&busy.hand, "phases", 0, "tokens_per_second")->f, 2.5e6);
    assert_string_equal(hand_word(&busy.hand, "phases", 1, "phase"), "decode");
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "passes"), 3);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "tokens"), 24);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "median_pass_ns"), 50 * US);
    assert_int_equal(hand_i64(&busy.hand, "phases", 1, "gemm_ns"), 150 * US);
    assert_about((int64_t)hand_cell(&busy.hand, "phases", 1, "tokens_per_second")->f, 160e3);
    assert_string_equal(hand_word(&busy.hand, "phases", 2, "phase"), "between");
    assert_int_equal(hand_i64(&busy.hand, "phases", 2, "window_ns"), 7 * US);
    assert_true(hand_cell(&busy.hand, "phases", 2, "passes")->null);
    hand_end(&busy.hand);
}

static void training_has_no_phases(void **state)
{
    (void)state;
    struct busy busy;
    busy_begin(&busy);
    run_pass(&busy, "ProfilerStep#1", 4, 100 * US);
    run_pass(&busy, "forward_decode", 4, 100 * US);
    hand_analyze(&busy.hand);
    assert_int_equal(hand_rows(&busy.hand, "phases"), 0);
    hand_end(&busy.hand);
}

static void lengths_of_an_annotation_give_attention_its_work(void **state)
{
    (void)state;
    // Two prompts of 8 and 4 new tokens after 2 and 6: pairs 8 * 10 + 4 * 10 less half of 64 + 16.
    struct serving_pass pass = read_name("step[EXTEND bs=2 toks=12 c_sqsq=80 c_sqsk=120 c_sk=20]");
    struct op_arg_texts texts = {
        .dims = STR("[[12,4,16],[100,2,16],[100,2,16]]"),
        .types = STR("[\"c10::BFloat16\",\"c10::BFloat16\",\"c10::BFloat16\"]")};
    struct arg_list args;
    struct work work;
    struct str op = STR("aiter::mha_batch_prefill");
    op_args_parse(&texts, &args);
    work_model(op, &args, &work);
    assert_false(count_known(work.flops));
    work_paged(op, &args, &pass, &work);
    assert_int_equal(work.flops, 2 * (120 - 40) * 4 * (16 + 16));
    assert_int_equal(work.bytes, 12 * 4 * 32 * 2 + 20 * 2 * 32 * 2);
    // A call with a different number of tokens than the pass is left alone.
    pass.context.tokens = 13;
    work_model(op, &args, &work);
    work_paged(op, &args, &pass, &work);
    assert_false(count_known(work.flops));
}

static void real_passes_are_distinguished(void **state)
{
    (void)state;
    static const struct {
        const char *path, *phase;
        int64_t tokens;
    } real[] = {{"../shared/traces/mi300x_sglang_prefill.json.gz", "prefill", 15360},
                {"../shared/traces/mi300x_sglang_decode_graph.json.gz", "decode", 32},
                {"../shared/traces/mi300x_vllm_decode_graph.json.gz", "decode", 32}};
    for (size_t i = 0; i < sizeof real / sizeof *real; i++) {
        if (access(real[i].path, R_OK) != 0) {
            print_message("no real traces: %s is absent\n", real[i].path);
            skip();
        }
        struct hand hand = {.options = {.warmup_steps = -1}};
        arena_init(&hand.arena, &hand.budget);
        hand.report.arena = &hand.arena;
        hand.trace = ingest_file(real[i].path, &hand.budget, NULL, &hand.err);
        assert_true(hand.trace &&
                    analyze_trace(hand.trace, &hand.options, &hand.report, &hand.err));
        assert_string_equal(hand_word(&hand, "phases", 0, "phase"), real[i].phase);
        assert_int_equal(hand_i64(&hand, "phases", 0, "tokens"), real[i].tokens);
        int64_t unknown_ns = 0;
        for (size_t r = 0; r < hand_rows(&hand, "roofline"); r++)
            if (hand_cell(&hand, "roofline", r, "bytes")->null)
                unknown_ns += hand_i64(&hand, "roofline", r, "owned_ns");
        assert_true(unknown_ns < 100 * US);
        hand_end(&hand);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_engines_are_read),
        cmocka_unit_test(each_phase_has_its_tokens_and_time),
        cmocka_unit_test(training_has_no_phases),
        cmocka_unit_test(lengths_of_an_annotation_give_attention_its_work),
        cmocka_unit_test(real_passes_are_distinguished),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
