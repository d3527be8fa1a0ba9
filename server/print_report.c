// SPDX-License-Identifier: Apache-2.0
// Prints reports for people: aligned columns, milliseconds, bars of blocks.
#include "server/print_report.h"

#include <jansson.h>
#include <string.h>

enum { TOP_ROWS = 10, MAX_STEPS = 24, BAR_WIDTH = 30, NAME_WIDTH = 60, LINE_WIDTH = 96 };

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

// Words in lines of LINE_WIDTH behind an indent.
static void put_wrapped(FILE *out, struct str value, int indent)
{
    int column = 0;
    while (value.len) {
        const char *space = memchr(value.at, ' ', value.len);
        size_t len = space ? (size_t)(space - value.at) : value.len;
        bool fits = column > 0 && (size_t)column + 1 + len <= LINE_WIDTH;
        if (!fits)
            fprintf(out, "%s%*s", column ? "\n" : "", indent, "");
        else
            fputc(' ', out);
        put_text(out, (struct str){value.at, len}, LINE_WIDTH);
        column = (fits ? column + 1 : indent) + (int)(len < LINE_WIDTH ? len : LINE_WIDTH);
        len += space != NULL;
        value = (struct str){value.at + len, value.len - len};
    }
    fputc('\n', out);
}

static const char *plural(int64_t number)
{
    return number == 1 ? "" : "s";
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
    int64_t events = count(summary, 0, "device_events"), steps = count(summary, 0, "step_count");
    fprintf(out, ", %lld device event%s (%lld with their launch), %lld step%s (%lld steady)\n",
            (long long)events, plural(events), (long long)count(summary, 0, "linked_device_events"),
            (long long)steps, plural(steps), (long long)count(summary, 0, "steady_steps"));
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

static bool has_item(const struct report *report, const char *item)
{
    const struct table *quality = report_find(report, "quality");
    for (size_t row = 0; row < row_count(quality); row++)
        if (is(quality, row, "item", item))
            return true;
    return false;
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
    int64_t steps = count(breakdown, row, "steps");
    double per_step = steps > 0 ? (double)steps : 1;
    fprintf(out, "\n  where the time goes: %.3f ms %s, busy %.1f %%\n", window_ms / per_step,
            has_item(report, "no_steps") ? "in the whole window" : "per steady step (mean)",
            window_ms > 0 ? ms(breakdown, row, "busy_ns") / window_ms * 100 : 0);
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++) {
        double part_ms = ms(breakdown, row, bars[i].column);
        double share = window_ms > 0 ? part_ms / window_ms : 0;
        fprintf(out, "    %-23s ", bars[i].label);
        put_bar(out, share);
        fprintf(out, " %5.1f %% %12.3f ms\n", share * 100, part_ms / per_step);
    }
}

// The distribution of the steady steps.
static void print_step_stats(const struct report *report, FILE *out)
{
    const struct table *stats = report_find(report, "step_stats");
    if (row_count(stats) == 0)
        return;
    fprintf(out, "    median %.3f ms", ms(stats, 0, "median_ns"));
    if (!table_cell(stats, 0, "ci_low_ns")->null)
        fprintf(out, " (95 %% within %.3f to %.3f)", ms(stats, 0, "ci_low_ns"),
                ms(stats, 0, "ci_high_ns"));
    fprintf(out, ", p95 %.3f ms, longest %.3f ms of %lld steady\n", ms(stats, 0, "p95_ns"),
            ms(stats, 0, "max_ns"), (long long)count(stats, 0, "count"));
}

