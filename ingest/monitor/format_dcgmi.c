// SPDX-License-Identifier: Apache-2.0
// What dcgmi dmon prints: short names of DCGM's fields, and a row per GPU, or part of one, and
// moment, without times. Activities are shares of 1.
#include "ingest/monitor/monitor_figures.h"
#include "ingest/monitor/monitor_table.h"

#include "ingest/logs/log_text.h"

static const struct monitor_column columns[] = {
    MONITOR_SAYS("Entity", ENTITY),
    MONITOR_IS("GRACT", ENGINE_ACTIVITY, "ratio"),
    MONITOR_IS("SMACT", SM_ACTIVITY, "ratio"),
    MONITOR_IS("SMOCC", SM_OCCUPANCY, "ratio"),
    MONITOR_IS("TENSO", TENSOR_ACTIVITY, "ratio"),
    MONITOR_IS("DRAMA", DRAM_ACTIVITY, "ratio"),
    MONITOR_IS("FP64A", FP64_ACTIVITY, "ratio"),
    MONITOR_IS("FP32A", FP32_ACTIVITY, "ratio"),
    MONITOR_IS("FP16A", FP16_ACTIVITY, "ratio"),
    MONITOR_IS("PCITX", PCIE_SENT, NULL),
    MONITOR_IS("PCIRX", PCIE_RECEIVED, NULL),
    MONITOR_IS("NVLTX", LINK_SENT, NULL),
    MONITOR_IS("NVLRX", LINK_RECEIVED, NULL),
    MONITOR_IS("GPUTL", UTILIZATION, NULL),
    MONITOR_IS("MCUTL", MEMORY_UTILIZATION, NULL),
    MONITOR_IS("ECUTL", ENCODER_UTILIZATION, NULL),
    MONITOR_IS("DCUTL", DECODER_UTILIZATION, NULL),
    MONITOR_IS("FBUSD", MEMORY_USED, "MiB"),
    MONITOR_IS("FBFRE", MEMORY_FREE, "MiB"),
    MONITOR_IS("FBTTL", MEMORY_TOTAL, "MiB"),
    MONITOR_IS("B1USE", BAR1_USED, "MiB"),
    MONITOR_IS("POWER", POWER, NULL),
    MONITOR_IS("POWINST", POWER_INSTANT, NULL),
    MONITOR_IS("PMLMT", POWER_LIMIT, NULL),
    MONITOR_IS("EPLMT", POWER_LIMIT, NULL),
    MONITOR_IS("TOTEC", ENERGY, "mJ"),
    MONITOR_IS("TMPTR", TEMPERATURE, NULL),
    MONITOR_IS("MMTMP", MEMORY_TEMPERATURE, NULL),
    MONITOR_IS("SMCLK", SM_CLOCK, NULL),
    MONITOR_IS("MMCLK", MEMORY_CLOCK, NULL),
    MONITOR_IS("SMMAX", SM_CLOCK_MAX, NULL),
    MONITOR_IS("MMMAX", MEMORY_CLOCK_MAX, NULL),
    MONITOR_IS("DVCCTR", THROTTLE_REASONS, NULL),
    MONITOR_IS("FANSP", FAN, NULL),
    MONITOR_IS("PSTAT", PERFORMANCE_STATE, NULL),
    MONITOR_IS("ESVTL", ECC_CORRECTED, NULL),
    MONITOR_IS("EDVTL", ECC_UNCORRECTED, NULL),
};

// "GPU 0" is one cell.
static void join_entity(struct monitor_cells *cells)
{
    struct str *entity = &cells->at[0], id = cells->at[1];
    entity->len = (size_t)(id.at + id.len - entity->at);
    for (size_t i = 1; i + 1 < cells->count; i++)
        cells->at[i] = cells->at[i + 1];
    cells->count--;
}

// The line below the names has units, after "ID".
static bool take(struct monitor_table *table, const struct str *text, struct err *err)
{
    bool names = *text->at == '#';
    monitor_split_blanks(names ? log_from(*text, 1) : *text, &table->cells);
    if (names && !(table->cells.count && str_equal(table->cells.at[0], STR("Entity"))))
        return true;
    if (names)
        return monitor_take_header(table, *text, err);
    if (str_equal_nocase(table->cells.at[0], STR("ID")))
        return true;
    if (table->cells.count > 1)
        join_entity(&table->cells);
    return monitor_take_row(table, err);
}

static const struct monitor_dialect dialect = MONITOR_DIALECT("dcgmi dmon", columns, take);

static bool gather_dcgmi(const struct format_input *input, struct err *err)
{
    return monitor_gather(input, &dialect, err);
}

extern const struct format format_dcgmi;

static bool count_dcgmi(const struct format_input *input, struct err *err)
{
    return monitor_count(input, &format_dcgmi, monitor_report_rows, err);
}

static bool is_header(struct str line)
{
    if (*line.at != '#')
        return false;
    struct str names = log_trim(log_from(line, 1));
    return str_starts_with(names, STR("Entity ")) || str_starts_with(names, STR("Entity\t"));
}

static enum format_likeness probe_dcgmi(const struct format_sample *sample)
{
    return monitor_any_line(sample->head, MONITOR_FIRST_LINES, is_header) ? FORMAT_SURE
                                                                          : FORMAT_UNLIKE;
}

const struct format format_dcgmi = {
    .name = "dcgmi-dmon",
    .what = "samples of dcgmi dmon",
    .kind = FORMAT_RECORDS,
    .probe = probe_dcgmi,
    .count = count_dcgmi,
    .gather = gather_dcgmi,
};
