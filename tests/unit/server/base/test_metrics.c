// SPDX-License-Identifier: Apache-2.0
// Counters come out as Prometheus text, from many threads at once.
#include "server/base/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

static struct metrics *fresh(void)
{
    struct err err = {0};
    struct metrics *metrics = metrics_new(&err);
    assert_non_null(metrics);
    return metrics;
}

static void expect_lines(const struct metrics *metrics, const char *const *lines)
{
    struct buf out = {0};
    metrics_write(metrics, &out);
    assert_false(out.failed);
    for (; *lines; lines++)
        if (!strstr(out.at, *lines))
            fail_msg("found no %s in\n%s", *lines, out.at);
    buf_free(&out);
}

static void counts_come_out_by_name(void **state)
{
    (void)state;
    struct metrics *metrics = fresh();
    metrics_add(metrics, METRIC_UPLOADS, 3);
    metrics_add(metrics, METRIC_PARSE_NS, 2500000000);
    assert_int_equal(metrics_get(metrics, METRIC_UPLOADS), 3);
    expect_lines(metrics, (const char *const[]){"# TYPE stepscope_uploads_total counter\n"
                                                "stepscope_uploads_total 3\n",
                                                "stepscope_parse_seconds_total 2.5\n", NULL});
    metrics_free(metrics);
}

static void times_fall_into_buckets_that_add_up(void **state)
{
    (void)state;
    struct metrics *metrics = fresh();
    metrics_time(metrics, METRIC_TIME_RUN_JOB, SECOND / 1000);
    metrics_time(metrics, METRIC_TIME_RUN_JOB, SECOND);
    metrics_time(metrics, METRIC_TIME_RUN_JOB, 5000 * SECOND);
    metrics_time(metrics, METRIC_TIME_RUN_JOB, -1); // a clock that went back
    expect_lines(metrics, (const char *const[]){
                              "stepscope_job_seconds_bucket{kind=\"run\",le=\"0.001\"} 1\n",
                              "stepscope_job_seconds_bucket{kind=\"run\",le=\"0.25\"} 1\n",
                              "stepscope_job_seconds_bucket{kind=\"run\",le=\"1\"} 2\n",
                              "stepscope_job_seconds_bucket{kind=\"run\",le=\"+Inf\"} 3\n",
                              "stepscope_job_seconds_sum{kind=\"run\"} 5001.001\n",
                              "stepscope_job_seconds_count{kind=\"run\"} 3\n",
                              "stepscope_request_seconds_count 0\n", NULL});
    metrics_free(metrics);
}

static void answers_are_counted_by_class_and_reason(void **state)
{
    (void)state;
    struct metrics *metrics = fresh();
    char word[] = "host"; // the same word at another address
    metrics_answer(metrics, 200, NULL);
    metrics_answer(metrics, 400, "host");
    metrics_answer(metrics, 400, word);
    metrics_answer(metrics, 500, "internal");
    expect_lines(metrics, (const char *const[]){"requests_total{class=\"2xx\"} 1\n",
                                                "requests_total{class=\"4xx\"} 2\n",
                                                "refusals_total{reason=\"host\"} 2\n",
                                                "refusals_total{reason=\"internal\"} 1\n",
                                                "refusals_total{reason=\"other\"} 0\n",
                                                "stepscope_errors_total 1\n", NULL});
    metrics_free(metrics);
}

static void reasons_beyond_what_fits_are_counted_together(void **state)
{
    (void)state;
    struct metrics *metrics = fresh();
    char words[200][4] = {{0}};
    for (int i = 0; i < 200; i++) {
        words[i][0] = (char)('a' + i / 20);
        words[i][1] = (char)('a' + i % 20);
        metrics_answer(metrics, 404, words[i]);
    }
    expect_lines(metrics,
                 (const char *const[]){"{reason=\"aa\"} 1\n", "{reason=\"other\"} 104\n", NULL});
    metrics_free(metrics);
}

static void *count_often(void *arg)
{
    for (int i = 0; i < 10000; i++) {
        metrics_add(arg, METRIC_JOBS_DONE, 1);
        metrics_answer(arg, 503, i % 2 ? "busy" : "queue");
        metrics_time(arg, METRIC_TIME_REQUEST, i);
    }
    return NULL;
}

static void threads_lose_no_count(void **state)
{
    (void)state;
    struct metrics *metrics = fresh();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_often, metrics), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect_lines(metrics, (const char *const[]){
                              "jobs_done_total 40000\n", "{reason=\"busy\"} 20000\n",
                              "{reason=\"queue\"} 20000\n", "request_seconds_count 40000\n", NULL});
    metrics_free(metrics);
}

static void no_metrics_count_nothing(void **state)
{
    (void)state;
    struct buf out = {0};
    metrics_add(NULL, METRIC_UPLOADS, 1);
    metrics_time(NULL, METRIC_TIME_REQUEST, 1);
    metrics_answer(NULL, 404, "not-found");
    metrics_write(NULL, &out);
    assert_int_equal(metrics_get(NULL, METRIC_UPLOADS), 0);
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_come_out_by_name),
        cmocka_unit_test(times_fall_into_buckets_that_add_up),
        cmocka_unit_test(answers_are_counted_by_class_and_reason),
        cmocka_unit_test(reasons_beyond_what_fits_are_counted_together),
        cmocka_unit_test(threads_lose_no_count),
        cmocka_unit_test(no_metrics_count_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
