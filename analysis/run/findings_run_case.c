// SPDX-License-Identifier: Apache-2.0
// What rules of a run read from its tables.
#include "analysis/run/findings_run.h"
#include "analysis/report/tables.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

// A part of a step with a smaller share of the slow steps' excess is not what is slow.
#define SLOW_PART 0.1

double run_percent(const struct run_case *the_case, int64_t ns)
{
    return 100 * (double)ns / (double)the_case->step_ns;
}

bool run_costs(const struct run_case *the_case, int64_t cost_ns, double share)
{
    return cost_ns > 0 && (double)cost_ns >= share * (double)the_case->step_ns;
}

static bool take_char(struct str *text, char c)
{
    if (text->len == 0 || text->at[0] != c)
        return false;
    *text = (struct str){text->at + 1, text->len - 1};
    return true;
}

// Takes "3" or "0-7", and the comma after it; false if there is none.
static bool take_range(struct str *list, int64_t *first, int64_t *last)
{
    if (!str_take_i64(list, first))
        return false;
    *last = *first;
    if (take_char(list, '-') && !str_take_i64(list, last))
        return false;
    return *last >= *first && *last - *first <= INT32_MAX &&
           (list->len == 0 || (take_char(list, ',') && list->len > 0));
}

bool run_rank_median(const struct run_case *the_case, unsigned column, struct run_ranks among,
                     int64_t *median, struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    size_t rows = ranks ? ranks->row_count : 0, count = 0;
    int64_t *values = arena_room(the_case->arena, 2 * rows + 1, sizeof *values, err);
    if (!values)
        return false;
    for (size_t i = 0; i < rows; i++) {
        const struct cell *cell = table_cell(ranks, i, column);
        int64_t rank = table_cell(ranks, i, RUN_RANKS_RANK)->i;
        if (!cell->null && rank != among.except &&
            (!among.list.at || run_list_has(among.list, rank)))
            values[count++] = cell->i;
    }
    sort_i64(values, values + rows, count);
    *median = count ? stats_median(values, count) : -1;
    return true;
}

// The table of ranks ascends.
int64_t run_rank_i64(const struct run_case *the_case, unsigned column, int64_t rank)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    size_t low = 0, high = ranks ? ranks->row_count : 0, count = high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table_cell(ranks, middle, RUN_RANKS_RANK)->i < rank)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < count && table_cell(ranks, low, RUN_RANKS_RANK)->i == rank;
    return found ? table_i64(ranks, low, column, -1) : -1;
}

// --- slow steps ----------------------------------------------------------------------------------

// By how much the mean of a column over the headline rank's steady steps exceeds the median: the
// excess of slow steps; 0 if unknown. Room for twice the rows in values.
static double excess_of(const struct run_case *the_case, const struct table *steps, unsigned column,
                        int64_t *values)
{
    size_t count = 0;
    double sum = 0;
    for (size_t i = 0; i < steps->row_count; i++) {
        const struct cell *cell = table_cell(steps, i, column);
        if (cell->null || table_cell(steps, i, RUN_RANK_STEPS_RANK)->i != the_case->headline ||
            !table_i64(steps, i, RUN_RANK_STEPS_STEADY, 0))
            continue;
        sum += (double)cell->i;
        values[count++] = cell->i;
    }
    sort_i64(values, values + steps->row_count, count);
    return count ? sum / (double)count - (double)stats_median(values, count) : 0;
}

bool run_slow_parts(const struct run_case *the_case, unsigned *bars, struct err *err)
{
    static const struct {
        unsigned column, bars;
    } parts[] = {{RUN_RANK_STEPS_COMPUTE_NS, RUN_BARS_COMPUTE},
                 {RUN_RANK_STEPS_EXPOSED_WAIT_NS, RUN_BARS_WAIT},
                 {RUN_RANK_STEPS_EXPOSED_TRANSFER_NS, RUN_BARS_MOVE},
                 {RUN_RANK_STEPS_IDLE_NS, RUN_BARS_IDLE}};
    const struct table *steps = report_find(the_case->report, "rank_steps");
    size_t rows = steps ? steps->row_count : 0;
    int64_t *values = arena_room(the_case->arena, 2 * rows + 1, sizeof *values, err);
    *bars = RUN_BARS_ALL;
    if (!values || rows == 0)
        return values;
    double step_ns = excess_of(the_case, steps, RUN_RANK_STEPS_STEP_NS, values), named_ns = 0;
    unsigned found = 0;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        double part_ns = excess_of(the_case, steps, parts[p].column, values);
        if (part_ns < SLOW_PART * step_ns)
            continue;
        found |= parts[p].bars;
        named_ns += part_ns;
    }
    if (step_ns > 0 && named_ns >= (1 - SLOW_PART) * step_ns)
        *bars = found;
    return true;
}

