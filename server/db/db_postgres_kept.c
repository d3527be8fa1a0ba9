// SPDX-License-Identifier: Apache-2.0
// Statements of writing transactions are planned once per connection: planning them took as long as
// running them. Those of reading ones are planned each time, for the tables' present contents.
#include "server/db/db_postgres.h"

#include "ingest/base/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Whether it was planned for values of these types. Nulls, of type 0, are of any.
static bool takes(const struct postgres_plan *plan, int count, const Oid *types)
{
    for (int i = 0; i < count; i++)
        if (types[i] && types[i] != plan->types[i])
            return false;
    return true;
}

static int find(const struct db_postgres *pg, const struct postgres_plan *wanted)
{
    for (int i = 0; i < POSTGRES_MOST_PLANS; i++) {
        const struct postgres_plan *plan = &pg->plans[i];
        if (plan->text && plan->hash == wanted->hash && strcmp(plan->text, wanted->text) == 0 &&
            takes(plan, wanted->count, wanted->types))
            return i;
    }
    return -1;
}

// A free place, else that of the plan that was not used for longest.
static int place_to_fill(const struct db_postgres *pg)
{
    int oldest = 0;
    for (int i = 1; i < POSTGRES_MOST_PLANS; i++)
        if (pg->plans[i].used < pg->plans[oldest].used)
            oldest = i;
    return oldest;
}

static void forget(struct postgres_plan *plan)
{
    free(plan->text);
    free(plan->types);
    *plan = (struct postgres_plan){0};
}

// False if there is no memory for it.
static bool copy(struct postgres_plan *plan, const struct postgres_plan *from)
{
    size_t bytes = (size_t)from->count * sizeof *from->types;
    *plan = *from;
    plan->text = strdup(from->text);
    plan->types = malloc(bytes + 1);
    if (!plan->text || !plan->types) {
        forget(plan);
        return false;
    }
    memcpy(plan->types, from->types, bytes);
    return true;
}

static bool succeeded(const struct db_postgres *pg, const PGresult *result)
{
    return result && pg->pq.result_status(result) == PGRES_COMMAND_OK;
}

// NULL unless the server failed.
static PGresult *make_free(struct db_postgres *pg, int at, const char *name)
{
    char text[40];
    if (!pg->plans[at].text)
        return NULL;
    snprintf(text, sizeof text, "DEALLOCATE %s", name);
    PGresult *result = pg->pq.execute(pg->conn, text);
    if (!succeeded(pg, result))
        return result;
    forget(&pg->plans[at]);
    pg->pq.clear(result);
    return NULL;
}

static bool plan_at(struct db_postgres *pg, const struct postgres_plan *wanted, int at,
                    struct postgres_kept *kept)
{
    struct postgres_plan made;
    if (!copy(&made, wanted))
        return false;
    kept->failure = make_free(pg, at, kept->name);
    if (!kept->failure) {
        PGresult *result = pg->pq.prepare(pg->conn, kept->name, made.text, made.count, made.types);
        if (succeeded(pg, result)) {
            pg->pq.clear(result);
            pg->plans[at] = made;
            return true;
        }
        kept->failure = result;
    }
    forget(&made);
    return kept->failure != NULL;
}

// A null's type says too little to plan with.
static bool are_known(int count, const Oid *types)
{
    for (int i = 0; i < count; i++)
        if (!types[i])
            return false;
    return true;
}

static struct postgres_plan describe(const char *text, int count, const Oid *types)
{
    return (struct postgres_plan){
        .text = (char *)(uintptr_t)text, // borrowed, as the types are
        .types = (Oid *)(uintptr_t)types,
        .count = count,
        .hash = hash_bytes(text, strlen(text)),
    };
}

static void name_plan(int at, struct postgres_kept *kept)
{
    kept->failure = NULL;
    snprintf(kept->name, sizeof kept->name, "kept_%d", at);
}

bool postgres_is_kept(struct db_postgres *pg, const char *text, int count, const Oid *types,
                      struct postgres_kept *kept)
{
    const struct postgres_plan wanted = describe(text, count, types);
    int at = find(pg, &wanted);
    if (at < 0)
        return false;
    pg->plans[at].used = ++pg->uses;
    name_plan(at, kept);
    return true;
}

bool postgres_keep(struct db_postgres *pg, const char *text, int count, const Oid *types,
                   struct postgres_kept *kept)
{
    if (postgres_is_kept(pg, text, count, types, kept))
        return true;
    if (!sql_may_be_kept(text) || !are_known(count, types))
        return false;
    struct postgres_plan wanted = describe(text, count, types);
    wanted.used = ++pg->uses;
    int at = place_to_fill(pg);
    name_plan(at, kept);
    return plan_at(pg, &wanted, at, kept);
}

void postgres_forget_kept(struct db_postgres *pg)
{
    for (int i = 0; i < POSTGRES_MOST_PLANS; i++)
        forget(&pg->plans[i]);
}
