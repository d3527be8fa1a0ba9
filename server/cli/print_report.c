// SPDX-License-Identifier: Apache-2.0
// Prints reports for people: aligned columns, milliseconds, bars of blocks.
#include "server/cli/print_report.h"

#include "analysis/findings/findings.h"
#include "analysis/report/trust.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"
#include "server/cli/shown.h"

#include <jansson.h>
#include <math.h>

enum { TOP_ROWS = 10, MAX_STEPS = 24, BAR_WIDTH = 30, NAME_WIDTH = 60 };

// --- sections -----------------------------------------------------------------------------------

// "no device events", or "5,165 device events (4,820 linked to a launch)".
static void print_events(const struct table *summary, FILE *out)
{
    int64_t events = table_i64(summary, 0, SUMMARY_DEVICE_EVENTS, 0),
            linked = table_i64(summary, 0, SUMMARY_LINKED_DEVICE_EVENTS, 0);
    if (events == 0) {
        fputs(", no device events", out);
        return;
    }
    bool all = linked == events && events > 1;
    fprintf(out, ", %s device event%s (%s linked to a launch)", count_text(events).text,
            shown_plural(events), all ? "all" : count_text(linked).text);
}

// "no step is marked", or "10 steps (8 steady)"; nothing without work on a device, where no step is
// looked for.
static void print_step_count(const struct report *report, FILE *out)
{
    const struct table *summary = report_find(report, "summary");
    int64_t steps = table_i64(summary, 0, SUMMARY_STEP_COUNT, 0);
    if (trust_count(report, "no_steps"))
        fputs(", no step is marked", out);
    else if (steps > 0)
        fprintf(out, ", %s step%s (%s steady)", count_text(steps).text, shown_plural(steps),
                count_text(table_i64(summary, 0, SUMMARY_STEADY_STEPS, 0)).text);
}

static void print_identity(const struct report *report, const char *file, int64_t rank, FILE *out)
{
    const struct table *summary = report_find(report, "summary");
    shown_put(out, str_of(file), 200);
    fprintf(out, "\n  rank %lld", (long long)rank);
    if (shown_rows(summary) == 0) {
        fputc('\n', out);
        return;
    }
    struct str gpu = table_text(summary, 0, SUMMARY_GPU);
    if (gpu.len) {
        fputs(", ", out);
        shown_put(out, gpu, NAME_WIDTH);
    }
    print_events(summary, out);
    print_step_count(report, out);
    fputc('\n', out);
}

static void put_bar(FILE *out, double share)
{
    int full = (int)(share * (double)BAR_WIDTH + 0.5);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputs(i < full ? "\u2588" : "\u00b7", out);
}

// The row for the whole trace: its steady steps, else its whole window.
static size_t breakdown_row(const struct table *breakdown)
{
    for (size_t row = 0; row < breakdown->row_count; row++)
        if (table_is(breakdown, row, BREAKDOWN_SCOPE, STR("steady")) ||
            table_is(breakdown, row, BREAKDOWN_SCOPE, STR("run_median")))
            return row;
    return 0;
}

// What the time of the breakdown is of.
static const char *span_of(const struct report *report, int64_t steps)
{
    return trust_count(report, "no_steps") ? "from the first to the last device event"
           : steps == 1                    ? "in the only steady step"
                                           : "per steady step (mean)";
}

// One of several devices is enough for the whole to be busy.
static void print_devices(const struct table *breakdown, FILE *out)
{
    enum { MOST_DEVICES = 16 };
    size_t count = 0;
    for (size_t row = 0; row < breakdown->row_count; row++)
        count += table_is(breakdown, row, BREAKDOWN_SCOPE, STR("device"));
    if (count < 2)
        return;
    fprintf(out, "  busy means that at least one of %zu devices is; each by itself:\n   ", count);
    size_t shown = 0;
    for (size_t row = 0; row < breakdown->row_count && shown < MOST_DEVICES; row++) {
        if (!table_is(breakdown, row, BREAKDOWN_SCOPE, STR("device")))
            continue;
        double window_ms = shown_ms(breakdown, row, BREAKDOWN_WINDOW_NS);
        fputs(shown++ ? ", " : " ", out);
        shown_put(out, table_text(breakdown, row, BREAKDOWN_DEVICE), NAME_WIDTH);
        fprintf(out, ": %.1f %%",
                window_ms > 0 ? shown_ms(breakdown, row, BREAKDOWN_BUSY_NS) / window_ms * 100 : 0);
    }
    fputs(shown < count ? ", ...\n" : "\n", out);
}

