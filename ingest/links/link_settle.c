// SPDX-License-Identifier: Apache-2.0
#include "ingest/links/link_settle.h"

#include <math.h>
#include <stdlib.h>

// --- rows ---------------------------------------------------------------------------------------

struct link_run link_empty_run(const char *tool, uint64_t pos)
{
    return (struct link_run){
        .tool = str_of(tool),
        .version = STR(""),
        .collective = STR(""),
        .average_bus_bps = NAN,
        .out_of_bounds = -1,
        .pos = pos,
    };
}

struct link_row link_empty_row(uint32_t run, uint64_t pos)
{
    return (struct link_row){
        .run = run,
        .type = STR(""),
        .reduction = STR(""),
        .root = -1,
        .bytes = -1,
        .count = -1,
        .time_ns = NAN,
        .least_ns = NAN,
        .tail_ns = NAN,
        .algorithm_bps = NAN,
        .bus_bps = NAN,
        .peak_bps = NAN,
        .wrong = -1,
        .pos = pos,
    };
}

bool link_add_row(struct evidence *evidence, const struct link_row *row, struct err *err)
{
    if (isnan(row->time_ns) && isnan(row->bus_bps))
        return true;
    if (row->wrong > 0)
        link_tests_warn(evidence, LINK_WRONG, row->pos);
    return link_tests_add(evidence, LINK_ROWS, row, err);
}

// --- devices ------------------------------------------------------------------------------------

static int by_run(const struct link_device *a, const struct link_device *b)
{
    int group = (a->group > b->group) - (a->group < b->group);
    int run = (a->run > b->run) - (a->run < b->run);
    return run ? run : group;
}

static int by_host(const void *left, const void *right)
{
    const struct link_device *a = left, *b = right;
    int order = by_run(a, b);
    return order ? order : str_compare(a->host, b->host);
}

