// SPDX-License-Identifier: Apache-2.0
// Steps that a terminal broke into lines, and those of fairseq, which stand in JSON within lines.
#include "tests/unit/links_hand.h"

static void assert_value(const struct links_hand *hand, size_t at, enum log_value value,
                         double wanted)
{
    assert_true(at < hand->evidence.log.step_count);
    const struct log_step *step = &hand->evidence.log.steps[at];
    assert_true(log_step_has(step, value));
    assert_near(step->values[value], wanted, 1e-9 * fabs(wanted));
}

// In pieces of a few bytes.
static void read_wrapped(struct links_hand *hand, struct str text)
{
    struct format_hint hint = {.filename = STR("0.log"), .scratch = {-1, 0}};
    struct format_found found;
    *hand = (struct links_hand){.budget = {.limit = (uint64_t)64 << 20}};
    evidence_init(&hand->evidence, &hand->budget);
    struct source *source = source_mem_open(text.at, text.len, 7, &hand->err);
    source = format_open(source, &hint, &found, &hand->err);
    assert_non_null(source);
    assert_int_equal(found.layer_count, 1);
    assert_string_equal(found.layers[0]->name, "wrapped-log");
    struct format_input input = {
        .source = source, .budget = &hand->budget, .evidence = &hand->evidence};
    assert_true(found.format->gather(&input, &hand->err));
    source_close(source);
}

static void lines_that_a_terminal_broke_are_whole_again(void **state)
{
    (void)state;
    struct links_hand hand;
    read_wrapped(
        &hand,
        STR("building GPT model ...\n"
            " [2025-10-02 01:00:00] iteration       10/      50 | consumed samples: 5120 | el\n"
            "apsed time per iteration (ms): 1250.5 | learning rate: 3.0E-04 | global batch si\n"
            "ze:   512 | lm loss: 9.904578E+00 | loss scale: 1.0 | grad norm: 0.255 | number \n"
            "of nan iterations:   0 |\n"
            " [2025-10-02 01:00:01] iteration       20/      50 | consumed samples: 5120 | el\n"
            " [2025-10-02 01:00:02] iteration       30/      50 | consumed samples: 5120 | el\n"
            "apsed time per iteration (ms): 1260.5 | learning rate: 3.0E-04 | lm loss: 9.8 |\n"
            "a line that is exactly as long as the terminal is wide, but that is of no step..\n"
            "iteration 40/ 50 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 |\n"));
    assert_int_equal(hand.evidence.log.step_count, 3);
    assert_value(&hand, 0, LOG_STEP_S, 1.2505);
    assert_value(&hand, 0, LOG_GLOBAL_BATCH, 512);
    assert_value(&hand, 0, LOG_NAN, 0);
    assert_value(&hand, 1, LOG_STEP_S, 1.2605);
    assert_value(&hand, 2, LOG_LOSS, 9);
    links_hand_free(&hand);
}

static void figures_of_hf_that_a_terminal_broke_are_whole_again(void **state)
{
    (void)state;
    struct links_hand hand;
    read_wrapped(
        &hand,
        STR("{'loss': 1.25, 'grad_norm': 0.5000000000000001, 'learning_rate': 6.25e-06, 'epoc\n"
            "h': 0.125}\n"
            "  1%|#  | 5/500 [00:10<16:30,  2.00s/it]\n"
            "{'loss': 1.125, 'epoch': 0.25}\n"
            "  2%|#  | 10/500 [00:20<16:20,  2.00s/it]\n"
            "{'loss': 1.0625, 'grad_norm': 0.50000001, 'learning_rate': 6e-06, 'epoch': 0.37}\n"
            "  3%|#  | 15/500 [00:30<16:10,  2.00s/it]\n"));
    assert_int_equal(hand.evidence.log.step_count, 3);
    assert_int_equal(hand.evidence.log.steps[0].step, 5);
    assert_value(&hand, 0, LOG_LOSS, 1.25);
    assert_value(&hand, 0, LOG_EPOCH, 0.125);
    assert_int_equal(hand.evidence.log.steps[1].step, 10);
    assert_value(&hand, 1, LOG_LOSS, 1.125);
    assert_int_equal(hand.evidence.log.steps[2].step, 15); // a line as long as the terminal is wide
    assert_value(&hand, 2, LOG_EPOCH, 0.37);
    links_hand_free(&hand);
}

static void whole_lines_of_steps_need_no_terminal(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "iteration 1/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 | nans:   0 |\n"
        "iteration 2/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 | nans:   0 |\n",
        "iteration 1/ 9 | consumed samples:            5120 | a line that is written in two\n"
        "elapsed time per iteration (ms): 10.0 | lm loss: 9.0 | and longer than the first, so\n",
        "iteration 1/ 9 | consumed samples:            5120 | a line whose other half is not\n"
        "iteration 2/ 9 | elapsed time per iteration (ms): 10.0 | lm loss: 9.0 |\n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++)
        assert_string_not_equal(format_find(str_of(logs[i]), STR("a.log"))->name, "wrapped-log");
}

static void fairseq_prints_json_or_pairs_behind_the_name_of_its_logger(void **state)
{
    (void)state;
    struct links_hand hand;
    links_hand_read(
        &hand, "training-log",
        STR("2026-01-16 07:32:01 | INFO | train_inner | {\"epoch\": 1, \"update\": 0.02, "
            "\"loss\": \"8.2\", \"nll_loss\": \"7.1\", \"wps\": \"1195.4\", \"bsz\": \"46\", "
            "\"num_updates\": \"300\", \"lr\": \"0.5\", \"gnorm\": \"1.8\", \"wall\": \"30\"}\n"
            "2026-01-16 07:32:05 | INFO | valid | {\"epoch\": 1, \"valid_loss\": \"9.5\", "
            "\"valid_num_updates\": \"300\"}\n"
            "2026-01-16 07:32:09 | INFO | train_inner | epoch 001:    400 / 5000 loss=8.1, "
            "nll_loss=7.0, wps=1200, bsz=46, num_updates=400, lr=0.4, gnorm=1.7, wall=38\n"));
    assert_int_equal(hand.evidence.log.step_count, 2);
    assert_int_equal(hand.evidence.log.steps[0].step, 300);
    assert_value(&hand, 0, LOG_LOSS, 8.2);
    assert_value(&hand, 0, LOG_JOB_TOKENS_PER_S, 1195.4);
    assert_value(&hand, 0, LOG_GRAD_NORM, 1.8);
    assert_int_equal(hand.evidence.log.steps[1].step, 400);
    assert_value(&hand, 1, LOG_LOSS, 8.1);
    assert_value(&hand, 1, LOG_LEARNING_RATE, 0.4);
    assert_value(&hand, 1, LOG_RUN_S, 38);
    links_hand_free(&hand);
    links_hand_read(&hand, "training-log",
                    STR("{\"epoch\": 1, \"loss\": \"8.2\", \"num_updates\": \"300\"}\n"
                        "{\"epoch\": 1, \"loss\": \"8.1\", \"num_updates\": \"400\"}\n"));
    assert_int_equal(hand.evidence.log.step_count, 2);
    links_hand_free(&hand);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_that_a_terminal_broke_are_whole_again),
        cmocka_unit_test(figures_of_hf_that_a_terminal_broke_are_whole_again),
        cmocka_unit_test(whole_lines_of_steps_need_no_terminal),
        cmocka_unit_test(fairseq_prints_json_or_pairs_behind_the_name_of_its_logger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
