// SPDX-License-Identifier: Apache-2.0
// What rocm-smi --csv and --json print: the state of each card, without a time. The words of its
// columns differ between versions.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_json.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/logs/log_text.h"

static const struct monitor_column columns[] = {
    MONITOR_SAYS("device", ENTITY),
    MONITOR_SAYS("Unique ID", UUID),
    MONITOR_SAYS("PCI Bus", BUS_ID),
    MONITOR_SAYS("Card series", NAME),
    MONITOR_IS("GPU use", UTILIZATION, NULL),
    MONITOR_IS("GPU Memory Allocated (VRAM%)", MEMORY_USED_SHARE, NULL),
    MONITOR_IS("GPU memory use", MEMORY_USED_SHARE, NULL),
    MONITOR_IS("GPU Memory Read/Write Activity", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("VRAM Total Memory", MEMORY_TOTAL, NULL),
    MONITOR_IS("VRAM Total Used Memory", MEMORY_USED, NULL),
    MONITOR_IS("Temperature (Sensor edge)", TEMPERATURE, NULL),
    MONITOR_IS("Temperature (Sensor junction)", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("Temperature (Sensor memory)", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("Average Graphics Package Power", POWER, NULL),
    MONITOR_IS("Current Socket Graphics Package Power", POWER, NULL),
    MONITOR_IS("Max Graphics Package Power", POWER_LIMIT, NULL),
    MONITOR_IS("Accumulated Energy", ENERGY, "uJ"),
    MONITOR_IS("sclk clock speed:", SM_CLOCK, NULL),
    MONITOR_IS("mclk clock speed:", MEMORY_CLOCK, NULL),
    MONITOR_IS("Fan speed", FAN, NULL),
};

// Each snapshot has its own header. Cards that lack a value have fewer cells.
static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    monitor_split_line(table, *text);
    if (str_equal(table->cells.at[0], STR("device")) && !table->cells.more)
        return monitor_take_header(table, *text, err);
    return monitor_take_row(table, err);
}

static const struct monitor_dialect dialect = MONITOR_DIALECT("rocm-smi", columns, take);

static bool gather_csv(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    return monitor_gather_json(input, &dialect, err);
}

static void report(const struct sample_set *set, struct figures *figures)
{
    monitor_report_devices(set, "devices", "card", figures);
    monitor_report_rows(set, figures);
}

extern const struct format format_rocm_smi, format_rocm_smi_json;

static bool count_csv(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_rocm_smi, report, err);
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_rocm_smi_json, report, err);
}

// --- recognition --------------------------------------------------------------------------------

static bool is_metric(struct str cell)
{
    struct str unit;
    const struct monitor_column *column = monitor_column_of(&dialect, monitor_name(cell, &unit));
    return column && column->role == MONITOR_METRIC;
}

static bool is_header(struct str line)
{
    if (!str_starts_with(line, STR("device,")))
        return false;
    for (struct str rest = log_from(line, 7); rest.len;) {
        const char *end = memchr(rest.at, ',', rest.len);
        size_t len = end ? (size_t)(end - rest.at) : rest.len;
        if (is_metric(log_trim((struct str){rest.at, len})))
            return true;
        rest = log_from(rest, len + 1);
    }
    return false;
}

static enum format_likeness probe_csv(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

// Cards, and a column that only rocm-smi calls so.
static enum format_likeness probe_json(const struct format_sample *sample)
{
    struct json_outline outline = monitor_json_outline(sample);
    bool cards = outline.root == '{' && outline.key_count &&
                 (str_starts_with(outline.keys[0], STR("card")) ||
                  str_equal(outline.keys[0], STR("system")));
    for (size_t i = 0; cards && i < sizeof columns / sizeof *columns; i++)
        if (columns[i].role == MONITOR_METRIC &&
            str_find(sample->head, columns[i].name) != SIZE_MAX)
            return FORMAT_SURE;
    return FORMAT_UNLIKE;
}

const struct format format_rocm_smi = {
    .name = "rocm-smi-csv",
    .what = "samples of rocm-smi as CSV",
    .kind = FORMAT_RECORDS,
    .probe = probe_csv,
    .count = count_csv,
    .gather = gather_csv,
};

const struct format format_rocm_smi_json = {
    .name = "rocm-smi-json",
    .what = "samples of rocm-smi as JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};
