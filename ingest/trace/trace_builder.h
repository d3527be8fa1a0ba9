// SPDX-License-Identifier: Apache-2.0
// Collects the events that a format reader finds and seals them into a trace.
#ifndef INGEST_TRACE_TRACE_BUILDER_H
#define INGEST_TRACE_TRACE_BUILDER_H

#include "ingest/base/cores.h"
#include "ingest/trace/trace.h"

struct trace_builder;

// One complete event, as a reader hands it over.
struct event_record {
    enum event_kind kind;
    str_id name;
    int64_t begin_ns, dur_ns;
    struct label pid, tid;        // device and stream for device kinds
    int64_t correlation;          // device and launch kinds; VALUE_ABSENT when not given
    int64_t sequence;             // operators, kernels; VALUE_ABSENT when not given
    uint32_t comms_id;            // device kinds; 0 when not given
    struct launch_shape shape;    // device kinds
    struct collective collective; // operators, kernels; name 0 when it carries no metadata
    struct op_inputs inputs;      // operators
    struct copy_call copy;        // launch kinds; all 0 when the call says nothing of a copy
    struct memory_args memory;    // allocations; order is set by the builder
};

// One value of a counter.
struct counter_record {
    struct label pid;
    str_id name, key;
    int64_t time_ns;
    double value;
};

// A thread's number under which the name of its process is noted.
#define TRACE_PROCESS_ROW (INT64_MIN + 1)

// budget outlives the builder and the trace it makes.
MUST_CHECK struct trace_builder *trace_builder_new(struct budget *budget, struct err *err);
void trace_builder_free(struct trace_builder *builder); // NULL is allowed

// What it counts its memory in.
struct budget *trace_builder_budget(struct trace_builder *builder);

// The strings of the trace being built; ids stay valid in the sealed trace.
struct strtab *trace_builder_strings(struct trace_builder *builder);

// Fails with ERR_LIMIT when the budget or 2^32 - 2 events are passed.
MUST_CHECK bool trace_builder_add(struct trace_builder *builder, const struct event_record *event,
                                  struct err *err);

MUST_CHECK bool trace_builder_count(struct trace_builder *builder,
                                    const struct counter_record *counter, struct err *err);

// Notes a thread_name row, or that of a process; the first one counts.
MUST_CHECK bool trace_builder_name_thread(struct trace_builder *builder, struct label pid,
                                          struct label tid, str_id name, struct err *err);

// Notes a top-level member of the file; a later one of the same key replaces it.
MUST_CHECK bool trace_builder_member(struct trace_builder *builder, str_id key, str_id text,
                                     struct err *err);

// Counts one repair at a byte position of the decompressed input.
void trace_builder_repair(struct trace_builder *builder, enum repair repair, uint64_t pos);

// Counts items of the event list.
void trace_builder_count_input(struct trace_builder *builder, uint64_t events, uint64_t text_bytes);

// Latest end of all events so far, 0 without any.
int64_t trace_builder_last_ns(const struct trace_builder *builder);

// Appends what a part collected and leaves it without: its events, in order, as if they had been
// added here one by one. Texts and tables of the part stay known to it, and to this builder, so
// that a part that goes on collecting is absorbed at little cost. A part goes into one builder
// only. On failure (ERR_LIMIT) neither is of use any more.
MUST_CHECK bool trace_builder_absorb(struct trace_builder *builder, struct trace_builder *part,
                                     struct err *err);

// Free cores of these help to seal; NULL for none.
void trace_builder_use(struct trace_builder *builder, struct cores *cores);

// Sorts and freezes. The builder is used up, also on failure. Free with trace_free.
MUST_CHECK struct trace *trace_builder_seal(struct trace_builder *builder, struct err *err);

#endif
