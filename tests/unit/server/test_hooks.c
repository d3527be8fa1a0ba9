// SPDX-License-Identifier: Apache-2.0
// Webhooks: who wants what, what they get, its signature, and the queue on disk.
#include "server/hooks/hook_queue.h"

#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

// The targets of a file with that text.
static bool read_targets(const char *text, struct hook_targets *targets, struct err *err)
{
    char folder[] = "/tmp/stepscope-hooks-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/t.json", folder);
    folder_write("", path, text);
    bool ok = hook_targets_read(targets, path, err);
    folder_remove(folder);
    return ok;
}

static void events_go_to_those_who_want_them(void **state)
{
    struct err err = {.pos = ERR_NO_POS};
    struct hook_targets targets;
    (void)state;
    assert_true(read_targets("[{\"url\":\"http://a\",\"events\":[\"gate.failed\",\"run\"]},"
                             "{\"url\":\"https://b\",\"project\":\"p\"}]",
                             &targets, &err));
    assert_true(hook_target_wants(&targets.at[0], "gate.failed", STR("x")));
    assert_false(hook_target_wants(&targets.at[0], "gate.passed", STR("x")));
    assert_true(hook_target_wants(&targets.at[0], "run.finished", STR("x")));
    assert_false(hook_target_wants(&targets.at[0], "alert.raised", STR("x")));
    assert_true(hook_target_wants(&targets.at[1], "alert.raised", STR("p")));
    assert_false(hook_target_wants(&targets.at[1], "alert.raised", STR("q")));
    hook_targets_free(&targets);
}

static void a_wrong_file_says_which_webhook_is_wrong(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "{}",
        "[{\"url\":\"ftp://a\"}]",
        "[{\"url\":\"hooks.example/token\"}]",
        "[{\"url\":\"ftp://me:token@a/token?token\"}]",
        "[{\"url\":\"http://a\",\"shade\":1}]",
        "[{\"url\":\"http://a\",\"format\":\"xml\"}]",
        "[{\"url\":\"http://a\",\"secret\":\"short\"}]",
        "[{\"url\":\"http://a\",\"secret\":\"whsec_this.is.no.base64\"}]",
        "[{\"url\":\"http://a\",\"secret_env\":\"STEPSCOPE_NO_SUCH\"}]",
        "[{\"url\":\"http://a\",\"events\":[\"runs\"]}]",
        "[{\"url\":\"http://a\",\"events\":\"run\"}]",
        "[{\"url\":\"http://a\"},3]",
        "[{\"url\":\"http://a\"},{\"url\":\"http://a\",\"project\":\"p\"}]",
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = {.pos = ERR_NO_POS};
        struct hook_targets targets;
        assert_false(read_targets(wrong[i], &targets, &err));
        assert_int_not_equal(err.msg[0], 0);
        assert_null(strstr(err.msg, "token"));
        hook_targets_free(&targets);
    }
}

// The example of the Standard Webhooks specification.
static void a_body_is_signed_as_standard_webhooks_has_it(void **state)
{
    struct err err = {.pos = ERR_NO_POS};
    struct buf out = {0};
    (void)state;
    assert_true(hook_sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                          STR("msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{\"test\": 2432232314}"),
                          &out, &err));
    assert_string_equal(out.at, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_false(hook_sign("whsec_***", STR("x"), &out, &err));
    buf_free(&out);
}

static const struct hook_event event = {.key = "alert-a_1",
                                        .type = "alert.raised",
                                        .project = {"p", 1},
                                        .text = {"<b> & \"c\"", 9},
                                        .url = {"http://hub/alerts", 17}};

