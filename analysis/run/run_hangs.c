// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_hangs.h"

#include "analysis/evidence/flight_tables.h"
#include "analysis/hangs/hangs.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"

struct dumps {
    const struct rank_source *source;
    struct budget *budget;
    struct arena arena;
    struct evidence *at;
    const struct flight **flights;
    size_t count;
};

static bool read_one(struct dumps *dumps, size_t file, struct err *err)
{
    static const struct table_desc *const known[] = {&table_flight, &table_flight_groups,
                                                     &table_flight_entries, NULL};
    const struct rank_source *source = dumps->source;
    struct arena arena; // of the tables, which are read at once
    bool is = false;
    arena_init(&arena, dumps->budget);
    struct report found = {.arena = &arena};
    struct evidence *evidence = &dumps->at[dumps->count];
    evidence_init(evidence, dumps->budget);
    bool ok = source->load(source->context, source->count + file, known, &found, err) &&
              flight_tables_read(&found, evidence, &is, err);
    arena_free(&arena);
    dumps->flights[dumps->count] = &evidence->flight;
    if (ok && is)
        dumps->count++;
    else
        evidence_free(evidence);
    return ok;
}

static bool read_all(struct dumps *dumps, struct err *err)
{
    size_t most = dumps->source->evidence_count;
    dumps->at = arena_array(&dumps->arena, most + 1, sizeof *dumps->at, err);
    dumps->flights =
        dumps->at ? arena_array(&dumps->arena, most + 1, sizeof *dumps->flights, err) : NULL;
    if (!dumps->flights)
        return false;
    for (size_t i = 0; i < most; i++)
        if (!read_one(dumps, i, err))
            return false;
    return true;
}

static bool add_tables(const struct report *found, struct report *report, struct err *err)
{
    for (unsigned i = 0; i < found->table_count; i++)
        if (!report_append(report, &found->tables[i], err))
            return false;
    return true;
}

// What is found lives in an arena of its own until nothing can fail any more.
static bool judge(struct dumps *dumps, struct report *report, struct err *err)
{
    struct arena arena;
    struct hangs hangs;
    arena_init(&arena, dumps->budget);
    struct report found = {.arena = &arena};
    bool ok = hangs_find(dumps->flights, dumps->count, &found, &hangs, err) &&
              add_tables(&found, report, err);
    if (ok)
        arena_take(report->arena, &arena);
    else
        arena_free(&arena);
    return ok;
}

static bool doubt(struct report *report, const struct err *why, struct err *err)
{
    struct row row = {.desc = &table_run_trust};
    row_word(&row, RUN_TRUST_ITEM, "hangs");
    row_word(&row, RUN_TRUST_SEVERITY, "warning");
    row_i64(&row, RUN_TRUST_COUNT, 1);
    row_word(&row, RUN_TRUST_DETAIL, "Flight Recorder dumps that do not fit the memory of a job");
    row_text(&row, RUN_TRUST_EFFECT, str_of(why->msg));
    return row_end(&row, report, err);
}

bool run_find_hangs(const struct rank_source *source, struct report *report, struct err *err)
{
    struct budget uncounted = {0};
    struct budget *budget = report->arena->budget ? report->arena->budget : &uncounted;
    struct dumps dumps = {.source = source, .budget = budget};
    struct err why = {.pos = ERR_NO_POS};
    arena_init(&dumps.arena, budget);
    bool ok = read_all(&dumps, &why) && (!dumps.count || judge(&dumps, report, &why));
    for (size_t i = 0; i < dumps.count; i++)
        evidence_free(&dumps.at[i]);
    arena_free(&dumps.arena);
    if (ok)
        return true;
    if (why.code == ERR_LIMIT)
        return doubt(report, &why, err);
    *err = why;
    return false;
}
