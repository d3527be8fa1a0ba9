// SPDX-License-Identifier: Apache-2.0
// Statements of PostgreSQL. One is sent when its first row is asked for, with the values bound by
// then, and its rows arrive all together: other statements may run while they are read.
#include "server/db/db_postgres.h"
#include "server/db/postgres_text.h"
#include "server/db/postgres_value.h"

#include "ingest/base/clock.h"

#include <limits.h>
#include <stdlib.h>

enum { MAX_PARAMETERS = 1000 };

struct parameter {
    Oid type;         // 0: null
    struct str value; // borrowed
    struct buf own;   // or a copy
    unsigned char number[8];
};

// What stmt->at points to.
struct sent {
    struct buf text;
    struct parameter *parameters;
    int count, room;
    PGresult *result;
    int row; // being read; -1 before the first
};

static struct sent *sent_of(const struct stmt *stmt)
{
    return stmt->at;
}

static bool fail_memory(struct stmt *stmt)
{
    return err_set(stmt->err, ERR_MEMORY, "out of memory");
}

bool postgres_prepare(struct stmt *stmt, const char *text, const char **rest)
{
    struct buf words = {0};
    *rest = postgres_text(text, &words);
    if (words.len == 0 && !words.failed)
        return true;
    struct sent *sent = calloc(1, sizeof *sent);
    if (!sent || words.failed) {
        free(sent);
        buf_free(&words);
        return fail_memory(stmt);
    }
    sent->text = words;
    sent->row = -1;
    stmt->at = sent;
    return true;
}

// --- binding ------------------------------------------------------------------------------------

static struct parameter *grow(struct sent *sent, int count)
{
    int room = sent->room ? 2 * sent->room : 8;
    while (room < count)
        room *= 2;
    struct parameter *grown = realloc(sent->parameters, (size_t)room * sizeof *grown);
    if (!grown)
        return NULL;
    memset(grown + sent->room, 0, (size_t)(room - sent->room) * sizeof *grown);
    sent->parameters = grown;
    sent->room = room;
    return grown;
}

// The parameter being bound; NULL on failure.
static struct parameter *next(struct stmt *stmt)
{
    struct sent *sent = sent_of(stmt);
    if (stmt->bound > MAX_PARAMETERS || (stmt->bound > sent->room && !grow(sent, stmt->bound))) {
        fail_memory(stmt);
        return NULL;
    }
    struct parameter *parameter = &sent->parameters[stmt->bound - 1];
    if (sent->count < stmt->bound)
        sent->count = stmt->bound;
    parameter->type = 0;
    parameter->value = (struct str){NULL, 0};
    buf_clear(&parameter->own);
    return parameter;
}

bool postgres_bind_null(struct stmt *stmt)
{
    return next(stmt) != NULL;
}

bool postgres_bind_i64(struct stmt *stmt, int64_t value)
{
    struct parameter *parameter = next(stmt);
    if (!parameter)
        return false;
    parameter->type = POSTGRES_INT8;
    postgres_put_i64(value, parameter->number);
    return true;
}

bool postgres_bind_f64(struct stmt *stmt, double value)
{
    struct parameter *parameter = next(stmt);
    if (!parameter)
        return false;
    parameter->type = POSTGRES_FLOAT8;
    postgres_put_f64(value, parameter->number);
    return true;
}

bool postgres_bind_text(struct stmt *stmt, struct str value, bool copy)
{
    struct parameter *parameter = next(stmt);
    if (!parameter)
        return false;
    parameter->type = POSTGRES_TEXT;
    parameter->value = value.at ? value : STR("");
    if (!copy && postgres_is_clean(value))
        return true;
    postgres_clean_text(value, &parameter->own);
    parameter->value =
        parameter->own.at ? (struct str){parameter->own.at, parameter->own.len} : STR("");
    return !parameter->own.failed || fail_memory(stmt);
}

bool postgres_bind_bytes(struct stmt *stmt, struct str bytes)
{
    struct parameter *parameter = next(stmt);
    if (!parameter)
        return false;
    parameter->type = bytes.at ? POSTGRES_BYTEA : 0;
    parameter->value = bytes;
    return true;
}

// --- running ------------------------------------------------------------------------------------

// The arrays that libpq takes, in one allocation: threads that answer requests have small stacks.
struct arrays {
    const char **values;
    int *lengths, *formats;
    Oid *types;
};

