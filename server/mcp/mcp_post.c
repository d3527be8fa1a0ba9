// SPDX-License-Identifier: Apache-2.0
// Messages over HTTP: one in each request, without sessions or streams.
#include "server/mcp/mcp.h"

#include "server/mcp/mcp_rpc.h"
#include "server/base/base64.h"

#define BODY_MAX_BYTES ((uint64_t)256 * 1024)
#define VERSION_HEADER "MCP-Protocol-Version"
#define HEADER_MAX     256

// --- headers that repeat what the body says -----------------------------------------------------

// "=?base64?...?=", for values that a header cannot hold.
static bool decode(struct str value, struct arena *arena, struct str *decoded)
{
    const struct str start = STR("=?base64?"), end = STR("?=");
    size_t frame = start.len + end.len;
    *decoded = value;
    if (value.len < frame || !str_starts_with(value, start) ||
        memcmp(value.at + value.len - end.len, end.at, end.len) != 0)
        return true;
    struct str coded = {value.at + start.len, value.len - frame};
    return coded.len <= HEADER_MAX && base64_decode(coded, arena, decoded, NULL);
}

static bool says(const struct request *request, const char *header, const char *wanted)
{
    struct str value = request_header(request, header), decoded;
    return value.at && wanted && decode(value, request->arena, &decoded) &&
           str_equal(decoded, str_of(wanted));
}

static const char *mismatch_of(const struct request *request, const struct mcp_message *message)
{
    if (!says(request, VERSION_HEADER, message->version))
        return "Header mismatch: " VERSION_HEADER;
    if (!says(request, "Mcp-Method", message->method))
        return "Header mismatch: Mcp-Method";
    json_t *name = json_object_get(message->params, "name");
    if (strcmp(message->method, "tools/call") == 0 && json_is_string(name) &&
        !says(request, "Mcp-Name", json_string_value(name)))
        return "Header mismatch: Mcp-Name";
    return NULL;
}

static const char *header_text(const struct request *request, const char *name)
{
    struct str value = request_header(request, name);
    return value.at ? arena_strdup(request->arena, value, NULL) : NULL;
}

// False: it was refused.
static bool check_headers(const struct request *request, const struct mcp_message *message,
                          struct mcp_reply *reply)
{
    const char *stated = header_text(request, VERSION_HEADER), *mismatch = NULL;
    if (message->kind != MCP_REQUEST && message->kind != MCP_NOTIFICATION)
        return true;
    if (message->version) {
        mismatch = message->kind == MCP_REQUEST ? mismatch_of(request, message) : NULL;
    } else if (stated && mcp_is_modern(stated)) {
        struct mcp_fault fault = {MCP_INVALID_PARAMS, "Missing _meta " MCP_META "protocolVersion",
                                  NULL};
        if (message->kind == MCP_REQUEST)
            mcp_rpc_refuse(message, fault, 400, reply);
        return message->kind != MCP_REQUEST;
    } else if (stated && !mcp_is_legacy(stated) && strcmp(message->method, "initialize") != 0) {
        struct mcp_fault fault = {MCP_UNKNOWN_VERSION, "Unsupported protocol version",
                                  mcp_versions(stated)};
        mcp_rpc_refuse(message, fault, 400, reply);
        return false;
    }
    struct mcp_fault fault = {MCP_HEADER_MISMATCH, mismatch, NULL};
    if (mismatch)
        mcp_rpc_refuse(message, fault, 400, reply);
    return !mismatch;
}

// --- the request --------------------------------------------------------------------------------

static bool send(struct response *response, struct mcp_reply *reply, struct err *err)
{
    response->status = reply->status;
    response->cache = CACHE_NEVER;
    if (!reply->body)
        return reply->status == 202 || err_set(err, ERR_MEMORY, "out of memory for the answer");
    response->type = "application/json";
    bool ok = mcp_dump(reply->body, &response->body);
    json_decref(reply->body);
    return ok || err_set(err, ERR_MEMORY, "out of memory for the answer");
}

bool mcp_post(struct request *request, struct response *response, struct err *err)
{
    struct buf text = {0};
    struct mcp_message message;
    struct mcp_reply reply = {0};
    request->changes_nothing = true;
    if (!request_has_type(request, "application/json"))
        return response_refuse(response, err, (struct refusal){415, "media-type"},
                               "found a different Content-Type, expected application/json");
    if (!body_read_all(request->body, BODY_MAX_BYTES, &text, err)) {
        buf_free(&text);
        return false;
    }
    mcp_message_read((struct str){text.at ? text.at : "", text.len}, &message);
    buf_free(&text);
    if (check_headers(request, &message, &reply))
        mcp_rpc_answer(request, &message, &reply);
    bool ok = send(response, &reply, err);
    mcp_message_free(&message);
    return ok;
}
