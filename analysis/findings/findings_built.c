// SPDX-License-Identifier: Apache-2.0
// Rules about what kernels were built for: an older device, or operands that are not aligned.
#include "analysis/findings/findings_work.h"
#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/names/gpu_arch.h"
#include "analysis/stats/groups.h"
#include "analysis/work/gemm_shape.h"

#include <math.h>
#include <stdlib.h>

// --- an older architecture -----------------------------------------------------------------------

enum { WIDEST_LOAD_BYTES = 16 }; // which newer kernels need

struct older {
    int32_t native;           // architecture of the device
    struct groups names;      // of kernels
    int64_t *steady_ns;       // per name
    bool *is_older;           // per name
    uint32_t *name_of;        // per device event
    int64_t older_ns, all_ns; // of products, convolutions and attention
    uint32_t kernels;         // older ones
    uint32_t worst;           // the one with most time
};

// Operations for which each generation has new tensor core instructions.
static bool is_heavy(enum kernel_op op)
{
    switch (op) {
    case OP_gemm:
    case OP_batched_gemm:
    case OP_grouped_gemm:
    case OP_moe_gemm:
    case OP_conv:
    case OP_conv_fwd:
    case OP_conv_dgrad:
    case OP_conv_wgrad:
    case OP_attention_fwd:
    case OP_attention_bwd: return true;
    default: return false;
    }
}

// Without tensor cores the generation hardly matters; another rule covers that.
static bool is_older(const struct older *all, const struct kernel_decoded *decoded)
{
    if (decoded->arch[0] != 's' || kernel_is_simt(decoded))
        return false;
    int32_t built = (int32_t)strtol(decoded->arch + 2, NULL, 10);
    return built > 0 && built / 10 < all->native / 10;
}

static void judge_names(const struct finding_case *the_case, struct older *all)
{
    int64_t most_ns = 0;
    for (uint32_t n = 0; n < all->names.count; n++) {
        struct kernel_decoded decoded;
        kernel_decode(trace_text(the_case->facts->trace, (str_id)all->names.keys[n].a), &decoded);
        if (!is_heavy(decoded.op))
            continue;
        all->all_ns += all->steady_ns[n];
        all->is_older[n] = is_older(all, &decoded);
        if (!all->is_older[n] || all->steady_ns[n] <= 0)
            continue;
        all->kernels++;
        all->older_ns += all->steady_ns[n];
        if (all->steady_ns[n] <= most_ns)
            continue;
        most_ns = all->steady_ns[n];
        all->worst = n;
    }
}

static bool sum_names(const struct finding_case *the_case, struct older *all, struct err *err)
{
    const struct facts *facts = the_case->facts;
    all->name_of =
        arena_array(the_case->arena, (size_t)facts->device_count + 1, sizeof *all->name_of, err);
    for (uint32_t d = 0; all->name_of && d < facts->device_count; d++)
        if (!groups_index(&all->names, facts_device_name(facts, d), 0, &all->name_of[d], err))
            return false;
    size_t count = (size_t)all->names.count + 1;
    all->steady_ns = arena_array(the_case->arena, count, sizeof *all->steady_ns, err);
    all->is_older = arena_array(the_case->arena, count, sizeof *all->is_older, err);
    if (!all->name_of || !all->steady_ns || !all->is_older)
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        all->steady_ns[all->name_of[d]] += facts->steady_owned_ns[d];
    judge_names(the_case, all);
    return true;
}

static int64_t claim_older(const struct finding_case *the_case, const void *context,
                           const struct atom *atom)
{
    const struct older *all = context;
    (void)the_case;
    if (atom->gap || !all->is_older[all->name_of[atom->device]])
        return 0;
    return (int64_t)((double)atom->ns * FINDING_OLDER_SAVED);
}

// 0 for types that are unknown or not whole bytes.
static int element_bytes(enum kernel_type type)
{
    switch (type) {
    case TYPE_f64:
    case TYPE_int64:
    case TYPE_uint64: return 8;
    case TYPE_f32:
    case TYPE_tf32:
    case TYPE_int32:
    case TYPE_uint32: return 4;
    case TYPE_bf16:
    case TYPE_f16:
    case TYPE_int16:
    case TYPE_uint16: return 2;
    case TYPE_fp8:
    case TYPE_fp8_e4m3:
    case TYPE_fp8_e5m2:
    case TYPE_mxfp8:
    case TYPE_int8:
    case TYPE_uint8: return 1;
    default: return 0;
    }
}

