// SPDX-License-Identifier: Apache-2.0
// Tokens, sessions, quotas and the audit log as they are stored.
#include "server/base/token.h"
#include "server/store/server_tables.h"
#include "server/store/store_access.h"
#include "server/store/store_resumable.h"

#include "ingest/base/clock.h"
#include "tests/unit/store_fixture.h"

static const struct quota_limits as_service = {-1, -1, -1};

// Creates and stores a token; sets its hash.
static struct str keep(struct fixture *f, const char *name, int64_t expires_ns,
                       char hash[TOKEN_HASH_SIZE])
{
    char secret[TOKEN_SIZE];
    struct str id;
    struct token_request request = {.name = str_of(name),
                                    .scopes = SCOPE_READ | SCOPE_UPLOAD,
                                    .expires_ns = expires_ns,
                                    .limits = as_service};
    assert_ok(f, token_make(TOKEN_PREFIX, secret, &f->err));
    assert_ok(f, token_hash(str_of(secret), hash, &f->err));
    assert_ok(f, store_add_token(f->store, &request, hash, &f->arena, &id, &f->err));
    return id;
}

static bool can_run(struct fixture *f, const char *sql)
{
    struct db *db = db_raw_open(f->path);
    bool ok = sql_execute(db, sql, &f->err);
    db_close(db, true);
    return ok;
}

static bool is_found(struct fixture *f, const char *hash, struct token *token)
{
    bool found = false;
    assert_ok(f, store_find_token(f->store, hash, &f->arena, token, &found, &f->err));
    return found;
}

static void a_token_is_found_by_its_hash_alone(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE], other[TOKEN_HASH_SIZE];
    struct token token;
    struct str id = keep(f, "ci", 0, hash);
    keep(f, "other", 0, other);
    assert_true(is_found(f, hash, &token));
    assert_true(str_equal(token.id, id));
    assert_text(token.name, "ci");
    assert_int_equal(token.scopes, SCOPE_READ | SCOPE_UPLOAD);
    assert_int_equal(token.limits.in_flight, -1);
    hash[63] = hash[63] == '0' ? '1' : '0'; // same prefix, by which rows are found
    assert_false(is_found(f, hash, &token));
}

