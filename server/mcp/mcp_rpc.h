// SPDX-License-Identifier: Apache-2.0
// Answers JSON-RPC messages of both generations: those that open with initialize, to 2025-11-25,
// and those that state their version in each request, from 2026-07-28.
#ifndef SERVER_MCP_RPC_H
#define SERVER_MCP_RPC_H

#include "server/mcp/mcp_message.h"

#define MCP_INSTRUCTIONS_MAX 2048 // clients cut longer ones

enum mcp_code {
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_UNKNOWN_METHOD = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNKNOWN_VERSION = -32022,
};

struct mcp_fault {
    enum mcp_code code;
    const char *message; // outlives the answer
    json_t *data;        // NULL: none
};

struct mcp_reply {
    json_t *body; // NULL: nothing to send
    int status;   // for HTTP
};

// Pair with json_decref of the body.
void mcp_rpc_answer(const struct request *request, const struct mcp_message *message,
                    struct mcp_reply *reply);

// An error in answer to a message; without an id where that is unknown.
void mcp_rpc_refuse(const struct mcp_message *message, struct mcp_fault fault, int status,
                    struct mcp_reply *reply);

// Whether the version belongs to that generation.
bool mcp_is_modern(const char *version);
bool mcp_is_legacy(const char *version);

// {"supported":[...],"requested":version}.
json_t *mcp_versions(const char *requested);

// Writes it in one line.
bool mcp_dump(json_t *value, struct buf *out);

#endif
