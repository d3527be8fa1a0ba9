// SPDX-License-Identifier: Apache-2.0
// What the host of a late rank was busy with, in the annotations' words.
#include "analysis/run/findings_run.h"
#include "analysis/report/tables.h"

#define RANGE_PART 0.5 // of the rank's cost, and of its waits for the host

// Annotations around everything, or made by the framework.
static bool says_nothing(struct str range)
{
    static const char *const fronts[] = {"ProfilerStep#", "Optimizer.", "enumerate(DataLoader)",
                                         "autograd::", "nccl:"};
    for (size_t i = 0; i < sizeof fronts / sizeof *fronts; i++)
        if (str_starts_with(range, str_of(fronts[i])))
            return true;
    return range.len == 0;
}

// Gaps of all devices merged, in steps, that waited for the host.
static bool is_late_host(const struct table *gaps, size_t row)
{
    static const char *const causes[] = {"sync", "allocator", "host_compute", "launch_overhead"};
    if (!table_cell(gaps, row, IDLE_GAPS_DEVICE)->null ||
        table_cell(gaps, row, IDLE_GAPS_STEP)->null)
        return false;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (table_is(gaps, row, IDLE_GAPS_CAUSE, str_of(causes[i])))
            return true;
    return false;
}

static double time_in(const struct table *gaps, struct str range)
{
    double ns = 0;
    for (size_t i = 0; i < gaps->row_count; i++)
        if (is_late_host(gaps, i) && table_is(gaps, i, IDLE_GAPS_HOST_RANGE, range))
            ns += (double)table_i64(gaps, i, IDLE_GAPS_DUR_NS, 0);
    return ns;
}

// The range with most of the time; at most a few hundred gaps are recorded.
static struct str find_range(const struct table *gaps, double least_ns)
{
    struct str best = {NULL, 0};
    double all_ns = 0, best_ns = 0;
    for (size_t i = 0; i < gaps->row_count; i++) {
        const struct cell *range = table_cell(gaps, i, IDLE_GAPS_HOST_RANGE);
        if (!is_late_host(gaps, i))
            continue;
        all_ns += (double)table_i64(gaps, i, IDLE_GAPS_DUR_NS, 0);
        if (range->null || says_nothing(range->s) || (best.at && str_equal(best, range->s)))
            continue;
        double ns = time_in(gaps, range->s);
        best = ns > best_ns ? range->s : best;
        best_ns = ns > best_ns ? ns : best_ns;
    }
    bool most = best_ns >= RANGE_PART * all_ns && best_ns >= RANGE_PART * least_ns;
    return most ? best : (struct str){NULL, 0};
}

bool run_late_range(const struct run_case *the_case, int64_t rank, int64_t cost_ns,
                    struct str *range, struct err *err)
{
    static const struct table_desc *const known[] = {&table_idle_gaps, NULL};
    const struct rank_source *source = the_case->source;
    struct report report = {.arena = the_case->arena};
    size_t index = 0;
    *range = (struct str){NULL, 0};
    while (source && index < source->count && source->ranks[index] != rank)
        index++;
    if (!source || index == source->count)
        return true;
    if (!source->load(source->context, index, known, &report, err))
        return false;
    const struct table *gaps = report_find(&report, "idle_gaps");
    if (gaps)
        *range = find_range(gaps, (double)cost_ns * (double)the_case->all_steps);
    return true;
}
