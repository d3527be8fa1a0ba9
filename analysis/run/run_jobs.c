// SPDX-License-Identifier: Apache-2.0
// Whether the traces of a run are from several jobs, across which nothing can be judged, by device,
// number of ranks and time; and which ranks of a job were recorded together, so that their
// collectives can match, by time, steps, and ranks that occur twice.
#include "analysis/stats/groups.h"
#include "analysis/run/run.h"
#include "analysis/ranks/run_comm.h"
#include "analysis/stats/sort.h"
#include "analysis/report/tables.h"

#define APART_NS   INT64_C(60000000000) // between windows, more than clocks explain
#define NUMBERED   STR("ProfilerStep#")
#define PACE_TIMES 10.0 // how much slower or faster than recorded a job may take its steps

enum { MOST_KINDS = 64 }; // of devices

// Signs that distinguish ranks of different jobs, then those of one job that were not recorded
// together; the numbers have no meaning themselves. 0: unknown.
enum { BY_DEVICE, BY_WORLD, BY_TIME, BY_RECORDING, BY_TWIN, SIGNS };
enum { JOB_SIGNS = BY_RECORDING };

static const char *const sign_words[JOB_SIGNS] = {"device", "number of ranks", "time"};

struct jobs {
    struct run *run;
    uint32_t (*signs)[SIGNS]; // per rank
    struct keyed *in_time;    // the ranks by begin, 0 if unknown; twice the room
    struct keyed *in_rank; // by the rank they claim to be, -1: none, then by begin; twice the room
    int64_t *ends;         // per rank: of its window, if its start is known
    uint32_t *same;        // per rank: the previous one in time that claims to be the same
    bool differ[SIGNS];
};

void run_note_steps(struct run *run, size_t rank, const struct report *report)
{
    const struct table *steps = report_find(report, "steps");
    struct run_steps *noted = &run->steps[rank];
    for (size_t i = 0; steps && i < steps->row_count; i++) {
        const struct cell *name = table_cell(steps, i, STEPS_NAME);
        int64_t number = table_cell(steps, i, STEPS_STEP)->i;
        if (name->null || !str_starts_with(name->s, NUMBERED))
            return;
        noted->first = noted->known && noted->first < number ? noted->first : number;
        noted->last = noted->known && noted->last > number ? noted->last : number;
        noted->known = true;
    }
}

// --- signs --------------------------------------------------------------------------------------

static struct str gpu_of(const struct run *run, size_t rank)
{
    const struct table *summary = run_head(run, rank, "summary");
    const struct cell *gpu =
        summary && summary->row_count ? table_cell(summary, 0, SUMMARY_GPU) : NULL;
    return gpu && !gpu->null ? gpu->s : STR("");
}

// Names of one device may differ in the words that follow: "AMD Instinct MI300X", "AMD Instinct
// MI300X VF"; but "NVIDIA A10" and "NVIDIA A100" are two.
static bool begins_with_words(struct str name, struct str front)
{
    return str_starts_with(name, front) &&
           (name.len == front.len || name.at[front.len] == ' ' || name.at[front.len] == '-');
}

static bool are_alike(struct str one, struct str other)
{
    return begins_with_words(one, other) || begins_with_words(other, one);
}

// Kinds beyond the limit count as the last one.
static void sign_devices(struct jobs *jobs)
{
    struct str kinds[MOST_KINDS];
    uint32_t count = 0;
    for (size_t i = 0; i < jobs->run->count; i++) {
        struct str gpu = gpu_of(jobs->run, i);
        uint32_t kind = 0;
        while (kind < count && !are_alike(gpu, kinds[kind]))
            kind++;
        if (gpu.len && kind == count && count < MOST_KINDS)
            kinds[count++] = gpu;
        jobs->signs[i][BY_DEVICE] = gpu.len ? kind + 1 : 0;
    }
}

