// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_evidence.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

static bool take_doubts(const struct table *trust, struct report *report, struct err *err)
{
    for (size_t i = 0; i < trust->row_count; i++) {
        struct row row = {.desc = &table_run_trust};
        row_copy(&row, trust_doubt(&table_run_trust), trust, i, trust_doubt(&table_trust));
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool take_tables(const struct report *found, struct report *report, struct err *err)
{
    for (unsigned i = 0; i < found->table_count; i++) {
        const struct table *table = &found->tables[i];
        if (table->desc == &table_trust ? !take_doubts(table, report, err)
                                        : !report_append(report, table, err))
            return false;
    }
    return true;
}

// What the run takes of its files, so that no number of them is too large for it. A log of more
// steps still has its curve.
enum { MOST_STEPS = 500000, MOST_ROWS = 1000000 };

struct taking {
    const struct rank_source *source;
    struct report *report;
    const struct table_desc *first[REPORT_MAX_TABLES]; // all but the steps, dumps (run_hangs.c) and
                                                       // samples (run_monitors.c)
    int64_t steps;
    size_t rows, files_left, logs_left; // left: that were left out
};

static void choose_first(struct taking *taking)
{
    static const struct table_desc *const others[] = {&table_log_steps,       &table_flight,
                                                      &table_flight_groups,   &table_flight_entries,
                                                      &table_monitor_samples, NULL};
    size_t count = 0;
    for (size_t i = 0; evidence_tables[i]; i++)
        if (!others[table_place(others, evidence_tables[i])])
            taking->first[count++] = evidence_tables[i];
}

// The rows stay where they were loaded, in the report's own arena.
static bool take(struct taking *taking, size_t file, const struct table_desc *const *known,
                 struct report *found, struct err *err)
{
    const struct rank_source *source = taking->source;
    *found = (struct report){.arena = taking->report->arena};
    if (!source->load(source->context, source->count + file, known, found, err))
        return false;
    for (unsigned i = 0; i < found->table_count; i++)
        taking->rows += found->tables[i].row_count;
    return take_tables(found, taking->report, err);
}

static int64_t count_steps(const struct report *found)
{
    const struct table *logs = report_find(found, "logs");
    int64_t steps = 0;
    for (size_t i = 0; logs && i < logs->row_count; i++)
        if (__builtin_add_overflow(steps, table_i64(logs, i, LOGS_STEPS, 0), &steps))
            return INT64_MAX;
    return steps;
}

static bool take_file(struct taking *taking, size_t file, struct err *err)
{
    static const struct table_desc *const steps_only[] = {&table_log_steps, NULL};
    struct report found;
    if (!take(taking, file, taking->first, &found, err))
        return false;
    int64_t steps = count_steps(&found);
    if (steps > MOST_STEPS - taking->steps) {
        taking->logs_left++;
        return true;
    }
    taking->steps += steps;
    return steps == 0 || take(taking, file, steps_only, &found, err);
}

static bool doubt_left(struct taking *taking, struct err *err)
{
    struct report doubts = {.arena = taking->report->arena};
    const struct doubt logs = {
        .item = "log_steps",
        .severity = "info",
        .count = (int64_t)taking->logs_left,
        .detail = "logs with more steps than are listed",
        .effect = "their curves, medians and events are complete; log_steps leaves them out"};
    const struct doubt files = {.item = "evidence",
                                .severity = "warning",
                                .count = (int64_t)taking->files_left,
                                .detail = "logs and other files beyond 1,000,000 rows",
                                .effect =
                                    "the last by name are left out: upload them to a separate run"};
    return (!taking->logs_left || doubt_add(&doubts, &logs, err)) &&
           (!taking->files_left || doubt_add(&doubts, &files, err)) &&
           take_tables(&doubts, taking->report, err);
}

bool run_take_evidence(const struct rank_source *source, struct report *report, struct err *err)
{
    struct taking taking = {.source = source, .report = report};
    choose_first(&taking);
    for (size_t i = 0; i < source->evidence_count; i++)
        if (taking.rows >= MOST_ROWS)
            taking.files_left++;
        else if (!take_file(&taking, i, err))
            return false;
    return doubt_left(&taking, err);
}

bool run_load_monitors(const struct rank_source *source, struct arena *arena,
                       const struct table **monitors, struct err *err)
{
    static const struct table_desc *const known[] = {&table_monitors, NULL};
    struct report *all = arena_array(arena, 1, sizeof *all, err);
    *monitors = NULL;
    if (!all)
        return false;
    all->arena = arena;
    for (size_t i = 0; i < source->evidence_count; i++) {
        struct report found = {.arena = arena};
        if (!source->load(source->context, source->count + i, known, &found, err))
            return false;
        const struct table *table = report_find(&found, table_monitors.name);
        if (table && !report_append(all, table, err))
            return false;
    }
    *monitors = report_find(all, table_monitors.name);
    return true;
}
