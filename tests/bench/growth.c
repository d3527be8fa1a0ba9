// SPDX-License-Identifier: Apache-2.0
// Measures the same stages on traces of one shape and many sizes: time and memory per event, and
// how they grow.
#include "tests/bench/resident.h"
#include "tests/bench/stages.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX   8
#define LAPS_MAX    9
#define LAP_EVENTS  2000000 // least number of events measured, in laps
#define SMALL_SHARE 0.03    // rows below this share of the largest are not judged
#define SMALLEST_NS 2e6     // nor are times that a single disturbance can double

struct choices {
    double factor; // how much rows may grow per event; 0: they are not judged
    double base;   // events in the file that others are compared with
    bool brief;    // only what is needed to see growth: one lap, reading, sealing and analyses
    bool all;      // print rows of single analyses even if they are small
};

// Measurements of one file; sent through a pipe, so there are no pointers.
struct growth {
    uint64_t events, kept_events, json_bytes;
    int64_t best_ns[STAGES_MAX]; // 0: not run
    struct job_memory memory;
    struct resident resident;
};

static const char usage[] =
    "usage: bench_growth [--factor F] [--base EVENTS] [--brief] [--all] FILE.json.zst...\n"
    "  --factor F     fail when a stage takes F times as long per event as at the base\n"
    "  --base EVENTS  compare with the first file of that many events (1000000)\n"
    "  --brief        one lap, without the whole job and the trace file\n"
    "  --all          print small analyses as well\n";

// ---- measuring
// -----------------------------------------------------------------------------------

static bool is_analysis(const struct stage *stage)
{
    return stage->analysis != NULL;
}

static bool is_wanted(const struct choices *choices, const struct stage *stage)
{
    if (stage->needs_text || stage->has_helpers)
        return false;
    return !choices->brief || is_analysis(stage) || stage->yardstick == YARD_SCAN ||
           stage->yardstick == YARD_SEAL || stage->run == stages_facts;
}

static bool run_lap(const struct choices *choices, struct lap *lap, struct growth *growth,
                    struct err *err)
{
    for (unsigned i = 0; i < stage_count; i++) {
        int64_t took_ns = 0;
        if (!is_wanted(choices, &stages[i]))
            continue;
        if (!stages[i].run(lap, &stages[i], &took_ns, err))
            return err_wrap(err, "%s", stages[i].name);
        if (took_ns > 0 && (growth->best_ns[i] == 0 || took_ns < growth->best_ns[i]))
            growth->best_ns[i] = took_ns;
    }
    growth->events = lap->event_count;
    growth->json_bytes = lap->json_bytes ? lap->json_bytes : growth->json_bytes;
    growth->kept_events = lap->kept_count;
    growth->memory = lap->memory;
    return true;
}

static bool run_laps(const struct choices *choices, const struct corpus *corpus,
                     struct growth *growth, struct err *err)
{
    uint64_t measured = 0;
    for (int i = 0; i < LAPS_MAX && (i < 2 || measured < LAP_EVENTS); i++) {
        struct lap lap = {.cpu_time = true};
        lap_begin(&lap, corpus);
        bool ok = run_lap(choices, &lap, growth, err);
        lap_end(&lap);
        if (!ok)
            return false;
        measured += growth->events;
        if (choices->brief)
            break;
    }
    return choices->brief || resident_run(corpus->zstd_path, &growth->resident, err);
}

// Each file in a separate process, so that no heap is warmed up or fragmented by the one before.
static _Noreturn void measure_into(const struct choices *choices, const char *path, int out)
{
    struct growth growth = {0};
    struct corpus corpus;
    struct err err = {0};
    bool ok = corpus_open_packed(&corpus, path, &err);
    if (ok) {
        ok = run_laps(choices, &corpus, &growth, &err);
        corpus_close(&corpus);
    }
    if (!ok)
        fprintf(stderr, "bench_growth: %s: %s\n", path, err.msg);
    ok = ok && write(out, &growth, sizeof growth) == (ssize_t)sizeof growth;
    exit(ok ? 0 : 1);
}

static bool measure(const struct choices *choices, const char *path, struct growth *growth)
{
    int ends[2], status = 1;
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        measure_into(choices, path, ends[1]);
    close(ends[1]);
    bool ok = child > 0 && read(ends[0], growth, sizeof *growth) == (ssize_t)sizeof *growth;
    close(ends[0]);
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 && ok;
}

// ---- judging and printing
// ------------------------------------------------------------------------

struct series {
    struct growth files[FILES_MAX];
    int count, base;
};

static double per_event(const struct growth *growth, unsigned i)
{
    return (double)growth->best_ns[i] / (double)growth->events;
}

static double largest_row(const struct growth *growth)
{
    double largest = 0;
    for (unsigned i = 0; i < stage_count; i++)
        largest = per_event(growth, i) > largest ? per_event(growth, i) : largest;
    return largest;
}

