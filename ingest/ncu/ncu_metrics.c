// SPDX-License-Identifier: Apache-2.0
#include "ingest/ncu/ncu_metrics.h"

#include <stdlib.h>
#include <string.h>

// --- units --------------------------------------------------------------------------------------

enum dimension { NUMBER, PERCENT, TIME, BYTES, RATE, FREQUENCY };

struct unit {
    const char *name;
    enum dimension dimension;
    double factor;
};

// Both spellings, as versions differ; sizes in steps of 1,000.
static const struct unit units[] = {
    {"%", PERCENT, 1},
    {"ns", TIME, 1},
    {"nsecond", TIME, 1},
    {"us", TIME, 1e3},
    {"usecond", TIME, 1e3},
    {"ms", TIME, 1e6},
    {"msecond", TIME, 1e6},
    {"s", TIME, 1e9},
    {"second", TIME, 1e9},
    {"byte", BYTES, 1},
    {"Kbyte", BYTES, 1e3},
    {"Mbyte", BYTES, 1e6},
    {"Gbyte", BYTES, 1e9},
    {"Tbyte", BYTES, 1e12},
    {"hz", FREQUENCY, 1},
    {"Hz", FREQUENCY, 1},
    {"Khz", FREQUENCY, 1e3},
    {"Mhz", FREQUENCY, 1e6},
    {"MHz", FREQUENCY, 1e6},
    {"Ghz", FREQUENCY, 1e9},
    {"GHz", FREQUENCY, 1e9},
    {"cycle/second", FREQUENCY, 1},
    {"cycle/msecond", FREQUENCY, 1e3},
    {"cycle/usecond", FREQUENCY, 1e6},
    {"cycle/nsecond", FREQUENCY, 1e9},
};

static const struct unit *unit_named(struct str name)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_equal(name, str_of(units[i].name)))
            return &units[i];
    return NULL;
}

// Also of rates: "Gbyte/second", "Gbyte/s".
static struct unit unit_of(struct str name)
{
    const struct unit *known = unit_named(name);
    size_t slash = str_find(name, STR("/s"));
    if (!known && slash != SIZE_MAX) {
        struct str per = {name.at + slash + 1, name.len - slash - 1};
        const struct unit *bytes = unit_named((struct str){name.at, slash});
        bool second = str_equal(per, STR("s")) || str_equal(per, STR("second"));
        if (second && bytes && bytes->dimension == BYTES)
            return (struct unit){NULL, RATE, bytes->factor};
    }
    return known ? *known : (struct unit){NULL, NUMBER, 1};
}

// --- metrics ------------------------------------------------------------------------------------

struct metric {
    const char *name;
    enum dimension dimension;
    enum profile_figure figure;
    enum ncu_join join;
};

