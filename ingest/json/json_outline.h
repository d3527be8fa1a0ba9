// SPDX-License-Identifier: Apache-2.0
// What the first bytes of JSON reveal about it.
#ifndef INGEST_JSON_OUTLINE_H
#define INGEST_JSON_OUTLINE_H

#include "ingest/base/str.h"

#define JSON_OUTLINE_KEYS 16u

struct json_outline {
    char root;  // the opening bracket; anything else: not a JSON array or object
    char item;  // the first byte inside, NUL if the bytes end before
    bool json;  // judging by that byte
    bool ended; // the root ends within the bytes
    char after; // the byte after the root, NUL if there is none
    struct str keys[JSON_OUTLINE_KEYS]; // of the members of the root, or of the first object in it
    unsigned key_count;
};

struct json_outline json_outline_of(struct str head);

bool json_outline_has(const struct json_outline *outline, const char *member);

// Describes it: "a JSON object with step, loss". Repeats only names that look like
// identifiers, hold no secret, and fit.
void json_outline_describe(const struct json_outline *outline, char *out, size_t cap);

#endif