static bool make_arrays(struct arrays *arrays, int count, struct err *err)
{
    size_t room = (size_t)count + 1;
    char *memory = calloc(room, sizeof *arrays->values + 2 * sizeof(int) + sizeof(Oid));
    if (!memory)
        return err_set(err, ERR_MEMORY, "out of memory");
    arrays->values = (const char **)(void *)memory;
    arrays->lengths = (int *)(void *)(arrays->values + room);
    arrays->formats = arrays->lengths + room;
    arrays->types = (Oid *)(void *)(arrays->formats + room);
    return true;
}

static bool fill(struct arrays *arrays, const struct sent *sent, struct err *err)
{
    if (!make_arrays(arrays, sent->count, err))
        return false;
    for (int i = 0; i < sent->count; i++) {
        const struct parameter *parameter = &sent->parameters[i];
        bool number = parameter->type == POSTGRES_INT8 || parameter->type == POSTGRES_FLOAT8;
        if (parameter->value.len > INT_MAX) {
            free(arrays->values);
            return err_set(err, ERR_LIMIT, "database: a value of %zu bytes is too long",
                           parameter->value.len);
        }
        arrays->types[i] = parameter->type;
        arrays->values[i] = number ? (const char *)parameter->number : parameter->value.at;
        arrays->lengths[i] = number ? 8 : (int)parameter->value.len;
        arrays->formats[i] = 1; // binary
    }
    return true;
}

static bool is_late(const struct db_postgres *pg, struct err *err)
{
    return pg->deadline_ns && clock_mono_ns() > pg->deadline_ns &&
           !err_set(err, ERR_BUSY, "database: the time of a read is up");
}

static void count_changes(struct db_postgres *pg, PGresult *result)
{
    const char *verb = pg->pq.verb(result);
    if (verb[0] == 'I' || verb[0] == 'U' || (verb[0] == 'D' && verb[2] == 'L'))
        pg->changes = strtoll(pg->pq.changed(result), NULL, 10);
}

static PGresult *send_with(struct db_postgres *pg, const struct sent *sent,
                           const struct arrays *arrays)
{
    struct postgres_kept kept;
    const char *const *values = arrays->values;
    if (pg->is_writing && postgres_keep(pg, sent->text.at, sent->count, arrays->types, &kept))
        return kept.failure ? kept.failure
                            : pg->pq.execute_prepared(pg->conn, kept.name, sent->count, values,
                                                      arrays->lengths, arrays->formats, 1);
    return pg->pq.execute_with(pg->conn, sent->text.at, sent->count, arrays->types, values,
                               arrays->lengths, arrays->formats, 1);
}

