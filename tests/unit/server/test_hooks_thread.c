// SPDX-License-Identifier: Apache-2.0
// Webhooks from several threads at once, while nobody answers. labels: threads
#include "server/hooks/hooks.h"

#include "ingest/base/clock.h"
#include "tests/unit/folder.h"
#include "tests/unit/ready_store.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { THREADS = 4, EVENTS = 10 };

struct poster {
    struct hooks *hooks;
    int number;
};

static void *post(void *context)
{
    const struct poster *poster = context;
    char key[32];
    for (int i = 0; i < EVENTS; i++) {
        snprintf(key, sizeof key, "gate-%d", (poster->number + i) % (2 * EVENTS));
        const struct hook_event event = {
            .key = key, .type = "gate.failed", .at_ns = clock_wall_ns()};
        if (!hooks_post(poster->hooks, &event))
            return context;
        hooks_look(poster->hooks);
    }
    return NULL;
}

static void all_threads_may_post_and_each_event_is_kept_once(void **state)
{
    char folder[] = "/tmp/stepscope-hooks-XXXXXX", database[64], targets[64];
    struct err err = {.pos = ERR_NO_POS};
    struct poster posters[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(database, sizeof database, "%s/stepscope.db", folder);
    snprintf(targets, sizeof targets, "%s/targets.json", folder);
    folder_write("", targets, "[{\"url\":\"http://127.0.0.1:9/\"}]");
    struct store *store = ready_store_open(database, &err);
    assert_non_null(store);
    const struct hooks_config config = {store, targets, folder, "http://hub"};
    struct hooks *hooks = hooks_open(&config, &err);
    if (!hooks && err.code == ERR_UNSUPPORTED)
        skip(); // without libcurl
    assert_non_null(hooks);
    for (int i = 0; i < THREADS; i++) {
        posters[i] = (struct poster){hooks, i * EVENTS / 2};
        assert_int_equal(pthread_create(&threads[i], NULL, post, &posters[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    hooks_close(hooks);
    assert_int_equal(folder_count(folder, "hooks"), 2 * EVENTS + 2); // and "seen", "since"
    store_close(store);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_may_post_and_each_event_is_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
