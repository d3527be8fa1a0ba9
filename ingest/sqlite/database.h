// SPDX-License-Identifier: Apache-2.0
// An SQLite database from outside, read only. Its schema is as hostile as its bytes: nothing but
// columns of tables is read, row by row in the order in which they are stored, with a limit on the
// work that this takes. Views, triggers, virtual tables and indexes are never used.
#ifndef INGEST_SQLITE_DATABASE_H
#define INGEST_SQLITE_DATABASE_H

#include "ingest/base/budget.h"
#include "ingest/source/source.h"

#include <stdatomic.h>

struct database;

// What was wrong with a database; what could be read counts.
struct database_state {
    bool cut;     // it ends early: rows are missing
    bool damaged; // some pages cannot be read: rows are missing, too
    bool has_log; // it was still being written: the last rows are in a -wal file
};

// The source must be readable at any position; it remains the caller's and outlives the database.
// ERR_FORMAT if it is not a database. cancel may be NULL.
MUST_CHECK struct database *database_open(struct source *source, const atomic_bool *cancel,
                                          struct err *err);
void database_close(struct database *database); // NULL is allowed

// How far reading got, in bytes of the file; at most its size.
uint64_t database_taken(const struct database *database);
struct database_state database_state(const struct database *database);

// Whether there is a table, not a view, of that name. A name that ends in "*" stands for every
// name with that prefix.
bool database_has(const struct database *database, const char *table);
// Calls take with the names of all tables until it returns false.
typedef bool database_take(void *context, const char *table);
void database_tables(const struct database *database, database_take *take, void *context);
bool database_has_column(struct database *database, const char *table, const char *column);

// --- rows ---------------------------------------------------------------------------------------

enum { ROWS_MAX_COLUMNS = 40 };

// A walk over the rows of a table. Values live until the next row.
struct rows {
    struct database *database;
    struct sqlite3_stmt *stmt; // NULL: no such table
    uint64_t taken;            // rows
    unsigned count;            // of columns
    bool has[ROWS_MAX_COLUMNS];
};

// Columns by name, separated by blanks. Those that the table lacks are null in every row, as is
// every value of a table that is not there. Only ERR_MEMORY and ERR_LIMIT are errors.
MUST_CHECK bool rows_open(struct database *database, const char *table, const char *columns,
                          struct rows *rows, struct err *err);
// False after the last row, or the last that can be read.
bool rows_next(struct rows *rows);
// Always to be called. ERR_CANCELLED, ERR_LIMIT, ERR_MEMORY.
MUST_CHECK bool rows_close(struct rows *rows, struct err *err);

// Calls take with each row of a table until it fails. Columns and errors as of rows_open.
typedef bool rows_take(void *context, const struct rows *rows, struct err *err);
MUST_CHECK bool rows_each(struct database *database, const char *table, const char *columns,
                          rows_take *take, void *context, struct err *err);
// How many rows a table has; 0 if it is not there.
MUST_CHECK bool rows_count(struct database *database, const char *table, int64_t *count,
                           struct err *err);
// The integer in the first row of a column; *value stays as it is if there is none.
MUST_CHECK bool rows_first(struct database *database, const char *table, const char *column,
                           int64_t *value, struct err *err);

// The integers of a column to which walks are limited.
struct rows_only {
    const char *column;
    int64_t from, to;
};
// From now on, walks that ask for such a column leave out rows with any other value in it, except
// null. SQLite does so at a fraction of the time that a row takes here. The list, which ends with a
// NULL column, outlives the database; NULL: all rows.
void database_only(struct database *database, const struct rows_only *only);

// A value that is an integer, or a real that is exactly one; false if it is anything else.
bool rows_i64(const struct rows *rows, unsigned column, int64_t *value);
// The same, `otherwise` if it is anything else.
int64_t rows_i64_or(const struct rows *rows, unsigned column, int64_t otherwise);
// Of an integer or real column.
bool rows_f64(const struct rows *rows, unsigned column, double *value);
// Any bytes, also those of a blob; false if it is null or a number.
bool rows_text(const struct rows *rows, unsigned column, struct str *text);

#endif