static void texts_are_escaped_for_slack_and_for_json(void **state)
{
    struct buf out = {0};
    (void)state;
    hook_body(&event, HOOK_SLACK, &out);
    assert_string_equal(out.at,
                        "{\"text\":\"&lt;b&gt; &amp; \\\"c\\\"\\n<http://hub/alerts|open>\"}");
    buf_clear(&out);
    hook_body(&event, HOOK_JSON, &out);
    assert_non_null(strstr(out.at, "\"text\":\"<b> & \\\"c\\\"\""));
    assert_non_null(strstr(out.at, "\"data\":{}}"));
    buf_free(&out);
}

static void deliveries_wait_on_disk_and_no_event_is_queued_twice(void **state)
{
    char folder[] = "/tmp/stepscope-hooks-XXXXXX";
    struct err err = {.pos = ERR_NO_POS};
    struct hook_targets targets;
    struct hook_queue queue;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(read_targets("[{\"url\":\"http://a\"},{\"url\":\"http://b\"}]", &targets, &err));
    assert_true(hook_queue_open(&queue, folder, &targets, &err));
    assert_true(hook_queue_add(&queue, &event, &err));
    assert_true(hook_queue_add(&queue, &event, &err));
    assert_int_equal(queue.count, 2);
    hook_queue_remove(&queue, hook_queue_next(&queue));
    hook_queue_free(&queue);
    folder_write(folder, "damaged.json", "{\"target\":");
    assert_true(hook_queue_open(&queue, folder, &targets, &err));
    assert_int_equal(queue.count, 1);
    assert_string_equal(hook_queue_next(&queue)->key, "alert-a_1");
    assert_true(hook_queue_has_seen(&queue, "alert-a_1"));
    assert_true(hook_queue_add(&queue, &event, &err));
    assert_int_equal(queue.count, 1);
    hook_queue_free(&queue);
    hook_targets_free(&targets);
    assert_true(read_targets("[{\"url\":\"http://c\"}]", &targets, &err));
    assert_true(hook_queue_open(&queue, folder, &targets, &err));
    assert_int_equal(queue.count, 0);
    hook_queue_free(&queue);
    hook_targets_free(&targets);
    folder_remove(folder);
}

static void nobody_gets_an_event_again_because_it_could_not_be_kept_for_all(void **state)
{
    char folder[] = "/tmp/stepscope-hooks-XXXXXX", blocked[128];
    struct err err = {.pos = ERR_NO_POS};
    struct hook_targets targets;
    struct hook_queue queue;
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_true(read_targets("[{\"url\":\"http://a\"},{\"url\":\"http://b\"}]", &targets, &err));
    assert_true(hook_queue_open(&queue, folder, &targets, &err));
    snprintf(blocked, sizeof blocked, "%s/alert-a_1.%s.json.part", folder, targets.at[1].id);
    assert_int_equal(mkdir(blocked, 0700), 0);
    assert_false(hook_queue_add(&queue, &event, &err));
    assert_false(hook_queue_add(&queue, &event, &err));
    assert_int_equal(queue.count, 1);
    assert_ptr_equal(hook_queue_next(&queue)->target, &targets.at[0]);
    hook_queue_remove(&queue, hook_queue_next(&queue)); // it was delivered
    assert_false(hook_queue_add(&queue, &event, &err));
    assert_int_equal(queue.count, 0);
    assert_int_equal(rmdir(blocked), 0);
    assert_true(hook_queue_add(&queue, &event, &err));
    assert_int_equal(queue.count, 1);
    assert_ptr_equal(hook_queue_next(&queue)->target, &targets.at[1]);
    hook_queue_free(&queue);
    hook_targets_free(&targets);
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_go_to_those_who_want_them),
        cmocka_unit_test(a_wrong_file_says_which_webhook_is_wrong),
        cmocka_unit_test(a_body_is_signed_as_standard_webhooks_has_it),
        cmocka_unit_test(texts_are_escaped_for_slack_and_for_json),
        cmocka_unit_test(deliveries_wait_on_disk_and_no_event_is_queued_twice),
        cmocka_unit_test(nobody_gets_an_event_again_because_it_could_not_be_kept_for_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
