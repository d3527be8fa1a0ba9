// SPDX-License-Identifier: Apache-2.0
// What the first bytes of a JSON text show of it.
#ifndef INGEST_JSON_OUTLINE_H
#define INGEST_JSON_OUTLINE_H

#include "ingest/base/str.h"

#define JSON_OUTLINE_KEYS 16u

struct json_outline {
    char root;  // the bracket it begins with; anything else: no JSON that holds something
    char item;  // the first byte within, NUL where the bytes end
    bool json;  // as far as that byte shows
    bool ended; // the root is closed within the bytes
    char after; // what follows the root, NUL when nothing does
    struct str keys[JSON_OUTLINE_KEYS]; // of the members of the root, or of the first object in it
    unsigned key_count;
};

struct json_outline json_outline_of(struct str head);

bool json_outline_has(const struct json_outline *outline, const char *member);

// Writes what it is for people: "a JSON object with the members step, loss". Of names only those
// that look like ones, and none that holds a secret.
void json_outline_describe(const struct json_outline *outline, char *out, size_t cap);

#endif
