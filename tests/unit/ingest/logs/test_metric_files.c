// SPDX-License-Identifier: Apache-2.0
// Files of metrics: lines of JSON, torchtitan's structured logs, states of a trainer, TensorBoard.
#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static struct budget budget;
static struct evidence evidence;

static int set_up(void **state)
{
    (void)state;
    budget = (struct budget){.limit = (uint64_t)64 << 20};
    evidence_init(&evidence, &budget);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    evidence_free(&evidence);
    assert_int_equal(budget.used, 0);
    return 0;
}

static const char *format_of(struct str text, const char *name)
{
    const struct format *found = format_find(text, str_of(name));
    return found ? found->name : "nothing";
}

static bool gather(const char *name, struct str text, struct err *err)
{
    *err = (struct err){.pos = ERR_NO_POS};
    const struct format *format = format_named(str_of(name));
    assert_non_null(format);
    struct source *source = source_mem_open(text.at, text.len, 7, err);
    struct format_input input = {.source = source, .budget = &budget, .evidence = &evidence};
    bool ok = format->gather(&input, err);
    source_close(source);
    return ok;
}

static void read_all(const char *name, struct str text)
{
    struct err err;
    if (!gather(name, text, &err))
        fail_msg("%s", err.msg);
}

static void assert_step(size_t at, int64_t step, enum log_value value, double number)
{
    assert_true(at < evidence.log.step_count);
    const struct log_step *found = &evidence.log.steps[at];
    assert_int_equal(found->step, step);
    assert_true(log_step_has(found, value));
    double printed = found->values[value];
    if (!(printed == number || (isnan(printed) && isnan(number))))
        fail_msg("step %lld: %g, expected %g", (long long)step, printed, number);
}

static const struct metric_series *series_of(const char *name)
{
    for (size_t i = 0; i < evidence.metrics.series_count; i++)
        if (str_equal(evidence.metrics.series[i].name, str_of(name)))
            return &evidence.metrics.series[i];
    fail_msg("no %s", name);
    return NULL;
}

// --- lines of JSON ------------------------------------------------------------------------------

static void lines_with_a_step_are_metrics(void **state)
{
    (void)state;
    read_all(
        "jsonl",
        STR("{\"step\": 3, \"loss\": 2.5, \"tps\": 900, \"_timestamp\": 1763625600.5}\n"
            "\n"
            "{\"step\": 4, \"loss\": NaN, \"note\": \"a, \\\"b\\\": {\", \"x\": [1, {\"loss\": "
            "1}], \"lr\": 1e-4}\n"
            "{\"loss\": 7}\n"
            "{\"step\": 5, \"loss\": 2.25"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 3, LOG_LOSS, 2.5);
    assert_step(0, 3, LOG_TOKENS_PER_S, 900);
    assert_true(evidence.log.steps[0].time_ns == INT64_C(1763625600500000000));
    assert_true(evidence.log.utc);
    assert_step(1, 4, LOG_LOSS, NAN);
    assert_step(1, 4, LOG_LEARNING_RATE, 1e-4);
    assert_int_equal(evidence.metrics.records, 3); // half a line is none
    assert_int_equal(series_of("loss")->count, 2);
}

static void tokens_of_the_job_are_not_those_of_a_gpu(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"step\": 1, \"tps\": 800, \"tps_per_gpu\": 100, \"mfu\": 50}\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 1, LOG_COPY_TOKENS_PER_S, 100);
    assert_step(0, 1, LOG_JOB_TOKENS_PER_S, 800);
    assert_step(0, 1, LOG_MFU, 0.5);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_TOKENS_PER_S));
}

