// SPDX-License-Identifier: Apache-2.0
// The store's connections, one for writing and a few for reading, and transactions on them.
#include "server/store/store_sql.h"
#include "server/store/store_watch.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { READERS = 4 };

// A reading transaction keeps the write-ahead log from being truncated: it grows meanwhile.
#define READ_LIMIT_NS ((int64_t)5 * 1000000000)

struct store {
    char *path;
    char *owner;                         // owns the jobs it claims
    int64_t opened_ns;                   // wall clock
    struct disk_fault own_fault, *fault; // fault: the one in use, its own or a shared one
    void (*on_full)(void *context);
    void *on_full_context;

    pthread_mutex_t write_lock; // held by the one write transaction
    struct db *writer;
    atomic_ullong writes;      // transactions so far
    atomic_ullong commits;     // twice their number; odd while one is made
    atomic_bool found_job;     // by the last claim
    atomic_bool is_outdated;   // a newer program has changed the tables
    bool is_full;              // the writer found the disk full; guarded by write_lock
    pthread_mutex_t read_lock; // guards the list of free readers
    pthread_cond_t reader_free;
    struct db *readers[READERS];
    int free_count;
};

// --- failures to write --------------------------------------------------------------------------

static void note_trouble(void *context, enum db_trouble trouble)
{
    struct store *store = context;
    if (trouble == DB_FLUSH_FAILED)
        disk_fault_set(store->fault, "flushing the database");
    else
        store->is_full = true;
}

bool store_empty_log(struct store *store, bool *done, struct err *err)
{
    *done = false;
    if (!disk_fault_check(store->fault, err))
        return false;
    pthread_mutex_lock(&store->write_lock);
    bool ok = store->writer->kind->empty_log(store->writer, done, err);
    pthread_mutex_unlock(&store->write_lock);
    return ok;
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
    struct db_watch watch = {note_trouble, store};
    store->writer = db_open(store->path, DB_WRITE, &watch, err);
    return store->writer && migrate_schema(store->writer, err);
}

static bool open_readers(struct store *store, struct err *err)
{
    while (store->free_count < READERS) {
        struct db *db = db_open(store->path, DB_READ, NULL, err);
        if (!db)
            return false;
        store->readers[store->free_count++] = db;
    }
    return true;
}

struct store *store_open(const char *path, struct err *err)
{
    return store_open_as(path, "", err);
}

struct store *store_open_as(const char *path, const char *owner, struct err *err)
{
    struct store *store = calloc(1, sizeof *store);
    char *path_copy = strdup(path), *owner_copy = strdup(owner);
    if (!store || !path_copy || !owner_copy) {
        free(store);
        free(path_copy);
        free(owner_copy);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    store->path = path_copy;
    store->owner = owner_copy;
    store->opened_ns = clock_wall_ns();
    store->fault = &store->own_fault;
    pthread_mutex_init(&store->write_lock, NULL);
    pthread_mutex_init(&store->read_lock, NULL);
    pthread_cond_init(&store->reader_free, NULL);
    if (open_writer(store, err) && open_readers(store, err))
        return store;
    store_close(store);
    return NULL;
}

bool store_new_name(char name[STORE_ID_SIZE], struct err *err)
{
    return sql_new_id('n', name, err);
}

void store_close(struct store *store)
{
    if (!store)
        return;
    for (int i = 0; i < store->free_count; i++)
        db_close(store->readers[i], true);
    // Last, since it may clean up; after a failed flush no other flush is trusted.
    db_close(store->writer, disk_fault_check(store->fault, NULL));
    pthread_mutex_destroy(&store->write_lock);
    pthread_mutex_destroy(&store->read_lock);
    pthread_cond_destroy(&store->reader_free);
    free(store->path);
    free(store->owner);
    free(store);
}

void store_sizes(const struct store *store, struct store_sizes *sizes)
{
    struct db_sizes db = store->writer->kind->sizes(store->writer);
    *sizes = (struct store_sizes){.db_bytes = db.data_bytes,
                                  .wal_bytes = db.log_bytes,
                                  .writes = atomic_load(&store->writes)};
}

bool store_was_unclean(const struct store *store)
{
    return store->writer->kind->was_unclean(store->writer);
}

bool store_drop_schema_copies(struct store *store, struct err *err)
{
    return store->writer->kind->drop_schema_copies(store->writer, err);
}

bool store_copy_file(const char *path, const char *to, struct err *err)
{
    struct db *db = db_open_existing(path, err);
    // Also refuses data stored by a newer version.
    bool ok = db && migrate_check(db, err) && db->kind->copy(db, to, err);
    db_close(db, true);
    return ok;
}

const char *store_path(const struct store *store)
{
    return store->path;
}

bool store_is_shared(const struct store *store)
{
    return store->writer->kind->is_shared;
}

int64_t store_opened_ns(const struct store *store)
{
    return store->opened_ns;
}

struct str store_owner(const struct store *store)
{
    return str_of(store->owner);
}

bool store_found_job(const struct store *store)
{
    return atomic_load(&store->found_job);
}

void store_note_found(struct store *store, bool found)
{
    atomic_store(&store->found_job, found);
}

// --- transactions -------------------------------------------------------------------------------

static struct db *take_reader(struct store *store)
{
    pthread_mutex_lock(&store->read_lock);
    while (store->free_count == 0)
        pthread_cond_wait(&store->reader_free, &store->read_lock);
    struct db *db = store->readers[--store->free_count];
    pthread_mutex_unlock(&store->read_lock);
    return db;
}

static void give_reader(struct store *store, struct db *db)
{
    pthread_mutex_lock(&store->read_lock);
    assert(store->free_count < READERS);
    store->readers[store->free_count++] = db;
    pthread_cond_signal(&store->reader_free);
    pthread_mutex_unlock(&store->read_lock);
}

// Room is made on a full disk once others may write again.
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
    if (txn->access == DB_READ)
        give_reader(txn->store, txn->db);
    else
        release_writer(txn);
}

