// SPDX-License-Identifier: Apache-2.0
// Uploads over a quota are refused before their body, even if several come at once.
#include "server/access/quota.h"
#include "server/base/services.h"
#include "server/store/store_access.h"
#include "server/store/store_resumable.h"

#include "tests/unit/store_fixture.h"

// One upload by someone.
struct sent {
    struct services services;
    struct arena arena;
    struct body body;
    struct request request;
    struct response response;
    struct err err;
};

static void begin(struct sent *sent, struct quota *quota, const char *who, uint64_t length)
{
    *sent = (struct sent){0};
    arena_init(&sent->arena, NULL);
    response_init(&sent->response);
    sent->services.quota = quota;
    sent->body = (struct body){.length = length, .limit = UINT64_MAX};
    sent->request = (struct request){
        .services = &sent->services,
        .arena = &sent->arena,
        .body = &sent->body,
        .who = {
            .kind = WHO_TOKEN, .name = str_of(who), .key = str_of(who), .limits = {-1, -1, -1}}};
}

static int admit(struct sent *sent)
{
    return quota_admit(&sent->request, &sent->response, sent->body.length, &sent->err)
               ? 200
               : sent->response.status;
}

static void leave(struct sent *sent, uint64_t received)
{
    sent->body.received = received;
    quota_leave(&sent->request);
}

static void end(struct sent *sent)
{
    response_free(&sent->response);
    arena_free(&sent->arena);
}

// Whether an upload of that length would be accepted; it leaves again, with nothing sent.
static int try_length(struct quota *quota, const char *who, uint64_t length)
{
    struct sent sent;
    begin(&sent, quota, who, length);
    int status = admit(&sent);
    if (status == 200)
        leave(&sent, 0);
    end(&sent);
    return status;
}

static struct quota *open_quota(struct fixture *f, int64_t day, int64_t stored, int64_t in_flight)
{
    struct quota_limits limits = {day, stored, in_flight};
    struct quota *quota = quota_new(f->store, &limits, &f->err);
    assert_ok(f, quota != NULL);
    return quota;
}

static void without_limits_nothing_is_refused(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 0, 0, 0);
    assert_int_equal(try_length(quota, "k_1", (uint64_t)1 << 60), 200);
    assert_int_equal(try_length(quota, "", UINT64_MAX - 1), 200);
    assert_int_equal(try_length(NULL, "k_1", 1), 200);
    quota_free(quota);
}

static void the_bytes_of_a_day_are_429_with_the_time_until_midnight(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 100, 0, 0);
    struct sent sent;
    begin(&sent, quota, "k_1", 60);
    assert_int_equal(admit(&sent), 200);
    leave(&sent, 60);
    end(&sent);
    assert_int_equal(try_length(quota, "k_1", 40), 200);
    assert_int_equal(try_length(quota, "k_2", 100), 200);
    begin(&sent, quota, "k_1", 41);
    assert_int_equal(admit(&sent), 429);
    assert_string_equal(sent.response.word, "quota-day");
    assert_string_equal(sent.response.headers[0].name.at, "Retry-After");
    int64_t wait_s = 0;
    assert_true(str_to_i64(sent.response.headers[0].value, &wait_s));
    assert_in_range(wait_s, 1, 86400);
    end(&sent);
    quota_free(quota);
}

static void what_was_sent_counts_and_not_what_was_announced(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 100, 0, 0);
    struct sent sent;
    begin(&sent, quota, "k_1", 90);
    assert_int_equal(admit(&sent), 200);
    assert_int_equal(try_length(quota, "k_1", 100), 200); // nothing has arrived yet
    sent.body.received = 10;
    assert_true(quota_grow(&sent.request, &sent.response, &sent.err));
    assert_int_equal(try_length(quota, "k_1", 90), 200); // while it is in progress
    assert_int_equal(try_length(quota, "k_1", 91), 429);
    leave(&sent, 10); // the connection broke
    end(&sent);
    assert_int_equal(try_length(quota, "k_1", 90), 200);
    assert_int_equal(try_length(quota, "k_1", 91), 429);
    quota_free(quota);
}

