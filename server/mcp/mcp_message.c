// SPDX-License-Identifier: Apache-2.0
// Reads one JSON-RPC message.
#include "server/mcp/mcp_message.h"

#include "server/http/json_body.h"

static json_t *object_in(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return json_is_object(value) ? value : NULL;
}

static bool is_absent_or_object(json_t *object, const char *name)
{
    json_t *value = json_object_get(object, name);
    return !value || json_is_object(value);
}

// A version that is not a string is unknown.
static const char *version_in(json_t *meta)
{
    json_t *version = json_object_get(meta, MCP_META "protocolVersion");
    return version && !json_is_string(version) ? "" : json_string_value(version);
}

static enum mcp_kind kind_of(const struct mcp_message *message)
{
    json_t *root = message->root, *id = message->id;
    const char *version = json_string_value(json_object_get(root, "jsonrpc"));
    if (!version || strcmp(version, "2.0") != 0)
        return MCP_INVALID;
    if (!json_object_get(root, "method") &&
        (json_object_get(root, "result") || json_object_get(root, "error")))
        return MCP_RESPONSE;
    if (!message->method || !is_absent_or_object(root, "params"))
        return MCP_INVALID;
    if (!id)
        return MCP_NOTIFICATION;
    return json_is_string(id) || json_is_integer(id) ? MCP_REQUEST : MCP_INVALID;
}

void mcp_message_read(struct str text, struct mcp_message *message)
{
    struct err err = {0};
    *message = (struct mcp_message){.root = json_body_parse(text, &err)};
    if (!message->root) { // JSON that is not an object has no error position
        message->kind = err.pos == ERR_NO_POS ? MCP_INVALID : MCP_UNREADABLE;
        return;
    }
    message->id = json_object_get(message->root, "id");
    message->method = json_string_value(json_object_get(message->root, "method"));
    message->params = object_in(message->root, "params");
    message->meta = object_in(message->params, "_meta");
    message->version = version_in(message->meta);
    message->kind = kind_of(message);
}

void mcp_message_free(struct mcp_message *message)
{
    json_decref(message->root);
    message->root = NULL;
}
