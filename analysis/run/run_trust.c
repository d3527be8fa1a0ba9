// SPDX-License-Identifier: Apache-2.0
// The trust report's lines about the run as a whole: missing ranks, and ranks that do not fit the
// others.
#include "analysis/report/trust.h"
#include "analysis/run/run.h"
#include "analysis/report/tables.h"

enum { MAX_LISTED = 12 }; // ranges of ranks to list

// Ranks first to last except a run in between, as "3, 5-7, ..."; up to a number of ranges.
struct listing {
    struct buf text;
    int64_t count, ranges;
};

static void list_range(struct listing *listing, int64_t first, int64_t last)
{
    if (last < first)
        return;
    listing->count += last - first + 1;
    if (listing->ranges++ > MAX_LISTED)
        return;
    buf_puts(&listing->text, listing->ranges > 1 ? ", " : "");
    if (listing->ranges > MAX_LISTED)
        buf_puts(&listing->text, "...");
    else if (last > first)
        buf_printf(&listing->text, "%lld-%lld", (long long)first, (long long)last);
    else
        buf_i64(&listing->text, first);
}

// Adds a row about the listed ranks, with which the detail ends; none without ranks.
static bool add_listed(const struct run *run, struct doubt *doubt, struct listing *listing,
                       struct err *err)
{
    bool ok = buf_ok(&listing->text, err);
    if (ok && listing->count) {
        doubt->count = listing->count;
        doubt->detail = arena_printf(run->scratch, err, "%s: %s", doubt->detail, listing->text.at);
        ok = doubt->detail && doubt_add_of_run(run->report, doubt, err);
    }
    buf_free(&listing->text);
    return ok;
}

static bool judge_missing(const struct run *run, struct err *err)
{
    struct listing listing = {0};
    struct doubt doubt = {
        .item = "missing_ranks",
        .severity = "warning",
        .detail = "ranks of the job without a trace",
        .effect = "the typical and the slowest rank are chosen among the ranks with a trace; "
                  "waits for a missing rank are attributed to one with a trace",
    };
    int64_t next = 0;
    for (size_t i = 0; i < run->count && run->ranks[i] < run->world_size; i++) {
        list_range(&listing, next, run->ranks[i] - 1);
        next = run->ranks[i] + 1;
    }
    list_range(&listing, next, run->world_size - 1);
    return add_listed(run, &doubt, &listing, err);
}

// One way in which a rank may not fit the headline rank.
struct misfit {
    bool (*differs)(const struct run *run, size_t rank);
    struct doubt doubt;
};

static bool differs_in(const struct run *run, size_t rank, unsigned column)
{
    return run_summary_i64(run, rank, column, -1) !=
           run_summary_i64(run, run->headline, column, -1);
}

static bool steps_differ(const struct run *run, size_t rank)
{
    return differs_in(run, rank, SUMMARY_STEADY_STEPS);
}

static bool steps_apart(const struct run *run, size_t rank)
{
    return run->job[rank] == run->main_job &&
           !run_steps_alike(run_summary_i64(run, rank, SUMMARY_STEP_MEDIAN_NS, -1),
                            run_summary_i64(run, run->headline, SUMMARY_STEP_MEDIAN_NS, -1));
}

static bool job_differs(const struct run *run, size_t rank)
{
    return run->job[rank] != run->main_job;
}

static bool recording_differs(const struct run *run, size_t rank)
{
    return run->job[rank] == run->main_job && run->recording[rank] != run->main_recording;
}

static bool world_differs(const struct run *run, size_t rank)
{
    return differs_in(run, rank, SUMMARY_WORLD_SIZE);
}

static struct str gpu_of(const struct run *run, size_t rank)
{
    const struct table *summary = run_head(run, rank, "summary");
    const struct cell *gpu = summary ? table_cell(summary, 0, SUMMARY_GPU) : NULL;
    return gpu && !gpu->null ? gpu->s : STR("");
}

static bool gpu_differs(const struct run *run, size_t rank)
{
    return !str_equal(gpu_of(run, rank), gpu_of(run, run->headline));
}

