// SPDX-License-Identifier: Apache-2.0
// Samples of the GPUs' units and of network cards, as counters.
#include "ingest/nsys/nsys_gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// A metric's number is unique within its list only.
struct metric {
    int64_t list, index;
    str_id name;
};

enum { MAX_METRICS = 4096 };

struct metrics {
    uint32_t count, last; // last: found
    struct metric at[MAX_METRICS];
};

static int by_number(const void *left, const void *right)
{
    const struct metric *a = left, *b = right;
    if (a->list != b->list)
        return a->list < b->list ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

// Columns: list, number, name.
static bool read_metrics(struct nsys *nsys, const char *table, const char *columns,
                         struct metrics *metrics, struct err *err)
{
    struct rows rows;
    struct str name;
    bool ok = rows_open(nsys->database, table, columns, &rows, err);
    metrics->count = metrics->last = 0;
    while (ok && metrics->count < MAX_METRICS && rows_next(&rows)) {
        struct metric *metric = &metrics->at[metrics->count];
        if (!rows_i64(&rows, 0, &metric->list) || !rows_i64(&rows, 1, &metric->index) ||
            !rows_text(&rows, 2, &name))
            continue;
        metrics->count++;
        ok = trace_builder_text(nsys->builder, name, ERR_NO_POS, &metric->name, err);
    }
    ok = rows_close(&rows, ok ? err : NULL) && ok;
    qsort(metrics->at, metrics->count, sizeof *metrics->at, by_number);
    return ok;
}

// Samples of a metric mostly follow each other, or those of its neighbor.
static const struct metric *find_metric(struct metrics *metrics, int64_t list, int64_t index)
{
    struct metric key = {.list = list, .index = index};
    for (uint32_t i = metrics->last; i < metrics->count && i < metrics->last + 2; i++)
        if (by_number(&key, &metrics->at[i]) == 0) {
            metrics->last = i;
            return &metrics->at[i];
        }
    const struct metric *found = bsearch(&key, metrics->at, metrics->count, sizeof key, by_number);
    metrics->last = found ? (uint32_t)(found - metrics->at) : metrics->last;
    return found;
}

// --- GPUs ---------------------------------------------------------------------------------------

#define GPU_COLUMNS "timestamp typeId metricId value"
enum { TIME, TYPE, METRIC, VALUE };

// Samples before the start are of a device that was not set up yet.
static bool read_gpu_sample(struct nsys *nsys, const struct rows *rows, struct metrics *metrics,
                            const struct nsys_gpus *gpus, struct err *err)
{
    struct counter_record record = {.time_ns = rows_i64_or(rows, TIME, -1)};
    int64_t type = rows_i64_or(rows, TYPE, 0);
    const struct metric *metric = find_metric(metrics, type, rows_i64_or(rows, METRIC, -1));
    if (!nsys_go_on(nsys, err))
        return false;
    if (record.time_ns < 0 || record.time_ns >= TRACE_MAX_NS || !metric ||
        !rows_f64(rows, VALUE, &record.value) ||
        !nsys_gpus_ordinal(gpus, type & 0xFF, &record.pid.number) ||
        !nsys_gpus_used(nsys, record.pid.number))
        return true;
    record.name = metric->name;
    return trace_builder_count(nsys->builder, &record, err);
}

static bool read_gpus(struct nsys *nsys, struct metrics *metrics, struct err *err)
{
    struct rows rows;
    struct nsys_gpus gpus;
    if (!nsys_gpus_read(nsys, &gpus, err) ||
        !read_metrics(nsys, "TARGET_INFO_GPU_METRICS", "typeId metricId metricName", metrics, err))
        return false;
    bool ok = rows_open(nsys->database, "GPU_METRICS", GPU_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = read_gpu_sample(nsys, &rows, metrics, &gpus, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// --- network cards ------------------------------------------------------------------------------

#define NIC_COLUMNS "start globalId metricsListId metricsIdx value"
enum { NIC_START, NIC, NIC_LIST, NIC_METRIC, NIC_VALUE };

enum { MAX_NICS = 256 };

// Samples name a card by its number in all machines.
struct nics {
    uint32_t count;
    struct {
        int64_t global, id;
        str_id name;
    } at[MAX_NICS];
};

static bool read_nic_names(struct nsys *nsys, struct nics *nics, struct err *err)
{
    struct rows rows;
    struct str name;
    bool ok = rows_open(nsys->database, "TARGET_INFO_NIC_INFO", "nicId name", &rows, err);
    while (ok && rows_next(&rows))
        for (uint32_t i = 0; ok && i < nics->count; i++)
            if (nics->at[i].id == rows_i64_or(&rows, 0, -1) && rows_text(&rows, 1, &name))
                ok = trace_builder_text(nsys->builder, name, ERR_NO_POS, &nics->at[i].name, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool read_nic_list(struct nsys *nsys, struct nics *nics, struct err *err)
{
    struct rows rows;
    nics->count = 0;
    bool ok = rows_open(nsys->database, "NIC_ID_MAP", "globalId nicId", &rows, err);
    while (ok && nics->count < MAX_NICS && rows_next(&rows)) {
        nics->at[nics->count].name = 0;
        nics->at[nics->count].global = rows_i64_or(&rows, 0, -1);
        nics->at[nics->count++].id = rows_i64_or(&rows, 1, -1);
    }
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// "mlx5_0", or "network card 3" if it has no name.
static bool name_nic(struct nsys *nsys, const struct nics *nics, int64_t global, str_id *name,
                     struct err *err)
{
    char text[48];
    for (uint32_t i = 0; i < nics->count; i++)
        if (nics->at[i].global == global && nics->at[i].name) {
            *name = nics->at[i].name;
            return true;
        }
    snprintf(text, sizeof text, "network card %" PRId64, global);
    return trace_builder_text(nsys->builder, str_of(text), ERR_NO_POS, name, err);
}

static bool read_nic_sample(struct nsys *nsys, const struct rows *rows, struct metrics *metrics,
                            const struct nics *nics, struct err *err)
{
    struct counter_record record = {.pid.number = VALUE_ABSENT,
                                    .time_ns = rows_i64_or(rows, NIC_START, -1)};
    const struct metric *metric =
        find_metric(metrics, rows_i64_or(rows, NIC_LIST, -1), rows_i64_or(rows, NIC_METRIC, -1));
    if (!nsys_go_on(nsys, err))
        return false;
    if (record.time_ns < 0 || record.time_ns >= TRACE_MAX_NS || !metric ||
        !rows_f64(rows, NIC_VALUE, &record.value))
        return true;
    record.key = metric->name;
    return name_nic(nsys, nics, rows_i64_or(rows, NIC, -1), &record.name, err) &&
           trace_builder_count(nsys->builder, &record, err);
}

static bool read_nics(struct nsys *nsys, struct metrics *metrics, struct err *err)
{
    struct rows rows;
    struct nics nics;
    if (!read_nic_list(nsys, &nics, err) || !read_nic_names(nsys, &nics, err) ||
        !read_metrics(nsys, "TARGET_INFO_NETWORK_METRICS", "metricsListId metricsIdx name", metrics,
                      err))
        return false;
    bool ok = rows_open(nsys->database, "NET_NIC_METRIC", NIC_COLUMNS, &rows, err);
    while (ok && rows_next(&rows))
        ok = read_nic_sample(nsys, &rows, metrics, &nics, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

bool nsys_read_counters(struct nsys *nsys, struct err *err)
{
    struct metrics *metrics = malloc(sizeof *metrics);
    bool ok = metrics || err_set(err, ERR_MEMORY, "out of memory");
    ok = ok && read_gpus(nsys, metrics, err) && read_nics(nsys, metrics, err);
    free(metrics);
    return ok;
}
