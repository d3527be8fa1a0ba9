// SPDX-License-Identifier: Apache-2.0
// Connections to PostgreSQL: opening them, again after they were lost, and what failures mean.
#include "server/db/db_postgres.h"

#include "ingest/base/log.h"
#include "ingest/base/str.h"

#include <stdlib.h>
#include <sys/random.h>

// The server ends transactions of a service that stopped in the middle, so that nobody waits for
// them. JIT is off: compiling takes a third of a second, statements are short, and with a long
// queue a claim looks expensive enough to compile.
#define EVERY_SESSION                                                                \
    "SET client_min_messages = warning; SET TimeZone = UTC; SET jit = off;"          \
    "SET idle_in_transaction_session_timeout = 10000; SET tcp_keepalives_idle = 10;" \
    "SET tcp_keepalives_interval = 5;"
#define READING_SESSION EVERY_SESSION "SET default_transaction_read_only = on"
// Plans of writing statements are kept. They use indexes, so that those made while a table was
// small stay right.
#define WRITING_SESSION \
    EVERY_SESSION "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off"

#define DIVISION_BY_ZERO "22012" // in the mark of a commit only (db_postgres.c)

// --- failures -----------------------------------------------------------------------------------

static bool has_class(const char *state, const char *class)
{
    return strncmp(state, class, strlen(class)) == 0;
}

// By SQLSTATE, or its class.
static enum err_code code_of(const char *state)
{
    static const struct {
        const char *state;
        enum err_code code;
    } known[] = {
        {"08", ERR_BUSY},     // the connection
        {"40", ERR_BUSY},     // rolled back: a deadlock, or it cannot be put in order
        {"55P03", ERR_BUSY},  // a lock is held
        {"57", ERR_BUSY},     // canceled, past its time, or the server stops
        {"25006", ERR_BUSY},  // a read-only server: another one takes over
        {"25P03", ERR_BUSY},  // idle in a transaction for too long
        {"25P04", ERR_BUSY},  //
        {"53100", ERR_SPACE}, // its disk is full
        {"53200", ERR_MEMORY}, {"53", ERR_BUSY}, // too many connections, for example
        {"23", ERR_CONFLICT},  {"54", ERR_LIMIT},
        {"58", ERR_IO},        {"XX001", ERR_IO}, // damaged data
        {"XX002", ERR_IO},     {DIVISION_BY_ZERO, ERR_BUSY},
        {"28", ERR_IO},                        // refused as a user, or rights
        {"42501", ERR_IO},     {"3D", ERR_IO}, // no such database
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_class(state, known[i].state))
            return known[i].code;
    return ERR_INTERNAL;
}

static bool fail_as(enum err_code code, const char *text, struct err *err)
{
    return err_set(err, code, "database: %.*s", (int)strcspn(text, "\n"), text);
}

// The library's message contains host and port, which clients need not know.
static bool fail_unreached(const struct db_postgres *pg, const char *what, struct err *err)
{
    const char *text = pg->pq.failure(pg->conn);
    log_warn("database: %.*s", (int)strcspn(text, "\n"), text);
    return fail_as(ERR_BUSY, what, err);
}

// An error that is not the server's is about the connection, which the library does not always
// notice.
bool postgres_fail(struct db_postgres *pg, const PGresult *result, struct err *err)
{
    const char *state = result ? pg->pq.result_field(result, PG_DIAG_SQLSTATE) : NULL;
    const char *text = result ? pg->pq.result_field(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
    if (state && has_class(state, DIVISION_BY_ZERO))
        text = "a newer version has changed the tables";
    pg->is_lost = pg->is_lost || !state || pg->pq.status(pg->conn) != CONNECTION_OK ||
                  has_class(state, "08") || has_class(state, "57P");
    return text ? fail_as(pg->is_lost ? ERR_BUSY : code_of(state), text, err)
                : fail_unreached(pg, "the connection was lost", err);
}

// --- opening ------------------------------------------------------------------------------------

static void ignore(void *context, const PGresult *notice)
{
    (void)context, (void)notice;
}

static bool set_up(struct db_postgres *pg, struct err *err)
{
    const char *text = pg->access == DB_READ ? READING_SESSION : WRITING_SESSION;
    PGresult *result = pg->pq.execute(pg->conn, text);
    bool ok = result && pg->pq.result_status(result) == PGRES_COMMAND_OK;
    if (!ok)
        postgres_fail(pg, result, err);
    pg->pq.clear(result);
    return ok;
}

bool postgres_revive(struct db_postgres *pg, struct err *err)
{
    if (!pg->is_lost && pg->pq.status(pg->conn) == CONNECTION_OK)
        return true;
    pg->in_transaction = false;
    pg->is_lost = true;
    postgres_forget_kept(pg);
    pg->pending = 0;
    pg->pq.reset(pg->conn);
    if (pg->pq.status(pg->conn) != CONNECTION_OK)
        return fail_unreached(pg, "it cannot be reached", err);
    pg->is_lost = false;
    return set_up(pg, err);
}

// The library's message repeats the URL, and with it the password.
static bool check_place(const struct db_postgres *pg, const char *place, struct err *err)
{
    char *failure = NULL;
    struct pg_options *options = pg->pq.parse(place, &failure);
    pg->pq.free(failure);
    if (options)
        pg->pq.free_options(options);
    return options ||
           err_set(err, ERR_USAGE,
                   "expected a database as postgres://USER:PASSWORD@HOST:PORT/NAME?sslmode=verify-"
                   "full, with %%XX for what is special in a URL");
}

// Settings in the place replace those before it. Of several hosts the one that takes writes is
// used, so that a former primary is abandoned after a failover. A host that says nothing any more
// is given up after 20 seconds, whether something is on its way there or an answer is awaited.
static bool connect_to(struct db_postgres *pg, const char *place, struct err *err)
{
    const char *const keywords[] = {"application_name",     "connect_timeout",  "client_encoding",
                                    "target_session_attrs", "tcp_user_timeout", "keepalives_idle",
                                    "keepalives_interval",  "dbname",           NULL};
    const char *const values[] = {"stepscope", "5", "UTF8", "read-write", "20000",
                                  "10",        "5", place,  NULL};
    pg->conn = pg->pq.connect(keywords, values, 1);
    if (!pg->conn)
        return err_set(err, ERR_MEMORY, "out of memory");
    pg->pq.on_notice(pg->conn, ignore, NULL);
    if (pg->pq.status(pg->conn) != CONNECTION_OK)
        return fail_as(ERR_BUSY, pg->pq.failure(pg->conn), err);
    return set_up(pg, err);
}

static bool take_id(struct db_postgres *pg, struct err *err)
{
    return getrandom(&pg->id, sizeof pg->id, 0) == (ssize_t)sizeof pg->id ||
           err_set(err, ERR_INTERNAL, "no random bytes for a connection");
}

struct db *postgres_open(const char *place, enum db_access access, const struct db_watch *watch,
                         struct err *err)
{
    struct db_postgres *pg = calloc(1, sizeof *pg);
    (void)watch; // the disk is another machine's
    if (!pg) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    pg->db.kind = &db_postgres;
    pg->access = access;
    if (take_id(pg, err) && libpq_load(&pg->pq, err) && check_place(pg, place, err) &&
        connect_to(pg, place, err))
        return &pg->db;
    postgres_close(&pg->db, false);
    return NULL;
}

void postgres_close(struct db *db, bool flush)
{
    struct db_postgres *pg = db_postgres_of(db);
    (void)flush;
    if (pg->conn)
        pg->pq.finish(pg->conn);
    postgres_forget_kept(pg);
    free(pg);
}
