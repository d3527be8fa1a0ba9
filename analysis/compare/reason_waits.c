// SPDX-License-Identifier: Apache-2.0
// Why collectives are exposed and why the device idles, in plain words.
#include "analysis/compare/reasons.h"
#include "analysis/report/tables.h"
#include "analysis/stats/time_text.h"

#include <math.h>
#include <stdlib.h>

#define MOST_OF 0.5 // of the difference: a cause with less of it does not explain it
#define ALIKE   1.1 // factors up to this are the same

// --- collectives --------------------------------------------------------------------------------

// Whether the row is one of the sizes of this kind.
static bool is_size(const struct reason_case *the_case, const struct table *sizes, size_t row)
{
    return table_i64(sizes, row, COMPARE_COLLECTIVES_CAND, 0) == the_case->pair->number &&
           table_is(sizes, row, COMPARE_COLLECTIVES_KIND, the_case->reason->title);
}

// The sum over all sizes; NaN if none is known.
static double sum_f64(const struct reason_case *the_case, unsigned column)
{
    const struct table *sizes = report_find(the_case->pair->report, table_compare_collectives.name);
    double sum = NAN;
    for (size_t row = 0; row < sizes->row_count; row++) {
        double value = table_f64(sizes, row, column, NAN);
        if (is_size(the_case, sizes, row) && !isnan(value))
            sum = isnan(sum) ? value : sum + value;
    }
    return sum;
}

static int64_t sum_i64(const struct reason_case *the_case, unsigned column)
{
    const struct table *sizes = report_find(the_case->pair->report, table_compare_collectives.name);
    int64_t sum = 0;
    for (size_t row = 0; row < sizes->row_count; row++)
        if (is_size(the_case, sizes, row))
            sum += table_i64(sizes, row, column, 0);
    return sum;
}

// The value of a kind with a single size.
static double size_f64(const struct reason_case *the_case, unsigned column)
{
    const struct table *sizes = report_find(the_case->pair->report, table_compare_collectives.name);
    return table_f64(sizes, the_case->reason->sizes, column, NAN);
}

static int64_t exposed_delta_ns(const struct reason_case *the_case)
{
    return the_case->reason->ns[CAND] - the_case->reason->ns[BASE];
}

// The exposed waits of the rank that represents both sides; false if unknown.
static bool read_waits(const struct reason_case *the_case, int64_t ns[SIDES])
{
    const struct table *ranks = report_find(the_case->pair->report, table_compare_ranks.name);
    int64_t shown = the_case->pair->sides[BASE]->side->runs[0].which.number;
    if (shown != the_case->pair->sides[CAND]->side->runs[0].which.number)
        return false;
    for (size_t row = 0; ranks && row < ranks->row_count; row++)
        if (table_i64(ranks, row, COMPARE_RANKS_CAND, 0) == the_case->pair->number &&
            table_i64(ranks, row, COMPARE_RANKS_RANK, -1) == shown) {
            for (unsigned side = 0; side < SIDES; side++)
                ns[side] = table_i64(ranks, row, COMPARE_RANKS_BASE_EXPOSED_WAIT_NS + side, -1);
            return ns[BASE] >= 0 && ns[CAND] >= 0;
        }
    return false;
}

// Whether that rank's waits, of all kinds together, explain the difference.
static bool is_wait(const struct reason_case *the_case)
{
    int64_t ns[SIDES], delta_ns = exposed_delta_ns(the_case);
    if (!read_waits(the_case, ns) || (ns[CAND] > ns[BASE]) != (delta_ns > 0))
        return false;
    return (double)llabs(ns[CAND] - ns[BASE]) >= MOST_OF * (double)llabs(delta_ns);
}

// The rank whose lateness grew most from the fast side to the slow one.
static bool find_late_rank(const struct reason_case *the_case, int64_t *rank,
                           int64_t late_ns[SIDES])
{
    const struct table *ranks = report_find(the_case->pair->report, table_compare_ranks.name);
    int slow = reason_slow_side(the_case->reason);
    int64_t most_ns = 0;
    for (size_t row = 0; ranks && row < ranks->row_count; row++) {
        int64_t ns[SIDES];
        if (table_i64(ranks, row, COMPARE_RANKS_CAND, 0) != the_case->pair->number ||
            table_i64(ranks, row, COMPARE_RANKS_RANK, -1) < 0)
            continue;
        for (unsigned side = 0; side < SIDES; side++)
            ns[side] = table_i64(ranks, row, COMPARE_RANKS_BASE_LATENESS_NS + side, 0);
        if (ns[slow] - ns[1 - slow] <= most_ns)
            continue;
        most_ns = ns[slow] - ns[1 - slow];
        *rank = table_i64(ranks, row, COMPARE_RANKS_RANK, -1);
        memcpy(late_ns, ns, sizeof ns);
    }
    int64_t delta_ns = llabs(the_case->reason->ns[CAND] - the_case->reason->ns[BASE]);
    return (double)most_ns >= MOST_OF * (double)delta_ns;
}

