// SPDX-License-Identifier: Apache-2.0
#include "ingest/monitor/prometheus_metrics.h"

#include "ingest/logs/log_text.h"
#include "ingest/monitor/monitor_figures.h"

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
static const struct monitor_dialect of_metrics = MONITOR_DIALECT("prometheus", columns, NULL);

// --- names and labels ---------------------------------------------------------------------------

void prometheus_metric_start(struct prometheus_metric *metric)
{
    *metric = (struct prometheus_metric){.name = STR(""), .value = STR(""), .clock = STR("")};
    monitor_row_start(&metric->row);
}

void prometheus_label(struct prometheus_metric *metric, struct str label, struct str value)
{
    static const struct str type = {"GPU_CLOCK_TYPE_", 15};
    const struct monitor_column *column = monitor_column_of(&of_labels, label);
    if (column && value.len)
        (void)monitor_row_says(&metric->row, column->role, value); // or it says nothing
    if (str_equal(label, STR("instance")) && !metric->row.is.host.len)
        metric->row.is.host = value;
    if (str_equal(label, STR("clock_type")))
        metric->clock = str_starts_with(value, type) ? log_from(value, type.len) : value;
}

static struct str without(struct str name, struct str prefix)
{
    return str_starts_with(name, prefix) ? log_from(name, prefix.len) : name;
}

const struct monitor_column *prometheus_column(const struct prometheus_metric *metric)
{
    char typed[64];
    struct str name = without(without(metric->name, STR("amd_")), STR("DCGM_FI_"));
    if (!metric->clock.len)
        return monitor_column_of(&of_metrics, name);
    if (name.len + 1 + metric->clock.len > sizeof typed)
        return NULL;
    memcpy(typed, name.at, name.len);
    typed[name.len] = ':';
    memcpy(typed + name.len + 1, metric->clock.at, metric->clock.len);
    return monitor_column_of(&of_metrics, (struct str){typed, name.len + 1 + metric->clock.len});
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

static double value_of(const struct prometheus_metric *metric, struct monitor_scale scale)
{
    struct monitor_scale as_is = {.dimension = scale.dimension, .factor = 1};
    double value = monitor_value(metric->value, as_is);
    return is_blank(value, scale.dimension) ? NAN : value * scale.factor;
}

// --- samples ------------------------------------------------------------------------------------

// Whether the metric of a device is there for that moment: labels may list one GPU several times.
static bool is_there(const struct sample_set *set, uint32_t device, enum sample_metric metric,
                     int64_t time_ns)
{
    const struct sample_series *series = samples_of(set, device, metric);
    return series && series->count && series->at[series->count - 1].time_ns == time_ns;
}

static bool add_sample(struct monitor_table *table, const struct prometheus_metric *metric,
                       const struct monitor_column *column, struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    struct sample_set *set = &evidence->samples;
    struct monitor_scale scale = monitor_scale_of(column, STR(""));
    uint32_t device;
    if (!samples_device(evidence, &metric->row.is, &device, err))
        return false;
    if (device == SAMPLE_NO_DEVICE) {
        set->lost_rows++;
        return true;
    }
    if (set->period_ns)
        set->devices[device].rows = (uint32_t)table->moment + 1;
    if (is_there(set, device, column->metric, metric->row.time_ns))
        return true;
    struct sample sample = {metric->row.time_ns, value_of(metric, scale)};
    if (!samples_add(evidence, device, column->metric, sample, err))
        return false;
    const struct sample_series *series = samples_of(set, device, column->metric);
    uint64_t rows = series->count + series->missing;
    if (!set->period_ns && rows > set->devices[device].rows) // a metric may be missing in some
        set->devices[device].rows = (uint32_t)rows;
    return true;
}

// Of several names of one metric, the first in the file is read.
bool prometheus_take(struct monitor_table *table, const struct prometheus_metric *metric,
                     struct err *err)
{
    struct evidence *evidence = table->input->evidence;
    const struct sample_identity *is = &metric->row.is;
    const struct monitor_column *column = prometheus_column(metric);
    bool known = is->index >= 0 || is->uuid.len || is->bus_id.len;
    if (!column || !known)
        return samples_leave_out(evidence, metric->name, err);
    struct sample_column *first = &evidence->samples.columns[column->metric];
    if (!first->name.len && !monitor_note_column(evidence, column, metric->name,
                                                 monitor_scale_of(column, STR("")), err))
        return false;
    if (!str_equal(first->name, metric->name))
        return samples_leave_out(evidence, metric->name, err);
    return add_sample(table, metric, column, err);
}

// --- figures ------------------------------------------------------------------------------------

void prometheus_report(const struct sample_set *set, struct figures *figures)
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
