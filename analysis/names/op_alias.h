// SPDX-License-Identifier: Apache-2.0
// One name for operators with the same meaning on different vendors and versions.
#ifndef ANALYSIS_OP_ALIAS_H
#define ANALYSIS_OP_ALIAS_H

#include "ingest/base/str.h"

// The name by which an operator is compared; its own if there is no other. The text is static or
// the given one.
struct str op_alias_name(struct str op);

// The operators that have another name, sorted; index is below the count.
size_t op_alias_count(void);
struct str op_alias_at(size_t index);

#endif
