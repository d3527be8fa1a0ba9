// SPDX-License-Identifier: Apache-2.0
// A sealed trace: what one file recorded, in columns. It never changes, so any thread may read it.
#ifndef INGEST_TRACE_TRACE_H
#define INGEST_TRACE_TRACE_H

#include "ingest/base/secret_tally.h"
#include "ingest/trace/event_kind.h"
#include "ingest/trace/strtab.h"

#define ARGS_NONE     UINT32_MAX // the event has no arguments
#define VALUE_ABSENT  INT64_MIN  // an integer the file does not give
#define TRACE_NO_RANK (-1)

// A process, thread, device or stream as named in the file: a number, or a text if text != 0.
struct label {
    int64_t number;
    str_id text;
};

// Events first .. first + count - 1 are on this row.
// TRACK_DEVICE: pid is the device, tid the stream, events sorted by (begin, end).
// Other families: pid and tid are process and thread, events sorted by (begin, -end), so that an
// event comes before those it encloses. Ties keep file order.
struct track {
    enum track_family family;
    struct label pid, tid;
    str_id name; // thread_name in the file, 0 if not given
    uint32_t first, count;
};

// How a kernel was launched or how much was copied; each distinct tuple is stored once.
struct launch_shape {
    int32_t grid[3], block[3]; // all 0 if not given
    int32_t registers;         // per thread, -1 if not given
    int32_t occupancy_percent; // estimated, -1 if not given
    int64_t shared_bytes;      // VALUE_ABSENT if not given
    int64_t bytes;             // of a copy or memset, VALUE_ABSENT if not given
};

// Arguments of a communication kernel as recorded; each distinct tuple is stored once.
struct collective {
    str_id name; // "allreduce", "_allgather_base", ...
    str_id dtype;
    str_id group, group_description, group_ranks;
    str_id in_splits, out_splits; // of all_to_allv, lists as text
    uint32_t reserved;            // 0: tuples are compared as bytes
    // VALUE_ABSENT if not given; start and stride give the group's ranks when the list is cut.
    int64_t in_elems, out_elems, group_size, rank_start, rank_stride;
    // The other side of a send or recv: its rank in the job and in the group; otherwise
    // VALUE_ABSENT.
    int64_t peer, peer_in_group;
};

// What an operator was called with, as raw unchecked JSON text (0 if not given); each distinct
// tuple is stored once.
struct op_inputs {
    str_id dims, types, strides, concrete; // lists with one item per argument
    str_id module;                         // "Module Hierarchy", a plain text
};

struct device_args {
    int64_t correlation; // VALUE_ABSENT if not given
    uint32_t shape;      // index into shapes
    uint32_t collective; // index into collectives, ARGS_NONE unless it has collective metadata
    uint32_t order;      // position of the event in the file, counting only kept events
    uint32_t sequence;   // number of the collective in its group, ARGS_NONE if not given
};

// PyTorch's Comms Id of a collective: the same on all ranks that take part, and unique to the call.
struct comms_id {
    uint32_t args; // index into device_args
    uint32_t id;   // folded to 32 bits, not 0
};

struct launch_args {
    int64_t correlation; // VALUE_ABSENT if not given
    uint32_t order;
    uint32_t copy; // index into copy_calls, ARGS_NONE if the call does not describe a copy
};

// The copy a call requested, as recorded by HIP; the device's record may lack this or differ. Each
// distinct pair is stored once.
struct copy_call {
    int64_t bytes;      // 0 if not given
    uint32_t direction; // enum copy_direction
    uint32_t reserved;  // 0: pairs are compared as bytes
};

struct op_args {
    int64_t sequence;    // links forward and backward operators, VALUE_ABSENT if not given
    uint32_t inputs;     // index into op_inputs, ARGS_NONE if nothing was recorded
    uint32_t collective; // of record_param_comms: index into collectives, else ARGS_NONE
};

