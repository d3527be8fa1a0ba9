// SPDX-License-Identifier: Apache-2.0
// Prints reports for people: aligned columns, milliseconds, bars of blocks.
#include "server/print_report.h"

#include <string.h>

enum { TOP_ROWS = 10, MAX_STEPS = 24, BAR_WIDTH = 30, NAME_WIDTH = 60 };

// --- cells --------------------------------------------------------------------------------------

static size_t row_count(const struct table *table)
{
    return table ? table->row_count : 0;
}

static double ms(const struct table *table, size_t row, const char *column)
{
    const struct cell *cell = table_cell(table, row, column);
    return cell->null ? 0 : (double)cell->i / 1e6;
}

static int64_t count(const struct table *table, size_t row, const char *column)
{
    const struct cell *cell = table_cell(table, row, column);
    return cell->null ? 0 : cell->i;
}

static double percent(const struct table *table, size_t row, const char *column)
{
    const struct cell *cell = table_cell(table, row, column);
    return cell->null ? 0 : cell->f * 100;
}

static struct str text(const struct table *table, size_t row, const char *column)
{
    const struct cell *cell = table_cell(table, row, column);
    return cell->null ? STR("") : cell->s;
}

static bool is(const struct table *table, size_t row, const char *column, const char *word)
{
    return str_equal(text(table, row, column), str_of(word));
}

// At most width bytes, cut at a whole character; control characters could command a terminal.
static void put_text(FILE *out, struct str value, size_t width)
{
    bool is_cut = value.len > width;
    struct str shown = {value.at, is_cut ? width - 3 : value.len};
    shown.len = is_cut ? str_valid_utf8(shown) : shown.len;
    for (size_t i = 0; i < shown.len; i++) {
        unsigned char c = (unsigned char)shown.at[i];
        fputc(c < ' ' || c == 0x7f ? '?' : c, out);
    }
    fputs(is_cut ? "..." : "", out);
}

// --- sections -----------------------------------------------------------------------------------

static void print_identity(const struct report *report, const char *file, int64_t rank, FILE *out)
{
    const struct table *summary = report_find(report, "summary");
    put_text(out, str_of(file), 200);
    fprintf(out, "\n  rank %lld", (long long)rank);
    if (row_count(summary) == 0) {
        fputc('\n', out);
        return;
    }
    struct str gpu = text(summary, 0, "gpu");
    if (gpu.len) {
        fputs(", ", out);
        put_text(out, gpu, NAME_WIDTH);
    }
    fprintf(out, ", %lld device events (%lld with their launch), %lld steps (%lld steady)\n",
            (long long)count(summary, 0, "device_events"),
            (long long)count(summary, 0, "linked_device_events"),
            (long long)count(summary, 0, "step_count"),
            (long long)count(summary, 0, "steady_steps"));
}

static void put_bar(FILE *out, double share)
{
    int full = (int)(share * BAR_WIDTH + 0.5);
    for (int i = 0; i < BAR_WIDTH; i++)
        fputs(i < full ? "\u2588" : "\u00b7", out);
}

// The row that stands for the trace: its steady steps, else its whole window.
static size_t breakdown_row(const struct table *breakdown)
{
    for (size_t row = 0; row < breakdown->row_count; row++)
        if (is(breakdown, row, "scope", "steady") || is(breakdown, row, "scope", "run_median"))
            return row;
    return 0;
}

static void print_breakdown(const struct report *report, FILE *out)
{
    static const struct {
        const char *column, *label;
    } bars[] = {
        {"gemm_ns", "gemm"},
        {"attention_ns", "attention"},
        {"other_compute_ns", "other compute"},
        {"exposed_comm_ns", "exposed communication"},
        {"exposed_memory_ns", "exposed copies"},
        {"idle_host_wait_ns", "idle, waiting for host"},
        {"idle_other_ns", "idle, other"},
    };
    const struct table *breakdown = report_find(report, "breakdown");
    if (row_count(breakdown) == 0) {
        fputs("\n  no work on a device in this trace\n", out);
        return;
    }
    size_t row = breakdown_row(breakdown);
    double window_ms = ms(breakdown, row, "window_ns");
    long long steps = (long long)count(breakdown, row, "steps");
    double per_step = steps > 0 ? (double)steps : 1;
    fprintf(out, "\n  where the time goes: %.3f ms%s, busy %.1f %%\n", window_ms / per_step,
            steps > 0 ? " per steady step" : "",
            window_ms > 0 ? ms(breakdown, row, "busy_ns") / window_ms * 100 : 0);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        double part_ms = ms(breakdown, row, bars[i].column);
        double share = window_ms > 0 ? part_ms / window_ms : 0;
        fprintf(out, "    %-23s ", bars[i].label);
        put_bar(out, share);
        fprintf(out, " %5.1f %% %12.3f ms\n", share * 100, part_ms / per_step);
    }
}

