// SPDX-License-Identifier: Apache-2.0
// What a name says as one JSON object.
#ifndef ANALYSIS_KERNEL_JSON_H
#define ANALYSIS_KERNEL_JSON_H

#include "analysis/kernel_names/kernel_decoded.h"

#include "ingest/base/buf.h"

// Adds {"name": ..., "library": ..., ...}: only what the name says, and always "flags", "short",
// "sure" and, unless all is sure, "unsure" with the fields that are a reading rather than a fact.
void kernel_json(struct str name, const struct kernel_decoded *decoded, struct buf *out);

#endif
