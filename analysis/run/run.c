// SPDX-License-Identifier: Apache-2.0
// From the ranks to the report of the run. Goes over the ranks twice: first their headline figures,
// which decide which one represents the run; then the tables whose rows are copied or joined, and
// the collectives.
#include "analysis/run/run.h"

#include "analysis/analysis.h"
#include "analysis/report/trust.h"
#include "analysis/report/ranked.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/findings/findings.h"
#include "analysis/ranks/run_links.h"
#include "analysis/run/run_evidence.h"
#include "analysis/run/run_figures.h"
#include "analysis/run/run_tokens.h"
#include "analysis/run/run_hangs.h"
#include "analysis/run/run_recorded.h"
#include "analysis/run/run_link_shares.h"
#include "analysis/run/run_merge.h"
#include "analysis/run/run_monitors.h"
#include "analysis/run/run_profiles.h"
#include "analysis/run/run_ranges.h"
#include "analysis/run/run_roles.h"
#include "analysis/ranks/run_passes.h"
#include "analysis/ranks/run_rates.h"
#include "analysis/ranks/strategy.h"
#include "analysis/report/tables.h"

int64_t run_summary_i64(const struct run *run, size_t rank, unsigned column, int64_t fallback)
{
    const struct table *summary = run_head(run, rank, "summary");
    const struct cell *cell = summary ? table_cell(summary, 0, column) : NULL;
    return cell && !cell->null ? cell->i : fallback;
}

const struct table *run_head(const struct run *run, size_t rank, const char *name)
{
    return report_find(&run->heads[rank], name);
}

// --- what each rank says about itself ------------------------------------------------------------

// Only devices have a capacity and a reservation.
static void note_memory(struct run *run, const struct report *report)
{
    const struct table *memory = report_find(report, "memory");
    for (size_t i = 0; memory && i < memory->row_count; i++) {
        int64_t reserved = table_i64(memory, i, MEMORY_PEAK_RESERVED_BYTES, -1);
        int64_t capacity = table_i64(memory, i, MEMORY_CAPACITY_BYTES, -1);
        run->reserved_bytes = reserved > run->reserved_bytes ? reserved : run->reserved_bytes;
        if (capacity > 0 && (run->capacity_bytes < 0 || capacity < run->capacity_bytes))
            run->capacity_bytes = capacity;
    }
}

static bool take_head(void *context, size_t rank, const struct report *report, struct err *err)
{
    struct run *run = context;
    run->heads[rank].arena = run->scratch;
    run_note_steps(run, rank, report);
    note_memory(run, report);
    for (unsigned t = 0; t < report->table_count; t++) {
        const struct table *table = &report->tables[t];
        const struct cell *cells = table->cells;
        if (table->desc == &table_steps || table->desc == &table_memory)
            continue;
        for (size_t i = 0; i < table->row_count; i++, cells += table->desc->column_count)
            if (!report_add(&run->heads[rank], table->desc, cells, err))
                return false;
    }
    return true;
}

static bool load_heads(struct run *run, struct err *err)
{
    static const struct table_desc *const known[] = {&table_summary,
                                                     &table_breakdown,
                                                     &table_step_stats,
                                                     &table_environment,
                                                     &table_steps,
                                                     &table_memory,
                                                     NULL};
    run->heads = arena_array(run->scratch, run->count, sizeof *run->heads, err);
    run->steps = arena_array(run->scratch, run->count, sizeof *run->steps, err);
    return run->heads && run->steps &&
           rank_source_each(run->source, known, run->budget, take_head, run, err);
}

// The lower median of the main job's ranks by median steady step represents the run. Ranks without
// steps come last, so they represent it only if none has any.
static bool choose_ranks(struct run *run, struct err *err)
{
    struct ranked *ranked = arena_array(run->scratch, run->count, sizeof *ranked, err);
    if (!ranked)
        return false;
    size_t known = 0, count = 0;
    for (size_t i = 0; i < run->count; i++) {
        int64_t step_ns = run_summary_i64(run, i, SUMMARY_STEP_MEDIAN_NS, -1);
        if (run->job[i] != run->main_job)
            continue;
        ranked[count++] = (struct ranked){step_ns, {NULL, 0}, (uint32_t)i};
        known += step_ns >= 0;
    }
    ranked_sort(ranked, count); // slowest first
    run->slowest = ranked[0].index;
    run->headline = known ? ranked[known / 2].index : ranked[count - 1].index;
    return true;
}

