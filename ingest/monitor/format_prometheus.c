// SPDX-License-Identifier: Apache-2.0
// Metrics of GPUs in the text that Prometheus scrapes: of dcgm-exporter and of AMD's
// device-metrics-exporter. A file may hold several scrapes, mostly without times.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"
#include "ingest/monitor/prometheus_metrics.h"

#include "ingest/base/hash.h"
#include "ingest/logs/log_text.h"

static bool take(struct monitor_table *table, const struct str *text, struct err *err);
static const struct monitor_dialect dialect = {"prometheus", NULL, 0, take, NULL};

// --- lines --------------------------------------------------------------------------------------

// NAME{LABEL="VALUE",...} NUMBER TIME
struct metric_line {
    struct prometheus_metric metric;
    struct str key; // its name and labels, as written
    struct str stamp;
};

static bool is_name_byte(char c)
{
    return str_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' || c == ':';
}

// The name at the start, which moves *rest.
static struct str take_name(struct str *rest)
{
    size_t len = 0;
    while (len < rest->len && is_name_byte(rest->at[len]))
        len++;
    struct str name = {rest->at, len};
    *rest = log_trim(log_from(*rest, len));
    return name;
}

// A text in quotes; escapes in it stay.
static bool take_quoted(struct str *rest, struct str *value)
{
    size_t end = 1;
    if (!rest->len || *rest->at != '"')
        return false;
    while (end < rest->len && rest->at[end] != '"')
        end += rest->at[end] == '\\' ? 2 : 1;
    if (end >= rest->len)
        return false;
    *value = (struct str){rest->at + 1, end - 1};
    *rest = log_trim(log_from(*rest, end + 1));
    return true;
}

static bool take_labels(struct metric_line *line, struct str *rest)
{
    *rest = log_trim(log_from(*rest, 1));
    while (rest->len && *rest->at != '}') {
        struct str value, label = take_name(rest);
        if (!label.len || !rest->len || *rest->at != '=')
            return false;
        *rest = log_trim(log_from(*rest, 1));
        if (!take_quoted(rest, &value))
            return false;
        prometheus_label(&line->metric, label, value);
        if (rest->len && *rest->at == ',')
            *rest = log_trim(log_from(*rest, 1));
    }
    *rest = log_trim(log_from(*rest, 1));
    return true;
}

static struct str next_word(struct str *rest)
{
    size_t len = 0;
    while (len < rest->len && rest->at[len] != ' ' && rest->at[len] != '\t')
        len++;
    struct str word = {rest->at, len};
    *rest = log_trim(log_from(*rest, len));
    return word;
}

static bool parse(struct str text, struct metric_line *line)
{
    struct str rest = text;
    prometheus_metric_start(&line->metric);
    line->metric.name = take_name(&rest);
    if (!line->metric.name.len || (rest.len && *rest.at == '{' && !take_labels(line, &rest)))
        return false;
    line->key = (struct str){text.at, (size_t)(rest.at - text.at)};
    line->metric.value = next_word(&rest);
    line->stamp = next_word(&rest);
    return line->metric.value.len;
}

// --- times --------------------------------------------------------------------------------------

// Without times, a scrape starts where its first metric comes again.
static void count_scrapes(struct monitor_table *table, const struct metric_line *line)
{
    uint64_t name = hash_bytes(line->metric.name.at, line->metric.name.len);
    uint64_t key = hash_bytes(line->key.at, line->key.len);
    if (!table->first_key) {
        table->first_name = table->last_name = name;
        table->first_key = key;
        return;
    }
    bool again = name == table->first_name && (name != table->last_name || key == table->first_key);
    table->moment += again;
    table->last_name = name;
}

// "1773237600", which a loop writes by date +%s before each scrape. No metric starts with a digit.
static bool is_stamp(struct str line, int64_t *time_ns, enum sample_clock *clock)
{
    return line.len && str_is_digit(*line.at) && monitor_time(line, time_ns, clock);
}

// The first line decides what times are: if it has none, scrapes are numbered, and times that come
// later are not read.
static bool time_of_line(struct monitor_table *table, struct metric_line *line)
{
    struct sample_set *set = &table->input->evidence->samples;
    enum sample_clock clock = line->stamp.len ? SAMPLE_CLOCK_UTC : table->stamp_clock;
    if (set->rows == 0) {
        set->clock = clock == SAMPLE_NO_CLOCK ? SAMPLE_CLOCK_RELATIVE : clock;
        set->period_ns = clock == SAMPLE_NO_CLOCK ? MONITOR_PERIOD_NS : 0;
    }
    line->metric.row.time_ns = table->stamp_ns;
    if (line->stamp.len && !monitor_time(line->stamp, &line->metric.row.time_ns, &clock))
        return false;
    if (set->period_ns)
        line->metric.row.time_ns = (int64_t)table->moment * set->period_ns;
    return set->period_ns || clock == set->clock;
}

static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    struct sample_set *set = &table->input->evidence->samples;
    struct metric_line line;
    if (*text->at == '#' || is_stamp(*text, &table->stamp_ns, &table->stamp_clock))
        return true;
    bool ok = parse(*text, &line);
    if (ok)
        count_scrapes(table, &line);
    if (!ok || !time_of_line(table, &line)) {
        samples_bad_row(set, table->pos);
        return true;
    }
    set->rows++;
    return prometheus_take(table, &line.metric, err);
}

static bool gather_prometheus(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

// --- figures ------------------------------------------------------------------------------------

extern const struct format format_prometheus;

static bool count_prometheus(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_prometheus, prometheus_report, err);
}

// --- recognition --------------------------------------------------------------------------------

static bool is_comment(struct str line)
{
    return str_starts_with(line, STR("# HELP ")) || str_starts_with(line, STR("# TYPE "));
}

// A metric that only these exporters have, with labels.
static bool is_of_gpu(struct str line)
{
    struct metric_line parsed;
    if (!parse(line, &parsed) || !memchr(line.at, '{', line.len))
        return false;
    return str_starts_with(parsed.metric.name, STR("DCGM_FI_")) ||
           prometheus_column(&parsed.metric);
}

static bool is_no_metric(struct str line)
{
    struct metric_line parsed;
    int64_t time_ns;
    enum sample_clock clock;
    return !is_comment(line) && !is_stamp(line, &time_ns, &clock) && !parse(line, &parsed);
}

// All lines but the last, which may be cut, are metrics.
static enum format_likeness probe_prometheus(const struct format_sample *sample)
{
    const char *end = sample->head.len ? memrchr(sample->head.at, '\n', sample->head.len) : NULL;
    struct str whole = {sample->head.at, end ? (size_t)(end - sample->head.at) : sample->head.len};
    bool is = monitor_any_line(whole, SIZE_MAX, is_of_gpu) &&
              !monitor_any_line(whole, MONITOR_FIRST_LINES, is_no_metric);
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_prometheus = {
    .name = "prometheus-text",
    .what = "metrics of GPUs for Prometheus",
    .kind = FORMAT_RECORDS,
    .probe = probe_prometheus,
    .count = count_prometheus,
    .gather = gather_prometheus,
};
