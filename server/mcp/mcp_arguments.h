// SPDX-License-Identifier: Apache-2.0
// Arguments of tools: their JSON Schema, and checks against it.
#ifndef SERVER_MCP_ARGUMENTS_H
#define SERVER_MCP_ARGUMENTS_H

#include "server/mcp/mcp_tools.h"

// A JSON Schema of the 2020-12 dialect.
json_t *mcp_arguments_schema(const struct mcp_tool *tool);

// ERR_USAGE that names the argument and what was expected; call->advice lists the arguments.
MUST_CHECK bool mcp_arguments_check(struct mcp_call *call, const struct mcp_tool *tool,
                                    struct err *err);

#endif
