// SPDX-License-Identifier: Apache-2.0
// What a memory snapshot of PyTorch's allocator says: the segments that it reserved from devices,
// and the allocations that its ring buffer still had, replayed while the file is read. Only the
// allocations in use are kept, so a file of any length takes little memory.
//
// The ring may have lost how the job started: what was allocated before its first record follows
// from what is allocated at the end, which is known once the whole file was read.
#ifndef INGEST_EVIDENCE_MEMORY_SNAPSHOT_H
#define INGEST_EVIDENCE_MEMORY_SNAPSHOT_H

#include "ingest/evidence/level_curve.h"
#include "ingest/evidence/live_blocks.h"
#include "ingest/evidence/snapshot_sums.h"
#include "ingest/trace/strtab.h"

struct evidence;
struct figures;

// What memory is for, as far as the calls that allocated it tell.
enum snapshot_category {
    SNAPSHOT_UNKNOWN, // without a call
    SNAPSHOT_WEIGHTS,
    SNAPSHOT_GRADIENTS, // allocated during the backward pass
    SNAPSHOT_OPTIMIZER,
    SNAPSHOT_ACTIVATIONS, // allocated during the forward pass
    SNAPSHOT_INPUTS,
    SNAPSHOT_OTHER,
    SNAPSHOT_CATEGORIES
};
extern const char *const snapshot_category_words[SNAPSHOT_CATEGORIES];

// What is in use of the allocations from one stack.
struct snapshot_use {
    int64_t bytes, blocks;
};

struct snapshot_site {
    struct snapshot_use now, oom;         // oom: at the last one
    struct snapshot_use before_change;    // the first time after the peak of that number
    uint64_t peak;                        // its number
    int64_t allocations, allocated_bytes; // all that were recorded
};

struct snapshot_oom {
    uint32_t device, stack;
    int64_t time_us, size, device_free;
    int64_t allocated, reserved; // above what they were before the recording
};

struct snapshot_device {
    // replayed, from 0 at the first record
    int64_t events, allocated, reserved, peak, peak_reserved;
    int64_t first_us, last_us, peak_us;
    uint64_t peaks; // how many so far, at least 1
    struct level_curve curve;
    struct snapshot_site *sites; // by stack
    size_t site_cap;
    // segments at the end
    int64_t segments, total, in_use, active, free_blocks, largest_free, releasable;
    int64_t ooms;
    bool incomplete; // events are missing: what was allocated over time is not known
};

// A block at the end.
struct snapshot_block {
    uint64_t address;
    int64_t size;
    uint32_t device, stack;
    bool in_use;
};

// A mark that a profiler or optimizer left: where a step starts.
struct snapshot_mark {
    int64_t time_us;
    uint32_t device;
    bool step; // of the profiler; else of an optimizer
};

struct memory_snapshot {
    int64_t rank;             // by the name of the file; -1 unknown
    bool untimed, incomplete; // incomplete: a device is
    struct snapshot_sums sums;
    bool has_frames;
    struct strtab texts;            // of stacks; fit to be stored
    enum snapshot_category *stacks; // category of each stack of calls
    size_t stack_count, stack_cap;
    struct snapshot_device *devices[SNAPSHOT_MOST_DEVICES]; // NULL: nothing is known of it
    struct live_blocks live;                                // at the end, of those recorded
    struct snapshot_block *blocks;
    size_t block_count, block_cap, block_settled; // settled: whose segment is known
    struct snapshot_oom *ooms;
    size_t oom_count, oom_cap;
    struct snapshot_mark *marks;
    size_t mark_count, mark_cap;
};

// The rank in the name of a snapshot: "rank3_memory_snapshot.pickle", "000003_step_10.pickle"; -1
// if there is none.
int64_t snapshot_rank_of_name(struct str filename);

// NULL is allowed.
void memory_snapshot_free(struct memory_snapshot *snapshot, struct budget *budget);

// --- filling ------------------------------------------------------------------------------------

enum { SNAPSHOT_NO_STACK }; // the stack without a call

// ERR_LIMIT past the budget, as all below.
MUST_CHECK bool memory_snapshot_start(struct evidence *evidence, struct str filename,
                                      struct err *err);
// The stack of these frames, of untrusted text.
MUST_CHECK bool memory_snapshot_stack(struct evidence *evidence, struct str frames,
                                      enum snapshot_category category, uint32_t *stack,
                                      struct err *err);

// A block of the segment that comes next; without an address, right after the block before it.
struct snapshot_block_record {
    uint64_t address;
    int64_t size;
    unsigned state; // its place
    uint32_t stack;
};
MUST_CHECK bool memory_snapshot_block(struct evidence *evidence,
                                      const struct snapshot_block_record *block, struct err *err);
MUST_CHECK bool memory_snapshot_segment(struct evidence *evidence,
                                        const struct snapshot_segment *segment, struct err *err);

struct snapshot_event {
    uint64_t address;
    int64_t device, size, time_us; // time_us 0: unknown
    int64_t device_free;           // of an OOM
    unsigned action;               // its place
    uint32_t stack;
};
MUST_CHECK bool memory_snapshot_event(struct evidence *evidence, const struct snapshot_event *event,
                                      struct err *err);

// start: whether something starts, not ends.
struct snapshot_annotation {
    struct str name;
    bool start;
    int64_t device, time_us;
};
MUST_CHECK bool memory_snapshot_annotation(struct evidence *evidence,
                                           const struct snapshot_annotation *annotation,
                                           struct err *err);

// After all of it. traces: how many lists of events there were, a profile's last one of the host.
void memory_snapshot_done(struct evidence *evidence, size_t traces);

// --- outcome -------------------------------------------------------------------------------------

// Whether it is known what was allocated over time.
bool snapshot_is_replayed(const struct snapshot_device *device);
// Its calls, innermost first.
struct str snapshot_frames(const struct memory_snapshot *snapshot, uint32_t stack);
enum snapshot_category snapshot_category_of(const struct memory_snapshot *snapshot, uint32_t stack);

// In use at the device's peak.
struct snapshot_use snapshot_use_at_peak(const struct snapshot_device *device,
                                         const struct snapshot_site *site);
// Allocated and reserved before the first record.
int64_t snapshot_allocated_before(const struct memory_snapshot *snapshot, uint32_t device);
int64_t snapshot_reserved_before(const struct snapshot_device *device);
// Adds what the blocks at the end that were allocated before the first record hold of a device, by
// stack: as many as there are stacks.
void snapshot_add_before(const struct memory_snapshot *snapshot, uint32_t device,
                         struct snapshot_use *by_stack);

#endif
