// SPDX-License-Identifier: Apache-2.0
// A client that trickles, or does not take its answer, is cut off; one that sends or waits for us
// is not.
#include "server/http/pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// labels: threads

// A connected pair of TCP sockets over loopback.
struct pair {
    int listener, client, server;
    int client_port, server_port;
};

static int port_of(int fd)
{
    struct sockaddr_in6 address = {0}; // the port is in the same place in both families
    socklen_t size = sizeof(address);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    return ntohs(address.sin6_port);
}

// False if the loopback address of that family cannot be bound here.
static bool open_pair_of(struct pair *pair, const struct sockaddr *loopback, socklen_t size)
{
    struct sockaddr_storage address = {0};
    memcpy(&address, loopback, size);
    pair->listener = socket(loopback->sa_family, SOCK_STREAM, 0);
    if (pair->listener < 0 || bind(pair->listener, (struct sockaddr *)&address, size))
        return close(pair->listener), false;
    assert_int_equal(listen(pair->listener, 1), 0);
    assert_int_equal(getsockname(pair->listener, (struct sockaddr *)&address, &size), 0);
    pair->client = socket(loopback->sa_family, SOCK_STREAM, 0);
    assert_int_equal(connect(pair->client, (struct sockaddr *)&address, size), 0);
    pair->server = accept(pair->listener, NULL, NULL);
    assert_true(pair->server >= 0);
    pair->client_port = port_of(pair->client);
    pair->server_port = port_of(pair->server);
    return true;
}

static void open_pair(struct pair *pair)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(open_pair_of(pair, (struct sockaddr *)&address, sizeof(address)));
}

static bool open_pair_6(struct pair *pair)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return open_pair_of(pair, (struct sockaddr *)&address, sizeof(address));
}

static void close_pair(struct pair *pair)
{
    close(pair->client);
    close(pair->server);
    close(pair->listener);
}

static const struct pace_config quick = {.slots = 2, .window_ms = 60, .window_bytes = 1000};

static void a_silent_client_is_cut_and_can_still_be_answered(void **state)
{
    (void)state;
    struct pair pair;
    struct err err = {0};
    char byte;
    open_pair(&pair);
    struct pace *pace = pace_start(&quick, &err);
    assert_non_null(pace);
    int slot = pace_enter(pace, pair.server, PACE_BODY);
    assert_true(slot >= 0);
    assert_int_equal(recv(pair.server, &byte, 1, 0), 0); // returns when it is cut off
    assert_true(pace_was_cut(pace, slot));
    assert_int_equal(send(pair.server, "408", 3, 0), 3);
    pace_leave(pace, slot);
    pace_stop(pace);
    close_pair(&pair);
}

// Watches a connection for at least a whole window: until a silent one next to it is cut off.
static void watch_for_a_window(const struct pair *pair, enum pace_way way)
{
    struct pair silent;
    struct err err = {0};
    char byte;
    open_pair(&silent);
    struct pace *pace = pace_start(&quick, &err);
    int slot = pace_enter(pace, pair->server, way);
    int other = pace_enter(pace, silent.server, PACE_BODY);
    assert_int_equal(recv(silent.server, &byte, 1, 0), 0); // returns when it is cut off
    assert_true(pace_was_cut(pace, other));
    assert_false(pace_was_cut(pace, slot));
    pace_leave(pace, slot);
    pace_leave(pace, other);
    pace_stop(pace);
    close_pair(&silent);
}

static void bytes_that_wait_for_us_are_not_held_against_a_client(void **state)
{
    (void)state;
    struct pair pair;
    char byte;
    open_pair(&pair);
    assert_int_equal(send(pair.client, "x", 1, 0), 1);
    assert_int_equal(recv(pair.server, &byte, 1, MSG_PEEK), 1); // it has arrived
    watch_for_a_window(&pair, PACE_BODY);
    close_pair(&pair);
}

