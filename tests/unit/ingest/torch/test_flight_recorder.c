// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps in small, in both forms.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/flight_hand.h"

#include "ingest/base/figures.h"

#define GROUPS                                                                                    \
    "\"pg_config\": {\"0\": {\"name\": \"0\", \"desc\": \"default_pg\", \"ranks\": \"[0, 1]\"}, " \
    "\"7\": {\"name\": \"7\", \"desc\": \"tp\", \"ranks\": \"[1]\"}}"

struct hand {
    struct budget budget;
    struct evidence evidence;
    struct err err;
    bool ok;
};

static void read_bytes(struct hand *hand, struct str bytes, const char *filename)
{
    *hand = (struct hand){0};
    evidence_init(&hand->evidence, &hand->budget);
    hand->ok = flight_read(bytes, filename, &hand->evidence, &hand->err);
}

static void end(struct hand *hand)
{
    evidence_free(&hand->evidence);
    assert_int_equal(hand->budget.used, 0);
}

static void assert_text(const struct hand *hand, str_id id, const char *expected)
{
    assert_string_equal(strtab_get(&hand->evidence.flight.texts, id).at, expected);
}

// Calls check with what the readers make of the dump as JSON and as a pickle.
static void in_both_forms(const char *json, void (*check)(const struct hand *hand))
{
    struct hand hand;
    struct buf pickle = {0};
    pickle_of_json(&pickle, json);
    struct str forms[] = {str_of(json), {pickle.at, pickle.len}};
    for (int i = 0; i < 2; i++) {
        read_bytes(&hand, forms[i], "job/_dump_12");
        if (!hand.ok)
            fail_msg("%s", hand.err.msg);
        check(&hand);
        end(&hand);
    }
    buf_free(&pickle);
}

// --- what is read -------------------------------------------------------------------------------

static void check_whole(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->rank, 12);
    assert_text(hand, flight->version, "2.9");
    assert_text(hand, flight->nccl_version, "2.27.3");
    assert_int_equal(flight->group_count, 2);
    assert_int_equal(flight->entry_count, 2);
    const struct flight_entry *first = &flight->entries[0], *second = &flight->entries[1];
    assert_int_equal(first->group, 1);
    assert_text(hand, flight->groups[first->group].desc, "tp");
    assert_text(hand, flight->groups[first->group].ranks, "[1]");
    assert_int_equal(first->collective_seq, 41);
    assert_int_equal(first->state, FLIGHT_SCHEDULED);
    assert_text(hand, first->op, "nccl:all_reduce");
    assert_text(hand, first->input.sizes, "[4, 2], [3]");
    assert_int_equal(first->input.elements, 11);
    assert_text(hand, first->input.dtypes, "BFloat16, Long");
    assert_int_equal(first->created_ns, 1700000000000000001);
    assert_int_equal(first->started_ns, FLIGHT_UNKNOWN);
    assert_int_equal(first->timeout_ms, 180000);
    assert_text(hand, first->frames, "step (train.py:88), main (train.py:140)");
    assert_false(first->is_p2p);
    assert_true(second->is_p2p);
    assert_true(second->retired);
    assert_int_equal(second->state, FLIGHT_COMPLETED);
    assert_int_equal(second->p2p_seq, 9);
    assert_int_equal(second->completed_ns, 5);
}

static void both_forms_say_the_same(void **state)
{
    (void)state;
    in_both_forms(
        "{\"version\": \"2.9\", \"unknown\": [[{}]], " GROUPS
        ", \"nccl_version\": \"2.27.3\", \"entries\": ["
        "{\"frames\": [{\"name\": \"all_reduce\", \"line\": 1,"
        " \"filename\": \"/usr/lib/python3/dist-packages/torch/c10d.py\"},"
        " {\"name\": \"step\", \"filename\": \"/src/train.py\", \"line\": 88},"
        " {\"name\": \"main\", \"filename\": \"/src/train.py\", \"line\": 140}],"
        " \"pg_id\": 3, \"process_group\": [\"7\", \"tp\"], \"collective_seq_id\": 41,"
        " \"p2p_seq_id\": 0, \"profiling_name\": \"nccl:all_reduce\","
        " \"time_created_ns\": 1700000000000000001, \"input_sizes\": [[4, 2], [3]],"
        " \"input_dtypes\": [\"BFloat16\", \"Long\"], \"output_sizes\": [], \"state\":"
        " \"scheduled\", \"time_discovered_started_ns\": null, \"retired\": false,"
        " \"timeout_ms\": 180000, \"is_p2p\": false},"
        " {\"process_group\": [\"0\", \"default_pg\"], \"p2p_seq_id\": \"9\","
        " \"profiling_name\": \"nccl:send 0->1\", \"state\": \"completed\", \"retired\": true,"
        " \"time_discovered_started_ns\": 0, \"time_discovered_completed_ns\": 5,"
        " \"is_p2p\": true}]}",
        check_whole);
}