static const struct cell *setting_of(const struct table *environment, struct str key)
{
    for (size_t i = 0; environment && i < environment->row_count; i++)
        if (str_equal(table_cell(environment, i, ENVIRONMENT_KEY)->s, key))
            return table_cell(environment, i, ENVIRONMENT_VALUE);
    return NULL;
}

// Any version that both give.
static bool software_differs(const struct run *run, size_t rank)
{
    const struct table *own = run_head(run, rank, "environment");
    const struct table *other = run_head(run, run->headline, "environment");
    for (size_t i = 0; own && i < own->row_count; i++) {
        struct str key = table_cell(own, i, ENVIRONMENT_KEY)->s;
        if (str_find(key, STR("version")) == SIZE_MAX)
            continue;
        const struct cell *value = setting_of(other, key);
        if (value && !str_equal(value->s, table_cell(own, i, ENVIRONMENT_VALUE)->s))
            return true;
    }
    return false;
}

static bool is_by_order(const struct run *run, size_t rank)
{
    return run->count > 1 && run->source->by_order && run->source->by_order[rank];
}

static const struct misfit misfits[] = {
    {is_by_order,
     {.item = "rank_by_order",
      .severity = "info",
      .detail = "ranks without a number of their own in the recording or the file's name, "
                "numbered in the order of the files",
      .effect = "the job's ranks may be others; name the files rank0, rank1 and so on"}},
    {recording_differs,
     {.item = "recorded_apart",
      .severity = "warning",
      .detail = "ranks recorded at a different time than most, and duplicate ranks: traces with "
                "the rank number of another",
      .effect = "collectives are matched, clocks aligned and waits known only among ranks recorded "
                "together"}},
    {steps_differ,
     {.item = "steps_differ",
      .severity = "info",
      .detail = "ranks whose number of steady steps differs from the typical rank's",
      .effect = "sums over ranks cover unequal times; figures per step are not affected"}},
    {steps_apart,
     {.item = "steps_apart",
      .severity = "warning",
      .detail = "ranks whose steps take less than half or more than twice as long as the typical "
                "rank's, as those of another role, or a recording without marked steps",
      .effect = "they are not the same steps: balance and efficiency leave these ranks out"}},
    {world_differs,
     {.item = "world_sizes_differ",
      .severity = "warning",
      .detail = "ranks whose world size differs from the typical rank's",
      .effect = "they belong to another job"}},
    {gpu_differs,
     {.item = "devices_differ",
      .severity = "warning",
      .detail = "ranks on a different device model than the typical rank",
      .effect = "their kernels and steps are not comparable"}},
    {software_differs,
     {.item = "software_differs",
      .severity = "info",
      .detail = "ranks with different software versions than the typical rank",
      .effect = "their kernels and steps may not be comparable"}},
};

static bool judge_misfit(const struct run *run, const struct misfit *misfit, struct err *err)
{
    struct listing listing = {0};
    struct doubt doubt = misfit->doubt;
    size_t from = 0;
    for (size_t i = 0; i <= run->count; i++) {
        bool differs = i < run->count && misfit->differs(run, i);
        bool follows = differs && i > from && run->ranks[i] == run->ranks[i - 1] + 1;
        if (i > from && !follows)
            list_range(&listing, run->ranks[from], run->ranks[i - 1]);
        if (!follows)
            from = differs ? i : i + 1;
    }
    return add_listed(run, &doubt, &listing, err);
}

// First, because it explains why much is empty.
static bool judge_jobs(const struct run *run, struct err *err)
{
    struct misfit several = {
        job_differs,
        {.item = "several_jobs",
         .severity = "error",
         .effect = "ranks of different jobs are not compared: efficiency, imbalance and stragglers "
                   "of the run are empty; the typical rank is of the job with the most ranks"}};
    several.doubt.detail = arena_printf(
        run->scratch, err, "ranks of a different job than most, by %s", run->job_signs);
    return several.doubt.detail && judge_misfit(run, &several, err);
}

bool run_judge_trust(const struct run *run, struct err *err)
{
    if (!judge_jobs(run, err) || !judge_missing(run, err))
        return false;
    for (size_t m = 0; m < sizeof misfits / sizeof *misfits; m++)
        if (!judge_misfit(run, &misfits[m], err))
            return false;
    return true;
}
