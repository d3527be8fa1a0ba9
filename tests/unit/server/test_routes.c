// SPDX-License-Identifier: Apache-2.0
// Addresses find their handlers, and everything else gets a clear answer.
#include "server/routes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct found {
    struct arena arena;
    struct request request;
    struct response response;
    struct err err;
    bool ok;
};

static void find_with(struct found *found, const char *method, const char *path, const char *query)
{
    *found = (struct found){0};
    arena_init(&found->arena, NULL);
    response_init(&found->response);
    found->request = (struct request){.arena = &found->arena,
                                      .method = str_of(method),
                                      .path = str_of(path),
                                      .query_text = str_of(query)};
    found->ok = routes_find(&found->request, &found->response, &found->err);
}

static void find(struct found *found, const char *method, const char *path)
{
    find_with(found, method, path, "");
}

static void end(struct found *found)
{
    response_free(&found->response);
    arena_free(&found->arena);
}

static void assert_route(const char *method, const char *path, const char *pattern)
{
    struct found found;
    find(&found, method, path);
    assert_true(found.ok);
    assert_non_null(found.request.route);
    assert_string_equal(found.request.route->pattern, pattern);
    end(&found);
}

static void addresses_find_their_rows(void **state)
{
    (void)state;
    assert_route("GET", "/", "/");
    assert_route("HEAD", "/healthz", "/healthz");
    assert_route("GET", "/api/v1/runs", "/api/v1/runs");
    assert_route("GET", "/api/v1/runs/x", "/api/v1/runs/{run}");
    assert_route("PATCH", "/api/v1/runs/x", "/api/v1/runs/{run}");
    assert_route("PUT", "/api/v1/runs/x/ranks/0/trace", "/api/v1/runs/{run}/ranks/{rank}/trace");
    assert_route("GET", "/api/v1/runs/x/ranks", "/api/v1/runs/{run}/ranks");
    assert_route("GET", "/runs", "/runs");
    assert_route("GET", "/runs/x/kernels", "/runs/{page*}");
    assert_route("GET", "/standalone/", "/standalone/{path*?}");
    assert_route("POST", "/upload", "/upload");
}

static void assert_sent_to(const char *path, const char *query, const char *location)
{
    struct found found;
    find_with(&found, "GET", path, query);
    assert_true(found.ok);
    assert_null(found.request.route);
    assert_int_equal(found.response.status, 308);
    assert_true(str_equal(found.response.headers[0].name, STR("Location")));
    assert_true(str_equal(found.response.headers[0].value, str_of(location)));
    end(&found);
}

static void pages_are_found_without_a_slash_at_the_end(void **state)
{
    (void)state;
    assert_sent_to("/runs/", "", "/runs");
    assert_sent_to("/docs/api/", "", "/docs/api");
    assert_sent_to("/compare/", "a=x%2Fy&b=z", "/compare?a=x%2Fy&b=z");
}

static void captures_are_decoded_and_may_hold_slashes(void **state)
{
    (void)state;
    struct found found;
    find(&found, "GET", "/api/v1/runs/team%2Frun%201");
    assert_true(found.ok);
    assert_true(str_equal(found.request.captures[0], STR("team/run 1")));
    end(&found);
    find(&found, "GET", "/static/abc/css/base.css");
    assert_true(str_equal(found.request.captures[0], STR("abc")));
    assert_true(str_equal(found.request.captures[1], STR("css/base.css")));
    end(&found);
}

static void other_addresses_are_not_found(void **state)
{
    (void)state;
    const char *const none[] = {"/nope",
                                "/api/v1/runs/",
                                "/api/v1/runs//kernels",
                                "/api/v1",
                                "/api/v1/runs/x/",
                                "/compare//",
                                "/static/abc",
                                "//",
                                "/api/v1/../v1/runs",
                                "/API/v1/runs",
                                "/healthz/"};
    for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++) {
        struct found found;
        find(&found, "GET", none[i]);
        if (found.ok || found.err.code != ERR_NOT_FOUND)
            fail_msg("%s was found", none[i]);
        end(&found);
    }
}

static void other_methods_get_the_right_ones(void **state)
{
    (void)state;
    struct found found;
    find(&found, "DELETE", "/api/v1/runs");
    assert_false(found.ok);
    assert_int_equal(found.response.status, 405);
    assert_true(str_equal(found.response.headers[0].name, STR("Allow")));
    assert_true(str_equal(found.response.headers[0].value, STR("OPTIONS, GET, HEAD, POST")));
    end(&found);
    find(&found, "OPTIONS", "/upload");
    assert_true(found.ok);
    assert_null(found.request.route);
    assert_int_equal(found.response.status, 204);
    end(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_find_their_rows),
        cmocka_unit_test(pages_are_found_without_a_slash_at_the_end),
        cmocka_unit_test(captures_are_decoded_and_may_hold_slashes),
        cmocka_unit_test(other_addresses_are_not_found),
        cmocka_unit_test(other_methods_get_the_right_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
