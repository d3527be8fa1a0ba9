// SPDX-License-Identifier: Apache-2.0
// The heap of a process that reads traces.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/base/job_heap.h"

// The C library maps blocks of this size, whatever it learned from those freed before.
#define LARGE_BYTES ((size_t)40 << 20)

static void *use_block(void *context)
{
    (void)context;
    char *block = malloc(LARGE_BYTES);
    volatile char *touched = block; // what is only freed, a compiler would not fill
    for (size_t at = 0; block && at < LARGE_BYTES; at += 4096)
        touched[at] = 1;
    free(block);
    return NULL;
}

static long page_faults(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_minflt;
}

static void large_blocks_are_filled_again_without_page_faults_by_any_thread(void **state)
{
    (void)state;
    if (mallopt(M_ARENA_MAX, 1) != 1)
        skip(); // a sanitizer's allocator
    job_heap_begin();
    use_block(NULL);
    long before = page_faults();
    for (int i = 0; i < 10; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, use_block, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_in_range(page_faults() - before, 0, (long)LARGE_BYTES / sysconf(_SC_PAGESIZE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_blocks_are_filled_again_without_page_faults_by_any_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
