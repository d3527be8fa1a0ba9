// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/profile_tables.h"

#include "analysis/report/row.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

#include <math.h>
#include <stdio.h>

enum { TOP_STALLS = 3, STALLS_TEXT = 160, DIMS_TEXT = 48 };

#define LONGEST      9e18 // about the largest int64_t
#define STALL_LEAST  0.05 // of the time of all warps: less says nothing
#define TENSOR_LEAST 0.5  // percent: less may be rounding

// --- what follows from the figures --------------------------------------------------------------

static double figure(const struct kernel_profile *profile, enum profile_figure which)
{
    return profile->figures[which];
}

static double first_known(double a, double b, double c)
{
    return !isnan(a) ? a : !isnan(b) ? b : c;
}

static double dram_bytes_of(const struct kernel_profile *profile)
{
    return first_known(
        figure(profile, PROFILE_DRAM_BYTES),
        figure(profile, PROFILE_DRAM_READ_BYTES) + figure(profile, PROFILE_DRAM_WRITE_BYTES),
        figure(profile, PROFILE_DRAM_BPS) * figure(profile, PROFILE_DURATION_NS) * 1e-9);
}

// A sum, or the same from a count per cycle: the larger one, as either may lack some instructions.
static double operations_of(const struct kernel_profile *profile, enum profile_figure sum,
                            enum profile_figure per_cycle)
{
    double cycles =
        figure(profile, PROFILE_CYCLES_HZ) * figure(profile, PROFILE_DURATION_NS) * 1e-9;
    return fmax(figure(profile, sum), figure(profile, per_cycle) * cycles); // a number over none
}

// Unknown where the tensor pipe ran and its operations were not counted: they are most of all; and
// where it did not run and no others were counted.
static double flops_of(const struct kernel_profile *profile)
{
    double plain = operations_of(profile, PROFILE_FLOPS, PROFILE_FLOPS_PER_CYCLE);
    double tensor = operations_of(profile, PROFILE_TENSOR_FLOPS, PROFILE_TENSOR_PER_CYCLE);
    if (isnan(tensor) && !(figure(profile, PROFILE_TENSOR_PERCENT) < TENSOR_LEAST))
        return NAN;
    if (isnan(plain))
        return tensor > 0 ? tensor : NAN;
    return isnan(tensor) ? plain : plain + tensor;
}

// --- stalls -------------------------------------------------------------------------------------

static double sum_of_stalls(const struct kernel_profile *profile)
{
    double sum = 0;
    for (unsigned i = 0; i < PROFILE_STALLS; i++)
        sum += profile->stalls[i] > 0 ? profile->stalls[i] : 0;
    return sum;
}

// Issuing an instruction is no stall.
static unsigned next_stall(const struct kernel_profile *profile, const bool *shown)
{
    unsigned best = PROFILE_STALLS, selected = profile_stall_of(STR("selected"));
    for (unsigned i = 0; i < PROFILE_STALLS; i++)
        if (i != selected && !shown[i] && profile->stalls[i] > 0 &&
            (best == PROFILE_STALLS || profile->stalls[i] > profile->stalls[best]))
            best = i;
    return best;
}

// "long_scoreboard 53 %, barrier 12 %"; empty if nothing was measured.
static void write_stalls(const struct kernel_profile *profile, char text[STALLS_TEXT])
{
    bool shown[PROFILE_STALLS] = {false};
    double sum = sum_of_stalls(profile);
    size_t len = 0;
    text[0] = '\0';
    for (int i = 0; i < TOP_STALLS && isfinite(sum); i++) {
        unsigned stall = next_stall(profile, shown);
        if (stall == PROFILE_STALLS || profile->stalls[stall] < STALL_LEAST * sum)
            break;
        shown[stall] = true;
        len += (size_t)snprintf(text + len, STALLS_TEXT - len, "%s%s %.0f %%", i ? ", " : "",
                                profile_stall_word(stall), 100 * profile->stalls[stall] / sum);
    }
}

static const char *basis_of(enum profile_stall_family family)
{
    static const char *const words[] = {
        [PROFILE_STALLS_NONE] = NULL,
        [PROFILE_STALLS_PER_ISSUE] = "per issued instruction",
        [PROFILE_STALLS_PER_ACTIVE] = "per active warp",
        [PROFILE_STALLS_SAMPLED] = "samples",
        [PROFILE_STALLS_NOT_ISSUED] = "samples of cycles without an instruction",
    };
    return words[family];
}

// --- rows ---------------------------------------------------------------------------------------

static void row_whole(struct row *row, unsigned column, double value)
{
    bool known = value >= 0 && value < LONGEST;
    row_i64_if(row, column, known, known ? llround(value) : 0);
}

static void row_dims(struct row *row, unsigned column, const int32_t dims[3], char text[DIMS_TEXT])
{
    snprintf(text, DIMS_TEXT, "%d,%d,%d", dims[0], dims[1], dims[2]);
    row_text_if(row, column, dims[0] > 0, str_of(text));
}

