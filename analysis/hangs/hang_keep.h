// SPDX-License-Identifier: Apache-2.0
// What of a dump a diagnosis together with dumps of other ranks may ask for: of each process group
// the last collective entered, and those next to its first unfinished one, else to the last. With
// only these the diagnosis is the same unless the members of a group are further apart.
#ifndef ANALYSIS_HANGS_HANG_KEEP_H
#define ANALYSIS_HANGS_HANG_KEEP_H

#include "ingest/evidence/flight.h"

// Up to the first unfinished collective of a group, and after it.
enum { HANG_KEEP_BEFORE = 48, HANG_KEEP_AFTER = 16 };

// Of the whole dump.
struct hang_unfinished {
    int64_t collectives, p2p;
};

// kept: of each entry, all false before. ERR_LIMIT past the budget.
MUST_CHECK bool hang_keep(const struct flight *flight, bool *kept,
                          struct hang_unfinished *unfinished, struct budget *budget,
                          struct err *err);

#endif