static bool is_small(const struct growth *growth, unsigned i)
{
    return per_event(growth, i) < SMALL_SHARE * largest_row(growth) ||
           (double)growth->best_ns[i] < SMALLEST_NS;
}

// The largest growth of a row over the base, among files where it counts.
static double growth_of(const struct series *series, unsigned i)
{
    double most = 0, base = per_event(&series->files[series->base], i);
    for (int k = series->base + 1; k < series->count; k++)
        if (!is_small(&series->files[k], i) && per_event(&series->files[k], i) / base > most)
            most = per_event(&series->files[k], i) / base;
    return most;
}

static void print_row(const struct choices *choices, const struct series *series, unsigned i)
{
    double most = growth_of(series, i);
    if (is_analysis(&stages[i]) && most == 0 && !choices->all)
        return;
    printf("  %-34s", stages[i].name);
    for (int k = 0; k < series->count; k++)
        printf(" %9.1f", per_event(&series->files[k], i));
    if (most > 0)
        printf(" %8.2f%s\n", most,
               choices->factor > 0 && most > choices->factor ? "  TOO MUCH" : "");
    else
        printf(" %8s\n", "-");
}

static double bytes_per_event(const struct growth *growth, uint64_t bytes)
{
    return ((double)bytes - (double)growth->memory.string_bytes) / (double)growth->kept_events;
}

static void print_memory(const struct series *series)
{
    static const char *const names[] = {"peak until sealed", "sealed", "peak of the job"};
    printf("bytes per kept event, strings apart\n");
    for (int row = 0; row < 3; row++) {
        printf("  %-34s", names[row]);
        for (int k = 0; k < series->count; k++) {
            const struct job_memory *memory = &series->files[k].memory;
            const uint64_t bytes[] = {memory->ingest_peak_bytes, memory->kept_bytes,
                                      memory->job_peak_bytes};
            printf(" %9.1f", bytes_per_event(&series->files[k], bytes[row]));
        }
        putchar('\n');
    }
    printf("  %-34s", "resident, all of the process");
    for (int k = 0; k < series->count; k++)
        printf(" %9.1f",
               (double)series->files[k].resident.peak_bytes / (double)series->files[k].kept_events);
    printf("\nin its own process\n  %-34s", "wall ns per event");
    for (int k = 0; k < series->count; k++)
        printf(" %9.1f",
               (double)series->files[k].resident.took_ns / (double)series->files[k].events);
    putchar('\n');
}

static void print_series(const struct choices *choices, const struct series *series)
{
    printf("  %-34s", "processor ns per event, of events:");
    for (int k = 0; k < series->count; k++)
        printf(" %9llu", (unsigned long long)series->files[k].events);
    printf("   growth\n");
    for (unsigned i = 0; i < stage_count; i++)
        if (series->files[0].best_ns[i])
            print_row(choices, series, i);
    if (!choices->brief)
        print_memory(series);
}

static bool has_grown(const struct choices *choices, const struct series *series)
{
    bool grown = false;
    for (unsigned i = 0; choices->factor > 0 && i < stage_count; i++)
        if (growth_of(series, i) > choices->factor) {
            fprintf(stderr,
                    "bench_growth: %s takes %.2f times as long per event at most, expected "
                    "no more than %.2f times\n",
                    stages[i].name + strspn(stages[i].name, " "), growth_of(series, i),
                    choices->factor);
            grown = true;
        }
    return grown;
}

static bool parse(int argc, char **argv, struct choices *choices)
{
    static const struct option known[] = {{"factor", required_argument, NULL, 'f'},
                                          {"base", required_argument, NULL, 'b'},
                                          {"brief", no_argument, NULL, 'q'},
                                          {"all", no_argument, NULL, 'a'},
                                          {0}};
    *choices = (struct choices){.base = 1e6};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'f')
            choices->factor = strtod(optarg, NULL);
        else if (c == 'b')
            choices->base = strtod(optarg, NULL);
        else if (c == 'q')
            choices->brief = true;
        else if (c == 'a')
            choices->all = true;
        else
            return false;
    }
    return optind < argc && argc - optind <= FILES_MAX;
}

int main(int argc, char **argv)
{
    struct choices choices;
    struct series series = {.base = -1};
    int status;
    if (resident_job(argc, argv, &status))
        return status;
    if (!parse(argc, argv, &choices)) {
        fputs(usage, stderr);
        return 2;
    }
    for (int i = optind; i < argc; i++) {
        struct growth *growth = &series.files[series.count];
        if (!measure(&choices, argv[i], growth))
            return 1;
        if (series.base < 0 && (double)growth->events >= choices.base)
            series.base = series.count;
        series.count++;
    }
    if (series.base < 0)
        series.base = 0;
    print_series(&choices, &series);
    return has_grown(&choices, &series) ? 3 : 0;
}
