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

struct format {
    const char *name;        // "kineto"
    const char *description; // for people
    // True when the first bytes of the decompressed input look like this format.
    bool (*probe)(struct str head);
    // Reads everything into the builder; working memory is counted in budget. progress may be NULL.
    bool (*read)(struct source *source, struct trace_builder *builder, struct budget *budget,
                 struct progress *progress, struct err *err);
};

// How many bytes a probe sees.
#define FORMAT_HEAD_BYTES ((size_t)4096)

// Finds the format by its first bytes; ERR_UNSUPPORTED names what was found and what can be read.
MUST_CHECK const struct format *format_probe(struct str head, struct err *err);

#endif
