// SPDX-License-Identifier: Apache-2.0
// Messages between the service and a job's process arrive unchanged, or not at all.
#include "server/jobs/job_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct str text_of(const struct buf *buf)
{
    return (struct str){buf->at, buf->len};
}

static void an_order_arrives_as_it_was(void **state)
{
    (void)state;
    struct peak rows[] = {{.device = STR("X1"), .memory_gib = 80, .tbps = 2.5},
                          {.device = STR("X2 SXM")}};
    struct peaks peaks = {rows, 2};
    struct job_order order = {
        .service_pid = 77,
        .memory_bytes = 1,
        .address_bytes = 2,
        .cpu_seconds = 3,
        .file_bytes = UINT64_MAX,
        .has_kept = true,
        .options = {.step_pattern = "train*", .warmup_steps = -1, .peaks = &peaks},
    };
    struct buf message = {0};
    struct arena arena;
    struct job_order back;
    struct err err;
    arena_init(&arena, NULL);
    job_wire_put_order(&order, &message);
    assert_true(job_wire_take_order(text_of(&message), &arena, &back, &err));
    assert_int_equal(back.service_pid, 77);
    assert_true(back.file_bytes == UINT64_MAX);
    assert_false(back.has_input);
    assert_true(back.has_kept);
    assert_string_equal(back.options.step_pattern, "train*");
    assert_int_equal(back.options.warmup_steps, -1);
    assert_int_equal(back.options.peaks->count, 2);
    assert_true(str_equal(back.options.peaks->rows[1].device, STR("X2 SXM")));
    assert_true(back.options.peaks->rows[0].tbps == 2.5);
    for (size_t len = 0; len < message.len; len++)
        assert_false(job_wire_take_order((struct str){message.at, len}, &arena, &back, &err));
    arena_free(&arena);
    buf_free(&message);
}

struct talk {
    struct arena arena;
    struct buf message;
    struct job_reply reply;
    struct err err;
};

static int set_up(void **state)
{
    struct talk *t = calloc(1, sizeof *t);
    arena_init(&t->arena, NULL);
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    struct talk *t = *state;
    arena_free(&t->arena);
    buf_free(&t->message);
    free(t);
    return 0;
}

static bool pass(struct talk *t, const struct job_reply *reply)
{
    buf_clear(&t->message);
    job_wire_put_reply(reply, &t->message);
    return job_wire_take_reply(text_of(&t->message), &t->reply, &t->err);
}

static const struct job_reply good = {
    .ok = true,
    .walls = 5,
    .found = {.identity = {.rank = 3, .world_size = -1},
              .events = 9,
              .text_bytes = 10,
              .parse_ns = 11,
              .analyze_ns = 12,
              .kept = true},
};

static void an_answer_arrives_as_it_was(void **state)
{
    struct talk *t = *state;
    assert_true(pass(t, &good));
    assert_true(t->reply.ok);
    assert_int_equal(t->reply.walls, 5);
    assert_int_equal(t->reply.found.identity.rank, 3);
    assert_int_equal(t->reply.found.identity.world_size, -1);
    assert_int_equal(t->reply.found.text_bytes, 10);
    assert_true(t->reply.found.kept);
    for (size_t len = 0; len < t->message.len; len++)
        assert_false(job_wire_take_reply((struct str){t->message.at, len}, &t->reply, &t->err));
    buf_putc(&t->message, 'x');
    assert_false(job_wire_take_reply(text_of(&t->message), &t->reply, &t->err));
}

static void figures_that_cannot_be_are_refused(void **state)
{
    struct talk *t = *state;
    struct job_reply reply = good;
    reply.found.events = -1;
    assert_false(pass(t, &reply));
    assert_int_equal(t->err.code, ERR_FORMAT);
    reply = good;
    reply.found.identity.rank = INT64_MIN;
    assert_false(pass(t, &reply));
    reply = good;
    reply.found.parse_ns = -5;
    assert_false(pass(t, &reply));
}

static void a_failure_arrives_in_one_clean_line(void **state)
{
    struct talk *t = *state;
    struct job_reply reply = {.err = {ERR_FORMAT, 42, "found \xff\n\x1b[31mred\xe2\x82\xac"}};
    assert_true(pass(t, &reply));
    assert_false(t->reply.ok);
    assert_int_equal(t->reply.err.code, ERR_FORMAT);
    assert_int_equal(t->reply.err.pos, 42);
    assert_string_equal(t->reply.err.msg, "found ?  [31mred\xe2\x82\xac");
}

static void a_failure_of_no_known_kind_is_refused(void **state)
{
    struct talk *t = *state;
    struct job_reply reply = {.err = {ERR_NONE, 0, "fine"}};
    assert_false(pass(t, &reply));
    reply.err.code = (enum err_code)(ERR_INTERNAL + 1);
    assert_false(pass(t, &reply));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_order_arrives_as_it_was), TEST(an_answer_arrives_as_it_was),
        TEST(figures_that_cannot_be_are_refused),     TEST(a_failure_arrives_in_one_clean_line),
        TEST(a_failure_of_no_known_kind_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
