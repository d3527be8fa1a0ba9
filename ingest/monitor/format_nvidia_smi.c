// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi --query-gpu=... --format=csv -l prints: a header with units, whose names may be
// any alias that the query allows, and a row per GPU and moment, in local time.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/base/hash.h"
#include "ingest/logs/log_text.h"

// As the header has them, whatever the query called them.
#define REASON(name, bit) MONITOR_COLUMN(name, MONITOR_REASON, SAMPLE_THROTTLE_REASONS, NULL, bit)
#define REASONS(word, bit) \
    REASON("clocks_throttle_reasons." word, bit), REASON("clocks_event_reasons." word, bit)

static const struct monitor_column columns[] = {
    MONITOR_SAYS("timestamp", TIME),
    MONITOR_SAYS("index", INDEX),
    MONITOR_SAYS("uuid", UUID),
    MONITOR_SAYS("gpu_uuid", UUID),
    MONITOR_SAYS("pci.bus_id", BUS_ID),
    MONITOR_SAYS("gpu_bus_id", BUS_ID),
    MONITOR_SAYS("name", NAME),
    MONITOR_SAYS("gpu_name", NAME),
    MONITOR_IS("utilization.gpu", UTILIZATION, NULL),
    MONITOR_IS("utilization.memory", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("utilization.encoder", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("utilization.decoder", DECODER_UTILIZATION, NULL),
    MONITOR_IS("utilization.jpeg", JPEG_UTILIZATION, NULL),
    MONITOR_IS("utilization.ofa", OFA_UTILIZATION, NULL),
    MONITOR_IS("memory.used", MEMORY_USED, "MiB"),
    MONITOR_IS("memory.free", MEMORY_FREE, "MiB"),
    MONITOR_IS("memory.total", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("power.draw", POWER, NULL),
    MONITOR_IS("power.draw.average", POWER, NULL),
    MONITOR_IS("power.draw.instant", POWER_INSTANT, NULL),
    MONITOR_IS("power.limit", POWER_LIMIT, NULL),
    MONITOR_IS("enforced.power.limit", POWER_LIMIT, NULL),
    MONITOR_IS("temperature.gpu", TEMPERATURE, NULL),
    MONITOR_IS("temperature.memory", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("clocks.current.sm", SM_CLOCK, NULL),
    MONITOR_IS("clocks.sm", SM_CLOCK, NULL),
    MONITOR_IS("clocks.current.graphics", GRAPHICS_CLOCK, NULL),
    MONITOR_IS("clocks.gr", GRAPHICS_CLOCK, NULL),
    MONITOR_IS("clocks.current.memory", MEMORY_CLOCK, NULL),
    MONITOR_IS("clocks.mem", MEMORY_CLOCK, NULL),
    MONITOR_IS("clocks.current.video", VIDEO_CLOCK, NULL),
    MONITOR_IS("clocks.video", VIDEO_CLOCK, NULL),
    MONITOR_IS("clocks.max.sm", SM_CLOCK_MAX, NULL),
    MONITOR_IS("clocks.max.graphics", GRAPHICS_CLOCK_MAX, NULL),
    MONITOR_IS("clocks.max.gr", GRAPHICS_CLOCK_MAX, NULL),
    MONITOR_IS("clocks.max.memory", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("clocks.max.mem", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("clocks_throttle_reasons.active", THROTTLE_REASONS, NULL),
    MONITOR_IS("clocks_event_reasons.active", THROTTLE_REASONS, NULL),
    REASONS("gpu_idle", SAMPLE_THROTTLE_IDLE),
    REASONS("applications_clocks_setting", SAMPLE_THROTTLE_SETTING),
    REASONS("sw_power_cap", SAMPLE_THROTTLE_POWER),
    REASONS("hw_slowdown", SAMPLE_THROTTLE_HARDWARE),
    REASONS("sync_boost", SAMPLE_THROTTLE_SYNC),
    REASONS("sw_thermal_slowdown", SAMPLE_THROTTLE_HEAT),
    REASONS("hw_thermal_slowdown", SAMPLE_THROTTLE_HARDWARE_HEAT),
    REASONS("hw_power_brake_slowdown", SAMPLE_THROTTLE_POWER_BRAKE),
    MONITOR_IS("clocks_event_reasons_counters.sw_power_cap", POWER_VIOLATION_TIME, "us"),
    MONITOR_IS("clocks_event_reasons_counters.sw_thermal_slowdown", THERMAL_VIOLATION_TIME, "us"),
    MONITOR_IS("fan.speed", FAN, NULL),
    MONITOR_IS("pcie.link.gen.current", PCIE_GENERATION, NULL),
    MONITOR_IS("pcie.link.gen.gpucurrent", PCIE_GENERATION, NULL),
    MONITOR_IS("pcie.link.width.current", PCIE_WIDTH, NULL),
    MONITOR_IS("ecc.errors.corrected.volatile.total", ECC_CORRECTED, NULL),
    MONITOR_IS("ecc.errors.uncorrected.volatile.total", ECC_UNCORRECTED, NULL),
    MONITOR_IS("pstate", PERFORMANCE_STATE, NULL),
};

static bool take(struct monitor_table *table, const struct str *text, struct err *err);
static const struct monitor_dialect dialect = MONITOR_DIALECT("nvidia-smi", columns, take);

static const struct monitor_column *column_of(struct str cell)
{
    struct str unit;
    return monitor_column_of(&dialect, monitor_name(cell, &unit));
}

// Files that are appended to have several headers.
static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    monitor_split_line(table, *text);
    bool header =
        column_of(table->cells.at[0]) || table->header == (hash_bytes(text->at, text->len) | 1);
    if (header && !table->cells.more)
        return monitor_take_header(table, *text, err);
    return monitor_take_row(table, err);
}

static bool gather_nvidia_smi(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

// --- figures ------------------------------------------------------------------------------------

static bool has_series(const struct sample_set *set, enum sample_metric metric)
{
    for (uint32_t i = 0; i < set->device_count; i++)
        if (samples_of(set, i, metric))
            return true;
    return false;
}

static int64_t failed_rows(const struct sample_set *set)
{
    int64_t rows = 0;
    for (size_t i = 0; i < set->device_count; i++)
        rows += set->devices[i].failed_rows;
    return rows;
}

static void report(const struct sample_set *set, struct figures *figures)
{
    int64_t failed = failed_rows(set);
    const struct monitor_figure names[] = {
        {"utilization.gpu", SAMPLE_UTILIZATION},
        {"memory.used", SAMPLE_MEMORY_USED},
        {"power", has_series(set, SAMPLE_POWER) ? SAMPLE_POWER : SAMPLE_POWER_INSTANT},
        {"temperature", SAMPLE_TEMPERATURE},
    };
    figures_add(figures, (int64_t)set->rows, "samples");
    figures_add(figures, (int64_t)set->bad_rows, "bad_lines");
    if (failed)
        figures_add(figures, failed, "failed_gpu_lines");
    monitor_report_devices(set, "gpus", "", figures);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        monitor_report_device_sums(set, &names[i], figures);
}

extern const struct format format_nvidia_smi;

static bool count_nvidia_smi(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_nvidia_smi, report, err);
}

// --- recognition --------------------------------------------------------------------------------

// Words of a query: "clocks.current.sm", "clocks_throttle_reasons.active".
static bool is_query(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = (char)(name.at[i] | 0x20);
        if (!(c >= 'a' && c <= 'z') && !str_is_digit(name.at[i]) && !memchr("._", name.at[i], 2))
            return false;
    }
    return name.len > 0;
}

// The next name between separators, which moves *rest.
static struct str next_name(struct str *rest, char separator)
{
    const char *end = memchr(rest->at, separator, rest->len);
    size_t len = end ? (size_t)(end - rest->at) : rest->len;
    struct str unit, cell = {rest->at, len};
    *rest = log_from(*rest, len + 1);
    return monitor_name(log_trim(cell), &unit);
}

// All are names of a query, and at least one is a metric as only nvidia-smi calls it. The last one
// may be cut.
static bool is_header(struct str line)
{
    bool metric = false;
    char separator = monitor_separator(line);
    for (struct str rest = line; rest.len;) {
        struct str name = next_name(&rest, separator);
        const struct monitor_column *column = monitor_column_of(&dialect, name);
        if (!is_query(name) && rest.len)
            return false;
        metric = metric ||
                 (column && column->role <= MONITOR_REASON && str_find(name, STR(".")) != SIZE_MAX);
    }
    return metric;
}

static enum format_likeness probe_nvidia_smi(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

const struct format format_nvidia_smi = {
    .name = "nvidia-smi-csv",
    .what = "samples of nvidia-smi as CSV",
    .kind = FORMAT_RECORDS,
    .probe = probe_nvidia_smi,
    .count = count_nvidia_smi,
    .gather = gather_nvidia_smi,
};
