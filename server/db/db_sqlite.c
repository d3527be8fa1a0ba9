// SPDX-License-Identifier: Apache-2.0
// SQLite: a database file with a write-ahead log next to it.
#include "server/db/db_sqlite.h"

#include "ingest/base/clock.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_MS = 5000, // how long to wait for another process, such as a backup
    RETRY_MS = 10,
    CHECKPOINT_PAGES = 1000,
    LOOK_AT_CLOCK_OPS = 1000,
};

static sqlite3_stmt *at(const struct stmt *stmt)
{
    return stmt->at;
}

// --- failures -----------------------------------------------------------------------------------

// A file that cannot be opened for lack of descriptors is not damaged.
static bool is_out_of_descriptors(sqlite3 *db)
{
    int reason = sqlite3_system_errno(db);
    return reason == EMFILE || reason == ENFILE;
}

// The error for a result code; only ERR_IO says something about the file itself.
static enum err_code code_of(sqlite3 *db, int rc)
{
    if (rc == SQLITE_IOERR_NOMEM)
        return ERR_MEMORY;
    switch (rc & 0xff) {
    case SQLITE_FULL: return ERR_SPACE;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT: return ERR_BUSY; // the reader's time is up
    case SQLITE_CONSTRAINT: return ERR_CONFLICT;
    case SQLITE_NOMEM: return ERR_MEMORY;
    case SQLITE_TOOBIG: return ERR_LIMIT;
    case SQLITE_CANTOPEN: return is_out_of_descriptors(db) ? ERR_BUSY : ERR_IO;
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CORRUPT: // not ERR_FORMAT: it is our data, not what a client sent
    case SQLITE_NOTADB: return ERR_IO;
    default: return ERR_INTERNAL;
    }
}

static void report_trouble(const struct db_sqlite_file *file, int rc)
{
    if (!file->watch.trouble)
        return;
    if (rc == SQLITE_IOERR_FSYNC || rc == SQLITE_IOERR_DIR_FSYNC)
        file->watch.trouble(file->watch.context, DB_FLUSH_FAILED);
    else if ((rc & 0xff) == SQLITE_FULL || rc == SQLITE_IOERR_SHMSIZE)
        file->watch.trouble(file->watch.context, DB_DISK_FULL);
}

static bool check(struct stmt *stmt, int rc)
{
    struct db_sqlite_file *file = db_sqlite_of(stmt->db);
    if (rc == SQLITE_OK || stmt->failed) // after a failure the same one is reported again
        return rc == SQLITE_OK;
    report_trouble(file, sqlite3_extended_errcode(file->at));
    return err_set(stmt->err, code_of(file->at, rc), "database: %s", sqlite3_errmsg(file->at));
}

// --- statements ---------------------------------------------------------------------------------

static bool prepare(struct stmt *stmt, const char *text, const char **rest)
{
    struct db_sqlite_file *file = db_sqlite_of(stmt->db);
    sqlite3_stmt *made = db_sqlite_kept_take(&file->kept, text);
    stmt->at = made;
    if (made) {
        *rest = text + strlen(text);
        return true;
    }
    int rc = sqlite3_prepare_v3(file->at, text, -1, SQLITE_PREPARE_PERSISTENT, &made, rest);
    stmt->at = made;
    return check(stmt, rc);
}

static bool bind_null(struct stmt *stmt)
{
    return check(stmt, sqlite3_bind_null(at(stmt), stmt->bound));
}

static bool bind_i64(struct stmt *stmt, int64_t value)
{
    return check(stmt, sqlite3_bind_int64(at(stmt), stmt->bound, value));
}

static bool bind_f64(struct stmt *stmt, double value)
{
    return check(stmt, sqlite3_bind_double(at(stmt), stmt->bound, value));
}

static bool bind_text(struct stmt *stmt, struct str value, bool copy)
{
    return check(stmt,
                 sqlite3_bind_text64(at(stmt), stmt->bound, value.at ? value.at : "", value.len,
                                     copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8));
}

static bool bind_bytes(struct stmt *stmt, struct str bytes)
{
    return check(stmt,
                 sqlite3_bind_blob64(at(stmt), stmt->bound, bytes.at, bytes.len, SQLITE_STATIC));
}

static enum db_step step(struct stmt *stmt)
{
    int rc = sqlite3_step(at(stmt));
    if (rc == SQLITE_ROW || rc == SQLITE_DONE)
        return rc == SQLITE_ROW ? DB_ROW : DB_DONE;
    check(stmt, rc);
    return DB_FAILED;
}

static bool reset(struct stmt *stmt)
{
    return check(stmt, sqlite3_reset(at(stmt)));
}

