// SPDX-License-Identifier: Apache-2.0
// From a file of any known format and compression to a sealed trace.
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "ingest/source/format.h"
#include "ingest/source/source.h"

// Opens path, detects its format, reads and seals it. Everything that is kept counts in budget,
// which outlives the trace. If the budget is too small to read with helpers, the file is read again
// without. progress may be NULL. Free the result with trace_free.
MUST_CHECK struct trace *ingest_file(const char *path, struct budget *budget,
                                     struct progress *progress, struct err *err);

// Which part of which file to read.
struct ingest_from {
    int fd;       // from its start; it remains the caller's
    int64_t part; // one of its processes; FORMAT_WHOLE if it has one
    struct scratch scratch;
    struct str filename; // for what is known by its name; may be empty
};
MUST_CHECK struct trace *ingest_fd(const struct ingest_from *from, struct budget *budget,
                                   struct progress *progress, struct err *err);

// Same for any source, which is always closed.
MUST_CHECK struct trace *ingest_source(struct source *source, struct budget *budget,
                                       struct progress *progress, struct err *err);

// Same for what format_open opened and found; found->part says which process to read.
MUST_CHECK struct trace *ingest_opened(struct source *source, const struct format_found *found,
                                       struct budget *budget, struct progress *progress,
                                       struct err *err);

// Reads what a file that is no trace says about its run. ERR_FORMAT if it says nothing.
MUST_CHECK bool ingest_evidence(const struct ingest_from *from, struct evidence *evidence,
                                struct progress *progress, struct err *err);

#endif
