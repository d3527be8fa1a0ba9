// SPDX-License-Identifier: Apache-2.0
// Shapes and types of inputs as tables show them.
#ifndef ANALYSIS_SHAPE_TEXT_H
#define ANALYSIS_SHAPE_TEXT_H

#include "ingest/base/str.h"

#define SHAPE_TEXT_MAX  2048 // bytes kept
#define SHAPE_TEXT_SIZE (SHAPE_TEXT_MAX + 8)

// Raw JSON in its shortest form, without blanks outside strings; truncated at whole characters to
// SHAPE_TEXT_MAX, followed by "...".
struct str shape_text(struct str json, char text[SHAPE_TEXT_SIZE]);

#endif