static void print_steps(const struct report *report, FILE *out)
{
    const struct table *steps = report_find(report, "steps");
    size_t rows = row_count(steps);
    if (rows < 2)
        return;
    fputs("\n  steps            total ms       busy ms  exposed comm ms\n", out);
    for (size_t row = 0; row < rows && row < MAX_STEPS; row++) {
        struct str reason = text(steps, row, "reason");
        fprintf(out, "    %-10lld %13.3f %13.3f %16.3f%s", (long long)count(steps, row, "step"),
                ms(steps, row, "window_ns"), ms(steps, row, "busy_ns"),
                ms(steps, row, "exposed_comm_ns"), reason.len ? "  " : "");
        put_text(out, reason, LINE_WIDTH);
        fputc('\n', out);
    }
    if (rows > MAX_STEPS)
        fprintf(out, "    ... %zu more\n", rows - MAX_STEPS);
    print_step_stats(report, out);
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

// A number of a column, or a dash where the column is empty.
static void put_number(FILE *out, const struct table *table, size_t row, const char *column,
                       double scale)
{
    const struct cell *cell = table_cell(table, row, column);
    bool is_whole = table->desc->columns[table_column(table->desc, column)].type == COLUMN_I64;
    if (cell->null)
        fprintf(out, " %9s", "-");
    else
        fprintf(out, " %9.3f", (is_whole ? (double)cell->i : cell->f) / scale);
}

static void print_collectives(const struct report *report, FILE *out)
{
    const struct table *collectives = report_find(report, "collectives");
    size_t rows = row_count(collectives);
    if (rows == 0)
        return;
    fprintf(out, "\n  collectives (%zu)     total ms  exposed ms  calls   MB/call  bus GB/s\n",
            rows);
    for (size_t row = 0; row < rows && row < TOP_ROWS; row++) {
        fprintf(out, "    %25.3f %11.3f %6lld", ms(collectives, row, "total_ns"),
                ms(collectives, row, "exposed_ns"), (long long)count(collectives, row, "calls"));
        put_number(out, collectives, row, "bytes", 1e6);
        put_number(out, collectives, row, "bus_gbps", 1);
        fputs("  ", out);
        struct str name = text(collectives, row, "collective");
        put_text(out, name.len ? name : text(collectives, row, "kernel"), NAME_WIDTH);
        fputc('\n', out);
    }
}

static void print_facts(struct str evidence, FILE *out)
{
    json_t *facts = json_loadb(evidence.at, evidence.len, 0, NULL);
    for (size_t i = 0; i < json_array_size(facts); i++) {
        json_t *fact = json_object_get(json_array_get(facts, i), "fact");
        put_wrapped(out, str_of(json_string_value(fact)), 8);
    }
    json_decref(facts);
}

static void print_findings(const struct report *report, FILE *out)
{
    const struct table *findings = report_find(report, "findings");
    if (row_count(findings))
        fputs("\n  findings (costs are upper bounds; several may count the same time)\n", out);
    for (size_t row = 0; row < row_count(findings); row++) {
        fputs("    [", out);
        put_text(out, text(findings, row, "severity"), 20);
        fputs("] ", out);
        put_text(out, text(findings, row, "title"), 160);
        fputc('\n', out);
        print_facts(text(findings, row, "evidence"), out);
        fputs("      what to do:\n", out);
        put_wrapped(out, text(findings, row, "advice"), 8);
    }
}

static void put_quality(const struct table *quality, size_t row, FILE *out)
{
    fputs("    [", out);
    put_text(out, text(quality, row, "severity"), 20);
    fprintf(out, "] %lld: ", (long long)count(quality, row, "count"));
    put_text(out, text(quality, row, "detail"), 300);
    fputs("; ", out);
    put_text(out, text(quality, row, "effect"), 300);
    fputc('\n', out);
}

static void print_quality(const struct report *report, FILE *out)
{
    const struct table *quality = report_find(report, "quality");
    fputs(row_count(quality) ? "\n  how far to trust these numbers\n"
                             : "\n  nothing speaks against these numbers\n",
          out);
    for (size_t row = 0; row < row_count(quality); row++)
        put_quality(quality, row, out);
}

// What concerns the run as a whole.
static void print_run_quality(const struct report *report, FILE *out)
{
    const struct table *quality = report_find(report, "quality");
    for (size_t row = 0; row < row_count(quality); row++)
        if (table_cell(quality, row, "rank")->null)
            put_quality(quality, row, out);
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
    if (row_count(ranks) < 2) {
        print_run_quality(report, out);
        return;
    }
    fputs("ranks               median step ms     p95 ms  exposed comm ms/step  idle ms/step\n",
          out);
    for (size_t row = 0; row < ranks->row_count; row++)
        fprintf(out, "  %-8lld %23.3f %10.3f %21.3f %13.3f%s\n",
                (long long)count(ranks, row, "rank"), ms(ranks, row, "step_median_ns"),
                ms(ranks, row, "step_p95_ns"), ms(ranks, row, "exposed_comm_ns"),
                ms(ranks, row, "idle_ns"),
                count(ranks, row, "headline") ? "  stands for the run" : "");
    print_run_quality(report, out);
    fputc('\n', out);
}
