// SPDX-License-Identifier: Apache-2.0
// Lines that are sorted by time in runs, one after another, and then merged: for formats that want
// all ranks in one order. On disk, with a few kilobytes of memory for each run.
#ifndef SERVER_SORTED_SPILL_H
#define SERVER_SORTED_SPILL_H

#include "ingest/base/buf.h"

#define SPILL_MOST_LINE 512u

struct sorted_spill;

// Writes to the folder for temporary files until less than that is free there. ERR_SPACE. Pair with
// sorted_spill_free.
MUST_CHECK struct sorted_spill *sorted_spill_new(uint64_t min_free_bytes, struct err *err);
void sorted_spill_free(struct sorted_spill *spill); // NULL is allowed

// Starts a run; then adds its lines, which ascend in time.
MUST_CHECK bool sorted_spill_run(struct sorted_spill *spill, struct err *err);
MUST_CHECK bool sorted_spill_add(struct sorted_spill *spill, int64_t time_ns, struct str line,
                                 struct err *err);

uint64_t sorted_spill_bytes(const struct sorted_spill *spill); // of all lines

// After the last line; then the lines of all runs in order, each time some. *more: false at the
// end.
MUST_CHECK bool sorted_spill_merge(struct sorted_spill *spill, struct err *err);
MUST_CHECK bool sorted_spill_next(struct sorted_spill *spill, size_t bytes, struct buf *out,
                                  bool *more, struct err *err);

#endif
