// SPDX-License-Identifier: Apache-2.0
// The calls around an allocation: the few to show, and what they say the memory is for.
#ifndef INGEST_TORCH_SNAPSHOT_CALLS_H
#define INGEST_TORCH_SNAPSHOT_CALLS_H

#include "ingest/source/evidence_count.h"
#include "ingest/torch/call_frames.h"

// Starts as zeros and stays for all stacks of a file.
struct snapshot_calls {
    struct buf shown, inner; // the user's own; the innermost of libraries
    struct buf operators;    // the innermost that compiled code names: autograd has no other calls
    unsigned users, count, operator_count;
    enum snapshot_category category;
};

void snapshot_calls_free(struct snapshot_calls *calls);

void snapshot_calls_open(struct snapshot_calls *calls);
// The innermost call first.
void snapshot_calls_add(struct snapshot_calls *calls, const struct call_frame *frame);
MUST_CHECK bool snapshot_calls_close(struct snapshot_calls *calls, struct evidence *evidence,
                                     uint32_t *stack, struct err *err);

// What inspect shows of a snapshot that `gather` reads.
MUST_CHECK bool snapshot_count(const struct format_input *input, evidence_gather *gather,
                               struct err *err);

#endif
