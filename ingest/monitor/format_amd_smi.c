// SPDX-License-Identifier: Apache-2.0
// What amd-smi metric and amd-smi monitor print as CSV or JSON. A column "mem" is a temperature in
// the one and a utilization in the other.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_json.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/logs/log_text.h"

#define VIOLATION(word, bit) \
    MONITOR_COLUMN(word "_violation_status", MONITOR_REASON, SAMPLE_THROTTLE_REASONS, NULL, bit)
#define HEAT(word) \
    MONITOR_COLUMN(word "_violation_activity", MONITOR_HEAT, SAMPLE_THERMAL_VIOLATION, NULL, 0)

#define IDENTITY                                                                                 \
    MONITOR_SAYS("timestamp", TIME), MONITOR_SAYS("gpu", INDEX), MONITOR_SAYS("xcp", XCP),       \
        MONITOR_SAYS("hostname", HOST), MONITOR_SAYS("uuid", UUID), MONITOR_SAYS("bdf", BUS_ID), \
        MONITOR_SAYS("pid", NO_GPU)

static const struct monitor_column metric_columns[] = {
    IDENTITY,
    MONITOR_IS("gfx_activity", UTILIZATION, NULL),
    MONITOR_IS("gfx_usage", UTILIZATION, NULL), // before ROCm 6
    MONITOR_IS("umc_activity", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("mem_usage", MEMORY_UTILIZATION, NULL), // before ROCm 6
    MONITOR_IS("socket_power", POWER, NULL),
    MONITOR_IS("current_socket_power", POWER, NULL),
    MONITOR_IS("average_socket_power", POWER, NULL),
    MONITOR_IS("power_limit", POWER_LIMIT, NULL),
    MONITOR_IS("total_energy_consumption", ENERGY, NULL),
    MONITOR_IS("edge", TEMPERATURE, NULL),
    MONITOR_IS("hotspot", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("mem", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("gfx_0_clk", SM_CLOCK, NULL),
    MONITOR_IS("gfx_0_max_clk", SM_CLOCK_MAX, NULL),
    MONITOR_IS("gfx_cur_clk", SM_CLOCK, NULL), // before ROCm 6
    MONITOR_IS("mem_0_clk", MEMORY_CLOCK, NULL),
    MONITOR_IS("mem_0_max_clk", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("mem_cur_clk", MEMORY_CLOCK, NULL),
    MONITOR_IS("total_vram", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("used_vram", MEMORY_USED, "MiB"),
    MONITOR_IS("free_vram", MEMORY_FREE, "MiB"),
    MONITOR_IS("fb_total", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("fb_used", MEMORY_USED, "MiB"),
    MONITOR_IS("width", PCIE_WIDTH, NULL),
    MONITOR_IS("bandwidth", PCIE_TRAFFIC, "Mb/s"),
    MONITOR_IS("current_bandwidth_sent", PCIE_SENT, "Mb/s"),
    MONITOR_IS("current_bandwidth_received", PCIE_RECEIVED, "Mb/s"),
    MONITOR_IS("replay_count", PCIE_REPLAYS, NULL),
    MONITOR_IS("total_correctable_count", ECC_CORRECTED, NULL),
    MONITOR_IS("total_uncorrectable_count", ECC_UNCORRECTED, NULL),
    MONITOR_IS("ppt_violation_activity", POWER_VIOLATION, NULL),
    HEAT("prochot"),
    HEAT("socket_thermal"),
    HEAT("vr_thermal"),
    HEAT("hbm_thermal"),
    MONITOR_COLUMN("throttle_status", MONITOR_REASON, SAMPLE_THROTTLE_REASONS, NULL,
                   SAMPLE_THROTTLE_HARDWARE),
    VIOLATION("ppt", SAMPLE_THROTTLE_POWER),
    VIOLATION("prochot", SAMPLE_THROTTLE_HARDWARE_HEAT),
    VIOLATION("socket_thermal", SAMPLE_THROTTLE_HARDWARE_HEAT),
    VIOLATION("vr_thermal", SAMPLE_THROTTLE_HARDWARE_HEAT),
    VIOLATION("hbm_thermal", SAMPLE_THROTTLE_HARDWARE_HEAT),
};

static const struct monitor_column monitor_columns[] = {
    IDENTITY,
    MONITOR_IS("power_usage", POWER, NULL),
    MONITOR_IS("max_power", POWER_LIMIT, NULL),
    MONITOR_IS("hotspot_temperature", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("memory_temperature", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("gfx", UTILIZATION, NULL),
    MONITOR_IS("gfx_clk", SM_CLOCK, NULL),
    MONITOR_IS("gfx_clock", SM_CLOCK, NULL),
    MONITOR_IS("mem", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("mem_clk", MEMORY_CLOCK, NULL),
    MONITOR_IS("mem_clock", MEMORY_CLOCK, NULL),
    MONITOR_IS("encoder", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("decoder", DECODER_UTILIZATION, NULL),
    MONITOR_IS("single_bit_ecc", ECC_CORRECTED, NULL),
    MONITOR_IS("double_bit_ecc", ECC_UNCORRECTED, NULL),
    MONITOR_IS("pcie_replay", PCIE_REPLAYS, NULL),
    MONITOR_IS("vram_used", MEMORY_USED, "MiB"),
    MONITOR_IS("vram_free", MEMORY_FREE, "MiB"),
    MONITOR_IS("vram_total", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("vram_percent", MEMORY_USED_SHARE, NULL),
    MONITOR_IS("pcie_bw", PCIE_TRAFFIC, "Mb/s"),
    MONITOR_IS("pviol", POWER_VIOLATION, NULL),
    MONITOR_IS("tviol", THERMAL_VIOLATION, NULL),
};

static bool take(struct monitor_table *table, const struct str *text, struct err *err);
static const struct monitor_dialect *pick(const struct monitor_cells *header);

static const struct monitor_dialect of_metric = {
    "amd-smi", metric_columns, sizeof metric_columns / sizeof *metric_columns, take, pick};
static const struct monitor_dialect of_monitor = {
    "amd-smi", monitor_columns, sizeof monitor_columns / sizeof *monitor_columns, take, pick};

// How many metrics a header has, but for the one that both have.
static size_t count_metrics(const struct monitor_dialect *dialect,
                            const struct monitor_cells *header)
{
    size_t count = 0;
    for (size_t i = 0; i < header->count; i++) {
        const struct monitor_column *column = monitor_column_of(dialect, header->at[i]);
        count += column && column->role <= MONITOR_REASON &&
                 !str_equal_nocase(header->at[i], STR("mem"));
    }
    return count;
}

static const struct monitor_dialect *pick(const struct monitor_cells *header)
{
    bool monitor = count_metrics(&of_monitor, header) > count_metrics(&of_metric, header);
    return monitor ? &of_monitor : &of_metric;
}

// "gpu,..." or "timestamp,gpu,...".
static bool starts_header(const struct monitor_cells *cells)
{
    size_t gpu = str_equal(cells->at[0], STR("timestamp")) ? 1 : 0;
    return gpu < cells->count && str_equal(cells->at[gpu], STR("gpu"));
}

// By default amd-smi monitor writes GB since ROCm 6.4, under the names of what are MB before that
// and with -v: MB are whole, and GB always have a point.
static void find_gigabytes(struct monitor_table *table)
{
    struct sample_column *noted = table->input->evidence->samples.columns;
    for (size_t i = 0; i < table->place_count; i++) {
        struct monitor_place *place = &table->places[i];
        struct str cell = table->cells.at[place->cell];
        if (place->scale.dimension != SAMPLE_BYTES || !memchr(cell.at, '.', cell.len))
            continue;
        monitor_unit(STR("GB"), &place->scale);
        noted[place->column->metric].unit = place->scale.factor;
    }
}

// Old versions write lists without quotes, which makes rows too wide.
static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    struct monitor_cells *cells = &table->cells;
    monitor_split_line(table, *text);
    if (starts_header(cells) && !cells->more)
        return monitor_take_header(table, *text, err);
    if (table->width && cells->count > table->width && !cells->more) {
        monitor_join_lists(cells);
        table->input->evidence->samples.wide_rows += cells->count == table->width;
    }
    if (table->dialect == &of_monitor && cells->count == table->width)
        find_gigabytes(table);
    return monitor_take_row(table, err);
}

static bool gather_csv(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &of_metric, err);
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    return monitor_gather_json(input, &of_metric, err);
}

// --- figures ------------------------------------------------------------------------------------

static void report(const struct sample_set *set, struct figures *figures)
{
    static const struct monitor_figure power = {"socket_power_mean", SAMPLE_POWER};
    figures_add(figures, (int64_t)(set->rows + set->bad_rows), "rows");
    figures_add(figures, (int64_t)(set->wide_rows + set->bad_rows), "rows_wrong_width");
    monitor_report_device_means(set, &power, figures);
    monitor_report_means(set, figures);
}

extern const struct format format_amd_smi, format_amd_smi_json;

static bool count_csv(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_amd_smi, report, err);
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_amd_smi_json, report, err);
}

// --- recognition --------------------------------------------------------------------------------

// The next cell of a line, which moves *rest.
static struct str next_cell(struct str *rest)
{
    const char *end = memchr(rest->at, ',', rest->len);
    struct str cell = {rest->at, end ? (size_t)(end - rest->at) : rest->len};
    *rest = log_from(*rest, cell.len + 1);
    return log_trim(cell);
}

static bool is_metric(struct str name)
{
    const struct monitor_column *metric = monitor_column_of(&of_metric, name);
    const struct monitor_column *monitor = monitor_column_of(&of_monitor, name);
    return (metric && metric->role <= MONITOR_REASON) ||
           (monitor && monitor->role <= MONITOR_REASON);
}

static bool is_header(struct str line)
{
    struct str rest = line, first = next_cell(&rest);
    if (str_equal(first, STR("timestamp")))
        first = next_cell(&rest);
    if (!str_equal(first, STR("gpu")))
        return false;
    while (rest.len)
        if (is_metric(next_cell(&rest)))
            return true;
    return false;
}

static enum format_likeness probe_csv(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

// A list of objects with a GPU's number and either groups of metrics or metrics.
static enum format_likeness probe_json(const struct format_sample *sample)
{
    static const char *const groups[] = {"usage", "power", "clock", "temperature", "mem_usage"};
    struct json_outline outline = monitor_json_outline(sample);
    bool gpu = outline.root == '[' && json_outline_has(&outline, "gpu"), any = false;
    if (outline.root == '{' && json_outline_has(&outline, "gpu_data"))
        return FORMAT_SURE;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        any = any || json_outline_has(&outline, groups[i]);
    for (unsigned i = 0; i < outline.key_count; i++)
        any = any || is_metric(outline.keys[i]);
    return gpu && any ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_amd_smi = {
    .name = "amd-smi-csv",
    .what = "samples of amd-smi as CSV",
    .kind = FORMAT_RECORDS,
    .probe = probe_csv,
    .count = count_csv,
    .gather = gather_csv,
};

const struct format format_amd_smi_json = {
    .name = "amd-smi-json",
    .what = "samples of amd-smi as JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};
