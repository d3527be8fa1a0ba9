// SPDX-License-Identifier: Apache-2.0
// pmc_perf.csv of rocprof-compute: a row for each launch of a kernel, with its counters. They
// become the figures that Nsight Compute gives of a launch, by the formulas of rocprof-compute's
// documentation. timestamps.csv has the same rows without counters.
#include "ingest/csv/csv.h"
#include "ingest/rocm/rocm_counts.h"
#include "ingest/rocm/rocm_names.h"
#include "ingest/source/evidence_count.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// --- counters -----------------------------------------------------------------------------------

enum sum {
    DRAM_BYTES,
    FLOPS,
    MATRIX_FLOPS,
    L2_HITS,
    L2_REQUESTS,
    WAVE_CYCLES, // of all waves; these five in units of four cycles
    BUSY_CYCLES, // of all compute units with waves
    DEPENDENCY_CYCLES,
    ISSUE_CYCLES, // waiting to issue an instruction
    ACTIVE_CYCLES,
    SUMS
};

// MI350 counts reads of 128 bytes by themselves, and as TCC_BUBBLE none of them.
#define READS_OF_128  "TCC_EA0_RDREQ_128B_sum"
#define ONLY_ON_MI350 "SQ_INSTS_VALU_MFMA_MOPS_F6F4"

