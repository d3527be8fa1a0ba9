// SPDX-License-Identifier: Apache-2.0
// The ranks of a job, opened once to be asked again and again what changes would bring.
#ifndef ANALYSIS_WHATIF_JOB_H
#define ANALYSIS_WHATIF_JOB_H

#include "analysis/replay/job_replay.h"

// What a rank is read from.
struct whatif_source {
    struct trace *trace;
    int64_t rank;
    const char *name; // for messages
};

// A rank with all that its replay needs.
struct whatif_rank {
    const char *name;
    int64_t number;
    struct arena arena;
    struct arena edges; // of its graph; those of joined ranks are in the job's
    struct trace *trace;
    struct facts facts;
    struct whatif whatif;
};

struct whatif_job {
    struct whatif_rank **ranks; // ascending, once joined
    uint32_t count;
    struct arena arena; // of the job
    struct run_comm comm;
    struct job_rank *joined;
    struct job_replay replay; // of several
    const char *refused;      // why they cannot be replayed together
};

// Starts a job of at most that many ranks. Pair with whatif_job_close, even after a failure.
MUST_CHECK bool whatif_job_open(struct whatif_job *job, uint32_t most, struct budget *budget,
                                struct err *err);
void whatif_job_close(struct whatif_job *job);

// Adds a rank, and takes its trace over, even after a failure; options must outlive the job.
MUST_CHECK bool whatif_job_add(struct whatif_job *job, const struct whatif_source *source,
                               const struct analysis_options *options, struct err *err);

// Sorts the ranks; if there are several, prepares to join them. ERR_USAGE if two are the same.
MUST_CHECK bool whatif_job_sort(struct whatif_job *job, struct err *err);

// Whether it needs the ranks' tables, those of whatif_job_tables (NULL-terminated): then add those
// of each rank in order, and join.
extern const struct table_desc *const whatif_job_tables[];
bool whatif_job_is_joint(const struct whatif_job *job);
MUST_CHECK bool whatif_job_add_tables(struct whatif_job *job, uint32_t rank,
                                      const struct report *report, struct err *err);
MUST_CHECK bool whatif_job_join(struct whatif_job *job, struct err *err);

// What changes bring on each rank. path: as of job_replay_change. ERR_USAGE if they balance a rank
// that is not there, or the only one.
MUST_CHECK bool whatif_job_ask(const struct whatif_job *job, const struct change_list *list,
                               struct arena *arena, struct whatif_answer *answers,
                               struct job_path *path, struct err *err);

// What changes make of a job that is not refused; as of job_replay_view.
MUST_CHECK bool whatif_job_view(const struct whatif_job *job, const struct change_list *list,
                                struct arena *arena, struct replay_view *view, struct err *err);

// Ranks of the job that are not replayed, as far as traces say how many there are: waits for them
// count as communication, so that of changes of it the gains are the most there is.
int64_t whatif_job_missing(const struct whatif_job *job);
// Whether such waits are among what gets shorter with changes that leave these times of the nodes.
bool whatif_job_hides_waits(const struct whatif_job *job, const struct change_list *list,
                            const int64_t *dur);

// Recorded time of all ranks that one of the changes selects.
int64_t whatif_job_touched(const struct whatif_job *job, const struct whatif_answer *answers,
                           uint32_t change);

// The rank that represents the job, given the answers without a change: the one with the
// lower-median step; and why there is no answer, NULL: there is one.
uint32_t whatif_job_headline(const struct whatif_job *job, const struct whatif_answer *base);
const char *whatif_job_refusal(const struct whatif_job *job, const struct whatif_answer *base);

#endif