static void check_statuses(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->groups[0].completed, 162);
    assert_int_equal(flight->groups[0].enqueued, 163);
    assert_int_equal(flight->groups[1].enqueued, 30);
}

// Ids skip numbers and names do so elsewhere, but both count up.
static void statuses_go_to_groups_in_the_order_of_their_numbers(void **state)
{
    (void)state;
    in_both_forms(
        "{\"version\": \"2.9\", " GROUPS
        ", \"pg_status\": {\"12\": {\"last_enqueued_collective\": 30},"
        " \"2\": {\"last_enqueued_collective\": \"163\", \"last_completed_collective\": 162}}}",
        check_statuses);
}

static void check_no_status(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->groups[0].enqueued, 30); // by its entry
    assert_int_equal(flight->groups[1].enqueued, FLIGHT_UNKNOWN);
}

static void statuses_are_not_guessed_against_what_entries_say(void **state)
{
    (void)state;
    in_both_forms("{\"version\": \"2.9\", " GROUPS
                  ", \"pg_status\": {\"12\": {\"last_enqueued_collective\": 30},"
                  " \"2\": {\"last_enqueued_collective\": 163}},"
                  " \"entries\": [{\"process_group\": [\"0\", \"\"], \"pg_id\": 12}]}",
                  check_no_status);
}

#define BATCHED(number, p2p, op, state)                                                      \
    "{\"process_group\": [\"7\", \"tp\"], \"collective_seq_id\": 4, \"p2p_seq_id\": " number \
    ", \"is_p2p\": " p2p ", \"profiling_name\": \"nccl:" op "\", \"state\": \"" state "\"}"
#define BATCH(number, p2p, state)                                                                 \
    BATCHED(number, "true", "send 0->1", "scheduled")                                             \
    ", " BATCHED(number, "true", "recv 0<-1", "scheduled") ", " BATCHED(number, p2p, "coalesced", \
                                                                        state)

static void check_batches(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->entry_count, 9);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(flight->entries[i].state, i < 6 ? FLIGHT_COMPLETED : FLIGHT_SCHEDULED);
        assert_true(flight->entries[i].is_p2p);
    }
}

// The end of a batch has the state of its parts. PyTorch 2.4 and 2.5 mark it as a collective.
static void parts_of_a_batch_have_the_state_of_its_end(void **state)
{
    (void)state;
    in_both_forms("{\"version\": \"2.9\", " GROUPS
                  ", \"entries\": [" BATCH("1", "true", "completed") ", " BATCH(
                      "2", "false", "completed") ", " BATCH("3", "true", "scheduled") "]}",
                  check_batches);
}

static void check_first_version(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->group_count, 1);
    assert_text(hand, flight->groups[0].name, "default_pg");
    assert_int_equal(flight->entry_count, 2);
    assert_int_equal(flight->entries[0].collective_seq, 12);
    assert_false(flight->entries[0].is_p2p);
    assert_int_equal(flight->entries[0].state, FLIGHT_STARTED);
    assert_true(flight->entries[1].is_p2p);
}

// One sequence for both kinds, a group by its name alone, no statuses or types.
static void dumps_of_the_first_versions_are_read(void **state)
{
    (void)state;
    in_both_forms("{\"version\": \"1.5\", \"pg_config\": {}, \"entries\": ["
                  "{\"record_id\": 1, \"pg_id\": 0, \"process_group\": \"default_pg\","
                  " \"seq_id\": 12, \"op_id\": 12, \"profiling_name\": \"nccl:all_reduce\","
                  " \"time_created_ns\": 7, \"input_sizes\": [[4]], \"output_sizes\": [[4]],"
                  " \"state\": \"started\", \"time_discovered_started_ns\": 8,"
                  " \"time_discovered_completed_ns\": null, \"retired\": false},"
                  " {\"process_group\": \"default_pg\", \"seq_id\": 13,"
                  " \"profiling_name\": \"nccl:send 0->1\", \"state\": \"scheduled\"}]}",
                  check_first_version);
}

