// SPDX-License-Identifier: Apache-2.0
// Answers of Prometheus's HTTP API: a matrix, of query_range, or a vector, of query. Each series
// has its labels ("metric") and values, [[1763625600.123, "18"], ...]: times in seconds since 1970
// (https://prometheus.io/docs/prometheus/latest/querying/api/). A loop may have appended several.
#include "ingest/json/json_cursor.h"
#include "ingest/json/json_outline.h"
#include "ingest/logs/log_text.h"
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/prometheus_metrics.h"

#include <math.h>

enum { MOST_LABELS = 64, VALUES_BETWEEN = 4096 };

// Far beyond any recording, and well within int64 nanoseconds.
#define MOST_SECONDS 9e9

struct query_label {
    size_t name, value, end; // in `text`
};

struct query {
    struct json_cursor cursor;
    struct monitor_table *table;
    struct prometheus_metric metric;
    struct buf text; // of the labels of the current series
    struct query_label labels[MOST_LABELS];
    size_t label_count;
    uint64_t values;
    uint64_t unnamed; // series without the name of a metric
};

static void check(struct query *query, bool ok, const struct err *err)
{
    if (!ok)
        json_cursor_fail(&query->cursor, err);
}

// --- labels -------------------------------------------------------------------------------------

static void keep_labels(struct query *query)
{
    struct str key;
    struct json_value value;
    buf_clear(&query->text);
    query->label_count = 0;
    while (json_cursor_member(&query->cursor, &key, &value)) {
        if (value.type == JSON_TEXT && query->label_count < MOST_LABELS) {
            struct query_label *label = &query->labels[query->label_count++];
            label->name = query->text.len;
            buf_add_str(&query->text, monitor_short_text(key));
            label->value = query->text.len;
            buf_add_str(&query->text, monitor_short_text(value.text));
            label->end = query->text.len;
        }
        json_cursor_pass(&query->cursor, &value);
    }
}

static void take_labels(struct query *query)
{
    struct err err;
    prometheus_metric_start(&query->metric);
    keep_labels(query);
    check(query, buf_ok(&query->text, &err), &err);
    for (size_t i = 0; i < query->label_count && !query->text.failed; i++) {
        const struct query_label *at = &query->labels[i];
        struct str name = {query->text.at + at->name, at->value - at->name};
        struct str value = {query->text.at + at->value, at->end - at->value};
        if (str_equal(name, STR("__name__")))
            query->metric.name = value;
        else
            prometheus_label(&query->metric, name, value);
    }
    query->unnamed += query->metric.name.len == 0;
}

// --- values -------------------------------------------------------------------------------------

static bool time_of(const struct json_value *value, int64_t *time_ns)
{
    double seconds;
    bool is = value->type == JSON_SCALAR && log_is_number(value->text, &seconds) &&
              fabs(seconds) < MOST_SECONDS;
    *time_ns = is ? (int64_t)llround(seconds * 1e3) * 1000000 : 0;
    return is;
}

static void take_sample(struct query *query)
{
    struct err err;
    struct monitor_table *table = query->table;
    const struct format_input *input = table->input;
    input->evidence->samples.rows++;
    check(query, prometheus_take(table, &query->metric, &err), &err);
    if (++query->values % VALUES_BETWEEN == 0)
        check(query, progress_report(input->progress, source_consumed(input->source), &err), &err);
}

// What remains of a pair that was entered: [TIME, "VALUE"].
static void take_pair(struct query *query)
{
    struct json_value item;
    bool timed = false, taken = false;
    uint64_t pos = json_cursor_pos(&query->cursor);
    for (int i = 0; json_cursor_item(&query->cursor, &item); i++) {
        if (i == 0)
            timed = time_of(&item, &query->metric.row.time_ns);
        query->metric.value = item.text;
        if (i == 1 && timed && item.type == JSON_TEXT && query->metric.name.len) {
            take_sample(query);
            taken = true;
        }
        json_cursor_pass(&query->cursor, &item);
    }
    if (!taken && query->metric.name.len)
        samples_bad_row(&query->table->input->evidence->samples, pos);
}

static void take_pairs(struct query *query)
{
    struct json_value item;
    while (json_cursor_item(&query->cursor, &item))
        if (json_cursor_enter(&query->cursor, &item, JSON_ARRAY))
            take_pair(query);
}

