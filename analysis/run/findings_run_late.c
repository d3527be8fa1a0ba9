// SPDX-License-Identifier: Apache-2.0
// Which ranks the others wait for: one, or several that are late together.
#include "analysis/run/findings_run.h"
#include "analysis/report/tables.h"
#include "analysis/ranks/run_split.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "ingest/base/search.h"

#define LATE_ALIKE 0.5 // of the distance to the others, between ranks that are late together

// The rank that causes most waits without having waited elsewhere itself.
static void find_blamed(struct run_late *late)
{
    double most_ns = 0;
    late->all_ns = 0;
    for (size_t i = 0; late->lateness && i < late->lateness->row_count; i++) {
        double caused_ns = (double)table_i64(late->lateness, i, RUN_LATENESS_CAUSED_WAIT_NS, 0);
        if (table_is(late->lateness, i, RUN_LATENESS_REASON, STR("communication")))
            continue;
        late->all_ns += caused_ns;
        if (caused_ns <= most_ns)
            continue;
        most_ns = caused_ns;
        late->row = i;
    }
    late->part = most_ns > 0 ? most_ns / late->all_ns : 0;
}

// Ranks that do the same as the rank: those of its stage, if there is a pipeline.
static struct run_ranks peers_of(const struct run_case *the_case, int64_t rank)
{
    const struct table *pipeline = report_find(the_case->report, "pipeline");
    for (size_t i = 0; pipeline && i < pipeline->row_count; i++) {
        const struct cell *ranks = table_cell(pipeline, i, RUN_PIPELINE_RANKS);
        if (!ranks->null && run_list_count(ranks->s) > 1 && run_list_has(ranks->s, rank))
            return (struct run_ranks){rank, ranks->s};
    }
    return (struct run_ranks){rank, {NULL, 0}};
}

// Exposed communication of the rank and its peers, largest first.
struct exposed {
    struct keyed *ranks; // key: minus the time; a: row of the table of ranks
    double *ascending;   // the keys
    size_t count;
};

static bool list_exposed(const struct run_case *the_case, struct run_ranks among,
                         struct exposed *exposed, struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    size_t rows = ranks ? ranks->row_count : 0;
    exposed->ranks = arena_room(the_case->arena, 2 * rows + 1, sizeof *exposed->ranks, err);
    exposed->ascending = arena_room(the_case->arena, rows + 1, sizeof *exposed->ascending, err);
    if (!exposed->ranks || !exposed->ascending)
        return false;
    for (size_t i = 0; i < rows; i++) {
        const struct cell *cell = table_cell(ranks, i, RUN_RANKS_EXPOSED_COMM_NS);
        if (!cell->null &&
            (!among.list.at || run_list_has(among.list, table_cell(ranks, i, RUN_RANKS_RANK)->i)))
            exposed->ranks[exposed->count++] = (struct keyed){-cell->i, (uint32_t)i, 0};
    }
    sort_keyed(exposed->ranks, exposed->ranks + rows, exposed->count);
    for (size_t i = 0; i < exposed->count; i++)
        exposed->ascending[i] = (double)exposed->ranks[i].key;
    return true;
}

// Numbers of the late ranks, from index `first` of the exposed ones on, and their list.
static bool name_late(const struct run_case *the_case, const struct exposed *exposed, size_t first,
                      struct run_late *late, struct err *err)
{
    const struct table *ranks = report_find(the_case->report, "ranks");
    late->count = exposed->count - first;
    int64_t *numbers = arena_room(the_case->arena, 2 * late->count, sizeof *numbers, err);
    if (!numbers)
        return false;
    for (size_t i = 0; i < late->count; i++)
        numbers[i] = table_cell(ranks, exposed->ranks[first + i].a, RUN_RANKS_RANK)->i;
    sort_i64(numbers, numbers + late->count, late->count);
    late->ranks = numbers;
    late->list = number_list(numbers, late->count, the_case->arena, err);
    return late->list != NULL;
}

