// SPDX-License-Identifier: Apache-2.0
// The API's description lists every route and no other, its scopes, the errors it may return, and
// the columns of every table. After a route or a column has changed, run it with --update: it
// rewrites row schemas, x-scopes and the errors shared by many operations in schema/openapi.json.
#include "analysis/analysis.h"
#include "analysis/compare/compare.h"
#include "server/base/token.h"
#include "server/http/response.h"
#include "server/exports/export.h"
#include "server/routes.h"
#include "server/store/server_tables.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>

#define DESCRIPTION "schema/openapi.json"

static json_t *load(void)
{
    json_error_t error;
    json_t *root = json_load_file(DESCRIPTION, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s:%d: %s", DESCRIPTION, error.line, error.text);
    return root;
}

// "/static/{tree}/{path*}" is "/static/{tree}/{path}" there.
static void plain_pattern(const char *pattern, char *out, size_t size)
{
    size_t len = 0;
    for (; *pattern && len + 1 < size; pattern++)
        if (*pattern != '*' && *pattern != '?')
            out[len++] = *pattern;
    out[len] = '\0';
}

static void lower_case(const char *method, char *out, size_t size)
{
    size_t len = 0;
    for (; *method && len + 1 < size; method++)
        out[len++] = (char)tolower((unsigned char)*method);
    out[len] = '\0';
}

static void every_route_is_described(void **state)
{
    (void)state;
    json_t *root = load();
    json_t *paths = json_object_get(root, "paths");
    for (size_t i = 0; i < routes_count; i++) {
        char path[128], method[16];
        plain_pattern(routes[i].pattern, path, sizeof(path));
        lower_case(routes[i].method, method, sizeof(method));
        json_t *operation = json_object_get(json_object_get(paths, path), method);
        if (!operation)
            fail_msg("%s %s is not in %s", routes[i].method, routes[i].pattern, DESCRIPTION);
        assert_true(json_string_length(json_object_get(operation, "summary")) > 0);
        assert_true(json_string_length(json_object_get(operation, "description")) > 0);
    }
    json_decref(root);
}

static bool is_route(const char *path, const char *method)
{
    for (size_t i = 0; i < routes_count; i++) {
        char own_path[128], own_method[16];
        plain_pattern(routes[i].pattern, own_path, sizeof(own_path));
        lower_case(routes[i].method, own_method, sizeof(own_method));
        if (strcmp(path, own_path) == 0 && strcmp(method, own_method) == 0)
            return true;
    }
    return false;
}

// --- scopes -------------------------------------------------------------------------------------

// "read,upload" as a list.
static json_t *scopes_of(const struct route *route)
{
    char words[TOKEN_SCOPES_SIZE];
    json_t *list = json_array();
    token_write_scopes(route->scopes, words);
    for (const char *at = words; *at;) {
        size_t len = strcspn(at, ",");
        json_array_append_new(list, json_stringn(at, len));
        at += len + (at[len] == ',');
    }
    return list;
}

static void each_operation(void (*visit)(json_t *, const struct route *), json_t *paths)
{
    for (size_t i = 0; i < routes_count; i++) {
        char path[128], method[16];
        plain_pattern(routes[i].pattern, path, sizeof(path));
        lower_case(routes[i].method, method, sizeof(method));
        visit(json_object_get(json_object_get(paths, path), method), &routes[i]);
    }
}

static void compare_scopes(json_t *operation, const struct route *route)
{
    json_t *scopes = scopes_of(route);
    if (!json_equal(json_object_get(operation, "x-scopes"), scopes))
        fail_msg("%s: x-scopes of %s %s is not what the route says; run test_openapi --update",
                 DESCRIPTION, route->method, route->pattern);
    json_decref(scopes);
}

static void set_scopes(json_t *operation, const struct route *route)
{
    json_object_set_new(operation, "x-scopes", scopes_of(route));
}

static void every_operation_tells_its_scopes(void **state)
{
    (void)state;
    json_t *root = load();
    each_operation(compare_scopes, json_object_get(root, "paths"));
    json_decref(root);
}

static void every_change_needs_a_scope(void **state)
{
    (void)state;
    for (size_t i = 0; i < routes_count; i++) {
        bool is_change =
            strcmp(routes[i].method, "GET") != 0 && strcmp(routes[i].method, "OPTIONS") != 0;
        bool is_session = strcmp(routes[i].pattern, "/api/v1/session") == 0;
        if (is_change && !is_session && routes[i].scopes == SCOPE_OPEN)
            fail_msg("%s %s is open to everybody", routes[i].method, routes[i].pattern);
    }
}

// --- refusals -----------------------------------------------------------------------------------

static bool any(json_t *operation, const struct route *route)
{
    return operation && route;
}

static bool asks_who(json_t *operation, const struct route *route)
{
    return operation && route->scopes != SCOPE_OPEN;
}

static bool names_a_thing(json_t *operation, const struct route *route)
{
    return operation && strchr(route->pattern, '{') &&
           strncmp(route->pattern, "/api/", strlen("/api/")) == 0 &&
           strcmp(route->method, "OPTIONS") != 0;
}

static bool takes_a_body(json_t *operation, const struct route *route)
{
    return route && json_object_get(operation, "requestBody");
}

static bool needs_if_match(json_t *operation, const struct route *route)
{
    size_t i = 0;
    json_t *parameter = NULL;
    json_array_foreach(json_object_get(operation, "parameters"), i, parameter)
    {
        const char *name = json_string_value(json_object_get(parameter, "$ref"));
        if (route && name && strcmp(name, "#/components/parameters/if_match") == 0)
            return true;
    }
    return false;
}

static bool writes(json_t *operation, const struct route *route)
{
    return operation && strcmp(route->method, "GET") != 0 && strcmp(route->method, "OPTIONS") != 0;
}

// Errors an operation may return for reasons that are not specific to it; specific ones are written
// by hand.
static const struct {
    int status;
    bool (*applies)(json_t *operation, const struct route *route);
} shared_refusals[] = {
    {400, any},           {401, asks_who},     {403, any},
    {404, names_a_thing}, {408, takes_a_body}, {412, needs_if_match},
    {413, takes_a_body},  {415, takes_a_body}, {428, needs_if_match},
    {429, any},           {503, any},          {507, writes},
};

// {"$ref": "#/components/responses/NotFound"} for 404.
static json_t *refusal(int status)
{
    char name[64] = "#/components/responses/";
    size_t len = strlen(name);
    for (const char *at = response_phrase(status); *at && len + 1 < sizeof(name); at++)
        if (*at != ' ')
            name[len++] = *at;
    name[len] = '\0';
    return json_pack("{s:s}", "$ref", name);
}

static void check_refusals(json_t *operation, const struct route *route)
{
    json_t *responses = json_object_get(operation, "responses");
    for (size_t i = 0; i < sizeof(shared_refusals) / sizeof(*shared_refusals); i++) {
        char status[8];
        snprintf(status, sizeof(status), "%d", shared_refusals[i].status);
        if (shared_refusals[i].applies(operation, route) && !json_object_get(responses, status))
            fail_msg("%s: %s %s may be refused with %s; run test_openapi --update", DESCRIPTION,
                     route->method, route->pattern, status);
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// By status, "default" last.
static json_t *in_order(json_t *responses)
{
    const char *names[64], *name = NULL;
    json_t *response = NULL, *sorted = json_object();
    size_t count = 0;
    json_object_foreach(responses, name, response)
    {
        assert_true(count < 64);
        names[count++] = name;
    }
    qsort(names, count, sizeof(*names), by_name);
    for (size_t i = 0; i < count; i++)
        json_object_set(sorted, names[i], json_object_get(responses, names[i]));
    return sorted;
}

static void set_refusals(json_t *operation, const struct route *route)
{
    json_t *responses = json_object_get(operation, "responses");
    for (size_t i = 0; i < sizeof(shared_refusals) / sizeof(*shared_refusals); i++) {
        char status[8];
        snprintf(status, sizeof(status), "%d", shared_refusals[i].status);
        if (shared_refusals[i].applies(operation, route) && !json_object_get(responses, status))
            json_object_set_new(responses, status, refusal(shared_refusals[i].status));
    }
    json_object_set_new(operation, "responses", in_order(responses));
}

static void every_operation_says_what_it_may_be_refused_with(void **state)
{
    (void)state;
    json_t *root = load();
    each_operation(check_refusals, json_object_get(root, "paths"));
    json_decref(root);
}

static void every_description_has_its_route(void **state)
{
    (void)state;
    json_t *root = load();
    const char *path = NULL, *method = NULL;
    json_t *operations = NULL, *operation = NULL;
    json_object_foreach(json_object_get(root, "paths"), path, operations)
    {
        json_object_foreach(operations, method, operation)
        {
            if (!is_route(path, method))
                fail_msg("%s %s is in %s, but no route", method, path, DESCRIPTION);
        }
    }
    json_decref(root);
}

// Follows "#/components/..." from the root.
static json_t *resolve(json_t *root, const char *reference)
{
    char name[64];
    const char *at = strncmp(reference, "#/", 2) == 0 ? reference + 2 : "";
    json_t *node = root;
    while (*at && node) {
        size_t len = strcspn(at, "/");
        snprintf(name, sizeof(name), "%.*s", (int)len, at);
        node = json_object_get(node, name);
        at += len + (at[len] == '/');
    }
    return node;
}

static void check_references(json_t *root, json_t *node, unsigned depth)
{
    const char *name = NULL;
    json_t *child = NULL;
    size_t i = 0;
    assert_true(depth < 64);
    json_object_foreach(node, name, child)
    {
        if (strcmp(name, "$ref") == 0 && !resolve(root, json_string_value(child)))
            fail_msg("%s: nothing at %s", DESCRIPTION, json_string_value(child));
        check_references(root, child, depth + 1);
    }
    json_array_foreach(node, i, child) check_references(root, child, depth + 1);
}

static void every_reference_leads_somewhere(void **state)
{
    (void)state;
    json_t *root = load();
    check_references(root, root, 0);
    json_decref(root);
}

// --- rows of tables -----------------------------------------------------------------------------

static const char *type_word(enum column_type type)
{
    switch (type) {
    case COLUMN_I64: return "integer";
    case COLUMN_F64: return "number";
    case COLUMN_TEXT: return "string";
    case COLUMN_BOOL: return "boolean";
    }
    return "";
}

static json_t *row_schema(const struct table_desc *desc)
{
    json_t *properties = json_object(), *required = json_array();
    for (unsigned i = 0; i < desc->column_count; i++) {
        const struct column *column = &desc->columns[i];
        json_t *types = json_pack("[s, s]", type_word(column->type), "null");
        json_t *property = json_pack("{s:o, s:s, s:s}", "type", types, "description", column->help,
                                     "x-unit", column->unit);
        json_object_set_new(properties, column->name, property);
        json_array_append_new(required, json_string(column->name));
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "type", "object", "description", desc->help,
                     "properties", properties, "required", required);
}

// Whether any $ref refers to the schema.
static bool is_referred_to(json_t *node, const char *schema)
{
    const char *name = NULL;
    json_t *child = NULL;
    size_t i = 0;
    json_object_foreach(node, name, child)
    {
        const char *to = strcmp(name, "$ref") == 0 ? json_string_value(child) : NULL;
        const char *last = to ? strrchr(to, '/') : NULL;
        if ((last && strcmp(last + 1, schema) == 0) || is_referred_to(child, schema))
            return true;
    }
    json_array_foreach(node, i, child)
    {
        if (is_referred_to(child, schema))
            return true;
    }
    return false;
}

static bool has_name(const struct table_desc *const *tables, const char *name)
{
    while (*tables && strcmp((*tables)->name, name) != 0)
        tables++;
    return *tables != NULL;
}

// Calls visit with the name and schema of every table that an answer refers to: those of runs,
// comparisons and tracking, and the details of a trace. If a run has a table of that name, too, the
// trace's rows are rank_row_NAME.
static void each_row_schema(void (*visit)(json_t *, const char *, json_t *), json_t *root)
{
    const struct table_desc *const *const lists[] = {run_tables,    compare_tables, tracking_tables,
                                                     access_tables, uploads_tables, trace_tables};
    json_t *schemas = json_object_get(json_object_get(root, "components"), "schemas");
    for (size_t list = 0; list < sizeof lists / sizeof *lists; list++)
        for (const struct table_desc *const *desc = lists[list]; *desc; desc++) {
            bool of_rank = lists[list] == trace_tables && has_name(run_tables, (*desc)->name);
            char name[64];
            snprintf(name, sizeof(name), "%srow_%s", of_rank ? "rank_" : "", (*desc)->name);
            if (!is_referred_to(root, name))
                continue;
            json_t *schema = row_schema(*desc);
            visit(schemas, name, schema);
            json_decref(schema);
        }
}

// The examples are written by hand; the tests in tests/e2e check their values against the schema.
static void check_example(const char *name, json_t *schema, json_t *examples)
{
    json_t *example = json_array_get(examples, 0);
    const char *column = NULL;
    json_t *property = NULL;
    json_object_foreach(json_object_get(schema, "properties"), column, property)
    {
        if (!json_object_get(example, column))
            fail_msg("%s: the example of components.schemas.%s lacks %s", DESCRIPTION, name,
                     column);
    }
    assert_int_equal(json_object_size(example),
                     json_object_size(json_object_get(schema, "properties")));
}

static void compare_schema(json_t *schemas, const char *name, json_t *schema)
{
    json_t *described = json_copy(json_object_get(schemas, name));
    json_object_del(described, "examples");
    if (!json_equal(described, schema))
        fail_msg("%s: components.schemas.%s is not what the table's columns say; run "
                 "test_openapi --update",
                 DESCRIPTION, name);
    check_example(name, schema, json_object_get(json_object_get(schemas, name), "examples"));
    json_decref(described);
}

static void every_table_is_described_with_its_columns(void **state)
{
    (void)state;
    json_t *root = load();
    each_row_schema(compare_schema, root);
    json_decref(root);
}

static void set_schema(json_t *schemas, const char *name, json_t *schema)
{
    json_t *examples = json_object_get(json_object_get(schemas, name), "examples");
    json_object_set_new(schema, "examples", examples ? json_incref(examples) : json_array());
    json_object_set(schemas, name, schema);
}

// --- formats of tables --------------------------------------------------------------------------

static json_t *format_schema(json_t *root)
{
    json_t *parameters = json_object_get(json_object_get(root, "components"), "parameters");
    return json_object_get(json_object_get(parameters, "format"), "schema");
}

static json_t *format_words(void)
{
    json_t *words = json_array();
    for (size_t i = 0; exports[i]; i++)
        json_array_append_new(words, json_string(exports[i]->word));
    return words;
}

// The content of an operation's answer if that is a table; else NULL.
static json_t *table_content(json_t *operation)
{
    size_t i;
    json_t *parameter, *responses = json_object_get(operation, "responses");
    json_array_foreach(json_object_get(operation, "parameters"), i, parameter)
    {
        const char *reference = json_string_value(json_object_get(parameter, "$ref"));
        if (reference && strcmp(reference, "#/components/parameters/format") == 0)
            return json_object_get(json_object_get(responses, "200"), "content");
    }
    return NULL;
}

static void check_content(json_t *operation, const struct route *route)
{
    json_t *content = table_content(operation);
    for (size_t i = 0; content && exports[i]; i++)
        if (exports[i]->accept && !json_object_get(content, exports[i]->accept))
            fail_msg("%s: %s %s does not answer with %s; run test_openapi --update", DESCRIPTION,
                     route->method, route->pattern, exports[i]->accept);
}

static void set_content(json_t *operation, const struct route *route)
{
    json_t *content = table_content(operation);
    (void)route;
    for (size_t i = 0; content && exports[i]; i++)
        if (exports[i]->accept && !json_object_get(content, exports[i]->accept))
            json_object_set_new(content, exports[i]->accept,
                                json_pack("{s{ss}}", "schema", "type", "string"));
}

static void every_table_is_described_in_its_formats(void **state)
{
    (void)state;
    json_t *root = load(), *words = format_words();
    assert_true(json_equal(json_object_get(format_schema(root), "enum"), words));
    each_operation(check_content, json_object_get(root, "paths"));
    json_decref(words);
    json_decref(root);
}

static int update(void)
{
    json_error_t error;
    json_t *root = json_load_file(DESCRIPTION, 0, &error);
    each_row_schema(set_schema, root);
    json_object_set_new(format_schema(root), "enum", format_words());
    each_operation(set_content, json_object_get(root, "paths"));
    each_operation(set_scopes, json_object_get(root, "paths"));
    each_operation(set_refusals, json_object_get(root, "paths"));
    FILE *file = root ? fopen(DESCRIPTION, "w") : NULL;
    bool ok = file && json_dumpf(root, file, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
              fputc('\n', file) != EOF;
    ok = file && fclose(file) == 0 && ok;
    json_decref(root);
    fprintf(stderr, "%s %s\n", DESCRIPTION, ok ? "updated" : "cannot be updated");
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_is_described),
        cmocka_unit_test(every_operation_tells_its_scopes),
        cmocka_unit_test(every_change_needs_a_scope),
        cmocka_unit_test(every_operation_says_what_it_may_be_refused_with),
        cmocka_unit_test(every_description_has_its_route),
        cmocka_unit_test(every_reference_leads_somewhere),
        cmocka_unit_test(every_table_is_described_with_its_columns),
        cmocka_unit_test(every_table_is_described_in_its_formats),
    };
    if (argc == 2 && strcmp(argv[1], "--update") == 0)
        return update();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