static int spend(struct quota *quota, const char *who, uint64_t bytes)
{
    struct sent sent;
    begin(&sent, quota, who, 0);
    int status =
        quota_spend(&sent.request, &sent.response, bytes, &sent.err) ? 200 : sent.response.status;
    end(&sent);
    return status;
}

static uint64_t day_bytes(struct fixture *f, const char *who)
{
    struct quota_use use;
    assert_ok(f, store_quota_use(f->store, str_of(who), store_today(), &use, &f->err));
    return (uint64_t)use.day_bytes;
}

static void what_is_no_upload_counts_towards_the_day(void **state)
{
    struct fixture *f = *state;
    const uint64_t mib = (uint64_t)1 << 20;
    struct quota *quota = open_quota(f, 4 * (int64_t)mib, 1, 0);
    assert_int_equal(spend(quota, "k_1", mib - 1), 200);
    assert_int_equal(day_bytes(f, "k_1"), 0); // little is remembered
    assert_int_equal(try_length(quota, "k_1", 3 * mib + 2), 429);
    assert_int_equal(spend(quota, "k_1", 1), 200);
    assert_int_equal(day_bytes(f, "k_1"), mib);
    assert_int_equal(spend(quota, "k_1", 3 * mib + 1), 429);
    assert_int_equal(spend(quota, "k_1", 3 * mib), 200);
    assert_int_equal(spend(quota, "k_1", 1), 429);
    assert_int_equal(spend(quota, "k_2", 7), 200);
    assert_int_equal(spend(quota, "", UINT64_MAX), 200);
    assert_int_equal(spend(NULL, "k_1", 1), 200);
    quota_free(quota);
    assert_int_equal(day_bytes(f, "k_1"), 4 * mib);
    assert_int_equal(day_bytes(f, "k_2"), 7); // until the service ends
}

static void uploads_at_a_time_are_counted_by_who_sends_them(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 0, 0, 2);
    struct sent first, second;
    begin(&first, quota, "k_1", 5);
    begin(&second, quota, "k_1", 5);
    assert_int_equal(admit(&first), 200);
    assert_int_equal(admit(&second), 200);
    assert_int_equal(try_length(quota, "k_1", 5), 429);
    assert_int_equal(try_length(quota, "k_2", 5), 200);
    leave(&first, 5);
    assert_int_equal(try_length(quota, "k_1", 5), 200);
    leave(&second, 5);
    end(&first);
    end(&second);
    quota_free(quota);
}

static void bytes_stored_are_507_until_a_run_goes(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 0, 150, 0);
    struct sent sent;
    begin(&sent, quota, "k_1", 100);
    assert_int_equal(admit(&sent), 200);
    sent.body.received = 100;
    assert_true(quota_grow(&sent.request, &sent.response, &sent.err));
    struct upload upload = add_by(f, "k_1", "r", 'a');
    assert_int_equal(try_length(quota, "k_1", 51), 507);
    quota_settle(&sent.request, 100);
    assert_int_equal(try_length(quota, "k_1", 50), 200); // also before it leaves
    leave(&sent, 100);
    end(&sent);
    assert_int_equal(try_length(quota, "k_1", 50), 200);
    assert_int_equal(try_length(quota, "k_1", 51), 507);
    assert_ok(f, store_delete_run(f->store, upload.run_id, STORE_ANY, &f->err));
    assert_int_equal(try_length(quota, "k_1", 150), 200);
    quota_free(quota);
}

static bool pull(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)ctx, (void)err;
    memset(bytes, 'x', cap);
    *got = cap;
    return true;
}

// Reads some bytes of the body; returns the answer's status.
static int receive(struct sent *sent, size_t count)
{
    char bytes[100];
    size_t got;
    sent->body.pull = pull;
    assert_true(count <= sizeof bytes);
    assert_true(body_read(&sent->body, bytes, count, &got, &sent->err));
    return quota_grow(&sent->request, &sent->response, &sent->err) ? 200 : sent->response.status;
}

