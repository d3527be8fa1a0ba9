// SPDX-License-Identifier: Apache-2.0
// Which ranks of a run take longer for the same work: the same kernels at the same grid and shapes.
#ifndef ANALYSIS_RUN_RATES_H
#define ANALYSIS_RUN_RATES_H

#include "analysis/stats/groups.h"
#include "analysis/report/report.h"

#include <math.h>

#define RUN_RATE_MOST 1000

// Times are per steady step.
struct rank_rate {
    int64_t rank;
    double ratio;     // its time for the work it has in common with others over theirs; 1 for other
                      // work; NaN: unknown
    bool slow;        // several kernels take longer, by a clear margin over the other ranks
    bool sure;        // grids or shapes show that the work is the same
    int64_t slow_ns;  // of a slow rank: its extra time
    uint32_t kernels; // of a slow rank: those that take longer
    struct str kernel;         // of a slow rank: the costliest of those
    int64_t call_ns, usual_ns; // per call of that kernel, here and usually
};

struct rate_entry {
    uint32_t key, rank; // indices
    int64_t calls, total_ns;
};

struct rate_key {
    uint32_t name; // number of the kernel's name
    uint8_t basis; // enum in run_rates.c
};

struct run_rates {
    struct arena arena; // owns the texts
    struct budget *budget;
    struct rank_rate *ranks;
    int64_t *steps;         // per rank, 1 or more
    uint32_t *job;          // per rank; ranks of different jobs are not compared
    size_t *first;          // per rank, plus one: of its entries
    uint32_t count;         // of ranks
    struct groups names;    // hash of the name
    struct str *texts;      // per name
    struct groups keys;     // job and name, work
    struct rate_key *about; // per key
    struct rate_entry *entries;
    size_t text_cap, about_cap, entry_cap, entry_count;
};

// The ratio if it is plausible for devices that do the same work, else NaN.
static inline double run_rates_plausible(const struct rank_rate *rate)
{
    return rate->ratio > 1 / RUN_RATE_MOST && rate->ratio < RUN_RATE_MOST ? rate->ratio : NAN;
}

// Room for that many ranks. Pair with run_rates_close, even after a failure.
MUST_CHECK bool run_rates_open(struct run_rates *rates, size_t ranks, struct budget *budget,
                               struct err *err);
void run_rates_close(struct run_rates *rates);

// Adds the next rank from its tables summary and kernel_rates; keeps nothing of the report.
MUST_CHECK bool run_rates_add(struct run_rates *rates, int64_t rank, uint32_t job,
                              const struct report *report, struct err *err);

// After the last rank: fills ranks[]. O(n log n)
MUST_CHECK bool run_rates_judge(struct run_rates *rates, struct err *err);

#endif
