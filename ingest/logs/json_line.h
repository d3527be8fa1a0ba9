// SPDX-License-Identifier: Apache-2.0
// An object of JSON on one line, member by member; also NaN and Infinity, as Python writes them.
#ifndef INGEST_LOGS_JSON_LINE_H
#define INGEST_LOGS_JSON_LINE_H

#include "ingest/base/str.h"

enum json_line_kind { JSON_LINE_TEXT, JSON_LINE_SCALAR, JSON_LINE_OTHER };

struct json_line_value {
    enum json_line_kind kind;
    struct str text; // of a text without its quotes, with escapes; of others as written
};

struct json_line {
    struct str rest;
};

// Whether the line starts an object; enters it.
bool json_line_open(struct json_line *line, struct str text);
// The next member; false at the end of the object, or where it is damaged.
bool json_line_next(struct json_line *line, struct str *key, struct json_line_value *value);

#endif
