// SPDX-License-Identifier: Apache-2.0
// Shared by the store_copy*.c files: one table, and some of its rows at a time.
#ifndef SERVER_STORE_COPY_TABLE_H
#define SERVER_STORE_COPY_TABLE_H

#include "server/store/store_sql.h"

enum { COPY_MAX_KEYS = 3, COPY_MAX_COLUMNS = 64 };

struct copied_table {
    const char *name;
    const char *keys[COPY_MAX_KEYS]; // of its primary key
    const char *where;               // NULL: all rows
    int rows;                        // at a time
    bool counts_ids;                 // the database assigns ids, which continue after those copied
};

// In an order in which rows come after those that they refer to. Ends with a NULL name.
extern const struct copied_table copied_tables[];
// Tables that are not copied: what only the services of a database need. Ends with NULL.
extern const char *const uncopied_tables[];

enum copied_type { COPIED_INTEGER, COPIED_REAL, COPIED_TEXT, COPIED_BYTES };

struct copied_columns {
    int count;
    char names[COPY_MAX_COLUMNS][40];
    enum copied_type types[COPY_MAX_COLUMNS];
    int keys[COPY_MAX_KEYS], key_count; // which of them
};

struct copied_value {
    bool is_null;
    int64_t i64;
    double f64;
    struct str bytes;
};

// Rows one after the other, with the columns in their order.
struct copied_rows {
    struct arena arena;
    struct copied_value *values;
    size_t count;
};

// Rows of a range: after one (NULL: from the first), up to another (NULL: to the last).
struct copied_range {
    const struct copied_value *after, *last;
    int most;
};

// Those that rows are inserted into, by name. ERR_INTERNAL for a type that is not known.
MUST_CHECK bool copied_columns_read(struct db *db, const struct copied_table *table,
                                    struct copied_columns *columns, struct err *err);
bool copied_columns_equal(const struct copied_columns *a, const struct copied_columns *b);

// In the order of their keys. Free rows->arena in any case.
MUST_CHECK bool copied_rows_read(struct db *db, const struct copied_table *table,
                                 const struct copied_columns *columns, struct copied_range range,
                                 struct copied_rows *rows, struct err *err);
// In its own transaction.
MUST_CHECK bool copied_rows_insert(struct db *db, const struct copied_table *table,
                                   const struct copied_columns *columns,
                                   const struct copied_rows *rows, struct err *err);
bool copied_rows_equal(const struct copied_columns *columns, const struct copied_rows *a,
                       const struct copied_rows *b);

#endif
