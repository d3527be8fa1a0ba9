// SPDX-License-Identifier: Apache-2.0
// What each owner has stored is a sum, and stays what all rows say: when services change it in
// every way at the same time, and when a database comes from an older version.
#include "server/store/schema_data.h"
#include "server/store/store_access.h"
#include "server/store/store_bin.h"
#include "server/store/store_inputs.h"
#include "server/store/store_sql.h"
#include "tests/unit/store_fixture.h"

#include <sys/wait.h>

enum { SERVICES = 4, TURNS = 100, RUNS = 4, RANKS = 12, CONTENTS = 24 };

// A service that does at random what people and jobs do.
struct service {
    struct store *store;
    struct arena arena; // of one turn
    struct err err;
    uint64_t random;
    int none, tables; // parts of a report without tables, and of a run's
};

static unsigned pick(struct service *s, unsigned count)
{
    s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (unsigned)(s->random >> 33) % count;
}

static struct str name_of(struct service *s, const char *prefix, unsigned count)
{
    return str_of(arena_printf(&s->arena, &s->err, "%s%u", prefix, pick(s, count)));
}

// Refused for what others did meanwhile.
static bool is_fair(const struct service *s, bool ok)
{
    return ok || s->err.code == ERR_CONFLICT || s->err.code == ERR_NOT_FOUND ||
           s->err.code == ERR_DENIED;
}

// --- uploads ------------------------------------------------------------------------------------

static struct trace_part choose_part(struct service *s, char sha256[STORE_SHA256_SIZE])
{
    unsigned content = pick(s, CONTENTS);
    bool is_archive = pick(s, 5) == 0, has_rank = !is_archive && pick(s, 4);
    int64_t rank = has_rank ? (int64_t)pick(s, RANKS) : STORE_NO_RANK;
    struct trace_part part = part_of(sha256, (char)('A' + content), rank, "x.json");
    part.bytes = 100 + content;
    part.archive = is_archive ? STR("tar") : STR("");
    return part;
}

static bool upload(struct service *s)
{
    enum { MOST = 3 };
    char hashes[MOST][STORE_SHA256_SIZE];
    struct trace_part parts[MOST];
    struct upload stored;
    struct upload_request request = {.run = named(name_of(s, "run", RUNS).at),
                                     .parts = parts,
                                     .count = pick(s, 4) ? 1 : MOST,
                                     .replace = pick(s, 2),
                                     .owner = name_of(s, "k_", 3),
                                     .sent_bytes = 100};
    request.run.owner = request.owner;
    for (size_t i = 0; i < request.count; i++)
        parts[i] = choose_part(s, hashes[i]);
    return is_fair(s, store_add_upload(s->store, &request, &s->arena, &stored, &s->err));
}

// --- jobs ---------------------------------------------------------------------------------------

static struct new_member choose_member(struct service *s, char sha256[STORE_SHA256_SIZE],
                                       int64_t position)
{
    bool is_log = position == 0 || pick(s, 2);
    fill_sha256(sha256, (char)('A' + pick(s, CONTENTS)));
    return (struct new_member){.position = position,
                               .kind = is_log ? INPUT_ATTACHMENT : INPUT_TRACE,
                               .filename = STR("y"),
                               .format = is_log ? STR("training-log") : STR("kineto"),
                               .window = pick(s, 3) ? STR("") : STR("iteration_1"),
                               .sha256 = sha256,
                               .bytes = 50,
                               .is_repeat = pick(s, 4) == 0,
                               .reason = STR("")};
}

