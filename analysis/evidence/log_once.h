// SPDX-License-Identifier: Apache-2.0
// What happened between steps, once of however many ranks printed it.
#ifndef ANALYSIS_EVIDENCE_LOG_ONCE_H
#define ANALYSIS_EVIDENCE_LOG_ONCE_H

#include "ingest/base/arena.h"
#include "ingest/evidence/log_book.h"

// The book with these events only, which live in the arena. Of events of a kind those of the rank
// count that printed the most, of several `rank` or else the first; faults all count. Where lines
// do not say whose they are, the same words within a second after the same step are one event.
MUST_CHECK bool log_once(const struct log_book *book, int64_t rank, struct arena *arena,
                         struct log_book *once, struct err *err);

#endif
