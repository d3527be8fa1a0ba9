// SPDX-License-Identifier: Apache-2.0
// If its JSON ran out of memory, a trace is not taken for one without that JSON.
#include "ingest/json/json_memory.h"
#include "ingest/kineto/kineto_members.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <jansson.h>

// AddressSanitizer must not abort a test that runs out of memory on purpose.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

// More than any machine has, requested the way the library does.
static void ask_in_vain(void)
{
    json_malloc_t allocate;
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    void *block = allocate(SIZE_MAX / 4);
    assert_null(block);
    release(block);
}

static void lack_of_memory_is_reported_until_it_is_forgotten(void **state)
{
    (void)state;
    struct err err = {0};
    json_memory_forget();
    assert_null(json_loads("{", 0, NULL));
    assert_true(json_memory_check(&err));
    ask_in_vain();
    assert_false(json_memory_check(&err));
    assert_int_equal(err.code, ERR_MEMORY);
    json_memory_forget();
    assert_true(json_memory_check(&err));
}

static void *refuse(size_t size)
{
    (void)size;
    json_memory_watch();
    ask_in_vain();
    json_set_alloc_funcs(refuse, free);
    return NULL;
}

static void a_trace_is_not_read_without_the_members_that_found_no_memory(void **state)
{
    (void)state;
    struct err err = {0};
    struct budget budget = {0};
    struct kineto_members members;
    struct trace_builder *builder = trace_builder_new(&budget, &err);
    assert_true(kineto_members_init(&members, &budget, &err));
    assert_true(kineto_members_keep(&members, STR("distributedInfo"), STR("{\"rank\":3}"), &err));
    json_set_alloc_funcs(refuse, free);
    bool ok = kineto_members_read(&members, builder, &err);
    json_memory_watch();
    assert_false(ok);
    assert_int_equal(err.code, ERR_MEMORY);
    assert_true(kineto_members_read(&members, builder, &err));
    kineto_members_free(&members);
    struct trace *trace = trace_builder_seal(builder, &err);
    assert_non_null(trace);
    assert_int_equal(trace->job.rank, 3);
    trace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lack_of_memory_is_reported_until_it_is_forgotten),
        cmocka_unit_test(a_trace_is_not_read_without_the_members_that_found_no_memory),
    };
    json_memory_watch();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
