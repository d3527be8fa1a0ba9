// SPDX-License-Identifier: Apache-2.0
// Second stage of reading JSON: walks members and values along the structural index. Nothing is
// copied; every text is a slice of the window.
#ifndef INGEST_JSON_WALK_H
#define INGEST_JSON_WALK_H

#include "ingest/base/str.h"

enum walk {
    WALK_OK,
    WALK_END,  // the closing bracket was consumed
    WALK_MORE, // the window ends inside: bring in more and start the walk over
    WALK_BAD,  // this is not JSON
};

struct json_walk {
    const char *at;   // next byte
    const char *end;  // of the text in memory, followed by a NUL
    const char *text; // token offsets count from here
    const uint32_t *token, *token_end;
    bool comma_due;        // an element was consumed, so a comma must come before the next one
    unsigned comma_faults; // missing and surplus commas seen
};

enum json_type { JSON_TEXT, JSON_SCALAR, JSON_OBJECT, JSON_ARRAY };

struct json_value {
    enum json_type type;
    struct str text; // of a text: between its quotes, escapes unresolved; of a scalar: all of it
};

// Consumes the next member of an object whose opening bracket was consumed: its key (raw) and the
// start of its value. Texts and scalars are consumed whole; of an object or array only the opening
// bracket is, so the caller continues inside or calls json_walk_skip.
enum walk json_walk_member(struct json_walk *walk, struct str *key, struct json_value *value);

// Same for the next item of an array.
enum walk json_walk_item(struct json_walk *walk, struct json_value *value);

// Consumes everything up to the closing bracket of a container whose opening bracket was consumed.
enum walk json_walk_skip(struct json_walk *walk);

// Consumes any value at walk->at (after whitespace).
enum walk json_walk_value(struct json_walk *walk, struct json_value *value);

#endif