static void print_bars(const struct table *breakdown, size_t row, FILE *out)
{
    static const struct {
        unsigned column;
        const char *label;
    } bars[] = {
        {BREAKDOWN_GEMM_NS, "gemm"},
        {BREAKDOWN_ATTENTION_NS, "attention"},
        {BREAKDOWN_OTHER_COMPUTE_NS, "other compute"},
        {BREAKDOWN_EXPOSED_COMM_NS, "exposed communication"},
        {BREAKDOWN_EXPOSED_MEMORY_NS, "exposed copies"},
        {BREAKDOWN_IDLE_HOST_WAIT_NS, "idle, waiting for host"},
        {BREAKDOWN_IDLE_OTHER_NS, "idle, other"},
        {BREAKDOWN_UNRECORDED_NS, "unrecorded work"},
    };
    double window_ms = shown_ms(breakdown, row, BREAKDOWN_WINDOW_NS);
    int64_t steps = table_i64(breakdown, row, BREAKDOWN_STEPS, 0);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        double part_ms = shown_ms(breakdown, row, bars[i].column);
        double share = window_ms > 0 ? part_ms / window_ms : 0;
        if (part_ms <= 0 && bars[i].column == BREAKDOWN_UNRECORDED_NS)
            continue; // only of incomplete recordings
        fprintf(out, "    %-23s ", bars[i].label);
        put_bar(out, share);
        fprintf(out, " %5.1f %% %12.3f ms\n", share * 100,
                part_ms / (steps > 0 ? (double)steps : 1));
    }
}

static void print_breakdown(const struct report *report, FILE *out)
{
    const struct table *breakdown = report_find(report, "breakdown");
    if (shown_rows(breakdown) == 0) {
        fputs("\n  no work on a device in this trace\n", out);
        return;
    }
    size_t row = breakdown_row(breakdown);
    double window_ms = shown_ms(breakdown, row, BREAKDOWN_WINDOW_NS);
    int64_t steps = table_i64(breakdown, row, BREAKDOWN_STEPS, 0);
    double per_step = steps > 0 ? (double)steps : 1;
    double unrecorded_ms = shown_ms(breakdown, row, BREAKDOWN_UNRECORDED_NS);
    double recorded_ms = window_ms - unrecorded_ms;
    if (unrecorded_ms > 0)
        fprintf(out,
                "\n  work of %.3f ms (%.1f %%) is missing from the recording; it counts neither as "
                "idle nor as busy\n",
                unrecorded_ms / per_step, unrecorded_ms / window_ms * 100);
    fprintf(out, "\n  where the time goes: %.3f ms %s, device busy %.1f %%%s\n",
            window_ms / per_step, span_of(report, steps),
            recorded_ms > 0 ? shown_ms(breakdown, row, BREAKDOWN_BUSY_NS) / recorded_ms * 100 : 0,
            unrecorded_ms > 0 ? " of what was recorded" : "");
    print_devices(breakdown, out);
    print_bars(breakdown, row, out);
}

// The distribution of the steady steps.
static void print_step_stats(const struct report *report, FILE *out)
{
    const struct table *stats = report_find(report, "step_stats");
    if (shown_rows(stats) == 0 || table_i64(stats, 0, STEP_STATS_COUNT, 0) < 2)
        return;
    fprintf(out, "    median %.3f ms", shown_ms(stats, 0, STEP_STATS_MEDIAN_NS));
    if (!table_cell(stats, 0, STEP_STATS_CI_LOW_NS)->null)
        fprintf(out, " (95 %% interval %.3f to %.3f)", shown_ms(stats, 0, STEP_STATS_CI_LOW_NS),
                shown_ms(stats, 0, STEP_STATS_CI_HIGH_NS));
    fprintf(out, ", p95 %.3f ms, longest %.3f ms; %lld steady steps\n",
            shown_ms(stats, 0, STEP_STATS_P95_NS), shown_ms(stats, 0, STEP_STATS_MAX_NS),
            (long long)table_i64(stats, 0, STEP_STATS_COUNT, 0));
}

