// SPDX-License-Identifier: Apache-2.0
// Which figures the newest runs of a series have, or the newest run of every series, and from
// where.
#include "server/store/store_sql.h"
#include "server/store/server_tables.h"

#include "analysis/report/row.h"
#include "analysis/run/run_figures.h"

// A figure as stored: each of its sources counts for itself.
struct stored_figure {
    struct str metric, source;
    int64_t runs;
};

struct stored_figures {
    struct stored_figure *items;
    size_t count;
};

#define SELECT_FIGURES "SELECT metric, source, count(*) FROM figure WHERE run_id IN ("
#define OF_SERIES                                                                   \
    "SELECT id FROM run WHERE project = ? AND series = ? AND point_ns IS NOT NULL " \
    "ORDER BY created_ns DESC, id LIMIT ?"
#define NEWEST_OF_ALL                                                                        \
    "SELECT last_point FROM series WHERE last_ns IS NOT NULL AND (?1 = '' OR project = ?1) " \
    "ORDER BY last_ns DESC, project, series LIMIT ?2"
#define BY_SOURCE ") GROUP BY metric, source ORDER BY metric, count(*) DESC, source"

static struct stmt ask(struct db *db, const struct series_key *key, struct err *err)
{
    struct stmt stmt = sql_begin(db,
                                 key->series.len ? SELECT_FIGURES OF_SERIES BY_SOURCE
                                                 : SELECT_FIGURES NEWEST_OF_ALL BY_SOURCE,
                                 err);
    sql_bind_text(&stmt, key->project);
    if (key->series.len)
        sql_bind_text(&stmt, key->series);
    sql_bind_u64(&stmt, key->series.len ? STORE_MAX_POINTS : STORE_MAX_SERIES);
    return stmt;
}

static bool read_stored(struct db *db, const struct series_key *key, struct arena *arena,
                        struct stored_figures *found, struct err *err)
{
    struct stmt stmt = ask(db, key, err);
    *found = (struct stored_figures){0};
    while (sql_row(&stmt)) {
        found->items = arena_more(arena, found->items, found->count, sizeof *found->items, err);
        if (!found->items) {
            stmt.failed = true;
            break;
        }
        found->items[found->count++] = (struct stored_figure){
            sql_text(&stmt, 0, arena), sql_text(&stmt, 1, arena), sql_i64(&stmt, 2)};
    }
    return sql_end(&stmt);
}

static bool add_figure(const struct run_figure *figure, const struct stored_figure *stored,
                       struct report *report, struct err *err)
{
    struct row row = {.desc = &table_known_figures};
    row_text(&row, KNOWN_FIGURES_METRIC, stored->metric);
    row_word(&row, KNOWN_FIGURES_LABEL, figure->label);
    row_word(&row, KNOWN_FIGURES_UNIT, figure->unit);
    row_word(&row, KNOWN_FIGURES_BETTER, figure->more_is_better ? "more" : "less");
    row_text(&row, KNOWN_FIGURES_SOURCE, stored->source);
    row_i64(&row, KNOWN_FIGURES_RUNS, stored->runs);
    row_word(&row, KNOWN_FIGURES_HELP, figure->help);
    return row_end(&row, report, err);
}

// Its key is its name; its unit, and which way is better, are unknown.
static bool add_given(const struct stored_figure *stored, struct report *report, struct err *err)
{
    struct row row = {.desc = &table_known_figures};
    struct str key = stored->metric;
    key.at += sizeof STORE_META_METRIC - 1;
    key.len -= sizeof STORE_META_METRIC - 1;
    row_text(&row, KNOWN_FIGURES_METRIC, stored->metric);
    row_text(&row, KNOWN_FIGURES_LABEL, key);
    row_word(&row, KNOWN_FIGURES_UNIT, "");
    row_word(&row, KNOWN_FIGURES_BETTER, "");
    row_text(&row, KNOWN_FIGURES_SOURCE, stored->source);
    row_i64(&row, KNOWN_FIGURES_RUNS, stored->runs);
    row_word(&row, KNOWN_FIGURES_HELP, "A number of the metadata.");
    return row_end(&row, report, err);
}

// In the order of all tables of figures, then those that people gave.
static bool put_rows(const struct stored_figures *found, struct report *report, struct err *err)
{
    bool ok = true;
    for (size_t figure = 0; figure < RUN_FIGURE_COUNT; figure++)
        for (size_t i = 0; ok && i < found->count; i++)
            if (str_equal(found->items[i].metric, str_of(run_figures[figure].metric)))
                ok = add_figure(&run_figures[figure], &found->items[i], report, err);
    for (size_t i = 0; ok && i < found->count; i++)
        if (str_starts_with(found->items[i].metric, STR(STORE_META_METRIC)))
            ok = add_given(&found->items[i], report, err);
    return ok;
}

bool store_list_known_figures(struct store *store, const struct series_key *key,
                              struct arena *arena, struct table *table, struct err *err)
{
    struct txn txn;
    struct stored_figures found;
    struct report report = {.arena = arena};
    *table = (struct table){.desc = &table_known_figures};
    if (!txn_begin(store, DB_READ, &txn, err) ||
        !txn_end(&txn, read_stored(txn.db, key, arena, &found, err), err) ||
        !put_rows(&found, &report, err))
        return false;
    const struct table *rows = report_find(&report, table_known_figures.name);
    if (rows)
        *table = *rows;
    return true;
}
