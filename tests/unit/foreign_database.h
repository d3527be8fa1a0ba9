// SPDX-License-Identifier: Apache-2.0
// SQLite databases as profilers write them, from statements, in memory.
#ifndef TESTS_UNIT_FOREIGN_DATABASE_H
#define TESTS_UNIT_FOREIGN_DATABASE_H

#include "ingest/file_parts.h"
#include "ingest/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>
#include <sqlite3.h>

// Appends the file that the statements make.
static inline void foreign_database(struct buf *out, const char *sql)
{
    sqlite3 *db = NULL;
    char *problem = NULL;
    sqlite3_int64 size = 0;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    if (sqlite3_exec(db, sql, NULL, NULL, &problem) != SQLITE_OK)
        fail_msg("%s: %s", problem, sql);
    unsigned char *bytes = sqlite3_serialize(db, "main", &size, 0);
    assert_non_null(bytes);
    buf_add(out, bytes, (size_t)size);
    sqlite3_free(bytes);
    sqlite3_close(db);
}

// What the parts of a file gave.
struct foreign_file {
    struct budget budget;
    struct trace *traces[8];
    uint32_t count;
    struct figures *figures; // may be NULL
    const struct format *format;
    struct err err; // of the last part that could not be read
};

static inline bool foreign_take(void *context, struct file_part *part, struct err *err)
{
    struct foreign_file *file = context;
    (void)err;
    file->format = part->found.format;
    part->found.figures = file->figures;
    if (!part->source) {
        file->err = part->problem;
        return true;
    }
    if (file->figures && file->format->count && part->process == 0) {
        struct format_input input = {
            .source = part->source, .budget = &file->budget, .figures = file->figures};
        assert_true(file->format->count(&input, &file->err));
    }
    struct trace *trace =
        ingest_opened(part->source, &part->found, &file->budget, NULL, &file->err);
    assert_true(file->count < sizeof file->traces / sizeof *file->traces);
    if (trace)
        file->traces[file->count++] = trace;
    return true;
}

// Reads all processes in a file. Free with foreign_close.
static inline void foreign_read_as(struct foreign_file *file, struct str bytes, const char *name)
{
    struct err err = {0};
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, &err);
    struct file_parts parts = {
        .source = source, .hint = {str_of(name), SCRATCH_NONE}, .limits = &unpack_limits};
    assert_non_null(source);
    if (!file_parts_each(&parts, foreign_take, file, &err))
        file->err = err;
}

static inline void foreign_read(struct foreign_file *file, struct str bytes)
{
    foreign_read_as(file, bytes, "job.sqlite");
}

static inline void foreign_close(struct foreign_file *file)
{
    for (uint32_t i = 0; i < file->count; i++)
        trace_free(file->traces[i]);
    assert_int_equal(file->budget.used, 0);
    *file = (struct foreign_file){0};
}

// Opens the file of statements, and reads it. Changes to its bytes: see foreign_database.
static inline void foreign_open(struct foreign_file *file, const char *sql)
{
    struct buf bytes = {0};
    foreign_database(&bytes, sql);
    foreign_read(file, (struct str){bytes.at, bytes.len});
    buf_free(&bytes);
}

// The only event of a kind in a trace, or a failure.
static inline uint32_t foreign_event(const struct trace *trace, enum event_kind kind)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == kind) {
            assert_int_equal(found, UINT32_MAX);
            found = i;
        }
    assert_int_not_equal(found, UINT32_MAX);
    return found;
}

static inline uint32_t foreign_count(const struct trace *trace, enum event_kind kind)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < trace->event_count; i++)
        count += trace->kind[i] == kind;
    return count;
}

#endif
