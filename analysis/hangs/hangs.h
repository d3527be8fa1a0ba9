// SPDX-License-Identifier: Apache-2.0
// Why a job hangs, from the Flight Recorder dumps of its ranks.
#ifndef ANALYSIS_HANGS_HANGS_H
#define ANALYSIS_HANGS_HANGS_H

#include "analysis/report/report.h"
#include "ingest/evidence/flight.h"

// The strongest evidence first.
enum hang_kind {
    HANG_MISMATCH, // ranks called different operations
    HANG_HOST,     // others wait for a rank that has nothing queued
    HANG_DEVICE,   // a rank's GPU has not finished what others have
    HANG_NO_DUMP,  // others wait for a rank that left no dump
    HANG_PIPELINE, // a rank with nothing queued is the peer of a send or receive
    HANG_TOGETHER, // all are in the same collective
    HANG_UNDECIDED,
    HANG_QUIET, // nothing is unfinished
    HANG_KINDS
};

enum hang_confidence { HANG_HIGH, HANG_MEDIUM, HANG_LOW };

struct hang_finding {
    enum hang_kind kind;
    enum hang_confidence confidence;
    const int64_t *ranks; // ascending, to look at; may be none
    size_t rank_count;
    const char *verdict; // a sentence
    const char *why;
    const struct flight *flight;     // of the collective that the verdict names
    const struct flight_entry *call; // NULL: none
};

struct hangs {
    struct hang_finding findings[HANG_KINDS];
    unsigned finding_count;  // at least one
    const int64_t *suspects; // ascending: of all findings that rest on more than an absent dump,
    size_t suspect_count;    // else of the first
    const struct flight **dumps; // ascending by rank: those that were used
    size_t dump_count;
    const bool *used; // of each dump that was given
    bool gave_up;     // there were too many groups and ranks to compare the order of all
};

// Dumps without a rank are left out, as are all but the first of a rank. Everything lives in the
// report's arena, which must have a budget; adds hang_tables to the report. ERR_LIMIT past the
// budget.
MUST_CHECK bool hangs_find(const struct flight *const *dumps, size_t count, struct report *report,
                           struct hangs *hangs, struct err *err);

#endif
