// SPDX-License-Identifier: Apache-2.0
// The few texts that a window of the timeline needs.
#ifndef INGEST_TRACE_TIMELINE_NAMES_H
#define INGEST_TRACE_TIMELINE_NAMES_H

#include "ingest/trace/timeline.h"

// Reads the names of all slices and of the lanes' tracks, and replaces each id by its position
// here. Position 0 is the empty text. ERR_FORMAT.
MUST_CHECK bool timeline_names_read(const struct trace_file *file, struct arena *arena,
                                    struct timeline *timeline, struct err *err);

#endif
