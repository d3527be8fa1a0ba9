// SPDX-License-Identifier: Apache-2.0
#include "server/cli/hub_bridge.h"

#include "server/mcp/mcp_rpc.h"
#include "server/mcp/mcp_text.h"
#include "server/outbound/http_client.h"
#include "server/base/base64.h"

#include <stdio.h>
#include <stdlib.h>

enum { ANSWER_SECONDS = 60, DETAIL_MAX = 200, MESSAGE_MAX = 400, MOST_HEADERS = 6 };

struct hub_bridge {
    struct http_client *client;
    struct http_answer answer;
    struct buf url;    // of /mcp
    struct buf bearer; // a header, or empty
};

// The headers of a message, which lie one after another in a text.
struct header_set {
    struct buf text;
    size_t at[MOST_HEADERS], count;
};

// --- opening ------------------------------------------------------------------------------------

static bool set_url(struct hub_bridge *bridge, const char *url, struct err *err)
{
    struct str base = str_of(url);
    if (!http_client_check_url(url, err))
        return err_wrap(err, "--url");
    while (base.len && base.at[base.len - 1] == '/')
        base.len--;
    buf_add_str(&bridge->url, base);
    buf_puts(&bridge->url, str_ends_with(base, STR("/mcp")) ? "" : "/mcp");
    return buf_ok(&bridge->url, err);
}

static bool set_token(struct hub_bridge *bridge, const char *token, struct err *err)
{
    if (!token || !*token)
        return true;
    if (!http_client_is_plain(token))
        return err_set(err, ERR_USAGE, "found a character in the token that no token has");
    buf_printf(&bridge->bearer, "Authorization: Bearer %s", token);
    return buf_ok(&bridge->bearer, err);
}

struct hub_bridge *hub_bridge_open(const char *url, const char *token, struct err *err)
{
    struct hub_bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    bridge->client = http_client_open(err);
    if (bridge->client && set_url(bridge, url, err) && set_token(bridge, token, err))
        return bridge;
    hub_bridge_close(bridge);
    return NULL;
}

void hub_bridge_close(struct hub_bridge *bridge)
{
    if (!bridge)
        return;
    http_client_close(bridge->client);
    http_answer_free(&bridge->answer);
    buf_free(&bridge->url);
    buf_free(&bridge->bearer);
    free(bridge);
}

// --- a message ----------------------------------------------------------------------------------

static void begin_header(struct header_set *set)
{
    set->at[set->count++] = set->text.len;
}

static void end_header(struct header_set *set)
{
    buf_putc(&set->text, '\0');
}

static void add_line(struct header_set *set, const char *line)
{
    begin_header(set);
    buf_puts(&set->text, line);
    end_header(set);
}

// What a header cannot hold goes as base64.
static void add_value(struct header_set *set, const char *name, const char *value)
{
    begin_header(set);
    buf_printf(&set->text, "%s: ", name);
    if (http_client_is_plain(value)) {
        buf_puts(&set->text, value);
    } else {
        buf_puts(&set->text, "=?base64?");
        base64_encode(str_of(value), &set->text);
        buf_puts(&set->text, "?=");
    }
    end_header(set);
}

// Headers that repeat what a message of the newer protocol says, then those of every message.
static void add_headers(const struct hub_bridge *bridge, const struct mcp_message *message,
                        struct header_set *set)
{
    const char *name = json_string_value(json_object_get(message->params, "name"));
    if (message->version && message->method) {
        add_value(set, "MCP-Protocol-Version", message->version);
        add_value(set, "Mcp-Method", message->method);
        if (name)
            add_value(set, "Mcp-Name", name);
    }
    add_line(set, "Content-Type: application/json");
    add_line(set, "Accept: application/json, text/event-stream");
    if (bridge->bearer.len)
        add_line(set, bridge->bearer.at);
}

static bool post(struct hub_bridge *bridge, const struct mcp_message *message, struct str line,
                 struct err *err)
{
    struct header_set set = {0};
    const char *headers[MOST_HEADERS] = {0};
    add_headers(bridge, message, &set);
    bool ok = buf_ok(&set.text, err);
    for (size_t i = 0; ok && i < set.count; i++)
        headers[i] = set.text.at + set.at[i];
    const struct http_call call = {.method = "POST",
                                   .url = bridge->url.at,
                                   .headers = headers,
                                   .header_count = set.count,
                                   .body = line,
                                   .timeout_s = ANSWER_SECONDS};
    ok = ok && http_client_call(bridge->client, &call, &bridge->answer, err);
    buf_free(&set.text);
    return ok;
}

// --- the answer ---------------------------------------------------------------------------------

// Why there is none: the way there failed, or the service refuses.
static void explain(const struct hub_bridge *bridge, const struct err *failure, json_t *problem,
                    char *text)
{
    long status = bridge->answer.status;
    json_t *detail = mcp_sentence(json_object_get(problem, "detail"), DETAIL_MAX);
    if (failure->code != ERR_NONE)
        snprintf(text, MESSAGE_MAX, "%s", failure->msg);
    else
        snprintf(text, MESSAGE_MAX, "the service answers %ld%s%.200s%s", status,
                 json_is_string(detail) ? ": " : "",
                 json_is_string(detail) ? json_string_value(detail) : "",
                 status == 401 ? "; set STEPSCOPE_TOKEN" : "");
    json_decref(detail);
}

static void put_line(json_t *answer, struct buf *out)
{
    if (mcp_dump(answer, out))
        buf_putc(out, '\n');
}

void hub_bridge_answer(struct hub_bridge *bridge, struct str line, struct buf *out)
{
    char text[MESSAGE_MAX];
    struct mcp_message message;
    struct err failure = {.pos = ERR_NO_POS};
    mcp_message_read(line, &message);
    const struct buf *body = &bridge->answer.body;
    json_t *answer = post(bridge, &message, line, &failure)
                         ? json_loadb(body->at ? body->at : "", body->len, 0, NULL)
                         : NULL;
    bool expects = message.kind != MCP_NOTIFICATION && message.kind != MCP_RESPONSE;
    if (json_is_string(json_object_get(answer, "jsonrpc"))) {
        put_line(answer, out);
    } else if (expects) {
        struct mcp_reply reply;
        explain(bridge, &failure, answer, text);
        struct buf clean = {0};
        mcp_clean(str_of(text), MESSAGE_MAX, &clean); // a character may have been cut
        struct mcp_fault fault = {MCP_INTERNAL_ERROR,
                                  clean.failed || !clean.at ? "out of memory" : clean.at, NULL};
        mcp_rpc_refuse(&message, fault, 0, &reply);
        put_line(reply.body, out);
        json_decref(reply.body);
        buf_free(&clean);
    }
    json_decref(answer);
    mcp_message_free(&message);
}