// --- pipelines -----------------------------------------------------------------------------------

// The stage of a list's first rank, NULL text without a pipeline.
static struct str stage_of(const struct run_case *the_case, struct str list)
{
    const struct table *pipeline = report_find(the_case->report, "pipeline");
    int64_t rank, last;
    bool known = take_range(&list, &rank, &last);
    for (size_t i = 0; known && pipeline && i < pipeline->row_count; i++) {
        const struct cell *ranks = table_cell(pipeline, i, RUN_PIPELINE_RANKS);
        if (!ranks->null && run_list_has(ranks->s, rank))
            return ranks->s;
    }
    return (struct str){NULL, 0};
}

// Ranks of different stages wait for each other in the bubble, whatever they call.
static bool joins_stages(const struct run_case *the_case, struct str list)
{
    int64_t first, last;
    struct str stage = stage_of(the_case, list);
    while (stage.at && list.len > 0 && take_range(&list, &first, &last))
        for (int64_t rank = first; rank <= last; rank++)
            if (!run_list_has(stage, rank))
                return true;
    return false;
}

static bool is_pipeline(const struct run_case *the_case, const struct table *waits, size_t row)
{
    const struct cell *ranks = table_cell(waits, row, RUN_COMM_WAITS_RANKS);
    return table_is(waits, row, RUN_COMM_WAITS_KIND, STR("send")) ||
           table_is(waits, row, RUN_COMM_WAITS_KIND, STR("recv")) ||
           table_is(waits, row, RUN_COMM_WAITS_KIND, STR("send_recv")) ||
           table_is(waits, row, RUN_COMM_WAITS_DIMENSION, STR("pipeline")) ||
           (!ranks->null && joins_stages(the_case, ranks->s));
}

double run_collective_share(const struct run_case *the_case)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    double all_ns = 0, collective_ns = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        double wait_ns = (double)table_i64(waits, i, RUN_COMM_WAITS_EXPOSED_WAIT_NS, 0);
        all_ns += wait_ns;
        collective_ns += is_pipeline(the_case, waits, i) ? 0 : wait_ns;
    }
    return all_ns > 0 ? collective_ns / all_ns : 1;
}

static bool needs_result(const struct table *waits, size_t row)
{
    static const char *const dimensions[] = {"tensor", "context", "expert", "pipeline"};
    bool needs = false;
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; d++)
        needs |= table_is(waits, row, RUN_COMM_WAITS_DIMENSION, str_of(dimensions[d]));
    return needs;
}

double run_overlap_share(const struct run_case *the_case)
{
    const struct table *waits = report_find(the_case->report, "comm_waits");
    double all_ns = 0, free_ns = 0;
    for (size_t i = 0; waits && i < waits->row_count; i++) {
        double transfer_ns = (double)table_i64(waits, i, RUN_COMM_WAITS_EXPOSED_TRANSFER_NS, 0);
        all_ns += transfer_ns;
        free_ns += needs_result(waits, i) ? 0 : transfer_ns;
    }
    return all_ns > 0 ? free_ns / all_ns : 1;
}

int64_t run_missing_ranks(const struct run_case *the_case)
{
    const struct table *trust = report_find(the_case->report, "trust");
    int64_t missing = 0;
    for (size_t i = 0; trust && i < trust->row_count; i++)
        if (table_is(trust, i, RUN_TRUST_ITEM, STR("missing_ranks")))
            missing += table_i64(trust, i, RUN_TRUST_COUNT, 0);
    return missing;
}

int64_t run_list_count(struct str list)
{
    int64_t count = 0, first, last;
    while (list.len > 0) {
        if (!take_range(&list, &first, &last))
            return 0;
        count += last - first + 1;
    }
    return count;
}

bool run_list_has(struct str list, int64_t number)
{
    int64_t first, last;
    while (list.len > 0 && take_range(&list, &first, &last))
        if (number >= first && number <= last)
            return true;
    return false;
}
