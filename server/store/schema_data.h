// SPDX-License-Identifier: Apache-2.0
// The database schemas, embedded by the build from schema/KIND; see schema/embed.cmake.
#ifndef SERVER_SCHEMA_DATA_H
#define SERVER_SCHEMA_DATA_H

struct migration {
    const char *name; // "0001_init.sql"
    const char *sql;
};

// Of one kind of database. The files are numbered alike in all kinds, but a kind that came later
// has in its first one what the others had by then. Applying those up to number n brings a database
// to version n.
struct schema {
    int first; // number of the first file
    int version;
    const struct migration *files;
};

extern const struct schema schema_sqlite, schema_postgres;

#endif
