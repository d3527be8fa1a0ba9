// SPDX-License-Identifier: Apache-2.0
// What amd-smi monitor prints without --csv: names in capitals, and cells with units after a blank.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/logs/log_text.h"

static const struct monitor_column columns[] = {
    MONITOR_SAYS("TIMESTAMP", TIME),
    MONITOR_SAYS("GPU", INDEX),
    MONITOR_SAYS("XCP", XCP),
    MONITOR_SAYS("PID", NO_GPU), // of the table that -q adds
    MONITOR_IS("POWER", POWER, NULL),
    MONITOR_IS("PWR_CAP", POWER_LIMIT, NULL),
    MONITOR_IS("GPU_T", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("GPU_TEMP", HOTSPOT_TEMPERATURE, NULL),
    MONITOR_IS("MEM_T", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("MEM_TEMP", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("GFX_CLK", SM_CLOCK, NULL),
    MONITOR_IS("GFX_CLOCK", SM_CLOCK, NULL),
    MONITOR_IS("GFX%", UTILIZATION, NULL),
    MONITOR_IS("GFX_UTIL", UTILIZATION, NULL),
    MONITOR_IS("MEM%", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("MEM_UTIL", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("MEM_CLK", MEMORY_CLOCK, NULL),
    MONITOR_IS("MEM_CLOCK", MEMORY_CLOCK, NULL),
    MONITOR_IS("ENC%", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("ENC_UTIL", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("DEC%", DECODER_UTILIZATION, NULL),
    MONITOR_IS("SINGLE_ECC", ECC_CORRECTED, NULL),
    MONITOR_IS("DOUBLE_ECC", ECC_UNCORRECTED, NULL),
    MONITOR_IS("PCIE_REPLAY", PCIE_REPLAYS, NULL),
    MONITOR_IS("VRAM_USED", MEMORY_USED, "MiB"),
    MONITOR_IS("VRAM_FREE", MEMORY_FREE, "MiB"),
    MONITOR_IS("VRAM_TOTAL", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("VRAM_USAGE", MEMORY_USED, "GiB"), // of "150.0/192.0 GB"
    MONITOR_IS("VRAM%", MEMORY_USED_SHARE, NULL),
    MONITOR_IS("PCIE_BW", PCIE_TRAFFIC, "Mb/s"),
    MONITOR_IS("PVIOL", POWER_VIOLATION, NULL),
    MONITOR_IS("TVIOL", THERMAL_VIOLATION, NULL),
};

static bool take(struct monitor_table *table, const struct str *text, struct err *err);
static const struct monitor_dialect dialect = MONITOR_DIALECT("amd-smi", columns, take);

static bool is_unit(struct str cell)
{
    static const char *const units[] = {"W", "C", "\xC2\xB0\x43", "MHz", "%", "MB", "GB", "Mb/s"};
    return str_is_one_of(cell, units, sizeof units / sizeof *units);
}

// "700 W" is one cell, of which what is used of a total stays as a number: "1.5/192.0 GB", and
// "0.2/ 64.0 GB", as totals have the width of "192.0".
static void join_units(struct monitor_cells *cells)
{
    size_t kept = 0;
    for (size_t i = 0; i < cells->count; i++) {
        struct str cell = cells->at[i], *last = kept ? &cells->at[kept - 1] : NULL;
        bool total = last && str_ends_with(*last, STR("/"));
        if (!last || (!is_unit(cell) && !total)) {
            cells->at[kept++] = cell;
            continue;
        }
        const char *slash = memchr(last->at, '/', last->len);
        if (!slash || total)
            *last = (struct str){last->at, (size_t)(cell.at + cell.len - last->at)};
        else if (str_equal(cell, STR("GB")))
            *last = (struct str){last->at, (size_t)(slash - last->at)};
    }
    cells->count = kept;
}

static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    struct monitor_cells *cells = &table->cells;
    monitor_split_blanks(*text, cells);
    size_t gpu = cells->count > 1 && str_equal(cells->at[0], STR("TIMESTAMP")) ? 1 : 0;
    if (cells->count && str_equal(cells->at[gpu], STR("GPU")))
        return monitor_take_header(table, *text, err);
    join_units(cells);
    return monitor_take_row(table, err);
}

static bool gather_text(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

extern const struct format format_amd_smi_text;

static bool count_text(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_amd_smi_text, monitor_report_rows, err);
}

// "GPU" or "TIMESTAMP GPU", and names of which one is a metric.
static bool is_header(struct str line)
{
    struct str rest = log_trim(line);
    bool gpu = false, metric = false;
    while (rest.len && !metric) {
        size_t len = 0;
        while (len < rest.len && rest.at[len] != ' ')
            len++;
        const struct monitor_column *column =
            monitor_column_of(&dialect, (struct str){rest.at, len});
        bool capitals = column && memcmp(column->name.at, rest.at, len) == 0;
        if (!capitals)
            return false;
        gpu = gpu || column->role == MONITOR_INDEX;
        metric = gpu && column->role == MONITOR_METRIC;
        rest = log_trim(log_from(rest, len));
    }
    return metric;
}

static enum format_likeness probe_text(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

const struct format format_amd_smi_text = {
    .name = "amd-smi-text",
    .what = "samples of amd-smi monitor",
    .kind = FORMAT_RECORDS,
    .probe = probe_text,
    .count = count_text,
    .gather = gather_text,
};
