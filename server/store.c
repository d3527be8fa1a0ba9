// SPDX-License-Identifier: Apache-2.0
// The SQLite database: one writing connection, a few reading ones, and transactions on them.
#include "server/store_sql.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { READERS = 4, BUSY_MS = 5000 };

struct store {
    pthread_mutex_t write_lock; // held by the one write transaction
    sqlite3 *writer;
    pthread_mutex_t read_lock; // guards the readers that are free
    pthread_cond_t reader_free;
    sqlite3 *readers[READERS];
    int free_count;
};

static bool pragma(sqlite3 *db, const char *text, struct err *err)
{
    struct stmt stmt = sql_begin(db, text, err);
    return sql_run(&stmt);
}

// Settings of every connection; what a hostile database file or a slip of ours could do is off.
static bool configure(sqlite3 *db, struct err *err)
{
    sqlite3_busy_timeout(db, BUSY_MS);
    sqlite3_extended_result_codes(db, 1);
    if (sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL))
        return err_set(err, ERR_INTERNAL, "database: cannot set its safe modes");
    return pragma(db, "PRAGMA cell_size_check = ON", err) &&
           pragma(db, "PRAGMA mmap_size = 0", err) &&
           pragma(db, "PRAGMA cache_size = -16384", err); // KiB: the tables of a few runs
}

static sqlite3 *open_connection(const char *path, int flags, struct err *err)
{
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK) {
        err_set(err, ERR_IO, "database %s: %s", path, db ? sqlite3_errmsg(db) : "out of memory");
        sqlite3_close(db);
        return NULL;
    }
    if (configure(db, err))
        return db;
    err_wrap(err, "database %s", path);
    sqlite3_close(db);
    return NULL;
}

static bool open_writer(struct store *store, const char *path, struct err *err)
{
    store->writer = open_connection(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    return store->writer && pragma(store->writer, "PRAGMA journal_mode = WAL", err) &&
           pragma(store->writer, "PRAGMA synchronous = FULL", err) &&
           pragma(store->writer, "PRAGMA journal_size_limit = 67108864", err) &&
           pragma(store->writer, "PRAGMA wal_autocheckpoint = 1000", err) &&
           migrate_schema(store->writer, err);
}

static bool open_readers(struct store *store, const char *path, struct err *err)
{
    while (store->free_count < READERS) {
        sqlite3 *db = open_connection(path, SQLITE_OPEN_READONLY, err);
        if (!db)
            return false;
        store->readers[store->free_count++] = db;
    }
    return true;
}

struct store *store_open(const char *path, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    if (!store) {
        err_set(err, ERR_LIMIT, "out of memory");
        return NULL;
    }
    pthread_mutex_init(&store->write_lock, NULL);
    pthread_mutex_init(&store->read_lock, NULL);
    pthread_cond_init(&store->reader_free, NULL);
    if (open_writer(store, path, err) && open_readers(store, path, err))
        return store;
    store_close(store);
    return NULL;
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (int i = 0; i < store->free_count; i++)
        sqlite3_close(store->readers[i]);
    sqlite3_close(store->writer); // last: it checkpoints and removes the WAL
    pthread_mutex_destroy(&store->write_lock);
    pthread_mutex_destroy(&store->read_lock);
    pthread_cond_destroy(&store->reader_free);
    free(store);
}

static sqlite3 *take_reader(struct store *store)
{
    pthread_mutex_lock(&store->read_lock);
    while (store->free_count == 0)
        pthread_cond_wait(&store->reader_free, &store->read_lock);
    sqlite3 *db = store->readers[--store->free_count];
    pthread_mutex_unlock(&store->read_lock);
    return db;
}

static void give_reader(struct store *store, sqlite3 *db)
{
    pthread_mutex_lock(&store->read_lock);
    assert(store->free_count < READERS);
    store->readers[store->free_count++] = db;
    pthread_cond_signal(&store->reader_free);
    pthread_mutex_unlock(&store->read_lock);
}

static void release(struct txn *txn)
{
    if (txn->kind == TXN_READ)
        give_reader(txn->store, txn->db);
    else
        pthread_mutex_unlock(&txn->store->write_lock);
}

bool txn_begin(struct store *store, enum txn_kind kind, struct txn *txn, struct err *err)
{
    *txn = (struct txn){.store = store, .kind = kind};
    if (kind == TXN_READ) {
        txn->db = take_reader(store);
    } else {
        pthread_mutex_lock(&store->write_lock);
        txn->db = store->writer;
    }
    if (pragma(txn->db, kind == TXN_READ ? "BEGIN" : "BEGIN IMMEDIATE", err))
        return true;
    release(txn);
    return false;
}

bool txn_end(struct txn *txn, bool ok, struct err *err)
{
    if (ok)
        ok = pragma(txn->db, "COMMIT", err);
    if (!ok && !sqlite3_get_autocommit(txn->db)) { // some failures roll back by themselves
        bool is_rolled_back = pragma(txn->db, "ROLLBACK", NULL);
        assert(is_rolled_back);
        (void)is_rolled_back;
    }
    release(txn);
    return ok;
}

bool store_number(struct store *store, const char *sql, struct str parameter, int64_t *number,
                  struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, TXN_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, sql, err);
    if (parameter.at)
        sql_bind_text(&stmt, parameter);
    *number = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}