static void sum_windows(struct run *run)
{
    for (size_t i = 0; i < run->count; i++) {
        const struct table *breakdown = run_head(run, i, "breakdown");
        run->window_ns += breakdown ? table_cell(breakdown, 0, BREAKDOWN_WINDOW_NS)->i : 0;
        run->busy_ns += breakdown ? table_cell(breakdown, 0, BREAKDOWN_BUSY_NS)->i : 0;
    }
}

// --- what all ranks have together ---------------------------------------------------------------

struct joining {
    struct run *run;
    struct run_merge *merge;
    struct run_comm comm;
    struct run_passes passes;
    struct run_rates rates;
    struct run_links links;
    struct run_roles roles;
};

static bool take_rank(void *context, size_t rank, const struct report *report, struct err *err)
{
    struct joining *joining = context;
    return run_copy_rank(joining->run, rank, report, err) &&
           run_merge_take(joining->merge, rank, report, err) &&
           run_comm_add(&joining->comm, joining->run->ranks[rank], report, err) &&
           run_passes_add(&joining->passes, report, err) &&
           run_ranges_add(joining->run, rank, report, err) &&
           run_roles_add(&joining->roles, joining->run, rank, report, err) &&
           run_rates_add(&joining->rates, joining->run->ranks[rank], joining->run->job[rank],
                         report, err);
}

static bool take_ranks(struct joining *joining, struct err *err)
{
    static const struct table_desc *const known[] = {&table_summary,
                                                     &table_steps,
                                                     &table_trust,
                                                     &table_launches,
                                                     &table_kernels,
                                                     &table_classes,
                                                     &table_collectives,
                                                     &table_environment,
                                                     &table_short_kernels,
                                                     &table_process_groups,
                                                     &table_comm_ops,
                                                     &table_comm_calls,
                                                     &table_passes,
                                                     &table_kernel_rates,
                                                     &table_step_rates,
                                                     &table_categories,
                                                     &table_ranges,
                                                     &table_role_steps,
                                                     NULL};
    const struct run *run = joining->run;
    return rank_source_each(run->source, known, run->budget, take_rank, joining, err) &&
           run_merge_write(joining->merge, err);
}

static int64_t world_size(const struct run *run)
{
    int64_t world = -1;
    for (size_t i = 0; i < run->count; i++) {
        int64_t size = run_summary_i64(run, i, SUMMARY_WORLD_SIZE, -1);
        world = size > world ? size : world;
    }
    return world;
}

static double spread_of(const struct run *run)
{
    int64_t least = INT64_MAX, most = 0;
    for (size_t i = 0; i < run->count; i++) {
        int64_t step_ns = run_summary_i64(run, i, SUMMARY_STEP_MEDIAN_NS, -1);
        if (step_ns < 0 || run->job[i] != run->main_job)
            continue;
        least = step_ns < least ? step_ns : least;
        most = step_ns > most ? step_ns : most;
    }
    int64_t headline_ns = run_summary_i64(run, run->headline, SUMMARY_STEP_MEDIAN_NS, 0);
    return headline_ns > 0 ? (double)(most - least) / (double)headline_ns : 0;
}

// The headline rank's summary, with the run's own values filled in.
static bool add_summary(const struct run *run, struct err *err)
{
    const struct table *summary = run_head(run, run->headline, "summary");
    if (!summary)
        return true;
    const struct table *findings = report_find(run->report, "findings");
    struct row row = {.desc = &table_run_summary};
    for (unsigned c = 0; c < FIGURES_COLUMNS; c++)
        row_cell(&row, RUN_SUMMARY_FIGURES + c,
                 summary->cells[column_place(summary->desc, SUMMARY_FIGURES + c)]);
    row_i64(&row, RUN_SUMMARY_FINDINGS, findings ? (int64_t)findings->row_count : 0);
    row_word(&row, RUN_SUMMARY_TRUST_SEVERITY, trust_worst(run->report));
    row_i64_if(&row, RUN_SUMMARY_WORLD_SIZE, run->world_size >= 0, run->world_size);
    row_i64(&row, RUN_SUMMARY_RANKS, (int64_t)run->count);
    row_i64(&row, RUN_SUMMARY_HEADLINE_RANK, run->ranks[run->headline]);
    row_i64(&row, RUN_SUMMARY_SLOWEST_RANK, run->ranks[run->slowest]);
    row_f64(&row, RUN_SUMMARY_RANK_SPREAD_SHARE, spread_of(run));
    row_i64_if(&row, RUN_SUMMARY_RESERVED_BYTES, run->reserved_bytes >= 0, run->reserved_bytes);
    row_i64_if(&row, RUN_SUMMARY_CAPACITY_BYTES, run->capacity_bytes >= 0, run->capacity_bytes);
    return row_end(&row, run->report, err);
}

