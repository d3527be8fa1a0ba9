// SPDX-License-Identifier: Apache-2.0
// The ranks of a run while they are joined into its tables.
#ifndef ANALYSIS_RUN_H
#define ANALYSIS_RUN_H

#include "analysis/names/parts.h"
#include "analysis/report/rank_source.h"

struct run_comm;
struct comm_rank;
struct rank_rate;
struct run_links;

// Where a rank ran.
struct run_place {
    struct str node;    // "" if unknown
    int64_t local_rank; // -1 if unknown
};

// Numbers of a rank's steps, if their marks have any.
struct run_steps {
    int64_t first, last;
    bool known;
};

struct run {
    const struct rank_source *source;
    const int64_t *ranks; // the source's: ascending
    size_t count;
    struct report *heads;     // of each rank: its summary, breakdown, step_stats and environment
    struct run_place *places; // of each rank, after run_place
    struct run_steps *steps;  // of each rank
    uint32_t *job;            // of each rank; nothing is judged across jobs (run_jobs.c)
    uint32_t job_count, main_job;
    uint32_t *recording; // of each rank; nothing is matched across recordings of a job
    uint32_t recording_count, main_recording; // the main one within the main job
    const char *job_signs;         // what distinguishes them, such as "device, time"; "" with one
    size_t headline, slowest;      // indices, within the main job
    int64_t world_size;            // from the traces, -1 if not given
    int64_t window_ns, busy_ns;    // of the whole windows, summed over the ranks
    int64_t reserved_bytes;        // the most on a device of any rank, -1 unknown
    int64_t capacity_bytes;        // the least of a device, -1 unknown
    const struct run_comm *comm;   // collectives of all ranks; NULL until matched
    const struct rank_rate *rates; // of each rank; NULL until judged
    const struct run_links *links; // NULL until found
    struct report *report;         // to fill
    struct arena *scratch;
    struct budget *budget; // for temporary data
};

// Tables whose rows are those of the ranks, one after another; called rank by rank. And those of
// the headline rank (run_copy.c).
MUST_CHECK bool run_copy_rank(const struct run *run, size_t rank, const struct report *report,
                              struct err *err);
MUST_CHECK bool run_copy_headline(const struct run *run, struct err *err);

// Records the numbers of a rank's steps; then, from those and the heads, which ranks belong to one
// job (run_jobs.c).
void run_note_steps(struct run *run, size_t rank, const struct report *report);
MUST_CHECK bool run_find_jobs(struct run *run, struct err *err);

// Determines which machine and device each rank ran on, and which groups without that information
// are on one machine (run_place.c).
MUST_CHECK bool run_place(struct run *run, struct err *err);
bool run_place_is_host(struct str key); // whether a trace gives its machine under that key
struct str run_place_host(const struct run *run, size_t rank); // as the trace says, else ""
void run_place_groups(const struct run *run, struct run_comm *comm);

// The ranks in one row each, and each step of each rank (run_ranks.c, run_steps.c).
MUST_CHECK bool run_list_ranks(const struct run *run, struct err *err);
MUST_CHECK bool run_list_steps(const struct run *run, struct err *err);

// Whether steps of two ranks, by their medians (negative: unknown), can be the same ones. Ranks
// that step together take about the same time; those of another role, or without marks, do not.
bool run_steps_alike(int64_t one_ns, int64_t other_ns);

// How well the devices are used (run_efficiency.c).
MUST_CHECK bool run_judge_efficiency(const struct run *run, struct err *err);

// The trust report's lines about the run as a whole (run_trust.c).
MUST_CHECK bool run_judge_trust(const struct run *run, struct err *err);

// Whether it is known how long the rank's collectives waited.
bool run_knows_waits(const struct run *run, size_t rank);

// The number in a rank's summary, or fallback if it is null.
int64_t run_summary_i64(const struct run *run, size_t rank, unsigned column, int64_t fallback);

// A table of the rank's head; NULL if it has none.
const struct table *run_head(const struct run *run, size_t rank, const char *name);

// Parts of a rank's steady steps: their sum, all 0 without steps.
struct parts run_steady_parts(const struct run *run, size_t rank);

#endif
