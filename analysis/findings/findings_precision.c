// SPDX-License-Identifier: Apache-2.0
// Rules about matrix products that run in a higher precision than others in the trace.
#include "analysis/findings/findings_work.h"
#include "analysis/kernel_names/kernel_decoded.h"

#include <math.h>

// Products in some precisions, and what another one would save.
struct precision_case {
    struct finding_work *work;
    enum precision target;
    uint32_t sources; // bits: precisions that could run in the target one
    bool only_simt;   // only rows whose kernel's name says that it uses no tensor cores
    bool never_simt;  // only other ones
    int64_t guessed_ns, total_ns;
    uint32_t worst; // row that could save most
};

static bool is_source(const struct precision_case *ours, enum precision precision)
{
    return ours->sources >> precision & 1;
}

static double bytes_of(enum precision precision)
{
    switch (precision) {
    case PRECISION_FP64: return 8;
    case PRECISION_FP32:
    case PRECISION_TF32: return 4;
    case PRECISION_BF16:
    case PRECISION_FP16: return 2;
    case PRECISION_FP8:
    case PRECISION_INT8: return 1;
    case PRECISION_FP4: return 0.5;
    case PRECISION_NONE:
    case PRECISION_COUNT: break;
    }
    return 0;
}

static bool is_simt(const struct finding_case *the_case, const struct work_row *row)
{
    struct kernel_decoded decoded;
    kernel_decode(trace_text(the_case->facts->trace, row->kernel), &decoded);
    return kernel_is_simt(&decoded);
}

// Share of a row's time that the target would save by the roofline; NaN if unknown.
static double saved_of(const struct precision_case *ours, const struct work_row *row)
{
    const struct peak *peak = ours->work->rows.peak;
    struct roofline roof = work_roofline(row, peak);
    if (!(roof.total_ns > 0) || peak->tflops[ours->target] <= 0)
        return NAN;
    double compute_ns =
        roof.compute_ns * peak->tflops[row->work.precision] / peak->tflops[ours->target];
    double memory_ns = roof.memory_ns * bytes_of(ours->target) / bytes_of(row->work.precision);
    double target_ns = compute_ns > memory_ns ? compute_ns : memory_ns;
    return target_ns < roof.total_ns ? 1 - target_ns / roof.total_ns : 0;
}

static bool measure(const struct finding_case *the_case, struct precision_case *ours, double guess,
                    struct err *err)
{
    if (!finding_work_make(the_case, &ours->work, err))
        return false;
    struct finding_work *work = ours->work;
    double most = 0;
    ours->worst = FACTS_NONE;
    for (uint32_t r = 0; r < work->rows.count; r++) {
        const struct work_row *row = &work->rows.rows[r];
        if (row->work.kind != WORK_GEMM || !is_source(ours, row->work.precision) ||
            (ours->only_simt && !is_simt(the_case, row)) ||
            (ours->never_simt && is_simt(the_case, row)))
            continue;
        double saved = saved_of(ours, row), steady_ns = (double)work->steady_ns[r];
        work->saved[r] = isnan(saved) ? guess : saved;
        ours->guessed_ns += isnan(saved) ? work->steady_ns[r] : 0;
        ours->total_ns += work->steady_ns[r];
        if (work->saved[r] * steady_ns <= most)
            continue;
        most = work->saved[r] * steady_ns;
        ours->worst = r;
    }
    return true;
}

static bool make(const struct finding_case *the_case, enum precision target, uint32_t sources,
                 struct precision_case **made, struct err *err)
{
    struct precision_case *ours = *made = arena_array(the_case->arena, 1, sizeof *ours, err);
    if (!ours)
        return false;
    ours->target = target;
    ours->sources = sources;
    return true;
}