static void bodies_of_unknown_length_share_what_is_left_and_no_more(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 100, 0, 0);
    struct sent first, second;
    begin(&first, quota, "k_1", BODY_UNKNOWN);
    begin(&second, quota, "k_1", BODY_UNKNOWN);
    assert_int_equal(admit(&first), 200);
    assert_int_equal(admit(&second), 200);
    assert_int_equal(receive(&first, 60), 200);
    assert_int_equal(receive(&second, 40), 200);
    assert_int_equal(try_length(quota, "k_1", 1), 429);
    assert_int_equal(receive(&second, 1), 429);
    assert_string_equal(second.response.word, "quota-day");
    leave(&second, second.body.received);
    assert_int_equal(receive(&first, 1), 429); // refused bytes count, too
    leave(&first, first.body.received);
    end(&first);
    end(&second);
    assert_int_equal(try_length(quota, "k_1", BODY_UNKNOWN), 429);
    quota_free(quota);
}

static void a_body_of_unknown_length_ends_where_no_more_may_be_stored(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 0, 100, 0);
    struct sent sent;
    begin(&sent, quota, "k_1", BODY_UNKNOWN);
    assert_int_equal(admit(&sent), 200);
    assert_int_equal(receive(&sent, 100), 200);
    assert_int_equal(receive(&sent, 1), 507);
    leave(&sent, sent.body.received);
    end(&sent);
    assert_int_equal(try_length(quota, "k_1", 100), 200);
    quota_free(quota);
}

static struct resumable begin_in_pieces(struct fixture *f, const char *who, uint64_t bytes)
{
    struct resumable added;
    struct resumable_request request = {
        .owner = str_of(who), .bytes = bytes, .expires_ns = INT64_MAX};
    assert_ok(f, store_add_resumable(f->store, &request, &f->arena, &added, &f->err));
    return added;
}

static void uploads_in_pieces_count_as_stored_as_far_as_they_came(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 0, 100, 0);
    struct resumable resumable = begin_in_pieces(f, "k_1", 80);
    assert_int_equal(try_length(quota, "k_1", 100), 200); // announced does not mean stored
    assert_ok(f, store_extend_resumable(f->store, &resumable, 30, INT64_MAX, &f->err));
    assert_int_equal(try_length(quota, "k_1", 70), 200);
    assert_int_equal(try_length(quota, "k_1", 71), 507);
    assert_int_equal(try_length(quota, "k_2", 100), 200);
    quota_free(quota);
}

static void what_is_only_compared_is_not_stored(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 200, 100, 0);
    struct sent sent;
    add_by(f, "k_1", "r", 'a');
    assert_int_equal(try_length(quota, "k_1", 1), 507);
    begin(&sent, quota, "k_1", 100);
    assert_true(quota_admit_repeat(&sent.request, &sent.response, &sent.err));
    sent.body.received = 100;
    assert_true(quota_grow(&sent.request, &sent.response, &sent.err));
    leave(&sent, 100);
    end(&sent);
    quota_free(quota);
}

static void a_token_may_have_limits_of_its_own(void **state)
{
    struct fixture *f = *state;
    struct quota *quota = open_quota(f, 100, 0, 0);
    struct sent sent;
    begin(&sent, quota, "k_1", 1000);
    sent.request.who.limits.day_bytes = 0; // none
    assert_int_equal(admit(&sent), 200);
    leave(&sent, 0);
    end(&sent);
    begin(&sent, quota, "k_1", 20);
    sent.request.who.limits.day_bytes = 10;
    assert_int_equal(admit(&sent), 429);
    end(&sent);
    quota_free(quota);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_limits_nothing_is_refused),
        TEST(the_bytes_of_a_day_are_429_with_the_time_until_midnight),
        TEST(what_was_sent_counts_and_not_what_was_announced),
        TEST(what_is_no_upload_counts_towards_the_day),
        TEST(uploads_at_a_time_are_counted_by_who_sends_them),
        TEST(bytes_stored_are_507_until_a_run_goes),
        TEST(bodies_of_unknown_length_share_what_is_left_and_no_more),
        TEST(a_body_of_unknown_length_ends_where_no_more_may_be_stored),
        TEST(uploads_in_pieces_count_as_stored_as_far_as_they_came),
        TEST(what_is_only_compared_is_not_stored),
        TEST(a_token_may_have_limits_of_its_own),
    };
    return run_on_each_kind(tests);
}