static void sign_worlds(struct jobs *jobs)
{
    for (size_t i = 0; i < jobs->run->count; i++) {
        int64_t world = run_summary_i64(jobs->run, i, SUMMARY_WORLD_SIZE, 0);
        jobs->signs[i][BY_WORLD] = world > 0 && world <= INT32_MAX ? (uint32_t)world : 0;
    }
}

// --- recordings ---------------------------------------------------------------------------------

static void order_ranks(struct jobs *jobs)
{
    const struct run *run = jobs->run;
    for (size_t i = 0; i < run->count; i++) {
        const struct table *breakdown = run_head(run, i, "breakdown");
        bool has_window = breakdown && breakdown->row_count;
        int64_t begin_ns = run_summary_i64(run, i, SUMMARY_WINDOW_BEGIN_NS, 0);
        int64_t window_ns = has_window ? table_cell(breakdown, 0, BREAKDOWN_WINDOW_NS)->i : 0;
        bool known = has_window && begin_ns >= RUN_YEAR_2000_NS &&
                     !__builtin_add_overflow(begin_ns, window_ns, &jobs->ends[i]);
        jobs->in_time[i] = (struct keyed){known ? begin_ns : 0, (uint32_t)i, 0};
    }
    sort_keyed(jobs->in_time, jobs->in_time + run->count, run->count);
    for (size_t i = 0; i < run->count; i++) {
        uint32_t rank = jobs->in_time[i].a;
        jobs->in_rank[i] = (struct keyed){run_summary_i64(run, rank, SUMMARY_RANK, -1), rank, 0};
    }
    sort_keyed(jobs->in_rank, jobs->in_rank + run->count, run->count);
    for (size_t i = 0; i < run->count; i++) {
        const struct keyed *its = &jobs->in_rank[i];
        bool again = i > 0 && its->key >= 0 && its[-1].key == its->key;
        jobs->same[its->a] = again ? its[-1].a : RUN_NONE;
    }
}

// Ranks recorded together, as far as seen in time order.
struct recording {
    uint32_t job, number;
    int64_t end_ns;
    struct run_steps steps;
    struct str host; // of all of them; "" if unknown or several
};

static bool at_other_steps(const struct run_steps *one, const struct run_steps *other)
{
    return one->known && other->known && (one->first > other->last || one->last < other->first);
}

// Whether the rank has the clock of all others: those of one machine are one.
static bool on_same_clock(const struct run *run, const struct recording *recording, uint32_t rank)
{
    struct str host = run_place_host(run, rank);
    return host.len > 0 && str_equal(host, recording->host) && !str_equal(host, STR("localhost"));
}

// Whether the time since the recording matches the job's pace for the steps in between.
static bool goes_on(const struct run *run, const struct recording *recording, uint32_t rank,
                    int64_t later_ns)
{
    const struct run_steps *steps = &run->steps[rank];
    double step_ns = (double)run_summary_i64(run, rank, SUMMARY_STEP_MEDIAN_NS, 0);
    double between = (double)steps->first - (double)recording->steps.last;
    return steps->known && recording->steps.known && between > 0 &&
           (double)later_ns < between * step_ns * PACE_TIMES &&
           (double)later_ns > between * step_ns / PACE_TIMES;
}

// Starts another recording, or one of another job, if the rank's window starts after the end of the
// others' and something shows that this is not due to clocks.
static void start_recording(const struct jobs *jobs, struct recording *recording, uint32_t rank,
                            int64_t begin_ns)
{
    const struct run *run = jobs->run;
    int64_t later_ns = begin_ns - recording->end_ns;
    uint32_t same = jobs->same[rank];
    bool first = recording->number == 0;
    bool other_job = later_ns > APART_NS && !goes_on(run, recording, rank, later_ns);
    bool again = same != RUN_NONE && jobs->signs[same][BY_RECORDING] == recording->number;
    bool apart = again || at_other_steps(&recording->steps, &run->steps[rank]) ||
                 on_same_clock(run, recording, rank);
    if (!first && !(later_ns > 0 && apart) && later_ns <= APART_NS)
        return;
    *recording = (struct recording){.job = recording->job + (first || other_job),
                                    .number = recording->number + 1,
                                    .end_ns = jobs->ends[rank],
                                    .host = run_place_host(run, rank)};
}

