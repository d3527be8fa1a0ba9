// SPDX-License-Identifier: Apache-2.0
// How SQLite answers the store's queries: no statement scans a table that grows with the runs,
// except those listed here with a reason, and no statement of the store escapes this test.
#include "tests/unit/many_runs.h"
#include "tests/unit/store_life.h"

#include <dirent.h>
#include <sqlite3.h>

enum { MAX_STATEMENTS = 4096 };

// Every statement that any connection has run, once each.
struct seen {
    char *texts[MAX_STATEMENTS];
    size_t count;
};
static struct seen seen; // SQLite's extension hook has no context argument

static int note(unsigned kind, void *context, void *stmt, void *text)
{
    (void)kind, (void)context, (void)text;
    const char *sql = sqlite3_sql(stmt);
    for (size_t i = 0; sql && i < seen.count; i++)
        if (strcmp(seen.texts[i], sql) == 0)
            return 0;
    if (sql && seen.count < MAX_STATEMENTS)
        seen.texts[seen.count++] = strdup(sql);
    return 0;
}

static int watch(sqlite3 *db, const char **message, const void *api)
{
    (void)message, (void)api;
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note, NULL);
}

static int begin(void **state)
{
    assert_int_equal(sqlite3_auto_extension((void (*)(void))watch), SQLITE_OK);
    set_up(state);
    ((struct fixture *)*state)->audits =
        AUDITS_PER_TEST; // only the store's own statements are seen
    return 0;
}

static int end(void **state)
{
    sqlite3_reset_auto_extension();
    for (size_t i = 0; i < seen.count; i++)
        free(seen.texts[i]);
    seen.count = 0;
    return tear_down(state);
}

// In a separate store: lists of few runs and of many have different plans.
static void list_among_many(void)
{
    void *state = NULL;
    set_up(&state);
    list_many_runs(state);
    tear_down(&state);
}

// --- judging ------------------------------------------------------------------------------------

// Intentional scans, by part of the statement.
static const struct {
    const char *sql, *plan, *why;
} allowed[] = {
    {"FROM run WHERE TRUE", "SCAN stored_run", "a page of runs that many match, in an order"},
    {"AS pairs", "SCAN pairs", "the tags of one run"},
    {"part.text LIKE ?", "SCAN part VIRTUAL TABLE INDEX 0:L0", "what the index finds"},
    {"FROM run_text_index_piece", "SCAN run_text_index_piece VIRTUAL TABLE INDEX 6:",
     "from one piece of three letters to another"},
    {"AS part CROSS JOIN", "SCAN part", "what the index finds"},
    {"AS found", "SCAN found", "up to 5,000 runs"},
    {"(SELECT 1) AS asked", "SCAN asked", "one row"},
    {"ORDER BY created_ns DESC, id LIMIT ?) AS run", "SCAN run", "the newest 5,000"},
    {"AS bounded", "SCAN bounded", "the same"},
    {"known (facet", "SCAN known", "facets of runs, at most 1,000"},
    {"= known.facet", "SCAN known", "the same"},
    {"AS named", "SCAN named", "the same"},
    {"= known.facet", "SCAN found", "what a page has of each"},
    {"FROM baseline", "SCAN baseline", "all of them are wanted, and there are few"},
    {"FROM series WHERE last_ns IS NOT NULL", "SCAN series USING INDEX",
     "the newest of all, in their order; a search"},
    {"FROM series WHERE TRUE", "SCAN series", "how many runs there are: series are fewer"},
    {"FROM series WHERE judged < changed", "SCAN series USING INDEX series_to_judge",
     "a partial index with what changed alone"},
    {"SELECT sha256, bytes FROM blob ORDER BY", "SCAN blob", "a backup wants all of them"},
    {"SELECT id FROM trace ORDER BY id", "SCAN trace", "the same"},
    {"WHERE damage <> ''", "SCAN blob USING INDEX blob_damaged",
     "a partial index with what is damaged alone"},
    {"FROM sqlite_schema", "SCAN sqlite_schema", "tables are few"},
    {"FROM pragma_", "SCAN pragma_", "what SQLite's checks tell"},
    {"FROM owner_bytes GROUP BY who", "SCAN owner_bytes", "a few rows for each person"},
    {"INSERT INTO owner_bytes", "SCAN owned", "what one run or trace has"},
    {"DELETE FROM quota_day", "SCAN quota_day", "days of people, not of runs"},
    {"FROM resumable WHERE upload_id IS NULL AND refused IS NULL), (SELECT coalesce(max(id)",
     "SCAN ", "uploads under way are few, of runs the newest alone; series"},
    {"FROM saved_view", "SCAN saved_view USING ",
     "a bounded number, gone through when one is added"},
    {"FROM token", "SCAN token", "all of them, at start and for people; there are few"},
    {"FROM garbage", "SCAN garbage", "all of it is wanted, and it is short"},
    {"SELECT id FROM stored_run ORDER BY id", "SCAN stored_run", "once, when the schema changes"},
    {"FROM stored_run ORDER BY max(created_ns", "SCAN stored_run", "retention looks at all"},
    {"ORDER BY max(r.created_ns", "SCAN r", "the same"},
};

