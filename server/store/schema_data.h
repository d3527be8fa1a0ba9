// SPDX-License-Identifier: Apache-2.0
// The database schema, embedded by the build from schema/sqlite; see schema/embed.cmake.
#ifndef SERVER_SCHEMA_DATA_H
#define SERVER_SCHEMA_DATA_H

struct migration {
    const char *name; // "0001_init.sql"
    const char *sql;
};

// In order; applying the first n brings a database to version n.
extern const struct migration schema_migrations[];
extern const int schema_count;

#endif