static void check_strange(const struct hand *hand)
{
    const struct flight *flight = &hand->evidence.flight;
    assert_int_equal(flight->group_count, 3); // two that only entries know
    assert_int_equal(flight->entry_count, 2);
    assert_text(hand, flight->groups[0].ranks, "");
    assert_int_equal(flight->entries[0].group, 1);
    assert_text(hand, flight->groups[1].desc, "what");
    assert_int_equal(flight->entries[0].collective_seq, -7);
    assert_int_equal(flight->entries[0].state, FLIGHT_OTHER);
    assert_int_equal(flight->entries[0].input.elements, INT64_MAX);
    assert_int_equal(flight->entries[1].collective_seq, FLIGHT_UNKNOWN);
}

static void strange_values_are_no_harm(void **state)
{
    (void)state;
    in_both_forms("{\"pg_config\": {\"x\": {\"desc\": 5, \"ranks\": \"[0, two]\"}, \"y\": 3},"
                  " \"pg_status\": {\"one\": {}, \"2\": []}, \"entries\": [4, {"
                  "\"process_group\": [\"new\", \"what\", \"more\", \"still\"],"
                  " \"collective_seq_id\": -7, \"state\": \"gone\", \"input_dtypes\": 3,"
                  " \"input_sizes\": [[4611686018427387904, 4], [1], 7, [\"a\"]], \"frames\": 1},"
                  " {\"process_group\": \"0\", \"collective_seq_id\": \"many\", \"state\": 5}]}",
                  check_strange);
}

static void check_secret(const struct hand *hand)
{
    assert_text(hand, hand->evidence.flight.groups[0].desc,
                "\xEF\xBF\xBDpassword=[redacted:named]");
}

static void secrets_and_control_characters_are_not_kept(void **state)
{
    (void)state;
    in_both_forms("{\"pg_config\": {\"0\": {\"desc\": \"\\u0007password=hunter2hunter2\"}}}",
                  check_secret);
}

// --- what is refused ----------------------------------------------------------------------------

static void assert_refused(struct str bytes, const char *message)
{
    struct hand hand;
    read_bytes(&hand, bytes, "");
    assert_false(hand.ok);
    assert_int_equal(hand.evidence.flight.rank, -1);
    assert_int_equal(hand.err.code, ERR_FORMAT);
    if (!strstr(hand.err.msg, message))
        fail_msg("%s", hand.err.msg);
    end(&hand);
}

static void damaged_dumps_are_refused(void **state)
{
    (void)state;
    struct buf pickle = {0};
    pickle_of_json(&pickle, "{\"pg_config\": {}, \"entries\": []}");
    assert_refused((struct str){pickle.at, pickle.len - 3}, "");
    assert_refused(STR("{\"pg_config\": {}, \"entries\": [{\"is_p2p\""), "ends early");
    assert_refused(STR("{\"pg_config\": }"), "bad JSON");
    assert_refused(STR("\x80\x02}X\x09\0\0\0pg_configNs."), "without process groups");
    assert_refused(STR("\x80\x02}X\x09\0\0\0pg_configcos\nsystem\n."), "names a class");
    buf_free(&pickle);
}

// A dict of a group that is its own member a thousand times, and a list of entries within itself.
static void cycles_and_repeated_references_come_to_an_end(void **state)
{
    (void)state;
    enum { TIMES = 4000 };
    struct buf pickle = {0};
    buf_puts(&pickle, "\x80\x02}(");
    pickle_text_of(&pickle, "pg_config");
    buf_puts(&pickle, "}q\1(");
    pickle_text_of(&pickle, "self");
    buf_puts(&pickle, "h\1u");
    pickle_text_of(&pickle, "entries");
    buf_puts(&pickle, "]q\2(h\2}q\3(");
    pickle_text_of(&pickle, "input_sizes");
    buf_puts(&pickle, "]q\4(");
    for (int i = 0; i < TIMES; i++)
        buf_puts(&pickle, "h\4");
    buf_puts(&pickle, "eu");
    for (int i = 0; i < TIMES; i++)
        buf_puts(&pickle, "h\3");
    buf_puts(&pickle, "eu.");
    assert_refused((struct str){pickle.at, pickle.len}, "many times");
    buf_free(&pickle);
}

