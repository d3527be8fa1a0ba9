// SPDX-License-Identifier: Apache-2.0
// Opens an untrusted SQLite database through a custom VFS that exposes only the source.
#include "ingest/sqlite/database.h"
#include "ingest/base/buf.h"
#include "ingest/base/fuzzed.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

// SQLite reads page by page; this much is read ahead.
#define WINDOW_BYTES ((size_t)FUZZED_SIZE(128 << 10, 64 << 10))
// A scan takes a few steps of SQLite's virtual machine per value, and a value takes at least a
// byte. Pages linked in a cycle would be read forever.
#define STEPS_PER_BYTE ((uint64_t)16)
#define STEPS_FREE     FUZZED_SIZE((uint64_t)1 << 24, (uint64_t)1 << 20)
#define STEPS_BETWEEN  10000 // checks
// A scan reads each page about once. A chain of overflow pages that is a cycle makes each of its
// values as long as a value may be.
#define READS_PER_BYTE ((uint64_t)8)
#define READS_FREE     FUZZED_SIZE((uint64_t)64 << 20, (uint64_t)4 << 20)
#define ROWS_BETWEEN   16 // checks of that
#define MAX_VALUE      (64 << 20)
#define MAX_TABLES     10000

struct window {
    uint64_t at;
    size_t len;
    char bytes[WINDOW_BYTES];
};

struct database {
    sqlite3 *db;
    sqlite3_vfs vfs;
    char vfs_name[40];
    struct source *source;
    const atomic_bool *cancel;
    struct err error; // of the source
    uint64_t size, taken;
    uint64_t steps, read_bytes; // of this walk
    uint32_t page_bytes;
    uint64_t claimed;  // the size that its header states
    struct buf tables; // names, each with its NUL
    const struct rows_only *only;
    struct database_state state;
    struct window window;
};

// --- the file -----------------------------------------------------------------------------------

struct file {
    sqlite3_file base;
    struct database *database;
};

static bool fill_window(struct database *database, uint64_t at)
{
    struct source_place place = {at, database->window.bytes, WINDOW_BYTES};
    database->window.at = at;
    database->window.len = 0;
    database->taken += WINDOW_BYTES;
    return source_read_at(database->source, &place, &database->window.len, &database->error);
}

static int file_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset)
{
    struct database *database = ((struct file *)base)->database;
    struct window *window = &database->window;
    uint64_t at = (uint64_t)offset;
    size_t wanted = (size_t)count;
    bool inside = at >= window->at && at + wanted <= window->at + window->len;
    database->read_bytes += wanted;
    if (wanted > WINDOW_BYTES || (!inside && !fill_window(database, at)))
        return SQLITE_IOERR_READ;
    size_t from = (size_t)(at - window->at), there = window->len - from;
    size_t got = there < wanted ? there : wanted;
    memcpy(bytes, window->bytes + from, got);
    if (got == wanted)
        return SQLITE_OK;
    memset(bytes, 0, wanted); // half a page would be rows of zeros
    return SQLITE_IOERR_SHORT_READ;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *size)
{
    // SQLite refuses a file shorter than its header says. Given that size, it reads zeros beyond
    // the end, which are not pages: the rows before them are still returned.
    const struct database *database = ((struct file *)base)->database;
    bool cut = database->claimed > database->size;
    *size = (sqlite3_int64)(cut ? database->claimed : database->size);
    return SQLITE_OK;
}

static int file_close(sqlite3_file *base)
{
    (void)base;
    return SQLITE_OK;
}

static int refuse_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset)
{
    (void)base, (void)bytes, (void)count, (void)offset;
    return SQLITE_READONLY;
}

static int refuse_truncate(sqlite3_file *base, sqlite3_int64 size)
{
    (void)base, (void)size;
    return SQLITE_READONLY;
}

static int file_ok(sqlite3_file *base, int what)
{
    (void)base, (void)what;
    return SQLITE_OK;
}

