// SPDX-License-Identifier: Apache-2.0
// Atomic counters and histograms, and their text.
#include "server/base/metrics.h"

#include "ingest/base/clock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS  96 // kinds of problems; the code has fewer
#define STATUS_TOP 6  // classes 1xx to 5xx at their own index
#define BUCKETS    13 // including the last, unbounded one
#define NS_PER_S   1e9

static const struct {
    const char *name, *help;
    double unit; // counts are divided by this
} rows[METRIC_COUNT] = {
    [METRIC_UPLOADS] = {"uploads_total", "Uploads acknowledged.", 1},
    [METRIC_UPLOADS_RESUMED] = {"uploads_resumed_total",
                                "Acknowledged uploads sent in several pieces.", 1},
    [METRIC_UPLOAD_BYTES] = {"upload_bytes_total", "Bytes of files received.", 1},
    [METRIC_UPLOAD_FAILURES] = {"upload_failures_total",
                                "Uploads that ended before they were acknowledged.", 1},
    [METRIC_JOBS_DONE] = {"jobs_done_total", "Jobs that succeeded.", 1},
    [METRIC_JOBS_FAILED] = {"jobs_failed_total", "Jobs that failed with a reason.", 1},
    [METRIC_JOBS_CRASHED] = {"jobs_crashed_total", "Attempts of jobs that crashed.", 1},
    [METRIC_JOBS_CANCELLED] = {"jobs_cancelled_total", "Cancelled jobs.", 1},
    [METRIC_PARSE_BYTES] = {"parse_bytes_total", "Bytes of trace text read by jobs.", 1},
    [METRIC_PARSE_NS] = {"parse_seconds_total", "Time spent reading them.", NS_PER_S},
    [METRIC_AUTH_FAILURES] = {"auth_failures_total", "Unknown tokens and failed sign-ins.", 1},
    [METRIC_SCRUB_BLOBS] = {"scrub_blobs_total", "Stored files verified.", 1},
    [METRIC_SCRUB_DAMAGED] = {"scrub_damaged_total", "Stored files found to be damaged.", 1},
    [METRIC_INTEGRITY_FAILURES] = {"integrity_failures_total",
                                   "Checks of the database that found damage.", 1},
    [METRIC_ERRORS] = {"errors_total", "Requests answered with status 500.", 1},
};

static const struct {
    const char *name, *help;
} gauge_rows[METRIC_GAUGE_COUNT] = {
    [METRIC_BLOB_BYTES] = {"blob_bytes", "Bytes of uploaded files."},
    [METRIC_BLOB_FILES] = {"blob_files", "Uploaded files."},
    [METRIC_TRACE_BYTES] = {"trace_bytes", "Bytes of the traces built from uploaded files."},
    [METRIC_TRACE_FILES] = {"trace_files", "Traces built from uploaded files."},
    [METRIC_STEPS_BYTES] = {"steps_bytes", "Bytes of the stage times that running jobs sent."},
    [METRIC_DAMAGED_BLOBS] = {"damaged_blobs", "Stored files that are known to be damaged."},
    [METRIC_DATABASE_OK] = {"database_ok",
                            "1 when the last check of the database found no damage."},
    [METRIC_WRITES_OK] = {"writes_ok", "1 while what is sent can be stored."},
};

static const struct {
    const char *name, *labels, *help;
} times[METRIC_TIME_COUNT] = {
    [METRIC_TIME_REQUEST] = {"request_seconds", "", "Time from a request's head to its answer."},
    [METRIC_TIME_TRACE_JOB] = {"job_seconds", "kind=\"trace\"", "Run time of jobs."},
    [METRIC_TIME_RUN_JOB] = {"job_seconds", "kind=\"run\"", NULL},
    [METRIC_TIME_UNPACK_JOB] = {"job_seconds", "kind=\"unpack\"", NULL},
    [METRIC_TIME_EVIDENCE_JOB] = {"job_seconds", "kind=\"evidence\"", NULL},
};

static const double bounds_s[BUCKETS - 1] = {0.001, 0.005, 0.01, 0.025, 0.1, 0.25,
                                             1,     2.5,   10,   30,    120, 600};

struct histogram {
    atomic_uint_fast64_t buckets[BUCKETS]; // not cumulative
    atomic_uint_fast64_t sum_ns;
};

struct gauge {
    atomic_uint_fast64_t value;
    atomic_bool known;
};

struct word {
    _Atomic(const char *) text; // NULL: free
    atomic_uint_fast64_t count;
};

struct metrics {
    atomic_uint_fast64_t counts[METRIC_COUNT];
    struct gauge gauges[METRIC_GAUGE_COUNT];
    struct histogram histograms[METRIC_TIME_COUNT];
    atomic_uint_fast64_t statuses[STATUS_TOP];
    struct word words[MAX_WORDS + 1]; // the last: all that did not fit
};

struct metrics *metrics_new(struct err *err)
{
    struct metrics *metrics = calloc(1, sizeof *metrics);
    if (!metrics) {
        err_set(err, ERR_MEMORY, "out of memory for metrics");
        return NULL;
    }
    atomic_init(&metrics->words[MAX_WORDS].text, "other");
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    free(metrics);
}

