// SPDX-License-Identifier: Apache-2.0
// Protocol buffers as bytes of a source: fields one after another, messages within messages.
// Nothing is loaded but a window.
#ifndef INGEST_XPLANE_PROTO_H
#define INGEST_XPLANE_PROTO_H

#include "ingest/source/source.h"

#define PROTO_WINDOW ((size_t)64 << 10)

struct proto_file {
    struct source *source;
    uint64_t size;
    uint64_t at; // of the window
    size_t len;
    bool damaged; // a field is invalid, or goes past the end
    char window[PROTO_WINDOW];
};

// The bytes of a message in the file.
struct proto {
    struct proto_file *file;
    uint64_t at, end;
};

// A field: a number, or the bytes of a text or message.
struct proto_field {
    uint32_t number;
    bool is_bytes;
    uint64_t value;     // of a number
    struct proto bytes; // otherwise
};

// False at the end of the message, and when the file cannot be read further (see damaged). *err is
// set only if the source failed.
MUST_CHECK bool proto_next(struct proto *message, struct proto_field *field, struct err *err);

// Up to cap bytes of a text.
MUST_CHECK bool proto_text(const struct proto *bytes, char *text, size_t cap, size_t *len,
                           struct err *err);

#endif
