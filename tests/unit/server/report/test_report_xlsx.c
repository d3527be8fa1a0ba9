// SPDX-License-Identifier: Apache-2.0
// labels: threads
// A report becomes a spreadsheet on a thread with as little stack as those that answer requests.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>

#include "server/report/document.h"

// CivetWeb gives its threads 100 kB, of which their calls take the first; the packer alone has a
// buffer of 64 kB.
enum { STACK_BYTES = 72 << 10 };

struct task {
    const struct document *doc;
    struct buf out;
    struct err err;
    bool ok;
};

static void *write_report(void *context)
{
    struct task *task = context;
    task->ok = report_as_xlsx.write(task->doc, &task->out, &task->err);
    return NULL;
}

static void a_small_stack_is_enough(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct document doc = {.arena = &arena, .title = STR("Report")};
    doc_begin(&doc, STR("Speed"), STR("Per step."));
    doc_column(&doc, STR("run"));
    doc_text(&doc, STR("a"));
    struct task task = {.doc = &doc};
    pthread_attr_t attr;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attr, write_report, &task), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_true(task.ok);
    assert_true(task.out.len > 4);
    assert_memory_equal(task.out.at, "PK\3\4", 4);
    buf_free(&task.out);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_small_stack_is_enough)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
