// SPDX-License-Identifier: Apache-2.0
// Statements of claims are planned once per connection: planning took most of a claim. Others are
// planned each time, for the tables' present contents.
#include "server/db/db_postgres.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool postgres_keep(struct db_postgres *pg, const char *text, int count, const Oid *types,
                   struct postgres_kept *kept)
{
    int at = 0;
    while (at < pg->kept_count && strcmp(pg->kept[at], text) != 0)
        at++;
    kept->failure = NULL;
    snprintf(kept->name, sizeof kept->name, "kept_%d", at);
    if (at < pg->kept_count)
        return true;
    for (int i = 0; i < count; i++)
        if (!types[i])
            return false;
    char *copy = at < POSTGRES_MOST_KEPT ? strdup(text) : NULL;
    PGresult *result = copy ? pg->pq.prepare(pg->conn, kept->name, text, count, types) : NULL;
    if (result && pg->pq.result_status(result) == PGRES_COMMAND_OK) {
        pg->pq.clear(result);
        pg->kept[pg->kept_count++] = copy;
        return true;
    }
    free(copy);
    kept->failure = result;
    return result != NULL;
}

void postgres_forget_kept(struct db_postgres *pg)
{
    while (pg->kept_count)
        free(pg->kept[--pg->kept_count]);
}