static void join_steps(struct run_steps *all, const struct run_steps *own)
{
    if (!own->known)
        return;
    all->first = all->known && all->first < own->first ? all->first : own->first;
    all->last = all->known && all->last > own->last ? all->last : own->last;
    all->known = true;
}

static void sign_times(struct jobs *jobs)
{
    struct recording recording = {0};
    for (size_t i = 0; i < jobs->run->count; i++) {
        uint32_t rank = jobs->in_time[i].a;
        if (jobs->in_time[i].key == 0)
            continue;
        start_recording(jobs, &recording, rank, jobs->in_time[i].key);
        if (jobs->ends[rank] > recording.end_ns)
            recording.end_ns = jobs->ends[rank];
        join_steps(&recording.steps, &jobs->run->steps[rank]);
        if (!str_equal(recording.host, run_place_host(jobs->run, rank)))
            recording.host = STR("");
        jobs->signs[rank][BY_TIME] = recording.job;
        jobs->signs[rank][BY_RECORDING] = recording.number;
    }
}

// If no times are known, steps that are apart are separate recordings.
static void sign_steps(struct jobs *jobs)
{
    const struct run *run = jobs->run;
    struct keyed *order = jobs->in_time;
    struct run_steps seen = {0};
    size_t count = 0;
    uint32_t number = 0;
    if (order[run->count - 1].key != 0)
        return;
    for (size_t i = 0; i < run->count; i++)
        if (run->steps[i].known)
            order[count++] = (struct keyed){run->steps[i].first, (uint32_t)i, 0};
    sort_keyed(order, order + run->count, count);
    for (size_t i = 0; i < count; i++) {
        const struct run_steps *own = &run->steps[order[i].a];
        number += i == 0 || at_other_steps(&seen, own);
        join_steps(&seen, own);
        jobs->signs[order[i].a][BY_RECORDING] = number;
    }
}

// If the ranks of a recording claim to be different ones, duplicates form a separate group, such as
// the engines that serve one model side by side. If all claim the same, it means nothing.
static bool sign_twins(struct jobs *jobs, struct err *err)
{
    size_t count = jobs->run->count;
    uint32_t *said = arena_array(jobs->run->scratch, count + 2, sizeof *said, err);
    bool *several = arena_array(jobs->run->scratch, count + 2, sizeof *several, err);
    if (!said || !several)
        return false;
    for (size_t i = 0; i < count; i++) { // ranks as claimed, plus 1
        const struct keyed *its = &jobs->in_rank[i];
        uint32_t recording = jobs->signs[its->a][BY_RECORDING];
        uint32_t same = jobs->same[its->a];
        bool twin = same != RUN_NONE && jobs->signs[same][BY_RECORDING] == recording;
        jobs->signs[its->a][BY_TWIN] = 1;
        if (twin) // not a conditional expression: gcc 14 reads both sides of such a sum
            jobs->signs[its->a][BY_TWIN] += jobs->signs[same][BY_TWIN];
        several[recording] = several[recording] || (said[recording] && !twin && its->key >= 0);
        said[recording] = said[recording] || its->key >= 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!several[jobs->signs[i][BY_RECORDING]])
            jobs->signs[i][BY_TWIN] = 1;
    return true;
}

// --- jobs ---------------------------------------------------------------------------------------

// Unknown signs are taken from the first rank with a known one.
static void fill_in(struct jobs *jobs)
{
    for (int sign = 0; sign < BY_TWIN; sign++) {
        uint32_t first = 0;
        for (size_t i = 0; i < jobs->run->count && first == 0; i++)
            first = jobs->signs[i][sign];
        for (size_t i = 0; i < jobs->run->count; i++) {
            uint32_t *own = &jobs->signs[i][sign];
            *own = *own ? *own : first;
            jobs->differ[sign] = jobs->differ[sign] || *own != first;
        }
    }
}