// --- documents ----------------------------------------------------------------------------------

static void take_series(struct query *query)
{
    struct str key;
    struct json_value value;
    prometheus_metric_start(&query->metric);
    while (json_cursor_member(&query->cursor, &key, &value)) {
        bool values = str_equal(key, STR("values")), one = str_equal(key, STR("value"));
        if (str_equal(key, STR("metric")) && value.type == JSON_OBJECT)
            take_labels(query);
        else if (value.type == JSON_ARRAY && values)
            take_pairs(query);
        else if (value.type == JSON_ARRAY && one)
            take_pair(query);
        else
            json_cursor_pass(&query->cursor, &value);
    }
}

static void take_result(struct query *query)
{
    struct json_value item;
    while (json_cursor_item(&query->cursor, &item))
        if (json_cursor_enter(&query->cursor, &item, JSON_OBJECT))
            take_series(query);
}

static void take_members(struct query *query, bool inside)
{
    struct str key;
    struct json_value value;
    while (json_cursor_member(&query->cursor, &key, &value)) {
        if (!inside && str_equal(key, STR("data")) && value.type == JSON_OBJECT)
            take_members(query, true);
        else if (inside && str_equal(key, STR("result")) && value.type == JSON_ARRAY)
            take_result(query);
        else
            json_cursor_pass(&query->cursor, &value);
    }
}

static void take_document(struct query *query, const struct json_value *root)
{
    if (root->type == JSON_OBJECT)
        take_members(query, false);
    if (query->cursor.stop == JSON_BROKEN)
        samples_bad_row(&query->table->input->evidence->samples, json_cursor_pos(&query->cursor));
}

static bool read_documents(struct query *query, struct err *err)
{
    struct json_value root = {0};
    const struct format_input *input = query->table->input;
    if (!json_cursor_open(&query->cursor, input->source, input->budget, &root, err))
        return false;
    if (query->cursor.stop == JSON_GOING)
        take_document(query, &root);
    while (json_cursor_next_document(&query->cursor, &root))
        take_document(query, &root);
    if (query->cursor.stop == JSON_FAILED)
        *err = query->cursor.err;
    return query->cursor.stop != JSON_FAILED;
}

static bool end(const struct query *query, struct err *err)
{
    struct evidence *evidence = query->table->input->evidence;
    if (!evidence->samples.series_count && query->unnamed)
        return err_set(err, ERR_FORMAT,
                       "found series of Prometheus without a metric's name, as of avg() or rate(): "
                       "query the metric itself, such as DCGM_FI_DEV_GPU_UTIL");
    if (!evidence->samples.series_count)
        return err_set(err, ERR_FORMAT,
                       "found an answer of Prometheus without a metric of a GPU: query those of "
                       "dcgm-exporter or AMD's device-metrics-exporter, "
                       "{__name__=~\"DCGM_FI_.*|amd_gpu_.*|gpu_.*\"}");
    return monitor_end(evidence, "prometheus", err);
}

static bool read_with(struct query *query, struct err *err)
{
    bool ok = read_documents(query, err);
    json_cursor_close(&query->cursor);
    ok = ok && end(query, err);
    buf_free(&query->text);
    return ok;
}

static bool gather_query(const struct format_input *input, struct err *err)
{
    struct query *query = budget_zalloc(input->budget, sizeof *query, err);
    struct monitor_table *table = budget_zalloc(input->budget, sizeof *table, err);
    bool ok = query && table;
    if (ok) {
        table->input = input;
        query->table = table;
        input->evidence->samples.clock = SAMPLE_CLOCK_UTC;
        ok = read_with(query, err);
    }
    budget_free(input->budget, table, table ? sizeof *table : 0);
    budget_free(input->budget, query, query ? sizeof *query : 0);
    return ok;
}

// --- the format ---------------------------------------------------------------------------------

extern const struct format format_prometheus_query;

static bool count_query(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_prometheus_query, prometheus_report, err);
}

static enum format_likeness probe_query(const struct format_sample *sample)
{
    bool is = json_outline_has(sample->outline, "status") &&
              str_find(sample->head, STR("\"resultType\"")) != SIZE_MAX;
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_prometheus_query = {
    .name = "prometheus-query",
    .what = "an answer of Prometheus's query API",
    .kind = FORMAT_RECORDS,
    .probe = probe_query,
    .count = count_query,
    .gather = gather_query,
};