static bool say_late_rank(const struct reason_case *the_case, struct words *words)
{
    int64_t rank = -1, late_ns[SIDES] = {0};
    int slow = reason_slow_side(the_case->reason);
    if (!find_late_rank(the_case, &rank, late_ns))
        return false;
    words_say(words, "the others wait for rank %lld of %s, which is %s late%s instead of %s",
              (long long)rank, the_case->names[slow], time_text(late_ns[slow]).text,
              pair_per_step(the_case->pair), time_text(late_ns[1 - slow]).text);
    return true;
}

// The rank that others wait for although it starts no collective late, as a stage of a pipeline:
// its compute grew, and theirs did not.
static bool say_slow_rank(const struct reason_case *the_case, struct words *words)
{
    const struct moved_rank *moved = &the_case->moved;
    int slow = reason_slow_side(the_case->reason), fast = 1 - slow;
    double sign = slow == CAND ? 1 : -1;
    double grown_ns = moved->own.ns[slow] - moved->own.ns[fast];
    double least_ns = MOST_OF * (double)llabs(exposed_delta_ns(the_case));
    if (!moved->ranks || !moved->alone || grown_ns < least_ns ||
        sign * moved->beyond_ns < least_ns || !is_wait(the_case))
        return false;
    words_say(words, "the others wait for rank %lld of %s, which computes for %s%s instead of %s",
              (long long)moved->own.rank, the_case->names[slow],
              time_text(llround(moved->own.ns[slow])).text, pair_per_step(the_case->pair),
              time_text(llround(moved->own.ns[fast])).text);
    return true;
}

static bool say_waits(const struct reason_case *the_case, struct words *words)
{
    int64_t ns[SIDES];
    if (!is_wait(the_case) || !read_waits(the_case, ns))
        return false;
    words_say(words,
              "this rank waits for others, not for the transfer: %s%s of its exposed communication "
              "instead of %s",
              time_text(ns[CAND]).text, pair_per_step(the_case->pair), time_text(ns[BASE]).text);
    return true;
}

static bool say_more_calls(const struct reason_case *the_case, struct words *words)
{
    double base = sum_f64(the_case, COMPARE_COLLECTIVES_BASE_CALLS);
    double cand = sum_f64(the_case, COMPARE_COLLECTIVES_CAND_CALLS);
    bool more = the_case->reason->ns[CAND] > the_case->reason->ns[BASE];
    if (!(base > 0 && cand > 0) || !(more ? cand > ALIKE * base : base > ALIKE * cand))
        return false;
    reason_say_calls(the_case, base, cand, words);
    return true;
}

static bool say_presence(const struct reason_case *the_case, struct words *words)
{
    bool base = sum_f64(the_case, COMPARE_COLLECTIVES_BASE_CALLS) > 0;
    bool cand = sum_f64(the_case, COMPARE_COLLECTIVES_CAND_CALLS) > 0;
    if (base && cand)
        return false;
    words_say(words, "only %s makes such calls", the_case->names[base ? BASE : CAND]);
    return true;
}

// As long as before, but compute hides less of it, or more.
static bool say_hidden(const struct reason_case *the_case, struct words *words)
{
    int64_t base_ns = sum_i64(the_case, COMPARE_COLLECTIVES_BASE_NS);
    int64_t cand_ns = sum_i64(the_case, COMPARE_COLLECTIVES_CAND_NS);
    int64_t exposed_ns = exposed_delta_ns(the_case);
    if ((double)llabs(cand_ns - base_ns) > (1 - MOST_OF) * fabs((double)exposed_ns))
        return false;
    words_say(words, "it takes about as long, %s, but compute hides %s %s of it",
              time_text(cand_ns).text, time_text(llabs(exposed_ns)).text,
              exposed_ns > 0 ? "less" : "more");
    return true;
}

