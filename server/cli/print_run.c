// SPDX-License-Identifier: Apache-2.0
// What the ranks of a run show together, for people.
#include "server/cli/print_report.h"

#include "analysis/findings/findings.h"
#include "analysis/report/tables.h"
#include "server/cli/shown.h"

#include <math.h>

enum { MAX_RANKS = 32 };

// What is not recorded is not idle.
static double idle_ms(const struct table *ranks, size_t row)
{
    return shown_ms(ranks, row, RUN_RANKS_IDLE_HOST_WAIT_NS) +
           shown_ms(ranks, row, RUN_RANKS_IDLE_OTHER_NS);
}

static void print_ranks(const struct table *ranks, FILE *out)
{
    fputs("ranks               median step ms     p95 ms  exposed comm ms/step  idle ms/step\n",
          out);
    for (size_t row = 0; row < ranks->row_count; row++) {
        bool headline = table_i64(ranks, row, RUN_RANKS_HEADLINE, 0) != 0;
        if (row >= MAX_RANKS && !headline)
            continue;
        fprintf(out, "  %-8lld %23.3f %10.3f %21.3f %13.3f%s\n",
                (long long)table_i64(ranks, row, RUN_RANKS_RANK, 0),
                shown_ms(ranks, row, RUN_RANKS_STEP_MEDIAN_NS),
                shown_ms(ranks, row, RUN_RANKS_STEP_P95_NS),
                shown_ms(ranks, row, RUN_RANKS_EXPOSED_COMM_NS), idle_ms(ranks, row),
                headline ? "  typical rank" : "");
    }
    if (ranks->row_count > MAX_RANKS)
        fprintf(out, "  of %zu, the first %d and the typical one\n", ranks->row_count, MAX_RANKS);
}

// Mean over the ranks where it is known; NaN if none.
static double mean_ms(const struct table *ranks, unsigned column)
{
    double sum = 0;
    size_t known = 0;
    for (size_t row = 0; row < ranks->row_count; row++) {
        known += !table_cell(ranks, row, column)->null;
        sum += shown_ms(ranks, row, column);
    }
    return known ? sum / (double)known : NAN;
}

// The verdict: do the ranks wait for each other, or for the network?
static void print_communication(const struct table *ranks, FILE *out)
{
    double exposed = mean_ms(ranks, RUN_RANKS_EXPOSED_COMM_NS),
           wait = mean_ms(ranks, RUN_RANKS_EXPOSED_WAIT_NS);
    double transfer = mean_ms(ranks, RUN_RANKS_EXPOSED_TRANSFER_NS),
           step = mean_ms(ranks, RUN_RANKS_WINDOW_NS);
    if (mean_ms(ranks, RUN_RANKS_TOTAL_COMM_NS) == 0)
        return;
    fprintf(out,
            "\n  communication    %.3f ms per step is exposed, averaged over the ranks (%.1f %%)",
            exposed, step > 0 ? exposed / step * 100 : 0);
    if (isnan(wait))
        fputs(";\n                   no call matches across ranks, so waiting cannot be separated "
              "from transfer\n",
              out);
    else
        fprintf(out, ":\n                   %.3f ms waiting for other ranks, %.3f ms in transfer\n",
                wait, transfer);
}