static bool knows_tables(const struct store *store, struct err *err)
{
    return !atomic_load(&store->is_outdated) ||
           err_set(err, ERR_BUSY,
                   "a newer version has changed the tables: this service stores nothing until it "
                   "is updated, too");
}

static bool take_writer(struct store *store, struct db **db, struct err *err)
{
    pthread_mutex_lock(&store->write_lock);
    *db = store->writer;
    if (disk_fault_check(store->fault, err) && knows_tables(store, err))
        return true;
    pthread_mutex_unlock(&store->write_lock);
    return false;
}

bool txn_begin(struct store *store, enum db_access access, struct txn *txn, struct err *err)
{
    bool reads = access == DB_READ;
    *txn = (struct txn){.store = store, .access = access};
    if (reads)
        txn->db = take_reader(store);
    else if (!take_writer(store, &txn->db, err))
        return false;
    txn->db->is_beside = access == DB_BESIDE;
    txn->db->needs_turn = false;
    txn->db->kind->limit_time(txn->db, reads ? clock_mono_ns() + READ_LIMIT_NS : 0);
    if (txn->db->kind->begin(txn->db, access, err))
        return true;
    txn->db->kind->rollback(txn->db);
    release(txn);
    return false;
}

// Others may see what was written before this returns.
static bool commit(struct txn *txn, struct err *err)
{
    bool writes = txn->access != DB_READ;
    if (writes)
        atomic_fetch_add(&txn->store->commits, 1);
    bool ok = txn->db->kind->commit(txn->db, err);
    if (writes)
        atomic_fetch_add(&txn->store->commits, 1);
    return ok;
}

bool txn_end(struct txn *txn, bool ok, struct err *err)
{
    ok = ok && commit(txn, err);
    if (!ok)
        txn->db->kind->rollback(txn->db);
    release(txn);
    return ok;
}

// What a writing transaction does.
struct work {
    bool (*run)(struct db *db, void *context, struct err *err);
    void *context;
};

static bool write_as(struct store *store, enum db_access access, const struct work *work,
                     bool *needs_turn, struct err *err)
{
    struct txn txn;
    *needs_turn = false;
    if (!txn_begin(store, access, &txn, err))
        return false;
    bool ok = work->run(txn.db, work->context, err);
    *needs_turn = txn.db->needs_turn;
    return txn_end(&txn, ok && !*needs_turn, err);
}

bool txn_write(struct store *store, bool (*run)(struct db *db, void *context, struct err *err),
               void *context, struct err *err)
{
    const struct work work = {run, context};
    enum db_access first = store_is_shared(store) ? DB_BESIDE : DB_WRITE;
    bool needs_turn, ok = write_as(store, first, &work, &needs_turn, err);
    return needs_turn ? write_as(store, DB_WRITE, &work, &needs_turn, err) : ok;
}

bool txn_has_turn(struct db *db, struct err *err)
{
    db->needs_turn = db->is_beside;
    return !db->needs_turn || err_set(err, ERR_BUSY, "others write at the same time");
}

bool store_check_schema(struct store *store, struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    bool ok = txn_end(&txn, migrate_check(txn.db, err), err);
    if (ok || err->code == ERR_UNSUPPORTED)
        atomic_store(&store->is_outdated, !ok);
    return ok;
}

static uint64_t ask_version(struct store *store)
{
    struct err ignored;
    struct txn txn;
    uint64_t version = 0;
    if (!txn_begin(store, DB_READ, &txn, &ignored))
        return 0;
    bool ok = txn.db->kind->read_state(txn.db, &version, &ignored);
    return txn_end(&txn, ok, &ignored) ? version : 0;
}

uint64_t store_version(struct store *store)
{
    if (store_is_shared(store))
        return ask_version(store);
    uint64_t commits = atomic_load(&store->commits);
    return commits % 2 ? 0 : commits + 2;
}

bool store_number(struct store *store, const char *sql, struct str parameter, int64_t *number,
                  struct err *err)
{
    struct txn txn;
    if (!txn_begin(store, DB_READ, &txn, err))
        return false;
    struct stmt stmt = sql_begin(txn.db, sql, err);
    if (parameter.at)
        sql_bind_text(&stmt, parameter);
    *number = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    bool ok = sql_end(&stmt);
    return txn_end(&txn, ok, err);
}