static bool number_jobs(struct jobs *jobs, struct err *err)
{
    struct run *run = jobs->run;
    struct groups of_jobs, recordings;
    bool ok = true;
    groups_init(&of_jobs, run->budget);
    groups_init(&recordings, run->budget);
    for (size_t i = 0; ok && i < run->count; i++) {
        const uint32_t *signs = jobs->signs[i];
        uint64_t kind = (uint64_t)signs[BY_DEVICE] << 32 | signs[BY_WORLD];
        uint64_t part = (uint64_t)signs[BY_RECORDING] << 32 | signs[BY_TWIN];
        ok = groups_index(&of_jobs, kind, signs[BY_TIME], &run->job[i], err) &&
             groups_index(&recordings, run->job[i], part, &run->recording[i], err);
    }
    run->job_count = of_jobs.count;
    run->recording_count = recordings.count;
    groups_free(&of_jobs);
    groups_free(&recordings);
    return ok;
}

// "device, time".
static const char *list_signs(const struct jobs *jobs, struct err *err)
{
    const char *list = "";
    for (int sign = 0; list && sign < JOB_SIGNS; sign++)
        if (jobs->differ[sign])
            list = arena_printf(jobs->run->scratch, err, "%s%s%s", list, *list ? ", " : "",
                                sign_words[sign]);
    return list;
}

// The most common number among ranks, the first of equals; among those of a job.
static uint32_t most_common(const uint32_t *numbers, const struct run *run, const uint32_t *job,
                            size_t *ranks)
{
    uint32_t most = RUN_NONE;
    for (size_t i = 0; i < run->count; i++)
        ranks[numbers[i]] += !job || run->job[i] == *job;
    for (size_t i = 0; i < run->count; i++)
        if (ranks[numbers[i]] && (most == RUN_NONE || ranks[numbers[i]] > ranks[most]))
            most = numbers[i];
    return most;
}

static bool find_main(struct run *run, struct err *err)
{
    size_t *ranks = arena_array(run->scratch, run->job_count, sizeof *ranks, err);
    size_t *together = arena_array(run->scratch, run->recording_count, sizeof *together, err);
    if (!ranks || !together)
        return false;
    run->main_job = most_common(run->job, run, NULL, ranks);
    run->main_recording = most_common(run->recording, run, &run->main_job, together);
    return true;
}

bool run_find_jobs(struct run *run, struct err *err)
{
    struct jobs jobs = {.run = run};
    jobs.signs = arena_array(run->scratch, run->count, sizeof *jobs.signs, err);
    jobs.in_time = arena_array(run->scratch, 2 * run->count, sizeof *jobs.in_time, err);
    jobs.in_rank = arena_array(run->scratch, 2 * run->count, sizeof *jobs.in_rank, err);
    jobs.ends = arena_array(run->scratch, run->count, sizeof *jobs.ends, err);
    jobs.same = arena_array(run->scratch, run->count, sizeof *jobs.same, err);
    run->job = arena_array(run->scratch, run->count, sizeof *run->job, err);
    run->recording = arena_array(run->scratch, run->count, sizeof *run->recording, err);
    if (!jobs.signs || !jobs.in_time || !jobs.in_rank || !jobs.ends || !jobs.same || !run->job ||
        !run->recording)
        return false;
    sign_devices(&jobs);
    sign_worlds(&jobs);
    order_ranks(&jobs);
    sign_times(&jobs);
    sign_steps(&jobs);
    fill_in(&jobs);
    if (!sign_twins(&jobs, err))
        return false;
    run->job_signs = list_signs(&jobs, err);
    return run->job_signs && number_jobs(&jobs, err) && find_main(run, err);
}
