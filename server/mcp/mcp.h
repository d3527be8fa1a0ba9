// SPDX-License-Identifier: Apache-2.0
// The Model Context Protocol: what agents ask, answered from the same handlers as the REST API.
#ifndef SERVER_MCP_H
#define SERVER_MCP_H

#include "server/http/response.h"

// POST /mcp: streamable HTTP without sessions, every answer as JSON.
bool mcp_post(struct request *request, struct response *response, struct err *err);

// Answers a line of standard input, appending a line to out; nothing for notifications. The request
// has services, an arena for this line alone and a sender with the scope read.
void mcp_answer_line(const struct request *request, struct str line, struct buf *out);

#endif
