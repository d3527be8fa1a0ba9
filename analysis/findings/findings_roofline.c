// SPDX-License-Identifier: Apache-2.0
// Rules about matrix products and attention that run far below the device's limits.
#include "analysis/findings/findings_work.h"
#include "analysis/report/tables.h"
#include "analysis/work/gemm_shape.h"
#include "analysis/trace/short_kernels.h"

// What one rule looks at.
struct efficiency_case {
    const char *what;
    enum work_kind first, last;
    double reach; // of the roofline, at least
};

struct inefficient {
    struct finding_work *work;
    const struct efficiency_case *about;
    double reach[WORK_KIND_COUNT][PRECISION_COUNT][2]; // last index: bound by memory
    double *efficiency;                                // per row, 0 if unknown or of another kind
    bool *streams;                                     // per row: bound by memory
    uint32_t rows;                                     // that could do better
    uint32_t worst;                                    // the one that loses most
    int64_t steady_ns;                                 // of these rows
};

static bool is_ours(const struct efficiency_case *about, const struct work_row *row)
{
    return row->work.kind >= about->first && row->work.kind <= about->last && !row->communicates;
}

// Whether the table of work has a row that may count, so that claims are worth computing.
static bool may_fire(const struct finding_case *the_case, const struct efficiency_case *about)
{
    const struct table *work = report_find(the_case->report, "roofline");
    double lost_ns = 0;
    for (size_t i = 0; work && i < work->row_count; i++) {
        struct str kind = table_cell(work, i, ROOFLINE_KIND)->s;
        const struct cell *efficiency = table_cell(work, i, ROOFLINE_EFFICIENCY);
        bool ours = false;
        for (enum work_kind k = about->first; k <= about->last; k++)
            ours |= str_equal(kind, str_of(work_kind_word(k)));
        if (ours && !efficiency->null && efficiency->f < FINDING_ROOFLINE_EXAMPLE)
            lost_ns += (double)table_cell(work, i, ROOFLINE_OWNED_NS)->i;
    }
    return lost_ns >= FINDING_ROOFLINE_SHARE * (double)the_case->step_ns * (double)the_case->steps;
}

// Memory is easier to saturate than arithmetic units, so each has its own examples.
static double *reach_of(struct inefficient *all, uint32_t r)
{
    const struct work *work = &all->work->rows.rows[r].work;
    return &all->reach[work->kind][work->precision][all->streams[r]];
}

// The best efficiency of each kind, precision and bound, among shapes with a relevant share of the
// kind's time.
static void find_reach(struct inefficient *all)
{
    const struct finding_work *work = all->work;
    int64_t kind_ns[WORK_KIND_COUNT] = {0};
    for (uint32_t r = 0; r < work->rows.count; r++)
        kind_ns[work->rows.rows[r].work.kind] += work->steady_ns[r];
    for (int k = 0; k < WORK_KIND_COUNT; k++)
        for (int p = 0; p < PRECISION_COUNT; p++)
            all->reach[k][p][0] = all->reach[k][p][1] = all->about->reach;
    for (uint32_t r = 0; r < work->rows.count; r++) {
        double *reach = reach_of(all, r);
        double efficiency = all->efficiency[r] < 1 ? all->efficiency[r] : 1;
        int64_t all_ns = kind_ns[work->rows.rows[r].work.kind];
        bool example = (double)work->steady_ns[r] >= FINDING_ROOFLINE_TIME * (double)all_ns;
        if (example && efficiency > *reach)
            *reach = efficiency;
    }
}

// What a call could take: the attainable part of the roofline, but no less than a short kernel.
static double attainable_ns(struct inefficient *all, uint32_t r, double call_ns)
{
    double best_ns = call_ns * all->efficiency[r] / *reach_of(all, r);
    return best_ns > SHORT_KERNEL_NS ? best_ns : SHORT_KERNEL_NS;
}

static void judge_row(struct inefficient *all, uint32_t r, double *most_ns)
{
    struct finding_work *work = all->work;
    const struct work_row *row = &work->rows.rows[r];
    double call_ns = (double)row->busy_ns / (double)row->calls;
    if (all->efficiency[r] <= 0)
        return;
    double best_ns = attainable_ns(all, r, call_ns);
    // Another shape in this trace proves more than what is common for the device.
    bool proved = *reach_of(all, r) > all->about->reach;
    if (best_ns >= (proved ? FINDING_ROOFLINE_EXAMPLE : FINDING_ROOFLINE_BELOW) * call_ns)
        return;
    work->saved[r] = 1 - best_ns / call_ns;
    all->rows++;
    all->steady_ns += work->steady_ns[r];
    double lost_ns = (double)work->steady_ns[r] * work->saved[r];
    if (lost_ns <= *most_ns)
        return;
    *most_ns = lost_ns;
    all->worst = r;
}

static bool measure(const struct finding_case *the_case, struct inefficient *all, struct err *err)
{
    if (!finding_work_make(the_case, &all->work, err))
        return false;
    const struct work_rows *rows = &all->work->rows;
    double most_ns = 0;
    all->efficiency =
        arena_array(the_case->arena, (size_t)rows->count + 1, sizeof *all->efficiency, err);
    all->streams = arena_array(the_case->arena, (size_t)rows->count + 1, sizeof *all->streams, err);
    if (!all->efficiency || !all->streams)
        return false;
    for (uint32_t r = 0; r < rows->count; r++) {
        const struct work_row *row = &rows->rows[r];
        struct roofline roof = work_roofline(row, rows->peak);
        if (is_ours(all->about, row) && roof.total_ns > 0 && row->busy_ns > 0)
            all->efficiency[r] = roof.total_ns / (double)row->busy_ns;
        all->streams[r] = roof.memory_ns > roof.compute_ns;
    }
    find_reach(all);
    for (uint32_t r = 0; r < rows->count; r++)
        judge_row(all, r, &most_ns);
    return true;
}