// Waits caused by the late ranks, and the row of the one that causes most, among those with the
// most common reason.
static void sum_blame(struct run_late *late)
{
    static const char *const reasons[] = {"compute_slower", "more_work", "data_loading", "host",
                                          "copies"};
    double sum_ns = 0, most_ns = 0;
    for (size_t r = 0; r < sizeof reasons / sizeof *reasons; r++) {
        double ns = 0;
        size_t row = late->lateness->row_count;
        for (size_t i = 0; i < late->lateness->row_count; i++) {
            if (!table_is(late->lateness, i, RUN_LATENESS_REASON, str_of(reasons[r])) ||
                !run_late_has(late, table_cell(late->lateness, i, RUN_LATENESS_RANK)->i))
                continue;
            ns += (double)table_i64(late->lateness, i, RUN_LATENESS_CAUSED_WAIT_NS, 0);
            row = row < i ? row : i; // those that cause most come first
        }
        if (ns > most_ns) {
            most_ns = ns;
            late->row = row;
        }
    }
    for (size_t i = 0; i < late->lateness->row_count; i++)
        if (run_late_has(late, table_cell(late->lateness, i, RUN_LATENESS_RANK)->i) &&
            !table_is(late->lateness, i, RUN_LATENESS_REASON, STR("communication")))
            sum_ns += (double)table_i64(late->lateness, i, RUN_LATENESS_CAUSED_WAIT_NS, 0);
    late->part = sum_ns / late->all_ns;
}

// Those with clearly less exposed communication than the others, if the blamed rank is one of them
// and they are late alike: all steps are equally long, so the others wait for them. Several ranks
// must cause half of what would not be expected by chance.
static bool find_alike(const struct run_case *the_case, const struct exposed *exposed,
                       int64_t blamed, struct run_late *late, struct err *err)
{
    double gap = FINDING_STRAGGLER_SHARE * (double)the_case->step_ns;
    size_t waiting = run_split_low(exposed->ascending, exposed->count, gap);
    if (waiting == exposed->count || waiting == 0)
        return true;
    double first = exposed->ascending[waiting - 1];
    double nearest = exposed->ascending[waiting], last = exposed->ascending[exposed->count - 1];
    if (last - nearest > LATE_ALIKE * (last - first))
        return true;
    if (!name_late(the_case, exposed, waiting, late, err))
        return false;
    sum_blame(late);
    double chance = (double)late->count / (double)exposed->count;
    double least = late->count > 1 ? chance + (1 - chance) * FINDING_STRAGGLER_PART : 0;
    if (!run_late_has(late, blamed) || late->part < least) {
        late->count = 0;
        return true;
    }
    int64_t waited = -exposed->ranks[waiting - 1 - (waiting - 1) / 2].key; // upper half's begin
    late->cost_ns = waited + exposed->ranks[exposed->count - 1].key;
    return true;
}

// One rank against the median of its peers.
static bool find_alone(const struct run_case *the_case, int64_t blamed, struct run_late *late,
                       struct err *err)
{
    int64_t others_ns, *numbers = arena_room(the_case->arena, 1, sizeof *numbers, err);
    if (!numbers || !run_rank_median(the_case, RUN_RANKS_EXPOSED_COMM_NS,
                                     peers_of(the_case, blamed), &others_ns, err))
        return false;
    numbers[0] = blamed;
    late->ranks = numbers;
    late->count = 1;
    late->list = number_list(numbers, 1, the_case->arena, err);
    late->cost_ns = others_ns - run_rank_i64(the_case, RUN_RANKS_EXPOSED_COMM_NS, blamed);
    return late->list != NULL;
}

bool run_late_has(const struct run_late *late, int64_t rank)
{
    uint32_t below = count_below_i64(late->ranks, (uint32_t)late->count, sizeof *late->ranks, rank);
    return below < late->count && late->ranks[below] == rank;
}

bool run_find_late(const struct run_case *the_case, struct run_late *late, struct err *err)
{
    struct exposed exposed = {.count = 0};
    *late = (struct run_late){.lateness = report_find(the_case->report, "lateness")};
    find_blamed(late);
    if (late->part <= 0)
        return true;
    int64_t blamed = table_cell(late->lateness, late->row, RUN_LATENESS_RANK)->i;
    if (!list_exposed(the_case, peers_of(the_case, blamed), &exposed, err) ||
        !find_alike(the_case, &exposed, blamed, late, err))
        return false;
    if (late->count == 0) {
        find_blamed(late);
        if (!find_alone(the_case, blamed, late, err))
            return false;
    }
    if (late->part < FINDING_STRAGGLER_PART ||
        !run_costs(the_case, late->cost_ns, FINDING_STRAGGLER_SHARE))
        late->cost_ns = 0;
    return true;
}
