// SPDX-License-Identifier: Apache-2.0
// Lists of more runs than are counted have what the rows say, in the order that is asked for.
#include "ingest/base/clock.h"
#include "tests/unit/many_runs.h"

static void lists_of_many_runs_are_what_their_rows_say(void **state)
{
    list_many_runs(*state);
}

// A key of an index may have less.
static void a_note_may_be_as_long_as_it_is_said_to(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct run_list list;
    char text[STORE_NOTE_MAX_BYTES];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof text; i++) {
        random = random * 1664525 + 1013904223;
        text[i] = i % 8 == 7 ? ' ' : (char)('a' + (random >> 24) % 26);
    }
    struct str note = {text, sizeof text};
    struct run_request request = {
        .name = STR("a"), .project = STR("p"), .note = note, .world_size = STORE_ANY};
    struct run_query query = {.search = {text + sizeof text - 40, 39}, .limit = 2};
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 1);
    assert_true(str_equal(list.runs[0].note, note));
}

// Of 100 kB. Others wait while a run's text is noted.
static void a_run_with_all_the_tags_it_may_have_is_created_soon(void **state)
{
    enum { MOST_S = 10, TEXT = STORE_NAME_MAX_BYTES };
    struct fixture *f = *state;
    struct run run;
    struct run_tag tags[STORE_MAX_TAGS];
    char *texts = arena_alloc(&f->arena, STORE_MAX_TAGS * (TEXT + 1), &f->err);
    for (size_t i = 0; i < STORE_MAX_TAGS; i++) {
        char *text = texts + i * (TEXT + 1);
        snprintf(text, TEXT + 1, "%0*zu", (int)TEXT, i);
        tags[i] = (struct run_tag){{text, TEXT}, {text, TEXT}};
    }
    struct run_request request = {
        .name = STR("a"), .tags = tags, .tag_count = STORE_MAX_TAGS, .world_size = STORE_ANY};
    int64_t begin_ns = clock_mono_ns();
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    assert_in_range(clock_mono_ns() - begin_ns, 0, MOST_S * INT64_C(1000000000));
}

static void expect_found(struct fixture *f, const char *text, uint64_t runs)
{
    struct run_query query = {.search = str_of(text), .limit = 2};
    struct run_list list;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, runs);
}

static void expect_total(struct fixture *f, const char *text, uint64_t runs)
{
    struct run_query query = {.search = str_of(text), .limit = 2};
    struct run_list list;
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    if (list.total != runs)
        fail_msg("found %llu runs with '%s', not %llu", (unsigned long long)list.total, text,
                 (unsigned long long)runs);
}

static void a_search_finds_what_a_run_is_called_now(void **state)
{
    struct fixture *f = *state;
    struct run run;
    struct run_tag tag = {STR("branch"), STR("main")};
    struct str name = STR("second"), note = STR("\u8bad\u7ec3 s\u00c9");
    struct run_request request = named("first");
    struct run_patch patch = {.name = &name, .tags = &tag, .tag_count = 1};
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
    expect_found(f, "firs", 1);
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
    expect_found(f, "firs", 0);
    expect_found(f, "CON", 1);
    expect_found(f, "branch=mai", 1);
    expect_found(f, "n", 1);
    expect_found(f, "IN", 1);
    expect_found(f, "z", 0);
    expect_found(f, "\u8bad\u7ec3", 0);
    patch = (struct run_patch){.note = &note};
    assert_ok(f, store_patch_run(f->store, run.id, &patch, STORE_ANY, &f->err));
    expect_found(f, "\u8bad\u7ec3", 1);
    expect_found(f, "\u00c9", 1);
    expect_found(f, "S\u00c9", 1);
    assert_ok(f, store_delete_run(f->store, run.id, STORE_ANY, &f->err));
    if (is_on_sqlite(f)) // an index that has what its texts lack fails
        db_raw_run(f->path, "INSERT INTO run_text_index (run_text_index, rank) "
                            "VALUES ('integrity-check', 1)");
}

static void create_with_note(struct fixture *f, const char *note)
{
    struct run run;
    struct run_request request = {.note = str_of(note), .world_size = STORE_ANY};
    assert_ok(f, store_create_run(f->store, &request, &f->arena, &run, &f->err));
}

// How many texts have it, looked at one by one.
static int64_t count_texts(struct fixture *f, const char *part)
{
    struct buf sql = {0};
    buf_puts(&sql, "SELECT count(*) FROM run_text WHERE text LIKE '%");
    for (const char *c = part; *c; c++) {
        buf_puts(&sql, *c == '\'' ? "'" : *c == '%' || *c == '_' || *c == '\\' ? "\\" : "");
        buf_add(&sql, c, 1);
    }
    buf_puts(&sql, "%' ESCAPE '\\'");
    int64_t count = db_raw_number(f->path, sql.at);
    buf_free(&sql);
    return count;
}

// Of the letters of a text from one on.
static size_t bytes_of(const char *text, int letters)
{
    size_t len = 0;
    while (text[len] && (letters > 0 || (text[len] & 0xc0) == 0x80))
        letters -= (text[++len] & 0xc0) != 0x80;
    return len;
}

static void a_search_finds_each_part_of_a_text(void **state)
{
    static const char *const notes[] = {"100% of \"a_b\"", "a*b (-c) NEAR/2",
                                        "it's C:\\x^y",    "\u8bad\u7ec3 Kraft",
                                        "\u00c9t\u00e9",   "\u212a\u017f \u00dfx\u0130",
                                        "\U0001f600ok",    "e\u0301 \uac00\u3042\uff21"};
    enum { COUNT = sizeof notes / sizeof *notes, MOST_LETTERS = 5 };
    struct fixture *f = *state;
    for (size_t i = 0; i < COUNT; i++)
        create_with_note(f, notes[i]);
    for (size_t i = 0; i < COUNT; i++)
        for (const char *at = notes[i]; *at; at += bytes_of(at, 1))
            for (int letters = 1; letters <= MOST_LETTERS; letters++) {
                char part[40];
                snprintf(part, sizeof part, "%.*s", (int)bytes_of(at, letters), at);
                expect_total(f, part, (uint64_t)count_texts(f, part));
            }
}

// As after some were deleted.
static void a_page_past_the_end_adds_no_runs(void **state)
{
    struct fixture *f = *state;
    struct run_query query = {.gpu = STR("h100"), .limit = 5, .offset = 1000000};
    struct run_list list;
    db_raw_run(f->path, many_runs);
    f->audits = AUDITS_PER_TEST; // rows that no operation wrote
    assert_ok(f, store_list_runs(f->store, &query, &f->arena, &list, &f->err));
    assert_int_equal(list.count, 0);
    assert_in_range(list.total, 1, count_of(f, "gpu = 'NVIDIA H100'"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lists_of_many_runs_are_what_their_rows_say, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_page_past_the_end_adds_no_runs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_search_finds_what_a_run_is_called_now, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_search_finds_each_part_of_a_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_with_all_the_tags_it_may_have_is_created_soon, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_note_may_be_as_long_as_it_is_said_to, set_up, tear_down),
    };
    return run_on_each_kind(tests);
}