static bool describe_older(const struct finding_case *the_case, const struct older *all,
                           struct str name, struct finding *finding, struct err *err)
{
    struct str gpu = the_case->facts->identity.gpu;
    struct evidence evidence = {0};
    struct kernel_decoded decoded;
    kernel_decode(name, &decoded);
    finding->confidence = "low"; // certain that they are older, not that newer ones are faster
    finding->title = arena_printf(
        the_case->arena, err,
        "%s %s in kernels built for an older device: at most %s to gain (%.1f %%)",
        time_text(all->older_ns / the_case->steps).text, the_case->per,
        time_text(finding->cost_ns).text, findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, href_of_kernel(name).text, "most in %s: %s %s", decoded.label,
                 time_text(all->steady_ns[all->worst] / the_case->steps).text, the_case->per);
    evidence_add(
        &evidence, "kernels?sort=-total_ns",
        "%u kernel%s for an older architecture take%s %.0f %% of the time of matrix products, "
        "convolutions and attention; %.*s is sm%d",
        all->kernels, all->kernels == 1 ? "" : "s", all->kernels == 1 ? "s" : "",
        100.0 * (double)all->older_ns / (double)all->all_ns, (int)gpu.len, gpu.at,
        (int)all->native);
    int bytes = element_bytes(decoded.dtype);
    if (decoded.alignment && bytes && decoded.alignment * bytes < WIDEST_LOAD_BYTES)
        evidence_add(
            &evidence, href_of_kernel(name).text,
            "it loads %d element%s at a time: its operands' alignment rules newer ones out",
            (int)decoded.alignment, decoded.alignment == 1 ? "" : "s");
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_older(const struct finding_case *the_case, bool *fires, struct finding *finding,
                        struct err *err)
{
    int32_t native = gpu_arch_sm(the_case->facts->identity.gpu);
    if (!native)
        return true;
    struct older *all = arena_array(the_case->arena, 1, sizeof *all, err);
    if (!all)
        return false;
    all->native = native;
    groups_init(&all->names, the_case->facts->budget);
    bool ok = sum_names(the_case, all, err);
    struct str name = {0};
    if (ok && all->kernels)
        name = trace_text(the_case->facts->trace, (str_id)all->names.keys[all->worst].a);
    groups_free(&all->names);
    if (!ok || !all->kernels)
        return ok;
    if (!findings_cost(the_case, finding, claim_older, all, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_BUILT_SHARE);
    return !*fires || describe_older(the_case, all, name, finding, err);
}

const struct finding_rule finding_older_architecture = {
    .name = "older_architecture",
    .why = "Kernels built for an older architecture use its tensor core instructions: on Hopper, "
           "code for Ampere reaches about 60 % of the peak, and Turing's less.",
    .advice = "Look at alignment, size and strides of these calls first: libraries fall back to "
              "older kernels for shapes that newer ones do not support. Then update cuBLAS, cuDNN "
              "or the library that ships the kernel.",
    .method = "Architectures as written in the names of kernels of products, convolutions and "
              "attention that use tensor cores, against that of the device; the cost is 40 % of "
              "their time, at most; reported from 1 % of the step.",
    .false_alarms =
        "For small or batched products that are bound by bandwidth or launches, an older "
        "kernel may be the fastest: the library chose it.",
    .check = check_older,
};

// --- operands that are not aligned ---------------------------------------------------------------

struct misaligned {
    struct finding_work *work;
    int64_t steady_ns; // of these rows
    uint32_t rows;
    uint32_t worst; // the row that loses most
};

// Tensor cores load 16 bytes at once; kernels for less are named after it.
static bool is_misaligned(const struct kernel_decoded *decoded)
{
    bool narrow = decoded->alignment == 1 || decoded->alignment == 2;
    bool wide_type = decoded->dtype == TYPE_f64 || decoded->dtype == TYPE_c128;
    return kernel_has_flag(decoded, FLAG_misaligned) ||
           (narrow && !wide_type && !kernel_is_simt(decoded) && is_heavy(decoded->op));
}

// Share of a row's time beyond what aligned products commonly take; a guess without a roofline.
static double saved_of(const struct misaligned *all, const struct work_row *row)
{
    struct roofline roof = work_roofline(row, all->work->rows.peak);
    if (!(roof.total_ns > 0) || row->busy_ns <= 0)
        return FINDING_ALIGNMENT_GUESS;
    double best_ns = roof.total_ns / FINDING_ROOFLINE_GEMM;
    return best_ns < (double)row->busy_ns ? 1 - best_ns / (double)row->busy_ns : 0;
}

static bool measure(const struct finding_case *the_case, struct misaligned *all, struct err *err)
{
    double most_ns = 0;
    if (!finding_work_make(the_case, &all->work, err))
        return false;
    for (uint32_t r = 0; r < all->work->rows.count; r++) {
        const struct work_row *row = &all->work->rows.rows[r];
        struct kernel_decoded decoded;
        kernel_decode(trace_text(the_case->facts->trace, row->kernel), &decoded);
        if (row->communicates || !is_misaligned(&decoded))
            continue;
        all->work->saved[r] = saved_of(all, row);
        all->rows++;
        all->steady_ns += all->work->steady_ns[r];
        double lost_ns = all->work->saved[r] * (double)all->work->steady_ns[r];
        if (lost_ns <= most_ns)
            continue;
        most_ns = lost_ns;
        all->worst = r;
    }
    return true;
}

static bool describe_misaligned(const struct finding_case *the_case, const struct misaligned *all,
                                struct finding *finding, struct err *err)
{
    const struct work_row *row = &all->work->rows.rows[all->worst];
    struct str op = facts_short_name(the_case->facts->trace, row->name);
    struct str kernel = trace_text(the_case->facts->trace, row->kernel);
    struct evidence evidence = {0};
    struct gemm_reason reason;
    struct kernel_decoded decoded;
    kernel_decode(kernel, &decoded);
    bool known = gemm_shape_reason(&row->work, kernel, 0, &reason);
    finding->confidence = known ? "high" : "medium";
    finding->title = arena_printf(
        the_case->arena, err,
        "%s %s in matrix products of %s shape%s with unaligned operands: at "
        "most %s to gain (%.1f %%)",
        time_text(all->steady_ns / the_case->steps).text, the_case->per, count_text(all->rows).text,
        all->rows == 1 ? "" : "s", time_text(finding->cost_ns).text,
        findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "roofline", "most in %.*s %s: %s %s", (int)op.len, op.at,
                 row->work.problem,
                 time_text(all->work->steady_ns[all->worst] / the_case->steps).text, the_case->per);
    evidence_add(&evidence, href_of_kernel(kernel).text, "by %s", decoded.label);
    if (known)
        evidence_add(&evidence, "roofline", "%s", reason.text);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check_misaligned(const struct finding_case *the_case, bool *fires,
                             struct finding *finding, struct err *err)
{
    struct misaligned *all = arena_array(the_case->arena, 1, sizeof *all, err);
    if (!all || !measure(the_case, all, err))
        return false;
    if (!all->rows)
        return true;
    if (!findings_cost(the_case, finding, finding_work_claim, all->work, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_BUILT_SHARE);
    return !*fires || describe_misaligned(the_case, all, finding, err);
}

const struct finding_rule finding_misaligned_products = {
    .name = "misaligned_products",
    .why = "Tensor cores load 16 bytes at once. If a leading dimension is not a multiple of that, "
           "libraries run kernels that load one or two elements at a time, often of an older "
           "generation.",
    .advice =
        "Pad the dimension to a multiple of 8 elements in 16 bits (4 in 32, 16 in fp8), better "
        "64: vocabularies, sequence lengths, hidden sizes. If all dimensions already are, "
        "look at the strides and offsets of views.",
    .method =
        "Products, convolutions and attention by kernels whose names state an alignment of 1 or "
        "2 elements, or notaligned; the cost is their time beyond what 45 % of the roofline "
        "would take, or half of it if peaks or shapes are unknown; reported from 1 % of the step.",
    .false_alarms = "Padding adds work: for small or thin products it may cost more than it saves.",
    .check = check_misaligned,
};
