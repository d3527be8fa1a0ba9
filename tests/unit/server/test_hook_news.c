// SPDX-License-Identifier: Apache-2.0
// What webhooks say about alerts.
#include "server/hooks/hook_news.h"

#include "tests/unit/series_fixture.h"

// Thirteen runs, of which the last three need more memory.
static void raise_an_alert(struct fixture *f)
{
    for (int i = 0; i < 13; i++) {
        const struct planted figures[] = {
            {"memory_bytes", "log", (i < 10 ? 6e10 : 8e10) + 1e7 * (i % 4)}, {NULL, NULL, 0}};
        add_run_with(f, "job", i, 100000000 + 100000 * (i % 4), figures);
    }
    judge_all(f);
    assert_int_equal(alerts(f, "new").row_count, 1);
}

static const struct hook_delivery *found_of(const struct hook_queue *queue, const char *prefix)
{
    const struct hook_delivery *at = queue->first;
    while (at && strncmp(at->key, prefix, strlen(prefix)) != 0)
        at = at->next;
    return at;
}

static void assert_said(struct fixture *f, const char *words)
{
    char path[96];
    struct hook_targets targets;
    struct hook_queue queue;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct hook_news news = {.store = f->store, .lock = &lock, .base_url = "http://hub"};
    bool again;
    snprintf(path, sizeof path, "%s/targets.json", f->folder);
    folder_write("", path, "[{\"url\":\"http://a\"}]");
    assert_ok(f, hook_targets_read(&targets, path, &f->err));
    assert_ok(f, hook_queue_open(&queue, f->folder, &targets, &f->err));
    assert_ok(f, hook_news_look(&news, &queue, &again, &f->err));
    const struct hook_delivery *said = found_of(&queue, "alert-");
    assert_non_null(said);
    assert_non_null(strstr(said->body, words));
    hook_queue_free(&queue);
    hook_targets_free(&targets);
}

static void an_alert_is_written_in_the_unit_of_its_figure(void **state)
{
    struct fixture *f = *state;
    raise_an_alert(f);
    assert_said(f, "job@10: Peak memory per GPU 33.3 % higher than before, "
                   "60.02 GB became 80.02 GB");
}

static void a_recording_without_steps_is_no_step(void **state)
{
    struct fixture *f = *state;
    const struct planted whole[] = {{"no_steps", "trace", 1}, {NULL, NULL, 0}};
    for (int i = 0; i < 13; i++)
        add_run_with(f, "job", i, (i < 10 ? 800000000 : 900000000) + i % 4 * 1000000, whole);
    judge_all(f);
    assert_said(f, "job@10: recording 12.5 % longer than before, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_alert_is_written_in_the_unit_of_its_figure, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_recording_without_steps_is_no_step, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
