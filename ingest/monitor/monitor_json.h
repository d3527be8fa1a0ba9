// SPDX-License-Identifier: Apache-2.0
// Samples as JSON: an object per device, which becomes a row of the same columns as in CSV.
#ifndef INGEST_MONITOR_MONITOR_JSON_H
#define INGEST_MONITOR_MONITOR_JSON_H

#include "ingest/json/json_outline.h"
#include "ingest/monitor/monitor_table.h"

// ERR_FORMAT if there is no sample, or if this is no JSON. What comes before damage is kept. There
// may be a document for each turn of a loop, and lines of text, such as warnings, before each.
MUST_CHECK bool monitor_gather_json(const struct format_input *input,
                                    const struct monitor_dialect *dialect, struct err *err);

// The outline of the first document in a head, after lines of text.
struct json_outline monitor_json_outline(const struct format_sample *sample);

#endif