static const char *words_of(const struct table *lateness)
{
    static const char *const reasons[][2] = {
        {"compute_slower", "the same kernels take longer on it"},
        {"more_work", "it has more to compute"},
        {"data_loading", "it waits for data"},
        {"host", "its host launches late"},
        {"copies", "it copies"},
        {"communication", "other groups keep it waiting"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (table_is(lateness, 0, RUN_LATENESS_REASON, str_of(reasons[i][0])))
            return reasons[i][1];
    return "nothing it did in that time stands out";
}

// The rank that the others wait for most, where waits could be a finding at all.
static void print_late(const struct report *report, const struct table *ranks, FILE *out)
{
    const struct table *lateness = report_find(report, "lateness");
    double wait_ms = mean_ms(ranks, RUN_RANKS_EXPOSED_WAIT_NS);
    double all_ms = 0,
           most_ms = shown_rows(lateness) ? shown_ms(lateness, 0, RUN_LATENESS_CAUSED_WAIT_NS) : 0;
    for (size_t row = 0; row < shown_rows(lateness); row++)
        all_ms += shown_ms(lateness, row, RUN_LATENESS_CAUSED_WAIT_NS);
    if (most_ms <= 0 || !(wait_ms >= FINDING_STRAGGLER_SHARE * mean_ms(ranks, RUN_RANKS_WINDOW_NS)))
        return;
    fprintf(out, "  late             rank %lld causes %.1f %% of all waiting",
            (long long)table_i64(lateness, 0, RUN_LATENESS_RANK, 0), most_ms / all_ms * 100);
    struct str group = table_text(lateness, 0, RUN_LATENESS_PROCESS_GROUP);
    if (group.len) {
        fputs(", most in group ", out);
        shown_put(out, group, 60);
    }
    fprintf(out, ":\n                   %s", words_of(lateness));
    if (!table_cell(lateness, 0, RUN_LATENESS_REASON_SHARE)->null)
        fprintf(out, " (%.0f %% of its lateness)",
                shown_percent(lateness, 0, RUN_LATENESS_REASON_SHARE));
    fputc('\n', out);
}

static void print_dimension(const struct table *strategy, size_t row, FILE *out)
{
    struct str variant = table_text(strategy, row, RUN_STRATEGY_VARIANT);
    fputs("                   ", out);
    shown_words(out, table_text(strategy, row, RUN_STRATEGY_DIMENSION), 40);
    fputs(variant.len ? " " : "", out);
    shown_put(out, variant, 60);
    if (!table_cell(strategy, row, RUN_STRATEGY_DEGREE)->null)
        fprintf(out, " %lld", (long long)table_i64(strategy, row, RUN_STRATEGY_DEGREE, 0));
    fputc('\n', out);
    shown_wrap(out, table_text(strategy, row, RUN_STRATEGY_EVIDENCE), 21);
}

static void print_strategy(const struct report *report, FILE *out)
{
    const struct table *strategy = report_find(report, "strategy");
    for (size_t row = 0; row < shown_rows(strategy); row++) {
        if (!table_is(strategy, row, RUN_STRATEGY_DIMENSION, STR("overall"))) {
            print_dimension(strategy, row, out);
            continue;
        }
        fputs("  strategy         ", out);
        shown_put(out, table_text(strategy, row, RUN_STRATEGY_VARIANT), 80);
        fputc('\n', out);
    }
}

static void print_pipeline(const struct report *report, FILE *out)
{
    const struct table *pipeline = report_find(report, "pipeline");
    size_t stages = shown_rows(pipeline), known = 0;
    double share = 0;
    for (size_t row = 0; row < stages; row++) {
        known += !table_cell(pipeline, row, RUN_PIPELINE_BUBBLE_SHARE)->null;
        share += shown_percent(pipeline, row, RUN_PIPELINE_BUBBLE_SHARE);
    }
    if (stages && !known)
        fprintf(out, "  pipeline         %zu stages, bubble unknown\n", stages);
    if (known)
        fprintf(out,
                "  pipeline         bubble %.1f %% of a step on average over %zu stages, ideal "
                "%.1f %%, %lld micro-batches\n",
                share / (double)known, known, shown_percent(pipeline, 0, RUN_PIPELINE_IDEAL_SHARE),
                (long long)table_i64(pipeline, 0, RUN_PIPELINE_MICRO_BATCHES, 0));
}

static void print_efficiency(const struct report *report, FILE *out)
{
    const struct table *efficiency = report_find(report, "efficiency");
    for (size_t row = 0; row < shown_rows(efficiency); row++) {
        if (table_cell(efficiency, row, RUN_EFFICIENCY_VALUE)->null)
            continue;
        fputs(row ? "                   " : "  efficiency       ", out);
        shown_words(out, table_text(efficiency, row, RUN_EFFICIENCY_METRIC), 40);
        fprintf(out, " %.1f %%\n", shown_percent(efficiency, row, RUN_EFFICIENCY_VALUE));
    }
}

static void print_clocks(const struct report *report, FILE *out)
{
    const struct table *clocks = report_find(report, "clocks");
    double least = 0, most = 0, error = 0;
    int64_t aligned = 0;
    for (size_t row = 0; row < shown_rows(clocks); row++) {
        if (table_i64(clocks, row, RUN_CLOCKS_COLLECTIVES, 0) == 0)
            continue;
        double offset = shown_ms(clocks, row, RUN_CLOCKS_OFFSET_NS);
        least = fmin(least, offset);
        most = fmax(most, offset);
        error = fmax(error, shown_ms(clocks, row, RUN_CLOCKS_ERROR_NS));
        aligned++;
    }
    if (aligned)
        fprintf(
            out,
            "  clocks           differ by up to %.3f ms, aligned on %lld ranks within %.1f us\n",
            most - least, (long long)aligned, error * 1e3);
}

// Lines about the run as a whole.
static void print_run_trust(const struct report *report, FILE *out)
{
    const struct table *trust = report_find(report, "trust");
    size_t printed = 0;
    for (size_t row = 0; row < shown_rows(trust); row++) {
        if (!table_cell(trust, row, RUN_TRUST_RANK)->null)
            continue;
        fputs(printed++ ? "" : "  trust report of the run\n", out);
        print_trust_row(trust, row, out);
    }
}

void print_run_report(const struct report *report, FILE *out)
{
    const struct table *ranks = report_find(report, "ranks");
    if (shown_rows(ranks) < 2) {
        print_run_trust(report, out);
        return;
    }
    print_ranks(ranks, out);
    print_communication(ranks, out);
    print_late(report, ranks, out);
    print_strategy(report, out);
    print_pipeline(report, out);
    print_efficiency(report, out);
    print_clocks(report, out);
    print_findings(report, out);
    fputc('\n', out);
    print_run_trust(report, out);
    fputc('\n', out);
}
