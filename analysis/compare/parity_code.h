// SPDX-License-Identifier: Apache-2.0
// A PyTorch program that times one operator with the shapes and types of a recording.
#ifndef ANALYSIS_PARITY_CODE_H
#define ANALYSIS_PARITY_CODE_H

#include "analysis/facts/op_args.h"
#include "ingest/base/buf.h"

// Writes the program, or returns why there is none. Whatever a trace says becomes code only as a
// number, as a type from a list, or as a name of letters, digits and underscores.
const char *parity_code(struct str op, const struct op_arg_texts *inputs, struct buf *out);

#endif