static void row_rates(struct row *row, const struct kernel_profile *profile)
{
    double ns = figure(profile, PROFILE_DURATION_NS);
    double bytes = dram_bytes_of(profile), flops = flops_of(profile);
    row_whole(row, KERNEL_PROFILES_DURATION_NS, ns);
    row_whole(row, KERNEL_PROFILES_DRAM_BYTES, bytes);
    row_f64(row, KERNEL_PROFILES_DRAM_GBPS,
            first_known(figure(profile, PROFILE_DRAM_BPS) * 1e-9, ns > 0 ? bytes / ns : NAN, NAN));
    row_whole(row, KERNEL_PROFILES_FLOPS, flops);
    row_f64(row, KERNEL_PROFILES_TFLOPS, ns > 0 ? flops / ns * 1e-3 : NAN);
    row_f64(row, KERNEL_PROFILES_INTENSITY, bytes > 0 ? flops / bytes : NAN);
}

static void row_figures(struct row *row, const struct kernel_profile *profile)
{
    static const struct {
        unsigned column;
        enum profile_figure figure;
    } plain[] = {
        {KERNEL_PROFILES_SM_PERCENT, PROFILE_SM_PERCENT},
        {KERNEL_PROFILES_MEMORY_PERCENT, PROFILE_MEMORY_PERCENT},
        {KERNEL_PROFILES_DRAM_PERCENT, PROFILE_DRAM_PERCENT},
        {KERNEL_PROFILES_TENSOR_PERCENT, PROFILE_TENSOR_PERCENT},
        {KERNEL_PROFILES_ACHIEVED_OCCUPANCY_PERCENT, PROFILE_OCCUPANCY_PERCENT},
        {KERNEL_PROFILES_OCCUPANCY_LIMIT_PERCENT, PROFILE_OCCUPANCY_LIMIT_PERCENT},
        {KERNEL_PROFILES_L1_HIT_PERCENT, PROFILE_L1_HIT_PERCENT},
        {KERNEL_PROFILES_L2_HIT_PERCENT, PROFILE_L2_HIT_PERCENT},
        {KERNEL_PROFILES_WAVES, PROFILE_WAVES},
    };
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        row_f64(row, plain[i].column, figure(profile, plain[i].figure));
    row_whole(row, KERNEL_PROFILES_REGISTERS, figure(profile, PROFILE_REGISTERS));
}

static bool add_profile(const struct kernel_profile *profile, struct str file,
                        struct report *report, struct err *err)
{
    struct row row = {.desc = &table_kernel_profiles};
    char grid[DIMS_TEXT], block[DIMS_TEXT], stalls[STALLS_TEXT];
    write_stalls(profile, stalls);
    row_text(&row, KERNEL_PROFILES_FILE, file);
    row_i64_if(&row, KERNEL_PROFILES_LAUNCH, profile->launch >= 0, profile->launch);
    row_text(&row, KERNEL_PROFILES_KERNEL, profile->kernel);
    row_dims(&row, KERNEL_PROFILES_GRID, profile->grid, grid);
    row_dims(&row, KERNEL_PROFILES_BLOCK, profile->block, block);
    row_i64_if(&row, KERNEL_PROFILES_DEVICE, profile->device >= 0, profile->device);
    row_text_if(&row, KERNEL_PROFILES_CAPABILITY, profile->capability.len, profile->capability);
    row_rates(&row, profile);
    row_figures(&row, profile);
    row_text_if(&row, KERNEL_PROFILES_STALLS, *stalls, str_of(stalls));
    row_word(&row, KERNEL_PROFILES_STALL_BASIS, *stalls ? basis_of(profile->family) : NULL);
    return row_end(&row, report, err);
}

static bool doubt_left_out(const struct kernel_profiles *profiles, struct str file,
                           struct report *report, struct err *err)
{
    if (profiles->left_out == 0)
        return true;
    const char *detail = arena_printf(report->arena, err, "%d launches of %.*s are kept",
                                      PROFILE_MOST_LAUNCHES, (int)file.len, file.at);
    return detail && doubt_add(report,
                               &(struct doubt){.item = TRUST_ROWS_LEFT_OUT,
                                               .severity = "warning",
                                               .count = (int64_t)profiles->left_out,
                                               .detail = detail,
                                               .effect = "later launches of the file are missing"},
                               err);
}

static bool doubt_cut(const struct kernel_profiles *profiles, struct str file,
                      struct report *report, struct err *err)
{
    if (!profiles->cut)
        return true;
    const char *detail = arena_printf(report->arena, err, "%.*s ends in the middle of a row",
                                      (int)file.len, file.at);
    return detail && doubt_add(report,
                               &(struct doubt){.item = TRUST_ROWS_LEFT_OUT,
                                               .severity = "warning",
                                               .count = 1,
                                               .detail = detail,
                                               .effect = "its last value is left out, and "
                                                         "what came after it is missing"},
                               err);
}

bool profile_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                        struct err *err)
{
    const struct kernel_profiles *profiles = &evidence->profiles;
    if (profiles->count && !report_room(report, &table_kernel_profiles, profiles->count, err))
        return false;
    for (size_t i = 0; i < profiles->count; i++)
        if (!add_profile(&profiles->items[i], file, report, err))
            return false;
    return doubt_left_out(profiles, file, report, err) && doubt_cut(profiles, file, report, err);
}
