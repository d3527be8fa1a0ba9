// SPDX-License-Identifier: Apache-2.0
// An input format: how to recognize it and how to read it into a trace builder.
#ifndef INGEST_FORMAT_H
#define INGEST_FORMAT_H

#include "ingest/base/cores.h"
#include "ingest/source.h"
#include "ingest/trace/trace_builder.h"

#include <stdatomic.h>

// What a reader reports to and obeys while it works; shared with other threads.
struct progress {
    _Atomic uint64_t done_bytes; // of the compressed input
    _Atomic bool cancel;
    struct cores *cores; // whose free ones may help; NULL: all on the calling thread
};

// What a reader reads, and what it fills.
struct format_input {
    struct source *source;
    struct str head; // the first bytes of the document, for messages; may be empty
    struct trace_builder *builder;
    struct budget *budget;     // of working memory
    struct progress *progress; // may be NULL
};

struct format {
    const char *name;        // "kineto"
    const char *description; // for people
    // True when the first bytes of the decompressed input look like this format.
    bool (*probe)(struct str head);
    // Reads everything into the builder. ERR_FORMAT, saying what was found, without one event.
    bool (*read)(const struct format_input *input, struct err *err);
};

// How many bytes a probe sees.
#define FORMAT_HEAD_BYTES ((size_t)4096)

// Finds the format by its first bytes; ERR_UNSUPPORTED names what was found and what can be read.
MUST_CHECK const struct format *format_probe(struct str head, struct err *err);

#endif
