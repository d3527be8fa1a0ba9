// SPDX-License-Identifier: Apache-2.0
// Compares what the store keeps because it follows from other rows (server/store/store_derived.c)
// with what those rows say. A writer that forgets to call one of its functions is found by any test
// that uses it.
#ifndef TESTS_UNIT_DERIVED_AUDIT_H
#define TESTS_UNIT_DERIVED_AUDIT_H

#include "server/db/db.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#define AUDIT_TRACES(condition) "(SELECT count(*) FROM trace WHERE run_id = r.id" condition ")"
#define AUDIT_JOBS(kinds)                                                    \
    "(SELECT count(*) FROM job WHERE run_id = r.id AND kind IN (" kinds ") " \
    "AND state IN ('queued', 'running'))"
#define AUDIT_SERIES_WANTED                                                        \
    "SELECT project, series, count(*), min(created_ns), max(created_ns) FROM run " \
    "GROUP BY project, series"
#define AUDIT_SERIES_KEPT "SELECT project, series, runs, first_ns, last_ns FROM series"

// Each returns a word about every row that is wrong.
static const struct {
    const char *what, *sql;
} derived_audits[] = {
    {"counts of the run",
     "SELECT id FROM stored_run AS r WHERE received <> " AUDIT_TRACES("") " OR done <> " //
     AUDIT_TRACES(" AND state = 'done'") " OR failed <> "                                //
     AUDIT_TRACES(" AND state = 'failed'") " OR running <> "                             //
     AUDIT_TRACES(" AND state = 'running'") " OR joining <> " AUDIT_JOBS(                //
         "'run'") " OR unpacking <> " AUDIT_JOBS("'unpack', 'evidence'")},
    {"count of evidence", "SELECT id FROM stored_run AS r WHERE evidence <> (SELECT count(*) "
                          "FROM input WHERE run_id = r.id AND analysis_version IS NOT NULL)"},
    {"world size of the run",
     "SELECT id FROM stored_run AS r WHERE traced_world_size IS DISTINCT FROM "
     "(SELECT max(world_size) FROM trace WHERE run_id = r.id)"},
    {"text that is searched",
     "SELECT r.id FROM stored_run AS r LEFT JOIN run_text ON run_id = r.id WHERE text IS DISTINCT "
     "FROM "
     "coalesce(deleted_name, name) || '\n' || project || '\n' || coalesce(gpu, '') || '\n' || note "
     "|| '\n' || coalesce((SELECT group_concat(pair, '\n') FROM (SELECT \"key\" || '=' || value "
     "AS pair FROM run_tag WHERE run_id = r.id ORDER BY \"key\") AS pairs), '') || '\n\n'"},
    {"series that is wrong",
     "SELECT series FROM (" AUDIT_SERIES_KEPT " EXCEPT " AUDIT_SERIES_WANTED ") AS wrong"},
    {"series that is missing",
     "SELECT series FROM (" AUDIT_SERIES_WANTED " EXCEPT " AUDIT_SERIES_KEPT ") AS missing"},
    {"place of the alert",
     "SELECT alert.id FROM alert JOIN stored_run AS r ON r.id = run_id WHERE "
     "alert.project <> CASE WHEN deleted_ns IS NULL THEN r.project ELSE '' END "
     "OR alert.series <> r.series"},
    {"open job of the deleted run", "SELECT run_id FROM job JOIN stored_run AS r ON r.id = run_id "
                                    "WHERE deleted_ns IS NOT NULL AND state IN ('queued', "
                                    "'running')"},
    {"what the owner has stored",
     "SELECT who FROM (SELECT who, bytes + made AS bytes FROM trace_owner "
     "UNION ALL SELECT owner, made FROM stored_run WHERE owner <> '' "
     "UNION ALL SELECT owner, bytes FROM input WHERE owner <> '' AND blob IS NOT NULL "
     "UNION ALL SELECT who, -bytes FROM owner_bytes) AS owned GROUP BY who HAVING sum(bytes) <> 0"},
    {"blob that nothing has",
     "SELECT sha256 FROM blob WHERE sha256 NOT IN (SELECT sha256 FROM trace) "
     "AND sha256 NOT IN (SELECT blob FROM input WHERE blob IS NOT NULL)"},
    {"garbage that is needed", "SELECT name FROM garbage WHERE name IN (SELECT sha256 FROM blob) "
                               "OR name IN (SELECT id FROM trace)"},
};

static inline void assert_nothing_drifted(const char *place)
{
    struct err err = {0};
    struct db *db = db_open_existing(place, &err);
    if (!db)
        fail_msg("%s", err.msg);
    for (size_t i = 0; i < sizeof derived_audits / sizeof *derived_audits; i++) {
        char found[80] = "";
        struct stmt stmt = sql_begin(db, derived_audits[i].sql, &err);
        if (sql_row(&stmt)) {
            struct str name = sql_bytes(&stmt, 0);
            snprintf(found, sizeof found, "%.*s", (int)name.len, name.at);
        }
        if (!sql_end(&stmt))
            fail_msg("%s: %s", derived_audits[i].what, err.msg);
        if (found[0])
            fail_msg("%s: %s", derived_audits[i].what, found);
    }
    db_close(db, false);
}

#endif
