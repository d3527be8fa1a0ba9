// SPDX-License-Identifier: Apache-2.0
// The functions of libpq that are used. The library is loaded when a PostgreSQL database is opened
// for the first time, so that a service with SQLite does not need it.
#ifndef SERVER_DB_LIBPQ_H
#define SERVER_DB_LIBPQ_H

#include "ingest/base/err.h"

// libpq's own types and numbers, which are part of its binary interface.
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;
struct pg_options; // PQconninfoOption
struct pg_notify { // PGnotify
    char *channel;
    int process; // of the server, whose client sent it
    char *extra;
    struct pg_notify *next;
};
enum { CONNECTION_OK = 0 };
enum { PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };
enum { PG_DIAG_SQLSTATE = 'C', PG_DIAG_MESSAGE_PRIMARY = 'M' };

struct libpq {
    struct pg_options *(*parse)(const char *place, char **failure);
    void (*free_options)(struct pg_options *options);
    void (*free)(void *text);
    PGconn *(*connect)(const char *const *keywords, const char *const *values, int expand_dbname);
    void (*finish)(PGconn *conn);
    void (*reset)(PGconn *conn);
    int (*status)(const PGconn *conn);
    char *(*failure)(const PGconn *conn);
    void (*(*on_notice)(PGconn *conn, void (*hook)(void *, const PGresult *),
                        void *))(void *, const PGresult *);
    PGresult *(*execute)(PGconn *conn, const char *text);
    PGresult *(*execute_with)(PGconn *conn, const char *text, int count, const Oid *types,
                              const char *const *values, const int *lengths, const int *formats,
                              int result_format);
    PGresult *(*prepare)(PGconn *conn, const char *name, const char *text, int count,
                         const Oid *types);
    PGresult *(*execute_prepared)(PGconn *conn, const char *name, int count,
                                  const char *const *values, const int *lengths, const int *formats,
                                  int result_format);
    // Several statements on their way at once: what is sent between entering and ending a pipeline.
    int (*enter_pipeline)(PGconn *conn);
    int (*exit_pipeline)(PGconn *conn);
    int (*end_pipeline)(PGconn *conn);
    int (*send_with)(PGconn *conn, const char *text, int count, const Oid *types,
                     const char *const *values, const int *lengths, const int *formats,
                     int result_format);
    int (*send_prepared)(PGconn *conn, const char *name, int count, const char *const *values,
                         const int *lengths, const int *formats, int result_format);
    PGresult *(*result)(PGconn *conn);
    int (*result_status)(const PGresult *result);
    char *(*result_field)(const PGresult *result, int field);
    void (*clear)(PGresult *result);
    int (*rows)(const PGresult *result);
    int (*columns)(const PGresult *result);
    Oid (*type)(const PGresult *result, int column);
    char *(*value)(const PGresult *result, int row, int column);
    int (*length)(const PGresult *result, int row, int column);
    int (*is_null)(const PGresult *result, int row, int column);
    char *(*changed)(PGresult *result);
    char *(*verb)(PGresult *result);
    int (*socket)(const PGconn *conn);
    int (*process)(const PGconn *conn);
    int (*consume)(PGconn *conn);
    struct pg_notify *(*notified)(PGconn *conn);
};

// ERR_UNSUPPORTED without the library. It stays loaded until the process ends.
MUST_CHECK bool libpq_load(struct libpq *pq, struct err *err);

#endif
