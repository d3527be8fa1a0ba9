// SPDX-License-Identifier: Apache-2.0
// A store of more runs than lists count, and whether each list has what its rows say.
#ifndef TESTS_UNIT_MANY_RUNS_H
#define TESTS_UNIT_MANY_RUNS_H

#include "server/store/store_tracking.h"
#include "tests/unit/store_fixture.h"

enum { MANY_PAGE = 7, MANY_PAGES = 3 };

// Of 6,000 runs 5,400 are on one GPU, 60 are slow and have a tag, 30 have no figure.
static const char *const many_runs =
    "INSERT INTO stored_run (id, project, name, series, note, created_ns, received, done, joined, "
    "gpu, traced_world_size) WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE "
    "i < 5999) "
    "SELECT 'r_' || (10000000 + i * 7919 % 6000), CASE WHEN i % 100 = 0 THEN 'small' ELSE 'big' "
    "END, 'run-' || i, 's-' || i % 10, CASE WHEN i = 4321 THEN 'the odd one' ELSE '' END, "
    "1000 + i, CASE WHEN i % 50 = 0 THEN 0 ELSE 1 END, CASE WHEN i % 50 = 0 THEN 0 ELSE 1 END, 1, "
    "CASE WHEN i % 10 = 0 THEN 'NVIDIA H200' ELSE 'NVIDIA H100' END, NULLIF(i % 3 * 8, 0) "
    "FROM n;"
    "INSERT INTO run_tag (run_id, \"key\", value) SELECT id, 'all', 'yes' FROM stored_run;"
    "INSERT INTO run_tag (run_id, \"key\", value) SELECT id, 'few', 'yes' FROM stored_run "
    "WHERE project = 'small';"
    "INSERT INTO run_text (run_id, text) SELECT id, name || '\n' || project || '\n' || gpu || '\n' "
    "|| note || '\nall=yes' || CASE WHEN project = 'small' THEN '\nfew=yes' ELSE '' END "
    "|| '\n\n' FROM stored_run;"
    "INSERT INTO figure (run_id, metric, value, source) SELECT id, 'step_median_ns', "
    "CASE WHEN project = 'small' THEN 9000000 ELSE 1000000 + created_ns % 1000 END, 'trace' "
    "FROM stored_run WHERE created_ns % 200 <> 3;"
    "INSERT INTO figure (run_id, metric, value, source) SELECT id, 'mfu', 0.5, 'trace' "
    "FROM stored_run WHERE created_ns < 1040;"
    "INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged) "
    "SELECT project, series, count(*), min(created_ns), max(created_ns), 0, 0 FROM stored_run "
    "GROUP BY project, series;";

#define VALUE(metric) "(SELECT value FROM figure WHERE run_id = truth.id AND metric = '" metric "')"
#define NEWEST        "created_ns DESC, id"
#define TAGGED(key)   "id IN (SELECT run_id FROM run_tag WHERE \"key\" = '" key "')"

// One list: what is asked for, and the same as a condition and an order of the rows.
struct asked {
    struct run_query query;
    const char *where, *order;
};

static inline uint64_t count_of(const struct fixture *f, const char *where)
{
    char sql[600];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM run AS truth WHERE %s", where);
    return (uint64_t)db_raw_number(f->path, sql);
}

static inline void expect_ids(struct fixture *f, const struct asked *asked, uint64_t offset,
                              const struct run_list *list)
{
    char sql[800];
    struct db *db = db_raw_open(f->path);
    snprintf(sql, sizeof sql, "SELECT id FROM run AS truth WHERE %s ORDER BY %s LIMIT %d OFFSET %d",
             asked->where, asked->order, MANY_PAGE, (int)offset);
    struct stmt stmt = sql_begin(db, sql, &f->err);
    size_t count = 0;
    for (; sql_row(&stmt); count++) {
        if (count >= list->count || !str_equal(list->runs[count].id, sql_bytes(&stmt, 0)))
            fail_msg("%s: run %zu of the page at %d differs", sql, count, (int)offset);
    }
    if (!sql_end(&stmt))
        fail_msg("%s: %s", sql, f->err.msg);
    db_close(db, true);
    assert_int_equal(count, list->count);
}