// If that alone makes up most of the difference.
static bool say_bandwidth(const struct reason_case *the_case, struct words *words)
{
    double base = size_f64(the_case, COMPARE_COLLECTIVES_BASE_BUS_GBPS);
    double cand = size_f64(the_case, COMPARE_COLLECTIVES_CAND_BUS_GBPS);
    double delta_ns = (double)exposed_delta_ns(the_case);
    double base_ns = (double)sum_i64(the_case, COMPARE_COLLECTIVES_BASE_NS);
    if (the_case->reason->size_count != 1 || !(base > 0 && cand > 0) || delta_ns == 0)
        return false;
    double explained = (base / cand - 1) * base_ns / delta_ns;
    if (explained < MOST_OF || explained > 1 / MOST_OF)
        return false;
    words_say(words,
              "%.3g GB/s of bus bandwidth on %s instead of %.3g, waiting for other ranks included",
              cand, the_case->names[CAND], base);
    return true;
}

const char *reason_say_collective(const struct reason_case *the_case, struct words *words)
{
    static const struct {
        const char *word;
        bool (*say)(const struct reason_case *the_case, struct words *words);
    } rules[] = {
        {"one_side", say_presence},   {"wait", say_late_rank}, {"wait", say_slow_rank},
        {"calls", say_more_calls},    {"hidden", say_hidden},  {"wait", say_waits},
        {"bandwidth", say_bandwidth},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].say(the_case, words))
            return rules[i].word;
    struct str size = STR("");
    if (the_case->reason->size_count == 1)
        size = table_text(report_find(the_case->pair->report, table_compare_collectives.name),
                          the_case->reason->sizes, COMPARE_COLLECTIVES_SIZE_CLASS);
    words_say(words, "%s%s%stake %s%s instead of %s, waiting for other ranks included",
              size.len ? "those of " : "they ", reason_shown(size).text, size.len ? " " : "",
              time_text(sum_i64(the_case, COMPARE_COLLECTIVES_CAND_NS)).text,
              pair_per_step(the_case->pair),
              time_text(sum_i64(the_case, COMPARE_COLLECTIVES_BASE_NS)).text);
    return "none";
}

// --- graphs -------------------------------------------------------------------------------------

const char *reason_say_graphs(const struct reason_case *the_case, struct words *words)
{
    bool base = the_case->pair->sides[BASE]->whole_graphs;
    words_say(words,
              "kernels, collectives, copies and gaps in graphs as one: the graphs of %s are "
              "recorded as a whole",
              the_case->names[base ? BASE : CAND]);
    return "graphs";
}

// --- idle time ----------------------------------------------------------------------------------

// What the device waits for; `where` continues with the host event.
static const struct {
    const char *cause, *what, *where;
} causes[] = {
    {"sync", "launches, as the host itself waits for the GPU", " in "},
    {"data_loading", "input data", ": the host is in "},
    {"allocator", "memory that the host allocates or frees", " in "},
    {"host_compute", "the host, which is busy", " in "},
    {"launch_overhead", "launches, which take the host longer than the kernels run", ", mostly "},
    {"event_wait", "other streams", NULL},
    {"graph_replay", "the next kernel inside replayed graphs", NULL},
    {"dispatch", "the device to start kernels that are queued", NULL},
    {"profiler", "the profiler, not the job", NULL},
    {"cold_start", "work that is done once, such as loading code", ": "},
    {"unknown", "something the trace does not show", NULL},
};

static struct str host_event_of(const struct reason_case *the_case, int side)
{
    const struct report *rank = the_case->pair->sides[side]->side->runs[0].rank;
    const struct table *idle = report_find(rank, table_idle_causes.name);
    for (size_t row = 0; idle && row < idle->row_count; row++)
        if (!table_text(idle, row, IDLE_CAUSES_DEVICE).len &&
            table_is(idle, row, IDLE_CAUSES_CAUSE, the_case->reason->title))
            return table_text(idle, row, IDLE_CAUSES_HOST_EVENT);
    return STR("");
}

const char *reason_say_cause(const struct reason_case *the_case, struct words *words)
{
    int slow = reason_slow_side(the_case->reason);
    bool only = the_case->reason->ns[1 - slow] == 0;
    if (str_equal(the_case->reason->title, STR("unrecorded"))) { // work, but not known which
        words_say(words, "%s%s ran %swork that its recording lacks", only ? "only " : "",
                  the_case->names[slow], only ? "" : "more ");
        return "idle";
    }
    struct str event = host_event_of(the_case, slow);
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (!str_equal(the_case->reason->title, str_of(causes[i].cause)))
            continue;
        words_say(words, "%s%s waits %sfor %s", only ? "only " : "", the_case->names[slow],
                  only ? "" : "longer ", causes[i].what);
        if (event.len && causes[i].where)
            words_say(words, "%s%s", causes[i].where, reason_shown(event).text);
        return "idle";
    }
    words_say(words, "%s is idle for longer", the_case->names[slow]);
    return "none";
}