static void names_are_words(void **state)
{
    struct fixture *f = *state;
    struct str id;
    char hash[TOKEN_HASH_SIZE] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct token_request request = {.name = STR("a b"), .scopes = SCOPE_READ};
    assert_false(store_add_token(f->store, &request, hash, &f->arena, &id, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void use_is_noted_once_a_minute(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE];
    struct token token, again;
    keep(f, "ci", 0, hash);
    assert_true(is_found(f, hash, &token));
    assert_int_equal(token.used_ns, 0);
    assert_ok(f, store_touch_token(f->store, &token, &f->err));
    assert_true(is_found(f, hash, &token));
    assert_true(token.used_ns > clock_wall_ns() - (int64_t)60 * 1000000000);
    assert_ok(f, store_touch_token(f->store, &token, &f->err));
    assert_true(is_found(f, hash, &again));
    assert_true(again.used_ns == token.used_ns);
}

static void revoking_ends_a_token_by_id_or_name_and_its_sessions(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE], session[TOKEN_HASH_SIZE], second[TOKEN_HASH_SIZE];
    struct token token;
    struct str id = keep(f, "ci", 0, hash), ended;
    bool found = false;
    assert_ok(f, token_hash(STR("secret"), session, &f->err));
    assert_ok(f, store_add_session(f->store, session, id, &f->err));
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_true(found && str_equal(token.id, id));
    keep(f, "ci", 0, second);
    assert_false(store_revoke_token(f->store, STR("ci"), &f->arena, &ended, &f->err));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_ok(f, store_revoke_token(f->store, id, &f->arena, &ended, &f->err));
    assert_true(is_found(f, hash, &token));
    assert_true(token.revoked_ns > 0);
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_false(found);
    assert_ok(f, store_revoke_token(f->store, STR("ci"), &f->arena, &ended, &f->err));
    assert_false(str_equal(ended, id));
    assert_false(store_revoke_token(f->store, STR("ci"), &f->arena, &ended, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void a_name_means_the_good_token_and_an_id_only_that_token(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE], name[32];
    struct str ended;
    keep(f, "ci", clock_wall_ns() - 1, hash);
    struct str good = keep(f, "ci", 0, hash);
    snprintf(name, sizeof(name), "%.*s", (int)good.len, good.at);
    struct str same = keep(f, name, 0, hash); // named like the other's id
    assert_ok(f, store_revoke_token(f->store, good, &f->arena, &ended, &f->err));
    assert_true(str_equal(ended, good));
    good = keep(f, "ci", 0, hash);
    assert_ok(f, store_revoke_token(f->store, STR("ci"), &f->arena, &ended, &f->err));
    assert_true(str_equal(ended, good));
    assert_ok(f, store_revoke_token(f->store, same, &f->arena, &ended, &f->err));
}

static void good_tokens_are_counted(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE];
    struct str id;
    int64_t count = -1;
    assert_ok(f, store_count_tokens(f->store, &count, &f->err));
    assert_int_equal(count, 0);
    keep(f, "expired", clock_wall_ns() - 1, hash);
    keep(f, "good", clock_wall_ns() + (int64_t)60 * 1000000000, hash);
    keep(f, "ever", 0, hash);
    id = keep(f, "revoked", 0, hash);
    assert_ok(f, store_revoke_token(f->store, id, &f->arena, &id, &f->err));
    assert_ok(f, store_count_tokens(f->store, &count, &f->err));
    assert_int_equal(count, 2);
}

static const char *cell(const struct table *table, size_t row, const char *column)
{
    for (unsigned i = 0; i < table->desc->column_count; i++)
        if (strcmp(table->desc->columns[i].name, column) == 0)
            return table->cells[row * table->desc->column_count + i].s.at;
    return NULL;
}

static void the_list_tells_all_but_secrets(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE];
    struct table table;
    keep(f, "old", clock_wall_ns() - 1, hash);
    assert_ok(f, store_list_tokens(f->store, STR(""), &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 1);
    assert_string_equal(cell(&table, 0, "name"), "old");
    assert_string_equal(cell(&table, 0, "scopes"), "read,upload");
    assert_string_equal(cell(&table, 0, "state"), "expired");
    for (unsigned i = 0; i < table.desc->column_count; i++) {
        struct cell one = table.cells[i];
        if (table.desc->columns[i].type == COLUMN_TEXT && !one.null)
            assert_true(str_find(one.s, (struct str){hash, 8}) == SIZE_MAX);
    }
}

static void a_session_ends_after_twelve_idle_hours(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE], session[TOKEN_HASH_SIZE];
    struct token token;
    bool found = false;
    struct str id = keep(f, "ci", 0, hash);
    assert_ok(f, token_hash(STR("secret"), session, &f->err));
    assert_ok(f, store_add_session(f->store, session, id, &f->err));
    db_raw_run(f->path,
               "UPDATE session SET used_ns = used_ns - 1000000000 * CAST(39600 AS BIGINT)");
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_true(found); // and used now
    db_raw_run(f->path,
               "UPDATE session SET used_ns = used_ns - 1000000000 * CAST(39600 AS BIGINT)");
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_true(found);
    db_raw_run(f->path,
               "UPDATE session SET used_ns = used_ns - 1000000000 * CAST(46800 AS BIGINT)");
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_false(found);
}

static void a_token_has_only_so_many_sessions(void **state)
{
    struct fixture *f = *state;
    char hash[TOKEN_HASH_SIZE], first[TOKEN_HASH_SIZE], session[TOKEN_HASH_SIZE], text[16];
    struct token token;
    bool found = false;
    struct str id = keep(f, "ci", 0, hash);
    for (int i = 0; i <= STORE_SESSIONS_PER_TOKEN; i++) {
        snprintf(text, sizeof text, "secret %d", i);
        assert_ok(f, token_hash(str_of(text), i ? session : first, &f->err));
        assert_ok(f, store_add_session(f->store, i ? session : first, id, &f->err));
    }
    assert_ok(f, store_find_session(f->store, first, &f->arena, &token, &found, &f->err));
    assert_false(found);
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_true(found);
    assert_ok(f, store_end_session(f->store, session, &f->err));
    assert_ok(f, store_find_session(f->store, session, &f->arena, &token, &found, &f->err));
    assert_false(found);
}

static void quotas_count_days_and_what_is_stored(void **state)
{
    struct fixture *f = *state;
    struct quota_use use;
    struct str who = STR("k_1");
    struct upload upload = add_by(f, "k_1", "r", 'a');
    assert_ok(f, store_quota_charge(f->store, who, 7, 30, &f->err));
    assert_ok(f, store_quota_charge(f->store, who, 7, 12, &f->err));
    assert_ok(f, store_quota_use(f->store, who, 7, &use, &f->err));
    assert_int_equal(use.day_bytes, 42);
    assert_int_equal(use.stored_bytes, 100);
    assert_ok(f, store_quota_use(f->store, who, 8, &use, &f->err));
    assert_int_equal(use.day_bytes, 0);
    add_by(f, "k_2", "r", 'a'); // the same bytes: nothing new is stored
    assert_ok(f, store_quota_use(f->store, STR("k_2"), 8, &use, &f->err));
    assert_int_equal(use.stored_bytes, 0);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    assert_ok(f, store_quota_use(f->store, who, 7, &use, &f->err));
    assert_int_equal(use.stored_bytes, 0);
    assert_int_equal(use.day_bytes, 42);
}

enum { KEPT = 1000 };

static void analyze_owned(struct fixture *f)
{
    struct report report = {.arena = &f->arena};
    struct job job = claim(f);
    add_kernels(f, &report, table_named(trace_tables, "kernels"));
    struct trace_result result = {.rank = 0, .world_size = -1, .kept_bytes = KEPT};
    assert_ok(f, end_trace(f, &job, &report, result));
}

static void what_analyses_make_of_uploads_counts_as_stored(void **state)
{
    struct fixture *f = *state;
    struct job job;
    struct quota_use before, use;
    struct upload upload = add_by(f, "k_1", "r", 'a');
    assert_ok(f, store_quota_use(f->store, STR("k_1"), 0, &before, &f->err));
    analyze_owned(f);
    assert_ok(f, store_quota_use(f->store, STR("k_1"), 0, &use, &f->err));
    int64_t made = use.stored_bytes - before.stored_bytes - KEPT;
    assert_true(made > 0 && made < 1000); // the tables, compressed
    job = claim(f);
    finish_run(f, &job);
    before = use;
    assert_ok(f, store_quota_use(f->store, STR("k_1"), 0, &use, &f->err));
    made = use.stored_bytes - before.stored_bytes;
    assert_true(made > 0 && made < 2000);
    before = use;
    assert_ok(f, store_reanalyze_run(f->store, upload.run_id, &f->err));
    analyze_owned(f); // in place of what there was
    job = claim(f);
    finish_run(f, &job);
    assert_ok(f, store_quota_use(f->store, STR("k_1"), 0, &use, &f->err));
    assert_int_equal(use.stored_bytes, before.stored_bytes);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    assert_ok(f, store_quota_use(f->store, STR("k_1"), 0, &use, &f->err));
    assert_int_equal(use.stored_bytes, 0);
}

// A crash right after an upload must not refund its bytes.
static void an_upload_counts_in_the_moment_in_which_it_is_there(void **state)
{
    struct fixture *f = *state;
    struct quota_use use;
    struct resumable piece;
    struct resumable_request request = {.owner = STR("k_1"), .bytes = 90, .expires_ns = INT64_MAX};
    add_by(f, "k_1", "r", 'a');
    assert_ok(f, store_quota_use(f->store, STR("k_1"), store_today(), &use, &f->err));
    assert_int_equal(use.day_bytes, 100);
    assert_int_equal(use.stored_bytes, 100);
    assert_ok(f, store_add_resumable(f->store, &request, &f->arena, &piece, &f->err));
    assert_ok(f, store_extend_resumable(f->store, &piece, 60, INT64_MAX, &f->err));
    assert_false(store_extend_resumable(f->store, &piece, 60, INT64_MAX, &f->err));
    assert_int_equal(f->err.code, ERR_BUSY); // another service has been here
    piece.flushed = 60;
    assert_ok(f, store_extend_resumable(f->store, &piece, 60, INT64_MAX, &f->err));
    assert_ok(f, store_extend_resumable(f->store, &piece, 90, INT64_MAX, &f->err));
    assert_ok(f, store_quota_use(f->store, STR("k_1"), store_today(), &use, &f->err));
    assert_int_equal(use.day_bytes, 190);
}

#define DAY_NS (INT64_C(86400) * 1000000000)

static void add_old_entry(struct fixture *f, const char *who, int status, int64_t days)
{
    struct audit_row row = {.at_ns = clock_wall_ns() - days * DAY_NS,
                            .who = str_of(who),
                            .peer = STR("127.0.0.1"),
                            .action = STR("DELETE /x"),
                            .object = STR("run r_1"),
                            .request_id = STR("id"),
                            .status = status};
    assert_ok(f, store_add_audit(f->store, &row, NULL, &f->err));
}

static void add_entry(struct fixture *f, const char *who, int status)
{
    add_old_entry(f, who, status, 0);
}

static void entries_of_the_audit_log_go_for_their_age_alone(void **state)
{
    struct fixture *f = *state;
    struct table table;
    struct audit_query all = {.before = INT64_MAX, .limit = 10};
    int64_t now = clock_wall_ns();
    uint64_t pruned;
    add_old_entry(f, "old", 204, 500);
    add_old_entry(f, "older", 204, 600);
    add_old_entry(f, "month", 204, 29);
    assert_ok(f, store_prune_audit(f->store, now - 400 * DAY_NS, &pruned, &f->err));
    assert_int_equal(pruned, 2);
    assert_ok(f, store_prune_audit(f->store, now - 400 * DAY_NS, &pruned, &f->err));
    assert_int_equal(pruned, 0);
    assert_false(store_prune_audit(f->store, now, &pruned, &f->err));
    assert_ok(f, store_list_audit(f->store, &all, &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 1);
}

static void the_audit_log_only_grows(void **state)
{
    struct fixture *f = *state;
    struct table table;
    struct audit_query all = {.before = INT64_MAX, .limit = 10};
    add_entry(f, "a", 204);
    add_entry(f, "b", 403);
    add_entry(f, "a", 200);
    assert_false(can_run(f, "DELETE FROM audit"));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_false(can_run(f, "UPDATE audit SET who = 'c'"));
    assert_int_equal(f->err.code, ERR_CONFLICT);
    assert_ok(f, store_list_audit(f->store, &all, &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 3);
    assert_string_equal(cell(&table, 1, "who"), "b"); // newest first
    struct audit_query older = {.who = STR("a"), .before = 3, .limit = 10};
    assert_ok(f, store_list_audit(f->store, &older, &f->arena, &table, &f->err));
    assert_int_equal(table.row_count, 1);
}

static int64_t wait_of(struct fixture *f, int64_t address)
{
    const struct store_login_limit limit = {3, 60000000000};
    int64_t wait_ns = -1;
    assert_ok(f, store_login_wait(f->store, address, &limit, &wait_ns, &f->err));
    return wait_ns;
}

static void failures_of_all_services_make_an_address_wait(void **state)
{
    struct fixture *f = *state;
    const struct store_login_limit limit = {3, 60000000000};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(wait_of(f, -7), 0);
        assert_ok(f, store_note_login_failure(f->store, -7, &limit, &f->err));
    }
    assert_in_range(wait_of(f, -7), 1000000000, 60000000000);
    assert_int_equal(wait_of(f, 8), 0);
    db_raw_run(f->path, "UPDATE login_failure SET failed_ns = failed_ns - 60000000000");
    assert_int_equal(wait_of(f, -7), 0);
    assert_ok(f, store_note_login_failure(f->store, 8, &limit, &f->err));
    assert_int_equal(db_raw_number(f->path, "SELECT count(*) FROM login_failure"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_token_is_found_by_its_hash_alone),
        TEST(names_are_words),
        TEST(failures_of_all_services_make_an_address_wait),
        TEST(use_is_noted_once_a_minute),
        TEST(revoking_ends_a_token_by_id_or_name_and_its_sessions),
        TEST(a_name_means_the_good_token_and_an_id_only_that_token),
        TEST(good_tokens_are_counted),
        TEST(the_list_tells_all_but_secrets),
        TEST(a_session_ends_after_twelve_idle_hours),
        TEST(a_token_has_only_so_many_sessions),
        TEST(quotas_count_days_and_what_is_stored),
        TEST(what_analyses_make_of_uploads_counts_as_stored),
        TEST(an_upload_counts_in_the_moment_in_which_it_is_there),
        TEST(the_audit_log_only_grows),
        TEST(entries_of_the_audit_log_go_for_their_age_alone),
    };
    return run_on_each_kind(tests);
}
