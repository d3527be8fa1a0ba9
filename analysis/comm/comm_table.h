// SPDX-License-Identifier: Apache-2.0
// The tables of single calls, which a run uses to match its ranks.
#ifndef ANALYSIS_COMM_TABLE_H
#define ANALYSIS_COMM_TABLE_H

#include "analysis/comm/comm_calls.h"
#include "analysis/trace/comm_phase.h"

// Most bytes of all rank lists together; later operations have none.
#define COMM_TABLE_MAX_LISTS ((size_t)16 << 20)

// Adds comm_ops and comm_calls; there must be at least one call. Linear.
MUST_CHECK bool comm_table_add(const struct facts *facts, const struct comm_calls *calls,
                               const struct comm_phases *phases, struct report *report,
                               struct err *err);

#endif