static bool finish(struct stmt *stmt)
{
    int rc = at(stmt) ? sqlite3_reset(at(stmt)) : SQLITE_OK;
    bool ok = check(stmt, rc); // before anything else changes the connection's last error
    if (at(stmt) && !(ok && db_sqlite_kept_put(&db_sqlite_of(stmt->db)->kept, at(stmt))))
        sqlite3_finalize(at(stmt));
    return ok;
}

static bool is_null(const struct stmt *stmt, int column)
{
    return sqlite3_column_type(at(stmt), column) == SQLITE_NULL;
}

static bool is_i64(const struct stmt *stmt, int column)
{
    return sqlite3_column_type(at(stmt), column) == SQLITE_INTEGER;
}

static int64_t i64(const struct stmt *stmt, int column)
{
    return sqlite3_column_int64(at(stmt), column);
}

static double f64(const struct stmt *stmt, int column)
{
    return sqlite3_column_double(at(stmt), column);
}

static struct str bytes(const struct stmt *stmt, int column)
{
    // The data before the size, as documented.
    const char *first = sqlite3_column_blob(at(stmt), column);
    return (struct str){first ? first : "", (size_t)sqlite3_column_bytes(at(stmt), column)};
}

static int64_t changes(struct db *db)
{
    return sqlite3_changes64(db_sqlite_of(db)->at);
}

static bool read_clock(struct db *db, int64_t *now_ns, struct err *err)
{
    (void)db;
    (void)err;
    *now_ns = clock_wall_ns();
    return true;
}

// --- copies -------------------------------------------------------------------------------------

#define COLUMNS "SELECT name, type FROM pragma_table_info(?) ORDER BY name"

static bool continue_ids(struct db *db, const char *table, struct err *err)
{
    (void)db, (void)table, (void)err;
    return true; // AUTOINCREMENT does
}

static bool take_alone(struct db *db, bool *is_alone, struct err *err)
{
    (void)db, (void)err;
    *is_alone = true;
    return true;
}

// --- opening ------------------------------------------------------------------------------------