static void tokens_of_the_job_are_not_those_of_a_gpu_in_a_table(void **state)
{
    (void)state;
    read_all("metrics-csv", STR("step,loss,tps,tps_per_gpu\n1,2.5,800,100\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 1, LOG_JOB_TOKENS_PER_S, 800);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_TOKENS_PER_S));
}

static void objects_in_a_line_give_their_name_to_their_figures(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"_step\": 1, \"train\": {\"loss\": 3, \"a\": {\"step\": 7}}, \"h\": "
                          "{\"_type\": \"histogram\", \"count\": 2}}\n{\"_step\": 2, \"train\": "
                          "{\"loss\": 2}}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_true(evidence.log.steps[1].values[LOG_LOSS] == 2);
    assert_int_equal(evidence.metrics.series_count, 2);
}

static void numbers_may_be_in_quotes_as_their_step_is(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"step\": \"1\", \"loss\": \"2.50\", \"run\": \"a\"}\n"
                          "{\"step\": 2, \"loss\": \"2.25\", \"lr\": 0.5}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 1, LOG_LOSS, 2.5);
    assert_step(1, 2, LOG_LEARNING_RATE, 0.5);
    assert_int_equal(evidence.metrics.series_count, 2);
    assert_false(log_step_has(&evidence.log.steps[1], LOG_LOSS));
}

static void plain_names_may_be_in_any_case(void **state)
{
    (void)state;
    read_all("metrics-csv", STR("Step,Loss,Learning_Rate,Throughput\n3,2.5,0.5,7\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 3, LOG_LOSS, 2.5);
    assert_step(0, 3, LOG_LEARNING_RATE, 0.5);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_TFLOPS)); // it may be of anything
}

static void steps_that_go_back_are_new_ones(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"_step\": 1, \"loss\": 3}\n{\"_step\": 2, \"loss\": 2}\n"
                          "{\"_step\": 1, \"loss\": 2.5}\n"));
    assert_int_equal(evidence.log.step_count, 3);
    assert_step(2, 1, LOG_LOSS, 2.5);
}

// Of Hugging Face's callback: each call is a "_step", also that of an evaluation.
static void calls_of_wandb_are_no_steps(void **state)
{
    (void)state;
    read_all("jsonl",
             STR("{\"_step\":0,\"train/loss\":2.5,\"train/epoch\":0.1,\"train/global_step\":10}\n"
                 "{\"_step\":1,\"eval/loss\":2.25,\"train/epoch\":0.1,\"train/global_step\":10}\n"
                 "{\"_step\":2,\"train/loss\":2,\"train/epoch\":0.2,\"train/global_step\":20}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 10, LOG_EPOCH, 0.1);
    assert_step(1, 20, LOG_LOSS, 2);
}

static void calls_of_wandb_are_no_steps_of_a_table(void **state)
{
    (void)state;
    read_all("metrics-csv", STR("_step,train_loss,trainer/global_step\n0,2.5,49\n1,2,99\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 49, LOG_LOSS, 2.5);
    assert_step(1, 99, LOG_LOSS, 2);
}

static void steps_of_torchtune_go_before_calls(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"_step\": 3, \"loss\": 2.5, \"global_step\": 40}\n"));
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 40, LOG_LOSS, 2.5);
}

// As ms-swift appends it: the mean loss of all steps.
static void what_sums_up_a_job_is_no_step(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"loss\": 1.5, \"epoch\": 0.5, \"global_step/max_steps\": \"5/10\"}\n"
                          "{\"loss\": 0.5, \"epoch\": 1.0, \"global_step/max_steps\": \"10/10\", "
                          "\"train_runtime\": 118.5}\n"
                          "{\"train_runtime\": 118.5, \"train_loss\": 0.75, \"epoch\": 1.0, "
                          "\"global_step/max_steps\": \"10/10\"}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(1, 10, LOG_LOSS, 0.5);
    assert_step(1, 10, LOG_RUN_S, 118.5);
    assert_true(series_of("train_loss")->last == 0.75);
}

static void a_throughput_is_of_operations_where_megatron_writes_it(void **state)
{
    (void)state;
    read_all("jsonl", STR("{\"step\": 1, \"lm loss\": 2.5, \"iteration-time\": 0.5, "
                          "\"throughput\": 400}\n"
                          "{\"step\": 2, \"loss\": 2.5, \"throughput\": 82.5}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 1, LOG_TFLOPS, 400);
    assert_false(log_step_has(&evidence.log.steps[1], LOG_TFLOPS));
}

#define TITAN(step)     "{\"step\": " step ", \"tps\": 100, \"time_metrics/end_to_end(s)\": 0.5}\n"
#define VALIDATED(step) "{\"step\": " step ", \"validation_metrics/loss\": 3}\n"

// Ten steps between two lines, by which their time is divided, and validations after every fifth.
static void times_of_torchtitan_are_of_the_steps_since_a_validation(void **state)
{
    (void)state;
    read_all("jsonl",
             STR(TITAN("1") TITAN("10") VALIDATED("10") TITAN("20") VALIDATED("25") TITAN("30")));
    assert_int_equal(evidence.log.step_count, 4);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_STEP_S)); // of one step
    assert_false(log_step_has(&evidence.log.steps[1], LOG_STEP_S)); // of nine
    assert_step(2, 20, LOG_STEP_S, 0.5);
    assert_step(3, 30, LOG_STEP_S, 1);
}

static void llama_factory_has_times_since_its_start(void **state)
{
    (void)state;
    read_all("jsonl",
             STR("{\"current_steps\": 10, \"total_steps\": 300, \"loss\": 1.9, \"lr\": 1e-05, "
                 "\"epoch\": 0.1, \"percentage\": 3.33, \"elapsed_time\": \"0:01:10\", "
                 "\"remaining_time\": \"0:10:00\", \"throughput\": 7233.5, \"total_tokens\": "
                 "509504}\n{\"current_steps\": 30, \"loss\": 1.8, \"elapsed_time\": \"1 day, "
                 "0:03:30\", \"throughput\": 7000}\n"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 10, LOG_CONSUMED_TOKENS, 509504);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_JOB_TOKENS_PER_S));
    assert_step(1, 30, LOG_LOSS, 1.8);
    assert_step(1, 30, LOG_STEP_S, (86400 + 140) / 20.0);
    assert_false(log_step_has(&evidence.log.steps[0], LOG_TFLOPS));
    assert_string_equal(
        format_of(STR("{\"current_steps\": 1, \"loss\": 2}\n{\"curr"), "trainer_log.jsonl"),
        "jsonl");
}