static void print_steps(const struct report *report, FILE *out)
{
    const struct table *steps = report_find(report, "steps");
    size_t rows = shown_rows(steps);
    if (rows < 2)
        return;
    fputs("\n  steps            total ms       busy ms  exposed comm ms\n", out);
    for (size_t row = 0; row < rows && row < MAX_STEPS; row++) {
        struct str reason = table_text(steps, row, STEPS_REASON);
        fprintf(out, "    %-10lld %13.3f %13.3f %16.3f%s",
                (long long)table_i64(steps, row, STEPS_STEP, 0),
                shown_ms(steps, row, STEPS_WINDOW_NS), shown_ms(steps, row, STEPS_BUSY_NS),
                shown_ms(steps, row, STEPS_EXPOSED_COMM_NS), reason.len ? "  " : "");
        shown_put(out, reason, SHOWN_LINE_WIDTH);
        fputc('\n', out);
    }
    if (rows > MAX_STEPS)
        fprintf(out, "    and %zu more; --format json has all\n", rows - MAX_STEPS);
    print_step_stats(report, out);
}

// A single figure; NAN if it is not known.
static double figure_of(const struct table *utilization, const char *metric)
{
    for (size_t row = 0; row < shown_rows(utilization); row++)
        if (table_is(utilization, row, UTILIZATION_METRIC, str_of(metric)))
            return table_f64(utilization, row, UTILIZATION_VALUE, NAN);
    return NAN;
}

static void print_utilization(const struct report *report, FILE *out)
{
    const struct table *utilization = report_find(report, "utilization");
    double mfu = figure_of(utilization, "mfu"),
           tokens = figure_of(utilization, "tokens_per_second");
    if (!isnan(mfu))
        fprintf(out, "\n  MFU %.1f %%, HFU %.1f %%\n", mfu * 100,
                figure_of(utilization, "hfu") * 100);
    if (!isnan(tokens))
        fprintf(out, "\n  %s tokens per second over all ranks\n", mean_text(tokens, 0).text);
}

static void print_more(size_t rows, FILE *out)
{
    if (rows > TOP_ROWS)
        fprintf(out, "    and %zu more; --format json has all\n", rows - TOP_ROWS);
}

static void print_kernels(const struct report *report, FILE *out)
{
    const struct table *kernels = report_find(report, "kernels");
    size_t rows = shown_rows(kernels);
    if (rows == 0)
        return;
    char head[40];
    snprintf(head, sizeof head, "kernels (%zu)", rows);
    fprintf(out, "\n  %-18s%8s %9s %10s\n", head, "total ms", "of busy", "calls");
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fprintf(out, "    %24.3f %7.1f %% %10lld  ", shown_ms(kernels, row, KERNELS_TOTAL_NS),
                shown_percent(kernels, row, KERNELS_BUSY_SHARE),
                (long long)table_i64(kernels, row, KERNELS_CALLS, 0));
        shown_put(out, table_text(kernels, row, KERNELS_NAME), NAME_WIDTH);
        fputc('\n', out);
    }
    print_more(rows, out);
}

// A number in a column, or a dash if it is empty.
static void put_number(FILE *out, const struct table *table, size_t row, unsigned column,
                       double scale)
{
    const struct cell *cell = table_cell(table, row, column);
    bool is_whole = table->desc->columns[column_place(table->desc, column)].type == COLUMN_I64;
    if (cell->null)
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %9.3f", (is_whole ? (double)cell->i : cell->f) / scale);
}

static void print_collectives(const struct report *report, FILE *out)
{
    const struct table *collectives = report_find(report, "collectives");
    size_t rows = shown_rows(collectives);
    if (rows == 0)
        return;
    char head[40];
    snprintf(head, sizeof head, "collectives (%zu)", rows);
    fprintf(out, "\n  %-19s%8s %11s %6s %9s %9s\n", head, "total ms", "exposed ms", "calls",
            "MB/call", "bus GB/s");
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fprintf(out, "    %25.3f %11.3f %6lld", shown_ms(collectives, row, COLLECTIVES_TOTAL_NS),
                shown_ms(collectives, row, COLLECTIVES_EXPOSED_NS),
                (long long)table_i64(collectives, row, COLLECTIVES_CALLS, 0));
        put_number(out, collectives, row, COLLECTIVES_BYTES, 1e6);
        put_number(out, collectives, row, COLLECTIVES_BUS_GBPS, 1);
        fputs("  ", out);
        struct str name = table_text(collectives, row, COLLECTIVES_COLLECTIVE);
        shown_put(out, name.len ? name : table_text(collectives, row, COLLECTIVES_KERNEL),
                  NAME_WIDTH);
        fputc('\n', out);
    }
    print_more(rows, out);
}

