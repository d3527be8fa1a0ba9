// SPDX-License-Identifier: Apache-2.0
// A listening socket ends without cutting off who had connected, and nobody connects meanwhile.
#include "server/http/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { CLIENTS = 40, PAUSE_NS = 1000000 };

struct door {
    int listener;
    struct sockaddr_in address;
    int accepted[CLIENTS];
};

static int set_up(void **state)
{
    struct door *door = calloc(1, sizeof *door);
    socklen_t size = sizeof door->address;
    door->listener = socket(AF_INET, SOCK_STREAM, 0);
    door->address.sin_family = AF_INET;
    door->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(door->listener, (struct sockaddr *)&door->address, size), 0);
    assert_int_equal(listen(door->listener, 2 * CLIENTS), 0);
    assert_int_equal(getsockname(door->listener, (struct sockaddr *)&door->address, &size), 0);
    *state = door;
    return 0;
}

static int tear_down(void **state)
{
    struct door *door = *state;
    close(door->listener);
    free(door);
    return 0;
}

static unsigned port_of(const struct door *door)
{
    return ntohs(door->address.sin_port);
}

// Whether the connection is there within a time; its error if it is refused.
static bool arrives(int client, int wait_ms, int *error)
{
    struct pollfd wait = {.fd = client, .events = POLLOUT};
    socklen_t size = sizeof *error;
    *error = 0;
    return poll(&wait, 1, wait_ms) == 1 &&
           getsockopt(client, SOL_SOCKET, SO_ERROR, error, &size) == 0 && *error == 0;
}

static int come(const struct door *door)
{
    int client = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int failed = connect(client, (const struct sockaddr *)&door->address, sizeof door->address);
    assert_true(failed == 0 || errno == EINPROGRESS);
    return client;
}

static void *accept_slowly(void *context)
{
    struct door *door = context;
    for (int i = 0; i < CLIENTS; i++) {
        nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
        door->accepted[i] = accept(door->listener, NULL, NULL);
    }
    return NULL;
}

static void who_had_connected_is_accepted(void **state)
{
    struct door *door = *state;
    int clients[CLIENTS], error;
    pthread_t accepting;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = come(door);
        assert_true(arrives(clients[i], 1000, &error));
    }
    assert_int_equal(pthread_create(&accepting, NULL, accept_slowly, door), 0);
    listener_empty(port_of(door));
    listener_shut(port_of(door), -1);
    pthread_join(accepting, NULL);
    for (int i = 0; i < CLIENTS; i++) {
        assert_true(door->accepted[i] >= 0);
        assert_int_equal(write(clients[i], "x", 1), 1);
        assert_int_equal(read(door->accepted[i], &(char){0}, 1), 1);
        close(door->accepted[i]);
        close(clients[i]);
    }
}

static void nobody_connects_to_a_socket_about_to_end(void **state)
{
    struct door *door = *state;
    int error;
    listener_empty(port_of(door));
    int late = come(door);
    assert_false(arrives(late, 50, &error));
    assert_int_equal(error, 0); // it will ask again
    listener_shut(port_of(door), -1);
    assert_false(arrives(late, 10000, &error));
    assert_int_equal(error, ECONNREFUSED);
    close(late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_had_connected_is_accepted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_connects_to_a_socket_about_to_end, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
