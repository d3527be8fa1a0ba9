// SPDX-License-Identifier: Apache-2.0
#include "server/cli/hang_dumps.h"

#include "analysis/hangs/hangs.h"

void hang_dumps_init(struct hang_dumps *dumps, uint64_t memory_bytes, struct arena *arena)
{
    *dumps = (struct hang_dumps){.arena = arena, .budget = {.limit = memory_bytes}};
    dumps->last = &dumps->first;
}

void hang_dumps_free(struct hang_dumps *dumps)
{
    for (struct hang_dump_file *dump = dumps->first; dump; dump = dump->next)
        evidence_free(&dump->evidence);
}

bool hang_dumps_take(const struct format *format)
{
    return format->gather && strcmp(format->name, "flight-recorder") == 0;
}

bool hang_dumps_read(struct hang_dumps *dumps, struct inspected *seen, struct source *source,
                     struct err *err)
{
    struct hang_dump_file *dump = arena_array(dumps->arena, 1, sizeof *dump, err);
    if (!dump)
        return false;
    evidence_init(&dump->evidence, &dumps->budget);
    const struct format_input input = {.source = source,
                                       .budget = &dumps->budget,
                                       .evidence = &dump->evidence,
                                       .filename = str_of(seen->name)};
    if (!seen->format->gather(&input, err)) {
        evidence_free(&dump->evidence);
        return false;
    }
    flight_report(&dump->evidence.flight, &seen->figures);
    dump->seen = seen;
    *dumps->last = dump;
    dumps->last = &dump->next;
    dumps->count++;
    return true;
}

// --- diagnosis ----------------------------------------------------------------------------------

static void leave_out(const struct hang_dump_file *dump)
{
    bool ranked = dump->evidence.flight.rank >= 0;
    err_set(&dump->seen->problem, ERR_UNSUPPORTED, "%s",
            ranked ? "another dump of its rank comes first"
                   : "its name does not end in the number of its rank");
}

static void put_ranks(struct figures *figures, const char *name, const int64_t *ranks, size_t count)
{
    figures_list(figures, "%s" IN, name);
    for (size_t i = 0; i < count; i++)
        figures_add(figures, ranks[i], "%s" IN "%zu", name, i);
}

static void put_dumps(struct figures *figures, const char *name, const struct hangs *hangs,
                      bool empty_only)
{
    size_t kept = 0;
    figures_list(figures, "%s" IN, name);
    for (size_t i = 0; i < hangs->dump_count; i++)
        if (!empty_only || hangs->dumps[i]->entry_count == 0)
            figures_add(figures, hangs->dumps[i]->rank, "%s" IN "%zu", name, kept++);
}

static void put_figures(const struct hang_dumps *dumps, const struct hangs *hangs,
                        struct inspected *file)
{
    const bool *used = hangs->used;
    for (const struct hang_dump_file *dump = dumps->first; dump; dump = dump->next)
        if (!*used++)
            leave_out(dump);
    put_ranks(&file->figures, "suspects", hangs->suspects, hangs->suspect_count);
    put_dumps(&file->figures, "ranks", hangs, false);
    put_dumps(&file->figures, "ranks_without_entries", hangs, true);
}

static bool keep_tables(const struct hang_dumps *dumps, const struct report *report,
                        struct inspected *file, struct err *err)
{
    struct buf json = {0};
    report_json(report, &json);
    bool ok = buf_ok(&json, err);
    file->tables = ok ? arena_strdup(dumps->arena, (struct str){json.at, json.len}, err) : NULL;
    buf_free(&json);
    return file->tables;
}

static bool find(const struct hang_dumps *dumps, const struct flight *const *flights,
                 struct inspected *file, struct err *err)
{
    struct budget budget = {.limit = dumps->budget.limit};
    struct arena arena;
    struct hangs hangs;
    arena_init(&arena, &budget);
    struct report report = {.arena = &arena};
    bool ok = hangs_find(flights, dumps->count, &report, &hangs, err);
    if (ok)
        put_figures(dumps, &hangs, file);
    ok = ok && keep_tables(dumps, &report, file, err) &&
         (file->verdict = arena_strdup(dumps->arena, str_of(hangs.findings[0].verdict), err));
    arena_free(&arena);
    return ok;
}

bool hang_dumps_diagnose(const struct hang_dumps *dumps, struct inspected *file, struct err *err)
{
    size_t count = 0;
    const struct flight **flights =
        arena_array(dumps->arena, dumps->count + 1, sizeof *flights, err);
    for (struct hang_dump_file *dump = dumps->first; flights && dump; dump = dump->next)
        flights[count++] = &dump->evidence.flight;
    return flights && find(dumps, flights, file, err);
}
