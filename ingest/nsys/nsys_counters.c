// SPDX-License-Identifier: Apache-2.0
// Samples of GPU metrics and network cards, as counters.
#include "ingest/nsys/nsys_gpus.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

// A metric's number is unique within its list only.
struct metric {
    int64_t list, index;
    str_id name;
    bool clock;  // named "[MHz]", but in Hz
    bool per_ms; // named per second
};

enum { MAX_METRICS = 4096 };

struct metrics {
    struct nsys *nsys;
    uint32_t count, last; // last: the one found last
    struct metric at[MAX_METRICS];
};

static int by_number(const void *left, const void *right)
{
    const struct metric *a = left, *b = right;
    if (a->list != b->list)
        return a->list < b->list ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

// "IB: Bytes sent (bytes/s)" of what counts "bytes/ms".
static bool name_metric(struct metrics *metrics, struct str name, struct str unit,
                        struct metric *metric, struct err *err)
{
    char text[256];
    metric->clock = str_contains_nocase(name, STR("[mhz]"));
    metric->per_ms = str_ends_with(unit, STR("/ms"));
    if (unit.len && name.len + unit.len + sizeof " ()" <= sizeof text) {
        snprintf(text, sizeof text, "%.*s (%.*s%s)", (int)name.len, name.at,
                 (int)(metric->per_ms ? unit.len - 2 : unit.len), unit.at,
                 metric->per_ms ? "s" : "");
        name = str_of(text);
    }
    return trace_builder_text(metrics->nsys->builder, name, ERR_NO_POS, &metric->name, err);
}

static bool take_metric(void *context, const struct rows *rows, struct err *err)
{
    struct metrics *metrics = context;
    struct metric *metric = &metrics->at[metrics->count];
    struct str name, unit = STR("");
    if (metrics->count == MAX_METRICS || !rows_i64(rows, 0, &metric->list) ||
        !rows_i64(rows, 1, &metric->index) || !rows_text(rows, 2, &name))
        return true;
    metrics->count++;
    (void)rows_text(rows, 3, &unit); // or it has none
    return name_metric(metrics, name, unit, metric, err);
}

// Columns: list, number, name, unit.
static bool load_metrics(struct metrics *metrics, const char *table, const char *columns,
                         struct err *err)
{
    metrics->count = metrics->last = 0;
    if (!rows_each(metrics->nsys->tables.database, table, columns, take_metric, metrics, err))
        return false;
    qsort(metrics->at, metrics->count, sizeof *metrics->at, by_number);
    return true;
}

// A sample is mostly of the same metric as the one before, or of the next metric.
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

// Versions up to 2025 store clocks of 2^31 Hz and more as signed numbers of 32 bits; a later one
// may well have the MHz that their names say.
static double value_of(const struct metric *metric, double value)
{
    if (metric->per_ms)
        return value * 1000;
    if (metric->clock && value < 0 && value >= -0x1p31)
        value += 0x1p32;
    return metric->clock && value >= 1e6 ? value / 1e6 : value;
}

// --- GPUs ---------------------------------------------------------------------------------------

#define GPU_COLUMNS "timestamp typeId metricId value"
enum { TIME, TYPE, METRIC, VALUE };

struct gpu_walk {
    struct nsys *nsys;
    struct metrics *metrics;
    struct nsys_gpus gpus;
};

// Samples before the start are of a device that was not yet set up.
static bool take_gpu_sample(void *context, const struct rows *rows, struct err *err)
{
    const struct gpu_walk *walk = context;
    struct counter_record record = {.time_ns = rows_i64_or(rows, TIME, -1)};
    int64_t type = rows_i64_or(rows, TYPE, 0);
    const struct metric *metric = find_metric(walk->metrics, type, rows_i64_or(rows, METRIC, -1));
    if (record.time_ns < 0 || !metric || !rows_f64(rows, VALUE, &record.value) ||
        !nsys_gpus_ordinal(&walk->gpus, type & 0xFF, &record.pid.number) ||
        !nsys_gpus_used(walk->nsys, record.pid.number))
        return true;
    record.name = metric->name;
    record.value = value_of(metric, record.value);
    return trace_builder_count(walk->nsys->builder, &record, err);
}

static bool read_gpus(struct nsys *nsys, struct metrics *metrics, struct err *err)
{
    struct gpu_walk walk = {.nsys = nsys, .metrics = metrics};
    return nsys_gpus_read(nsys, &walk.gpus, err) &&
           load_metrics(metrics, "TARGET_INFO_GPU_METRICS", "typeId metricId metricName unit",
                        err) &&
           table_reader_each(&nsys->tables, "GPU_METRICS", GPU_COLUMNS, take_gpu_sample, &walk,
                             err);
}

// --- network cards ------------------------------------------------------------------------------

#define NIC_COLUMNS "start globalId portId metricsListId metricsIdx value"
enum { NIC_START, NIC, NIC_PORT, NIC_LIST, NIC_METRIC, NIC_VALUE };

enum { MAX_NICS = 256 };

// Samples name a card by a number that is unique across machines.
struct nic_walk {
    struct nsys *nsys;
    struct metrics *metrics;
    uint32_t count;
    struct {
        int64_t global, id;
        str_id name;
    } at[MAX_NICS];
};

static bool take_nic(void *context, const struct rows *rows, struct err *err)
{
    struct nic_walk *nics = context;
    (void)err;
    if (nics->count < MAX_NICS) {
        nics->at[nics->count].global = rows_i64_or(rows, 0, -1);
        nics->at[nics->count++].id = rows_i64_or(rows, 1, -1);
    }
    return true;
}

static bool take_nic_name(void *context, const struct rows *rows, struct err *err)
{
    struct nic_walk *nics = context;
    struct str name;
    for (uint32_t i = 0; i < nics->count; i++)
        if (nics->at[i].id == rows_i64_or(rows, 0, -1) && rows_text(rows, 1, &name) &&
            !trace_builder_text(nics->nsys->builder, name, ERR_NO_POS, &nics->at[i].name, err))
            return false;
    return true;
}

// "mlx5_0", or "network card 3" if it has no name.
static bool name_nic(const struct nic_walk *nics, int64_t global, str_id *name, struct err *err)
{
    char text[48];
    for (uint32_t i = 0; i < nics->count; i++)
        if (nics->at[i].global == global && nics->at[i].name) {
            *name = nics->at[i].name;
            return true;
        }
    snprintf(text, sizeof text, "network card %" PRId64, global);
    return trace_builder_text(nics->nsys->builder, str_of(text), ERR_NO_POS, name, err);
}

// "mlx5_0 port 1"; that of a card with one port is 0.
static bool name_port(const struct nic_walk *nics, int64_t port, str_id *name, struct err *err)
{
    char text[128];
    struct trace_builder *builder = nics->nsys->builder;
    struct str card = strtab_get(trace_builder_strings(builder), *name);
    if (port <= 0)
        return true;
    snprintf(text, sizeof text, "%.*s port %" PRId64, card.len < 64 ? (int)card.len : 64, card.at,
             port);
    return trace_builder_text(builder, str_of(text), ERR_NO_POS, name, err);
}

static bool take_nic_sample(void *context, const struct rows *rows, struct err *err)
{
    const struct nic_walk *nics = context;
    struct counter_record record = {.pid.number = VALUE_ABSENT,
                                    .time_ns = rows_i64_or(rows, NIC_START, -1)};
    const struct metric *metric = find_metric(nics->metrics, rows_i64_or(rows, NIC_LIST, -1),
                                              rows_i64_or(rows, NIC_METRIC, -1));
    if (record.time_ns < 0 || !metric || !rows_f64(rows, NIC_VALUE, &record.value))
        return true;
    record.key = metric->name;
    record.value = value_of(metric, record.value);
    return name_nic(nics, rows_i64_or(rows, NIC, -1), &record.name, err) &&
           name_port(nics, rows_i64_or(rows, NIC_PORT, 0), &record.name, err) &&
           trace_builder_count(nics->nsys->builder, &record, err);
}

static bool read_nics(struct nsys *nsys, struct metrics *metrics, struct err *err)
{
    struct database *database = nsys->tables.database;
    struct nic_walk nics = {.nsys = nsys, .metrics = metrics};
    return rows_each(database, "NIC_ID_MAP", "globalId nicId", take_nic, &nics, err) &&
           rows_each(database, "TARGET_INFO_NIC_INFO", "nicId name", take_nic_name, &nics, err) &&
           load_metrics(metrics, "TARGET_INFO_NETWORK_METRICS",
                        "metricsListId metricsIdx name unit", err) &&
           table_reader_each(&nsys->tables, "NET_NIC_METRIC", NIC_COLUMNS, take_nic_sample, &nics,
                             err);
}

bool nsys_read_counters(struct nsys *nsys, struct err *err)
{
    struct metrics *metrics = malloc(sizeof *metrics);
    if (!metrics)
        return err_set(err, ERR_MEMORY, "out of memory");
    metrics->nsys = nsys;
    bool ok = read_gpus(nsys, metrics, err) && read_nics(nsys, metrics, err);
    free(metrics);
    return ok;
}
