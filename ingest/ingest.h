// SPDX-License-Identifier: Apache-2.0
// From a file of any known format and compression to a sealed trace.
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "ingest/format.h"

// Opens path, finds out what it is, reads it, seals it. Everything that stays is counted in budget,
// which outlives the trace. What is too much for the budget with helpers is read again without any.
// progress may be NULL. Free the result with trace_free.
MUST_CHECK struct trace *ingest_file(const char *path, struct budget *budget,
                                     struct progress *progress, struct err *err);

// The same of a descriptor from its begin, which stays the caller's.
MUST_CHECK struct trace *ingest_fd(int fd, struct budget *budget, struct progress *progress,
                                   struct err *err);

// The same from any source, which is closed in every case.
MUST_CHECK struct trace *ingest_source(struct source *source, struct budget *budget,
                                       struct progress *progress, struct err *err);

// The same of what format_open opened and found.
MUST_CHECK struct trace *ingest_opened(struct source *source, const struct format_found *found,
                                       struct budget *budget, struct progress *progress,
                                       struct err *err);

#endif
