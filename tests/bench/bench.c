// SPDX-License-Identifier: Apache-2.0
// Measures every stage of a trace job on the same bytes in one run, and prints one table.
#include "tests/bench/table.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct choices {
    int repeats;
    bool lines;       // one line per trace, with only the rows that it needs
    bool only_text;   // no compressed forms
    const char *only; // rows whose name contains this; NULL: all
};

static const char usage[] =
    "usage: bench [--repeat N] [--only TEXT] [--text] [--lines] FILE.json[.gz|.zst]...\n"
    "  --repeat N   laps over all rows; the best of each counts (5)\n"
    "  --only TEXT  only the rows whose name contains TEXT\n"
    "  --text       with --only: rows of the text in memory, nothing is compressed first\n"
    "  --lines      a line per file instead of a table\n";

static bool is_wanted(const struct choices *choices, unsigned i)
{
    if (choices->lines)
        return stages[i].yardstick != YARD_NONE;
    return !choices->only || strstr(stages[i].name, choices->only);
}

static bool count_events(struct lap *lap, struct err *err)
{
    // If only some rows were chosen, nothing may have been counted yet.
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

static bool run_resident(struct results *results, struct err *err)
{
    struct resident resident;
    if (!resident_run(results->last.corpus->zstd_path, &resident, err))
        return false;
    if (!results->resident.took_ns || resident.took_ns < results->resident.took_ns)
        results->resident = resident;
    return true;
}

// Runs all rows once, so that a passing disturbance affects them alike.
static bool run_lap(const struct choices *choices, struct lap *lap, struct results *results,
                    struct err *err)
{
    for (unsigned i = 0; i < stage_count; i++) {
        int64_t took_ns = 0;
        if (!is_wanted(choices, i))
            continue;
        if (!stages[i].run(lap, &stages[i], &took_ns, err))
            return err_wrap(err, "%s", stages[i].name);
        if (took_ns > 0 && (results->best_ns[i] == 0 || took_ns < results->best_ns[i]))
            results->best_ns[i] = took_ns;
    }
    return count_events(lap, err) && (choices->only || run_resident(results, err));
}

static bool measure(const struct choices *choices, const char *path, struct results *results,
                    struct err *err)
{
    struct corpus corpus;
    if (!corpus_open(&corpus, path, choices->only_text, err))
        return false;
    bool ok = true;
    for (int i = 0; ok && i < choices->repeats; i++) {
        struct lap *lap = &results->last;
        lap_begin(lap, &corpus);
        ok = run_lap(choices, lap, results, err);
        lap_end(lap);
    }
    if (ok && choices->lines)
        table_print_line(path, results);
    else if (ok)
        table_print(path, results);
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

static bool parse(int argc, char **argv, struct choices *choices)
{
    static const struct option known[] = {{"repeat", required_argument, NULL, 'r'},
                                          {"only", required_argument, NULL, 'o'},
                                          {"lines", no_argument, NULL, 'l'},
                                          {"text", no_argument, NULL, 't'},
                                          {0}};
    *choices = (struct choices){.repeats = 5};
    for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (c == 'o')
            choices->only = optarg;
        else if (c == 'r')
            choices->repeats = (int)strtol(optarg, NULL, 10);
        else if (c == 'l')
            choices->lines = true;
        else if (c == 't')
            choices->only_text = true;
        else
            return false;
    }
    return optind < argc && choices->repeats >= 1 && !(choices->lines && choices->only) &&
           (choices->only || !choices->only_text);
}

int main(int argc, char **argv)
{
    struct choices choices;
    int status;
    if (resident_job(argc, argv, &status))
        return status;
    if (!parse(argc, argv, &choices)) {
        fputs(usage, stderr);
        return 2;
    }
#ifdef HAVE_SIMDJSON
    printf("simdjson uses %s\n", simdjson_pass_variant());
#endif
    if (choices.lines)
        table_print_line_head();
    bool ok = true;
    for (int i = optind; i < argc; i++)
        ok = measure_file(&choices, argv[i]) && ok;
    return ok ? 0 : 1;
}
