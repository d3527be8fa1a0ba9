// SPDX-License-Identifier: Apache-2.0
// The tools: what each takes and answers. To add one: a file tool_x.c with a
// `const struct mcp_tool tool_x`, a line here and one in mcp_tools.c.
#ifndef SERVER_MCP_TOOLS_H
#define SERVER_MCP_TOOLS_H

#include "server/http/request.h"

#include <jansson.h>

#define MCP_MAX_ARGUMENTS 12
#define MCP_ANSWER_MAX    4200 // of an answer, in characters; see mcp_weight

enum mcp_type {
    MCP_TEXT,    // of at most MCP_TEXT_MAX bytes
    MCP_INTEGER, // from least to most
    MCP_NUMBER,  // same
    MCP_FLAG,
    MCP_NAMES,  // a list of texts
    MCP_VALUES, // an object of texts, numbers and booleans
};
#define MCP_TEXT_MAX  400
#define MCP_NAMES_MAX 12

struct mcp_argument {
    const char *name, *help;
    enum mcp_type type;
    bool required;
    double least, most;
    const char *(*word)(size_t i); // what a text may be, one by one, then NULL; NULL: any
};

// The first argument of tools about one run.
#define MCP_RUN_ARGUMENT                                                                  \
    {                                                                                     \
        .name = "run", .help = "Id, name, project/name, SERIES~latest or @baseline:NAME", \
        .required = true,                                                                 \
    }

// The rows of an answer's main table: as many as usual, and as an agent may ask for as `limit`.
// They shrink until the answer fits.
struct mcp_rows {
    unsigned usual, most; // most 0: no argument
};

// A call while it is answered.
struct mcp_call {
    struct request *request; // of the API, with the caller's services, arena and address
    json_t *arguments;       // checked; NULL: none
    unsigned limit;          // of rows
    const char *advice;      // what to do about an error; NULL: none
};

struct mcp_tool {
    const char *name, *title, *help;
    struct mcp_rows rows;
    struct mcp_argument arguments[MCP_MAX_ARGUMENTS]; // ends with one without a name
    // Adds members to the answer. An error becomes a text for the agent.
    bool (*answer)(struct mcp_call *call, json_t *answer, struct err *err);
};

extern const struct mcp_tool tool_find_runs, tool_overview, tool_findings, tool_table, tool_explain,
    tool_compare, tool_gate, tool_timeline_cut, tool_what_if;

// All tools as tools/list shows them.
json_t *mcp_tools_list(void);

// NULL if there is none.
const struct mcp_tool *mcp_tools_find(const char *name);

// The result of tools/call: an answer, or a text that says what was wrong and how to go on.
json_t *mcp_tools_call(const struct request *request, const struct mcp_tool *tool,
                       json_t *arguments);

// Arguments that were checked: NULL or the fallback if they are absent.
const char *mcp_text_argument(const struct mcp_call *call, const char *name);
int64_t mcp_integer_argument(const struct mcp_call *call, const char *name, int64_t fallback);

#endif