static bool unpack(struct service *s, const struct job *job)
{
    enum { MEMBERS = 4 };
    char hashes[MEMBERS][STORE_SHA256_SIZE];
    struct new_member members[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        members[i] = choose_member(s, hashes[i], i);
    switch (pick(s, 5)) {
    case 0: return store_unpack_as_trace(s->store, job, &s->err);
    case 1: return store_unpack_as_attachment(s->store, job, members, &s->err);
    case 2:
        return store_add_members(s->store, job, members, 2, &s->err) &&
               store_requeue_job(s->store, job, &s->err);
    default:
        return store_add_members(s->store, job, members, MEMBERS, &s->err) &&
               store_finish_unpack(s->store, job, pick(s, 4) ? STR("") : STR("cut"), &s->err);
    }
}

static bool succeed(struct service *s, const struct job *job)
{
    struct trace_result result = {.tables = s->none,
                                  .rank = pick(s, 2) ? -1 : (int64_t)pick(s, RANKS),
                                  .world_size = RANKS,
                                  .kept_bytes = pick(s, 1000)};
    int tables = pick(s, 2) ? s->tables : s->none;
    switch (job->kind) {
    case JOB_TRACE: return store_finish_trace(s->store, job, &result, &s->err);
    case JOB_RUN: return store_finish_run(s->store, job, tables, &s->err);
    case JOB_UNPACK: return unpack(s, job);
    case JOB_EVIDENCE: break;
    }
    return store_finish_evidence(s->store, job, s->none, 10, &s->err);
}

static bool end(struct service *s, const struct job *job)
{
    const struct job_strike why = {"crashed", "SIGSEGV"};
    bool again;
    switch (pick(s, 10)) {
    case 0: return store_fail_job(s->store, job, "why", &s->err);
    case 1: return store_requeue_job(s->store, job, &s->err);
    case 2: return store_strike_job(s->store, job, &why, &again, &s->err);
    default: return succeed(s, job);
    }
}

static bool work(struct service *s)
{
    struct job job;
    bool found;
    if (!store_claim_job(s->store, &s->arena, &job, &found, &s->err))
        return false;
    return !found || is_fair(s, end(s, &job));
}

// --- people -------------------------------------------------------------------------------------

static bool look_in_bin(struct service *s)
{
    struct stored_run run;
    bool found;
    if (!store_next_in_bin(s->store, INT64_MAX, &s->arena, &run, &found, &s->err))
        return false;
    return !found ||
           is_fair(s, pick(s, 2) ? store_restore_run(s->store, run.id, &s->err)
                                 : store_delete_run(s->store, run.id, STORE_ANY, &s->err));
}

static bool change_run(struct service *s)
{
    struct run run;
    if (!store_find_run(s->store, name_of(s, "run", RUNS), &s->arena, &run, &s->err))
        return false;
    switch (pick(s, 4)) {
    case 0: return store_delete_run(s->store, run.id, STORE_ANY, &s->err);
    case 1: return store_bin_run(s->store, run.id, STORE_ANY, STR("me"), &s->err);
    case 2: return store_cancel_run(s->store, run.id, &s->err);
    default: return store_reanalyze_run(s->store, run.id, &s->err);
    }
}

static bool take_a_turn(struct service *s)
{
    unsigned turn = pick(s, 20);
    arena_init(&s->arena, NULL);
    bool ok = turn < 8    ? upload(s)
              : turn < 18 ? work(s)
              : turn < 19 ? look_in_bin(s)
                          : is_fair(s, change_run(s));
    arena_free(&s->arena);
    return ok;
}

// first: its parts of reports.
static _Noreturn void serve(const struct fixture *f, int number, const struct service *first)
{
    char owner[16];
    struct service s = *first;
    s.random = (uint64_t)number + 1;
    snprintf(owner, sizeof owner, "n_%d", number);
    s.store = store_open_as(f->path, owner, &s.err);
    bool ok = s.store;
    for (int i = 0; ok && i < TURNS; i++)
        ok = take_a_turn(&s);
    if (!ok)
        fprintf(stderr, "service %d: %s\n", number, s.err.msg);
    _exit(!ok);
}

// Returns how many failed.
static int serve_all(const struct fixture *f, const struct service *first)
{
    int status, failed = 0, services = is_on_sqlite(f) ? 1 : SERVICES;
    pid_t children[SERVICES];
    fflush(NULL);
    for (int i = 0; i < services; i++) {
        children[i] = fork();
        if (children[i] == 0)
            serve(f, i, first);
    }
    for (int i = 0; i < services; i++) {
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        failed += status != 0;
    }
    return failed;
}

static void it_stays_exact_while_services_change_it_in_every_way(void **state)
{
    struct fixture *f = *state;
    struct report report = {.arena = &f->arena};
    struct service first = {.none = parts_of(f, &report, trace_tables)};
    add_kernels(f, &report, run_table("kernels"));
    first.tables = parts_of(f, &report, run_tables);
    assert_int_equal(serve_all(f, &first), 0);
    close(first.none);
    close(first.tables);
    assert_true(db_raw_number(f->path, "SELECT count(*) FROM owner_bytes WHERE bytes > 0") > 0);
    assert_nothing_drifted(f->path);
}

// --- upgrades -----------------------------------------------------------------------------------

// As the last version without sums left it.
enum { WITHOUT_SUMS = 47 };
#define HASH_A "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"
#define HASH_B "'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'"
static const char *const before_sums =
    "INSERT INTO stored_run (id, project, name, series, created_ns, owner, made, received, done) "
    "VALUES ('r_1', 'p', 'a', 'a', 1, 'k_1', 7, 2, 2), ('r_2', 'p', 'b', 'b', 2, '', 9, 1, 1);"
    "INSERT INTO run_text (run_id, text) VALUES ('r_1', 'a\np\n\n\n\n\n'), "
    "('r_2', 'b\np\n\n\n\n\n');"
    "INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged) "
    "VALUES ('p', 'a', 1, 1, 1, 0, 0), ('p', 'b', 1, 2, 2, 0, 0);"
    "INSERT INTO blob (sha256, bytes, created_ns) VALUES (" HASH_A ", 100, 1), (" HASH_B ", 30, 1);"
    "INSERT INTO trace (id, run_id, rank, rank_from, sha256, filename, bytes, uploaded_ns, state) "
    "VALUES ('t_1', 'r_1', 0, 'field', " HASH_A ", 'x', 100, 1, 'done'), "
    "('t_2', 'r_1', 1, 'field', " HASH_A ", 'x', 100, 1, 'done'), "
    "('t_3', 'r_2', 0, 'field', " HASH_A ", 'x', 100, 1, 'done');"
    "INSERT INTO trace_owner (trace_id, who, bytes, made) "
    "VALUES ('t_1', 'k_1', 100, 20), ('t_2', 'k_2', 100, 3);"
    "INSERT INTO input (id, run_id, position, kind, format, filename, blob, bytes, state, owner, "
    "created_ns) VALUES ('i_1', 'r_1', 0, 'attachment', '', 'y', " HASH_B ", 30, 'done', 'k_1', 1),"
    " ('i_2', 'r_1', 0, 'archive', 'tar', 'z', NULL, 500, 'done', 'k_1', 1), "
    "('i_3', 'r_2', 0, 'attachment', '', 'y', " HASH_B ", 30, 'done', '', 1);"
    "INSERT INTO quota_day (who, day, bytes) VALUES ('k_1', 5, 11), ('k_1', 6, 12);";

static void make_without_sums(struct fixture *f)
{
    const struct schema *schema = is_on_sqlite(f) ? &schema_sqlite : &schema_postgres;
    const struct db_kind *kind = is_on_sqlite(f) ? &db_sqlite : &db_postgres;
    char folder[80];
    snprintf(folder, sizeof folder, "%s/old", f->folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    store_close(f->store);
    f->store = NULL;
    kind_place(kind, folder, f->path);
    struct db *db = db_raw_open(f->path);
    for (int i = schema->first; i <= WITHOUT_SUMS; i++)
        assert_true(sql_execute_all(db, schema->files[i - schema->first].sql, &f->err));
    if (!sql_execute_all(db, before_sums, &f->err) || !runs_index_texts(db, &f->err))
        fail_msg("%s", f->err.msg);
    assert_true(kind->write_version(db, WITHOUT_SUMS, &f->err));
    db_close(db, true);
}

static void assert_use(struct fixture *f, const char *who, struct quota_use expected)
{
    struct quota_use use;
    assert_ok(f, store_quota_use(f->store, str_of(who), 6, &use, &f->err));
    assert_int_equal(use.stored_bytes, expected.stored_bytes);
    assert_int_equal(use.day_bytes, expected.day_bytes);
}

static void it_is_taken_from_the_rows_of_an_older_version(void **state)
{
    struct fixture *f = *state;
    make_without_sums(f);
    reopen(f);
    assert_use(f, "k_1", (struct quota_use){.stored_bytes = 7 + 120 + 30, .day_bytes = 12});
    assert_use(f, "k_2", (struct quota_use){.stored_bytes = 103});
    assert_nothing_drifted(f->path);
    assert_ok(f, store_delete_run(f->store, STR("r_1"), STORE_ANY, &f->err));
    assert_use(f, "k_1", (struct quota_use){.day_bytes = 12});
    assert_use(f, "k_2", (struct quota_use){0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_taken_from_the_rows_of_an_older_version, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_stays_exact_while_services_change_it_in_every_way,
                                        set_up, tear_down),
    };
    return run_on_each_kind(tests);
}
