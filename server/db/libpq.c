// SPDX-License-Identifier: Apache-2.0
// Loads libpq.
#include "server/db/libpq.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool libpq_load(struct libpq *pq, struct err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } known[] = {
        {"PQconninfoParse", offsetof(struct libpq, parse)},
        {"PQconninfoFree", offsetof(struct libpq, free_options)},
        {"PQfreemem", offsetof(struct libpq, free)},
        {"PQconnectdbParams", offsetof(struct libpq, connect)},
        {"PQfinish", offsetof(struct libpq, finish)},
        {"PQreset", offsetof(struct libpq, reset)},
        {"PQstatus", offsetof(struct libpq, status)},
        {"PQerrorMessage", offsetof(struct libpq, failure)},
        {"PQsetNoticeReceiver", offsetof(struct libpq, on_notice)},
        {"PQexec", offsetof(struct libpq, execute)},
        {"PQexecParams", offsetof(struct libpq, execute_with)},
        {"PQprepare", offsetof(struct libpq, prepare)},
        {"PQexecPrepared", offsetof(struct libpq, execute_prepared)},
        {"PQenterPipelineMode", offsetof(struct libpq, enter_pipeline)},
        {"PQexitPipelineMode", offsetof(struct libpq, exit_pipeline)},
        {"PQpipelineSync", offsetof(struct libpq, end_pipeline)},
        {"PQsendQueryParams", offsetof(struct libpq, send_with)},
        {"PQsendQueryPrepared", offsetof(struct libpq, send_prepared)},
        {"PQgetResult", offsetof(struct libpq, result)},
        {"PQresultStatus", offsetof(struct libpq, result_status)},
        {"PQresultErrorField", offsetof(struct libpq, result_field)},
        {"PQclear", offsetof(struct libpq, clear)},
        {"PQntuples", offsetof(struct libpq, rows)},
        {"PQnfields", offsetof(struct libpq, columns)},
        {"PQftype", offsetof(struct libpq, type)},
        {"PQgetvalue", offsetof(struct libpq, value)},
        {"PQgetlength", offsetof(struct libpq, length)},
        {"PQgetisnull", offsetof(struct libpq, is_null)},
        {"PQcmdTuples", offsetof(struct libpq, changed)},
        {"PQcmdStatus", offsetof(struct libpq, verb)},
        {"PQsocket", offsetof(struct libpq, socket)},
        {"PQbackendPID", offsetof(struct libpq, process)},
        {"PQconsumeInput", offsetof(struct libpq, consume)},
        {"PQnotifies", offsetof(struct libpq, notified)},
    };
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    bool ok = library;
    for (size_t i = 0; ok && i < sizeof known / sizeof *known; i++) {
        void *found = dlsym(library, known[i].name);
        memcpy((char *)pq + known[i].at, &found, sizeof found);
        ok = found;
    }
    return ok ||
           err_set(err, ERR_UNSUPPORTED, "install libpq5, 14 or later, for a store on PostgreSQL");
}
