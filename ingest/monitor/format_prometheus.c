// SPDX-License-Identifier: Apache-2.0
// Metrics of GPUs in the text that Prometheus scrapes: of dcgm-exporter and of AMD's
// device-metrics-exporter. A file may hold several scrapes, mostly without times.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/base/hash.h"
#include "ingest/logs/log_text.h"

#include <math.h>

// Names without "DCGM_FI_" or "amd_". A clock's type follows its name.
static const struct monitor_column columns[] = {
    MONITOR_IS("DEV_GPU_UTIL", UTILIZATION, NULL),
    MONITOR_IS("DEV_MEM_COPY_UTIL", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("DEV_ENC_UTIL", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("DEV_DEC_UTIL", DECODER_UTILIZATION, NULL),
    MONITOR_IS("DEV_FB_USED", MEMORY_USED, "MiB"),
    MONITOR_IS("DEV_FB_FREE", MEMORY_FREE, "MiB"),
    MONITOR_IS("DEV_FB_TOTAL", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("DEV_FB_USED_PERCENT", MEMORY_USED_SHARE, "ratio"),
    MONITOR_IS("DEV_BAR1_USED", BAR1_USED, "MiB"),
    MONITOR_IS("DEV_POWER_USAGE", POWER, NULL),
    MONITOR_IS("DEV_POWER_USAGE_INSTANT", POWER_INSTANT, NULL),
    MONITOR_IS("DEV_POWER_MGMT_LIMIT", POWER_LIMIT, NULL),
    MONITOR_IS("DEV_ENFORCED_POWER_LIMIT", POWER_LIMIT, NULL),
    MONITOR_IS("DEV_TOTAL_ENERGY_CONSUMPTION", ENERGY, "mJ"),
    MONITOR_IS("DEV_GPU_TEMP", TEMPERATURE, NULL),
    MONITOR_IS("DEV_MEMORY_TEMP", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("DEV_SM_CLOCK", SM_CLOCK, NULL),
    MONITOR_IS("DEV_MEM_CLOCK", MEMORY_CLOCK, NULL),
    MONITOR_IS("DEV_VIDEO_CLOCK", VIDEO_CLOCK, NULL),
    MONITOR_IS("DEV_MAX_SM_CLOCK", SM_CLOCK_MAX, NULL),
    MONITOR_IS("DEV_MAX_MEM_CLOCK", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("DEV_CLOCK_THROTTLE_REASONS", THROTTLE_REASONS, NULL),
    MONITOR_IS("DEV_CLOCKS_EVENT_REASONS", THROTTLE_REASONS, NULL),
    MONITOR_IS("DEV_POWER_VIOLATION", POWER_VIOLATION_TIME, "ns"), // texts of old versions say us
    MONITOR_IS("DEV_THERMAL_VIOLATION", THERMAL_VIOLATION_TIME, "ns"),
    MONITOR_IS("DEV_FAN_SPEED", FAN, NULL),
    MONITOR_IS("DEV_PSTATE", PERFORMANCE_STATE, NULL),
    MONITOR_IS("DEV_PCIE_LINK_GEN", PCIE_GENERATION, NULL),
    MONITOR_IS("DEV_PCIE_LINK_WIDTH", PCIE_WIDTH, NULL),
    MONITOR_IS("DEV_PCIE_REPLAY_COUNTER", PCIE_REPLAYS, NULL),
    MONITOR_IS("DEV_PCIE_TX_THROUGHPUT", PCIE_SENT, "KB/s"),
    MONITOR_IS("DEV_PCIE_RX_THROUGHPUT", PCIE_RECEIVED, "KB/s"),
    MONITOR_IS("DEV_ECC_SBE_VOL_TOTAL", ECC_CORRECTED, NULL),
    MONITOR_IS("DEV_ECC_DBE_VOL_TOTAL", ECC_UNCORRECTED, NULL),
    MONITOR_IS("DEV_XID_ERRORS", XID, NULL),
    MONITOR_IS("PROF_GR_ENGINE_ACTIVE", ENGINE_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_SM_ACTIVE", SM_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_SM_OCCUPANCY", SM_OCCUPANCY, "ratio"),
    MONITOR_IS("PROF_PIPE_TENSOR_ACTIVE", TENSOR_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_DRAM_ACTIVE", DRAM_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_PIPE_FP64_ACTIVE", FP64_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_PIPE_FP32_ACTIVE", FP32_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_PIPE_FP16_ACTIVE", FP16_ACTIVITY, "ratio"),
    MONITOR_IS("PROF_PCIE_TX_BYTES", PCIE_SENT, NULL),
    MONITOR_IS("PROF_PCIE_RX_BYTES", PCIE_RECEIVED, NULL),
    MONITOR_IS("PROF_NVLINK_TX_BYTES", LINK_SENT, NULL),
    MONITOR_IS("PROF_NVLINK_RX_BYTES", LINK_RECEIVED, NULL),
    MONITOR_IS("gpu_gfx_activity", UTILIZATION, NULL),
    MONITOR_IS("gpu_umc_activity", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("gpu_used_vram", MEMORY_USED, "MiB"),
    MONITOR_IS("gpu_free_vram", MEMORY_FREE, "MiB"),
    MONITOR_IS("gpu_total_vram", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("gpu_power_usage", POWER, NULL),
    MONITOR_IS("gpu_package_power", POWER, NULL),
    MONITOR_IS("gpu_average_package_power", POWER, NULL),
    MONITOR_IS("gpu_energy_consumed", ENERGY, "uJ"),
    MONITOR_IS("gpu_edge_temperature", TEMPERATURE, NULL),
    MONITOR_IS("gpu_junction_temperature", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("gpu_memory_temperature", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("gpu_clock:system", SM_CLOCK, NULL),
    MONITOR_IS("gpu_clock:memory", MEMORY_CLOCK, NULL),
    MONITOR_IS("gpu_clock:video", VIDEO_CLOCK, NULL),
    MONITOR_IS("gpu_max_clock:system", SM_CLOCK_MAX, NULL),
    MONITOR_IS("gpu_max_clock:memory", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("pcie_bandwidth", PCIE_TRAFFIC, "Mb/s"),
    MONITOR_IS("pcie_replay_count", PCIE_REPLAYS, NULL),
    MONITOR_IS("gpu_ecc_correct_total", ECC_CORRECTED, NULL),
    MONITOR_IS("gpu_ecc_uncorrect_total", ECC_UNCORRECTED, NULL),
    MONITOR_IS("gpu_violation_ppt_residency_percentage", POWER_VIOLATION, NULL),
    MONITOR_IS("gpu_violation_socket_thermal_residency_percentage", THERMAL_VIOLATION, NULL),
};

static const struct monitor_column labels[] = {
    MONITOR_SAYS("gpu", INDEX),
    MONITOR_SAYS("gpu_id", INDEX),
    MONITOR_SAYS("uuid", UUID),
    MONITOR_SAYS("gpu_uuid", UUID),
    MONITOR_SAYS("pci_bus_id", BUS_ID),
    MONITOR_SAYS("pcie_bus_id", BUS_ID),
    MONITOR_SAYS("modelName", NAME),
    MONITOR_SAYS("card_model", NAME),
    MONITOR_SAYS("hostname", HOST),
    MONITOR_SAYS("GPU_I_ID", INSTANCE),
    MONITOR_SAYS("gpu_partition_id", XCP),
};
static const struct monitor_dialect of_labels = MONITOR_DIALECT("", labels, NULL);

static bool take(struct monitor_table *table, const struct str *text, struct err *err);
static const struct monitor_dialect dialect = MONITOR_DIALECT("prometheus", columns, take);

// --- lines --------------------------------------------------------------------------------------

// NAME{LABEL="VALUE",...} NUMBER TIME
struct metric_line {
    struct str name;  // as written
    struct str key;   // that and its labels
    struct str clock; // the type of one
    struct str value, stamp;
    struct monitor_row row;
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

static void note_label(struct metric_line *line, struct str label, struct str value)
{
    static const struct str type = {"GPU_CLOCK_TYPE_", 15};
    const struct monitor_column *column = monitor_column_of(&of_labels, label);
    if (column && value.len)
        (void)monitor_row_says(&line->row, column->role, value); // or it says nothing
    if (str_equal(label, STR("instance")) && !line->row.is.host.len)
        line->row.is.host = value;
    if (str_equal(label, STR("clock_type")))
        line->clock = str_starts_with(value, type) ? log_from(value, type.len) : value;
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
        note_label(line, label, value);
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
    line->clock = STR("");
    monitor_row_start(&line->row);
    line->name = take_name(&rest);
    if (!line->name.len || (rest.len && *rest.at == '{' && !take_labels(line, &rest)))
        return false;
    line->key = (struct str){text.at, (size_t)(rest.at - text.at)};
    line->value = next_word(&rest);
    line->stamp = next_word(&rest);
    return line->value.len;
}

static struct str without(struct str name, struct str prefix)
{
    return str_starts_with(name, prefix) ? log_from(name, prefix.len) : name;
}

static const struct monitor_column *column_of(const struct metric_line *line)
{
    char typed[64];
    struct str name = without(without(line->name, STR("amd_")), STR("DCGM_FI_"));
    if (!line->clock.len)
        return monitor_column_of(&dialect, name);
    if (name.len + 1 + line->clock.len > sizeof typed)
        return NULL;
    memcpy(typed, name.at, name.len);
    typed[name.len] = ':';
    memcpy(typed + name.len + 1, line->clock.at, line->clock.len);
    return monitor_column_of(&dialect, (struct str){typed, name.len + 1 + line->clock.len});
}

// --- values -------------------------------------------------------------------------------------

// What DCGM and AMD's library give for a value that they do not have, in numbers of each width.
static bool is_blank(double value, enum sample_dimension dimension)
{
    bool small = dimension == SAMPLE_CELSIUS || dimension == SAMPLE_WATTS ||
                 dimension == SAMPLE_MEGAHERTZ || dimension == SAMPLE_PERCENT;
    return value >= 9223372036854775792.0 || (value >= 2147483632.0 && value <= 2147483635.0) ||
           (value >= 140737488355328.0 && value <= 140737488355331.0) ||
           (small && (value == 65535 || value == 4294967295.0));
}

static double value_of(const struct metric_line *line, struct monitor_scale scale)
{
    struct monitor_scale as_is = {.dimension = scale.dimension, .factor = 1};
    double value = monitor_value(line->value, as_is);
    return is_blank(value, scale.dimension) ? NAN : value * scale.factor;
}

// --- times --------------------------------------------------------------------------------------

// Without times, a scrape starts where its first metric comes again.
static void count_scrapes(struct monitor_table *table, const struct metric_line *line)
{
    uint64_t name = hash_bytes(line->name.at, line->name.len);
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

static bool time_of_line(struct monitor_table *table, struct metric_line *line)
{
    struct sample_set *set = &table->input->evidence->samples;
    enum sample_clock clock;
    if (set->rows == 0) {
        set->clock = line->stamp.len ? SAMPLE_CLOCK_UTC : SAMPLE_CLOCK_RELATIVE;
        set->period_ns = line->stamp.len ? 0 : MONITOR_PERIOD_NS;
    }
    if (set->period_ns) {
        line->row.time_ns = (int64_t)table->moment * set->period_ns;
        return !line->stamp.len;
    }
    return line->stamp.len && monitor_time(line->stamp, &line->row.time_ns, &clock) &&
           clock == SAMPLE_CLOCK_UTC;
}

// --- samples ------------------------------------------------------------------------------------

// Whether the metric of a device is there for that moment: labels may list one GPU several times.
static bool is_there(const struct sample_set *set, uint32_t device, enum sample_metric metric,
                     int64_t time_ns)
{
    const struct sample_series *series = samples_of(set, device, metric);
    return series && series->count && series->at[series->count - 1].time_ns == time_ns;
}

static bool add_sample(struct monitor_table *table, const struct metric_line *line,
                       const struct monitor_column *column, struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    struct sample_set *set = &evidence->samples;
    struct monitor_scale scale = monitor_scale_of(column, STR(""));
    uint32_t device;
    if (!samples_device(evidence, &line->row.is, &device, err))
        return false;
    if (device == SAMPLE_NO_DEVICE) {
        set->lost_rows++;
        return true;
    }
    if (set->period_ns)
        set->devices[device].rows = (uint32_t)table->moment + 1;
    if (is_there(set, device, column->metric, line->row.time_ns))
        return true;
    struct sample sample = {line->row.time_ns, value_of(line, scale)};
    if (!samples_add(evidence, device, column->metric, sample, err))
        return false;
    const struct sample_series *series = samples_of(set, device, column->metric);
    uint64_t rows = series->count + series->missing;
    if (!set->period_ns && rows > set->devices[device].rows) // a metric may be missing in some
        set->devices[device].rows = (uint32_t)rows;
    return true;
}

// Of several names of one metric, the first in the file is read.
static bool take_sample(struct monitor_table *table, const struct metric_line *line,
                        struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    const struct sample_identity *is = &line->row.is;
    const struct monitor_column *column = column_of(line);
    bool known = is->index >= 0 || is->uuid.len || is->bus_id.len;
    if (!column || !known)
        return samples_leave_out(evidence, line->name, err);
    struct sample_column *first = &evidence->samples.columns[column->metric];
    if (!first->name.len &&
        !monitor_note_column(evidence, column, line->name, monitor_scale_of(column, STR("")), err))
        return false;
    if (!str_equal(first->name, line->name))
        return samples_leave_out(evidence, line->name, err);
    return add_sample(table, line, column, err);
}

static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    struct sample_set *set = &table->input->evidence->samples;
    struct metric_line line;
    if (*text->at == '#')
        return true;
    bool ok = parse(*text, &line);
    if (ok)
        count_scrapes(table, &line);
    if (!ok || !time_of_line(table, &line)) {
        samples_bad_row(set, table->pos);
        return true;
    }
    set->rows++;
    return take_sample(table, &line, err);
}

static bool gather_prometheus(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

// --- figures ------------------------------------------------------------------------------------

static void report(const struct sample_set *set, struct figures *figures)
{
    figures_add(figures, (int64_t)set->rows, "samples");
    figures_add(figures, 0, "metrics" IN);
    for (size_t i = 0; i < set->series_count; i++) {
        const struct sample_series *series = &set->series[i];
        struct str name = set->columns[series->metric].name;
        figures_add(figures, (int64_t)(series->count + series->missing), "metrics" IN "%.*s",
                    (int)name.len, name.at);
    }
    monitor_report_devices(set, "gpus", "", figures);
}

extern const struct format format_prometheus;

static bool count_prometheus(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_prometheus, report, err);
}

// --- recognition --------------------------------------------------------------------------------

static bool is_comment(struct str line)
{
    return str_starts_with(line, STR("# HELP ")) || str_starts_with(line, STR("# TYPE "));
}

// A metric that only these exporters have, with labels.
static bool is_of_gpu(struct str line)
{
    struct metric_line metric;
    if (!parse(line, &metric) || !memchr(line.at, '{', line.len))
        return false;
    return str_starts_with(metric.name, STR("DCGM_FI_")) || column_of(&metric);
}

static bool is_no_metric(struct str line)
{
    struct metric_line metric;
    return !is_comment(line) && !parse(line, &metric);
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