// Far above what our statements need.
static void limit(sqlite3 *db)
{
    static const struct {
        int id, most;
    } limits[] = {
        {SQLITE_LIMIT_LENGTH, 512 << 20},   {SQLITE_LIMIT_SQL_LENGTH, 256 << 10},
        {SQLITE_LIMIT_COLUMN, 256},         {SQLITE_LIMIT_EXPR_DEPTH, 200},
        {SQLITE_LIMIT_COMPOUND_SELECT, 10}, {SQLITE_LIMIT_FUNCTION_ARG, 32},
        {SQLITE_LIMIT_ATTACHED, 1},         {SQLITE_LIMIT_VARIABLE_NUMBER, 1000},
        {SQLITE_LIMIT_TRIGGER_DEPTH, 20},   {SQLITE_LIMIT_WORKER_THREADS, 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        sqlite3_limit(db, limits[i].id, limits[i].most);
}

// Turns off what a hostile database file or a bug of ours could use.
static bool configure(struct db_sqlite_file *file, struct err *err)
{
    sqlite3_busy_timeout(file->at, BUSY_MS);
    sqlite3_extended_result_codes(file->at, 1);
    limit(file->at);
    if (sqlite3_db_config(file->at, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) ||
        sqlite3_db_config(file->at, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL) ||
        sqlite3_db_config(file->at, SQLITE_DBCONFIG_DQS_DML, 0, NULL) ||
        sqlite3_db_config(file->at, SQLITE_DBCONFIG_DQS_DDL, 0, NULL) ||
        sqlite3_db_config(file->at, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL))
        return err_set(err, ERR_INTERNAL, "database: cannot set its safe modes");
    return sql_execute(&file->db, "PRAGMA cell_size_check = ON", err) &&
           sql_execute(&file->db, "PRAGMA mmap_size = 0", err) &&
           sql_execute(&file->db, "PRAGMA cache_size = -16384", err); // KiB: tables of a few runs
}

// Replaces SQLite's automatic checkpoints, which hide failures to flush. The commit that triggered
// it succeeds either way.
static int checkpoint(void *context, sqlite3 *db, const char *name, int pages)
{
    if (pages >= CHECKPOINT_PAGES)
        report_trouble(context,
                       sqlite3_wal_checkpoint_v2(db, name, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL));
    return SQLITE_OK;
}

// Unlike elsewhere, SQLite does not wait here while another process opens a new database.
static bool log_ahead(struct db_sqlite_file *file, struct err *err)
{
    bool ok = sql_execute(&file->db, "PRAGMA journal_mode = WAL", err);
    for (int waited = 0; !ok && err->code == ERR_BUSY && waited < BUSY_MS; waited += RETRY_MS) {
        sqlite3_sleep(RETRY_MS);
        ok = sql_execute(&file->db, "PRAGMA journal_mode = WAL", err);
    }
    return ok;
}

static bool configure_writer(struct db_sqlite_file *file, struct err *err)
{
    if (!log_ahead(file, err) || !sql_execute(&file->db, "PRAGMA synchronous = FULL", err) ||
        !sql_execute(&file->db, "PRAGMA secure_delete = ON", err) ||
        !sql_execute(&file->db, "PRAGMA journal_size_limit = 67108864", err))
        return false;
    sqlite3_wal_hook(file->at, checkpoint, file);
    return true;
}

// A name that looks like a URI could open a different database, or one in memory only.
static int open_plain(const char *path, enum db_access access, sqlite3 **db)
{
    char plain[4096];
    int flags =
        access == DB_WRITE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
    int len = snprintf(plain, sizeof plain, "%s%s", path[0] == '/' ? "" : "./", path);
    if (len < 0 || (size_t)len >= sizeof plain)
        return SQLITE_CANTOPEN;
    return sqlite3_open_v2(plain, db, flags | SQLITE_OPEN_NOMUTEX, NULL);
}

static bool connect_file(struct db_sqlite_file *file, enum db_access access, struct err *err)
{
    int rc = open_plain(file->path, access, &file->at);
    if (rc == SQLITE_CANTOPEN && !file->at)
        return err_set(err, ERR_USAGE, "the path %.100s... is too long", file->path);
    if (rc != SQLITE_OK)
        return err_set(err, file->at ? code_of(file->at, rc) : ERR_MEMORY, "database %s: %s",
                       file->path, file->at ? sqlite3_errmsg(file->at) : "out of memory");
    return (configure(file, err) &&
            (access == DB_WRITE || sql_execute(&file->db, "PRAGMA query_only = ON", err))) ||
           err_wrap(err, "database %s", file->path);
}

static uint64_t file_bytes(const char *path, const char *suffix)
{
    char name[4096];
    struct stat info;
    int len = snprintf(name, sizeof name, "%s%s", path, suffix);
    bool ok = len > 0 && (size_t)len < sizeof name && stat(name, &info) == 0;
    return ok ? (uint64_t)info.st_size : 0;
}

static void close_file(struct db *db, bool flush)
{
    struct db_sqlite_file *file = db_sqlite_of(db);
    if (file->at && !flush)
        sqlite3_db_config(file->at, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    db_sqlite_kept_free(&file->kept);
    sqlite3_close(file->at);
    if (file->folder_fd >= 0)
        close(file->folder_fd);
    free(file);
}

struct db *db_sqlite_connect(const char *path, enum db_access access, const struct db_watch *watch,
                             struct err *err)
{
    size_t len = strlen(path);
    struct db_sqlite_file *file = calloc(1, sizeof *file + len + 1);
    if (!file) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    file->db.kind = &db_sqlite;
    file->was_unclean = file_bytes(path, "-wal") > 0;
    file->folder_fd = -1;
    memcpy(file->path, path, len);
    if (watch)
        file->watch = *watch;
    if (connect_file(file, access, err))
        return &file->db;
    close_file(&file->db, true);
    return NULL;
}

static int open_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[4096];
    int len = snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                       slash ? path : ".");
    bool ok = len > 0 && (size_t)len < sizeof folder;
    return ok ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
}

static struct db *open_file(const char *path, enum db_access access, const struct db_watch *watch,
                            struct err *err)
{
    struct db *db = db_sqlite_connect(path, access, watch, err);
    if (!db || access == DB_READ)
        return db;
    db_sqlite_of(db)->folder_fd = open_folder(path);
    if (configure_writer(db_sqlite_of(db), err))
        return db;
    close_file(db, true);
    return NULL;
}

static bool is_path(const char *place)
{
    return strstr(place, "://") == NULL;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

// --- transactions -------------------------------------------------------------------------------

// Transactions that write, and checkpoints, exclude each other over all processes, as a command may
// write beside a service: SQLite before 3.51.3 (3.50.7, 3.44.6) may lose what one connection
// commits while another one begins a checkpoint (sqlite.org/wal.html#walresetbug). The lock is on
// the folder, whose owner matters to nobody; a file system without such locks has none.
static bool take_turn(const struct db_sqlite_file *file, int most_ms)
{
    for (int waited = 0; flock(file->folder_fd, LOCK_EX | LOCK_NB) != 0; waited += RETRY_MS) {
        if (errno != EWOULDBLOCK)
            return true;
        if (waited >= most_ms)
            return false;
        sqlite3_sleep(RETRY_MS);
    }
    return true;
}

static void give_turn(const struct db_sqlite_file *file)
{
    if (file->folder_fd >= 0)
        (void)flock(file->folder_fd, LOCK_UN);
}

static int is_late(void *context)
{
    const struct db_sqlite_file *file = context;
    return clock_mono_ns() > file->deadline_ns;
}

static bool begin(struct db *db, enum db_access access, struct err *err)
{
    const struct db_sqlite_file *file = db_sqlite_of(db);
    if (access == DB_READ)
        return sql_execute(db, "BEGIN", err);
    if (!take_turn(file, BUSY_MS))
        return err_set(err, ERR_BUSY, "database: database is locked");
    bool ok = sql_execute(db, "BEGIN IMMEDIATE", err);
    if (!ok)
        give_turn(file);
    return ok;
}

static void limit_time(struct db *db, int64_t deadline_ns)
{
    struct db_sqlite_file *file = db_sqlite_of(db);
    file->deadline_ns = deadline_ns;
    sqlite3_progress_handler(file->at, deadline_ns ? LOOK_AT_CLOCK_OPS : 0, is_late, file);
}

// If it fails the transaction goes on. A checkpoint is made within it.
static bool commit(struct db *db, struct err *err)
{
    bool ok = sql_execute(db, "COMMIT", err);
    limit_time(db, 0);
    if (ok)
        give_turn(db_sqlite_of(db));
    return ok;
}

static void rollback(struct db *db)
{
    limit_time(db, 0); // a transaction past its deadline must still be able to end
    // Some failures roll back by themselves.
    bool is_over =
        sqlite3_get_autocommit(db_sqlite_of(db)->at) || sql_execute(db, "ROLLBACK", NULL);
    assert(is_over);
    (void)is_over;
    give_turn(db_sqlite_of(db));
}

// --- care ---------------------------------------------------------------------------------------

static bool read_version(struct db *db, int64_t *version, struct err *err)
{
    struct stmt stmt = sql_begin(db, "PRAGMA user_version", err);
    *version = sql_row(&stmt) ? sql_i64(&stmt, 0) : 0;
    return sql_end(&stmt);
}

static bool write_version(struct db *db, int64_t version, struct err *err)
{
    char pragma[60]; // a pragma takes no parameters
    snprintf(pragma, sizeof pragma, "PRAGMA user_version = %lld", (long long)version);
    return sql_execute(db, pragma, err);
}

static bool was_unclean(const struct db *db)
{
    return db_sqlite_of(db)->was_unclean;
}

static struct db_sizes sizes(const struct db *db)
{
    const char *path = db_sqlite_of(db)->path;
    return (struct db_sizes){file_bytes(path, ""), file_bytes(path, "-wal")};
}

static bool empty_log(struct db *db, bool *done, struct err *err)
{
    struct db_sqlite_file *file = db_sqlite_of(db);
    *done = false;
    if (!take_turn(file, 0))
        return true;
    sqlite3_busy_timeout(file->at, 0); // other writers must not wait for readers
    int rc = sqlite3_wal_checkpoint_v2(file->at, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    report_trouble(file, sqlite3_extended_errcode(file->at));
    sqlite3_busy_timeout(file->at, BUSY_MS);
    give_turn(file);
    *done = rc == SQLITE_OK;
    return *done || rc == SQLITE_BUSY ||
           err_set(err, ERR_IO, "the database's log cannot be emptied: %s", sqlite3_errstr(rc));
}

const struct db_kind db_sqlite = {
    .name = "sqlite",
    .claiming = "",
    .is_place = is_path,
    .exists = is_there,
    .open = open_file,
    .close = close_file,
    .prepare = prepare,
    .bind_null = bind_null,
    .bind_i64 = bind_i64,
    .bind_f64 = bind_f64,
    .bind_text = bind_text,
    .bind_bytes = bind_bytes,
    .step = step,
    .reset = reset,
    .finish = finish,
    .is_null = is_null,
    .is_i64 = is_i64,
    .i64 = i64,
    .f64 = f64,
    .bytes = bytes,
    .changes = changes,
    .columns = COLUMNS,
    .continue_ids = continue_ids,
    .take_alone = take_alone,
    .clock = read_clock,
    .begin = begin,
    .limit_time = limit_time,
    .commit = commit,
    .rollback = rollback,
    .read_version = read_version,
    .write_version = write_version,
    .was_unclean = was_unclean,
    .sizes = sizes,
    .empty_log = empty_log,
    .copy = db_sqlite_copy,
    .copy_before_schema = db_sqlite_copy_before_schema,
    .drop_schema_copies = db_sqlite_drop_schema_copies,
    .check = db_sqlite_check,
};
