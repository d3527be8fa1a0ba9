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
    struct evidence read; // the dump being read, and the texts of all dumps
    struct flight *at;    // the dumps read so far; their texts are in `read`
    const struct flight **flights;
    size_t count;
};

static void take_read(struct dumps *dumps)
{
    struct flight *flight = &dumps->read.flight;
    dumps->flights[dumps->count] = &dumps->at[dumps->count];
    dumps->at[dumps->count++] = *flight;
    *flight = (struct flight){.rank = -1, .texts = flight->texts};
}

static bool read_one(struct dumps *dumps, size_t file, struct err *err)
{
    static const struct table_desc *const known[] = {&table_flight, &table_flight_groups,
                                                     &table_flight_entries, NULL};
    const struct rank_source *source = dumps->source;
    struct arena arena; // of the tables, which are read at once
    bool is = false;
    arena_init(&arena, dumps->budget);
    struct report found = {.arena = &arena};
    bool ok = source->load(source->context, source->count + file, known, &found, err) &&
              flight_tables_read(&found, &dumps->read, &is, err);
    arena_free(&arena);
    if (ok && is)
        take_read(dumps);
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
    for (size_t i = 0; i < dumps->count; i++)
        dumps->at[i].texts = dumps->read.flight.texts;
    return true;
}

static void free_all(struct dumps *dumps)
{
    for (size_t i = 0; i < dumps->count; i++) {
        dumps->at[i].texts = (struct strtab){0}; // those of `read`
        flight_free(&dumps->at[i], dumps->budget);
    }
    evidence_free(&dumps->read);
    arena_free(&dumps->arena);
}

static bool add_tables(const struct report *found, struct report *report, struct err *err)
{
    for (unsigned i = 0; i < found->table_count; i++)
        if (!report_append(report, &found->tables[i], err))
            return false;
    return true;
}

static int64_t count_twins(const struct dumps *dumps, const struct hangs *hangs)
{
    int64_t twins = 0;
    for (size_t i = 0; i < dumps->count; i++)
        twins += dumps->flights[i]->rank >= 0 && !hangs->used[i];
    return twins;
}

static bool add_doubts(const struct dumps *dumps, const struct hangs *hangs, struct report *report,
                       struct err *err)
{
    const struct doubt twins = {.item = "dumps_of_one_rank",
                                .severity = "warning",
                                .count = count_twins(dumps, hangs),
                                .detail = "Flight Recorder dumps beyond the first of their rank",
                                .effect = "the verdict on the hang uses the first by name: upload "
                                          "dumps of another time to a separate run"};
    const struct doubt order = {.item = "hang_order",
                                .severity = "info",
                                .count = 1,
                                .detail = "process groups and ranks are too many to compare the "
                                          "order of all collectives",
                                .effect = "ranks that entered collectives in different orders may "
                                          "go unnoticed"};
    return (twins.count == 0 || doubt_add_of_run(report, &twins, err)) &&
           (!hangs->gave_up || doubt_add_of_run(report, &order, err));
}

// What is found lives in its own arena until nothing can fail any more.
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
    return ok && add_doubts(dumps, &hangs, report, err);
}

bool run_find_hangs(const struct rank_source *source, struct report *report, struct err *err)
{
    struct budget uncounted = {0};
    struct budget *budget = report->arena->budget ? report->arena->budget : &uncounted;
    struct dumps dumps = {.source = source, .budget = budget};
    struct err why = {.pos = ERR_NO_POS};
    const struct doubt doubt = {.item = "hangs",
                                .severity = "warning",
                                .count = 1,
                                .detail =
                                    "Flight Recorder dumps that do not fit the memory of a job",
                                .effect = why.msg};
    arena_init(&dumps.arena, budget);
    evidence_init(&dumps.read, budget);
    bool ok = read_all(&dumps, &why) && (!dumps.count || judge(&dumps, report, &why));
    free_all(&dumps);
    if (ok)
        return true;
    if (why.code == ERR_LIMIT)
        return doubt_add_of_run(report, &doubt, err);
    *err = why;
    return false;
}
