// SPDX-License-Identifier: Apache-2.0
// Reads the top-level members of a trace that are JSON.
#ifndef ANALYSIS_MEMBER_JSON_H
#define ANALYSIS_MEMBER_JSON_H

#include "ingest/trace/trace.h"

#include <jansson.h>

// Parses raw text; NULL when it is not JSON or larger than is worth it. Free with json_decref.
json_t *member_json_parse(struct str text);

// The same for a member by key; NULL when the trace has none.
json_t *member_json_find(const struct trace *trace, struct str key);

// An integer, or a text that is one; false for anything else.
bool member_json_i64(const json_t *value, int64_t *number);

#endif
