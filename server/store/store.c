// SPDX-License-Identifier: Apache-2.0
// The SQLite database: one writing connection, a few reading ones, and transactions on them.
#include "server/store/store_sql.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { READERS = 4, CHECKPOINT_PAGES = 1000, LOOK_AT_CLOCK_OPS = 1000 };

// A transaction that reads keeps the log of writes from being emptied: it grows meanwhile.
#define READ_LIMIT_NS ((int64_t)5 * 1000000000)

struct store {
    char *path;
    bool was_unclean;
    struct disk_fault own_fault, *fault; // in use: its own, or one that is shared
    void (*on_full)(void *context);
    void *on_full_context;

    pthread_mutex_t write_lock; // held by the one write transaction
    sqlite3 *writer;
    atomic_ullong writes;      // transactions so far
    bool is_full;              // the writer found the disk full; guarded by write_lock
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

// --- failures to write --------------------------------------------------------------------------

// Looks at what a write, or SQLite's own work after it, came to.
static void note_failure(struct store *store, int rc)
{
    bool is_flush = rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC;
    if (is_flush)
        disk_fault_set(store->fault, "flushing the database");
    store->is_full = store->is_full || (rc & 0xff) == SQLITE_FULL || rc == SQLITE_IOERR_SHMSIZE;
}

// In place of SQLite's own automatic checkpoints, which swallow failures to flush. The commit that
// caused it is done, whatever comes of this.
static int checkpoint(void *context, sqlite3 *db, const char *name, int pages)
{
    if (pages >= CHECKPOINT_PAGES)
        note_failure(context,
                     sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
    return SQLITE_OK;
}

bool store_empty_log(struct store *store, bool *done, struct err *err)
{
    *done = false;
    if (!disk_fault_check(store->fault, err))
        return false;
    pthread_mutex_lock(&store->write_lock);
    sqlite3_busy_timeout(store->writer, 0); // other writers must not wait for readers
    int rc = sqlite3_wal_checkpoint_v2(store->writer, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_busy_timeout(store->writer, STORE_BUSY_MS);
    note_failure(store, sqlite3_extended_errcode(store->writer));
    pthread_mutex_unlock(&store->write_lock);
    *done = rc == SQLITE_OK;
    return *done || rc == SQLITE_BUSY ||
           err_set(err, ERR_IO, "the database's log cannot be emptied: %s", sqlite3_errstr(rc));
}

void store_share_fault(struct store *store, struct disk_fault *fault)
{
    store->fault = fault;
}

void store_on_full(struct store *store, void (*hook)(void *context), void *context)
{
    store->on_full = hook;
    store->on_full_context = context;
}

// --- opening ------------------------------------------------------------------------------------

static bool open_writer(struct store *store, struct err *err)
{
    store->writer = store_connect(store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err);
    if (!store->writer || !pragma(store->writer, "PRAGMA journal_mode = WAL", err) ||
        !pragma(store->writer, "PRAGMA synchronous = FULL", err) ||
        !pragma(store->writer, "PRAGMA secure_delete = ON", err) ||
        !pragma(store->writer, "PRAGMA journal_size_limit = 67108864", err))
        return false;
    sqlite3_wal_hook(store->writer, checkpoint, store);
    return migrate_schema(store->writer, store->path, err);
}

static bool open_readers(struct store *store, struct err *err)
{
    while (store->free_count < READERS) {
        sqlite3 *db = store_connect(store->path, SQLITE_OPEN_READONLY, err);
        if (!db)
            return false;
        store->readers[store->free_count++] = db;
        if (!pragma(db, "PRAGMA query_only = ON", err))
            return false;
    }
    return true;
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
    char name[4096];
    struct stat info;
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    bool ok = len > 0 && (size_t)len < sizeof name && stat(name, &info) == 0;
    return ok ? (uint64_t)info.st_size : 0;
}

struct store *store_open(const char *path, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    char *copy = strdup(path);
    if (!store || !copy) {
        free(store);
        free(copy);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    store->path = copy;
    store->fault = &store->own_fault;
    store->was_unclean = file_bytes(path, "-wal") > 0; // the last process did not close it
    pthread_mutex_init(&store->write_lock, NULL);
    pthread_mutex_init(&store->read_lock, NULL);
    pthread_cond_init(&store->reader_free, NULL);
    if (open_writer(store, err) && open_readers(store, err))
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
    if (store->writer && !disk_fault_check(store->fault, NULL)) // no flush is believed any more
        sqlite3_db_config(store->writer, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(store->writer); // last: it checkpoints and removes the WAL
    pthread_mutex_destroy(&store->write_lock);
    pthread_mutex_destroy(&store->read_lock);
    pthread_cond_destroy(&store->reader_free);
    free(store->path);
    free(store);
}

void store_sizes(const struct store *store, struct store_sizes *sizes)
{
    *sizes = (struct store_sizes){.db_bytes = file_bytes(store->path, ""),
                                  .wal_bytes = file_bytes(store->path, "-wal"),
                                  .writes = atomic_load(&store->writes)};
}

bool store_was_unclean(const struct store *store)
{
    return store->was_unclean;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

// --- transactions -------------------------------------------------------------------------------

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

static int is_late(void *context)
{
    const struct txn *txn = context;
    return clock_mono_ns() > txn->deadline_ns;
}

static void release_reader(struct txn *txn)
{
    sqlite3_progress_handler(txn->db, 0, NULL, NULL);
    give_reader(txn->store, txn->db);
}

// What helps on a full disk is done when others may write again.
static void release_writer(struct txn *txn)
{
    struct store *store = txn->store;
    bool is_full = store->is_full;
    store->is_full = false;
    atomic_fetch_add(&store->writes, 1);
    pthread_mutex_unlock(&store->write_lock);
    if (is_full && store->on_full)
        store->on_full(store->on_full_context);
}

static void release(struct txn *txn)
{
    if (txn->kind == TXN_READ)
        release_reader(txn);
    else
        release_writer(txn);
}

static void begin_read(struct txn *txn)
{
    txn->db = take_reader(txn->store);
    txn->deadline_ns = clock_mono_ns() + READ_LIMIT_NS;
    sqlite3_progress_handler(txn->db, LOOK_AT_CLOCK_OPS, is_late, txn);
}

static bool begin_write(struct txn *txn, struct err *err)
{
    pthread_mutex_lock(&txn->store->write_lock);
    txn->db = txn->store->writer;
    if (disk_fault_check(txn->store->fault, err))
        return true;
    pthread_mutex_unlock(&txn->store->write_lock);
    return false;
}

bool txn_begin(struct store *store, enum txn_kind kind, struct txn *txn, struct err *err)
{
    *txn = (struct txn){.store = store, .kind = kind};
    if (kind == TXN_READ)
        begin_read(txn);
    else if (!begin_write(txn, err))
        return false;
    if (pragma(txn->db, kind == TXN_READ ? "BEGIN" : "BEGIN IMMEDIATE", err))
        return true;
    if (kind == TXN_WRITE)
        note_failure(store, sqlite3_extended_errcode(txn->db));
    release(txn);
    return false;
}

bool txn_end(struct txn *txn, bool ok, struct err *err)
{
    if (ok)
        ok = pragma(txn->db, "COMMIT", err);
    if (!ok && txn->kind == TXN_WRITE)
        note_failure(txn->store, sqlite3_extended_errcode(txn->db));
    sqlite3_progress_handler(txn->db, 0, NULL, NULL); // a transaction that is late ends, too
    if (!ok && !sqlite3_get_autocommit(txn->db)) {    // some failures roll back by themselves
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
