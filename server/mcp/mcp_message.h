// SPDX-License-Identifier: Apache-2.0
// One JSON-RPC message, and which generation of the protocol it speaks.
#ifndef SERVER_MCP_MESSAGE_H
#define SERVER_MCP_MESSAGE_H

#include "server/http/request.h"

#include <jansson.h>

#define MCP_META "io.modelcontextprotocol/"

enum mcp_kind {
    MCP_UNREADABLE,   // not JSON
    MCP_INVALID,      // JSON, but no message
    MCP_REQUEST,      // expects an answer
    MCP_NOTIFICATION, // expects none
    MCP_RESPONSE,     // to a request that we never send
};

// Members point into root.
struct mcp_message {
    enum mcp_kind kind;
    json_t *root;
    json_t *id;          // of a request, text or integer
    const char *method;  // of a request or notification
    json_t *params;      // an object, NULL without one
    json_t *meta;        // params._meta, an object, NULL without one
    const char *version; // that every request of the generation since 2026-07-28 states; else NULL
};

// Never fails. Pair with mcp_message_free.
void mcp_message_read(struct str text, struct mcp_message *message);
void mcp_message_free(struct mcp_message *message);

#endif