static bool describe(const struct finding_case *the_case, const struct precision_case *ours,
                     struct finding *finding, struct err *err)
{
    const struct work_row *row = &ours->work->rows.rows[ours->worst];
    struct str name = facts_short_name(the_case->facts->trace, row->name);
    struct evidence evidence = {0};
    finding->confidence = ours->guessed_ns > ours->total_ns / 2 ? "low" : "medium";
    evidence_add(&evidence, "roofline",
                 "most in %.*s %s in %s: %s %s, of which %.0f %% could be saved", (int)name.len,
                 name.at, row->work.problem, precision_word(row->work.precision),
                 time_text(ours->work->steady_ns[ours->worst] / the_case->steps).text,
                 the_case->per, 100 * ours->work->saved[ours->worst]);
    evidence_add(&evidence, "utilization", "%.0f %% of the time of matrix products is %s",
                 100 * finding_gemm_share(the_case, ours->target), precision_word(ours->target));
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

// --- fp32 beside 16 bits -------------------------------------------------------------------------

static bool check_precision(const struct finding_case *the_case, bool *fires,
                            struct finding *finding, struct err *err)
{
    double bf16 = finding_gemm_share(the_case, PRECISION_BF16);
    double fp16 = finding_gemm_share(the_case, PRECISION_FP16);
    double low = bf16 + fp16 + finding_gemm_share(the_case, PRECISION_FP8);
    double high = finding_gemm_share(the_case, PRECISION_TF32) +
                  finding_gemm_share(the_case, PRECISION_FP32) +
                  finding_gemm_share(the_case, PRECISION_FP64);
    if (low < FINDING_PRECISION_LOW || high <= 0)
        return true;
    struct precision_case *ours;
    uint32_t sources = 1u << PRECISION_TF32 | 1u << PRECISION_FP32 | 1u << PRECISION_FP64;
    if (!make(the_case, fp16 > bf16 ? PRECISION_FP16 : PRECISION_BF16, sources, &ours, err) ||
        !measure(the_case, ours, FINDING_PRECISION_GUESS, err))
        return false;
    if (!findings_cost(the_case, finding, finding_work_claim, ours->work, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_PRECISION_SHARE);
    if (!*fires)
        return true;
    finding->title = arena_printf(the_case->arena, err,
                                  "%s of matrix products %s run in %s or higher although others "
                                  "use %s; %s could be saved (%.1f %%)",
                                  time_text(ours->total_ns / the_case->steps).text, the_case->per,
                                  precision_word(ours->work->rows.rows[ours->worst].work.precision),
                                  precision_word(ours->target), time_text(finding->cost_ns).text,
                                  findings_percent(the_case, finding->cost_ns));
    return describe(the_case, ours, finding, err);
}

const struct finding_rule finding_gemm_precision = {
    .name = "gemm_precision",
    .why = "Matrix products in fp32 or tf32 take several times as long as in 16 bits and move "
           "twice the bytes; other products of this job already run in 16 bits.",
    .advice = "Put them under torch.autocast, or cast weights and inputs; where fp32 is required, "
              "allow tf32: torch.set_float32_matmul_precision(\"high\").",
    .advice_jax = "Cast weights and inputs (the dtype of Flax's layers), or compute with "
                  "precision=\"BF16_BF16_F32\"; where fp32 is required, allow tf32: "
                  "jax.default_matmul_precision(\"tensorfloat32\").",
    .method =
        "Owned time of products in fp32, tf32 or fp64 per steady step, times 1 - roofline time in "
        "16 bits / roofline time as they ran (one half when shapes or peaks are unknown); reported "
        "from 1 % of the step when 10 % of the time of products is in 16 bits or fewer.",
    .false_alarms = "Routers, losses and parts of optimizers are kept in fp32 on purpose.",
    .check = check_precision,
};

// --- fp32 alone ---------------------------------------------------------------------------------

static bool device_has(const struct finding_case *the_case, enum precision precision)
{
    const struct peak *peak = the_case->work->rows.peak;
    return peak && peak->tflops[precision] > 0;
}

static bool check_fp32_simt(const struct finding_case *the_case, bool *fires,
                            struct finding *finding, struct err *err)
{
    double low = finding_gemm_share(the_case, PRECISION_BF16) +
                 finding_gemm_share(the_case, PRECISION_FP16) +
                 finding_gemm_share(the_case, PRECISION_FP8);
    if (low >= FINDING_PRECISION_LOW || finding_gemm_share(the_case, PRECISION_FP32) <= 0)
        return true; // beside 16 bits it is the rule above
    struct precision_case *ours;
    if (!make(the_case, PRECISION_TF32, 1u << PRECISION_FP32, &ours, err))
        return false;
    ours->only_simt = true;
    if (!measure(the_case, ours, FINDING_PRECISION_GUESS, err))
        return false;
    if (ours->worst == FACTS_NONE || !device_has(the_case, PRECISION_TF32))
        return true;
    if (!findings_cost(the_case, finding, finding_work_claim, ours->work, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_PRECISION_SHARE);
    if (!*fires)
        return true;
    finding->title = arena_printf(the_case->arena, err,
                                  "%s of fp32 matrix products %s run without tensor cores; tf32 "
                                  "could save at most %s (%.1f %%)",
                                  time_text(ours->total_ns / the_case->steps).text, the_case->per,
                                  time_text(finding->cost_ns).text,
                                  findings_percent(the_case, finding->cost_ns));
    return describe(the_case, ours, finding, err);
}

const struct finding_rule finding_fp32_simt = {
    .name = "fp32_without_tensor_cores",
    .why = "Matrix products in fp32 that are not allowed to use tf32 run outside the tensor cores: "
           "on an A100 at 19.5 TFLOP/s instead of 156.",
    .advice = "If fp32 was not meant, train under torch.autocast in bf16; if 10 bits of mantissa "
              "are enough for products, allow tf32: torch.set_float32_matmul_precision(\"high\").",
    .advice_jax = "If fp32 was not meant, compute in bf16 (the dtype of Flax's layers); if 10 bits "
                  "of mantissa are enough for products, allow tf32: "
                  "jax.default_matmul_precision(\"tensorfloat32\"), and no precision=HIGHEST.",
    .method =
        "Owned time of fp32 products by kernels whose names say that they use no tensor cores "
        "(sgemm, simt, ffma), per steady step, times 1 - roofline time in tf32 / in fp32 (one "
        "half when shapes are unknown); reported from 1 % of the step when under 10 % of the "
        "time of products is in 16 bits or fewer.",
    .false_alarms = "Solvers, physics and some losses need the precision of fp32.",
    .check = check_fp32_simt,
};

// --- no 16 bits ----------------------------------------------------------------------------------

// Whether most of the time of products is in fp32 or tf32, and hardly any in fewer bits.
static bool is_wide(const struct finding_case *the_case)
{
    static const enum precision narrow[] = {PRECISION_BF16, PRECISION_FP16, PRECISION_FP8,
                                            PRECISION_INT8, PRECISION_FP4};
    double low = 0;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        low += finding_gemm_share(the_case, narrow[i]);
    double wide =
        finding_gemm_share(the_case, PRECISION_FP32) + finding_gemm_share(the_case, PRECISION_TF32);
    return low < FINDING_PRECISION_LOW && wide >= FINDING_PRECISION_WIDE;
}

static bool check_bf16(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    if (!is_wide(the_case))
        return true;
    struct precision_case *ours;
    bool bf16 = device_has(the_case, PRECISION_BF16); // NVIDIA's before Ampere have only fp16
    if (!make(the_case, bf16 ? PRECISION_BF16 : PRECISION_FP16,
              1u << PRECISION_FP32 | 1u << PRECISION_TF32, &ours, err))
        return false;
    ours->never_simt = device_has(the_case, PRECISION_TF32); // those are the rule above
    if (!measure(the_case, ours, 0, err))
        return false;
    if (ours->worst == FACTS_NONE)
        return true;
    if (!findings_cost(the_case, finding, finding_work_claim, ours->work, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_PRECISION_SHARE);
    if (!*fires)
        return true;
    finding->severity = "info";
    finding->advice = bf16 ? NULL
                           : "Train under torch.autocast with dtype=torch.float16 and a "
                             "torch.amp.GradScaler; for inference load the weights in fp16.";
    finding->title = arena_printf(
        the_case->arena, err,
        "matrix products run in %s, hardly any in 16 bits; %s could save %s %s (%.1f %%)",
        precision_word(ours->work->rows.rows[ours->worst].work.precision),
        precision_word(ours->target), time_text(finding->cost_ns).text, the_case->per,
        findings_percent(the_case, finding->cost_ns));
    return describe(the_case, ours, finding, err);
}

const struct finding_rule finding_bf16_unused = {
    .name = "bf16_unused",
    .why = "This device multiplies matrices in 16 bits at least twice as fast as in tf32 or fp32, "
           "and moves half the bytes.",
    .advice = "Train under torch.autocast with dtype=torch.bfloat16; for inference load the "
              "weights in bf16.",
    .advice_jax = "Compute in bf16 (or fp16 with a scaled loss, as the title says), with weights "
                  "kept in fp32: the dtype of Flax's layers.",
    .method =
        "Owned time of products in fp32 or tf32 per steady step, without those of "
        "fp32_without_tensor_cores, times 1 - roofline time in bf16 (in fp16 where the device "
        "has no bf16) / roofline time as they ran; reported from 1 % of the step when half of "
        "the time of products is in fp32 or tf32, and under 10 % in 16 bits or fewer.",
    .false_alarms = "Solvers, physics and some losses need the precision of fp32.",
    .check = check_bf16,
};

// --- 16 bits beside fp8 --------------------------------------------------------------------------

static bool check_fp8(const struct finding_case *the_case, bool *fires, struct finding *finding,
                      struct err *err)
{
    double wide =
        finding_gemm_share(the_case, PRECISION_BF16) + finding_gemm_share(the_case, PRECISION_FP16);
    if (finding_gemm_share(the_case, PRECISION_FP8) < FINDING_FP8_USED || wide < FINDING_FP8_UNUSED)
        return true;
    struct precision_case *ours;
    if (!make(the_case, PRECISION_FP8, 1u << PRECISION_BF16 | 1u << PRECISION_FP16, &ours, err) ||
        !measure(the_case, ours, 0, err))
        return false;
    if (!findings_cost(the_case, finding, finding_work_claim, ours->work, err))
        return false;
    *fires = finding->cost_ns > 0;
    if (!*fires)
        return true;
    finding->severity = "info";
    finding->title =
        arena_printf(the_case->arena, err,
                     "%.0f %% of matrix product time does not use fp8, which could save %s %s "
                     "(%.1f %%)",
                     100 * wide, time_text(finding->cost_ns).text, the_case->per,
                     findings_percent(the_case, finding->cost_ns));
    return describe(the_case, ours, finding, err);
}

const struct finding_rule finding_fp8_unused = {
    .name = "fp8_unused",
    .why = "Some matrix products already run in fp8, twice as fast as 16 bits on this device; the "
           "others do not.",
    .advice = "Check which layers are excluded (Transformer Engine's or torchao's filters), and "
              "whether their shapes are multiples of 16.",
    .method = "Owned time of products in bf16 and fp16 per steady step, times 1 - roofline time in "
              "fp8 / roofline time as they ran; reported when 5 % of the time of products is in "
              "fp8 and 20 % in 16 bits.",
    .false_alarms = "First and last layers, attention products and routers often need 16 bits.",
    .check = check_fp8,
};