// Matches the collectives, and adds the tables based on them. The strategy comes first: it gives
// what each group shares.
static bool add_comm(struct joining *joining, struct err *err)
{
    struct report *report = joining->run->report;
    struct run_comm *comm = &joining->comm;
    if (!run_comm_solve(comm, err))
        return false;
    run_place_groups(joining->run, comm);
    return strategy_add(comm, &joining->passes, report, err) && run_waits_add(comm, report, err) &&
           run_lateness_add(comm, report, err) && run_clocks_add(comm, report, err) &&
           run_clocks_judge(comm, report, err);
}

static bool conclude(struct joining *joining, struct err *err)
{
    struct run *run = joining->run;
    if (!run_place(run, err) || !run_rates_judge(&joining->rates, err))
        return false;
    for (size_t i = 0; i < run->count; i++)
        joining->comm.ranks[i].work_ratio = run_rates_plausible(&joining->rates.ranks[i]);
    run->rates = joining->rates.ranks;
    if (!add_comm(joining, err))
        return err_wrap(err, "collectives of the run");
    if (!run_links_find(&joining->comm, FINDING_SLOW_LINK_RATIO, run->scratch, &joining->links,
                        err))
        return false;
    run->comm = &joining->comm;
    run->links = &joining->links;
    return run_roles_write(&joining->roles, run, err) && run_list_ranks(run, err) &&
           run_list_steps(run, err) && run_judge_efficiency(run, err) &&
           (run_join_monitors(run, err) || err_wrap(err, "monitors of the run")) &&
           run_copy_headline(run, err) && add_summary(run, err);
}

static bool join(struct run *run, struct err *err)
{
    struct joining joining = {.run = run, .merge = run_merge_new(run, err)};
    run->world_size = world_size(run);
    if (!joining.merge)
        return false;
    run_roles_open(&joining.roles, run->budget);
    bool ok = run_comm_open(&joining.comm, run->count, run->budget, err);
    joining.comm.recordings = run->recording;
    joining.comm.cores = run->source->cores;
    ok = ok && run_passes_open(&joining.passes, run->count, run->budget, err) &&
         run_rates_open(&joining.rates, run->count, run->budget, err) &&
         run_judge_trust(run, err) && take_ranks(&joining, err);
    run_merge_free(joining.merge); // before matching needs its memory
    ok = ok && conclude(&joining, err);
    run_roles_close(&joining.roles);
    run_rates_close(&joining.rates);
    run_passes_close(&joining.passes);
    run_comm_close(&joining.comm);
    return ok;
}

static bool analyze_ranks(const struct rank_source *source, struct report *report,
                          struct budget *budget, struct err *err)
{
    struct arena scratch;
    struct run run = {.source = source,
                      .ranks = source->ranks,
                      .count = source->count,
                      .report = report,
                      .scratch = &scratch,
                      .budget = budget,
                      .reserved_bytes = -1,
                      .capacity_bytes = -1};
    arena_init(&scratch, run.budget);
    bool ok = load_heads(&run, err) && run_find_jobs(&run, err) && choose_ranks(&run, err);
    if (ok) {
        sum_windows(&run);
        ok = join(&run, err);
    }
    arena_free(&scratch);
    return ok;
}

bool analyze_run(const struct rank_source *source, struct report *report, struct err *err)
{
    struct budget uncounted = {0};
    struct budget *budget = report->arena->budget ? report->arena->budget : &uncounted;
    if (source->count == 0 && source->evidence_count == 0)
        return err_set(err, ERR_USAGE, "a run without ranks cannot be analyzed");
    if ((source->count && !analyze_ranks(source, report, budget, err)) ||
        !run_take_evidence(source, report, err))
        return false;
    run_fill_tokens(report);
    return run_judge_recorded(report, err) && run_find_hangs(source, report, err) &&
           run_link_shares(report, err) && run_join_profiles(source, report, err) &&
           run_add_figures(source, report, err);
}

bool analyze_reports(const struct rank_report *ranks, size_t count, struct report *report,
                     struct err *err)
{
    struct rank_source source;
    struct arena arena;
    arena_init(&arena, report->arena->budget);
    bool ok =
        rank_source_of(ranks, count, &arena, &source, err) && analyze_run(&source, report, err);
    arena_free(&arena);
    return ok;
}
