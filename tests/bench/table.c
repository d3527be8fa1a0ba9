// SPDX-License-Identifier: Apache-2.0
// Prints rates and ratios; every ratio is between two figures of the same run.
#include "tests/bench/table.h"

#include <stdio.h>
#include <string.h>

// Measured on one core of another machine, each with its best settings; see README.md.
#define HTA_MB_PER_S             14.7 // of JSON
#define HTA_BYTES_PER_BYTE       4.6  // of memory per byte of JSON
#define TRACELENS_MB_PER_S       13.0
#define TRACELENS_BYTES_PER_BYTE 9.0 // to 17

int64_t results_best(const struct results *results, enum yardstick yardstick)
{
    for (unsigned i = 0; i < stage_count; i++)
        if (stages[i].yardstick == yardstick)
            return results->best_ns[i];
    return 0;
}

static double json_bytes(const struct results *results)
{
    return (double)results->last.corpus->text.len;
}

static double mb_per_s(const struct results *results, int64_t took_ns)
{
    return took_ns ? json_bytes(results) * 1e3 / (double)took_ns : 0;
}

static double ns_per_event(const struct results *results, int64_t took_ns)
{
    return (double)took_ns / (double)results->last.event_count;
}

static void print_ratio(int64_t yard_ns, int64_t took_ns)
{
    if (yard_ns)
        printf(" %10.2f", (double)yard_ns / (double)took_ns);
    else
        printf(" %10s", "-");
}

static void print_row(const struct results *results, unsigned i)
{
    int64_t took_ns = results->best_ns[i];
    printf("  %-34s %9.2f %9.0f %9.1f", stages[i].name, (double)took_ns / 1e6,
           mb_per_s(results, took_ns), ns_per_event(results, took_ns));
    print_ratio(results_best(results, YARD_SIMDJSON), took_ns);
    print_ratio(results_best(results, YARD_ZSTD), took_ns);
    putchar('\n');
}

static void print_rows(const struct results *results)
{
    for (unsigned i = 0; i < stage_count; i++) {
        if (stages[i].heading && results->best_ns[i])
            printf("%s\n", stages[i].heading);
        if (results->best_ns[i])
            print_row(results, i);
    }
}

static void print_head(const char *path, const struct results *results)
{
    const struct corpus *corpus = results->last.corpus;
    printf(
        "%s: %.1f MB of JSON, %llu events, %.0f bytes each; zstd -%d %.2f MB, gzip -%d %.2f MB\n\n",
        path, json_bytes(results) / 1e6, (unsigned long long)results->last.event_count,
        json_bytes(results) / (double)results->last.event_count, CORPUS_ZSTD_LEVEL,
        (double)corpus->zstd.len / 1e6, CORPUS_GZIP_LEVEL, (double)corpus->gzip.len / 1e6);
    printf("  %-34s %9s %9s %9s %10s %10s\n", "", "ms", "MB/s", "ns/event", "x simdjson",
           "x libzstd");
}

static void print_memory(const struct results *results)
{
    const struct lap *lap = &results->last;
    const struct job_memory *memory = &lap->memory;
    double events = (double)lap->kept_count, strings = (double)memory->string_bytes;
    if (lap->kept_count)
        printf("memory, strings apart: peak %.1f bytes per kept event (%.1f until sealed), "
               "sealed %.1f; strings %.2f MB\n",
               ((double)memory->job_peak_bytes - strings) / events,
               ((double)memory->ingest_peak_bytes - strings) / events,
               ((double)memory->kept_bytes - strings) / events, strings / 1e6);
    if (lap->trace_file_bytes)
        printf("trace file: %.2f MB, %.2f of the .json.zst\n", (double)lap->trace_file_bytes / 1e6,
               (double)lap->trace_file_bytes / (double)lap->corpus->zstd.len);
}