static int file_unlocked(sqlite3_file *base, int *locked)
{
    (void)base;
    *locked = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int op, void *arg)
{
    (void)base, (void)op, (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base)
{
    (void)base;
    return 4096;
}

static int file_traits(sqlite3_file *base)
{
    (void)base;
    return SQLITE_IOCAP_IMMUTABLE;
}

static const sqlite3_io_methods file_methods = {.iVersion = 1,
                                                .xClose = file_close,
                                                .xRead = file_read,
                                                .xWrite = refuse_write,
                                                .xTruncate = refuse_truncate,
                                                .xSync = file_ok,
                                                .xFileSize = file_size,
                                                .xLock = file_ok,
                                                .xUnlock = file_ok,
                                                .xCheckReservedLock = file_unlocked,
                                                .xFileControl = file_control,
                                                .xSectorSize = file_sector,
                                                .xDeviceCharacteristics = file_traits};

// --- the file system ----------------------------------------------------------------------------

// SQLite asks for temporary files, too, if it sorts, which no query here does.
static int vfs_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *out)
{
    struct file *file = (struct file *)base;
    (void)name;
    file->base.pMethods = NULL;
    if (!(flags & SQLITE_OPEN_MAIN_DB))
        return SQLITE_CANTOPEN;
    file->base.pMethods = &file_methods;
    file->database = vfs->pAppData;
    if (out)
        *out = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
    (void)vfs, (void)name, (void)sync;
    return SQLITE_READONLY;
}

static int vfs_access(sqlite3_vfs *vfs, const char *name, int flags, int *found)
{
    (void)vfs, (void)name, (void)flags;
    *found = 0; // no journal
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *vfs, const char *name, int room, char *out)
{
    (void)vfs;
    return snprintf(out, (size_t)room, "%s", name) < room ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_random(sqlite3_vfs *vfs, int count, char *out)
{
    (void)vfs;
    memset(out, 0, (size_t)count);
    return count;
}

static int vfs_sleep(sqlite3_vfs *vfs, int us)
{
    (void)vfs;
    return us;
}

static int vfs_time(sqlite3_vfs *vfs, double *days)
{
    (void)vfs;
    *days = 2440587.5; // 1970: nothing here depends on it
    return SQLITE_OK;
}

static bool add_vfs(struct database *database)
{
    snprintf(database->vfs_name, sizeof database->vfs_name, "source-%p", (void *)database);
    database->vfs = (sqlite3_vfs){.iVersion = 1,
                                  .szOsFile = sizeof(struct file),
                                  .mxPathname = 64,
                                  .zName = database->vfs_name,
                                  .pAppData = database,
                                  .xOpen = vfs_open,
                                  .xDelete = vfs_delete,
                                  .xAccess = vfs_access,
                                  .xFullPathname = vfs_full_path,
                                  .xRandomness = vfs_random,
                                  .xSleep = vfs_sleep,
                                  .xCurrentTime = vfs_time};
    return sqlite3_vfs_register(&database->vfs, 0) == SQLITE_OK;
}

// --- failures -----------------------------------------------------------------------------------

static bool is_over(const struct database *database)
{
    return database->steps > STEPS_FREE + STEPS_PER_BYTE * database->size ||
           database->read_bytes > READS_FREE + READS_PER_BYTE * database->size;
}

// Cached pages cost time, too.
static void count_reads(struct database *database)
{
    int hits = 0, ignored = 0;
    if (sqlite3_db_status(database->db, SQLITE_DBSTATUS_CACHE_HIT, &hits, &ignored, 1) == SQLITE_OK)
        database->read_bytes += (uint64_t)hits * database->page_bytes;
}

static bool is_cancelled(const struct database *database)
{
    return database->cancel && atomic_load_explicit(database->cancel, memory_order_relaxed);
}

static int on_steps(void *context)
{
    struct database *database = context;
    database->steps += STEPS_BETWEEN;
    count_reads(database);
    return is_over(database) || is_cancelled(database);
}

// Why a scan stopped early. Damage is not an error; it is noted.
static bool judge(struct database *database, int code, struct err *err)
{
    if (code == SQLITE_NOMEM)
        return err_set(err, ERR_MEMORY, "out of memory");
    if (is_cancelled(database))
        return err_set(err, ERR_CANCELLED, "cancelled");
    if (is_over(database))
        return err_set(err, ERR_LIMIT, "found tables that have no end");
    if (database->error.code == ERR_MEMORY || database->error.code == ERR_IO) {
        if (err)
            *err = database->error;
        return false;
    }
    database->state.damaged = true;
    return true;
}

// --- opening ------------------------------------------------------------------------------------

static bool set_up(struct database *database, struct err *err)
{
    sqlite3 *db = database->db;
    sqlite3_extended_result_codes(db, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    // If the schema is truncated, the tables that can be read are enough. Nothing is ever written.
    sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, MAX_VALUE);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 20);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_progress_handler(db, STEPS_BETWEEN, on_steps, database);
    return sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) == SQLITE_OK ||
           err_set(err, ERR_MEMORY, "out of memory");
}