static int by_rank(const void *left, const void *right)
{
    const struct link_device *a = left, *b = right;
    int order = by_run(a, b);
    return order ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

// NCCL_TESTS_SPLIT makes several groups of ranks: the first prints the results.
static void count_devices(struct link_run *runs, const struct link_device *devices, size_t count)
{
    size_t first = 0;
    bool count_ranks = false;
    for (size_t i = 0; i < count; i++) {
        struct link_run *run = &runs[devices[i].run];
        bool starts = i == 0 || devices[i].run != devices[i - 1].run;
        first = starts ? i : first;
        count_ranks = starts ? run->ranks == 0 : count_ranks;
        if (run->devices_cut || devices[i].group != devices[first].group)
            continue;
        run->ranks += count_ranks;
        run->nodes += starts || !str_equal(devices[i].host, devices[i - 1].host);
    }
}

static void settle_devices(struct link_tests *links)
{
    struct link_device *devices = links->parts[LINK_DEVICES].items;
    size_t count = links->parts[LINK_DEVICES].count;
    if (!count)
        return;
    qsort(devices, count, sizeof *devices, by_host);
    count_devices(links->parts[LINK_RUNS].items, devices, count);
    qsort(devices, count, sizeof *devices, by_rank);
}

// --- bandwidths ---------------------------------------------------------------------------------

// The ratio of bus bandwidth to algorithm bandwidth lies between these, as both are rounded.
struct factor {
    double least, most;
};

static const double HALF_UNIT = 0.005e9; // they are printed with two digits after the point

// Widths are limited: large numbers are printed with fewer digits.
static double rounding(double bps)
{
    static const double digits[][2] = {{1e12, 1}, {1e13, 10}, {1e15, 100}};
    for (size_t i = 0; i < sizeof digits / sizeof *digits; i++)
        if (bps < digits[i][0])
            return digits[i][1] * HALF_UNIT;
    return bps;
}

static void narrow(struct factor *factor, const struct link_row *row)
{
    double algorithm = row->algorithm_bps, bus = row->bus_bps;
    if (!(algorithm > 100 * HALF_UNIT) || !(bus >= 0))
        return;
    factor->least = fmax(factor->least, (bus - rounding(bus)) / (algorithm + rounding(algorithm)));
    factor->most = fmin(factor->most, (bus + rounding(bus)) / (algorithm - rounding(algorithm)));
}

// The only number of ranks with scale * (n - 1) / n in that range; 0: none, or several.
static int64_t ranks_of(const struct factor *factor, double scale)
{
    double least = ceil(scale / (scale - factor->least) - 1e-9);
    double most = floor(scale / (scale - factor->most) + 1e-9);
    return factor->most < scale && least == most && least >= 1 && least < 1e6 ? (int64_t)least : 0;
}

static bool is_none(struct str reduction)
{
    return reduction.len == 0 || str_equal(reduction, STR("none"));
}

struct settling {
    struct link_run *run;
    struct factor factor;
    bool reduces, has_root; // in all rows
    size_t rows;
};

static void look_at(struct settling *settling, const struct link_row *row)
{
    settling->reduces = settling->reduces && !is_none(row->reduction);
    settling->has_root = settling->has_root && row->root >= 0;
    settling->rows++;
    narrow(&settling->factor, row);
}

// A reduction to one rank has a root; of those without, only that to all ranks carries more than
// each message once.
static void guess_collective(struct settling *settling)
{
    struct link_run *run = settling->run;
    double factor = settling->factor.least;
    if (run->collective.len || !settling->reduces || !settling->rows)
        return;
    if (settling->has_root)
        run->collective = STR("reduce");
    else if (factor > 1 && factor < 2)
        run->collective = STR("all_reduce");
    else if (factor > 0 && settling->factor.most < 1)
        // that of two ranks' all_reduce is 1
        run->collective = STR("reduce_scatter");
    run->guessed = run->guessed || run->collective.len;
}

// Excerpts list fewer devices than took part.
static void guess_ranks(struct settling *settling)
{
    struct link_run *run = settling->run;
    bool both = str_equal(run->collective, STR("all_reduce"));
    bool once = str_equal(run->collective, STR("reduce_scatter")) ||
                str_equal(run->collective, STR("all_gather")) ||
                str_equal(run->collective, STR("alltoall"));
    if (!(both || once) || !(settling->factor.least > 0))
        return;
    int64_t ranks = ranks_of(&settling->factor, both ? 2 : 1);
    if (ranks == 0 || ranks == run->ranks)
        return;
    run->devices_cut = run->devices_cut || run->ranks;
    run->ranks = ranks;
    run->nodes = 0;
    run->guessed = true;
}

// --- the file -----------------------------------------------------------------------------------

static void settle_run(struct evidence *evidence, struct settling *settling)
{
    struct link_run *run = settling->run;
    guess_collective(settling);
    guess_ranks(settling);
    if (run->ranks == 1 && settling->rows)
        link_tests_warn(evidence, LINK_SINGLE_RANK, run->pos);
}

bool link_settle(struct evidence *evidence, struct err *err)
{
    struct link_tests *links = &evidence->links;
    struct link_run *runs = links->parts[LINK_RUNS].items;
    const struct link_row *rows = links->parts[LINK_ROWS].items;
    size_t count = links->parts[LINK_RUNS].count, total = links->parts[LINK_ROWS].count;
    struct settling *all = NULL;
    if (!total)
        return err_set(err, ERR_FORMAT, "found a test of links without a single result");
    if (!(all = budget_zalloc(evidence->budget, count * sizeof *all, err)))
        return false;
    settle_devices(links);
    for (size_t i = 0; i < count; i++)
        all[i] = (struct settling){runs + i, {0, INFINITY}, true, true, 0};
    for (size_t i = 0; i < total; i++)
        look_at(&all[rows[i].run], &rows[i]);
    for (size_t i = 0; i < count; i++)
        settle_run(evidence, &all[i]);
    budget_free(evidence->budget, all, count * sizeof *all);
    return true;
}
