// SPDX-License-Identifier: Apache-2.0
// Hands the result of one stage to the next.
#include "tests/bench/lap.h"
#include "ingest/base/clock.h"
#include "ingest/kineto/format_kineto.h"

#include <time.h>

static const struct analysis_options options = {.warmup_steps = -1};

void lap_begin(struct lap *lap, const struct corpus *corpus)
{
    *lap = (struct lap){.corpus = corpus, .simdjson = lap->simdjson, .cpu_time = lap->cpu_time};
    arena_init(&lap->facts_arena, &lap->budget);
    arena_init(&lap->report_arena, NULL);
    lap->report.arena = &lap->report_arena;
}

void lap_end(struct lap *lap)
{
    arena_free(&lap->facts_arena);
    arena_free(&lap->report_arena);
    trace_builder_free(lap->builder);
    if (lap->trace)
        trace_free(lap->trace);
    lap->builder = NULL;
    lap->trace = NULL;
}

int64_t lap_now_ns(const struct lap *lap)
{
    struct timespec now;
    if (!lap->cpu_time || clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
        return clock_mono_ns();
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

bool lap_scan(struct lap *lap, struct source *source, struct err *err)
{
    lap->builder = trace_builder_new(&lap->budget, err);
    struct format_input input = {.source = source, .builder = lap->builder, .budget = &lap->budget};
    bool ok = lap->builder && format_kineto.read(&input, err);
    source_close(source);
    if (!ok) {
        trace_builder_free(lap->builder);
        lap->builder = NULL;
    }
    return ok;
}

bool lap_need_builder(struct lap *lap, struct err *err)
{
    if (lap->builder)
        return true;
    struct source *source = corpus_read(lap->corpus, err);
    return source && lap_scan(lap, source, err);
}

bool lap_need_trace(struct lap *lap, struct err *err)
{
    if (lap->trace)
        return true;
    if (!lap_need_builder(lap, err))
        return false;
    lap->trace = trace_builder_seal(lap->builder, err);
    lap->builder = NULL;
    return lap->trace != NULL;
}

bool lap_need_facts(struct lap *lap, struct err *err)
{
    if (!lap->has_facts)
        lap->has_facts = lap_need_trace(lap, err) &&
                         facts_make(lap->trace, &options, &lap->facts_arena, &lap->facts, err);
    return lap->has_facts;
}
