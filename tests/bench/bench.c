// SPDX-License-Identifier: Apache-2.0
// Measures every stage of a trace job on the same bytes in one run, and prints one table.
#include "tests/bench/stages.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

struct choices {
    int repeats;
    const char *only; // rows whose name contains this; NULL: all
};

struct results {
    int64_t best_ns[STAGES_MAX]; // 0: not run
    struct lap last;             // what the last lap counted
};

static const char usage[] = "usage: bench [--repeat N] [--only TEXT] FILE.json[.gz|.zst]...\n"
                            "  --repeat N   laps over all rows; the best of each counts (5)\n"
                            "  --only TEXT  only the rows whose name contains TEXT\n";

static bool is_wanted(const struct choices *choices, unsigned i)
{
    return !choices->only || strstr(stages[i].name, choices->only);
}

// All rows once, so that what disturbs the machine for a while disturbs them alike.
static bool run_lap(const struct choices *choices, struct lap *lap, struct results *results,
                    struct err *err)
{
    for (unsigned i = 0; i < stage_count; i++) {
        int64_t took_ns = 0;
        if (!is_wanted(choices, i))
            continue;
        if (!stages[i].run(lap, &stages[i], &took_ns, err))
            return err_wrap(err, "%s", stages[i].name);
        if (results->best_ns[i] == 0 || took_ns < results->best_ns[i])
            results->best_ns[i] = took_ns > 0 ? took_ns : 1;
    }
    // A choice of rows may have counted nothing yet.
    if (lap->event_count == 0) {
        if (!lap_need_trace(lap, err))
            return false;
        lap->event_count = lap->trace->input_events;
    }
    if (lap->simdjson_events && lap->simdjson_events != lap->event_count)
        return err_set(err, ERR_INTERNAL, "simdjson read %llu events, our scan %llu",
                       (unsigned long long)lap->simdjson_events,
                       (unsigned long long)lap->event_count);
    return true;
}

static int64_t best_of(const struct results *results, enum yardstick yardstick)
{
    for (unsigned i = 0; i < stage_count; i++)
        if (stages[i].yardstick == yardstick)
            return results->best_ns[i];
    return 0;
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
    if (stages[i].heading)
        printf("%s\n", stages[i].heading);
    printf("  %-34s %9.2f %9.0f %9.1f", stages[i].name, (double)took_ns / 1e6,
           (double)results->last.corpus->text.len * 1e3 / (double)took_ns,
           (double)took_ns / (double)results->last.event_count);
    print_ratio(best_of(results, YARD_SIMDJSON), took_ns);
    print_ratio(best_of(results, YARD_ZSTD), took_ns);
    putchar('\n');
}

static void print_head(const char *path, const struct results *results)
{
    const struct corpus *corpus = results->last.corpus;
    printf(
        "%s: %.1f MB of JSON, %llu events, %.0f bytes each; zstd -%d %.2f MB, gzip -%d %.2f MB\n\n",
        path, (double)corpus->text.len / 1e6, (unsigned long long)results->last.event_count,
        (double)corpus->text.len / (double)results->last.event_count, CORPUS_ZSTD_LEVEL,
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

// How near the job comes to the best that two cores could do.
static void print_bound(const struct results *results)
{
    double d = (double)best_of(results, YARD_ZSTD), a = (double)best_of(results, YARD_ANALYSE);
    double s = (double)(best_of(results, YARD_SCAN) + best_of(results, YARD_SEAL));
    double whole = (double)best_of(results, YARD_WHOLE);
    double bound = (d + s + a) / 2;
    bound = d > bound ? d : bound;
    bound = s > bound ? s : bound;
    if (whole > 0 && bound > 0)
        printf("from .json.zst: %.2f times max(D, S, (D + S + A) / 2), with D %.0f ms libzstd, S "
               "%.0f ms "
               "scan and seal, A %.0f ms analyses\n",
               whole / bound, d / 1e6, s / 1e6, a / 1e6);
}

static void print_table(const char *path, const struct results *results)
{
    print_head(path, results);
    for (unsigned i = 0; i < stage_count; i++)
        if (results->best_ns[i])
            print_row(results, i);
    putchar('\n');
    print_memory(results);
    print_bound(results);
    putchar('\n');
}

static bool measure(const struct choices *choices, const char *path, struct results *results,
                    struct err *err)
{
    struct corpus corpus;
    if (!corpus_open(&corpus, path, err))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < choices->repeats; i++) {
        struct lap *lap = &results->last;
        lap_begin(lap, &corpus);
        ok = run_lap(choices, lap, results, err);
        lap_end(lap);
    }
    if (ok)
        print_table(path, results);
    corpus_close(&corpus);
    return ok;
}

static bool measure_file(const struct choices *choices, const char *path)
{
    struct results results = {0};
    struct err err = {0};
#ifdef HAVE_SIMDJSON
    results.last.simdjson = simdjson_pass_new();
#endif
    bool ok = measure(choices, path, &results, &err);
#ifdef HAVE_SIMDJSON
    simdjson_pass_free(results.last.simdjson);
#endif
    if (!ok)
        fprintf(stderr, "bench: %s: %s\n", path, err.msg);
    return ok;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {
        {"repeat", required_argument, NULL, 'r'}, {"only", required_argument, NULL, 'o'}, {0}};
    struct choices choices = {.repeats = 5};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'o')
            choices.only = optarg;
        else if (c == 'r')
            choices.repeats = (int)strtol(optarg, NULL, 10);
        else
            optind = argc;
    }
    if (optind >= argc || choices.repeats < 1) {
        fputs(usage, stderr);
        return 2;
    }
#ifdef HAVE_SIMDJSON
    printf("simdjson uses %s\n", simdjson_pass_variant());
#endif
    bool ok = true;
    for (int i = optind; i < argc; i++)
        ok = measure_file(&choices, argv[i]) && ok;
    return ok ? 0 : 1;
}
