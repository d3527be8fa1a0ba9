// SPDX-License-Identifier: Apache-2.0
// What the links of a machine have reached in tests (nccl-tests, rccl-tests): the reference for the
// collectives of a trace on the same number of ranks.
//
// As in doc/PERFORMANCE.md of nccl-tests, with S bytes (names/bandwidth.h) in time t on n ranks:
//     algorithm bandwidth = S / t
//     bus bandwidth       = S / t x 2(n-1)/n of an all_reduce,
//                           S / t x (n-1)/n of an all_gather, reduce_scatter, all_to_all, gather,
//                           scatter, and S / t of a broadcast, reduce, send and receive.
#ifndef ANALYSIS_LINK_REFERENCE_H
#define ANALYSIS_LINK_REFERENCE_H

#include "analysis/names/bandwidth.h"
#include "ingest/evidence/link_tests.h"

// The best of what was measured at a size, out of place or in place, in any run.
struct link_point {
    int64_t bytes;
    double bus_bps; // NAN unknown
    double time_ns; // NAN unknown
    uint32_t run;   // that reached it
};

// The points of one collective on a number of ranks and nodes.
struct link_curve {
    enum collective_kind kind;
    int64_t ranks, nodes; // nodes: 0 unknown
    bool guessed;         // includes runs whose collective or ranks the file does not say
    const struct link_point *points; // by size
    size_t count;

    double peak_bps;    // the highest bus bandwidth
    int64_t peak_bytes; // the size that reached it
    bool rising; // the peak is at the largest size and more than 5 % above the one before: a larger
                 // message may be faster still
    // The smallest size with 80 % of the peak. Where that is the smallest measured, smaller ones
    // may reach it, too.
    int64_t enough_bytes;
    // The shortest time, if that is latency: a size at least 4 times as large as the smallest takes
    // no more than 1.5 times as long. NAN otherwise.
    double floor_ns;
};

struct link_reference {
    const struct link_curve *curves;
    size_t count;
};

// Leaves out single ranks, rows with wrong results, and runs whose collective or number of ranks is
// unknown. The arena holds the curves. O(n log n) in rows.
MUST_CHECK bool link_reference_make(const struct link_tests *tests, struct arena *arena,
                                    struct link_reference *reference, struct err *err);

#define LINK_NODES_SEVERAL INT64_C(-1) // more than one, but unknown how many

struct link_query {
    enum collective_kind kind;
    int64_t bytes; // S
    int64_t ranks;
    int64_t nodes; // 0 unknown, or LINK_NODES_SEVERAL
};

enum link_answer {
    LINK_FOUND,
    LINK_NO_COLLECTIVE, // it was not tested
    LINK_NO_RANKS,      // nor on this number of ranks, or nodes
    LINK_SEVERAL_NODES, // tested on several numbers of nodes, and that of the query is unknown
    LINK_TOO_SMALL,     // a message smaller than those tested
    LINK_TOO_LARGE,
};

struct link_expected {
    enum link_answer answer;
    const struct link_curve *curve; // NULL without one
    double bus_bps;                 // NAN unless found
    double time_ns;                 // that such a message takes at this bandwidth
    uint32_t run; // that measured it; between two sizes, the run of the larger one
};

// Between two sizes measured, bandwidth follows the power law through both: it is linear in the
// logarithms, as is the time. Sizes up to LINK_NEAR times beyond the ends have the bandwidth of the
// end; nothing is said about others, nor for other numbers of ranks.
#define LINK_NEAR 1.1

struct link_expected link_reference_find(const struct link_reference *reference,
                                         const struct link_query *query);

#endif
