// SPDX-License-Identifier: Apache-2.0
// The table lateness.
#include "analysis/report/ranked.h"
#include "analysis/report/row.h"
#include "analysis/ranks/run_blame.h"
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/report/tables.h"

#define REASON_SHARE  0.1  // of lateness that a reason must explain
#define MORE_WORK     0.02 // of compute that must be more work
#define NOISE_NS      1000
#define MEANING_TIMES 3 // lateness below this many alignment errors has no reason

static const char *const reason_words[REASON_COUNT] = {
    "compute_slower", "more_work", "data_loading", "host", "copies", "communication", "unknown",
};

// If its kernels can be compared with those of others, a little more compute counts as theirs, too:
// kernels vary from call to call.
static void settle_compute(struct rank_blame *rank, bool compared)
{
    if (!compared || rank->reason_ns[REASON_MORE_WORK] >= MORE_WORK * (double)rank->compute_ns)
        return;
    rank->reason_ns[REASON_SLOWER] += rank->reason_ns[REASON_MORE_WORK];
    rank->reason_ns[REASON_MORE_WORK] = 0;
}

static enum reason reason_of(const struct rank_blame *rank, int64_t error_ns)
{
    enum reason best = REASON_UNKNOWN;
    for (int i = 0; i < REASON_COUNT; i++)
        if (rank->reason_ns[i] > rank->reason_ns[best])
            best = (enum reason)i;
    int64_t noise_ns = MEANING_TIMES * (error_ns > NOISE_NS ? error_ns : NOISE_NS);
    bool means = rank->reason_ns[best] >= REASON_SHARE * (double)rank->lateness_ns &&
                 rank->lateness_ns > rank->late_calls * noise_ns;
    return means ? best : REASON_UNKNOWN;
}

static void add_reason(struct row *row, const struct rank_blame *rank, int64_t error_ns)
{
    if (rank->late_calls == 0)
        return;
    enum reason reason = reason_of(rank, error_ns);
    double share = rank->reason_ns[reason] / (double)rank->lateness_ns;
    row_word(row, RUN_LATENESS_REASON, reason_words[reason]);
    row_f64_if(row, RUN_LATENESS_REASON_SHARE, rank->lateness_ns > 0 && reason != REASON_UNKNOWN,
               share < 1 ? share : 1);
}

static bool add_row(const struct blame *blame, uint32_t index, struct report *report,
                    struct err *err)
{
    static const enum comm_before order[] = {BEFORE_COMPUTE, BEFORE_DATA_LOADING, BEFORE_HOST,
                                             BEFORE_MEMORY,  BEFORE_COMM,         BEFORE_IDLE};
    struct rank_blame *rank = &blame->ranks[index];
    settle_compute(rank, blame->comm->ranks[index].work_ratio > 0);
    bool grouped = rank->group != RUN_NONE;
    struct row row = {.desc = &table_run_lateness};
    row_i64(&row, RUN_LATENESS_RANK, blame->comm->ranks[index].rank);
    row_i64(&row, RUN_LATENESS_CALLS, rank->calls);
    row_i64(&row, RUN_LATENESS_LATE_CALLS, rank->late_calls);
    row_i64(&row, RUN_LATENESS_LATENESS_NS, rank->lateness_ns);
    row_i64(&row, RUN_LATENESS_CAUSED_WAIT_NS, rank->caused_ns);
    row_text_if(&row, RUN_LATENESS_PROCESS_GROUP, grouped,
                grouped ? blame->comm->groups[rank->group].name : STR(""));
    add_reason(&row, rank, blame->comm->ranks[index].error_ns);
    for (unsigned i = 0; i < sizeof order / sizeof *order; i++)
        row_i64(&row, RUN_LATENESS_EXCESS_COMPUTE_NS + i, rank->excess_ns[order[i]]);
    return row_end(&row, report, err);
}

// Where no call matches another rank's, zeros would say that no rank is late.
static bool any_is_matched(const struct blame *blame)
{
    for (uint32_t r = 0; r < blame->comm->rank_count; r++)
        if (blame->ranks[r].calls > 0)
            return true;
    return false;
}

static bool add_rows(const struct blame *blame, struct arena *scratch, struct report *report,
                     struct err *err)
{
    uint32_t count = any_is_matched(blame) ? blame->comm->rank_count : 0;
    struct ranked *order = arena_room(scratch, count, sizeof *order, err);
    if (!order)
        return false;
    for (uint32_t r = 0; r < count; r++)
        order[r] = (struct ranked){blame->ranks[r].caused_ns, {NULL, 0}, r};
    ranked_sort(order, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(blame, order[i].index, report, err))
            return false;
    return true;
}

bool run_lateness_add(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    struct blame blame;
    bool ok =
        run_blame_make(comm, &scratch, &blame, err) && add_rows(&blame, &scratch, report, err);
    arena_free(&scratch);
    return ok;
}