static bool is_good(const struct db_postgres *pg, const PGresult *result)
{
    int status = result ? pg->pq.result_status(result) : -1;
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static PGresult *execute(struct db_postgres *pg, const struct sent *sent, struct err *err)
{
    struct arrays arrays;
    if (!fill(&arrays, sent, err))
        return NULL;
    PGresult *result = send_with(pg, sent, &arrays);
    free(arrays.values);
    if (is_good(pg, result))
        return result;
    postgres_fail(pg, result, err);
    pg->pq.clear(result);
    return NULL;
}

// The answer to one of several statements, after which NULL comes.
static PGresult *next_answer(struct db_postgres *pg)
{
    PGresult *result = pg->pq.result(pg->conn), *more = result;
    while (more && (more = pg->pq.result(pg->conn)))
        pg->pq.clear(more);
    return result;
}

PGresult *postgres_settle(struct db_postgres *pg)
{
    PGresult *settled = NULL;
    bool ok = pg->pq.end_pipeline(pg->conn);
    for (int i = 0; i < pg->pending; i++) {
        PGresult *result = next_answer(pg), *unused = ok ? settled : result;
        settled = ok ? result : settled;
        ok = ok && is_good(pg, result);
        pg->pq.clear(unused);
    }
    pg->pending = 0;
    pg->pq.clear(pg->pq.result(pg->conn)); // the end of the pipeline
    pg->pq.exit_pipeline(pg->conn);
    return settled;
}

// The answer to the last statement that was sent; NULL if one failed.
static PGresult *settle(struct db_postgres *pg, struct err *err)
{
    PGresult *result = postgres_settle(pg);
    if (is_good(pg, result))
        return result;
    postgres_fail(pg, result, err);
    pg->pq.clear(result);
    return NULL;
}

static bool send(struct db_postgres *pg, const char *name, const struct sent *sent,
                 const struct arrays *arrays)
{
    return (pg->pending || pg->pq.enter_pipeline(pg->conn)) &&
           pg->pq.send_prepared(pg->conn, name, sent->count, arrays->values, arrays->lengths,
                                arrays->formats, 1);
}

// Unless it has to be planned first.
static bool send_if_kept(struct stmt *stmt, bool *is_sent)
{
    struct db_postgres *pg = db_postgres_of(stmt->db);
    const struct sent *sent = sent_of(stmt);
    struct arrays arrays;
    struct postgres_kept kept;
    if (!fill(&arrays, sent, stmt->err))
        return false;
    bool is_kept = postgres_is_kept(pg, sent->text.at, sent->count, arrays.types, &kept);
    *is_sent = is_kept && send(pg, kept.name, sent, &arrays);
    free(arrays.values);
    pg->pending += *is_sent;
    return *is_sent == is_kept || postgres_fail(pg, NULL, stmt->err);
}

// With those that were sent and not answered yet, or after them.
static bool run_after(struct stmt *stmt)
{
    struct db_postgres *pg = db_postgres_of(stmt->db);
    struct sent *sent = sent_of(stmt);
    bool is_sent = false;
    if (!send_if_kept(stmt, &is_sent))
        return false;
    PGresult *result = settle(pg, stmt->err);
    if (result && !is_sent) {
        pg->pq.clear(result);
        result = execute(pg, sent, stmt->err);
    }
    sent->result = result;
    return result != NULL;
}

static bool run(struct stmt *stmt)
{
    struct db_postgres *pg = db_postgres_of(stmt->db);
    struct sent *sent = sent_of(stmt);
    if (is_late(pg, stmt->err) || (!pg->in_transaction && !postgres_revive(pg, stmt->err)))
        return false;
    if (pg->pending && !run_after(stmt))
        return false;
    if (!sent->result)
        sent->result = execute(pg, sent, stmt->err);
    if (sent->result)
        count_changes(pg, sent->result);
    return sent->result != NULL;
}

// Not too many: their answers must fit into what the connection buffers.
bool postgres_run_later(struct stmt *stmt)
{
    enum { MOST_PENDING = 200 };
    const struct db_postgres *pg = db_postgres_of(stmt->db);
    bool is_sent = false;
    if (!pg->is_writing || pg->pending == MOST_PENDING)
        return run(stmt);
    return send_if_kept(stmt, &is_sent) && (is_sent || run(stmt));
}

enum db_step postgres_step(struct stmt *stmt)
{
    struct sent *sent = sent_of(stmt);
    if (!sent->result && !run(stmt))
        return DB_FAILED;
    sent->row++;
    return sent->row < db_postgres_of(stmt->db)->pq.rows(sent->result) ? DB_ROW : DB_DONE;
}

bool postgres_reset(struct stmt *stmt)
{
    struct sent *sent = sent_of(stmt);
    db_postgres_of(stmt->db)->pq.clear(sent->result);
    sent->result = NULL;
    sent->row = -1;
    return true;
}

bool postgres_finish(struct stmt *stmt)
{
    struct sent *sent = sent_of(stmt);
    if (!sent)
        return true;
    postgres_reset(stmt);
    for (int i = 0; i < sent->room; i++)
        buf_free(&sent->parameters[i].own);
    free(sent->parameters);
    buf_free(&sent->text);
    free(sent);
    return true;
}

// --- reading ------------------------------------------------------------------------------------

static bool has(const struct stmt *stmt, int column)
{
    const struct libpq *pq = &db_postgres_of(stmt->db)->pq;
    const struct sent *sent = sent_of(stmt);
    return sent && sent->result && sent->row >= 0 && sent->row < pq->rows(sent->result) &&
           column < pq->columns(sent->result) && !pq->is_null(sent->result, sent->row, column);
}

bool postgres_column_is_null(const struct stmt *stmt, int column)
{
    return !has(stmt, column);
}

static Oid type_of(const struct stmt *stmt, int column)
{
    return has(stmt, column) ? db_postgres_of(stmt->db)->pq.type(sent_of(stmt)->result, column) : 0;
}

struct str postgres_column_bytes(const struct stmt *stmt, int column)
{
    const struct libpq *pq = &db_postgres_of(stmt->db)->pq;
    const struct sent *sent = sent_of(stmt);
    if (!has(stmt, column))
        return STR("");
    return (struct str){pq->value(sent->result, sent->row, column),
                        (size_t)pq->length(sent->result, sent->row, column)};
}

bool postgres_column_is_i64(const struct stmt *stmt, int column)
{
    return postgres_is_i64(type_of(stmt, column));
}

int64_t postgres_column_i64(const struct stmt *stmt, int column)
{
    return postgres_i64(type_of(stmt, column), postgres_column_bytes(stmt, column));
}

double postgres_column_f64(const struct stmt *stmt, int column)
{
    return postgres_f64(type_of(stmt, column), postgres_column_bytes(stmt, column));
}
