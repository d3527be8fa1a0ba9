// SPDX-License-Identifier: Apache-2.0
// Pages name in their heads what they fetch first.
#include "server/http/early.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const char table[] = "# PATTERN ADDRESS\n"
                            "\n"
                            "/*?*             /static/{{tree}}/chunks/a.mjs\n"
                            "/                /api/v1/runs?sort=-created&limit=100\n"
                            "/runs/{run}?*    /api/v1/runs/{run}/summary\n"
                            "/runs/{run}      /api/v1/runs/{run}/steps?format=columns\n"
                            "/plan/*          /api/v1/plan\n"
                            "/compare?base&cand  /api/v1/compare?base={base}&cand={cand}\n";

// Whether an address has these links.
static bool links_are(const char *path, const char *query, const char *expected)
{
    struct arena arena;
    struct buf html = {0};
    struct err err = {0};
    arena_init(&arena, NULL);
    struct request request = {.arena = &arena, .path = str_of(path)};
    bool ok = query_parse(str_of(query), &arena, &request.query, &err);
    early_links(&request, str_of(table), &html);
    ok = ok && str_equal((struct str){html.at, html.len}, str_of(expected));
    if (!ok)
        print_message("found %s\n", html.at ? html.at : "nothing");
    buf_free(&html);
    arena_free(&arena);
    return ok;
}

#define MODULE         "  <link rel=\"modulepreload\" href=\"/static/{{tree}}/chunks/a.mjs\">\n"
#define FETCH(address) "  <link rel=\"preload\" as=\"fetch\" crossorigin href=\"" address "\">\n"

static void a_page_is_known_by_its_path(void **state)
{
    (void)state;
    assert_true(links_are("/", "", MODULE FETCH("/api/v1/runs?sort=-created&amp;limit=100")));
    assert_true(links_are("/plan", "", MODULE FETCH("/api/v1/plan")));
    assert_true(links_are("/plan/a/b", "", MODULE FETCH("/api/v1/plan")));
    assert_true(links_are("/plan", "a=1", MODULE));
    assert_true(links_are("/runs/a/b", "", MODULE));
    assert_true(links_are("/runs/", "", MODULE));
}

static void a_line_without_parameters_is_for_addresses_without(void **state)
{
    (void)state;
    assert_true(links_are("/runs/a", "",
                          MODULE FETCH("/api/v1/runs/a/summary")
                              FETCH("/api/v1/runs/a/steps?format=columns")));
    assert_true(links_are("/runs/a", "rank=3", MODULE FETCH("/api/v1/runs/a/summary")));
}

static void parameters_must_be_all_that_there_are(void **state)
{
    (void)state;
    assert_true(
        links_are("/compare", "base=a&cand=b", MODULE FETCH("/api/v1/compare?base=a&amp;cand=b")));
    assert_true(links_are("/compare", "base=a&cand=b&per=token", MODULE));
    assert_true(links_are("/compare", "base=a&cand=b&cand=c", MODULE));
    assert_true(links_are("/compare", "base=a&cand=", MODULE));
    assert_true(links_are("/compare", "base=a", MODULE));
}

static void names_are_written_as_the_page_writes_them(void **state)
{
    (void)state;
    assert_true(links_are("/runs/a%20b(1)%22%3E", "x=1",
                          MODULE FETCH("/api/v1/runs/a%20b(1)%22%3E/summary")));
    assert_true(links_are("/compare", "base=a%20b(1)&cand=c~@%7B%7Btree%7D%7D",
                          MODULE FETCH("/api/v1/compare?base=a+b%281%29&amp;cand="
                                       "c%7E%40%7B%7Btree%7D%7D")));
}

static void what_is_no_text_has_no_link(void **state)
{
    (void)state;
    assert_true(links_are("/runs/%ff", "", MODULE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_known_by_its_path),
        cmocka_unit_test(a_line_without_parameters_is_for_addresses_without),
        cmocka_unit_test(parameters_must_be_all_that_there_are),
        cmocka_unit_test(names_are_written_as_the_page_writes_them),
        cmocka_unit_test(what_is_no_text_has_no_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
