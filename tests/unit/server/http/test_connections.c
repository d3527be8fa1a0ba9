// SPDX-License-Identifier: Apache-2.0
// Silent connections are closed first, from the address with the most of them; no address and no
// token has more requests in progress than allowed.
#include "server/http/connections.h"

#include <arpa/inet.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 16, ROOM = 14 }; // of 16 threads, one and a sixteenth of them are kept free

// Connections over loopback, in order of arrival.
struct crowd {
    struct connections *connections;
    int listener, count;
    unsigned port;
    int client[2 * MOST], server[2 * MOST], client_port[2 * MOST];
    const char *address[2 * MOST];
};

static unsigned port_of(int fd)
{
    struct sockaddr_in own = {0};
    socklen_t size = sizeof own;
    assert_int_equal(getsockname(fd, (struct sockaddr *)&own, &size), 0);
    return ntohs(own.sin_port);
}

static struct sockaddr_in at(const char *address, unsigned port)
{
    struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, address, &made.sin_addr);
    return made;
}

static int set_up(void **state)
{
    struct crowd *crowd = calloc(1, sizeof *crowd);
    // With this key no two addresses in the tests collide.
    struct connections_config config = {.threads = MOST, .per_client = 4, .key = HASH_KEY_FIXED};
    struct sockaddr_in own = at("127.0.0.1", 0);
    struct err err;
    crowd->listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(crowd->listener, (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(listen(crowd->listener, 2 * MOST), 0);
    crowd->port = port_of(crowd->listener);
    crowd->connections = connections_new(&config, &err);
    assert_non_null(crowd->connections);
    connections_listen(crowd->connections, crowd->port);
    *state = crowd;
    return 0;
}

static int tear_down(void **state)
{
    struct crowd *crowd = *state;
    for (int i = 0; i < crowd->count; i++) {
        close(crowd->client[i]);
        close(crowd->server[i]);
    }
    close(crowd->listener);
    connections_free(crowd->connections);
    free(crowd);
    return 0;
}

static struct connection *find(struct crowd *crowd, int i)
{
    return connections_find(crowd->connections, crowd->address[i], crowd->client_port[i]);
}

// Opens one more connection and reports it, as a thread would.
static int come(struct crowd *crowd, const char *address)
{
    int i = crowd->count++;
    struct sockaddr_in own = at(address, 0), to = at("127.0.0.1", crowd->port);
    crowd->client[i] = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(crowd->client[i], (struct sockaddr *)&own, sizeof own), 0);
    assert_int_equal(connect(crowd->client[i], (struct sockaddr *)&to, sizeof to), 0);
    crowd->server[i] = accept(crowd->listener, NULL, NULL);
    assert_true(crowd->server[i] >= 0);
    crowd->client_port[i] = (int)port_of(crowd->client[i]);
    crowd->address[i] = address;
    connections_arrive(crowd->connections);
    assert_int_equal(connections_socket(crowd->connections, find(crowd, i)), crowd->server[i]);
    return i;
}

enum { AT_ONCE = 0, PATIENCE_MS = 5000 }; // even loopback may deliver after the call has returned

static bool has_something(int fd, int patience_ms)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};
    return poll(&look, 1, patience_ms) == 1;
}

static bool ends_within(const struct crowd *crowd, int i, int patience_ms)
{
    char byte;
    return has_something(crowd->client[i], patience_ms) && recv(crowd->client[i], &byte, 1, 0) == 0;
}

static bool is_open(const struct crowd *crowd, int i)
{
    return !ends_within(crowd, i, AT_ONCE);
}

static bool is_closed(const struct crowd *crowd, int i)
{
    return ends_within(crowd, i, PATIENCE_MS);
}

static void the_longest_silent_goes_when_threads_run_short(void **state)
{
    struct crowd *crowd = *state;
    char address[MOST][20];
    for (int i = 0; i < ROOM; i++) {
        snprintf(address[i], sizeof address[i], "127.0.1.%d", i + 1);
        come(crowd, address[i]);
    }
    assert_true(is_open(crowd, 0));
    come(crowd, "127.0.2.1");
    assert_true(is_closed(crowd, 0));
    come(crowd, "127.0.2.2");
    assert_true(is_closed(crowd, 1));
    for (int i = 2; i < crowd->count; i++)
        assert_true(is_open(crowd, i));
}

