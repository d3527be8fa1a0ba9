// SPDX-License-Identifier: Apache-2.0
// What agents of nodes are asked to record.
#include "server/agents/known_agents.h"

#include "tests/unit/folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A node with two ranks of job 7.
static void tell(struct known_agents *agents, const char *name, int64_t first_rank, struct buf *out)
{
    struct err err;
    struct known_node *node = calloc(1, sizeof *node);
    snprintf(node->name, sizeof node->name, "%s", name);
    node->seen_ns = INT64_MAX / 2; // never silent
    node->process_count = 2;
    for (int64_t i = 0; i < 2; i++)
        node->processes[i] = (struct known_process){.pid = i + 1, .job = 7, .rank = first_rank + i};
    assert_true(known_agents_poll(agents, node, out, &err));
    free(node);
}

// A node without processes, if it finds a place.
static bool ask(struct known_agents *agents, const char *owner, size_t number)
{
    struct err err;
    struct buf out = {0};
    struct known_node *node = calloc(1, sizeof *node);
    snprintf(node->name, sizeof node->name, "n%zu", number);
    snprintf(node->owner, sizeof node->owner, "%s", owner);
    node->seen_ns = INT64_MAX / 2;
    bool ok = known_agents_poll(agents, node, &out, &err);
    assert_true(ok || err.code == ERR_LIMIT);
    buf_free(&out);
    free(node);
    return ok;
}

static bool want(struct known_agents *agents, struct wanted_capture capture, size_t *nodes)
{
    struct err err;
    bool ok = known_agents_want(agents, &capture, nodes, &err);
    assert_true(ok || err.code == ERR_LIMIT);
    return ok;
}

static void a_capture_of_ranks_is_for_the_nodes_that_have_them(void **state)
{
    (void)state;
    struct err err;
    size_t nodes;
    struct buf first = {0}, second = {0};
    struct known_agents *agents = known_agents_new(NULL, &err);
    tell(agents, "a", 0, &first);
    tell(agents, "b", 2, &second);
    assert_true(known_agents_have(agents, 7, ""));
    assert_false(known_agents_have(agents, 8, ""));
    assert_false(known_agents_have(agents, 7, "k_other"));
    assert_true(want(agents, (struct wanted_capture){.run = "all", .job = "7"}, &nodes));
    assert_int_equal(nodes, 2);
    assert_true(
        want(agents,
             (struct wanted_capture){.run = "some", .job = "7", .ranks = {3, 9}, .rank_count = 2},
             &nodes));
    assert_int_equal(nodes, 1);
    first.len = second.len = 0;
    tell(agents, "a", 0, &first);
    tell(agents, "b", 2, &second);
    assert_non_null(strstr(first.at, "\"all\""));
    assert_null(strstr(first.at, "\"some\""));
    assert_non_null(strstr(second.at, "\"some\""));
    buf_free(&first);
    buf_free(&second);
    known_agents_free(agents);
}

static void no_token_takes_all_places_of_nodes(void **state)
{
    (void)state;
    struct err err;
    size_t places = 0, own = 0;
    struct buf out = {0};
    struct known_agents *agents = known_agents_new(NULL, &err);
    tell(agents, "busy", 0, &out); // of the owner ""
    while (ask(agents, "k_many", places))
        places++;
    assert_int_equal(places, AGENTS_MOST_NODES - 1);
    while (ask(agents, "k_few", own))
        own++;
    assert_int_equal(own, AGENTS_MOST_NODES / 2 - 1); // and as many of the first
    assert_true(known_agents_have(agents, 7, ""));
    while (ask(agents, "", own))
        own++;
    assert_true(known_agents_have(agents, 7, "")); // those that are idle give way first
    buf_free(&out);
    known_agents_free(agents);
}

static void captures_that_nobody_asked_for_leave_half_of_the_places(void **state)
{
    (void)state;
    struct err err;
    size_t nodes, taken = 0;
    struct known_agents *agents = known_agents_new(NULL, &err);
    while (want(agents, (struct wanted_capture){.run = "slow", .is_automatic = true}, &nodes))
        taken++;
    assert_int_equal(taken, AGENTS_MOST_CAPTURES / 2);
    while (want(agents, (struct wanted_capture){.run = "asked"}, &nodes))
        taken++;
    assert_int_equal(taken, AGENTS_MOST_CAPTURES);
    known_agents_free(agents);
}

