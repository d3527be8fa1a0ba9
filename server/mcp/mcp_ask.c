// SPDX-License-Identifier: Apache-2.0
// Calls handlers of the REST API with a request of our own.
#include "server/mcp/mcp_ask.h"

#include <assert.h>

struct mcp_question mcp_question(mcp_handler *handle, const struct table_desc *table,
                                 const char *key)
{
    struct mcp_question question = {.key = key};
    question.route = (struct route){"GET", "", SCOPE_READ, handle, table};
    return question;
}

void mcp_with(struct mcp_question *question, const char *name, const char *value)
{
    assert(question->count < MCP_MAX_PARAMETERS);
    if (value)
        question->params[question->count++] = (struct query_param){str_of(name), str_of(value)};
}

void mcp_with_integer(struct mcp_call *call, struct mcp_question *question, const char *name,
                      int64_t value)
{
    mcp_with(question, name, arena_printf(call->request->arena, NULL, "%lld", (long long)value));
}

void mcp_with_arguments(struct mcp_call *call, struct mcp_question *question,
                        const char *const *names)
{
    for (; *names; names++) {
        json_t *value = json_object_get(call->arguments, *names);
        if (json_is_string(value))
            mcp_with(question, *names, json_string_value(value));
        else if (json_is_integer(value))
            mcp_with_integer(call, question, *names, json_integer_value(value));
        else if (json_is_real(value))
            mcp_with(question, *names,
                     arena_printf(call->request->arena, NULL, "%.17g", json_real_value(value)));
        else if (json_is_boolean(value))
            mcp_with(question, *names, json_is_true(value) ? "true" : "false");
    }
}

// What the API says helps names its addresses; an agent has tools.
static const char *advise(const struct response *response, const struct err *err)
{
    if (err->code == ERR_NOT_FOUND && str_find(str_of(err->msg), STR("no run ")) != SIZE_MAX)
        return "find_runs lists the runs";
    if (err->code == ERR_NOT_FOUND && str_find(response->fix, STR("/series")) != SIZE_MAX)
        return "find_runs shows the series of each run";
    if (err->code == ERR_BUSY || response->status == 503)
        return "try again in a few seconds";
    bool names_address = str_find(response->fix, STR("/api/")) != SIZE_MAX;
    return response->fix.len && !names_address ? response->fix.at : NULL;
}

static const struct request_header *find_host(const struct request *request)
{
    for (size_t i = 0; i < request->header_count; i++)
        if (str_equal_nocase(request->headers[i].name, STR("Host")))
            return &request->headers[i];
    return NULL;
}

static json_t *read_reply(const struct response *response, struct err *err)
{
    json_error_t error;
    struct str text = response->borrowed.at ? response->borrowed
                                            : (struct str){response->body.at, response->body.len};
    json_t *reply = json_loadb(text.at ? text.at : "", text.len, JSON_ALLOW_NUL, &error);
    if (!reply)
        err_set(err, ERR_MEMORY, "out of memory for the answer; try again later");
    return reply;
}

json_t *mcp_ask(struct mcp_call *call, const struct mcp_question *question, struct err *err)
{
    struct response response;
    struct request inner = *call->request;
    const struct request_header *host = find_host(call->request);
    inner.method = STR("GET");
    inner.query_text = STR("");
    inner.query = (struct query){
        arena_array(inner.arena, question->count + 1, sizeof(struct query_param), err),
        question->count};
    if (!inner.query.params)
        return NULL;
    memcpy(inner.query.params, question->params, question->count * sizeof *question->params);
    inner.headers = host;
    inner.header_count = host ? 1 : 0;
    inner.route = &question->route;
    inner.captures[0] = str_of(question->key ? question->key : "");
    response_init(&response);
    json_t *reply =
        question->route.handle(&inner, &response, err) ? read_reply(&response, err) : NULL;
    if (!reply)
        call->advice = advise(&response, err);
    response_free(&response);
    return reply;
}