static void lines_of_other_kinds_are_no_metrics(void **state)
{
    (void)state;
    assert_string_equal(format_of(STR("{\"step\": 1, \"loss\": 2}\n{\"step\": 2"), "m.jsonl"),
                        "jsonl");
    assert_string_equal(format_of(STR("{\"step\": 1, \"loss\": 2}\n"), "m.jsonl"), "jsonl");
    assert_string_equal(format_of(STR("{\"step\": 1, \"loss\": 2}\n"), "m.json"), "kineto");
    assert_string_equal(format_of(STR("{\"loss\": 2}\n{\"loss\": 2"), "m.jsonl"), "kineto");
    assert_string_equal(format_of(STR("{\"header\": {\"id\": \"0x1\"}, \"coll_perf\": {\"coll\": "
                                      "\"AllReduce\"}}\n{"),
                                  "m.jsonl"),
                        "nccl-inspector");
    assert_string_equal(format_of(STR("{\"step\": 1, \"ph\": \"X\"}\n{\"step\": 2"), "x"),
                        "kineto");
}

static void lines_without_a_figure_are_refused(void **state)
{
    (void)state;
    struct err err;
    assert_false(gather("jsonl",
                        STR("{\"step\": 1, \"a\": \"b\"}\n{\"step\": -2, \"a\": 1}\n"
                            "{\"step\": 99999999999999999999, \"loss\": 1}\n[]\nx\n"),
                        &err));
    assert_int_equal(err.code, ERR_FORMAT);
}

// --- structured logs ----------------------------------------------------------------------------

#define RECORD(us, kind, name, more)                                                            \
    "{\"rank\": 0, \"global_rank\": 3, \"step\": 7, \"time_us\": " us ", \"log_type\": \"" kind \
    "\", \"log_type_name\": \"" name "\"" more "}\n"

