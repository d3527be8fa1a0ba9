// SPDX-License-Identifier: Apache-2.0
// The rows of work of devices: one rule for all outputs of rocprofv3.
#ifndef INGEST_ROCM_ROCM_ROWS_H
#define INGEST_ROCM_ROCM_ROWS_H

#include "ingest/trace/trace_builder.h"

enum { ROCM_MOST_DEVICES = 256 };

// Where work ran.
struct rocm_place {
    int64_t device;
    int64_t stream;       // of HIP; 0: the default one or not known, less: streams are not recorded
    int64_t queue;        // 0 or less: not known
    struct str direction; // of a copy; empty: a kernel
};

struct rocm_rows {
    // By device, of the kernels on stream 0 so far; 0: there were none, -1: they were on several.
    int64_t default_queue[ROCM_MOST_DEVICES];
    int64_t named_queue; // the last that got a name, which is mostly the next one, too
    str_id queue_name;   // 0: none did
};

// The row of work: its HIP stream, whose kernels and copies run in order whatever queue each takes,
// else its queue. Copies have no queue. Those on stream 0 are in that of the kernels on stream 0,
// which come first, if it is a single one, so that it is the default stream's. Other copies are by
// direction, as they may run beside one another.
MUST_CHECK bool rocm_row_of(struct rocm_rows *rows, struct trace_builder *builder,
                            const struct rocm_place *place, struct label *row, struct err *err);

#endif
