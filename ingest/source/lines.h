// SPDX-License-Identifier: Apache-2.0
// Lines of text from a stream, one at a time; LF or CRLF ends one. NUL bytes are passed as if they
// were not there: a log that is emptied while its job writes on, or whose node crashed, has holes
// of them.
#ifndef INGEST_SOURCE_LINES_H
#define INGEST_SOURCE_LINES_H

#include "ingest/base/fuzzed.h"
#include "ingest/base/budget.h"
#include "ingest/source/source.h"

// What is beyond it in a line is left out.
#define LINES_MAX_BYTES ((size_t)FUZZED_SIZE(1 << 20, 16 << 10))

// What lines_next_many gives of the text after its lines, unless the stream ends before.
#define LINES_AFTER_BYTES ((size_t)512)

struct line {
    struct str text;    // without its end; lives until the next line
    uint64_t pos;       // of its first byte, without NUL bytes before it
    bool cut;           // the line is longer
    size_t after_bytes; // after the text, in lines that come next
};

struct lines {
    struct source *source;
    struct budget *budget;
    char *bytes;
    size_t from, to; // of the bytes that were not taken
    uint64_t pos;    // of bytes[from]
    bool ended;
    uint64_t nul_bytes; // that were passed
    struct err damage;  // why a damaged stream ended early, ERR_NONE otherwise
};

// The source stays the caller's. Pair with lines_close, also on failure.
MUST_CHECK bool lines_open(struct lines *lines, struct source *source, struct budget *budget,
                           struct err *err);
void lines_close(struct lines *lines);

// False at the end, with ERR_NONE in *err, and on failure, which sets it.
MUST_CHECK bool lines_next(struct lines *lines, struct line *line, struct err *err);

// Whole lines with their ends, as many as are there, for those who search faster than line by line,
// and the start of what comes next. Only the last one of a stream may lack its end. One that is too
// long comes alone and ends at the last CR within LINES_MAX_BYTES, as progress bars write them, or
// is cut there.
MUST_CHECK bool lines_next_many(struct lines *lines, struct line *many, struct err *err);

#endif
