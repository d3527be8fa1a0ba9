// SPDX-License-Identifier: Apache-2.0
// What the segments, blocks and recorded allocations of a memory snapshot add up to, whatever it is
// written in.
#ifndef INGEST_EVIDENCE_SNAPSHOT_SUMS_H
#define INGEST_EVIDENCE_SNAPSHOT_SUMS_H

#include "ingest/base/figures.h"

enum { SNAPSHOT_MOST_DEVICES = 256, SNAPSHOT_MOST_WORDS = 11 };

// Members of which snapshots hold one of a few words.
enum snapshot_word { WORD_SEGMENT_TYPE, WORD_STATE, WORD_ACTION, SNAPSHOT_WORDS };

// The place of a word among those known; the last for any other, also for none.
unsigned snapshot_place(enum snapshot_word member, struct str word);

// Whether blocks of that state are in use, or about to be free.
bool snapshot_is_in_use(unsigned state);

// What an action does to a device.
enum snapshot_effect {
    SNAPSHOT_NO_EFFECT,
    SNAPSHOT_ALLOC,
    SNAPSHOT_FREE,
    SNAPSHOT_RESERVE,
    SNAPSHOT_RELEASE,
    SNAPSHOT_OOM
};
enum snapshot_effect snapshot_effect(unsigned action);

struct word_counts {
    int64_t at[SNAPSHOT_MOST_WORDS];
};

// Of a device, from 0 at the first event that the ring still has.
struct trace_sums {
    int64_t events, net, peak, lowest;
    int64_t asked, freed; // sizes whose free was requested, and completed
    struct word_counts actions;
};

// Starts as zeros.
struct snapshot_sums {
    int64_t segments, reserved, allocated, active, blocks, largest_inactive, annotations;
    // at the end; active: also what awaits its free
    int64_t allocated_on[SNAPSHOT_MOST_DEVICES], active_on[SNAPSHOT_MOST_DEVICES];
    // how much larger blocks at the end are than the requests that were recorded for them
    int64_t rounded_on[SNAPSHOT_MOST_DEVICES];
    struct trace_sums traces[SNAPSHOT_MOST_DEVICES];
    struct word_counts types, states;
    bool profiled; // nothing is known of segments and free blocks
};

// Sizes are in bytes, none below 0. A profile has no segments of the allocator: for each device,
// one from the lowest to the highest address in use, without the sizes allocated and active.
struct snapshot_segment {
    uint64_t address;
    int64_t device, total_size, allocated_size, active_size;
    unsigned type;            // its place
    bool expandable, private; // private: a CUDA graph or a MemPool alone uses it
    bool profiled;
};

// A block of a segment, or an event of a device.
struct snapshot_change {
    int64_t size;
    unsigned word; // the place of its state or action
};

// What was allocated before the first record: of blocks at the end, less what was recorded.
// Nothing, if they are what was recorded but for the rounding of their sizes.
int64_t snapshot_before(const struct snapshot_sums *sums, int64_t device, int64_t net);

void snapshot_add_segment(struct snapshot_sums *sums, const struct snapshot_segment *segment);
void snapshot_add_block(struct snapshot_sums *sums, const struct snapshot_change *block);
// Devices past the limit are left out.
void snapshot_add_event(struct snapshot_sums *sums, int64_t device,
                        const struct snapshot_change *event);
// Takes the allocations of a device off.
void snapshot_drop(struct snapshot_sums *sums, uint32_t device);
// Takes off what the events of a device say it had allocated.
void snapshot_forget(struct snapshot_sums *sums, uint32_t device);
void snapshot_report(const struct snapshot_sums *sums, struct figures *figures);

#endif