// A sum is known if every counter that it needs is there.
static const struct term {
    enum sum sum;
    double factor;
    bool optional;            // not on all GPUs
    const char *name, *older; // older: on MI200, or MI300
} terms[] = {
    {DRAM_BYTES, 64, false, "TCC_EA0_RDREQ_sum", "TCC_EA_RDREQ_sum"},
    {DRAM_BYTES, -32, false, "TCC_EA0_RDREQ_32B_sum", "TCC_EA_RDREQ_32B_sum"},
    {DRAM_BYTES, 64, true, READS_OF_128, "TCC_BUBBLE_sum"}, // counted as 64 above
    {DRAM_BYTES, 32, false, "TCC_EA0_WRREQ_sum", "TCC_EA_WRREQ_sum"},
    {DRAM_BYTES, 32, false, "TCC_EA0_WRREQ_64B_sum", "TCC_EA_WRREQ_64B_sum"},
    {FLOPS, 64, false, "SQ_INSTS_VALU_ADD_F16", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_MUL_F16", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_TRANS_F16", NULL},
    {FLOPS, 128, false, "SQ_INSTS_VALU_FMA_F16", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_ADD_F32", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_MUL_F32", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_TRANS_F32", NULL},
    {FLOPS, 128, false, "SQ_INSTS_VALU_FMA_F32", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_ADD_F64", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_MUL_F64", NULL},
    {FLOPS, 64, false, "SQ_INSTS_VALU_TRANS_F64", NULL},
    {FLOPS, 128, false, "SQ_INSTS_VALU_FMA_F64", NULL},
    {MATRIX_FLOPS, 512, true, ONLY_ON_MI350, NULL},
    {MATRIX_FLOPS, 512, true, "SQ_INSTS_VALU_MFMA_MOPS_F8", NULL},
    {MATRIX_FLOPS, 512, false, "SQ_INSTS_VALU_MFMA_MOPS_F16", NULL},
    {MATRIX_FLOPS, 512, false, "SQ_INSTS_VALU_MFMA_MOPS_BF16", NULL},
    {MATRIX_FLOPS, 512, false, "SQ_INSTS_VALU_MFMA_MOPS_F32", NULL},
    {MATRIX_FLOPS, 512, false, "SQ_INSTS_VALU_MFMA_MOPS_F64", NULL},
    {L2_HITS, 1, false, "TCC_HIT_sum", NULL},
    {L2_REQUESTS, 1, false, "TCC_HIT_sum", NULL},
    {L2_REQUESTS, 1, false, "TCC_MISS_sum", NULL},
    {WAVE_CYCLES, 1, false, "SQ_WAVE_CYCLES", NULL},
    {BUSY_CYCLES, 1, false, "SQ_BUSY_CU_CYCLES", NULL},
    {DEPENDENCY_CYCLES, 1, false, "SQ_WAIT_ANY", NULL},
    {ISSUE_CYCLES, 1, false, "SQ_WAIT_INST_ANY", NULL},
    {ACTIVE_CYCLES, 1, false, "SQ_ACTIVE_INST_ANY", NULL},
};

enum { TERMS = sizeof terms / sizeof *terms, MOST_WAVES = 32 };

// --- columns ------------------------------------------------------------------------------------

enum { ID, GPU, ITEMS, BLOCK, VGPRS, MORE_VGPRS, NAME, BEGIN, END, COLUMNS };

static const char *const names[COLUMNS] = {"Dispatch_ID",    "GPU_ID",          "Grid_Size",
                                           "Workgroup_Size", "Arch_VGPR",       "Accum_VGPR",
                                           "Kernel_Name",    "Start_Timestamp", "End_Timestamp"};

struct compute {
    const struct format_input *input;
    struct csv *csv;
    struct csv_row row;
    size_t at[COLUMNS], terms[TERMS]; // SIZE_MAX: not there
    bool rounded;                     // whether some time is
    bool lacks_reads;                 // as rocprof-compute before 3.5 has them of an MI350
    double most_waves;                // of a compute unit; 0 unknown
    uint64_t rows;
};

static size_t column_of(const struct csv_row *header, const char *name)
{
    for (size_t i = 0; name && i < header->count; i++)
        if (str_equal_nocase(header->cells[i], str_of(name)))
            return i;
    return SIZE_MAX;
}

static void find_columns(struct compute *compute)
{
    for (size_t c = 0; c < COLUMNS; c++)
        compute->at[c] = column_of(&compute->row, names[c]);
    for (size_t t = 0; t < TERMS; t++) {
        compute->terms[t] = column_of(&compute->row, terms[t].name);
        if (compute->terms[t] == SIZE_MAX)
            compute->terms[t] = column_of(&compute->row, terms[t].older);
    }
    compute->lacks_reads = column_of(&compute->row, ONLY_ON_MI350) != SIZE_MAX &&
                           column_of(&compute->row, READS_OF_128) == SIZE_MAX;
    // MI200 or newer: MI100 has no such matrix operations.
    bool is_newer = column_of(&compute->row, "SQ_INSTS_VALU_MFMA_MOPS_F64") != SIZE_MAX;
    compute->most_waves = is_newer ? MOST_WAVES : 0;
}

static int64_t number(const struct compute *compute, size_t column)
{
    int64_t value;
    struct str text = csv_cell(&compute->row, compute->at[column]);
    return str_to_i64(text, &value) ? value : -1;
}

static double real_of(struct str text)
{
    char digits[64] = "", *end;
    if (text.len == 0 || text.len >= sizeof digits)
        return NAN;
    memcpy(digits, text.at, text.len);
    double real = strtod(digits, &end);
    return *end || !isfinite(real) ? NAN : real;
}

// --- launches -----------------------------------------------------------------------------------

static void sum_up(const struct compute *compute, double sums[SUMS])
{
    for (int s = 0; s < SUMS; s++)
        sums[s] = 0;
    for (size_t t = 0; t < TERMS; t++) {
        double value = real_of(csv_cell(&compute->row, compute->terms[t]));
        sums[terms[t].sum] += isnan(value) && terms[t].optional ? 0 : terms[t].factor * value;
    }
    for (int s = 0; s < SUMS; s++)
        sums[s] = isfinite(sums[s]) && sums[s] >= 0 ? sums[s] : NAN;
}

// Waves on a compute unit while it has any, as Nsight Compute counts warps.
static void take_waves(const struct compute *compute, const double sums[SUMS],
                       struct kernel_profile *profile)
{
    static const struct {
        const char *word;
        enum sum cycles;
    } stalls[] = {{"dependency_wait", DEPENDENCY_CYCLES},
                  {"issue_wait", ISSUE_CYCLES},
                  {"selected", ACTIVE_CYCLES}};
    if (sums[BUSY_CYCLES] > 0 && compute->most_waves > 0)
        profile->figures[PROFILE_OCCUPANCY_PERCENT] =
            100 * sums[WAVE_CYCLES] / sums[BUSY_CYCLES] / compute->most_waves;
    if (!(sums[WAVE_CYCLES] > 0))
        return;
    profile->family = PROFILE_STALLS_PER_ACTIVE;
    for (size_t i = 0; i < sizeof stalls / sizeof *stalls; i++)
        profile->stalls[profile_stall_of(str_of(stalls[i].word))] =
            100 * sums[stalls[i].cycles] / sums[WAVE_CYCLES];
}

static void take_figures(const struct compute *compute, struct kernel_profile *profile)
{
    double sums[SUMS], *figures = profile->figures;
    int64_t begin = number(compute, BEGIN), end = number(compute, END);
    int64_t vgprs = number(compute, VGPRS), more = number(compute, MORE_VGPRS);
    sum_up(compute, sums);
    if (begin >= 0 && end > begin)
        figures[PROFILE_DURATION_NS] = (double)(end - begin);
    figures[PROFILE_DRAM_BYTES] = compute->lacks_reads ? NAN : sums[DRAM_BYTES];
    figures[PROFILE_FLOPS] = sums[FLOPS];
    figures[PROFILE_TENSOR_FLOPS] = sums[MATRIX_FLOPS];
    take_waves(compute, sums, profile);
    if (sums[L2_REQUESTS] > 0)
        figures[PROFILE_L2_HIT_PERCENT] = 100 * sums[L2_HITS] / sums[L2_REQUESTS];
    if (vgprs >= 0)
        figures[PROFILE_REGISTERS] = (double)vgprs + (double)(more > 0 ? more : 0);
}

// Only total sizes are recorded: those of a launch in one dimension are its grid.
static void take_size(const struct compute *compute, struct kernel_profile *profile)
{
    struct launch_shape shape = {.grid = {0}};
    rocm_extent(&shape, 0, number(compute, ITEMS), number(compute, BLOCK));
    for (int i = 0; shape.grid[0] && i < 3; i++) {
        profile->grid[i] = i ? 1 : shape.grid[0];
        profile->block[i] = i ? 1 : shape.block[0];
    }
}

static bool has_counters(const struct compute *compute)
{
    for (size_t t = 0; t < TERMS; t++)
        if (compute->terms[t] != SIZE_MAX)
            return true;
    return false;
}

static bool take_row(struct compute *compute, struct err *err)
{
    struct evidence *evidence = compute->input->evidence;
    bool timed = compute->at[BEGIN] != SIZE_MAX;
    compute->rows++;
    compute->rounded |= timed && number(compute, BEGIN) < 0;
    if (!has_counters(compute))
        return true;
    struct kernel_profile *profile = kernel_profiles_add(evidence, err);
    if (!profile)
        return err->code == ERR_NONE;
    profile->launch = number(compute, ID);
    profile->device = number(compute, GPU);
    take_size(compute, profile);
    take_figures(compute, profile);
    struct str name = rocm_kernel_name(csv_cell(&compute->row, compute->at[NAME]));
    return evidence_text(evidence, name, &profile->kernel, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool take_rows(struct compute *compute, struct err *err)
{
    enum { PROGRESS_ROWS = 256 };
    bool end;
    if (!csv_next(compute->csv, &compute->row, &end, err))
        return end;
    find_columns(compute);
    while (csv_next(compute->csv, &compute->row, &end, err))
        if (!take_row(compute, err) ||
            (compute->rows % PROGRESS_ROWS == 0 &&
             !progress_report(compute->input->progress, source_consumed(compute->input->source),
                              err)))
            return false;
    return end;
}

static bool gather(const struct format_input *input, struct err *err)
{
    struct compute compute = {.input = input};
    input->evidence->source = STR("rocprof-compute");
    compute.csv = csv_open(input->source, input->budget, err);
    bool ok = compute.csv && take_rows(&compute, err);
    csv_close(compute.csv);
    if (compute.rounded)
        figures_add(input->figures, 1, "timestamps_unusable");
    figures_add(input->figures, (int64_t)compute.rows, "rows");
    return ok;
}

static void report(const struct evidence *evidence, struct figures *figures)
{
    const struct kernel_profiles *profiles = &evidence->profiles;
    if (profiles->count)
        figures_add(figures, (int64_t)(profiles->count + profiles->left_out), "launches");
}

static bool count(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather, report}, input, err);
}

// Whether a spreadsheet rounded numbers: "8.1097E+14".
static bool is_rounded(struct str head)
{
    size_t at = str_find(head, STR("E+"));
    return at != SIZE_MAX && at > 0 && str_is_digit(head.at[at - 1]);
}

// Whether the first line names a counter of some block of the GPU: "SQ_WAVES", "TCC_HIT[0]".
static bool has_counter_names(struct str head)
{
    static const char *const blocks[] = {",SQ_",  ",SQC_", ",TA_",  ",TD_",  ",TCP_",
                                         ",TCC_", ",CPC_", ",CPF_", ",SPI_", ",GRBM_"};
    const char *end = memchr(head.at, '\n', head.len);
    struct str line = {head.at, end ? (size_t)(end - head.at) : head.len};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (str_find(line, str_of(blocks[i])) != SIZE_MAX)
            return true;
    return false;
}

// rocprofv2 leaves a line blank below the names: that is one run, with its times.
static bool is_of_one_run(struct str head)
{
    const char *end = memchr(head.at, '\n', head.len);
    size_t at = end ? (size_t)(end + 1 - head.at) : head.len;
    return at < head.len && (head.at[at] == '\n' || head.at[at] == '\r') && !is_rounded(head);
}

// Each file with counters is from another run of the job, so it is no trace even if its times are
// good; timestamps.csv is a trace.
static enum format_likeness probe(const struct format_sample *sample)
{
    bool sure = csv_head_has(sample->head, "Dispatch_ID") && csv_head_has(sample->head, "GPU_ID") &&
                csv_head_has(sample->head, "LDS_Per_Workgroup") &&
                csv_head_has(sample->head, "Kernel_Name") &&
                (!csv_head_has(sample->head, "Start_Timestamp") || is_rounded(sample->head) ||
                 (has_counter_names(sample->head) && !is_of_one_run(sample->head)));
    return sure ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_rocm_compute = {
    .name = "rocprof-csv",
    .what = "counters of rocprof-compute or rocprofv2",
    .advice = ROCM_COUNTED,
    .kind = FORMAT_RECORDS,
    .probe = probe,
    .count = count,
    .gather = gather,
};
