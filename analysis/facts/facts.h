// SPDX-License-Identifier: Apache-2.0
// What several analyses need, computed once per trace: the device events that count, their launches
// and operators, and the steps. This takes half of the time of all analyses, because every host
// event is walked here, once, so that no analysis has to walk them again.
#ifndef ANALYSIS_FACTS_H
#define ANALYSIS_FACTS_H

#include "analysis/facts/analysis_options.h"
#include "analysis/facts/identity.h"
#include "analysis/names/parts.h"

#define FACTS_NONE        UINT32_MAX
#define FACTS_DEVICE_ROWS 4096 // in tables by device: only damaged files have more

// A device event after quarantine and clipping.
struct device_event {
    int64_t begin_ns, end_ns;
    int64_t owned_ns; // over the whole window; sums to the unions (sweep.h)
    uint32_t event;   // index into the trace's columns
    uint32_t launch;  // index into facts.launches, FACTS_NONE without one
    uint32_t track;   // its stream: index into the trace's tracks
    uint32_t step;    // index into facts.steps of the step it belongs to, or FACTS_NONE
    uint32_t next;    // next event of the same launch, or FACTS_NONE
    uint8_t class;    // enum device_class
    uint8_t category; // enum category
    uint8_t bar;      // enum bar
};

// A runtime or driver call with the correlation of at least one device event.
struct launch {
    uint32_t event;    // index into the trace's columns
    uint32_t op;       // innermost enclosing operator: index into the columns, or FACTS_NONE
    uint32_t first;    // first of its device events by begin; continue with device_event.next
    uint32_t count;    // of its device events, at least 1
    uint32_t frame;    // innermost Python frame around it: index into the columns, or FACTS_NONE
    uint32_t forward;  // of a backward operator: the forward operator, or FACTS_NONE
    uint32_t module;   // index into facts.modules of the module it works for; 0: none
    bool backward;     // launched by the autograd engine's backward
    bool recompute;    // launched by a forward that activation checkpointing repeats
    uint8_t attention; // enum attention_role (attention.h): its role in an unfused attention
};

// One instance of an nn.Module within its parents; 0 is the root, outside all modules.
struct module {
    uint32_t parent; // lower than its own index; 0 for top-level modules and the root
    uint32_t depth;  // 0 for the root
    struct str name; // "Linear_3", or "conv1(Conv2d)" in a hierarchy: a slice of the trace's texts
    uint64_t calls;  // of its forward, not counting repeats by checkpointing
};

struct step {
    int64_t number;
    str_id name; // of the mark, 0 for the whole window
    int64_t mark_begin_ns, mark_end_ns;
    int64_t begin_ns, end_ns; // on the device; equal if it has no time there
    bool steady;
    bool early;         // steady, but of many leading steps that take another time
    const char *reason; // why it is not steady, NULL if it is
};

// Device events that were left out or clipped.
struct quarantine {
    uint64_t implausible, clipped;
    int64_t implausible_ns, clipped_ns; // time left out; impossible durations count as 0
};

struct gap;      // analysis/facts/gaps.h
struct op_calls; // analysis/facts/op_calls.h

// In time order, disjoint.
struct gap_list {
    struct gap *gaps;
    uint32_t count;
};

struct facts {
    const struct trace *trace;
    const struct analysis_options *options;
    struct identity identity;
    struct arena *arena;   // of the facts, counted in the budget
    struct budget *budget; // the trace's

    struct device_event *devices; // by begin, then order in the file
    uint32_t device_count;
    int64_t *steady_owned_ns; // per device event: the part of owned_ns in steady steps
    struct launch *launches;  // by event
    uint32_t launch_count;
    uint32_t *op_parent; // per event of the host: the innermost operator around it, or FACTS_NONE
    const struct op_calls *calls; // launches by operator call
    struct module *modules;       // at least the root
    uint32_t module_count;
    uint32_t *frame_state;    // per event, of Python frames (context.h); NULL without any
    uint32_t linked;          // device events with a launch
    int64_t begin_ns, end_ns; // window
    uint32_t stream_count;
    struct label *gpus; // distinct devices in order of their first events (only_device.h)
    uint32_t gpu_count;
    uint32_t *track_gpu;   // per track of the trace: index into gpus, for tracks of devices
    uint32_t *gpu_devices; // device events by device, g's in gpu_first[g] .. gpu_first[g + 1] - 1
    uint32_t *gpu_first;
    uint32_t *class_devices; // same by class, c's in class_first[c] .. class_first[c + 1] - 1
    uint32_t class_first[DEVICE_CLASS_COUNT + 1];
    struct gap_list gaps;      // of all devices merged
    struct gap_list *gpu_gaps; // per device; NULL with one device, as its gaps are those above
    struct quarantine quarantine;
    uint64_t launches_without_events; // launching calls without a device event
    int64_t cut_ns;                   // of the first of them after all others, or INT64_MAX
    bool is_part;                     // of some of the device events only (facts_within.h)
    bool waits_only; // transfers are recorded only where they start and are waited for

    struct step *steps; // ascending, disjoint on the device
    uint32_t step_count, steady_count;
    bool marked;           // steps come from marks; otherwise the whole window is one step
    uint32_t joined_marks; // marks of a step that another mark mostly covers
    uint32_t main_track;   // the stream that bounds steps, FACTS_NONE without marks

    struct parts whole;                         // of the window, all devices merged
    struct parts steady;                        // of the steady steps together
    struct parts *step_parts;                   // per step
    int64_t steady_category_ns[CATEGORY_COUNT]; // owned time in the steady steps
};

// Computes the facts; *facts holds memory of arena. ERR_LIMIT beyond the trace's budget.
MUST_CHECK bool facts_make(const struct trace *trace, const struct analysis_options *options,
                           struct arena *arena, struct facts *facts, struct err *err);

// Fill class_devices and class_first, or gpu_devices and gpu_first, from the devices.
MUST_CHECK bool facts_list_classes(struct facts *facts, struct err *err);
MUST_CHECK bool facts_list_gpus(struct facts *facts, struct err *err);

// End of any event, clamped at the largest number.
int64_t facts_event_end(const struct trace *trace, uint32_t event);

// How many device events begin before a time: the first that does not is next in facts->devices.
uint32_t facts_devices_before(const struct facts *facts, int64_t time_ns);

// The launch by a call (index into the columns), FACTS_NONE: it launched nothing.
uint32_t facts_launch_by(const struct facts *facts, uint32_t call);

// Whether a device event belongs to a steady step.
bool facts_is_steady(const struct facts *facts, uint32_t device);

// Name of a device event, and of the operator that launched it (0 without).
str_id facts_device_name(const struct facts *facts, uint32_t device);
str_id facts_device_op(const struct facts *facts, uint32_t device);

// How a device event was launched, or what it copied; all absent if nothing was recorded. The grid
// is in blocks, also where HIP was given work items.
struct launch_shape facts_launch_shape(const struct facts *facts, uint32_t device);

// Whose free ones may help; NULL: none.
struct cores *facts_cores(const struct facts *facts);

// The start of a name, whole characters of at most 64 bytes: enough to distinguish calls and
// copies, so that the long names of hostile files cost no time on each occurrence.
struct str facts_short_name(const struct trace *trace, str_id name);

// "0", "cuda:1", ...: the label as in the file. Buffer of at least 32 bytes for numbers.
struct str facts_label(const struct trace *trace, struct label label, char text[32]);

#endif
