// SPDX-License-Identifier: Apache-2.0
// Messages of both generations of the protocol get the answers that it prescribes.
#include "server/mcp/mcp.h"
#include "server/mcp/mcp_rpc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#define META(version)                                                   \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define MODERN META("2026-07-28")

static json_t *parse(const char *text, size_t len)
{
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
    if (!root)
        fail_msg("not JSON: %.*s", (int)len, text);
    return root;
}

// --- over standard input ------------------------------------------------------------------------

// The answer to a line; NULL if there is none.
static json_t *say(const char *line)
{
    struct buf out = {0};
    struct arena arena;
    arena_init(&arena, NULL);
    struct request request = {.arena = &arena};
    mcp_answer_line(&request, str_of(line), &out);
    arena_free(&arena);
    if (!out.len) {
        buf_free(&out);
        return NULL;
    }
    assert_true(memchr(out.at, '\n', out.len) == out.at + out.len - 1);
    json_t *answer = parse(out.at, out.len - 1);
    buf_free(&out);
    return answer;
}

static json_t *result_of(json_t *answer)
{
    json_t *result = json_object_get(answer, "result");
    if (!result)
        fail_msg("%s",
                 json_string_value(json_object_get(json_object_get(answer, "error"), "message")));
    return result;
}

static void assert_refused(const char *line, int code)
{
    json_t *answer = say(line);
    assert_non_null(answer);
    json_t *error = json_object_get(answer, "error");
    if (json_integer_value(json_object_get(error, "code")) != code)
        fail_msg("%s: expected %d, found %lld", line, code,
                 (long long)json_integer_value(json_object_get(error, "code")));
    json_decref(answer);
}

static void assert_version(const char *asked, const char *expected)
{
    char line[300];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
             "\"protocolVersion\":\"%s\",\"capabilities\":{},\"clientInfo\":{}}}",
             asked);
    json_t *answer = say(line), *result = result_of(answer);
    assert_string_equal(json_string_value(json_object_get(result, "protocolVersion")), expected);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(result, "serverInfo"), "name")),
        "stepscope");
    assert_null(json_object_get(result, "resultType"));
    json_decref(answer);
}

static void initialize_agrees_on_a_version(void **state)
{
    (void)state;
    assert_version("2025-11-25", "2025-11-25");
    assert_version("2025-03-26", "2025-03-26");
    assert_version("2024-11-05", "2024-11-05");
    assert_version("2019-01-01", "2025-11-25");
    assert_version("2026-07-28", "2025-11-25");
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}", -32602);
}

static void discover_lists_versions(void **state)
{
    (void)state;
    json_t *answer = say("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"server/discover\","
                         "\"params\":{" MODERN "}}");
    json_t *result = result_of(answer);
    assert_string_equal(json_string_value(json_object_get(answer, "id")), "x");
    assert_string_equal(
        json_string_value(json_array_get(json_object_get(result, "supportedVersions"), 0)),
        "2026-07-28");
    assert_string_equal(json_string_value(json_object_get(result, "resultType")), "complete");
    assert_string_equal(json_string_value(json_object_get(result, "cacheScope")), "public");
    assert_non_null(json_object_get(json_object_get(result, "_meta"), MCP_META "serverInfo"));
    json_decref(answer);
}

static void tools_are_listed_with_schemas(void **state)
{
    (void)state;
    json_t *answer = say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"), *tool = NULL;
    json_t *tools = json_object_get(result_of(answer), "tools");
    size_t i = 0;
    assert_in_range(json_array_size(tools), 8, 9);
    json_array_foreach(tools, i, tool)
    {
        json_t *schema = json_object_get(tool, "inputSchema");
        assert_string_equal(json_string_value(json_object_get(schema, "type")), "object");
        assert_true(
            json_is_true(json_object_get(json_object_get(tool, "annotations"), "readOnlyHint")));
        assert_true(strlen(json_string_value(json_object_get(tool, "description"))) < 400);
    }
    json_decref(answer);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":"
                   "{\"cursor\":\"\"}}",
                   -32602);
}

