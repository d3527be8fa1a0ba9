// SPDX-License-Identifier: Apache-2.0
// What a rank costs a database that is shared: round trips to it, and statements. Others wait
// meanwhile. One statement of each transaction goes with its commit, without a round trip: the mark
// that tells whether it was committed, should the answer be lost.
#include "tests/unit/postgres_relay.h"
#include "tests/unit/store_fixture.h"

// Before these everything is planned once. One more is stored, as the last one makes a join due,
// and so does the eighth.
enum { FIRST = 2, RANKS = 7 };

struct cost {
    int trips, statements;
};

static struct cost cost_so_far(const struct postgres_relay *relay)
{
    return (struct cost){relay_trips(relay), relay_statements(relay)};
}

static void assert_cost(const struct postgres_relay *relay, struct cost since, struct cost each)
{
    assert_int_equal(relay_trips(relay) - since.trips, each.trips * (RANKS - FIRST));
    assert_int_equal(relay_statements(relay) - since.statements, each.statements * (RANKS - FIRST));
}

static void store_rank(struct fixture *f, int64_t rank)
{
    char sha256[STORE_SHA256_SIZE];
    struct upload upload;
    struct trace_part part = part_of(sha256, (char)('a' + rank), rank, "x.json");
    struct upload_request request = {
        .run = {.name = STR("a"), .owner = STR("k_1"), .world_size = 64},
        .parts = &part,
        .count = 1,
        .owner = STR("k_1"),
        .sent_bytes = 100};
    assert_ok(f, store_add_upload(f->store, &request, &f->arena, &upload, &f->err));
}

static void end_rank(struct fixture *f, const struct job *job)
{
    struct report report = {.arena = &f->arena};
    struct trace_result result = {.rank = -1, .world_size = 64, .events = 1};
    assert_ok(f, end_trace(f, job, &report, result));
}

static void each_rank_is_stored_claimed_and_ended(struct fixture *f,
                                                  const struct postgres_relay *relay)
{
    struct job jobs[RANKS];
    struct cost since = {0};
    store_rank(f, RANKS);
    for (int i = 0; i < RANKS; i++) {
        since = i == FIRST ? cost_so_far(relay) : since;
        store_rank(f, i);
    }
    assert_cost(relay, since, (struct cost){5, 18});
    for (int i = 0; i < RANKS; i++) {
        since = i == FIRST ? cost_so_far(relay) : since;
        jobs[i] = claim(f);
    }
    assert_cost(relay, since, (struct cost){3, 8});
    for (int i = 0; i < RANKS; i++) {
        since = i == FIRST ? cost_so_far(relay) : since;
        end_rank(f, &jobs[i]);
    }
    assert_cost(relay, since, (struct cost){3, 13});
}

static void a_rank_takes_eleven_ways_and_39_statements(void **state)
{
    struct fixture *f = *state;
    struct postgres_relay relay;
    char place[KIND_PLACE_SIZE];
    const char *host = strstr(f->path, "?host=");
    if (is_on_sqlite(f))
        return; // no way to go
    assert_true(relay_start(&relay, host + strlen("?host="), f->folder));
    snprintf(place, sizeof place, "%.*s?host=%s", (int)(host - f->path), f->path, f->folder);
    store_close(f->store);
    f->store = store_open_as(place, "n_a", &f->err);
    assert_ok(f, f->store != NULL);
    each_rank_is_stored_claimed_and_ended(f, &relay);
    store_close(f->store);
    relay_stop(&relay);
    f->store = store_open(f->path, &f->err);
    assert_ok(f, f->store != NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_rank_takes_eleven_ways_and_39_statements, set_up,
                                        tear_down),
    };
    return run_on_each_kind(tests);
}
