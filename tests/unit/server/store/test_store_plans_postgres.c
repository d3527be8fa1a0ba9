// SPDX-License-Identifier: Apache-2.0
// How PostgreSQL answers the store's statements, and its checks of references for them: no plan
// goes through a table that grows with the runs, except those listed here with a reason.
//
// The server logs each plan (auto_explain). Tables of a test have few rows, for which going through
// all of them is the best plan: the server is made to believe that they have a million, and to
// prefer an index wherever one helps. test_store_plans sees to it that no statement is left out.
#include "tests/unit/many_runs.h"
#include "tests/unit/store_life.h"

#include <jansson.h>

enum { MOST_REPORTED = 64, LEAST_PLANS = 1000 };

#define LOG    "%s/data/log/plans.json"
#define MARKER "SELECT 'all plans are in the log'"

static const char settings[] =
    "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0 "
    "-c auto_explain.log_format=json -c auto_explain.log_nested_statements=on "
    "-c logging_collector=on -c log_destination=jsonlog -c log_filename=plans "
    "-c log_rotation_size=0 -c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off "
    "-c enable_material=off";

#define EACH_TABLE "relkind = 'r' AND relnamespace = 'public'::regnamespace"

// A table without a page counts as empty, whatever else is said about it. A row that is taken back
// leaves one.
static const char large_tables[] =
    "DO $$ DECLARE one record; BEGIN "
    "FOR one IN SELECT conrelid::regclass AS at, conname AS name FROM pg_constraint "
    "JOIN pg_class ON pg_class.oid = conrelid WHERE " EACH_TABLE " LOOP "
    "EXECUTE format('ALTER TABLE %s DROP CONSTRAINT IF EXISTS %I CASCADE', one.at, one.name); "
    "END LOOP; "
    "FOR one IN SELECT attrelid::regclass AS at, attname AS name FROM pg_attribute "
    "JOIN pg_class ON pg_class.oid = attrelid "
    "WHERE attnotnull AND attnum > 0 AND attidentity = '' AND " EACH_TABLE " LOOP "
    "EXECUTE format('ALTER TABLE %s ALTER %I DROP NOT NULL', one.at, one.name); END LOOP; "
    "FOR one IN SELECT oid::regclass AS at FROM pg_class WHERE " EACH_TABLE " LOOP "
    "EXECUTE format('INSERT INTO %s DEFAULT VALUES', one.at); END LOOP; "
    "RAISE EXCEPTION 'back'; EXCEPTION WHEN raise_exception THEN END $$;"
    // Few runs are in the bin.
    "INSERT INTO stored_run (id, project, name, series, created_ns) VALUES ('r_', '', '', '', 1);"
    "ANALYZE stored_run; DELETE FROM stored_run WHERE id = 'r_';"
    "UPDATE pg_class SET reltuples = 1000000, relpages = 1 WHERE " EACH_TABLE;

static int begin(void **state)
{
    set_up(state);
    struct fixture *f = *state;
    f->audits = AUDITS_PER_TEST; // only the store's statements are judged
    db_raw_run(f->path, large_tables);
    return 0;
}

// --- judging ------------------------------------------------------------------------------------

// Intentional scans, by part of the statement.
static const struct {
    const char *sql, *scanned, *why;
} allowed[] = {
    {"FROM schema_version", "schema_version", "one row"},
    {"FROM probe", "probe", "one row"},
    {"", "run_deleted", "what is in the bin alone"},
    {"WHERE damage <> ''", "blob_damaged", "what is damaged alone"},
    {"FROM series WHERE judged < changed", "series_to_judge", "what changed alone"},
    {"INSERT INTO job", "job_one_queued_per_", "what is queued alone, if that is little"},
    {"FROM resumable WHERE upload_id IS NULL AND refused IS NULL AND expires_ns >",
     "resumable_by_owner", "uploads under way alone"},
    {"FROM run WHERE TRUE", "run_by_", "a page of runs that many match, in an order"},
    {"JOIN run ON run.id = found.run_id", "run_by_created", "the same, if the server sees that"},
    {"FROM job WHERE state = 'running'", "job_running", "what runs alone"},
    {"FROM job AS other WHERE other.state = 'running'", "job_running", "the same"},
    {"FROM series WHERE TRUE", "series", "how many runs there are: series are fewer"},
    {"FROM baseline", "baseline_", "all of them are wanted, and there are few"},
    {"FROM saved_view", "saved_view_", "a bounded number"},
    {"FROM token", "token", "all of them, at start and for people; there are few"},
    {"FROM garbage", "garbage_pkey", "all of it is wanted, and it is short"},
    {"FROM owner_bytes GROUP BY who", "owner_bytes", "a few rows for each person"},
    {"DELETE FROM quota_day", "quota_day", "days of people, not of runs"},
    {"DELETE FROM last_commit", "last_commit", "connections of a day"},
    {"FROM resumable WHERE upload_id IS NULL AND refused IS NULL), (SELECT coalesce(max(id)", "",
     "uploads under way are few, of runs the newest alone; series"},
    {"SELECT sha256, bytes FROM blob ORDER BY", "blob_pkey", "a backup wants all of them"},
    {"SELECT id FROM trace ORDER BY id", "trace_pkey", "the same"},
    {"FROM stored_run ORDER BY max(created_ns", "stored_run", "retention looks at all"},
    {"FROM stored_run ORDER BY max(created_ns", "job_by_run", "the same"},
    {"ORDER BY max(r.created_ns", "", "the same"},
    {"(SELECT project, series FROM run WHERE created_ns <", "job_by_run",
     "jobs of the last 90 days, where the server expects many old runs"},
};