// What a service that started just now answers a node that had asked nothing before.
static void tell_after_start(const char *path, struct buf *out)
{
    struct err err;
    struct known_agents *agents = known_agents_new(path, &err);
    assert_non_null(agents);
    tell(agents, "a", 0, out);
    buf_putc(out, '\0');
    known_agents_free(agents);
}

// Puts another first digit into the time at which the capture was asked for.
static void change_start(const char *path, char digit)
{
    char text[2000] = "", *at;
    FILE *file = fopen(path, "r+");
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    assert_non_null(at = strstr(text, "\"at_ns\":"));
    at[8] = digit;
    rewind(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void a_capture_is_still_wanted_after_a_restart(void **state)
{
    (void)state;
    struct err err;
    size_t nodes;
    char folder[] = "/tmp/captures.XXXXXX", path[64];
    struct buf first = {0}, second = {0}, late = {0};
    snprintf(path, sizeof path, "%s/captures.json", mkdtemp(folder));
    struct known_agents *agents = known_agents_new(path, &err);
    const struct wanted_capture wanted = {
        .run = "exp \"42\"", .job = "7", .steps = 4, .roundup = 100, .ranks = {1}, .rank_count = 1};
    assert_true(want(agents, wanted, &nodes));
    tell(agents, "a", 0, &first);
    buf_putc(&first, '\0');
    known_agents_free(agents);

    tell_after_start(path, &second);
    assert_non_null(strstr(second.at, "\"run\":\"exp \\\"42\\\"\""));
    assert_string_equal(first.at, second.at); // with its id, so that no agent records it twice

    change_start(path, '8'); // in the future, by a clock that was wrong
    second.len = 0;
    tell_after_start(path, &second);
    assert_string_equal(first.at, second.at);

    change_start(path, ' '); // long ago
    tell_after_start(path, &late);
    assert_string_equal(late.at, "[]");
    folder_remove(folder);
    buf_free(&first);
    buf_free(&second);
    buf_free(&late);
}

static void a_capture_that_cannot_be_kept_is_not_taken(void **state)
{
    (void)state;
    struct err err;
    size_t nodes;
    struct buf out = {0};
    struct known_agents *agents = known_agents_new("/no/such/folder/captures.json", &err);
    struct wanted_capture capture = {.run = "r"};
    assert_false(known_agents_want(agents, &capture, &nodes, &err));
    assert_int_equal(err.code, ERR_IO);
    known_agents_captures(agents, &out);
    assert_memory_equal(out.at, "[]", 2);
    buf_free(&out);
    known_agents_free(agents);
}

#define CAPTURE(id, at_ns)                                                           \
    "[{\"id\":\"" id "\",\"run\":\"r\",\"job\":\"\",\"owner\":\"\",\"at_ns\":" at_ns \
    ",\"steps\":4,\"warmup\":1,\"roundup\":100,\"automatic\":false,\"ranks\":[]}]"

static void a_damaged_file_of_captures_says_nothing(void **state)
{
    (void)state;
    static const char *const damaged[] = {"",
                                          "{}",
                                          "[1, {}, null]",
                                          "[{\"id\": \"c_1\"}]",
                                          "[[",
                                          CAPTURE("c_\\\"000000000000000", "9223372036854775807"),
                                          CAPTURE("c_0000000000000000", "-9223372036854775807")};
    char folder[] = "/tmp/captures.XXXXXX", path[64];
    snprintf(path, sizeof path, "%s/captures.json", mkdtemp(folder));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct buf out = {0};
        folder_write("", path, damaged[i]);
        tell_after_start(path, &out);
        assert_string_equal(out.at, "[]");
        buf_free(&out);
    }
    folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_capture_of_ranks_is_for_the_nodes_that_have_them),
        cmocka_unit_test(no_token_takes_all_places_of_nodes),
        cmocka_unit_test(captures_that_nobody_asked_for_leave_half_of_the_places),
        cmocka_unit_test(a_capture_is_still_wanted_after_a_restart),
        cmocka_unit_test(a_capture_that_cannot_be_kept_is_not_taken),
        cmocka_unit_test(a_damaged_file_of_captures_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