static int64_t multiprocessors(const struct finding_case *the_case)
{
    const struct table *table = report_find(the_case->report, "environment");
    int64_t number = 0;
    for (size_t i = 0; table && i < table->row_count; i++)
        if (table_is(table, i, ENVIRONMENT_KEY, STR("gpu_multiprocessors")) &&
            !str_to_i64(table_cell(table, i, ENVIRONMENT_VALUE)->s, &number))
            number = 0;
    return number;
}

static bool describe(const struct finding_case *the_case, struct inefficient *all,
                     struct finding *finding, struct err *err)
{
    const struct work_row *row = &all->work->rows.rows[all->worst];
    struct str op = facts_short_name(the_case->facts->trace, row->name);
    double efficiency = 100 * all->efficiency[all->worst];
    double reach = 100 * *reach_of(all, all->worst);
    struct evidence evidence = {0};
    struct gemm_reason reason;
    bool known =
        gemm_shape_reason(&row->work, facts_short_name(the_case->facts->trace, row->kernel),
                          multiprocessors(the_case), &reason);
    finding->confidence = known ? "medium" : "low";
    finding->title = arena_printf(
        the_case->arena, err, "%s of %s shape%s far below the roofline: %s %s to gain (%.1f %%)",
        all->about->what, count_text(all->rows).text, all->rows == 1 ? "" : "s",
        time_text(finding->cost_ns).text, the_case->per,
        findings_percent(the_case, finding->cost_ns));
    evidence_add(&evidence, "roofline",
                 "most in %.*s %s (%s): %.*f %% of the roofline where %.0f %% is achievable",
                 (int)op.len, op.at, row->work.problem, precision_word(row->work.precision),
                 efficiency < 10 ? 1 : 0, efficiency, reach);
    if (known)
        evidence_add(&evidence, "roofline", "%s", reason.text);
    evidence_add(
        &evidence, href_of_kernel(facts_short_name(the_case->facts->trace, row->kernel)).text,
        "%s in such calls %s", time_text(all->steady_ns / the_case->steps).text, the_case->per);
    finding->evidence = evidence_end(&evidence, the_case->arena, err);
    return finding->title && finding->evidence;
}

static bool check(const struct finding_case *the_case, const struct efficiency_case *about,
                  bool *fires, struct finding *finding, struct err *err)
{
    struct inefficient *all;
    if (!may_fire(the_case, about))
        return true;
    all = arena_array(the_case->arena, 1, sizeof *all, err);
    if (!all)
        return false;
    all->about = about;
    if (!measure(the_case, all, err))
        return false;
    if (!findings_cost(the_case, finding, finding_work_claim, all->work, err))
        return false;
    *fires = findings_costs(the_case, finding->cost_ns, FINDING_ROOFLINE_SHARE);
    if (!*fires)
        return true;
    return describe(the_case, all, finding, err);
}

static bool check_gemm(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    static const struct efficiency_case about = {"matrix products", WORK_GEMM, WORK_GEMM,
                                                 FINDING_ROOFLINE_GEMM};
    return check(the_case, &about, fires, finding, err);
}

#define ROOFLINE_METHOD(reach)                                                                   \
    "Owned time per steady step above the achievable time, which is set by the best efficiency " \
    "among shapes of the same kind, precision and bound with 5 % of the kind's time, at "        \
    "least " reach                                                                               \
    " of the roofline, and no call under 10 us. Counts shapes below 75 % of what another shape " \
    "achieves, or below 70 % of that minimum; reported from 1 % of the step."

const struct finding_rule finding_gemm_roofline = {
    .name = "gemm_below_roofline",
    .why = "These products neither compute nor move data as fast as others of this job, or as this "
           "device usually does: partly filled tiles, too few tiles for all multiprocessors, or "
           "unaligned rows.",
    .advice = "Pad dimensions to multiples of 64 (vocabulary, hidden sizes; at least 8 for 16 "
              "bits, 16 for fp8), batch small products together, let max-autotune or the tuning "
              "of hipBLASLt or TunableOp choose the kernel.",
    .method = ROOFLINE_METHOD("45 %"),
    .false_alarms = "Concurrent work or a power limit slows products down as well; small products "
                    "may have no better shape.",
    .change = "gemm_achievable",
    .check = check_gemm,
};

static bool check_attention(const struct finding_case *the_case, bool *fires,
                            struct finding *finding, struct err *err)
{
    static const struct efficiency_case about = {
        "attention", WORK_ATTENTION_FORWARD, WORK_ATTENTION_BACKWARD, FINDING_ROOFLINE_ATTENTION};
    return check(the_case, &about, fires, finding, err);
}

const struct finding_rule finding_attention_roofline = {
    .name = "attention_below_roofline",
    .why = "Attention runs far below what fused kernels reach on this device: short sequences, "
           "unusual head sizes or a kernel built for other hardware.",
    .advice = "Try another backend (cuDNN, FlashAttention 3, AOTriton or Composable Kernel), head "
              "sizes of 64 or 128, packed sequences instead of padded ones.",
    .method = ROOFLINE_METHOD("30 %"),
    .false_alarms = "Masks that skip most scores (windows, packed sequences) do less work than the "
                    "shapes suggest.",
    .change = "attention_achievable",
    .check = check_attention,
};
