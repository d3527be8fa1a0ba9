// SPDX-License-Identifier: Apache-2.0
// Traces with secrets everywhere: no kept text has one, and all are counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/ingest.h"
#include "ingest/trace/trace.h"

// Made up, and assembled here so that no file contains them.
#define BODY "Zq7Wm3Kx9Rt5Bn1Vc8Ly4Hd6Jf2Gs0PaQeTuOi"
#define HF \
    "hf"   \
    "_" BODY
#define SECRET "Pk3Tz8Wq1Lm6"

static const char *const events[] = {
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm " HF
    "\",\"ts\":1,\"dur\":2,\"pid\":0,\"tid\":7,"
    "\"args\":{\"stream\":7,\"device\":0,\"correlation\":1,\"Collective name\":\"HF_TOKEN=" SECRET
    "\",\"Process Group Name\":\"" HF "\"}}",
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":1,\"dur\":2,\"pid\":1,\"tid\":1,"
    "\"args\":{\"Input Dims\":[[1,2]],\"Concrete Inputs\":[\"PASSWORD=" SECRET
    "\"],\"Module Hierarchy\":\"top.API_KEY=" SECRET "\"}}",
    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"run --token " SECRET
    " \\u00e9\",\"ts\":1,"
    "\"dur\":2,\"pid\":\"https://a:" SECRET "@host\",\"tid\":\"Bearer " HF "\"}",
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":\"secret=" SECRET
    "\"}}",
    "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"open \\u0068f_" BODY
    "\",\"ts\":3,\"pid\":1,\"tid\":1}",
    "{\"ph\":\"E\",\"ts\":4,\"pid\":1,\"tid\":1}",
};

static const char members[] =
    "\"HF_TOKEN\":\"" SECRET "\",\"env\":{\"DB_PASSWORD\":\"" SECRET "\",\"n\":1},"
    "\"argv\":[\"train.py\",\"--api-key\",\"" SECRET "\"],\"line\":\"x API_KEY\\u003d" SECRET "\","
    "\"escaped\":\"{\\\"MY_SECRET\\\": \\\"" SECRET "\\\"}\",\"" HF "\":1,"
    "\"url\":\"https:\\/\\/a:" SECRET "@h\",\"auth\":{\"Authorization\":\"Basic " SECRET "\"},"
    "\"other\":\"kept as it is\"";

static struct trace *read_trace(const struct buf *document, size_t step, struct budget *budget)
{
    struct err err = {0};
    struct source *source = source_mem_open(document->at, document->len, step, &err);
    assert_non_null(source);
    struct trace *trace = ingest_source(source, budget, NULL, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    return trace;
}

// Events are repeated, so that the fast path reads them, too.
static void make_document(struct buf *document)
{
    buf_puts(document, "{\"schemaVersion\":1,");
    buf_puts(document, members);
    buf_puts(document, ",\"traceEvents\":[");
    for (int round = 0; round < 50; round++)
        for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
            buf_puts(document, round || i ? "," : "");
            buf_puts(document, events[i]);
        }
    buf_puts(document, "]}");
}

static void assert_setting(const struct trace *trace, struct str key, struct str text)
{
    const struct trace_setting *setting = trace_setting_find(trace, key);
    assert_non_null(setting);
    assert_true(str_equal(trace_text(trace, setting->text), text));
}

static void no_text_that_is_kept_has_a_secret(void **state)
{
    (void)state;
    struct buf document = {0};
    make_document(&document);
    for (size_t step = 0; step < 4000; step += 997) {
        struct budget budget = {0};
        struct trace *trace = read_trace(&document, step, &budget);
        assert_int_equal(trace->event_count, 200);
        for (uint32_t id = 0; id < trace->strings.count; id++) {
            struct str text = trace_text(trace, id);
            if (str_find(text, STR(BODY)) != SIZE_MAX || str_find(text, STR(SECRET)) != SIZE_MAX)
                fail_msg("kept %s", text.at);
        }
        assert_setting(trace, STR("other"), STR("kept as it is"));
        assert_setting(trace, STR("HF_TOKEN"), STR("[redacted:named]"));
        assert_int_equal(trace->secrets[SECRET_HUGGING_FACE].count, 1 + 2 * 50);
        assert_int_equal(trace->secrets[SECRET_URL_PASSWORD].count, 1 + 50);
        trace_free(trace);
    }
    buf_free(&document);
}

// Anyone who gets the file can decode it as easily as we can.
static void a_secret_behind_escapes_is_counted(void **state)
{
    (void)state;
    struct buf document = {0};
    struct budget budget = {0};
    buf_puts(&document, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2,"
                        "\"pid\":1,\"tid\":1,\"name\":\"x \\u0068f_" BODY "\"}]}");
    struct trace *trace = read_trace(&document, 0, &budget);
    assert_int_equal(trace->secrets[SECRET_HUGGING_FACE].count, 1);
    assert_int_equal(trace->secrets[SECRET_GITHUB].count, 0);
    trace_free(trace);
    buf_free(&document);
}

// If it were cut inside a secret, the rest would look like any word.
static void a_long_name_is_not_cut_within_a_secret(void **state)
{
    (void)state;
    for (size_t before = 65536 - 60; before < 65536 + 10; before++) {
        struct buf document = {0};
        struct budget budget = {0};
        buf_puts(&document, "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"ts\":1,\"dur\":2,"
                            "\"pid\":1,\"tid\":1,\"name\":\"");
        for (size_t i = 0; i < before; i++)
            buf_putc(&document, 'n');
        buf_puts(&document, " " HF " and so on\"}]}");
        struct trace *trace = read_trace(&document, 0, &budget);
        for (uint32_t id = 0; id < trace->strings.count; id++)
            assert_int_equal(str_find(trace_text(trace, id), STR("hf"
                                                                 "_Zq7")),
                             SIZE_MAX);
        assert_int_equal(trace->event_count, 1);
        trace_free(trace);
        buf_free(&document);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_text_that_is_kept_has_a_secret),
        cmocka_unit_test(a_secret_behind_escapes_is_counted),
        cmocka_unit_test(a_long_name_is_not_cut_within_a_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
