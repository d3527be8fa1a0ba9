// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi dmon and pmon print: a line of names and one of units, which come again from time
// to time, and rows between blanks or commas. Without -o there is no time.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/logs/log_text.h"

static const struct monitor_column columns[] = {
    MONITOR_SAYS("Date", DATE),
    MONITOR_SAYS("Time", TIME),
    MONITOR_SAYS("gpu", INDEX),
    MONITOR_SAYS("pid", PROCESS), // of pmon
    MONITOR_IS("pwr", POWER, NULL),
    MONITOR_IS("gtemp", TEMPERATURE, NULL),
    MONITOR_IS("temp", TEMPERATURE, NULL), // before 2018
    MONITOR_IS("mtemp", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("sm", UTILIZATION, NULL),
    MONITOR_IS("mem", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("enc", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("dec", DECODER_UTILIZATION, NULL),
    MONITOR_IS("jpg", JPEG_UTILIZATION, NULL),
    MONITOR_IS("ofa", OFA_UTILIZATION, NULL),
    MONITOR_IS("mclk", MEMORY_CLOCK, NULL),
    MONITOR_IS("pclk", SM_CLOCK, NULL),
    MONITOR_IS("pviol", POWER_VIOLATION, NULL),
    MONITOR_IS("tviol", THERMAL_VIOLATION, "bool"),
    MONITOR_IS("fb", MEMORY_USED, "MiB"),
    MONITOR_IS("bar1", BAR1_USED, "MiB"),
    MONITOR_IS("sbecc", ECC_CORRECTED, NULL),
    MONITOR_IS("dbecc", ECC_UNCORRECTED, NULL),
    MONITOR_IS("pci", PCIE_REPLAYS, NULL),
    MONITOR_IS("rxpci", PCIE_RECEIVED, "MB/s"),
    MONITOR_IS("txpci", PCIE_SENT, "MB/s"),
};

static void split(struct str line, struct monitor_cells *cells)
{
    bool commas = line.len && memchr(line.at, ',', line.len);
    if (commas)
        monitor_split(line, ',', cells);
    else
        monitor_split_blanks(line, cells);
}

// "# gpu pwr", "#Date Time gpu", and "# Idx W" below them.
static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    if (*text->at != '#') {
        split(*text, &table->cells);
        return monitor_take_row(table, err);
    }
    split(log_trim(log_from(*text, 1)), &table->cells);
    for (size_t i = 0; i < table->cells.count; i++)
        if (str_equal(table->cells.at[i], STR("gpu")))
            return monitor_take_header(table, *text, err);
    return true;
}

static const struct monitor_dialect dialect = MONITOR_DIALECT("nvidia-smi dmon", columns, take);

static bool gather_dmon(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

extern const struct format format_nvidia_dmon;

static bool count_dmon(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_nvidia_dmon, monitor_report_rows, err);
}

// pmon has rows of processes.
static bool is_of_process(struct str name)
{
    return str_equal(name, STR("pid")) || str_equal(name, STR("type")) ||
           str_equal(name, STR("ccpm"));
}

// The name of the GPU's column, after those of times, and one of dmon's metrics.
static bool is_header(struct str line)
{
    struct str rest = log_trim(log_from(line, 1));
    bool gpu = false, metric = false;
    if (*line.at != '#')
        return false;
    while (rest.len && !metric) {
        size_t len = 0;
        while (len < rest.len && !memchr(" \t,", rest.at[len], 3))
            len++;
        const struct monitor_column *column =
            monitor_column_of(&dialect, (struct str){rest.at, len});
        gpu = gpu || (column && column->role == MONITOR_INDEX);
        metric = gpu && column && column->role == MONITOR_METRIC;
        if (!column && !is_of_process((struct str){rest.at, len}))
            return false;
        while (len < rest.len && memchr(" \t,", rest.at[len], 3))
            len++;
        rest = log_from(rest, len);
    }
    return metric;
}

static enum format_likeness probe_dmon(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

const struct format format_nvidia_dmon = {
    .name = "nvidia-smi-dmon",
    .what = "samples of nvidia-smi dmon or pmon",
    .kind = FORMAT_RECORDS,
    .probe = probe_dmon,
    .count = count_dmon,
    .gather = gather_dmon,
};
