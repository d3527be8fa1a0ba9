// SPDX-License-Identifier: Apache-2.0
// Questions to the REST API's handlers, within the process: tools take every number from there.
#ifndef SERVER_MCP_ASK_H
#define SERVER_MCP_ASK_H

#include "server/http/route.h"
#include "server/mcp/mcp_tools.h"

#define MCP_MAX_PARAMETERS 28

// A GET: the row of its endpoint, what {...} in the address is, and the query.
struct mcp_question {
    struct route route; // handle and table
    const char *key;    // of a run, or a series; NULL: the address has none
    struct query_param params[MCP_MAX_PARAMETERS];
    size_t count;
};

typedef bool mcp_handler(struct request *request, struct response *response, struct err *err);

// A question without parameters.
struct mcp_question mcp_question(mcp_handler *handle, const struct table_desc *table,
                                 const char *key);

// Adds a parameter that outlives the question; none for NULL.
void mcp_with(struct mcp_question *question, const char *name, const char *value);
void mcp_with_integer(struct mcp_call *call, struct mcp_question *question, const char *name,
                      int64_t value);

// Adds the arguments of these names (NULL-terminated) that were given.
void mcp_with_arguments(struct mcp_call *call, struct mcp_question *question,
                        const char *const *names);

// The answer, to be freed by json_decref. NULL if it failed; call->advice may say what to do.
MUST_CHECK json_t *mcp_ask(struct mcp_call *call, const struct mcp_question *question,
                           struct err *err);

#endif