static bool is_listed(const char *sql, const char *step)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strstr(sql, allowed[i].sql) &&
            strncmp(step, allowed[i].plan, strlen(allowed[i].plan)) == 0)
            return true;
    return false;
}

// Filters of the list of runs that have an index, in the list's own order; a figure's order.
static bool is_indexed_list(const char *sql)
{
    static const char *const orders[] = {
        "SELECT run.id FROM run WHERE TRUE AND project = ? ORDER BY created_ns",
        "SELECT run.id FROM run WHERE TRUE AND status = ? ORDER BY created_ns",
        "SELECT run.id FROM run WHERE TRUE AND series = ? ORDER BY created_ns",
        "SELECT run.id FROM run WHERE TRUE AND created_ns >= ? ORDER BY created_ns",
        "SELECT run.id FROM run WHERE TRUE AND project = ? AND status = ? ORDER BY created_ns",
        "SELECT run.id FROM figure AS ordered"};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        if (strstr(sql, orders[i]))
            return true;
    return false;
}

// Sorting within one run is fine; sorting runs is only for orders without an index.
static bool is_fine(const char *sql, const char *step)
{
    if (strstr(step, "CONSTANT ROW") || strstr(step, "VALUES CLAUSE")) // of the statement itself
        return true;
    if (strcmp(step, "SCAN model") == 0) // of GPUs
        return true;
    if (strstr(step, "TEMP B-TREE"))
        return !strstr(sql, "FROM run WHERE TRUE ORDER BY created_ns DESC, id") &&
               !is_indexed_list(sql);
    return strncmp(step, "SCAN ", 5) != 0 || (is_listed(sql, step) && !is_indexed_list(sql));
}