static void spans_are_paired_within_their_task(void **state)
{
    (void)state;
    const struct str text = STR(
        RECORD("1000", "instant", "training_start", "") RECORD("2000", "event", "step_start", "")
            RECORD("2100", "event", "optim_start", ", \"task_name\": \"a\"") RECORD(
                "2200", "event", "forward_start", "") RECORD("2500", "event", "forward_end", "")
                RECORD("2600", "event", "optim_end", ", \"task_name\": \"a\"")
                    RECORD("3000", "event", "step_end", "") RECORD("3100", "event", "save_end", "")
                        RECORD("3200", "event", "save_start", ""));
    assert_string_equal(format_of(text, "x"), "torchtitan-structured");
    read_all("torchtitan-structured", text);
    const struct metric_book *book = &evidence.metrics;
    assert_int_equal(book->rank, 3);
    assert_int_equal(book->records, 9);
    assert_int_equal(book->numbered_steps, 1);
    assert_int_equal(book->ends_without_start, 1);
    assert_int_equal(book->starts_without_end, 1);
    assert_int_equal(book->span_count, 4);
    assert_true(str_equal(book->spans[0].name, STR("forward")));
    assert_int_equal(book->spans[0].dur_ns, 300000);
    assert_true(str_equal(book->spans[1].name, STR("optim")));
    assert_int_equal(book->spans[1].dur_ns, 500000);
    assert_int_equal(book->spans[3].dur_ns, -1);
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 7, LOG_STEP_S, 0.001);
    assert_int_equal(evidence.log.steps[0].rank, 3);
}

static void errors_and_metrics_are_kept(void **state)
{
    (void)state;
    read_all("torchtitan-structured",
             STR(RECORD("2000", "event", "optim_error", ", \"message\": \"no gradient\"") RECORD(
                 "2100", "instant", "metric_value", ", \"event_name\": \"loss\", \"value\": 2.5")
                     RECORD("-5", "event", "step_start", "")
                         RECORD("9223372036854775807", "event", "step_start", "") "{\"cut\": "));
    assert_int_equal(evidence.metrics.records, 2);
    assert_int_equal(evidence.log.event_count, 1);
    assert_int_equal(evidence.log.events[0].kind, LOG_FAULT);
    assert_true(str_equal(evidence.log.events[0].text, STR("no gradient")));
    assert_step(0, 7, LOG_LOSS, 2.5);
}

// --- states of a trainer ------------------------------------------------------------------------

static void the_history_of_a_trainer_is_read(void **state)
{
    (void)state;
    const struct str text = STR("{\"best_metric\": null, \"global_step\": 30, \"log_history\": ["
                                "{\"epoch\": 0.1, \"loss\": 2.5, \"step\": 10},"
                                "{\"step\": 20, \"loss\": NaN, \"learning_rate\": 4e-5},"
                                "{\"eval_loss\": 1.5, \"eval_runtime\": 3.25, \"step\": 20},"
                                "{\"loss\": 1}, 7, [],"
                                "{\"step\": 30, \"train_loss\": 2.25, \"train_runtime\": 9.5}],"
                                "\"logging_steps\": 10, \"callbacks\": {\"a\": 1}}");
    assert_string_equal(format_of(text, "x"), "trainer_state");
    read_all("trainer_state", text);
    assert_int_equal(evidence.metrics.records, 5);
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 10, LOG_LOSS, 2.5);
    assert_step(0, 10, LOG_EPOCH, 0.1);
    assert_step(1, 20, LOG_LOSS, NAN);
    assert_int_equal(evidence.log.event_count, 1);
    assert_true(evidence.log.events[0].loss == 1.5);
    assert_true(evidence.log.events[0].dur_ns == INT64_C(3250000000));
    assert_int_equal(evidence.setting_count, 2);
    assert_true(str_equal(evidence.settings[1].name, STR("logging_steps")));
}

// With include_num_input_tokens_seen, Trainer 5 writes how long the job has run into each item.
static void how_long_the_job_has_run_is_no_mean_of_it(void **state)
{
    (void)state;
    read_all("trainer_state",
             STR("{\"log_history\": ["
                 "{\"loss\": 7.594, \"step\": 5, \"train_runtime\": 2.8195,"
                 " \"num_input_tokens_seen\": 5120, \"train_tokens_per_second\": 1815.911},"
                 "{\"loss\": 7.592, \"step\": 10, \"train_runtime\": 2.9114},"
                 "{\"step\": 10, \"train_loss\": 7.587, \"train_runtime\": 4.971}]}"));
    assert_int_equal(evidence.log.step_count, 2);
    assert_step(0, 5, LOG_LOSS, 7.594);
    assert_step(0, 5, LOG_CONSUMED_TOKENS, 5120);
    assert_step(1, 10, LOG_RUN_S, 2.9114);
}

