// SPDX-License-Identifier: Apache-2.0
// Whether the step times of two sides differ by more than noise, and a gate's decision.
#ifndef ANALYSIS_VERDICT_H
#define ANALYSIS_VERDICT_H

#include "analysis/stats/history_fence.h"
#include "analysis/stats/mann_whitney.h"
#include "ingest/base/err.h"

#include <stddef.h>

#define VERDICT_MAX_RUNS 1024 // per side

// relevant = significant and |shift| >= max(relevant_share of the base's step, relevant_ns), where
// relevant_ns is limited to a hundredth of the base's step, so that small changes count in short
// steps.
struct verdict_limits {
    double alpha;          // of tests, and 1 - confidence of intervals; above 0, at most 0.5
    double relevant_share; // from 0
    double relevant_ns;    // from 0
};

// 0.05, 0.002, 1e5.
struct verdict_limits verdict_default_limits(void);

// False with ERR_USAGE and what was expected if a limit is not a number within its range.
MUST_CHECK bool verdict_check_limits(const struct verdict_limits *limits, struct err *err);

// The smallest difference from a base's step time that is relevant.
double verdict_relevant_from_ns(const struct verdict_limits *limits, double base_ns);

enum verdict {
    VERDICT_UNKNOWN,     // "noise unknown": too few runs to tell
    VERDICT_NOISE,       // "within noise"
    VERDICT_SIGNIFICANT, // "significant"
};

// Evidence on two single runs from their series, by the rules of its alerts.
struct series_evidence {
    bool known;         // both are runs of one series on the same hardware
    bool changed;       // the level changed between them, or one of them is an outlier
    double p_value;     // of the change of level; NaN without one
    double fence_share; // usual difference between its runs before the later of the two, or, where
                        // those are too few, between all; NaN: unknown
    size_t runs;        // that the fence is based on
};

// Evidence besides the runs of the sides.
struct verdict_history {
    struct samples runs;           // step times of earlier runs of the base's series, oldest first
    struct series_evidence series; // takes precedence
};

// How a verdict was reached.
// none          too few runs, and no history: the difference has no interval
// equal         both sides have exactly the same times (a run against itself)
// mann_whitney  exact test over the runs of both sides
// history       the difference against the usual one between neighbors in the series
// series        two single runs of one series, with a change of level in between or one of them an
//               outlier: its alerts and this verdict come from one judgement
//
// bound_share is that of equivalence.h at alpha if the method is mann_whitney, else high_share.
//
// Shares are relative to the base: 0.02 is 2 % slower, -0.02 the inverse. They are computed from
// logarithms, so that swapping the sides swaps the sign. NaN if unknown.
struct judgement {
    enum verdict verdict;
    bool relevant;      // significant, and large enough to matter
    bool has_interval;  // whether low_share and high_share are valid
    double base_ns;     // median over the base's runs (for an even count the mean of the middle
                        // two)
    double cand_ns;     // same for the candidate's
    double shift_ns;    // base_ns x shift_share
    double shift_share; // Hodges-Lehmann: median of log(cand / base) over all pairs of runs
    double low_share, high_share;      // interval of shift_share with confidence 1 - alpha
    double bound_share;                // upper bound of the shift, one-sided, for the gate's pass
    double p_value;                    // two-sided; NaN unless method is mann_whitney or equal (1)
    double threshold_share;            // fence of the history, NaN without one
    double relevant_from_ns;           // smallest |shift_ns| that is relevant
    size_t base_runs, cand_runs;       // with a step time
    size_t base_missing, cand_missing; // further runs that would allow the exact test
    const char *method;
};

// A side holds the step time of each of its runs in ns: the unit of evidence is the run. Values
// that are not positive or not finite come from runs without steps and are left out. history may be
// empty. The exact test is used if the counts of runs allow a p-value of alpha at all (4 against 4,
// 3 against 5 and 2 against 8 for 0.05); else the series' evidence, or the history's fence, if
// there is one; else the noise is unknown. A side without any step time: unknown, all figures NaN.
// ERR_USAGE for limits out of range, ERR_LIMIT above VERDICT_MAX_RUNS runs on a side.
MUST_CHECK bool verdict_judge(struct samples base, struct samples cand,
                              const struct verdict_history *history,
                              const struct verdict_limits *limits, struct judgement *judgement,
                              struct err *err);

// "significant", "within noise" or "noise unknown".
const char *verdict_word(enum verdict verdict);

enum gate { GATE_PASS, GATE_FAIL, GATE_UNDECIDED };

// Whether the candidate may pass if steps may become slower by max_regression (0.03 is 3 %). pass
// is an equivalence test: bound_share and the best estimate are within the limit. fail: the change
// is significant and its best estimate is above the limit, or the whole interval is. Otherwise
// undecided, as it also is without an interval or with a limit that is not a number.
enum gate verdict_gate(const struct judgement *judgement, double max_regression);

// "pass", "fail" or "undecided".
const char *verdict_gate_word(enum gate gate);

#endif
