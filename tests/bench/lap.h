// SPDX-License-Identifier: Apache-2.0
// One pass over the stages of a trace job: each stage's result is available to the next.
#ifndef BENCH_LAP_H
#define BENCH_LAP_H

#include "analysis/facts/facts.h"
#include "ingest/source/source.h"
#include "tests/bench/corpus.h"
#include "tests/bench/simdjson_pass.h"

// Memory of a whole job as counted by its budget.
struct job_memory {
    uint64_t ingest_peak_bytes; // until the trace is sealed
    uint64_t job_peak_bytes;    // until it is analyzed
    uint64_t string_bytes;
    uint64_t kept_bytes; // the sealed trace with its strings
};

struct lap {
    const struct corpus *corpus;
    bool cpu_time;                  // measure CPU time, which other programs hardly change
    struct simdjson_pass *simdjson; // kept across laps
    uint64_t sink;                  // takes results, so that no work can be optimized away
    uint64_t event_count;           // items of the event list
    uint64_t kept_count;            // of those, in the sealed trace
    uint64_t simdjson_events;       // what simdjson counted
    uint64_t json_bytes;            // size of the text once decompressed
    uint64_t trace_file_bytes;
    struct job_memory memory;

    // Made by the first stage that needs them; freed by lap_end.
    struct budget budget;
    struct trace_builder *builder;
    struct trace *trace;
    struct arena facts_arena, report_arena;
    bool has_facts;
    struct facts facts;
    struct report report;
};

// Keeps what is shared by all laps: simdjson and cpu_time.
void lap_begin(struct lap *lap, const struct corpus *corpus);
void lap_end(struct lap *lap);

// The clock used to time stages.
int64_t lap_now_ns(const struct lap *lap);

// Each makes what is not there yet.
MUST_CHECK bool lap_need_builder(struct lap *lap, struct err *err);
MUST_CHECK bool lap_need_trace(struct lap *lap, struct err *err);
MUST_CHECK bool lap_need_facts(struct lap *lap, struct err *err);

// Reads the source, which is closed, into a new builder. False leaves no builder.
MUST_CHECK bool lap_scan(struct lap *lap, struct source *source, struct err *err);

#endif