static void a_history_that_is_cut_gives_what_came_before(void **state)
{
    (void)state;
    read_all("trainer_state",
             STR("{\"log_history\": [{\"loss\": 2.5, \"step\": 10}, {\"loss\": 2"));
    assert_int_equal(evidence.log.step_count, 1);
}

// --- TensorBoard --------------------------------------------------------------------------------

static uint32_t crc32c(const char *at, size_t len)
{
    uint32_t sum = UINT32_MAX;
    for (size_t i = 0; i < len; i++) {
        sum ^= (unsigned char)at[i];
        for (int bit = 0; bit < 8; bit++)
            sum = sum >> 1 ^ (sum & 1 ? UINT32_C(0x82F63B78) : 0);
    }
    return ~sum;
}

static void put_u32(struct buf *out, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        buf_putc(out, (char)(number >> 8 * i));
}

static void put_sum(struct buf *out, const char *at, size_t len)
{
    uint32_t sum = crc32c(at, len);
    put_u32(out, (sum >> 15 | sum << 17) + UINT32_C(0xA282EAD8));
}

static void put_record(struct buf *out, const struct buf *data)
{
    struct buf head = {0};
    put_u32(&head, (uint32_t)data->len);
    put_u32(&head, 0);
    buf_add(out, head.at, 8);
    put_sum(out, head.at, 8);
    buf_add(out, data->at, data->len);
    put_sum(out, data->at, data->len);
    buf_free(&head);
}

static void put_bytes(struct buf *out, char key, struct str bytes)
{
    buf_putc(out, key);
    buf_putc(out, (char)bytes.len);
    buf_add_str(out, bytes);
}

static void put_float(struct buf *out, char key, float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    buf_putc(out, key);
    put_u32(out, bits);
}

// An event of one value: its bytes after the tag.
static void put_event(struct buf *out, unsigned char step, const char *tag, const struct buf *value)
{
    const double wall = 1763625600.5;
    struct buf data = {0}, one = {0}, summary = {0};
    put_bytes(&one, 0x0A, str_of(tag));
    buf_add(&one, value->at, value->len);
    put_bytes(&summary, 0x0A, (struct str){one.at, one.len});
    buf_putc(&data, 0x09);
    buf_add(&data, &wall, sizeof wall);
    put_bytes(&data, 0x2A, (struct str){summary.at, summary.len});
    buf_putc(&data, 0x10);
    buf_putc(&data, (char)step);
    put_record(out, &data);
    buf_free(&data);
    buf_free(&one);
    buf_free(&summary);
}

static void put_scalar(struct buf *out, unsigned char step, const char *tag, float number)
{
    struct buf value = {0};
    put_float(&value, 0x15, number);
    put_event(out, step, tag, &value);
    buf_free(&value);
}

// As TensorFlow 2 and JAX write them: a tensor of one float.
static void put_tensor(struct buf *out, unsigned char step, const char *tag, float number)
{
    struct buf value = {0}, tensor = {0}, content = {0};
    buf_add(&tensor, "\x08\x01", 2);
    put_float(&content, 0, number);
    put_bytes(&tensor, 0x22, (struct str){content.at + 1, 4});
    put_bytes(&value, 0x42, (struct str){tensor.at, tensor.len});
    put_event(out, step, tag, &value);
    buf_free(&value);
    buf_free(&tensor);
    buf_free(&content);
}

static void put_version(struct buf *out)
{
    struct buf data = {0};
    put_bytes(&data, 0x1A, STR("brain.Event:2"));
    put_record(out, &data);
    buf_free(&data);
}