static void add(atomic_uint_fast64_t *counter, uint64_t count)
{
    atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

static uint64_t get(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void metrics_add(struct metrics *metrics, enum metric metric, uint64_t count)
{
    if (metrics)
        add(&metrics->counts[metric], count);
}

uint64_t metrics_get(const struct metrics *metrics, enum metric metric)
{
    return metrics ? get(&metrics->counts[metric]) : 0;
}

void metrics_set(struct metrics *metrics, enum metric_gauge gauge, uint64_t value)
{
    if (!metrics)
        return;
    atomic_store(&metrics->gauges[gauge].value, value);
    atomic_store(&metrics->gauges[gauge].known, true);
}

void metrics_unset(struct metrics *metrics, enum metric_gauge gauge)
{
    if (metrics)
        atomic_store(&metrics->gauges[gauge].known, false);
}

void metrics_time(struct metrics *metrics, enum metric_time time, int64_t ns)
{
    if (!metrics || ns < 0)
        return;
    struct histogram *histogram = &metrics->histograms[time];
    size_t bucket = 0;
    while (bucket < BUCKETS - 1 && (double)ns > bounds_s[bucket] * NS_PER_S)
        bucket++;
    add(&histogram->buckets[bucket], 1);
    add(&histogram->sum_ns, (uint64_t)ns);
}

// Where a word is counted: the first place that has it or is free.
static struct word *word_place(struct metrics *metrics, const char *text)
{
    for (size_t i = 0; i < MAX_WORDS; i++) {
        const char *there = NULL;
        if (atomic_compare_exchange_strong(&metrics->words[i].text, &there, text) ||
            strcmp(there, text) == 0)
            return &metrics->words[i];
    }
    return &metrics->words[MAX_WORDS];
}

void metrics_answer(struct metrics *metrics, int status, const char *word)
{
    if (!metrics)
        return;
    add(&metrics->statuses[status >= 100 && status < STATUS_TOP * 100 ? status / 100 : 0], 1);
    if (status >= 400 && word)
        add(&word_place(metrics, word)->count, 1);
    if (status == 500)
        add(&metrics->counts[METRIC_ERRORS], 1);
}

// --- text ---------------------------------------------------------------------------------------

static void write_kind(struct buf *out, const char *name, const char *kind, const char *help)
{
    buf_printf(out, "# HELP stepscope_%s %s\n# TYPE stepscope_%s %s\n", name, help, name, kind);
}

static void write_counts(const struct metrics *metrics, struct buf *out)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        write_kind(out, rows[i].name, "counter", rows[i].help);
        buf_printf(out, "stepscope_%s ", rows[i].name);
        buf_f64(out, (double)get(&metrics->counts[i]) / rows[i].unit);
        buf_putc(out, '\n');
    }
}

static void write_gauges(const struct metrics *metrics, struct buf *out)
{
    for (size_t i = 0; i < METRIC_GAUGE_COUNT; i++) {
        if (!atomic_load(&metrics->gauges[i].known))
            continue;
        write_kind(out, gauge_rows[i].name, "gauge", gauge_rows[i].help);
        buf_printf(out, "stepscope_%s %llu\n", gauge_rows[i].name,
                   (unsigned long long)get(&metrics->gauges[i].value));
    }
}

static void write_answers(const struct metrics *metrics, struct buf *out)
{
    write_kind(out, "requests_total", "counter", "Requests answered, by class of status.");
    for (int i = 1; i < STATUS_TOP; i++)
        buf_printf(out, "stepscope_requests_total{class=\"%dxx\"} %llu\n", i,
                   (unsigned long long)get(&metrics->statuses[i]));
    write_kind(out, "refusals_total", "counter", "Requests refused, by reason.");
    for (size_t i = 0; i <= MAX_WORDS; i++) {
        const char *text = atomic_load(&metrics->words[i].text);
        if (text)
            buf_printf(out, "stepscope_refusals_total{reason=\"%s\"} %llu\n", text,
                       (unsigned long long)get(&metrics->words[i].count));
    }
}

static void write_bucket(struct buf *out, size_t time, size_t bucket, uint64_t count)
{
    const char *labels = times[time].labels;
    buf_printf(out, "stepscope_%s_bucket{%s%sle=\"", times[time].name, labels, *labels ? "," : "");
    if (bucket == BUCKETS - 1)
        buf_puts(out, "+Inf");
    else
        buf_f64(out, bounds_s[bucket]);
    buf_printf(out, "\"} %llu\n", (unsigned long long)count);
}

static void write_histogram(const struct histogram *histogram, size_t time, struct buf *out)
{
    const char *labels = times[time].labels;
    const char *open = *labels ? "{" : "", *close = *labels ? "}" : "";
    uint64_t count = 0;
    if (times[time].help)
        write_kind(out, times[time].name, "histogram", times[time].help);
    for (size_t i = 0; i < BUCKETS; i++) {
        count += get(&histogram->buckets[i]);
        write_bucket(out, time, i, count);
    }
    buf_printf(out, "stepscope_%s_sum%s%s%s ", times[time].name, open, labels, close);
    buf_f64(out, (double)get(&histogram->sum_ns) / NS_PER_S);
    buf_printf(out, "\nstepscope_%s_count%s%s%s %llu\n", times[time].name, open, labels, close,
               (unsigned long long)count);
}

void metrics_write(const struct metrics *metrics, struct buf *out)
{
    if (!metrics)
        return;
    write_counts(metrics, out);
    write_gauges(metrics, out);
    write_answers(metrics, out);
    for (size_t i = 0; i < METRIC_TIME_COUNT; i++)
        write_histogram(&metrics->histograms[i], i, out);
}