static int judge(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt;
    int bad = 0;
    char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
    if (sqlite3_prepare_v2(db, explain, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(stmt, 3);
        if (is_fine(sql, step))
            continue;
        print_error("%s\n    of %s\n", step, sql);
        bad++;
    }
    sqlite3_finalize(stmt);
    sqlite3_free(explain);
    return bad;
}

static bool reads_tables(const char *sql)
{
    if (strstr(sql, "'main'.'run_text")) // the index reads its own tables
        return false;
    if (strstr(sql, "FROM run AS truth") || strstr(many_runs, sql)) // what a test compares with
        return false;
    return strncmp(sql, "SELECT", 6) == 0 || strncmp(sql, "INSERT", 6) == 0 ||
           strncmp(sql, "UPDATE", 6) == 0 || strncmp(sql, "DELETE", 6) == 0;
}

static void no_statement_scans_a_table_that_grows_with_runs(void **state)
{
    struct fixture *f = *state;
    int bad = 0;
    live_a_life(f);
    list_among_many();
    size_t count = seen.count;
    assert_in_range(count, 100, MAX_STATEMENTS - 1);
    sqlite3 *db;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    for (size_t i = 0; i < count; i++)
        if (reads_tables(seen.texts[i]))
            bad += judge(db, seen.texts[i]);
    sqlite3_close(db);
    assert_int_equal(bad, 0);
}

// A facet without a run of the project would be looked through to its end.
static void runs_of_a_project_are_not_looked_for_by_facets(void **state)
{
    (void)state;
    list_among_many();
    assert_in_range(seen.count, 1, MAX_STATEMENTS - 1);
    for (size_t i = 0; i < seen.count; i++)
        if (strstr(seen.texts[i], "column1 AS facet") && strstr(seen.texts[i], "project = ?"))
            fail_msg("%s", seen.texts[i]);
}

static bool was_seen(const char *piece)
{
    for (size_t i = 0; i < seen.count; i++)
        if (strstr(seen.texts[i], piece))
            return true;
    return false;
}

// One or two letters of a text, or a tag, that few runs have.
static void what_few_have_is_not_looked_for_among_all(void **state)
{
    struct fixture *f = *state;
    live_a_life(f);
    list(f, (struct run_query){.search = STR("q")});
    list(f, (struct run_query){.search = STR("dd")});
    list(f, (struct run_query){.search = STR("nothing")});
    assert_true(was_seen("FROM run_text_index_piece"));
    assert_false(was_seen("part.text LIKE ?"));
    assert_false(was_seen("EXISTS (SELECT 1 FROM run CROSS JOIN run_tag"));
}

// --- none is forgotten --------------------------------------------------------------------------

// Looks for each literal in a line of source that names a table: up to a format, it must have been
// part of a statement.
static int check_line(const char *path, const char *line)
{
    int bad = 0;
    for (const char *at = strchr(line, '"'); at; at = strchr(at + 1, '"')) {
        char piece[512];
        size_t len = 0;
        for (at++; *at && *at != '"' && *at != '%' && len + 1 < sizeof piece; at++) {
            at += *at == '\\';
            piece[len++] = *at;
        }
        piece[len] = '\0';
        for (; *at && *at != '"'; at++)
            at += *at == '\\' && at[1];
        bool names_table =
            strstr(piece, "FROM ") || strstr(piece, "INTO ") || strncmp(piece, "UPDATE ", 7) == 0;
        if (names_table && !was_seen(piece)) {
            print_error("%s: this test never ran \"%s\"\n", path, piece);
            bad++;
        }
        if (!*at)
            break;
    }
    return bad;
}

static int check_file(const char *path)
{
    char line[512];
    int bad = 0;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (line[strspn(line, " ")] != '/' && line[0] != '#')
            bad += check_line(path, line);
    fclose(file);
    return bad;
}

// A copy reads whole tables, and asks the few rows of leader; SQLite has no claims side by side.
static bool is_judged(const char *file)
{
    return strncmp(file, "store_copy", 10) != 0 && strcmp(file, "store_claim.c") != 0;
}

static void every_statement_of_the_store_was_judged(void **state)
{
    struct fixture *f = *state;
    live_a_life(f);
    list_among_many();
    DIR *folder = opendir("server/store");
    int bad = 0;
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        char path[300];
        size_t len = strlen(entry->d_name);
        snprintf(path, sizeof path, "server/store/%s", entry->d_name);
        if (strncmp(entry->d_name, "store", 5) == 0 && is_judged(entry->d_name) &&
            strcmp(entry->d_name + len - 2, ".c") == 0)
            bad += check_file(path);
    }
    closedir(folder);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_statement_scans_a_table_that_grows_with_runs, begin,
                                        end),
        cmocka_unit_test_setup_teardown(runs_of_a_project_are_not_looked_for_by_facets, begin, end),
        cmocka_unit_test_setup_teardown(what_few_have_is_not_looked_for_among_all, begin, end),
        cmocka_unit_test_setup_teardown(every_statement_of_the_store_was_judged, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
