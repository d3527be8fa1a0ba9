// SPDX-License-Identifier: Apache-2.0
// Rows that belong together: those of one thread, or of one stream.
#ifndef ANALYSIS_TRACK_PAIRS_H
#define ANALYSIS_TRACK_PAIRS_H

#include "ingest/base/arena.h"
#include "ingest/trace/trace.h"

// Per row of the trace: the row of that family with the same labels, or FACTS_NONE. The array lives
// in arena.
MUST_CHECK bool track_pairs_make(const struct trace *trace, enum track_family family,
                                 struct arena *arena, uint32_t **pairs, struct err *err);

// Index of the row that an event is on.
uint32_t track_of_event(const struct trace *trace, uint32_t event);

#endif
