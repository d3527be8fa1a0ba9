// SPDX-License-Identifier: Apache-2.0
// What people say and keep: comments on a run and its rows, pages saved under a short link.
#include "server/store/store_promises.h"
#include "server/store/store_said.h"
#include "tests/unit/store_fixture.h"

static struct comment *comments_of(struct fixture *f, struct str run_id, size_t *count)
{
    struct comment *comments;
    assert_ok(f, store_list_comments(f->store, run_id, &f->arena, &comments, count, &f->err));
    return comments;
}

static void comments_keep_their_place_and_author(void **state)
{
    struct fixture *f = *state;
    size_t count;
    struct upload upload = add(f, "r", 'a', 0, "x.json");
    struct comment first = {.text = STR("the loader was slow"), .author = STR("Ada")};
    struct comment second = {
        .text = STR("known"), .author = STR("Bo"), .place = STR("kernels/gemm<1, 2>")};
    assert_ok(f, store_add_comment(f->store, upload.run_id, &first, &f->err));
    assert_ok(f, store_add_comment(f->store, upload.run_id, &second, &f->err));
    struct comment *comments = comments_of(f, upload.run_id, &count);
    assert_int_equal(count, 2);
    assert_text(comments[0].text, "the loader was slow");
    assert_text(comments[0].place, "");
    assert_text(comments[1].author, "Bo");
    assert_text(comments[1].place, "kernels/gemm<1, 2>");
    assert_ok(f, store_drop_comment(f->store, upload.run_id, comments[0].id, &f->err));
    assert_false(store_drop_comment(f->store, upload.run_id, comments[0].id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    comments_of(f, upload.run_id, &count);
    assert_int_equal(count, 1);
}

static void check_refused(struct fixture *f, struct str run_id, struct comment comment)
{
    assert_false(store_add_comment(f->store, run_id, &comment, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void a_promise_is_kept_with_its_interval_or_without(void **state)
{
    struct fixture *f = *state;
    struct promise *promises;
    size_t count;
    struct str run_id = add(f, "r", 'a', 0, "x.json").run_id;
    struct promise wide = {.changes = STR("host_free\nscale=0.5:op=*"),
                           .author = STR("Ada"),
                           .base_ns = 300,
                           .step_ns = 200,
                           .low_ns = 190,
                           .high_ns = 210};
    struct promise lone = {
        .changes = STR("balanced"), .author = STR("Bo"), .low_ns = -1, .high_ns = -1};
    struct promise empty = {.changes = STR("\n"), .author = STR("Bo")};
    assert_ok(f, store_add_promise(f->store, run_id, &wide, &f->err));
    assert_ok(f, store_add_promise(f->store, run_id, &lone, &f->err));
    assert_false(store_add_promise(f->store, run_id, &empty, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_ok(f, store_list_promises(f->store, run_id, &f->arena, &promises, &count, &f->err));
    assert_int_equal(count, 2);
    assert_text(promises[0].changes, "host_free\nscale=0.5:op=*");
    assert_text(promises[0].author, "Ada");
    assert_int_equal(promises[0].base_ns, 300);
    assert_int_equal(promises[0].step_ns, 200);
    assert_int_equal(promises[0].low_ns, 190);
    assert_int_equal(promises[0].high_ns, 210);
    assert_int_equal(promises[1].low_ns, -1);
    assert_int_equal(promises[1].high_ns, -1);
    assert_ok(f, store_drop_promise(f->store, run_id, promises[0].id, &f->err));
    assert_false(store_drop_promise(f->store, run_id, promises[0].id, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void comments_are_checked_and_their_secrets_masked(void **state)
{
    struct fixture *f = *state;
    size_t count;
    struct str run_id = add(f, "r", 'a', 0, "x.json").run_id;
    char big[STORE_NOTE_MAX_BYTES + 1];
    memset(big, 'x', sizeof big);
    check_refused(f, run_id, (struct comment){.text = STR(" \n"), .author = STR("a")});
    check_refused(f, run_id, (struct comment){.text = STR("\xff"), .author = STR("a")});
    check_refused(f, run_id, (struct comment){.text = {big, sizeof big}, .author = STR("a")});
    check_refused(f, run_id, (struct comment){.text = STR("t"), .author = STR("a\nb")});
    check_refused(f, run_id, (struct comment){.text = STR("t"), .place = STR("a\x01")});
    struct comment leak = {.text = STR("use ghp_0123456789abcdefghijklmnopqrstuvwxyz"),
                           .author = STR("a")};
    assert_ok(f, store_add_comment(f->store, run_id, &leak, &f->err));
    struct comment *comments = comments_of(f, run_id, &count);
    assert_int_equal(count, 1);
    assert_int_equal(str_find(comments[0].text, STR("ghp_0123")), SIZE_MAX);
}

static void a_saved_view_is_found_by_its_link_and_saved_once(void **state)
{
    struct fixture *f = *state;
    struct saved_view view = {.address = STR("/?q=x"), .author = STR("Ada")}, again = view, found;
    struct saved_view named = {.address = STR("/?q=x"), .name = STR("mine"), .author = STR("Bo")};
    struct saved_view *views;
    size_t count;
    assert_ok(f, store_save_view(f->store, &f->arena, &view, &f->err));
    assert_ok(f, store_save_view(f->store, &f->arena, &again, &f->err));
    assert_true(str_equal(view.id, again.id));
    assert_ok(f, store_save_view(f->store, &f->arena, &named, &f->err));
    assert_ok(f, store_find_view(f->store, view.id, &f->arena, &found, &f->err));
    assert_text(found.address, "/?q=x");
    assert_ok(f, store_list_views(f->store, &f->arena, &views, &count, &f->err));
    assert_int_equal(count, 1);
    assert_text(views[0].name, "mine");
    assert_ok(f, store_drop_view(f->store, named.id, &f->err));
    assert_false(store_find_view(f->store, named.id, &f->arena, &found, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
    assert_false(store_drop_view(f->store, named.id, &f->err));
}

static void only_paths_of_this_service_are_saved(void **state)
{
    struct fixture *f = *state;
    static const char *const wrong[] = {"",      "trends",      "//evil.example", "/\\evil.example",
                                        "/a b",  "/a\n",        "https://x",      "/\xc3\xa9",
                                        "/\x7f", "javascript:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct saved_view view = {.address = str_of(wrong[i]), .author = STR("a")};
        assert_false(store_save_view(f->store, &f->arena, &view, &f->err));
        assert_int_equal(f->err.code, ERR_USAGE);
    }
}

static void an_address_that_no_index_takes_is_refused(void **state)
{
    struct fixture *f = *state;
    char address[STORE_ADDRESS_MAX_BYTES + 1];
    memset(address, 'x', sizeof address);
    address[0] = '/';
    struct saved_view view = {.address = {address, sizeof address - 1}, .author = STR("a")};
    assert_ok(f, store_save_view(f->store, &f->arena, &view, &f->err));
    view.address.len++;
    assert_false(store_save_view(f->store, &f->arena, &view, &f->err));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void links_without_a_name_make_room_and_named_views_stay(void **state)
{
    struct fixture *f = *state;
    db_raw_run(f->path, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE "
                        "i < 10000) INSERT INTO saved_view SELECT 'v_' || i, '', '/?q=' || i, "
                        "'a', i FROM n");
    db_raw_run(f->path, "INSERT INTO saved_view VALUES ('v_0', 'kept', '/', 'a', 0)");
    struct saved_view link = {.address = STR("/new"), .author = STR("a")}, found;
    struct saved_view named = {.address = STR("/"), .name = STR("n"), .author = STR("a")};
    assert_ok(f, store_save_view(f->store, &f->arena, &link, &f->err));
    assert_ok(f, store_save_view(f->store, &f->arena, &named, &f->err));
    assert_ok(f, store_find_view(f->store, link.id, &f->arena, &found, &f->err));
    assert_ok(f, store_find_view(f->store, STR("v_0"), &f->arena, &found, &f->err));
    assert_ok(f, store_find_view(f->store, STR("v_2"), &f->arena, &found, &f->err));
    assert_false(store_find_view(f->store, STR("v_1"), &f->arena, &found, &f->err));
    assert_int_equal(f->err.code, ERR_NOT_FOUND);
}

static void comments_go_with_their_run(void **state)
{
    struct fixture *f = *state;
    size_t count;
    struct str run_id = add(f, "r", 'a', 0, "x.json").run_id;
    struct comment comment = {.text = STR("t"), .author = STR("a")};
    assert_ok(f, store_add_comment(f->store, run_id, &comment, &f->err));
    assert_ok(f, store_delete_run(f->store, run_id, STORE_ANY, &f->err));
    comments_of(f, run_id, &count);
    assert_int_equal(count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comments_keep_their_place_and_author),
        TEST(comments_are_checked_and_their_secrets_masked),
        TEST(a_promise_is_kept_with_its_interval_or_without),
        TEST(a_saved_view_is_found_by_its_link_and_saved_once),
        TEST(only_paths_of_this_service_are_saved),
        TEST(an_address_that_no_index_takes_is_refused),
        TEST(links_without_a_name_make_room_and_named_views_stay),
        TEST(comments_go_with_their_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
