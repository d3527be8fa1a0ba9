// SPDX-License-Identifier: Apache-2.0
// How long texts may be, for readers that do not use trace_builder_text.
#ifndef INGEST_TRACE_TRACE_TEXT_H
#define INGEST_TRACE_TRACE_TEXT_H

#include "ingest/trace/trace_builder.h"

#define TRACE_MAX_TEXT ((size_t)64 << 10)

// How much of a text to keep. The cut is never within a secret, of which the part that is kept
// might no longer look like one.
size_t trace_text_cut(struct str raw);

#endif
