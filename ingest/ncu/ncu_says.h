// SPDX-License-Identifier: Apache-2.0
// What Nsight Compute says where it has no table.
#ifndef INGEST_NCU_SAYS_H
#define INGEST_NCU_SAYS_H

#include "ingest/base/str.h"

// Why there is none by a line or text of its output, and what to do: "found ..."; NULL: not said.
const char *ncu_refusal_of(struct str text);

#endif