// The header: page size at 16, format versions at 18 (2 while a log is in use), page count at 28.
static void read_header(struct database *database)
{
    unsigned char head[32] = {0};
    struct source_place place = {0, head, sizeof head};
    size_t got;
    struct err ignored;
    if (!source_read_at(database->source, &place, &got, &ignored) || got < sizeof head)
        return;
    uint64_t page = (uint64_t)head[16] << 8 | head[17];
    uint64_t pages = (uint64_t)head[28] << 24 | head[29] << 16 | head[30] << 8 | head[31];
    database->page_bytes = page == 1 ? 65536 : (uint32_t)page;
    database->claimed = pages * database->page_bytes;
    database->state.has_log = head[18] == 2;
    database->state.cut = database->claimed > database->size;
}

static bool list_tables(struct database *database, struct err *err)
{
    sqlite3_stmt *stmt = NULL;
    int code = sqlite3_prepare_v2(database->db,
                                  "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                  "rootpage > 0",
                                  -1, &stmt, NULL);
    if (code != SQLITE_OK)
        return err_set(err, ERR_FORMAT, "found a damaged SQLite database: %s",
                       sqlite3_errstr(code));
    for (int i = 0; i < MAX_TABLES && (code = sqlite3_step(stmt)) == SQLITE_ROW; i++) {
        const unsigned char *name = sqlite3_column_text(stmt, 0);
        if (name && *name)
            buf_add(&database->tables, name, strlen((const char *)name) + 1);
    }
    sqlite3_finalize(stmt);
    buf_putc(&database->tables, '\0'); // an empty name ends the list
    if (code != SQLITE_DONE && code != SQLITE_ROW && !judge(database, code, err))
        return false;
    return buf_ok(&database->tables, err);
}

// A walk needs each page once and those above it again: more would be memory to touch. This reads
// the schema, so it comes after what tells of damage there.
static void keep_few_pages(struct database *database)
{
    (void)sqlite3_exec(database->db, "PRAGMA cache_size = 32", NULL, NULL, NULL);
}

static bool open_file(struct database *database, struct err *err)
{
    if (!add_vfs(database))
        return err_set(err, ERR_MEMORY, "out of memory");
    int code = sqlite3_open_v2("file:source?immutable=1", &database->db,
                               SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                               database->vfs_name);
    return code == SQLITE_OK ||
           err_set(err, ERR_FORMAT, "found a damaged SQLite database: %s", sqlite3_errstr(code));
}

struct database *database_open(struct source *source, const atomic_bool *cancel, struct err *err)
{
    struct database *database = calloc(1, sizeof *database);
    if (!database) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    database->source = source;
    database->cancel = cancel;
    database->error.code = ERR_NONE;
    if (!source_size(source, &database->size))
        err_set(err, ERR_INTERNAL, "a database must be seekable");
    else {
        read_header(database);
        if (open_file(database, err) && set_up(database, err) && list_tables(database, err)) {
            keep_few_pages(database);
            return database;
        }
    }
    database_close(database);
    return NULL;
}

