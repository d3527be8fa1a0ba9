// SPDX-License-Identifier: Apache-2.0
// Statements of claims are planned once per connection: planning took most of a claim. Others are
// planned each time, for what their tables hold by then.
#include "server/db/db_postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool prepare(struct db_postgres *pg, const char *name, const char *text, int count,
                    const Oid *types)
{
    PGresult *result = pg->pq.prepare(pg->conn, name, text, count, types);
    bool ok = result && pg->pq.result_status(result) == PGRES_COMMAND_OK;
    pg->pq.clear(result);
    return ok;
}

bool postgres_keep(struct db_postgres *pg, const char *text, int count, const Oid *types,
                   char name[16])
{
    int at = 0;
    while (at < pg->kept_count && strcmp(pg->kept[at], text) != 0)
        at++;
    snprintf(name, 16, "kept_%d", at);
    if (at < pg->kept_count)
        return true;
    for (int i = 0; i < count; i++)
        if (!types[i])
            return false;
    char *copy = at < POSTGRES_MOST_KEPT ? strdup(text) : NULL;
    if (!copy || !prepare(pg, name, text, count, types)) {
        free(copy);
        return false;
    }
    pg->kept[pg->kept_count++] = copy;
    return true;
}

void postgres_forget_kept(struct db_postgres *pg)
{
    while (pg->kept_count)
        free(pg->kept[--pg->kept_count]);
}