static void a_budget_limits_what_many_groups_take(void **state)
{
    (void)state;
    enum { GROUPS_COUNT = 100000 };
    struct hand hand = {.budget.limit = 8 << 20};
    struct buf json = {0};
    buf_puts(&json, "{\"pg_config\": {");
    for (int i = 0; i < GROUPS_COUNT; i++)
        buf_printf(&json, "%s\"%d\": {\"desc\": \"d%d\", \"ranks\": \"[%d]\"}", i ? "," : "", i, i,
                   i);
    buf_puts(&json, "}}");
    evidence_init(&hand.evidence, &hand.budget);
    assert_false(flight_read((struct str){json.at, json.len}, "", &hand.evidence, &hand.err));
    assert_int_equal(hand.err.code, ERR_LIMIT);
    evidence_free(&hand.evidence);
    evidence_init(&hand.evidence, &hand.budget);
    hand.budget.limit = 0;
    assert_true(flight_read((struct str){json.at, json.len}, "", &hand.evidence, &hand.err));
    assert_int_equal(hand.evidence.flight.group_count, GROUPS_COUNT);
    end(&hand);
    buf_free(&json);
}

// --- names and lists ----------------------------------------------------------------------------

static void ranks_come_from_the_last_digits_of_names(void **state)
{
    (void)state;
    const struct {
        struct str name;
        int64_t rank;
    } names[] = {
        {STR("_dump_3"), 3},
        {STR("/tmp/h100-7/nccl_trace_rank_15"), 15},
        {STR("comm_lib_trace_rank_0.json"), 0},
        {STR("rank2/dump"), -1},
        {STR(""), -1},
        {STR("a99999999999999999999"), -1},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(flight_rank_of_name(names[i].name), names[i].rank);
}

static void lists_of_ranks_end_at_what_is_no_rank(void **state)
{
    (void)state;
    struct str list = STR("[0, 12,5 -3]");
    int64_t rank, sum = 0;
    int count = 0;
    for (; flight_next_rank(&list, &rank); count++)
        sum += rank;
    assert_int_equal(count, 3);
    assert_int_equal(sum, 17);
}

static void figures_count_operations_and_states(void **state)
{
    (void)state;
    static const char json[] =
        "{\"version\": \"2.9\", \"pg_config\": {}, \"entries\": ["
        "{\"profiling_name\": \"nccl:broadcast\", \"state\": \"started\"},"
        " {\"profiling_name\": \"nccl:send 0->1\", \"state\": \"started\"},"
        " {\"profiling_name\": \"nccl:broadcast\", \"state\": \"completed\"}]}";
    struct err err = {0};
    struct arena arena;
    struct budget budget = {0};
    struct buf out = {0};
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures, .filename = STR("rank_4")};
    input.source = source_mem_open(json, sizeof json - 1, 0, &err);
    assert_true(format_find(str_of(json), STR(""))->count(&input, &err));
    source_close(input.source);
    assert_int_equal(budget.used, 0);
    figures_json(&figures, &out);
    assert_string_equal(out.at, "{\"version\":\"2.9\",\"rank\":4,\"groups\":1,\"entries\":3,"
                                "\"states\":{\"started\":2,\"completed\":1},"
                                "\"ops\":{\"nccl:broadcast\":2,\"nccl:send 0->1\":1}}");
    buf_free(&out);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms_say_the_same),
        cmocka_unit_test(statuses_go_to_groups_in_the_order_of_their_numbers),
        cmocka_unit_test(statuses_are_not_guessed_against_what_entries_say),
        cmocka_unit_test(parts_of_a_batch_have_the_state_of_its_end),
        cmocka_unit_test(dumps_of_the_first_versions_are_read),
        cmocka_unit_test(strange_values_are_no_harm),
        cmocka_unit_test(secrets_and_control_characters_are_not_kept),
        cmocka_unit_test(damaged_dumps_are_refused),
        cmocka_unit_test(cycles_and_repeated_references_come_to_an_end),
        cmocka_unit_test(a_budget_limits_what_many_groups_take),
        cmocka_unit_test(ranks_come_from_the_last_digits_of_names),
        cmocka_unit_test(lists_of_ranks_end_at_what_is_no_rank),
        cmocka_unit_test(figures_count_operations_and_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
