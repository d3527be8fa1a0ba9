// SPDX-License-Identifier: Apache-2.0
// Which runs go because of age or size. Runs kept for their series are chosen by calendar, not by
// counting: every tenth of the remaining ones would be different after each deletion.
#include "server/care/retention_plan.h"

#include <stdlib.h>

#define DAY_NS INT64_C(86400000000000)

bool retention_check(const struct retention_rules *rules, struct err *err)
{
    const struct {
        const char *name;
        int64_t value;
    } days[] = {{"days", rules->days}, {"every", rules->every_days}, {"bin", rules->bin_days}};
    for (size_t i = 0; i < sizeof days / sizeof *days; i++)
        if (days[i].value < 0 || days[i].value > RETENTION_MAX_DAYS)
            return err_set(err, ERR_USAGE, "found %lld days for '%s', expected 0 to %lld",
                           (long long)days[i].value, days[i].name, (long long)RETENTION_MAX_DAYS);
    return rules->newest >= 0 ||
           err_set(err, ERR_USAGE, "found %lld newest runs to keep, expected 0 or more",
                   (long long)rules->newest);
}

bool retention_goes(enum retention_fate fate)
{
    return fate >= GOES_FOR_AGE;
}

const char *retention_reason(enum retention_fate fate)
{
    static const char *const words[] = {"none", "baseline", "busy", "newest", "every",
                                        "bin",  "age",      "size", "bin_age"};
    return words[fate];
}

// --- series -------------------------------------------------------------------------------------

struct place {
    const struct stored_run *run;
    size_t at; // among all runs
};

static int compare_text(struct str a, struct str b)
{
    int order = memcmp(a.at, b.at, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

// By series, then newest first, whenever it was restored.
static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int order = compare_text(a->run->project, b->run->project);
    if (order == 0)
        order = compare_text(a->run->series, b->run->series);
    if (order == 0)
        order =
            (a->run->created_ns < b->run->created_ns) - (a->run->created_ns > b->run->created_ns);
    return order ? order : (a->at < b->at) - (a->at > b->at);
}

static bool is_same_series(const struct stored_run *a, const struct stored_run *b)
{
    return str_equal(a->project, b->project) && str_equal(a->series, b->series);
}

// Whether an older run of its series is in the same span of days.
static bool is_first_in_span(const struct place *places, size_t i, size_t count, int64_t span_ns)
{
    return i + 1 == count || !is_same_series(places[i].run, places[i + 1].run) ||
           places[i].run->created_ns / span_ns != places[i + 1].run->created_ns / span_ns;
}

static enum retention_fate fate_of(const struct retention_rules *rules,
                                   const struct stored_run *run, int64_t now_ns)
{
    if (run->is_baseline)
        return STAYS_BASELINE;
    if (run->is_busy)
        return STAYS_BUSY;
    return rules->days && run->since_ns < now_ns - rules->days * DAY_NS ? GOES_FOR_AGE : STAYS;
}

static void judge_series(const struct retention_rules *rules, const struct place *places,
                         size_t count, int64_t now_ns, enum retention_fate *fates)
{
    int64_t newer = 0, span_ns = rules->every_days * DAY_NS;
    for (size_t i = 0; i < count; i++) {
        newer = i && is_same_series(places[i - 1].run, places[i].run) ? newer + 1 : 0;
        enum retention_fate *fate = &fates[places[i].at];
        *fate = fate_of(rules, places[i].run, now_ns);
        if (*fate == STAYS_BASELINE || *fate == STAYS_BUSY)
            continue;
        if (newer < rules->newest)
            *fate = STAYS_NEWEST;
        else if (span_ns && is_first_in_span(places, i, count, span_ns))
            *fate = STAYS_EVERY;
    }
}

// --- size ---------------------------------------------------------------------------------------

// Runs kept for such a reason go, oldest first, until the rest fits.
static void shed(const struct stored_list *runs, enum retention_fate reason, uint64_t *over,
                 enum retention_fate *fates)
{
    for (size_t i = 0; i < runs->count && *over; i++) {
        if (fates[i] != reason || runs->runs[i].bytes == 0)
            continue;
        fates[i] = GOES_FOR_SIZE;
        *over -= runs->runs[i].bytes < *over ? runs->runs[i].bytes : *over;
    }
}

static uint64_t staying_bytes(const struct stored_list *runs, const enum retention_fate *fates)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->runs[i].deleted_ns && !retention_goes(fates[i]))
            bytes += runs->runs[i].bytes;
    return bytes;
}

static void judge_size(const struct retention_rules *rules, const struct stored_list *runs,
                       struct retention_plan *plan)
{
    uint64_t bytes = staying_bytes(runs, plan->fates);
    if (rules->size_bytes == 0 || bytes <= rules->size_bytes)
        return;
    plan->over_bytes = bytes - rules->size_bytes;
    shed(runs, STAYS, &plan->over_bytes, plan->fates);
    shed(runs, STAYS_EVERY, &plan->over_bytes, plan->fates);
}

// --- all of it ----------------------------------------------------------------------------------

static void judge_bin(const struct retention_rules *rules, const struct stored_list *runs,
                      int64_t now_ns, enum retention_fate *fates)
{
    int64_t before_ns = now_ns - rules->bin_days * DAY_NS;
    for (size_t i = 0; i < runs->count; i++)
        if (runs->runs[i].deleted_ns)
            fates[i] = runs->runs[i].deleted_ns <= before_ns ? GOES_FOR_GOOD : STAYS_IN_BIN;
}

static void sum_up(const struct stored_list *runs, struct retention_plan *plan)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (plan->fates[i] == GOES_FOR_GOOD)
            plan->free_bytes += runs->runs[i].bytes;
        else if (retention_goes(plan->fates[i]))
            plan->bin_bytes += runs->runs[i].bytes;
    }
}

bool retention_plan(const struct retention_rules *rules, const struct stored_list *runs,
                    int64_t now_ns, struct arena *arena, struct retention_plan *plan,
                    struct err *err)
{
    struct place *places = arena_array(arena, runs->count + 1, sizeof *places, err);
    size_t count = 0;
    *plan = (struct retention_plan){
        .fates = arena_array(arena, runs->count + 1, sizeof *plan->fates, err)};
    if (!places || !plan->fates)
        return false;
    for (size_t i = 0; i < runs->count; i++)
        if (!runs->runs[i].deleted_ns)
            places[count++] = (struct place){&runs->runs[i], i};
    qsort(places, count, sizeof *places, compare_places);
    judge_bin(rules, runs, now_ns, plan->fates);
    judge_series(rules, places, count, now_ns, plan->fates);
    judge_size(rules, runs, plan); // last: it drops what the others keep
    sum_up(runs, plan);
    return true;
}