// Our whole scan compared with simdjson reading just the same fields.
static void print_scan(const struct results *results)
{
    int64_t simdjson_ns = results_best(results, YARD_SIMDJSON);
    int64_t scan_ns = results_best(results, YARD_SCAN);
    if (simdjson_ns && scan_ns)
        printf("scan, columns and interning fed by zstd: %.2f times simdjson's reading of the same "
               "fields\n",
               (double)simdjson_ns / (double)scan_ns);
}

// How close the job comes to the best possible on two cores.
static void print_bound(const struct results *results)
{
    double d = (double)results_best(results, YARD_ZSTD);
    double a = (double)results_best(results, YARD_ANALYZE);
    double s = (double)(results_best(results, YARD_SCAN) + results_best(results, YARD_SEAL));
    double whole = (double)results_best(results, YARD_WHOLE);
    double bound = (d + s + a) / 2;
    bound = d > bound ? d : bound;
    bound = s > bound ? s : bound;
    if (whole > 0 && d > 0 && s > 0 && a > 0)
        printf("from .json.zst: %.2f times max(D, S, (D + S + A) / 2), with D %.0f ms libzstd, S "
               "%.0f ms scan and seal, A %.0f ms analyses\n",
               whole / bound, d / 1e6, s / 1e6, a / 1e6);
}

static void print_peers(const struct results *results)
{
    const struct resident *resident = &results->resident;
    double rate = mb_per_s(results, resident->took_ns);
    double memory = (double)resident->peak_bytes / json_bytes(results);
    if (resident->took_ns)
        printf("in its own process: %.0f MB/s, %.0f x HTA, %.0f x TraceLens; resident %.0f "
               "MB, %.3f bytes per byte of JSON, 1/%.0f of HTA's, 1/%.0f of TraceLens's\n",
               rate, rate / HTA_MB_PER_S, rate / TRACELENS_MB_PER_S,
               (double)resident->peak_bytes / 1e6, memory, HTA_BYTES_PER_BYTE / memory,
               TRACELENS_BYTES_PER_BYTE / memory);
}

void table_print(const char *path, const struct results *results)
{
    print_head(path, results);
    print_rows(results);
    putchar('\n');
    print_memory(results);
    print_scan(results);
    print_bound(results);
    print_peers(results);
    putchar('\n');
}

void table_print_line_head(void)
{
    printf("%-24s %7s %8s | %-16s | %-16s %6s | %-16s | %-16s\n", "", "MB", "bytes/", "simdjson",
           "scan and columns", "x simd", "whole job", "process");
    printf("%-24s %7s %8s | %7s %8s | %7s %8s %6s | %7s %8s | %7s %8s\n", "trace", "of JSON",
           "event", "MB/s", "ns/event", "MB/s", "ns/event", "json", "MB/s", "ns/event", "x HTA",
           "1/memory");
}

// The file's name up to the first dot.
static void short_name(const char *path, char *name, size_t cap)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    snprintf(name, cap, "%.*s", (int)strcspn(base, "."), base);
}

void table_print_line(const char *path, const struct results *results)
{
    char name[25];
    int64_t simdjson_ns = results_best(results, YARD_SIMDJSON);
    int64_t scan_ns = results_best(results, YARD_SCAN);
    int64_t whole_ns = results_best(results, YARD_WHOLE);
    double peak_bytes = (double)results->resident.peak_bytes;
    short_name(path, name, sizeof name);
    printf("%-24s %7.1f %8.0f | %7.0f %8.1f | %7.0f %8.1f %6.2f | %7.0f %8.1f | %7.0f %8.0f\n",
           name, json_bytes(results) / 1e6, json_bytes(results) / (double)results->last.event_count,
           mb_per_s(results, simdjson_ns), ns_per_event(results, simdjson_ns),
           mb_per_s(results, scan_ns), ns_per_event(results, scan_ns),
           (double)simdjson_ns / (double)scan_ns, mb_per_s(results, whole_ns),
           ns_per_event(results, whole_ns),
           mb_per_s(results, results->resident.took_ns) / HTA_MB_PER_S,
           HTA_BYTES_PER_BYTE * json_bytes(results) / peak_bytes);
    fflush(stdout);
}
