// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/queries_more.h"

#include "ingest/base/buf.h"
#include "ingest/base/clock.h"
#include "ingest/base/hash.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 20000, RUNS_OF_SERIES = 100, MOST_MODELS = 64, ID = 16 };
#define SPAN_NS ((int64_t)730 * 86400 * 1000000000)

// What is copied for each run; ?1 is its id, ?2 the factor of its times and ?3 the run it is like.
static const char *const copies[] = {
    "INSERT INTO figure (run_id, metric, value, source) SELECT ?1, metric, "
    "CASE WHEN metric LIKE '%\\_ns' ESCAPE '\\' THEN floor(value * ?2) ELSE value END, source "
    "FROM figure WHERE run_id = ?3",
    "INSERT INTO metadata (run_id, \"key\", value) SELECT ?1, \"key\", value FROM metadata "
    "WHERE run_id = ?3 AND ?2 > 0",
    "INSERT INTO run_tag (run_id, \"key\", value) SELECT ?1, \"key\", value FROM run_tag "
    "WHERE run_id = ?3 AND ?2 > 0 AND \"key\" <> 'tables'",
    "INSERT INTO run_text (run_id, text) SELECT id, name || '\n' || project || '\n' || "
    "coalesce(gpu, '') || '\n' || note || '\n' || coalesce((SELECT group_concat(\"key\" || '=' || "
    "value, '\n') FROM run_tag WHERE run_id = id AND ?2 > 0), '') || '\n\n' FROM stored_run "
    "WHERE id = ?1 AND id <> ?3",
};
enum { COPIES = sizeof copies / sizeof *copies };

#define COPY_RUN                                                                                   \
    "INSERT INTO stored_run (id, project, name, series, note, created_ns, world_size, revision, "  \
    "analysis_version, received, done, traced_world_size, gpu, trust_severity, joined, point_ns, " \
    "outlier, owner, made) SELECT ?1, ?4, ?5, ?6, note, ?7, world_size, 2, analysis_version, 1, "  \
    "1, traced_world_size, gpu, trust_severity, 1, CAST(point_ns * ?2 AS INTEGER), 0, owner, "     \
    "made FROM stored_run WHERE id = ?3"
#define COPY_TRACE                                                                                \
    "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, uploaded_ns, "      \
    "state, analysis_version, world_size, events, text_bytes, parse_ns, analyze_ns, join_bytes) " \
    "SELECT ?1, ?2, rank, rank_from, ?3, filename, bytes, ?4, state, analysis_version, "          \
    "world_size, events, text_bytes, parse_ns, analyze_ns, join_bytes FROM trace WHERE id = "     \
    "(SELECT id FROM trace WHERE run_id = ?5 AND rank = 0)"

// After all runs: their series, an alert of each, and the index of their texts.
static const char *const totals[] = {
    "INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged, points, "
    "last_point, step_median_ns, change_share) SELECT project, series, count(*), "
    "min(created_ns), max(created_ns), 1, 1, count(point_ns), max(id), max(point_ns), 0.01 "
    "FROM stored_run WHERE series LIKE 'more-%' GROUP BY project, series",
    "INSERT INTO alert (id, run_id, project, series, kind, change_share, status, created_ns, "
    "updated_ns, metric, before_value, after_value, worse_share) SELECT 'a_' || "
    "substr(last_point, 3), last_point, project, series, 'change', 0.05, "
    "CASE WHEN runs % 20 = 0 THEN 'new' ELSE 'fixed' END, last_ns, last_ns, 'step_median_ns', "
    "1000000, 1050000, 0.05 FROM series WHERE series LIKE 'more-%'",
    "INSERT INTO run_text_index (run_text_index) VALUES ('rebuild')",
};

struct more {
    struct db *db;
    int64_t count, now_ns;
    char models[MOST_MODELS][ID];
    int model_count;
    struct stmt run, copies[COPIES], blob, trace, upload, upload_trace;
};

// Ids of one length in the order of numbers.
static void write_id(char prefix, unsigned digits, uint64_t number, char id[ID])
{
    static const char words[] = "0123456789abcdefghjkmnpqrstvwxyz";
    id[0] = prefix;
    id[1] = '_';
    for (unsigned i = 0; i < digits; i++, number /= 32)
        id[1 + digits - i] = words[number % 32];
    id[2 + digits] = '\0';
}

// Every number below count once, in an order like chance.
static int64_t shuffled(const struct more *more, int64_t number)
{
    return (int64_t)((uint64_t)number * 2654435761u % (uint64_t)more->count);
}

static void bind(struct stmt *stmt, const char *text)
{
    sql_bind_text(stmt, str_of(text));
}