static void who_speaks_or_is_served_stays(void **state)
{
    struct crowd *crowd = *state;
    char address[MOST][20];
    for (int i = 0; i < ROOM; i++) {
        snprintf(address[i], sizeof address[i], "127.0.1.%d", i + 1);
        come(crowd, address[i]);
    }
    connections_begin(crowd->connections, find(crowd, 0));
    assert_int_equal(send(crowd->client[1], "G", 1, 0), 1);
    assert_true(has_something(crowd->server[1], PATIENCE_MS));
    come(crowd, "127.0.2.1");
    assert_true(is_open(crowd, 0));
    assert_true(is_open(crowd, 1));
    assert_true(is_closed(crowd, 2));
    connections_end(crowd->connections, find(crowd, 0)); // now the youngest of those waiting
    come(crowd, "127.0.2.2");
    assert_true(is_open(crowd, 0));
    assert_true(is_closed(crowd, 3));
}

static void the_address_with_most_connections_loses_them_first(void **state)
{
    struct crowd *crowd = *state;
    char address[MOST][20];
    for (int i = 0; i < ROOM - 3; i++) {
        snprintf(address[i], sizeof address[i], "127.0.1.%d", i + 1);
        come(crowd, address[i]);
    }
    int first = come(crowd, "127.0.9.9");
    come(crowd, "127.0.9.9");
    come(crowd, "127.0.9.9");
    come(crowd, "127.0.2.1");
    assert_true(is_closed(crowd, first));
    assert_true(is_open(crowd, 0));
}

static void an_address_with_too_many_loses_the_longest_silent(void **state)
{
    struct crowd *crowd = *state;
    int other = come(crowd, "127.0.1.1"), first = come(crowd, "127.0.9.9");
    for (int i = 0; i < 3; i++)
        come(crowd, "127.0.9.9");
    assert_true(is_open(crowd, first));
    come(crowd, "127.0.9.9");
    assert_true(is_closed(crowd, first));
    assert_true(is_open(crowd, other));
}

static void no_address_and_no_token_has_more_requests_than_it_may(void **state)
{
    struct crowd *crowd = *state;
    struct connection *all[6];
    for (int i = 0; i < 6; i++) {
        all[i] = find(crowd, come(crowd, i < 3 ? "127.0.1.1" : "127.0.1.2"));
        connections_begin(crowd->connections, all[i]);
    }
    for (int i = 0; i < 4; i++)
        assert_true(connections_admit(crowd->connections, all[i], STR("10.0.0.1")));
    assert_false(connections_admit(crowd->connections, all[4], STR("10.0.0.1")));
    assert_true(connections_admit(crowd->connections, all[4], STR("10.0.0.2")));
    for (int i = 0; i < 4; i++)
        assert_true(connections_admit_token(crowd->connections, all[i], STR("k_1")));
    assert_false(connections_admit_token(crowd->connections, all[4], STR("k_1")));
    assert_true(connections_admit_token(crowd->connections, all[5], STR("")));
    connections_end(crowd->connections, all[0]);
    connections_end(crowd->connections, all[4]);
    assert_true(connections_admit(crowd->connections, all[5], STR("10.0.0.1")));
    assert_true(connections_admit_token(crowd->connections, all[5], STR("k_1")));
}

static void what_left_is_forgotten(void **state)
{
    struct crowd *crowd = *state;
    uint64_t open = 0, closed = 0;
    int one = come(crowd, "127.0.1.1");
    connections_leave(crowd->connections, find(crowd, one));
    assert_null(find(crowd, one));
    come(crowd, "127.0.1.2");
    assert_false(connections_close_silent(crowd->connections, 0));
    assert_true(is_closed(crowd, 1));
    connections_count(crowd->connections, &open, &closed);
    assert_int_equal(closed, 1); // though the first one's socket is still open
    assert_int_equal(open, 1);
}

static void what_is_on_its_way_is_waited_for_when_the_service_stops(void **state)
{
    struct crowd *crowd = *state;
    const int64_t patience_ns = INT64_C(60000000000);
    int fresh = come(crowd, "127.0.1.1"), idle = come(crowd, "127.0.1.2");
    int sent = come(crowd, "127.0.1.3");
    for (int i = idle; i <= sent; i++) {
        connections_begin(crowd->connections, find(crowd, i));
        connections_end(crowd->connections, find(crowd, i));
    }
    assert_int_equal(write(crowd->client[sent], "GET", 3), 3);
    assert_true(connections_close_silent(crowd->connections, patience_ns));
    assert_true(is_closed(crowd, idle));
    assert_false(is_closed(crowd, fresh));
    assert_false(is_closed(crowd, sent));
    assert_false(connections_close_silent(crowd->connections, 0));
    assert_true(is_closed(crowd, fresh));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_longest_silent_goes_when_threads_run_short),
        TEST(who_speaks_or_is_served_stays),
        TEST(the_address_with_most_connections_loses_them_first),
        TEST(an_address_with_too_many_loses_the_longest_silent),
        TEST(no_address_and_no_token_has_more_requests_than_it_may),
        TEST(what_left_is_forgotten),
        TEST(what_is_on_its_way_is_waited_for_when_the_service_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