// One allocation (bytes > 0) or release (bytes < 0) and the allocator's totals after it.
struct memory_args {
    int64_t address, bytes, allocated, reserved; // VALUE_ABSENT if not given
    int32_t device_type; // PyTorch's number: 0 CPU, 1 CUDA, 20 ..., -1 if absent
    int32_t device;      // index, -1 if absent or the host
    uint32_t order;
    uint32_t padding; // 0
};

// A counter's time series, identified by process, name and key.
struct counter {
    int64_t pid;              // VALUE_ABSENT when not given
    str_id pid_text, process; // pid_text: a process given as text; process: its name in the file,
                              // or 0
    str_id name, key;
    uint32_t first, count; // its samples
    uint32_t reserved[2];  // 0: counters are stored and compared as bytes
};

// A counter's value from a time on.
struct counter_sample {
    int64_t time_ns;
    double value;
};

// Which profiler made the recording. Stored in trace files: append only.
enum trace_recorder {
    RECORDER_PYTORCH, // and whatever else writes Chrome's JSON
    RECORDER_NSYS,    // Nsight Systems
    RECORDER_ROCM,    // rocprofv3 and its predecessors
    RECORDER_XLA,     // of JAX and TensorFlow
    RECORDER_EXTRAE,  // or another writer of Paraver traces
    RECORDER_COUNT
};

// "PyTorch profiler", ...
const char *trace_recorder_name(enum trace_recorder recorder);

// The job as far as the recording knows it; VALUE_ABSENT if not given.
struct trace_job {
    int64_t rank, world_size;
    int64_t base_ns;  // added to times gives those since 1970; VALUE_ABSENT: unknown
    int64_t recorder; // enum trace_recorder
};

// A device that the recording describes, not only those it used.
struct trace_device {
    int64_t id;                            // as in the events
    int64_t memory_bytes, multiprocessors; // VALUE_ABSENT if not given, like those below
    int64_t compute_major, compute_minor;
    str_id name;
    str_id address; // its UUID and PCI address, with a blank between if both are given
};

// A process group that the recording describes.
struct trace_group {
    str_id name, description;
    str_id ranks;      // a list as text, "[0, 1]"
    uint32_t reserved; // 0
    int64_t size;      // VALUE_ABSENT if not given
};

// The name of a collective that only starts one: the call is the wait at its end, and what happens
// in between is not recorded.
#define TRACE_ASYNC_START "async_start"

// The setting with what the profiler reported as errors and warnings; its number counts them.
#define TRACE_MESSAGES "profiler_messages"

// A setting of the job or of the profiler.
struct trace_setting {
    str_id key, text;
    int64_t number;  // the value of the text, VALUE_ABSENT if it is no number
    uint32_t unread; // 1: its value could not be understood
    uint32_t reserved;
};

// Event times stay within this on either side of 0, so that the sum of two never overflows.
#define TRACE_MAX_NS ((int64_t)1 << 61)
// Where times beyond it are moved, counted from the first of them: in 2006, before any recording,
// and at most this far from there.
#define TRACE_FAR_NS       ((int64_t)1 << 60)
#define TRACE_FAR_REACH_NS ((int64_t)1 << 55)