// Fills the socket to the client until nothing more fits. Returns the bytes written.
static size_t fill(int fd)
{
    char block[4096] = {0};
    size_t sum = 0;
    for (ssize_t sent; (sent = send(fd, block, sizeof block, MSG_DONTWAIT)) > 0;)
        sum += (size_t)sent;
    return sum;
}

// Sends to a client that reads nothing until the watch cuts it off. Bytes in flight when the socket
// seemed full make room once more, so a few sends may still succeed.
static void send_until_cut(int fd)
{
    char block[4096] = {0};
    while (send(fd, block, sizeof block, MSG_NOSIGNAL) > 0)
        continue;
    assert_int_equal(errno, EPIPE);
}

static void a_client_that_does_not_take_its_answer_is_cut(void **state)
{
    (void)state;
    struct pair pair;
    struct err err = {0};
    open_pair(&pair);
    assert_true(fill(pair.server) > 0);
    struct pace *pace = pace_start(&quick, &err);
    int slot = pace_enter(pace, pair.server, PACE_ANSWER);
    send_until_cut(pair.server);
    assert_true(pace_was_cut(pace, slot));
    pace_leave(pace, slot);
    pace_stop(pace);
    close_pair(&pair);
}

static void an_answer_that_we_are_slow_to_make_is_not_held_against_a_client(void **state)
{
    (void)state;
    struct pair pair;
    open_pair(&pair);
    watch_for_a_window(&pair, PACE_ANSWER);
    close_pair(&pair);
}

static void no_slot_means_no_watch(void **state)
{
    (void)state;
    struct err err = {0};
    struct pair pair;
    open_pair(&pair);
    struct pace *pace = pace_start(&quick, &err);
    assert_int_equal(pace_enter(pace, -1, PACE_BODY), -1);
    assert_true(pace_enter(pace, pair.server, PACE_BODY) >= 0);
    assert_true(pace_enter(pace, pair.client, PACE_BODY) >= 0);
    assert_int_equal(pace_enter(pace, pair.server, PACE_BODY), -1);
    assert_false(pace_was_cut(pace, -1));
    pace_stop(pace);
    close_pair(&pair);
}

static void the_peer_of_a_socket_is_known(void **state)
{
    (void)state;
    struct pair pair;
    char address[NI_MAXHOST];
    int port = 0;
    open_pair(&pair);
    unsigned own_port = (unsigned)pair.server_port;
    assert_true(pace_peer(pair.server, own_port, address, &port));
    assert_string_equal(address, "127.0.0.1");
    assert_int_equal(port, pair.client_port);
    assert_false(pace_peer(pair.client, own_port, address, &port));
    assert_false(pace_peer(pair.listener, own_port, address, &port));
    assert_false(pace_peer(0, own_port, address, &port));
    close_pair(&pair);
}

static void a_reader_over_ipv6_is_found_and_cut_like_others(void **state)
{
    (void)state;
    struct pair pair;
    struct err err = {0};
    if (!open_pair_6(&pair))
        skip();
    int fd = pair.server, port = 0;
    char address[NI_MAXHOST];
    assert_true(pace_peer(fd, (unsigned)pair.server_port, address, &port));
    assert_string_equal(address, "::1");
    assert_true(fill(fd) > 0);
    struct pace *pace = pace_start(&quick, &err);
    int slot = pace_enter(pace, fd, PACE_ANSWER);
    send_until_cut(fd);
    assert_true(pace_was_cut(pace, slot));
    pace_leave(pace, slot);
    pace_stop(pace);
    close_pair(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_client_is_cut_and_can_still_be_answered),
        cmocka_unit_test(bytes_that_wait_for_us_are_not_held_against_a_client),
        cmocka_unit_test(a_client_that_does_not_take_its_answer_is_cut),
        cmocka_unit_test(an_answer_that_we_are_slow_to_make_is_not_held_against_a_client),
        cmocka_unit_test(no_slot_means_no_watch),
        cmocka_unit_test(the_peer_of_a_socket_is_known),
        cmocka_unit_test(a_reader_over_ipv6_is_found_and_cut_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