static inline void expect_list(struct fixture *f, const struct asked *asked)
{
    struct run_query query = asked->query;
    uint64_t truth = count_of(f, asked->where);
    bool more = true;
    query.limit = MANY_PAGE;
    for (int page = 0; more && page < MANY_PAGES; page++, query.offset += MANY_PAGE) {
        struct run_list list;
        assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
        expect_ids(f, asked, query.offset, &list);
        more = query.offset + list.count < list.total;
        assert_int_equal(more, query.offset + list.count < truth);
        if (list.total_is_least)
            assert_in_range(list.total, query.offset + list.count, truth - 1);
        else
            assert_int_equal(list.total, truth);
    }
}

#define BY(name, down) .sorts = {{STR(name), down}}, .sort_count = 1

static inline void search_many_runs(struct fixture *f)
{
    const struct asked lists[] = {
        {{.search = STR("RUN-59")}, "name LIKE 'run-59%'", NEWEST},
        {{.search = STR("odd one")}, "note <> ''", NEWEST},
        {{.search = STR("few=y")}, TAGGED("few"), NEWEST},
        {{.search = STR("h200"), .project = STR("big")},
         "gpu = 'NVIDIA H200' AND project = 'big'",
         NEWEST},
        {{.search = STR("mal")}, "project = 'small'", NEWEST},
        {{.search = STR("un")}, "1 = 1", NEWEST},
        {{.search = STR("run-")}, "1 = 1", NEWEST},
        {{.search = STR("DD")}, "note <> ''", NEWEST},
        {{.search = STR("h")}, "1 = 1", NEWEST},
        {{.search = STR("w")}, TAGGED("few"), NEWEST},
        {{.search = STR("q")}, "1 = 0", NEWEST},
        {{.search = STR("%")}, "1 = 0", NEWEST},
        {{.search = STR("run_59")}, "1 = 0", NEWEST},
        {{.search = STR("the odd\\")}, "1 = 0", NEWEST},
        {{.search = STR("w-y")}, "1 = 0", NEWEST},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        expect_list(f, &lists[i]);
}

static inline void list_series_of_many_runs(struct fixture *f)
{
    static const char *const keys[] = {"all", "few"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct run_tag tag = {str_of(keys[i]), STR("yes")};
        struct series_query query = {.project = STR(""), .tags = &tag, .tag_count = 1};
        struct table table;
        char sql[200];
        snprintf(sql, sizeof sql,
                 "SELECT count(DISTINCT project || series) FROM run AS truth "
                 "JOIN run_tag ON run_id = truth.id WHERE \"key\" = '%s'",
                 keys[i]);
        assert_ok(f, store_list_series(f->store, &query, &f->arena, &table, &f->err));
        assert_int_equal(table.row_count, db_raw_number(f->path, sql));
    }
}

// By columns of few values.
static inline void sort_many_runs(struct fixture *f)
{
    const struct asked lists[] = {
        {{BY("world_size", true)}, "1 = 1", "traced_world_size DESC NULLS LAST, " NEWEST},
        {{BY("world_size", false), .offset = 1990}, // 2,000 have 8 ranks
         "1 = 1",
         "traced_world_size NULLS LAST, " NEWEST},
        {{BY("world_size", false), .offset = 3993, .gpu = STR("h"), .since_ns = 1001},
         "created_ns > 1000",
         "traced_world_size NULLS LAST, " NEWEST},
        {{BY("gpu", true), .status = STR("done"), .offset = 470}, // 480 are on the other one
         "status = 'done'",
         "gpu DESC, " NEWEST},
        {{.sorts = {{STR("gpu"), false}, {STR("status"), true}}, .sort_count = 2, .offset = 5990},
         "1 = 1",
         "gpu, status DESC, " NEWEST},
        {{BY("world_size", true), .project = STR("big"), .offset = 1970},
         "project = 'big'",
         "traced_world_size DESC NULLS LAST, " NEWEST},
        {{.gpu = STR("h1"), .project = STR("big")},
         "gpu = 'NVIDIA H100' AND project = 'big'",
         NEWEST},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        expect_list(f, &lists[i]);
}

static inline void list_many_runs(struct fixture *f)
{
    const struct run_tag on_all = {STR("all"), STR("yes")}, on_few = {STR("few"), STR("")},
                         on_both[] = {{STR("all"), STR("")}, {STR("few"), STR("yes")}};
    const struct asked lists[] = {
        {{.limit = 0}, "1 = 1", NEWEST},
        {{.project = STR("big")}, "project = 'big'", NEWEST},
        {{.project = STR("small")}, "project = 'small'", NEWEST},
        {{.project = STR("small"), BY("name", true)}, "project = 'small'", "name DESC, " NEWEST},
        {{.status = STR("done")}, "status = 'done'", NEWEST},
        {{.status = STR("empty")}, "status = 'empty'", NEWEST},
        {{.project = STR("big"), .status = STR("empty")},
         "project = 'big' AND status = 'empty'",
         NEWEST},
        {{.project = STR("big"), .status = STR("done")},
         "project = 'big' AND status = 'done'",
         NEWEST},
        {{.gpu = STR("h100")}, "gpu = 'NVIDIA H100'", NEWEST},
        {{.gpu = STR("H200")}, "gpu = 'NVIDIA H200'", NEWEST},
        {{.gpu = STR("MI300X")}, "1 = 0", NEWEST},
        {{.gpu = STR("h100"), .status = STR("done")},
         "gpu = 'NVIDIA H100' AND status = 'done'",
         NEWEST},
        {{.since_ns = 1100}, "created_ns >= 1100", NEWEST},
        {{.since_ns = 6900, .before_ns = 6950}, "created_ns BETWEEN 6900 AND 6949", NEWEST},
        {{.tags = &on_all, .tag_count = 1}, TAGGED("all"), NEWEST},
        {{.tags = &on_few, .tag_count = 1}, TAGGED("few"), NEWEST},
        {{.tags = on_both, .tag_count = 2, .gpu = STR("h100")}, "1 = 0", NEWEST},
        {{.tags = on_both, .tag_count = 2}, TAGGED("few"), NEWEST},
        {{.metric = STR("step_median_ns"), .least = 8e6, .most = 1e12},
         VALUE("step_median_ns") " > 8e6",
         NEWEST},
        {{.metric = STR("step_median_ns"), .least = 0, .most = 5e6},
         VALUE("step_median_ns") " < 5e6",
         NEWEST},
        {{BY("step_median_ns", true)},
         "1 = 1",
         VALUE("step_median_ns") " DESC NULLS LAST, id DESC"},
        {{BY("step_median_ns", false), .gpu = STR("h100")},
         "gpu = 'NVIDIA H100'",
         VALUE("step_median_ns") " NULLS LAST, id"},
        {{BY("step_median_ns", true), .project = STR("small")},
         "project = 'small'",
         VALUE("step_median_ns") " DESC NULLS LAST, " NEWEST},
        {{BY("mfu", false), .offset = 35}, // 40 have one
         "1 = 1",
         VALUE("mfu") " NULLS LAST, CASE WHEN " VALUE("mfu") " IS NULL THEN -created_ns END, id"},
        {{BY("hfu", true)}, "1 = 1", NEWEST},
    };
    db_raw_run(f->path, many_runs);
    if (is_on_sqlite(f))
        db_raw_run(f->path, "INSERT INTO run_text_index (run_text_index) VALUES ('rebuild')");
    f->audits = AUDITS_PER_TEST; // rows that no operation wrote
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        expect_list(f, &lists[i]);
    search_many_runs(f);
    sort_many_runs(f);
    list_series_of_many_runs(f);
}

#endif