static void scalars_of_a_step_are_put_together(void **state)
{
    (void)state;
    struct buf file = {0};
    put_version(&file);
    put_scalar(&file, 5, "loss_metrics/global_avg_loss", 2.5f);
    put_scalar(&file, 5, "mfu(%)", 50);
    put_tensor(&file, 6, "loss_metrics/global_avg_loss", 2.25f);
    put_scalar(&file, 6, "my own", 1);
    put_scalar(&file, 5, "grad_norm", 1.5f);
    put_scalar(&file, 5, "grad_norm", 1.25f);
    struct str bytes = {file.at, file.len};
    assert_string_equal(format_of(bytes, "x"), "tfevents");
    assert_string_not_equal(format_of(STR("{\"traceEvents\": [{\"brain.Event:\": 2"), "x"),
                            "tfevents");
    read_all("tfevents", bytes);
    assert_int_equal(evidence.metrics.records, 7);
    assert_int_equal(evidence.metrics.damaged, 0);
    assert_int_equal(evidence.log.step_count, 3);
    assert_step(0, 5, LOG_LOSS, 2.5);
    assert_step(0, 5, LOG_MFU, 0.5);
    assert_step(0, 5, LOG_GRAD_NORM, 1.5);
    assert_step(1, 6, LOG_LOSS, 2.25);
    assert_step(2, 5, LOG_GRAD_NORM, 1.25);
    assert_true(evidence.log.steps[0].time_ns == INT64_C(1763625600500000000));
    assert_string_equal(series_of("loss_metrics/global_avg_loss")->kind, "simple_value");
    assert_int_equal(series_of("my own")->last_step, 6);
    buf_free(&file);
}

static void damage_of_a_record_is_counted(void **state)
{
    (void)state;
    struct buf file = {0};
    put_version(&file);
    size_t at = file.len;
    put_scalar(&file, 5, "loss", 2.5f);
    file.at[at + 20] ^= 1;
    put_scalar(&file, 6, "loss", 2.25f);
    size_t whole = file.len;
    put_scalar(&file, 7, "loss", 2);
    read_all("tfevents", (struct str){file.at, whole + (file.len - whole) / 2});
    assert_int_equal(evidence.metrics.records, 3);
    assert_int_equal(evidence.metrics.damaged, 1);
    assert_int_equal(evidence.log.step_count, 1);
    assert_step(0, 6, LOG_LOSS, 2.25);
    buf_free(&file);
}

static void a_length_that_cannot_be_ends_the_file(void **state)
{
    (void)state;
    struct buf file = {0};
    put_version(&file);
    for (int i = 0; i < 64; i++)
        buf_putc(&file, '\xFF');
    read_all("tfevents", (struct str){file.at, file.len});
    assert_int_equal(evidence.metrics.records, 1);
    assert_int_equal(evidence.metrics.damaged, 1);
    buf_free(&file);
}

static void zeros_end_the_file(void **state)
{
    (void)state;
    struct buf file = {0};
    put_version(&file);
    put_tensor(&file, 5, "epoch_loss", 2.5f);
    for (int i = 0; i < 512; i++)
        buf_putc(&file, '\0');
    read_all("tfevents", (struct str){file.at, file.len});
    assert_int_equal(evidence.metrics.records, 2);
    assert_int_equal(evidence.metrics.damaged, 1);
    assert_step(0, 5, LOG_LOSS, 2.5); // Keras, of an epoch
    assert_true(evidence.log.steps[0].time_ns == LOG_NO_TIME);
    buf_free(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(calls_of_wandb_are_no_steps),
        TEST(calls_of_wandb_are_no_steps_of_a_table),
        TEST(steps_of_torchtune_go_before_calls),
        TEST(what_sums_up_a_job_is_no_step),
        TEST(a_throughput_is_of_operations_where_megatron_writes_it),
        TEST(times_of_torchtitan_are_of_the_steps_since_a_validation),
        TEST(llama_factory_has_times_since_its_start),
        TEST(lines_with_a_step_are_metrics),
        TEST(tokens_of_the_job_are_not_those_of_a_gpu),
        TEST(tokens_of_the_job_are_not_those_of_a_gpu_in_a_table),
        TEST(objects_in_a_line_give_their_name_to_their_figures),
        TEST(numbers_may_be_in_quotes_as_their_step_is),
        TEST(plain_names_may_be_in_any_case),
        TEST(steps_that_go_back_are_new_ones),
        TEST(lines_of_other_kinds_are_no_metrics),
        TEST(lines_without_a_figure_are_refused),
        TEST(spans_are_paired_within_their_task),
        TEST(errors_and_metrics_are_kept),
        TEST(the_history_of_a_trainer_is_read),
        TEST(how_long_the_job_has_run_is_no_mean_of_it),
        TEST(a_history_that_is_cut_gives_what_came_before),
        TEST(scalars_of_a_step_are_put_together),
        TEST(damage_of_a_record_is_counted),
        TEST(zeros_end_the_file),
        TEST(a_length_that_cannot_be_ends_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
