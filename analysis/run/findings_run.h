// SPDX-License-Identifier: Apache-2.0
// Rules that look at all ranks of a run. They read only the run's tables.
#ifndef ANALYSIS_FINDINGS_RUN_H
#define ANALYSIS_FINDINGS_RUN_H

#include "analysis/findings/findings.h"
#include "analysis/report/rank_source.h"
#include "analysis/ranks/run_rates.h"

// Which parts of the headline rank's step a finding explains: bits of enum bar, where exposed
// communication excludes the exposed waits as far as those are known, plus one for the waits.
#define RUN_PART_WAIT    BAR_COUNT
#define RUN_PART_COUNT   (BAR_COUNT + 1)
#define RUN_BARS_COMPUTE (1u << BAR_GEMM | 1u << BAR_ATTENTION | 1u << BAR_OTHER_COMPUTE)
#define RUN_BARS_WAIT    (1u << RUN_PART_WAIT)
#define RUN_BARS_MOVE    (1u << BAR_EXPOSED_COMM)
#define RUN_BARS_COMM    (RUN_BARS_WAIT | RUN_BARS_MOVE)
#define RUN_BARS_IDLE    (1u << BAR_IDLE_HOST_WAIT | 1u << BAR_IDLE_OTHER)
#define RUN_BARS_ALL     ((1u << RUN_PART_COUNT) - 1)

// Input of the rules.
struct run_case {
    const struct report *report; // of the run, without its findings yet
    struct arena *arena;         // for texts
    struct budget *budget;
    int64_t headline;                 // rank
    int64_t steps;                    // its steady steps, 1 or more
    const char *per;                  // "per step", or "in the recording" without step marks
    int64_t all_steps;                // all of its steps, 1 or more
    int64_t step_ns;                  // mean steady step
    int64_t part_ns[RUN_PART_COUNT];  // parts of step_ns, of the headline rank
    size_t ranks;                     // with a trace
    const struct table *own;          // findings of the headline rank, NULL: none
    const struct rank_rate *rates;    // of all ranks, ascending; NULL: unknown
    const struct run_links *links;    // NULL: unknown
    const struct rank_source *source; // of the ranks' own tables; NULL: none
    const struct table *monitors;     // what monitors recorded of each GPU; NULL: nothing
};

// A rule of a run; the check of `about` is that of one trace, if there is one.
struct run_rule {
    const struct finding_rule *about;
    bool (*check)(const struct run_case *the_case, bool *fires, struct finding *finding,
                  struct err *err);
    unsigned bars;
    bool of_hardware; // about what monitors recorded, also of a run of one trace
    bool of_data;     // about what the traces are, whatever they show
};

extern const struct run_rule finding_run_jobs;
extern const struct run_rule finding_run_straggler;
extern const struct run_rule finding_run_wait;
extern const struct run_rule finding_run_slow_link;
extern const struct run_rule finding_run_small_messages;
extern const struct run_rule finding_run_transfer;
extern const struct run_rule finding_run_overlap;
extern const struct run_rule finding_run_imbalance;
extern const struct run_rule finding_run_bubble;
extern const struct run_rule finding_run_rates;
extern const struct run_rule finding_run_throttled;
extern const struct run_rule finding_run_loading;
extern const struct run_rule finding_run_idle_gpus;
extern const struct run_rule finding_run_missing;
extern const struct run_rule finding_run_trust;

// Puts the rows of a run's findings in the order in which to fix them: what prevents judging the
// rest, then by severity, then by gain, or own cost where nothing was simulated. Pages, the report
// and the tools of agents show the first rows.
void run_findings_order(struct report *report);

// Adds the run's findings to its report, in that order: those of the rules above and those of the
// headline rank's trace (NULL: none). steps: steady ones of the headline rank, and all.
struct run_findings {
    const struct table *own; // findings of the headline rank
    int64_t headline;
    int64_t steps, all_steps;
    const struct parts *steady; // of the headline rank, over its steady steps
    size_t ranks;
    const struct rank_rate *rates;    // of all ranks, ascending; NULL: unknown
    const struct run_links *links;    // NULL: unknown
    const struct rank_source *source; // of the ranks' own tables; NULL: none
    const struct table *monitors;     // what monitors recorded of each GPU; NULL: nothing
};
MUST_CHECK bool findings_of_run(const struct run_findings *of, struct report *report,
                                struct err *err);

double run_percent(const struct run_case *the_case, int64_t ns);
bool run_costs(const struct run_case *the_case, int64_t cost_ns, double share);

// Some of the ranks: all but one (INT64_MIN: none) in a list like "0-7,9" (NULL text: all ranks).
struct run_ranks {
    int64_t except;
    struct str list;
};

#define RUN_RANKS_ALL ((struct run_ranks){INT64_MIN, {NULL, 0}})

// Lower median over ranks of a column in the table of ranks; -1 if none has it.
MUST_CHECK bool run_rank_median(const struct run_case *the_case, unsigned column,
                                struct run_ranks among, int64_t *median, struct err *err);

// That column of one rank, -1 if it has none.
int64_t run_rank_i64(const struct run_case *the_case, unsigned column, int64_t rank);

// Parts of the headline rank's step that take longer in its slow steps than in the others; all if
// unknown.
MUST_CHECK bool run_slow_parts(const struct run_case *the_case, unsigned *bars, struct err *err);

// Share of the exposed waits due to collectives between ranks that do the same; the rest, sends and
// receives and collectives across pipeline stages, wait in the bubble. 1 without any waits.
double run_collective_share(const struct run_case *the_case);

// Share of the exposed transfers that compute could hide: what follows a tensor, expert or pipeline
// parallel collective needs its result. 1 without any transfers.
double run_overlap_share(const struct run_case *the_case);

// Whether the ranks belong to several jobs, across which nothing is judged.
bool run_has_jobs(const struct run_case *the_case);

// Ranks of the job without a trace, as far as the traces show. Waits for them look like transfer.
int64_t run_missing_ranks(const struct run_case *the_case);

// The ranks that others wait for.
struct run_late {
    const struct table *lateness;
    size_t row;           // of lateness: of the rank whose reason is given for all
    double all_ns;        // waits caused by ranks that had not waited elsewhere themselves
    double part;          // of these, the part caused by the late ranks; 0 without waits
    const int64_t *ranks; // ascending
    size_t count;
    const char *list;
    int64_t cost_ns; // per step; 0 if nobody stands out
};
MUST_CHECK bool run_find_late(const struct run_case *the_case, struct run_late *late,
                              struct err *err);
bool run_late_has(const struct run_late *late, int64_t rank);

// The annotation in which the host of a late rank spends at least half of the cost while its device
// idles; NULL text if there is none.
MUST_CHECK bool run_late_range(const struct run_case *the_case, int64_t rank, int64_t cost_ns,
                               struct str *range, struct err *err);

// What takes a rank longer than others for the same work; NULL if it is not slow.
const struct rank_rate *run_slow_rate(const struct run_case *the_case, int64_t rank);

// What these ranks have in common and no other has, as " (node b)"; "" if there is nothing.
MUST_CHECK bool run_common_place(const struct run_case *the_case, const struct run_late *some,
                                 const char **place, struct err *err);

// How many numbers a list like "0-7,9" has, 0 if it is malformed; and whether one is among them.
int64_t run_list_count(struct str list);
bool run_list_has(struct str list, int64_t number);

#endif