static void add_run(struct more *more, int64_t number, const char *id, const char *model,
                    double factor)
{
    static const char *const projects[] = {"llama", "mixtral", "resnet", "vit", "gpt"};
    char series[40], name[60];
    int64_t turn = shuffled(more, number), of_series = more->count / RUNS_OF_SERIES + 1;
    snprintf(series, sizeof series, "more-%lld", (long long)(turn % of_series));
    snprintf(name, sizeof name, "%s@%lld", series, (long long)(turn / of_series));
    bind(&more->run, id);
    sql_bind_f64(&more->run, factor);
    bind(&more->run, model);
    bind(&more->run, projects[turn % of_series % 5]);
    bind(&more->run, name);
    bind(&more->run, series);
    sql_bind_i64(&more->run, more->now_ns - SPAN_NS / more->count * turn);
    sql_step(&more->run);
    for (size_t i = 0; i < COPIES; i++) {
        bind(&more->copies[i], id);
        sql_bind_f64(&more->copies[i], factor);
        bind(&more->copies[i], model);
        sql_step(&more->copies[i]);
    }
}

static void add_trace(struct more *more, int64_t number, const char *id, const char *model)
{
    char trace[ID], upload[ID], sha256[65];
    int64_t at_ns = more->now_ns - SPAN_NS / more->count * shuffled(more, number);
    write_id('t', 12, (uint64_t)number, trace);
    write_id('u', 12, (uint64_t)number, upload);
    snprintf(sha256, sizeof sha256, "b%015llx%048d", (unsigned long long)number, 0);
    bind(&more->blob, sha256);
    sql_bind_i64(&more->blob, at_ns);
    sql_step(&more->blob);
    bind(&more->trace, trace);
    bind(&more->trace, id);
    bind(&more->trace, sha256);
    sql_bind_i64(&more->trace, at_ns);
    bind(&more->trace, model);
    sql_step(&more->trace);
    bind(&more->upload, upload);
    bind(&more->upload, id);
    sql_bind_i64(&more->upload, at_ns);
    sql_step(&more->upload);
    bind(&more->upload_trace, upload);
    bind(&more->upload_trace, trace);
    sql_step(&more->upload_trace);
}

static void begin_statements(struct more *more, struct err *err)
{
    struct db *db = more->db;
    more->run = sql_begin(db, COPY_RUN, err);
    for (size_t i = 0; i < COPIES; i++)
        more->copies[i] = sql_begin(db, copies[i], err);
    more->blob =
        sql_begin(db, "INSERT INTO blob (sha256, bytes, created_ns) VALUES (?, 1048576, ?)", err);
    more->trace = sql_begin(db, COPY_TRACE, err);
    more->upload =
        sql_begin(db, "INSERT INTO upload (id, run_id, created_ns) VALUES (?, ?, ?)", err);
    more->upload_trace = sql_begin(db,
                                   "INSERT INTO upload_trace (upload_id, position, trace_id, "
                                   "existing) VALUES (?, 0, ?, 0)",
                                   err);
}

static bool end_statements(struct more *more)
{
    bool ok = sql_end(&more->run);
    for (size_t i = 0; i < COPIES; i++)
        ok = sql_end(&more->copies[i]) && ok;
    ok = sql_end(&more->blob) && ok;
    ok = sql_end(&more->trace) && ok;
    ok = sql_end(&more->upload) && ok;
    return sql_end(&more->upload_trace) && ok;
}

static bool add_batch(struct more *more, int64_t from, struct err *err)
{
    uint64_t apart = (UINT64_C(1) << 40) / (uint64_t)more->count;
    if (!more->db->kind->begin(more->db, DB_WRITE, err))
        return false;
    begin_statements(more, err);
    for (int64_t i = from; i < more->count && i < from + BATCH; i++) {
        char id[ID];
        uint64_t chance = hash_u64((uint64_t)i);
        const char *model = more->models[chance % (uint64_t)more->model_count];
        write_id('r', 8, (uint64_t)i * apart + chance % apart, id);
        add_run(more, i, id, model, 0.9 + (double)(chance >> 32 & 1023) / 5120);
        add_trace(more, i, id, model);
    }
    return end_statements(more) && more->db->kind->commit(more->db, err);
}

static bool find_models(struct more *more, struct err *err)
{
    struct stmt stmt = sql_begin(
        more->db, "SELECT id FROM run WHERE status = 'done' ORDER BY created_ns DESC LIMIT 64",
        err);
    while (sql_row(&stmt)) {
        struct str id = sql_bytes(&stmt, 0);
        snprintf(more->models[more->model_count++], ID, "%.*s", (int)id.len, id.at);
    }
    return sql_end(&stmt) &&
           (more->model_count > 0 || err_set(err, ERR_NOT_FOUND, "found no run that is done"));
}

static bool add_all(struct more *more, struct err *err)
{
    if (!find_models(more, err))
        return false;
    for (int64_t from = 0; from < more->count; from += BATCH) {
        if (!add_batch(more, from, err))
            return false;
        fprintf(stderr, "%lld of %lld more runs\n", (long long)from, (long long)more->count);
    }
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        if (!sql_execute(more->db, totals[i], err))
            return false;
    return true;
}

bool queries_more(const char *path, int64_t count, struct err *err)
{
    struct more more = {.count = count, .now_ns = clock_wall_ns()};
    more.db = db_open(path, DB_WRITE, NULL, err);
    // It is lost with the machine, but not with the process: a benchmark fills it again.
    bool ok = more.db && sql_execute(more.db, "PRAGMA synchronous = OFF", err) &&
              sql_execute(more.db, "PRAGMA cache_size = -2000000", err) && add_all(&more, err);
    db_close(more.db, true);
    return ok;
}
