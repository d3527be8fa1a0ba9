// SPDX-License-Identifier: Apache-2.0
// Collects the events found by a format reader and seals them into a trace.
#ifndef INGEST_TRACE_TRACE_BUILDER_H
#define INGEST_TRACE_TRACE_BUILDER_H

#include "ingest/base/cores.h"
#include "ingest/trace/trace.h"

struct trace_builder;

// One complete event as passed by a reader.
struct event_record {
    enum event_kind kind;
    str_id name;
    int64_t begin_ns, dur_ns;
    struct label pid, tid;        // device and stream for device kinds
    int64_t correlation;          // device and launch kinds; VALUE_ABSENT if not given
    int64_t sequence;             // operators, kernels; VALUE_ABSENT if not given
    uint32_t comms_id;            // device kinds; 0 if not given
    struct launch_shape shape;    // device kinds
    struct collective collective; // operators, kernels; name 0 if there is no metadata
    struct op_inputs inputs;      // operators
    struct copy_call copy;        // launch kinds; all 0 if the call does not describe a copy
    struct memory_args memory;    // allocations; order is set by the builder
};

// One value of a counter.
struct counter_record {
    struct label pid;
    str_id name, key;
    int64_t time_ns;
    double value;
};

// The thread number under which a process's name is stored.
#define TRACE_PROCESS_ROW (INT64_MIN + 1)

// budget outlives the builder and the trace it makes.
MUST_CHECK struct trace_builder *trace_builder_new(struct budget *budget, struct err *err);
void trace_builder_free(struct trace_builder *builder); // NULL is allowed

// The budget it counts memory against.
struct budget *trace_builder_budget(struct trace_builder *builder);

// The strings of the trace being built; ids stay valid in the sealed trace.
struct strtab *trace_builder_strings(struct trace_builder *builder);

// Untrusted text: cut at 64 KiB, repaired if it is not UTF-8, and redacted. pos is where it is in
// the input, for the repairs that this counts.
MUST_CHECK bool trace_builder_text(struct trace_builder *builder, struct str raw, uint64_t pos,
                                   str_id *id, struct err *err);

// Fails with ERR_LIMIT beyond the budget or 2^32 - 2 events.
MUST_CHECK bool trace_builder_add(struct trace_builder *builder, const struct event_record *event,
                                  struct err *err);

// A value that is no number, or at no time that a trace can have, is left out and counted.
MUST_CHECK bool trace_builder_count(struct trace_builder *builder,
                                    const struct counter_record *counter, struct err *err);

// Stores the name of a thread or a process; the first one counts.
MUST_CHECK bool trace_builder_name_thread(struct trace_builder *builder, struct label pid,
                                          struct label tid, str_id name, struct err *err);

// Facts about the job are added by the reader itself: a part that is absorbed has none.
// VALUE_ABSENT leaves a rank or size as it is.
void trace_builder_rank(struct trace_builder *builder, int64_t rank, int64_t world_size);
// By default PyTorch's.
void trace_builder_recorder(struct trace_builder *builder, enum trace_recorder recorder);
// VALUE_ABSENT: times count from an unknown time. Otherwise, and by default, base_ns after 1970.
void trace_builder_base(struct trace_builder *builder, int64_t base_ns);
MUST_CHECK bool trace_builder_device(struct trace_builder *builder,
                                     const struct trace_device *device, struct err *err);
// Replaces the number of each device that has events or counters. Nothing may be added after that.
typedef int64_t device_number(const void *context, int64_t number);
void trace_builder_renumber(struct trace_builder *builder, device_number *number,
                            const void *context);
// Replaces an earlier one of the same name.
MUST_CHECK bool trace_builder_group(struct trace_builder *builder, const struct trace_group *group,
                                    struct err *err);
MUST_CHECK bool trace_builder_setting(struct trace_builder *builder,
                                      const struct trace_setting *setting, struct err *err);

// Counts one repair at a byte position of the decompressed input.
void trace_builder_repair(struct trace_builder *builder, enum repair repair, uint64_t pos);

// Counts items of the event list.
void trace_builder_count_input(struct trace_builder *builder, uint64_t events, uint64_t text_bytes);

// Latest end of all events so far, 0 if there are none.
int64_t trace_builder_last_ns(const struct trace_builder *builder);

// Appends what a part collected and empties it: its events, in order, as if they had been added
// here one by one. The part's texts and tables stay known to both sides, so a part that goes on
// collecting is cheap to absorb again. A part must always go into the same builder. After a failure
// (ERR_LIMIT) neither may be used.
MUST_CHECK bool trace_builder_absorb(struct trace_builder *builder, struct trace_builder *part,
                                     struct err *err);

// Free cores that help to seal; NULL for none.
void trace_builder_use(struct trace_builder *builder, struct cores *cores);

// Sorts and freezes. The builder is consumed, even on failure. Free with trace_free.
MUST_CHECK struct trace *trace_builder_seal(struct trace_builder *builder, struct err *err);

#endif
