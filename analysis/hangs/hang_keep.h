// SPDX-License-Identifier: Apache-2.0
// The entries of a dump that a diagnosis over several ranks' dumps may need: of each process group
// the last collective entered, and those around its first unfinished one, or around the last if all
// have finished. With only these the diagnosis is the same unless the members of a group are
// further apart.
#ifndef ANALYSIS_HANGS_HANG_KEEP_H
#define ANALYSIS_HANGS_HANG_KEEP_H

#include "ingest/evidence/flight.h"

// Up to the first unfinished collective of a group, and after it.
enum { HANG_KEEP_BEFORE = 48, HANG_KEEP_AFTER = 16 };

// What the whole dump has unfinished.
struct hang_unfinished {
    int64_t collectives, p2p;
};

// kept: of each entry, all false before. ERR_LIMIT past the budget.
MUST_CHECK bool hang_keep(const struct flight *flight, bool *kept,
                          struct hang_unfinished *unfinished, struct budget *budget,
                          struct err *err);

#endif