struct judged_plans {
    const char *reported[MOST_REPORTED]; // statements
    size_t bad, plans;
};

static const char *text_of(const json_t *node, const char *name)
{
    const char *text = json_string_value(json_object_get(node, name));
    return text ? text : "";
}

static bool is_listed(const char *sql, const char *scanned)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strstr(sql, allowed[i].sql) &&
            strncmp(scanned, allowed[i].scanned, strlen(allowed[i].scanned)) == 0)
            return true;
    return false;
}

// What a step goes through from end to end: a table or an index; "" if nothing.
static const char *scanned_by(const json_t *node)
{
    const char *type = text_of(node, "Node Type");
    if (strcmp(type, "Seq Scan") == 0)
        return text_of(node, "Relation Name");
    bool is_indexed = strcmp(type, "Index Scan") == 0 || strcmp(type, "Index Only Scan") == 0 ||
                      strcmp(type, "Bitmap Index Scan") == 0;
    return is_indexed && !json_object_get(node, "Index Cond") ? text_of(node, "Index Name") : "";
}

static bool is_fine(const char *sql, const json_t *node)
{
    const char *scanned = scanned_by(node);
    size_t i;
    const json_t *below;
    bool fine = !scanned[0] || is_listed(sql, scanned);
    if (!fine)
        print_error("%s goes through %s\n", text_of(node, "Node Type"), scanned);
    json_array_foreach(json_object_get(node, "Plans"), i, below) fine = is_fine(sql, below) && fine;
    return fine;
}

static bool was_reported(const struct judged_plans *all, const char *sql)
{
    for (size_t i = 0; i < all->bad; i++)
        if (strcmp(all->reported[i], sql) == 0)
            return true;
    return false;
}

static void judge(struct judged_plans *all, const json_t *explained)
{
    const char *sql = text_of(explained, "Query Text");
    all->plans++;
    if (strstr(sql, "FROM run AS truth") || strstr(many_runs, sql) || was_reported(all, sql) ||
        all->bad == MOST_REPORTED || is_fine(sql, json_object_get(explained, "Plan")))
        return;
    print_error("    in %s\n", sql);
    all->reported[all->bad++] = strdup(sql);
}

// --- the log ------------------------------------------------------------------------------------

// False for the marker, after which there is nothing.
static bool read_line(struct judged_plans *all, const char *line)
{
    json_t *entry = json_loads(line, 0, NULL);
    const char *message = text_of(entry, "message"), *plan = strchr(message, '{');
    json_t *explained = plan ? json_loads(plan, 0, NULL) : NULL;
    bool is_marker = strcmp(text_of(explained, "Query Text"), MARKER) == 0;
    bool is_of_test = strncmp(text_of(entry, "dbname"), "test", 4) == 0; // not the schema's
    if (explained && is_of_test && !is_marker)
        judge(all, explained);
    json_decref(explained);
    json_decref(entry);
    return !is_marker;
}

// The server writes its log beside what it answers.
static bool read_log(struct judged_plans *all, FILE *log)
{
    enum { TRIES = 600, WAIT_NS = 50000000 };
    char *line = NULL;
    size_t room = 0;
    bool more = true;
    for (int i = 0; i < TRIES && more; i++) {
        long at = ftell(log);
        ssize_t len = getline(&line, &room, log);
        if (len > 0 && line[len - 1] == '\n') {
            more = read_line(all, line);
            i = 0;
            continue;
        }
        clearerr(log);
        fseek(log, at, SEEK_SET);
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    }
    free(line);
    return !more;
}

static void list_among_many(void)
{
    void *state = (void *)(uintptr_t)&db_postgres;
    begin(&state);
    list_many_runs(state);
    tear_down(&state);
}

static void no_plan_goes_through_a_table_that_grows_with_runs(void **state)
{
    struct fixture *f = *state;
    struct judged_plans all = {.plans = 0};
    char path[80];
    live_a_life(f);
    list_among_many();
    db_raw_run(f->path, MARKER);
    snprintf(path, sizeof path, LOG, kind_server.folder);
    FILE *log = fopen(path, "r");
    assert_non_null(log);
    assert_true(read_log(&all, log));
    fclose(log);
    print_message("%zu plans\n", all.plans);
    assert_true(all.plans >= LEAST_PLANS);
    for (size_t i = 0; i < all.bad; i++)
        free((void *)(uintptr_t)all.reported[i]);
    assert_int_equal(all.bad, 0);
}

int main(void)
{
    enum { SKIPPED = 77 };
    struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_plan_goes_through_a_table_that_grows_with_runs, begin,
                                        tear_down),
    };
    if (!kind_start_with(&db_postgres, settings))
        return SKIPPED;
    tests[0].initial_state = (void *)(uintptr_t)&db_postgres;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    postgres_stop(&kind_server);
    return failed;
}