static void each_generation_has_its_methods(void **state)
{
    (void)state;
    json_t *pong = say("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    assert_int_equal(json_object_size(result_of(pong)), 0);
    json_decref(pong);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{" MODERN "}}",
                   -32601);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", -32602);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", -32601);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
                       "2031-01-01") "}}",
                   -32022);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
                   "{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}",
                   -32602);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":"
                   "{\"io.modelcontextprotocol/protocolVersion\":7}}}",
                   -32022);
}

static void malformed_messages_are_refused(void **state)
{
    (void)state;
    assert_refused("", -32700);
    assert_refused("{\"jsonrpc\":\"2.0\"", -32700);
    assert_refused("[]", -32600);
    assert_refused("7", -32700); // no object or array: the library reads no more
    assert_refused("{}", -32600);
    assert_refused("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", -32600);
    json_t *answer = say("nonsense");
    assert_null(json_object_get(answer, "id")); // null would fit neither generation's schema
    json_decref(answer);
}

static void notifications_get_no_answer(void **state)
{
    (void)state;
    assert_null(say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
    assert_null(say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                    "{\"requestId\":1}}"));
    assert_null(say("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
}

// --- arguments of tools -------------------------------------------------------------------------

static void assert_mended(const char *tool, const char *arguments, const char *advice)
{
    char line[600];
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
             "\"arguments\":%s}}",
             tool, arguments);
    json_t *answer = say(line), *result = result_of(answer);
    json_t *content = json_array_get(json_object_get(result, "content"), 0);
    const char *text = json_string_value(json_object_get(content, "text"));
    assert_true(json_is_true(json_object_get(result, "isError")));
    assert_null(json_object_get(result, "structuredContent"));
    if (!strstr(text, advice))
        fail_msg("expected '%s' in '%s'", advice, text);
    json_decref(answer);
}

static void wrong_arguments_get_advice(void **state)
{
    (void)state;
    assert_mended("overview", "{}", "run is missing; overview takes run (required)");
    assert_mended("overview", "{\"run\":7}", "run must be a text");
    assert_mended("overview", "{\"run\":\"a\\nb\"}", "without control characters");
    assert_mended("overview", "{\"run\":\"x\",\"rum\":1}", "unknown argument 'rum'");
    assert_mended("explain", "{\"run\":\"x\",\"topic\":\"y\"}", "expected one of late_rank, idle");
    assert_mended("findings", "{\"run\":\"x\",\"limit\":9}",
                  "limit must be an integer from 1 to 8");
    assert_mended("table", "{\"run\":\"x\",\"table\":\"kernels\",\"columns\":[]}", "1 to 12 texts");
    assert_mended("table", "{\"run\":\"x\",\"table\":\"kernels\",\"where\":{\"a\":[]}}",
                  "where must be an object");
    assert_mended("gate", "{\"base\":\"a\",\"cand\":\"b\",\"max_regression\":11}", "from -0.99");
    assert_mended("gate", "{\"base\":\"a\",\"cand\":\"b\",\"sequential\":1}", "true or false");
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                   "{\"name\":\"drop_table\"}}",
                   -32602);
    assert_refused("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                   "{\"name\":\"overview\",\"arguments\":7}}",
                   -32602);
}

// --- over HTTP ----------------------------------------------------------------------------------

static bool pull(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct str *rest = ctx;
    *got = rest->len < cap ? rest->len : cap;
    memcpy(bytes, rest->at, *got);
    *rest = (struct str){rest->at + *got, rest->len - *got};
    return true;
}

struct posted {
    const char *version, *method, *name, *body;
};

// The status of the answer; *code of its error, 0 none.
static int post(const struct posted *posted, int *code)
{
    struct str rest = str_of(posted->body);
    struct body body = {.pull = pull, .ctx = &rest, .length = rest.len, .limit = UINT64_MAX};
    struct request_header headers[4] = {{STR("Content-Type"), STR("application/json")}};
    size_t count = 1;
    struct arena arena;
    struct err err = {0};
    struct response response;
    if (posted->version)
        headers[count++] =
            (struct request_header){STR("MCP-Protocol-Version"), str_of(posted->version)};
    if (posted->method)
        headers[count++] = (struct request_header){STR("mcp-method"), str_of(posted->method)};
    if (posted->name)
        headers[count++] = (struct request_header){STR("Mcp-Name"), str_of(posted->name)};
    arena_init(&arena, NULL);
    response_init(&response);
    struct request request = {
        .arena = &arena, .headers = headers, .header_count = count, .body = &body};
    assert_true(mcp_post(&request, &response, &err));
    assert_true(request.changes_nothing);
    *code = 0;
    if (response.body.len) {
        json_t *answer = parse(response.body.at, response.body.len);
        *code = (int)json_integer_value(json_object_get(json_object_get(answer, "error"), "code"));
        json_decref(answer);
    }
    int status = response.status;
    response_free(&response);
    arena_free(&arena);
    return status;
}

static void assert_posted(struct posted posted, int status, int code)
{
    int found_code = 0, found = post(&posted, &found_code);
    if (found != status || found_code != code)
        fail_msg("%s: found %d, %d", posted.body, found, found_code);
}

#define LIST(params) "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"" params "}"
#define LIST_MODERN  LIST(",\"params\":{" MODERN "}")
#define CALL_MODERN                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"overview\"," \
    "\"arguments\":{}," MODERN "}}"

static void headers_must_say_what_the_message_says(void **state)
{
    (void)state;
    const char *now = "2026-07-28";
    assert_posted((struct posted){now, "tools/list", NULL, LIST_MODERN}, 200, 0);
    assert_posted((struct posted){NULL, "tools/list", NULL, LIST_MODERN}, 400, -32020);
    assert_posted((struct posted){now, NULL, NULL, LIST_MODERN}, 400, -32020);
    assert_posted((struct posted){now, "tools/call", NULL, LIST_MODERN}, 400, -32020);
    assert_posted((struct posted){"2025-11-25", "tools/list", NULL, LIST_MODERN}, 400, -32020);
    assert_posted((struct posted){now, "tools/call", "overview", CALL_MODERN}, 200, 0);
    assert_posted((struct posted){now, "tools/call", "=?base64?b3ZlcnZpZXc=?=", CALL_MODERN}, 200,
                  0);
    assert_posted((struct posted){now, "tools/call", "=?base64?!?=", CALL_MODERN}, 400, -32020);
    assert_posted((struct posted){now, "tools/call", NULL, CALL_MODERN}, 400, -32020);
    assert_posted((struct posted){now, "tools/call", "gate", CALL_MODERN}, 400, -32020);
}

static void statuses_differ_between_generations(void **state)
{
    (void)state;
    assert_posted((struct posted){NULL, NULL, NULL, LIST("")}, 200, 0);
    assert_posted((struct posted){"2025-06-18", NULL, NULL, LIST("")}, 200, 0);
    assert_posted((struct posted){"1999-01-01", NULL, NULL, LIST("")}, 400, -32022);
    assert_posted((struct posted){"2026-07-28", NULL, NULL, LIST("")}, 400, -32602);
    assert_posted((struct posted){"2031-01-01", "tools/list", NULL,
                                  LIST(",\"params\":{" META("2031-01-01") "}")},
                  400, -32022);
    assert_posted((struct posted){.body = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}"},
                  200, -32601);
    assert_posted(
        (struct posted){"2026-07-28", "nope", NULL,
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\",\"params\":{" MODERN
                        "}}"},
        404, -32601);
    assert_posted((struct posted){.body = "nonsense"}, 400, -32700);
    assert_posted((struct posted){.body = "[]"}, 400, -32600);
    assert_posted(
        (struct posted){.body = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"},
        202, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initialize_agrees_on_a_version),
        cmocka_unit_test(discover_lists_versions),
        cmocka_unit_test(tools_are_listed_with_schemas),
        cmocka_unit_test(each_generation_has_its_methods),
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(notifications_get_no_answer),
        cmocka_unit_test(wrong_arguments_get_advice),
        cmocka_unit_test(headers_must_say_what_the_message_says),
        cmocka_unit_test(statuses_differ_between_generations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
