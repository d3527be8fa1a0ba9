// SPDX-License-Identifier: Apache-2.0
// What the service counts while it works, for /metrics. Thread-safe, without locks; NULL metrics
// count nothing.
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "ingest/base/buf.h"

struct metrics;

// To add one: a name here, a row in metrics.c.
enum metric {
    // Counted when an upload is acknowledged, and as its bytes arrive.
    METRIC_UPLOADS,
    METRIC_UPLOADS_RESUMED, // received in several pieces
    METRIC_UPLOAD_BYTES,
    METRIC_UPLOAD_FAILURES, // disk failures, or cut off before the end

    METRIC_JOBS_DONE,
    METRIC_JOBS_FAILED,
    METRIC_JOBS_CRASHED, // killed by a signal, or over memory or time; each attempt
    METRIC_JOBS_CANCELLED,
    METRIC_PARSE_BYTES, // of JSON text; the time is in the next
    METRIC_PARSE_NS,

    METRIC_AUTH_FAILURES,
    METRIC_SCRUB_BLOBS,   // read again
    METRIC_SCRUB_DAMAGED, // found damaged
    METRIC_INTEGRITY_FAILURES,

    METRIC_ERRORS, // answers that are our own fault (500)
    METRIC_COUNT
};

// Current values, not counters. One that was never set is not written.
enum metric_gauge {
    METRIC_BLOB_BYTES, // these four: of the data folder
    METRIC_BLOB_FILES,
    METRIC_TRACE_BYTES,
    METRIC_TRACE_FILES,
    METRIC_STEPS_BYTES,   // of what running jobs sent to this service
    METRIC_DAMAGED_BLOBS, // that the scrub knows of
    METRIC_DATABASE_OK,   // 1 or 0, from the last check of the database
    METRIC_WRITES_OK,     // 0: a flush failed, or tables are newer: nothing is accepted
    METRIC_GAUGE_COUNT
};

// What is timed.
enum metric_time {
    METRIC_TIME_REQUEST, // from head received to answer sent; includes health, readiness, uploads
    METRIC_TIME_TRACE_JOB,
    METRIC_TIME_RUN_JOB,
    METRIC_TIME_UNPACK_JOB,
    METRIC_TIME_EVIDENCE_JOB,
    METRIC_TIME_COUNT
};

// NULL with ERR_LIMIT.
MUST_CHECK struct metrics *metrics_new(struct err *err);
void metrics_free(struct metrics *metrics); // NULL is allowed

void metrics_add(struct metrics *metrics, enum metric metric, uint64_t count);
void metrics_time(struct metrics *metrics, enum metric_time time, int64_t ns);

void metrics_set(struct metrics *metrics, enum metric_gauge gauge, uint64_t value);
// As if it had never been set.
void metrics_unset(struct metrics *metrics, enum metric_gauge gauge);

// An answer: counted by class of its status, and from 400 on by the word of its problem. The word
// is a literal, or lives as long as the metrics.
void metrics_answer(struct metrics *metrics, int status, const char *word);

uint64_t metrics_get(const struct metrics *metrics, enum metric metric);

// All of it in the Prometheus text format.
void metrics_write(const struct metrics *metrics, struct buf *out);

#endif