static void print_steps(const struct report *report, FILE *out)
{
    const struct table *steps = report_find(report, "steps");
    size_t rows = row_count(steps);
    if (rows < 2)
        return;
    fputs("\n  steps            total ms       busy ms  exposed comm ms\n", out);
    for (size_t row = 0; row < rows && row < MAX_STEPS; row++) {
        fprintf(out, "    %-10lld %13.3f %13.3f %16.3f  ", (long long)count(steps, row, "step"),
                ms(steps, row, "window_ns"), ms(steps, row, "busy_ns"),
                ms(steps, row, "exposed_comm_ns"));
        put_text(out, text(steps, row, "reason"), NAME_WIDTH);
        fputc('\n', out);
    }
    if (rows > MAX_STEPS)
        fprintf(out, "    ... %zu more\n", rows - MAX_STEPS);
}

static void print_kernels(const struct report *report, FILE *out)
{
    const struct table *kernels = report_find(report, "kernels");
    size_t rows = row_count(kernels);
    if (rows == 0)
        return;
    fprintf(out, "\n  top kernels of %zu    total ms   of busy      calls\n", rows);
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fprintf(out, "    %24.3f %7.1f %% %10lld  ", ms(kernels, row, "total_ns"),
                percent(kernels, row, "busy_share"), (long long)count(kernels, row, "calls"));
        put_text(out, text(kernels, row, "name"), NAME_WIDTH);
        fputc('\n', out);
    }
}

static void print_collectives(const struct report *report, FILE *out)
{
    const struct table *collectives = report_find(report, "collectives");
    size_t rows = row_count(collectives);
    if (rows == 0)
        return;
    fputs("\n  collectives          total ms  exposed ms      calls\n", out);
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fprintf(out, "    %25.3f %11.3f %10lld  ", ms(collectives, row, "total_ns"),
                ms(collectives, row, "exposed_ns"), (long long)count(collectives, row, "calls"));
        struct str name = text(collectives, row, "collective");
        put_text(out, name.len ? name : STR("(without metadata)"), NAME_WIDTH);
        fputc('\n', out);
    }
}

static void print_findings(const struct report *report, FILE *out)
{
    const struct table *findings = report_find(report, "findings");
    for (size_t row = 0; row < row_count(findings); row++) {
        if (row == 0)
            fputs("\n  findings\n", out);
        fputs("    [", out);
        put_text(out, text(findings, row, "severity"), 20);
        fputs("] ", out);
        put_text(out, text(findings, row, "title"), 160);
        double cost_ms = ms(findings, row, "cost_ns");
        if (cost_ms > 0)
            fprintf(out, " (at most %.3f ms per step, %.1f %%)", cost_ms,
                    percent(findings, row, "cost_share"));
        fputs("\n        ", out);
        put_text(out, text(findings, row, "advice"), 400);
        fputc('\n', out);
    }
}

static void print_quality(const struct report *report, FILE *out)
{
    const struct table *quality = report_find(report, "quality");
    bool is_first = true;
    for (size_t row = 0; row < row_count(quality); row++) {
        if (is(quality, row, "severity", "info"))
            continue;
        if (is_first)
            fputs("\n  how far to trust these numbers\n", out);
        is_first = false;
        fputs("    [", out);
        put_text(out, text(quality, row, "severity"), 20);
        fputs("] ", out);
        put_text(out, text(quality, row, "detail"), 300);
        fputs("; ", out);
        put_text(out, text(quality, row, "effect"), 300);
        fputc('\n', out);
    }
    if (is_first)
        fputs("\n  nothing speaks against these numbers\n", out);
}

void print_trace_report(const struct report *report, const char *file, int64_t rank, FILE *out)
{
    print_identity(report, file, rank, out);
    print_breakdown(report, out);
    print_steps(report, out);
    print_kernels(report, out);
    print_collectives(report, out);
    print_findings(report, out);
    print_quality(report, out);
    fputc('\n', out);
}

void print_run_report(const struct report *report, FILE *out)
{
    const struct table *ranks = report_find(report, "ranks");
    if (row_count(ranks) < 2)
        return;
    fputs("ranks               median step ms     p95 ms  exposed comm ms/step  idle ms/step\n",
          out);
    for (size_t row = 0; row < ranks->row_count; row++)
        fprintf(out, "  %-8lld %23.3f %10.3f %21.3f %13.3f%s\n",
                (long long)count(ranks, row, "rank"), ms(ranks, row, "step_median_ns"),
                ms(ranks, row, "step_p95_ns"), ms(ranks, row, "exposed_comm_ns"),
                ms(ranks, row, "idle_ns"),
                count(ranks, row, "headline") ? "  stands for the run" : "");
    fputc('\n', out);
}
