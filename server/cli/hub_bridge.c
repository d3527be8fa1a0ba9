// SPDX-License-Identifier: Apache-2.0
// Sends messages over HTTP, by libcurl.
#include "server/cli/hub_bridge.h"

#include "server/mcp/mcp_rpc.h"
#include "server/mcp/mcp_text.h"
#include "server/uploads/base64.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_SECONDS = 10, ANSWER_SECONDS = 60, DETAIL_MAX = 200, MESSAGE_MAX = 400 };
#define ANSWER_MAX_BYTES ((size_t)4 << 20)

struct hub_bridge {
    CURL *curl;
    struct curl_slist *headers; // of every message
    char failure[CURL_ERROR_SIZE];
    struct buf url; // of /mcp
};

// --- opening ------------------------------------------------------------------------------------

static bool is_plain(const char *text)
{
    for (; *text; text++)
        if (*text <= 0x20 || *text >= 0x7f)
            return false;
    return true;
}

static bool ends_with(struct str text, struct str end)
{
    return text.len >= end.len && memcmp(text.at + text.len - end.len, end.at, end.len) == 0;
}

static bool set_url(struct hub_bridge *bridge, const char *url, struct err *err)
{
    struct str base = str_of(url);
    while (base.len && base.at[base.len - 1] == '/')
        base.len--;
    bool is_http = str_starts_with(base, STR("http://")) || str_starts_with(base, STR("https://"));
    if (!is_http || !is_plain(url))
        return err_set(err, ERR_USAGE, "found --url '%.80s', expected http://HOST or https://HOST",
                       url);
    buf_add_str(&bridge->url, base);
    buf_puts(&bridge->url, ends_with(base, STR("/mcp")) ? "" : "/mcp");
    return buf_ok(&bridge->url, err);
}

static bool add_header(struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = curl_slist_append(*list, line);
    *list = longer ? longer : *list;
    return longer != NULL;
}

static bool set_headers(struct hub_bridge *bridge, const char *token, struct err *err)
{
    struct buf bearer = {0};
    if (token && !is_plain(token))
        return err_set(err, ERR_USAGE, "found a token with a character that no token has");
    buf_printf(&bearer, "Authorization: Bearer %s", token ? token : "");
    bool ok = add_header(&bridge->headers, "Content-Type: application/json") &&
              add_header(&bridge->headers, "Accept: application/json, text/event-stream") &&
              add_header(&bridge->headers, "Expect:") &&
              (!token || !*token || (!bearer.failed && add_header(&bridge->headers, bearer.at)));
    buf_free(&bearer);
    return ok || err_set(err, ERR_MEMORY, "out of memory for headers");
}

// This machine is not reached through a proxy.
static bool is_loopback(struct str url)
{
    return str_find(url, STR("://127.0.0.1")) != SIZE_MAX ||
           str_find(url, STR("://localhost")) != SIZE_MAX ||
           str_find(url, STR("://[::1]")) != SIZE_MAX;
}

static void set_options(struct hub_bridge *bridge)
{
    CURL *curl = bridge->curl;
    curl_easy_setopt(curl, CURLOPT_URL, bridge->url.at);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, bridge->failure);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "stepscope/" STEPSCOPE_VERSION);
    if (is_loopback((struct str){bridge->url.at, bridge->url.len}))
        curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
}

struct hub_bridge *hub_bridge_open(const char *url, const char *token, struct err *err)
{
    struct hub_bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge || curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        free(bridge);
        err_set(err, ERR_MEMORY, "cannot start the HTTP client");
        return NULL;
    }
    bridge->curl = curl_easy_init();
    bool ok = (bridge->curl || err_set(err, ERR_MEMORY, "cannot start the HTTP client")) &&
              set_url(bridge, url, err) && set_headers(bridge, token, err);
    if (ok) {
        set_options(bridge);
        return bridge;
    }
    hub_bridge_close(bridge);
    return NULL;
}

void hub_bridge_close(struct hub_bridge *bridge)
{
    if (!bridge)
        return;
    curl_easy_cleanup(bridge->curl);
    curl_slist_free_all(bridge->headers);
    buf_free(&bridge->url);
    free(bridge);
    curl_global_cleanup();
}

// --- a message ----------------------------------------------------------------------------------

static size_t take(char *bytes, size_t size, size_t count, void *data)
{
    struct buf *body = data;
    size_t len = size * count;
    if (body->len + len > ANSWER_MAX_BYTES)
        return 0;
    buf_add(body, bytes, len);
    return body->failed ? 0 : len;
}

// What a header cannot hold goes as base64.
static bool add_value(struct curl_slist **list, const char *name, const char *value)
{
    struct buf line = {0};
    buf_printf(&line, "%s: ", name);
    if (is_plain(value)) {
        buf_puts(&line, value);
    } else {
        buf_puts(&line, "=?base64?");
        base64_encode(str_of(value), &line);
        buf_puts(&line, "?=");
    }
    bool ok = !line.failed && add_header(list, line.at);
    buf_free(&line);
    return ok;
}

// The headers that repeat what a message of the newer generation says, before the others.
static struct curl_slist *headers_of(const struct mcp_message *message)
{
    struct curl_slist *list = NULL;
    const char *name = json_string_value(json_object_get(message->params, "name"));
    if (!message->version || !message->method)
        return NULL;
    if (add_value(&list, "MCP-Protocol-Version", message->version) &&
        add_value(&list, "Mcp-Method", message->method) && name)
        (void)!add_value(&list, "Mcp-Name", name);
    return list;
}

static CURLcode post(struct hub_bridge *bridge, const struct mcp_message *message, struct str line,
                     struct buf *body)
{
    CURL *curl = bridge->curl;
    struct curl_slist *own = headers_of(message), *last = own;
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = bridge->headers; // for this message
    bridge->failure[0] = '\0';
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, own ? own : bridge->headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, line.at);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)line.len);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    CURLcode code = curl_easy_perform(curl);
    if (last)
        last->next = NULL;
    curl_slist_free_all(own);
    return code;
}

// --- the answer ---------------------------------------------------------------------------------

// Why there is none: the way there failed, or the service refuses.
static void explain(struct hub_bridge *bridge, CURLcode code, json_t *problem, char *text)
{
    long status = 0;
    json_t *detail = mcp_sentence(json_object_get(problem, "detail"), DETAIL_MAX);
    curl_easy_getinfo(bridge->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        snprintf(text, MESSAGE_MAX, "the service cannot be reached: %.160s",
                 bridge->failure[0] ? bridge->failure : curl_easy_strerror(code));
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
    struct buf body = {0};
    mcp_message_read(line, &message);
    CURLcode code = post(bridge, &message, line, &body);
    json_t *answer =
        code == CURLE_OK ? json_loadb(body.at ? body.at : "", body.len, 0, NULL) : NULL;
    bool expects = message.kind != MCP_NOTIFICATION && message.kind != MCP_RESPONSE;
    if (json_is_string(json_object_get(answer, "jsonrpc"))) {
        put_line(answer, out);
    } else if (expects) {
        struct mcp_reply reply;
        explain(bridge, code, answer, text);
        struct mcp_fault fault = {MCP_INTERNAL_ERROR, text, NULL};
        mcp_rpc_refuse(&message, fault, 0, &reply);
        put_line(reply.body, out);
        json_decref(reply.body);
    }
    json_decref(answer);
    buf_free(&body);
    mcp_message_free(&message);
}
