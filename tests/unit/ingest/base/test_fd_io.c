// SPDX-License-Identifier: Apache-2.0
// Bytes arrive whole through pipes and files, whatever a single call takes.
#include "ingest/base/fd_io.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { BYTES = 1 << 18 }; // more than a pipe holds

struct drain {
    int fd;
    size_t got;
};

static void *drain(void *data)
{
    struct drain *drain = data;
    char block[3000];
    for (ssize_t got; (got = fd_read(drain->fd, block, sizeof block)) > 0;)
        drain->got += (size_t)got;
    return NULL;
}

static void ignore(int number)
{
    (void)number;
}

static void a_write_longer_than_the_pipe_survives_signals(void **state)
{
    (void)state;
    int ends[2];
    pthread_t thread;
    char *bytes = calloc(1, BYTES);
    struct sigaction interrupts = {.sa_handler = ignore};
    assert_int_equal(sigaction(SIGALRM, &interrupts, NULL), 0);
    assert_int_equal(pipe(ends), 0);
    struct drain reader = {.fd = ends[0]};
    ualarm(2000, 2000); // while nobody reads yet
    pthread_create(&thread, NULL, drain, &reader);
    assert_true(fd_write(ends[1], bytes, BYTES));
    ualarm(0, 0);
    close(ends[1]);
    pthread_join(thread, NULL);
    assert_int_equal(reader.got, BYTES);
    close(ends[0]);
    free(bytes);
}

static void what_stands_at_a_place_is_read_up_to_the_end(void **state)
{
    (void)state;
    char name[] = "/tmp/fd_io.XXXXXX", text[8] = "";
    int fd = mkstemp(name);
    assert_true(fd >= 0 && unlink(name) == 0);
    assert_true(fd_write_at(fd, "later", 5, 3) && fd_write(fd, "now", 3));
    assert_int_equal(fd_read_at(fd, text, sizeof text, 2), 6);
    assert_memory_equal(text, "wlater", 6);
    assert_int_equal(fd_read_at(fd, text, sizeof text, 9), 0);
    close(fd);
}

static void a_failure_leaves_its_reason(void **state)
{
    (void)state;
    char byte = 0;
    errno = 0;
    assert_false(fd_write(-1, &byte, 1));
    assert_int_equal(errno, EBADF);
    assert_false(fd_write_at(-1, &byte, 1, 0));
    assert_true(fd_read(-1, &byte, 1) < 0 && fd_read_at(-1, &byte, 1, 0) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_longer_than_the_pipe_survives_signals),
        cmocka_unit_test(what_stands_at_a_place_is_read_up_to_the_end),
        cmocka_unit_test(a_failure_leaves_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
