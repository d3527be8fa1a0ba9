// SPDX-License-Identifier: Apache-2.0
// The POP project's efficiency model applied to devices: how much of the time in which all ranks
// could have computed they did, as a product of causes.
#include "analysis/run/run.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/ranks/run_replay.h"
#include "analysis/report/tables.h"

#include <math.h>

// Over the ranks with steady steps like those of the typical rank, each with its mean steady step.
struct totals {
    size_t ranks;
    double compute_ns, most_compute_ns; // sum, largest
    double step_ns;                     // largest
    double apart_ns;                    // sum of the time that is not exposed communication
    double ideal_ns; // largest step with an instantaneous network; NaN if unknown
};

bool run_steps_alike(int64_t one_ns, int64_t other_ns)
{
    return one_ns < 0 || other_ns < 0 || (one_ns / 2 <= other_ns && other_ns / 2 <= one_ns);
}

static void add_rank(const struct run *run, size_t rank, int64_t saved_ns, struct totals *totals)
{
    double steps = (double)run_summary_i64(run, rank, SUMMARY_STEADY_STEPS, 0);
    int64_t median_ns = run_summary_i64(run, rank, SUMMARY_STEP_MEDIAN_NS, -1);
    int64_t typical_ns = run_summary_i64(run, run->headline, SUMMARY_STEP_MEDIAN_NS, -1);
    if (steps <= 0 || !run_steps_alike(median_ns, typical_ns))
        return;
    struct parts parts = run_steady_parts(run, rank);
    double compute_ns = (double)parts_compute_ns(&parts) / steps;
    double step_ns = (double)parts_recorded_ns(&parts) / steps;
    saved_ns = saved_ns > 0 ? saved_ns : 0; // less is lost of what was gained before steady steps
    double ideal_ns = run_knows_waits(run, rank) ? step_ns - (double)saved_ns / steps : NAN;
    totals->ranks++;
    totals->compute_ns += compute_ns;
    totals->most_compute_ns = fmax(totals->most_compute_ns, compute_ns);
    totals->step_ns = fmax(totals->step_ns, step_ns);
    totals->apart_ns += step_ns - (double)parts.bar_ns[BAR_EXPOSED_COMM] / steps;
    bool known = !isnan(ideal_ns) && !isnan(totals->ideal_ns);
    totals->ideal_ns = known ? fmax(totals->ideal_ns, ideal_ns) : NAN;
}

static bool add(const struct run *run, const char *metric, double value, const char *help,
                struct err *err)
{
    struct row row = {.desc = &table_run_efficiency};
    row_word(&row, RUN_EFFICIENCY_METRIC, metric);
    row_f64(&row, RUN_EFFICIENCY_VALUE, value);
    row_word(&row, RUN_EFFICIENCY_UNIT, "share");
    row_word(&row, RUN_EFFICIENCY_HELP, help);
    return row_end(&row, run->report, err);
}

bool run_judge_efficiency(const struct run *run, struct err *err)
{
    struct totals totals = {0};
    if (run->job_count > 1)
        return true; // they have no common longest step
    int64_t *saved_ns = arena_array(run->scratch, run->count, sizeof *saved_ns, err);
    if (!saved_ns || !run_replay(run->comm, saved_ns, err))
        return false;
    for (size_t i = 0; i < run->count; i++)
        add_rank(run, i, saved_ns[i], &totals);
    if (totals.ranks < 2 || totals.most_compute_ns <= 0)
        return true;
    double mean_ns = totals.compute_ns / (double)totals.ranks;
    double balance = mean_ns / totals.most_compute_ns;
    double communication = totals.most_compute_ns / totals.step_ns;
    return add(run, "load_balance", balance, "Mean divided by largest compute time over the ranks.",
               err) &&
           add(run, "communication_efficiency", communication,
               "Largest compute time divided by the longest step: serialization times transfer.",
               err) &&
           add(run, "transfer_efficiency", totals.ideal_ns / totals.step_ns,
               "Longest step of a replay with instant transfers and the same dependencies between "
               "ranks, divided by the longest step.",
               err) &&
           add(run, "serialization_efficiency", totals.most_compute_ns / totals.ideal_ns,
               "Largest compute time divided by the step with an infinitely fast network: low when "
               "ranks wait for each other, or devices for the host.",
               err) &&
           add(run, "parallel_efficiency", balance * communication,
               "Load balance times communication efficiency: the share of the step in which the "
               "average device computes.",
               err) &&
           add(run, "offload_efficiency", totals.compute_ns / totals.apart_ns,
               "Compute divided by the time without exposed communication, over all ranks: low "
               "when devices are idle or copy.",
               err);
}