// What had to be repaired or left out while reading. Stored in trace files: append only.
enum repair {
    REPAIR_TRUNCATED,         // the file ends inside the events
    REPAIR_MALFORMED,         // an event that is not JSON, skipped up to the next one
    REPAIR_OVERSIZE,          // an event or value larger than the limit, skipped
    REPAIR_NOT_OBJECT,        // an item of the event list that is not an object
    REPAIR_INCOMPLETE,        // device, launch or operator event without ts, dur or name; left out
    REPAIR_INCOMPLETE_OTHER,  // any other event without ts or name; left out
    REPAIR_NO_DURATION,       // other complete event without dur; taken as 0
    REPAIR_NEGATIVE_DURATION, // host event that ends before it begins; taken as 0 long
    REPAIR_BAD_NUMBER,        // inf, nan, N/A or an overflow where a number was expected
    REPAIR_TEXT,              // a text with invalid UTF-8, escapes or control characters, repaired
    REPAIR_LONG_TEXT,         // a name or argument longer than 64 KiB, cut
    REPAIR_COMMA,             // a missing or surplus comma
    REPAIR_UNKNOWN_PHASE,     // an event without ph, or with an undefined one
    REPAIR_END_WITHOUT_BEGIN, // E without B; left out
    REPAIR_BEGIN_WITHOUT_END, // B without E; lasts to the end, device work is left out
    REPAIR_BYTE_ORDER_MARK,   // a UTF-8 mark before the first character
    REPAIR_TRAILING,          // bytes after the end of the document, left out
    REPAIR_METADATA,          // a top-level member that is too large to keep
    REPAIR_COMPRESSION,       // the compressed stream is cut or damaged; what came before counts
    REPAIR_ARGS,              // an operator whose args are not JSON; kept without them
    REPAIR_LONG_DURATION,     // host event that lasts over a day; taken as 0 long
    REPAIR_FAR_TIME,          // time beyond TRACE_MAX_NS; counted from the first such time in the
                              // file
    REPAIR_SECOND_LIST,       // another list of events in the file; read as one with the first
    REPAIR_LOG,               // a database without the log that has its last rows
    REPAIR_LOST,              // a warning of the profiler that it lost events
    REPAIR_DAMAGED,           // a database with pages that cannot be read
    REPAIR_COUNT
};

struct repair_note {
    uint64_t count;
    uint64_t first_pos; // byte offset of the first one in the decompressed text
};

// A one-line description of a repair for the trust report.
const char *repair_text(enum repair repair);
// Its stable word, as in the API: "truncated", "malformed", ...
const char *repair_word(enum repair repair);

struct trace {
    // Columns of event_count elements, grouped by track.
    uint32_t event_count;
    const int64_t *begin_ns; // as in the file: since its base time, or since 1970
    const int64_t *dur_ns;   // not negative for host events; device events as recorded
    const str_id *name;
    const uint8_t *kind;  // enum event_kind
    const uint32_t *args; // index into the args of the kind below, or ARGS_NONE

    const struct track *tracks;
    uint32_t track_count;
    const struct device_args *device_args;
    uint32_t device_args_count;
    const struct comms_id *comms_ids; // ascending by args
    uint32_t comms_id_count;
    const struct launch_args *launch_args;
    uint32_t launch_args_count;
    const struct op_args *op_args; // of operators that have any
    uint32_t op_args_count;
    const struct memory_args *memory_args;
    uint32_t memory_args_count;
    const struct launch_shape *shapes;
    uint32_t shape_count;
    const struct collective *collectives;
    uint32_t collective_count;
    const struct copy_call *copy_calls;
    uint32_t copy_call_count;
    const struct op_inputs *op_inputs;
    uint32_t op_inputs_count;
    struct trace_job job;
    const struct trace_device *devices;
    uint32_t device_count;
    const struct trace_group *groups; // ascending by the ids of their names, which are distinct
    uint32_t group_count;
    const struct trace_setting *settings; // as in the file
    uint32_t setting_count;
    const struct counter *counters;
    uint32_t counter_count;
    const struct counter_sample *counter_samples; // by counter, ascending in time
    uint32_t counter_sample_count;

    struct strtab strings;
    struct repair_note repairs[REPAIR_COUNT];
    struct secret_count secrets[SECRET_KINDS]; // in the document; texts here are redacted
    uint64_t input_events;                     // items in the file's event list of any kind
    uint64_t text_bytes;                       // decompressed size of the document

    struct budget *budget; // that the columns count against
};

static inline struct str trace_text(const struct trace *trace, str_id id)
{
    return strtab_get(&trace->strings, id);
}

// NULL if the recording does not have it.
const struct trace_setting *trace_setting_find(const struct trace *trace, struct str key);
const struct trace_group *trace_group_find(const struct trace *trace, str_id name);

// The Comms Id of a device event by its args, 0 if it has none.
uint32_t trace_comms_id(const struct trace *trace, uint32_t args);

void trace_free(struct trace *trace);

#endif