void database_close(struct database *database)
{
    if (!database)
        return;
    sqlite3_close(database->db);
    if (database->vfs.zName)
        sqlite3_vfs_unregister(&database->vfs);
    buf_free(&database->tables);
    free(database);
}

uint64_t database_taken(const struct database *database)
{
    return database->taken < database->size ? database->taken : database->size;
}

struct database_state database_state(const struct database *database)
{
    return database->state;
}

// --- tables -------------------------------------------------------------------------------------

void database_tables(const struct database *database, database_take *take, void *context)
{
    for (const char *name = database->tables.at; *name; name += strlen(name) + 1)
        if (!take(context, name))
            return;
}

static bool is_like(const char *table, const char *pattern)
{
    size_t len = strlen(pattern);
    bool start = len && pattern[len - 1] == '*';
    return start ? strncmp(table, pattern, len - 1) == 0 : strcmp(table, pattern) == 0;
}

struct search {
    const char *pattern;
    bool found;
};

static bool look(void *context, const char *table)
{
    struct search *search = context;
    search->found = is_like(table, search->pattern);
    return !search->found;
}

bool database_has(const struct database *database, const char *table)
{
    struct search search = {.pattern = table};
    database_tables(database, look, &search);
    return search.found;
}

bool database_has_column(struct database *database, const char *table, const char *column)
{
    return database_has(database, table) &&
           sqlite3_table_column_metadata(database->db, "main", table, column, NULL, NULL, NULL,
                                         NULL, NULL) == SQLITE_OK;
}

// --- rows ---------------------------------------------------------------------------------------

// Names come from the file, so they are quoted.
static void put_name(struct buf *out, struct str name)
{
    buf_putc(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.at[i] == '"')
            buf_putc(out, '"');
        buf_putc(out, name.at[i]);
    }
    buf_putc(out, '"');
}

void database_only(struct database *database, const struct rows_only *only)
{
    database->only = only;
}

static bool is_asked_for(const char *columns, const char *column)
{
    size_t len = strlen(column);
    for (const char *at = columns; *at; at += *at == ' ') {
        size_t next = strcspn(at, " ");
        if (next == len && memcmp(at, column, len) == 0)
            return true;
        at += next;
    }
    return false;
}

// An expression keeps SQLite from looking rows up: it reads them in the order in which they are
// stored. This one reads the column once.
static void put_only(struct database *database, const char *table, const char *columns,
                     struct buf *out)
{
    const char *word = " WHERE";
    for (const struct rows_only *only = database->only; only && only->column; only++) {
        if (!is_asked_for(columns, only->column) ||
            !database_has_column(database, table, only->column))
            continue;
        buf_printf(out, "%s ifnull(", word);
        put_name(out, str_of(only->column));
        buf_printf(out, ", %" PRId64 ") BETWEEN %" PRId64 " AND %" PRId64, only->from, only->from,
                   only->to);
        word = " AND";
    }
}

// NOT INDEXED: an index may lack rows or contain a cycle.
static void put_query(struct rows *rows, const char *table, const char *columns, struct buf *out)
{
    char name[64];
    buf_puts(out, "SELECT ");
    for (const char *at = columns; *at && rows->count < ROWS_MAX_COLUMNS;) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        bool has = database_has_column(rows->database, table, name);
        buf_puts(out, rows->count ? ", " : "");
        if (has)
            put_name(out, (struct str){at, len});
        else
            buf_puts(out, "NULL");
        rows->has[rows->count++] = has;
        at += len + (at[len] == ' ');
    }
    buf_puts(out, " FROM main.");
    put_name(out, str_of(table));
    buf_puts(out, " NOT INDEXED");
    put_only(rows->database, table, columns, out);
}