static const struct metric metrics[] = {
    // details
    {"Duration", TIME, PROFILE_DURATION_NS, NCU_LAST},
    {"Compute (SM) Throughput", PERCENT, PROFILE_SM_PERCENT, NCU_LAST},
    {"Compute (SM) [%]", PERCENT, PROFILE_SM_PERCENT, NCU_LAST},
    {"SM [%]", PERCENT, PROFILE_SM_PERCENT, NCU_LAST},
    {"SOL SM", PERCENT, PROFILE_SM_PERCENT, NCU_LAST},
    {"Memory Throughput", PERCENT, PROFILE_MEMORY_PERCENT, NCU_LAST},
    {"Memory [%]", PERCENT, PROFILE_MEMORY_PERCENT, NCU_LAST},
    {"SOL Memory", PERCENT, PROFILE_MEMORY_PERCENT, NCU_LAST},
    {"Memory Throughput", RATE, PROFILE_DRAM_BPS, NCU_LAST},
    {"DRAM Throughput", PERCENT, PROFILE_DRAM_PERCENT, NCU_LAST},
    {"SOL DRAM", PERCENT, PROFILE_DRAM_PERCENT, NCU_LAST},
    {"Achieved Occupancy", PERCENT, PROFILE_OCCUPANCY_PERCENT, NCU_LAST},
    {"Theoretical Occupancy", PERCENT, PROFILE_OCCUPANCY_LIMIT_PERCENT, NCU_LAST},
    {"L1/TEX Hit Rate", PERCENT, PROFILE_L1_HIT_PERCENT, NCU_LAST},
    {"L2 Hit Rate", PERCENT, PROFILE_L2_HIT_PERCENT, NCU_LAST},
    {"Waves Per SM", NUMBER, PROFILE_WAVES, NCU_LAST},
    {"Registers Per Thread", NUMBER, PROFILE_REGISTERS, NCU_LAST},
    {"SM Frequency", FREQUENCY, PROFILE_CYCLES_HZ, NCU_LAST},
    {"Tensor (All)", PERCENT, PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    {"Tensor", PERCENT, PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    // raw
    {"gpu__time_duration.sum", TIME, PROFILE_DURATION_NS, NCU_LAST},
    {"sm__throughput.avg.pct_of_peak_sustained_elapsed", PERCENT, PROFILE_SM_PERCENT, NCU_LAST},
    {"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", PERCENT,
     PROFILE_MEMORY_PERCENT, NCU_LAST},
    {"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", PERCENT, PROFILE_DRAM_PERCENT,
     NCU_LAST},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed", PERCENT, PROFILE_DRAM_PERCENT, NCU_LAST},
    {"dram__bytes.sum.pct_of_peak_sustained_elapsed", PERCENT, PROFILE_DRAM_PERCENT, NCU_LAST},
    {"dram__bytes.sum", BYTES, PROFILE_DRAM_BYTES, NCU_LAST},
    {"dram__bytes_read.sum", BYTES, PROFILE_DRAM_READ_BYTES, NCU_LAST},
    {"dram__bytes_write.sum", BYTES, PROFILE_DRAM_WRITE_BYTES, NCU_LAST},
    {"dram__bytes.sum.per_second", RATE, PROFILE_DRAM_BPS, NCU_LAST},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", PERCENT,
     PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", PERCENT,
     PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    {"sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active", PERCENT,
     PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    {"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", PERCENT,
     PROFILE_TENSOR_PERCENT, NCU_LARGEST},
    {"sm__warps_active.avg.pct_of_peak_sustained_active", PERCENT, PROFILE_OCCUPANCY_PERCENT,
     NCU_LAST},
    {"sm__maximum_warps_per_active_cycle_pct", PERCENT, PROFILE_OCCUPANCY_LIMIT_PERCENT, NCU_LAST},
    {"l1tex__t_sector_hit_rate.pct", PERCENT, PROFILE_L1_HIT_PERCENT, NCU_LAST},
    {"lts__t_sector_hit_rate.pct", PERCENT, PROFILE_L2_HIT_PERCENT, NCU_LAST},
    {"launch__waves_per_multiprocessor", NUMBER, PROFILE_WAVES, NCU_LAST},
    {"launch__registers_per_thread", NUMBER, PROFILE_REGISTERS, NCU_LAST},
    {"smsp__cycles_elapsed.avg.per_second", FREQUENCY, PROFILE_CYCLES_HZ, NCU_LAST},
    {"sm__cycles_elapsed.avg.per_second", FREQUENCY, PROFILE_CYCLES_HZ, NCU_LAST},
};

// Floating-point instructions per thread, and how many operations each is. Those of half precision
// are on two numbers, as ncu's own roofline counts them.
static const struct {
    const char *op;
    double operations;
} thread_ops[] = {{"fadd", 1}, {"fmul", 1}, {"ffma", 2}, {"dadd", 1},  {"dmul", 1},  {"dfma", 2},
                  {"hadd", 2}, {"hmul", 2}, {"hfma", 4}, {"fadd2", 2}, {"fmul2", 2}, {"ffma2", 4}};

static bool cut_start(struct str *text, struct str start)
{
    if (!str_starts_with(*text, start))
        return false;
    *text = (struct str){text->at + start.len, text->len - start.len};
    return true;
}

static bool cut_end(struct str *text, struct str end)
{
    if (text->len < end.len || memcmp(text->at + text->len - end.len, end.at, end.len) != 0)
        return false;
    text->len -= end.len;
    return true;
}

static struct ncu_target adding(bool per_cycle, enum profile_figure sum, double operations)
{
    return (struct ncu_target){
        .known = true,
        .figure = (enum profile_figure)(per_cycle ? (int)sum - 1 : (int)sum),
        .factor = operations,
        .join = NCU_SUM,
    };
}

// "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", and the operations of
// tensor cores by types: "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum".
static struct ncu_target operations_of(struct str name)
{
    bool per_cycle = cut_end(&name, STR(".per_cycle_elapsed"));
    if (!cut_end(&name, STR(".sum")))
        return (struct ncu_target){0};
    if (str_starts_with(name, STR("sm__ops_path_tensor_src_")))
        return adding(per_cycle, PROFILE_TENSOR_FLOPS, 1);
    if (!cut_start(&name, STR("smsp__sass_thread_inst_executed_op_")) ||
        !cut_end(&name, STR("_pred_on")))
        return (struct ncu_target){0};
    for (size_t i = 0; i < sizeof thread_ops / sizeof *thread_ops; i++)
        if (str_equal(name, str_of(thread_ops[i].op)))
            return adding(per_cycle, PROFILE_FLOPS, thread_ops[i].operations);
    return (struct ncu_target){0};
}

struct str ncu_whole_of(struct str part, unsigned split, char text[NCU_NAME_BYTES])
{
    static const char *const splits[NCU_SPLITS] = {"_sparsity_", "_dst_"};
    size_t at = str_find(part, str_of(splits[split])), end = str_find(part, STR(".sum"));
    if (at == SIZE_MAX || end == SIZE_MAX || at > end || part.len >= NCU_NAME_BYTES)
        return STR("");
    memcpy(text, part.at, at);
    memcpy(text + at, part.at + end, part.len - end);
    return (struct str){text, at + part.len - end};
}

// --- stalls -------------------------------------------------------------------------------------

static struct ncu_target stall_of(struct str name, enum profile_stall_family family)
{
    unsigned stall = profile_stall_of(name);
    return (struct ncu_target){.known = stall < PROFILE_STALLS,
                               .is_stall = true,
                               .stall = stall,
                               .family = family,
                               .factor = 1};
}

static struct ncu_target raw_stall_of(struct str name)
{
    struct str text = name;
    if (cut_start(&text, STR("smsp__average_warps_issue_stalled_")) &&
        cut_end(&text, STR("_per_issue_active.ratio")))
        return stall_of(text, PROFILE_STALLS_PER_ISSUE);
    text = name;
    if (cut_start(&text, STR("smsp__warp_issue_stalled_")) &&
        cut_end(&text, STR("_per_warp_active.pct")))
        return stall_of(text, PROFILE_STALLS_PER_ACTIVE);
    text = name;
    if (!cut_start(&text, STR("smsp__pcsamp_warps_issue_stalled_")))
        return (struct ncu_target){0};
    if (cut_end(&text, STR("_not_issued")))
        return stall_of(text, PROFILE_STALLS_NOT_ISSUED);
    return stall_of(text, PROFILE_STALLS_SAMPLED);
}

// "Stall Long Scoreboard" on the details page.
static struct ncu_target shown_stall_of(struct str name)
{
    char word[32];
    if (!cut_start(&name, STR("Stall ")) || name.len > sizeof word)
        return (struct ncu_target){0};
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        word[i] = (char)(c == ' ' ? '_' : c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
    }
    return stall_of((struct str){word, name.len}, PROFILE_STALLS_PER_ISSUE);
}

static bool fits(const struct metric *metric, struct str name, enum dimension dimension)
{
    return (metric->dimension == NUMBER || metric->dimension == dimension) &&
           str_equal(name, str_of(metric->name));
}

struct ncu_target ncu_target_of(struct str name, struct str unit_name)
{
    struct unit unit = unit_of(unit_name);
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++)
        if (fits(&metrics[i], name, unit.dimension))
            return (struct ncu_target){
                .known = true,
                .figure = metrics[i].figure,
                .factor = metrics[i].dimension == NUMBER ? 1 : unit.factor,
                .join = metrics[i].join,
            };
    struct ncu_target target = operations_of(name);
    if (!target.known)
        target = raw_stall_of(name);
    return target.known ? target : shown_stall_of(name);
}

// --- numbers ------------------------------------------------------------------------------------

// The length of what separates thousands at that place, besides commas and points: blanks that do
// not break, of both widths, and apostrophes.
static size_t separator_at(struct str text, size_t at)
{
    static const char *const separators[] = {"\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x99", "'"};
    struct str rest = {text.at + at, text.len - at};
    for (size_t i = 0; i < sizeof separators / sizeof *separators; i++) {
        size_t len = strlen(separators[i]);
        bool between =
            at > 0 && str_is_digit(text.at[at - 1]) && len < rest.len && str_is_digit(rest.at[len]);
        if (between && str_starts_with(rest, str_of(separators[i])))
            return len;
    }
    return 0;
}

bool ncu_number(struct str text, char mark, double *value)
{
    char digits[64], *end;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        i += separator_at(text, i);
        char c = text.at[i];
        if (len + 1 == sizeof digits)
            return false;
        if (c == mark)
            digits[len++] = '.';
        else if (c != '.' && c != ',')
            digits[len++] = c;
    }
    digits[len] = '\0';
    *value = strtod(digits, &end);
    return len && *end == '\0';
}

static bool all_digits(const char *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!str_is_digit(at[i]))
            return false;
    return true;
}

// "27.595.520", where no comma need be.
static bool has_points(struct str text)
{
    size_t points = 0, first = str_find(text, STR("."));
    if (first == SIZE_MAX || first == 0 || first > 3 || !all_digits(text.at, first))
        return false;
    for (size_t i = first; i + 4 <= text.len && text.at[i] == '.'; i += 4, points++)
        if (!all_digits(text.at + i + 1, 3))
            return false;
    return points > 1 && first + points * 4 == text.len;
}

bool ncu_has_comma(struct str text)
{
    if (has_points(text))
        return true;
    for (size_t i = 1; i < text.len; i++) {
        size_t after = text.len - i - 1;
        if (text.at[i] != ',')
            continue;
        if (str_is_digit(text.at[i - 1]) && after >= 1 && after <= 2 &&
            all_digits(text.at + i + 1, after))
            return true;
        if (i >= 4 && text.at[i - 4] == '.' && all_digits(text.at + i - 3, 3))
            return true;
    }
    return false;
}
