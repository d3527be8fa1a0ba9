// SPDX-License-Identifier: Apache-2.0
// A log whose lines were changed by what stored them, as the program wrote it.
#ifndef INGEST_LOGS_LOG_REWRITER_H
#define INGEST_LOGS_LOG_REWRITER_H

#include "ingest/base/buf.h"
#include "ingest/source/lines.h"
#include "ingest/source/source.h"

struct log_rewriter {
    struct source source;
    struct source *below;
    struct lines lines;
    struct line line;
    // Adds what the program wrote of a line to `text`. False if its line goes on in the next.
    bool (*add)(struct log_rewriter *rewriter, struct str line);
    struct buf text;
    size_t taken; // of text
    bool in_line; // its end is still to come
    size_t width; // of a terminal, for `add`
};

// Takes over `below`, also on failure. What a damaged stream had comes before its error.
MUST_CHECK struct source *log_rewritten_open(struct source *below,
                                             bool (*add)(struct log_rewriter *rewriter,
                                                         struct str line),
                                             size_t width, struct err *err);

#endif