bool rows_open(struct database *database, const char *table, const char *columns, struct rows *rows,
               struct err *err)
{
    struct buf query = {0};
    *rows = (struct rows){.database = database};
    if (!database_has(database, table))
        return true;
    database->steps = database->read_bytes = 0;
    put_query(rows, table, columns, &query);
    buf_putc(&query, '\0');
    bool ok = buf_ok(&query, err);
    int code = ok ? sqlite3_prepare_v2(database->db, query.at, -1, &rows->stmt, NULL) : SQLITE_OK;
    buf_free(&query);
    return ok && (code == SQLITE_OK || judge(database, code, err));
}

bool rows_next(struct rows *rows)
{
    if (!rows->stmt)
        return false;
    if (++rows->taken % ROWS_BETWEEN == 0)
        count_reads(rows->database);
    return !is_over(rows->database) && sqlite3_step(rows->stmt) == SQLITE_ROW;
}

bool rows_close(struct rows *rows, struct err *err)
{
    if (!rows->stmt)
        return true;
    int code = sqlite3_finalize(rows->stmt); // that of the last step
    rows->stmt = NULL;
    return (code == SQLITE_OK && !is_over(rows->database)) || judge(rows->database, code, err);
}

bool rows_each(struct database *database, const char *table, const char *columns, rows_take *take,
               void *context, struct err *err)
{
    struct rows rows;
    bool ok = rows_open(database, table, columns, &rows, err);
    while (ok && rows_next(&rows))
        ok = take(context, &rows, err);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

static bool add_one(void *context, const struct rows *rows, struct err *err)
{
    (void)rows;
    (void)err;
    ++*(int64_t *)context;
    return true;
}

bool rows_count(struct database *database, const char *table, int64_t *count, struct err *err)
{
    *count = 0;
    return rows_each(database, table, "rowid", add_one, count, err);
}

bool rows_first(struct database *database, const char *table, const char *column, int64_t *value,
                struct err *err)
{
    struct rows rows;
    bool ok = rows_open(database, table, column, &rows, err);
    if (ok && rows_next(&rows))
        *value = rows_i64_or(&rows, 0, *value);
    return rows_close(&rows, ok ? err : NULL) && ok;
}

// A program that copies tables, such as pandas, makes reals of the integers in a column with nulls.
static bool is_whole(double real)
{
    const double exact = 9007199254740992.0; // 2^53
    return real > -exact && real < exact && real == (double)(int64_t)real;
}

// Asked for once: by sqlite3_column_type and sqlite3_column_int64 an export takes a tenth longer.
// One thread has the connection, so that the value needs no protection.
bool rows_i64(const struct rows *rows, unsigned column, int64_t *value)
{
    sqlite3_value *cell = sqlite3_column_value(rows->stmt, (int)column);
    int type = sqlite3_value_type(cell);
    if (type == SQLITE_INTEGER)
        *value = sqlite3_value_int64(cell);
    else if (type == SQLITE_FLOAT && is_whole(sqlite3_value_double(cell)))
        *value = (int64_t)sqlite3_value_double(cell);
    else
        return false;
    return true;
}

int64_t rows_i64_or(const struct rows *rows, unsigned column, int64_t otherwise)
{
    int64_t value;
    return rows_i64(rows, column, &value) ? value : otherwise;
}

bool rows_f64(const struct rows *rows, unsigned column, double *value)
{
    int type = sqlite3_column_type(rows->stmt, (int)column);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
        return false;
    *value = sqlite3_column_double(rows->stmt, (int)column);
    return true;
}

bool rows_text(const struct rows *rows, unsigned column, struct str *text)
{
    int type = sqlite3_column_type(rows->stmt, (int)column);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB)
        return false;
    const char *at = sqlite3_column_blob(rows->stmt, (int)column);
    *text = (struct str){at ? at : "", (size_t)sqlite3_column_bytes(rows->stmt, (int)column)};
    return true;
}
