// SPDX-License-Identifier: Apache-2.0
// A store in a temporary folder, and short ways to fill it.
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include "tests/unit/db_raw.h"
#include "tests/unit/derived_audit.h"
#include "tests/unit/each_kind.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include "analysis/report/report_parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
    char folder[64], path[KIND_PLACE_SIZE]; // of the database
    struct store *store;
    struct arena arena;
    struct err err;
    int audits; // so far
};

// Tests that fill a database repeat the same operations. A server is audited less often: asking it
// takes longer, and the same functions write what follows from rows for all kinds.
enum { AUDITS_PER_TEST = 30, AUDITS_OF_SERVER = 2 };

// After every operation, what follows from the rows must agree with them.
static inline void assert_ok(struct fixture *f, bool ok)
{
    if (!ok)
        fail_msg("%s", f->err.msg);
    if (f->audits++ < AUDITS_PER_TEST)
        assert_nothing_drifted(f->path);
}
// The argument is evaluated before the error is read.
#define assert_ok(f, call) (assert_ok)((f), (call))

static inline void assert_text(struct str text, const char *expected)
{
    assert_string_equal(text.at, expected);
}

// A place with the tables of this version. PostgreSQL copies a database much faster than it goes
// through the files of the schema.
static inline void ready_place(const struct db_kind *kind, const char *folder,
                               char place[KIND_PLACE_SIZE])
{
    static const char pattern[] = "postgres://app@/%s?host=%s";
    static bool is_made;
    char name[24], text[80], server[KIND_PLACE_SIZE];
    if (kind == &db_sqlite) {
        kind_place(kind, folder, place);
        return;
    }
    snprintf(server, sizeof server, pattern, "postgres", kind_server.folder);
    if (!is_made) {
        struct err err = {0};
        kind_run(server, "CREATE DATABASE ready");
        snprintf(place, KIND_PLACE_SIZE, pattern, "ready", kind_server.folder);
        struct store *store = store_open(place, &err);
        if (!store)
            fail_msg("%s", err.msg);
        store_close(store);
        is_made = true;
    }
    snprintf(name, sizeof name, "test%d", kind_server.databases++);
    snprintf(text, sizeof text, "CREATE DATABASE %s TEMPLATE ready", name);
    kind_run(server, text);
    snprintf(place, KIND_PLACE_SIZE, pattern, name, kind_server.folder);
}

static inline int set_up(void **state)
{
    const struct db_kind *kind = kind_of_test(state);
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/test_store.XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    ready_place(kind, f->folder, f->path);
    arena_init(&f->arena, NULL);
    f->audits = kind == &db_sqlite ? 0 : AUDITS_PER_TEST - AUDITS_OF_SERVER;
    f->store = ready_store_open(f->path, &f->err);
    if (!f->store)
        fail_msg("%s", f->err.msg);
    *state = f;
    return 0;
}

static inline bool is_on_sqlite(const struct fixture *f)
{
    return strstr(f->path, "://") == NULL;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    store_close(f->store);
    arena_free(&f->arena);
    folder_remove(f->folder);
    free(f);
    return 0;
}

static inline void reopen(struct fixture *f)
{
    store_close(f->store);
    f->store = store_open(f->path, &f->err);
    assert_ok(f, f->store != NULL);
}

static inline void fill_sha256(char sha256[STORE_SHA256_SIZE], char c)
{
    memset(sha256, c, STORE_SHA256_SIZE - 1);
    sha256[STORE_SHA256_SIZE - 1] = '\0';
}

static inline struct trace_part part_of(char sha256[STORE_SHA256_SIZE], char content, int64_t rank,
                                        const char *filename)
{
    fill_sha256(sha256, content);
    return (struct trace_part){
        .sha256 = sha256, .bytes = 100, .filename = str_of(filename), .rank = rank};
}

// Adds an upload of one file whose content is identified by a letter.
static inline struct run_request named(const char *name)
{
    return (struct run_request){.name = str_of(name), .world_size = STORE_ANY};
}

static inline struct upload add(struct fixture *f, const char *run, char content, int64_t rank,
                                const char *filename)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, rank, filename);
    struct upload_request request = {
        .run = {.name = str_of(run), .world_size = STORE_ANY}, .parts = &part, .count = 1};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    assert_int_equal(upload.count, 1);
    return upload;
}

// Same, by someone who sent all its 100 bytes, for rank 0.
static inline struct upload add_by(struct fixture *f, const char *who, const char *run,
                                   char content)
{
    char sha256[STORE_SHA256_SIZE];
    struct trace_part part = part_of(sha256, content, 0, "x.json");
    struct str owner = str_of(who);
    struct upload_request request = {
        .run = {.name = str_of(run), .owner = owner, .world_size = STORE_ANY},
        .parts = &part,
        .count = 1,
        .owner = owner,
        .sent_bytes = 100};
    struct upload upload;
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
    return upload;
}

