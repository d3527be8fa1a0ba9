// SPDX-License-Identifier: Apache-2.0
// Table cells for figures that link tests and records print.
#ifndef ANALYSIS_EVIDENCE_LINK_CELLS_H
#define ANALYSIS_EVIDENCE_LINK_CELLS_H

#include "analysis/names/bandwidth.h"
#include "analysis/report/row.h"

#define LINK_LONGEST_NS 9e18 // about the largest int64_t
#define LINK_GB_PER_S   1e9

// A time in ns; null if it is not a valid one.
static inline void row_link_ns(struct row *row, unsigned column, double ns)
{
    bool known = ns >= 0 && ns < LINK_LONGEST_NS;
    row_i64_if(row, column, known, known ? (int64_t)(ns + 0.5) : 0);
}

// bytes/s as GB/s; NAN becomes null.
static inline void row_link_gbps(struct row *row, unsigned column, double bps)
{
    row_f64(row, column, bps / LINK_GB_PER_S);
}

// "" becomes null.
static inline void row_link_text(struct row *row, unsigned column, struct str text)
{
    row_text_if(row, column, text.len, text);
}

// The kind of what a test or a record calls "all_reduce" or "AllReduce"; null for others.
static inline void row_link_kind(struct row *row, unsigned column, struct str operation)
{
    row_word(row, column, bandwidth_kind_word(bandwidth_kind(operation)));
}

#endif
