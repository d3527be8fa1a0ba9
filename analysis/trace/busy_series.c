// SPDX-License-Identifier: Apache-2.0
// Work on the devices over time, in equal pieces of the window.
#include "analysis/trace/analyses.h"
#include "analysis/facts/gaps.h"
#include "analysis/report/tables.h"

enum { MOST_PIECES = 1000 };

// Start of a piece since the start of the window, without overflow for one of 73 years.
static int64_t piece_ns(int64_t window_ns, int64_t piece, int64_t pieces)
{
    return window_ns / pieces * piece + window_ns % pieces * piece / pieces;
}

// Gaps are in time order and may cross pieces.
static int64_t idle_within(const struct facts *facts, uint32_t *gap, int64_t begin_ns,
                           int64_t end_ns)
{
    int64_t idle_ns = 0;
    for (; *gap < facts->gaps.count; ++*gap) {
        const struct gap *at = &facts->gaps.gaps[*gap];
        int64_t from_ns = at->begin_ns > begin_ns ? at->begin_ns : begin_ns;
        int64_t to_ns = at->end_ns < end_ns ? at->end_ns : end_ns;
        idle_ns += to_ns > from_ns ? to_ns - from_ns : 0;
        if (at->end_ns > end_ns) // continues in the next piece
            break;
    }
    return idle_ns;
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    (void)scratch;
    int64_t window_ns = facts->end_ns - facts->begin_ns;
    int64_t pieces = window_ns < MOST_PIECES ? window_ns : MOST_PIECES;
    uint32_t gap = 0;
    for (int64_t i = 0; facts->device_count && i < pieces; i++) {
        int64_t from_ns = piece_ns(window_ns, i, pieces),
                to_ns = piece_ns(window_ns, i + 1, pieces);
        int64_t idle_ns =
            idle_within(facts, &gap, facts->begin_ns + from_ns, facts->begin_ns + to_ns);
        struct row row = {.desc = &table_busy_series};
        row_i64(&row, BUSY_SERIES_TIME_NS, from_ns);
        row_i64(&row, BUSY_SERIES_BUSY_NS, to_ns - from_ns - idle_ns);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

const struct analysis busy_series_analysis = {"busy_series", run};