static inline struct job claim(struct fixture *f)
{
    struct job job;
    bool found;
    assert_ok(f, store_claim_job(f->store, &f->arena, &job, &found, &f->err));
    assert_true(found);
    return job;
}

static inline const struct table_desc *table_named(const struct table_desc *const *tables,
                                                   const char *name)
{
    while (strcmp((*tables)->name, name) != 0)
        tables++;
    return *tables;
}

static inline const struct table_desc *run_table(const char *name)
{
    return table_named(run_tables, name);
}

static inline void add_kernel(struct fixture *f, struct report *report,
                              const struct table_desc *desc, const char *name, int64_t total_ns)
{
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, STR("name"))] = cell_text(str_of(name));
    row[table_column(desc, STR("total_ns"))] = cell_i64(total_ns);
    row[table_column(desc, STR("calls"))] = cell_i64(1);
    if (strcmp(name, "copy_x") == 0)
        row[table_column(desc, STR("op"))] = cell_text(STR("aten::copy_"));
    assert_ok(f, report_add(report, desc, row, &f->err));
}

// Three kernels; the middle one is "gemm" with 300 ns.
static inline void add_kernels(struct fixture *f, struct report *report,
                               const struct table_desc *desc)
{
    add_kernel(f, report, desc, "norm", 100);
    add_kernel(f, report, desc, "gemm", 300);
    add_kernel(f, report, desc, "copy_x", 200);
}

// The report as a process writes it.
static inline int parts_of(struct fixture *f, const struct report *report,
                           const struct table_desc *const *known)
{
    int fd = report_parts_hold(report, known, &f->err);
    assert_ok(f, fd >= 0);
    return fd;
}

// Ends a job as if it had found these tables.
static inline bool end_trace(struct fixture *f, const struct job *job, const struct report *report,
                             struct trace_result result)
{
    result.tables = parts_of(f, report, trace_tables);
    bool ok = store_finish_trace(f->store, job, &result, &f->err);
    close(result.tables);
    return ok;
}

static inline bool end_run(struct fixture *f, const struct job *job, const struct report *report)
{
    int tables = parts_of(f, report, run_tables);
    bool ok = store_finish_run(f->store, job, tables, &f->err);
    close(tables);
    return ok;
}

// Ends the oldest job, which must be a trace's, as read from a file that names this rank.
static inline struct trace_row trace_of(struct fixture *f, const struct upload *upload)
{
    struct upload found;
    assert_ok(f, store_find_upload(f->store, upload->id, &f->arena, &found, &f->err));
    return found.traces[0];
}

static inline void finish_next(struct fixture *f, int64_t metadata_rank)
{
    struct job job = claim(f);
    struct report report = {.arena = &f->arena};
    assert_int_equal(job.kind, JOB_TRACE);
    add_kernels(f, &report, table_named(trace_tables, "kernels"));
    struct trace_result result = {.rank = metadata_rank, .world_size = -1};
    assert_ok(f, end_trace(f, &job, &report, result));
}

// Same with some number of kernels, "k0" to the last.
static inline void finish_next_wide(struct fixture *f, size_t kernels)
{
    struct job job = claim(f);
    struct report report = {.arena = &f->arena};
    for (size_t i = 0; i < kernels; i++) {
        char *name = arena_printf(&f->arena, &f->err, "k%zu", i);
        add_kernel(f, &report, table_named(trace_tables, "kernels"), name, (int64_t)i);
    }
    struct trace_result result = {.rank = -1, .world_size = -1};
    assert_ok(f, end_trace(f, &job, &report, result));
}

static inline void add_finding(struct fixture *f, struct report *report, const char *id)
{
    const struct table_desc *desc = run_table("findings");
    struct cell row[TABLE_MAX_COLUMNS];
    for (unsigned i = 0; i < desc->column_count; i++)
        row[i] = cell_null();
    row[table_column(desc, STR("id"))] = cell_text(str_of(id));
    assert_ok(f, report_add(report, desc, row, &f->err));
}

static inline void finish_run(struct fixture *f, const struct job *job)
{
    struct report report = {.arena = &f->arena};
    add_kernels(f, &report, run_table("kernels"));
    add_finding(f, &report, "starved");
    assert_ok(f, end_run(f, job, &report));
}

static inline enum run_status status_of(struct fixture *f, struct str run_id)
{
    struct run run;
    assert_ok(f, store_find_run(f->store, run_id, &f->arena, &run, &f->err));
    return run.status;
}

static inline uint64_t open_jobs(struct fixture *f)
{
    uint64_t count;
    assert_ok(f, store_count_jobs(f->store, &count, &f->err));
    return count;
}

static inline size_t garbage_count(struct fixture *f)
{
    struct garbage *items;
    size_t count;
    assert_ok(f, store_list_garbage(f->store, &f->arena, &items, &count, &f->err));
    return count;
}

#endif