static void print_counters(const struct report *report, FILE *out)
{
    const struct table *counters = report_find(report, "counters");
    size_t rows = shown_rows(counters);
    if (rows == 0)
        return;
    fprintf(out, "\n  counters (%zu)         mean     least      most  over the steady steps\n",
            rows);
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fputs("              ", out);
        put_number(out, counters, row, COUNTERS_MEAN, 1);
        put_number(out, counters, row, COUNTERS_MIN, 1);
        put_number(out, counters, row, COUNTERS_MAX, 1);
        fputs("  ", out);
        shown_put(out, table_text(counters, row, COUNTERS_UNIT), 8);
        fputs(table_text(counters, row, COUNTERS_UNIT).len ? " " : "", out);
        shown_put(out, table_text(counters, row, COUNTERS_COUNTER), NAME_WIDTH);
        fputc('\n', out);
    }
}

static void print_facts(struct str evidence, FILE *out)
{
    json_t *facts = json_loadb(evidence.at, evidence.len, 0, NULL);
    for (size_t i = 0; i < json_array_size(facts); i++) {
        json_t *fact = json_object_get(json_array_get(facts, i), "fact");
        shown_wrap(out, str_of(json_string_value(fact)), 8);
    }
    json_decref(facts);
}

// The title of a rule's finding, which readers see; the rule without it.
static struct str title_of(const struct table *findings, struct str rule)
{
    unsigned group = findings_group(findings->desc);
    for (size_t row = 0; row < findings->row_count; row++)
        if (str_equal(table_text(findings, row, group + FINDING_RULE), rule))
            return table_text(findings, row, group + FINDING_TITLE);
    return rule;
}

// Other findings that explain part of the same time.
static void print_overlap(const struct table *findings, size_t row, FILE *out)
{
    unsigned group = findings_group(findings->desc);
    struct str other = table_text(findings, row, group + FINDING_OVERLAPS);
    if (other.len == 0)
        return;
    int64_t own_ns = table_i64(findings, row, group + FINDING_OWN_COST_NS, 0);
    if (own_ns > 0)
        fprintf(out, "      %s of this only here, the rest", time_text(own_ns).text);
    else
        fputs("      all of this", out);
    fputs(" also in: ", out);
    shown_put(out, title_of(findings, other), NAME_WIDTH);
    fputc('\n', out);
}

void print_findings(const struct report *report, FILE *out)
{
    const struct table *findings = report_find(report, "findings");
    if (shown_rows(findings))
        fputs("\n  findings (costs are upper bounds)\n", out);
    unsigned group = findings ? findings_group(findings->desc) : 0;
    for (size_t row = 0; row < shown_rows(findings); row++) {
        fputs("    [", out);
        shown_put(out, table_text(findings, row, group + FINDING_SEVERITY), 20);
        fputs("] ", out);
        shown_put(out, table_text(findings, row, group + FINDING_TITLE), 160);
        fputc('\n', out);
        print_overlap(findings, row, out);
        print_facts(table_text(findings, row, group + FINDING_EVIDENCE), out);
        fputs("      what to do:\n", out);
        shown_wrap(out, table_text(findings, row, group + FINDING_ADVICE), 8);
    }
}

// "[info] Python frames were recorded (65,313 in all)", and the effect below it.
void print_trust_row(const struct table *trust, size_t row, FILE *out)
{
    unsigned doubt = trust_doubt(trust->desc);
    int64_t count = table_i64(trust, row, doubt + DOUBT_COUNT, 0);
    fputs("    [", out);
    shown_put(out, table_text(trust, row, doubt + DOUBT_SEVERITY), 20);
    fputs("] ", out);
    shown_put(out, table_text(trust, row, doubt + DOUBT_DETAIL), 300);
    if (count > 1)
        fprintf(out, " (%s in all)", count_text(count).text);
    fputc('\n', out);
    if (table_text(trust, row, doubt + DOUBT_EFFECT).len)
        shown_wrap(out, table_text(trust, row, doubt + DOUBT_EFFECT), 8);
}

static void print_trust(const struct report *report, FILE *out)
{
    const struct table *trust = report_find(report, "trust");
    fputs(shown_rows(trust) ? "\n  trust report\n" : "\n  nothing in the trust report\n", out);
    for (size_t row = 0; row < shown_rows(trust); row++)
        print_trust_row(trust, row, out);
}

void print_trace_report(const struct report *report, const char *file, int64_t rank, FILE *out)
{
    print_identity(report, file, rank, out);
    print_breakdown(report, out);
    print_steps(report, out);
    print_utilization(report, out);
    print_kernels(report, out);
    print_collectives(report, out);
    print_counters(report, out);
    print_findings(report, out);
    print_trust(report, out);
    fputc('\n', out);
}
