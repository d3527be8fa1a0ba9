// SPDX-License-Identifier: Apache-2.0
// Reads top-level members of a trace as JSON.
#ifndef ANALYSIS_MEMBER_JSON_H
#define ANALYSIS_MEMBER_JSON_H

#include "ingest/trace/trace.h"

#include <jansson.h>

// Parses raw text; NULL if it is not JSON or too large. Free with json_decref.
json_t *member_json_parse(struct str text);

// Same for a member by key; NULL if the trace has none.
json_t *member_json_find(const struct trace *trace, struct str key);

// An integer, or a text containing one; false for anything else.
bool member_json_i64(const json_t *value, int64_t *number);

#endif
