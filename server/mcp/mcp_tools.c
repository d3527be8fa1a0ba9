// SPDX-License-Identifier: Apache-2.0
// The table of tools, how they are listed, and calls of them.
#include "server/mcp/mcp_tools.h"

#include "ingest/json/json_memory.h"
#include "server/mcp/mcp_arguments.h"
#include "server/mcp/mcp_rpc.h"
#include "server/mcp/mcp_text.h"

#include <stdio.h>

enum { ERROR_MAX = 600 };

static const struct mcp_tool *const tools[] = {
    &tool_find_runs, &tool_overview, &tool_findings,     &tool_table,   &tool_explain,
    &tool_compare,   &tool_gate,     &tool_timeline_cut, &tool_what_if,
};
enum { TOOL_COUNT = sizeof tools / sizeof *tools };

const struct mcp_tool *mcp_tools_find(const char *name)
{
    for (size_t i = 0; i < TOOL_COUNT; i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}

static json_t *tool_json(const struct mcp_tool *tool)
{
    return json_pack("{s:s,s:s,s:s,s:o,s:{s:b,s:b,s:b,s:b}}", "name", tool->name, "title",
                     tool->title, "description", tool->help, "inputSchema",
                     mcp_arguments_schema(tool), "annotations", "readOnlyHint", 1,
                     "destructiveHint", 0, "idempotentHint", 1, "openWorldHint", 0);
}

json_t *mcp_tools_list(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < TOOL_COUNT; i++)
        json_array_append_new(list, tool_json(tools[i]));
    return list;
}

// --- a call -------------------------------------------------------------------------------------

static json_t *text_content(const char *text, size_t len)
{
    return json_pack("[{s:s,s:s%}]", "type", "text", "text", text, len);
}

// An error that a model can read and act on.
static json_t *explain_error(const struct mcp_call *call, const struct err *err)
{
    char whole[ERROR_MAX];
    snprintf(whole, sizeof whole, "%s%s%s", err->msg, call->advice ? "; " : "",
             call->advice ? call->advice : "");
    struct buf clean = {0};
    mcp_clean(str_of(whole), ERROR_MAX, &clean);
    json_t *content = text_content(clean.at ? clean.at : "", clean.len);
    buf_free(&clean);
    return json_pack("{s:o,s:b}", "content", content, "isError", 1);
}

// The answer, and the same as text: clients give a model either of them.
static json_t *complete(json_t *answer, const struct buf *text)
{
    return json_pack("{s:o,s:O,s:b}", "content", text_content(text->at, text->len),
                     "structuredContent", answer, "isError", 0);
}

static json_t *attempt(struct mcp_call *call, const struct mcp_tool *tool, struct buf *text,
                       struct err *err)
{
    json_t *answer = json_object();
    json_memory_forget();
    buf_clear(text);
    if (answer && tool->answer(call, answer, err) && mcp_dump(answer, text) &&
        json_memory_check(err))
        return answer;
    json_decref(answer);
    if (err->code == ERR_NONE)
        err_set(err, ERR_MEMORY, "out of memory for the answer; try again later");
    return NULL;
}

// Asks again for fewer rows while the answer is too long, so that its cursor stays right.
static json_t *answer_in_room(struct mcp_call *call, const struct mcp_tool *tool, struct buf *text,
                              struct err *err)
{
    json_t *answer = attempt(call, tool, text, err);
    for (size_t weight;
         answer && (weight = mcp_weight((struct str){text->at, text->len})) > MCP_ANSWER_MAX;) {
        json_decref(answer);
        if (call->limit == 1) {
            err_set(err, ERR_LIMIT, "a single row of this is too long for an answer");
            call->advice = "choose fewer columns, or look at the page";
            return NULL;
        }
        unsigned fits = (unsigned)(call->limit * (size_t)MCP_ANSWER_MAX / weight);
        call->limit = fits < call->limit ? fits : call->limit - 1;
        call->limit = call->limit ? call->limit : 1;
        answer = attempt(call, tool, text, err);
    }
    return answer;
}

static unsigned choose_limit(const struct mcp_call *call, const struct mcp_tool *tool)
{
    return (unsigned)mcp_integer_argument(call, "limit", tool->rows.usual);
}

static json_t *call_checked(struct mcp_call *call, const struct mcp_tool *tool, struct err *err)
{
    struct buf text = {0};
    call->limit = choose_limit(call, tool);
    json_t *answer = answer_in_room(call, tool, &text, err);
    json_t *result = answer ? complete(answer, &text) : NULL;
    json_decref(answer);
    buf_free(&text);
    return result;
}

json_t *mcp_tools_call(const struct request *request, const struct mcp_tool *tool,
                       json_t *arguments)
{
    struct request inner = *request;
    struct mcp_call call = {.request = &inner, .arguments = arguments};
    struct err err = {.pos = ERR_NO_POS};
    json_t *result =
        mcp_arguments_check(&call, tool, &err) ? call_checked(&call, tool, &err) : NULL;
    return result ? result : explain_error(&call, &err);
}
