// SPDX-License-Identifier: Apache-2.0
// Sends messages over HTTP, by libcurl, which is loaded only for that: it brings many libraries.
#include "server/cli/hub_bridge.h"

#include "server/mcp/mcp_rpc.h"
#include "server/mcp/mcp_text.h"
#include "server/uploads/base64.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECT_SECONDS = 10, ANSWER_SECONDS = 60, DETAIL_MAX = 200, MESSAGE_MAX = 400 };
#define ANSWER_MAX_BYTES ((size_t)4 << 20)

struct curl_calls {
    __typeof__(curl_global_init) *global_init;
    __typeof__(curl_global_cleanup) *global_cleanup;
    __typeof__(curl_easy_init) *easy_init;
    __typeof__(curl_easy_setopt) *set;
    __typeof__(curl_easy_perform) *perform;
    __typeof__(curl_easy_getinfo) *get;
    __typeof__(curl_easy_strerror) *explain;
    __typeof__(curl_easy_cleanup) *easy_cleanup;
    __typeof__(curl_slist_append) *append;
    __typeof__(curl_slist_free_all) *free_list;
};

struct hub_bridge {
    struct curl_calls calls;
    CURL *curl;
    struct curl_slist *headers; // of every message
    char failure[CURL_ERROR_SIZE];
    struct buf url; // of /mcp
};

// --- the library --------------------------------------------------------------------------------

// It stays loaded until the process ends.
static bool load_calls(struct curl_calls *calls, struct err *err)
{
    static const struct {
        const char *name;
        size_t at;
    } known[] = {
        {"curl_global_init", offsetof(struct curl_calls, global_init)},
        {"curl_global_cleanup", offsetof(struct curl_calls, global_cleanup)},
        {"curl_easy_init", offsetof(struct curl_calls, easy_init)},
        {"curl_easy_setopt", offsetof(struct curl_calls, set)},
        {"curl_easy_perform", offsetof(struct curl_calls, perform)},
        {"curl_easy_getinfo", offsetof(struct curl_calls, get)},
        {"curl_easy_strerror", offsetof(struct curl_calls, explain)},
        {"curl_easy_cleanup", offsetof(struct curl_calls, easy_cleanup)},
        {"curl_slist_append", offsetof(struct curl_calls, append)},
        {"curl_slist_free_all", offsetof(struct curl_calls, free_list)},
    };
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    bool ok = library;
    for (size_t i = 0; ok && i < sizeof known / sizeof *known; i++) {
        void *found = dlsym(library, known[i].name);
        memcpy((char *)calls + known[i].at, &found, sizeof found);
        ok = found;
    }
    return ok || err_set(err, ERR_UNSUPPORTED, "install libcurl4 for --url");
}

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

static bool add_header(const struct curl_calls *calls, struct curl_slist **list, const char *line)
{
    struct curl_slist *longer = calls->append(*list, line);
    *list = longer ? longer : *list;
    return longer != NULL;
}

static bool set_headers(struct hub_bridge *bridge, const char *token, struct err *err)
{
    struct buf bearer = {0};
    if (token && !is_plain(token))
        return err_set(err, ERR_USAGE, "found a token with a character that no token has");
    buf_printf(&bearer, "Authorization: Bearer %s", token ? token : "");
    bool ok = add_header(&bridge->calls, &bridge->headers, "Content-Type: application/json") &&
              add_header(&bridge->calls, &bridge->headers,
                         "Accept: application/json, text/event-stream") &&
              add_header(&bridge->calls, &bridge->headers, "Expect:") &&
              (!token || !*token ||
               (!bearer.failed && add_header(&bridge->calls, &bridge->headers, bearer.at)));
    buf_free(&bearer);
    return ok || err_set(err, ERR_MEMORY, "out of memory for headers");
}

// This machine is not reached through a proxy. The URL ends with a path.
static bool is_loopback(struct str url)
{
    static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]"};
    size_t at = str_find(url, STR("://")) + 3;
    struct str rest = {url.at + at, url.len - at};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        size_t len = strlen(hosts[i]);
        if (str_starts_with(rest, str_of(hosts[i])) && rest.len > len &&
            (rest.at[len] == ':' || rest.at[len] == '/'))
            return true;
    }
    return false;
}

static void set_options(struct hub_bridge *bridge)
{
    CURL *curl = bridge->curl;
    bridge->calls.set(curl, CURLOPT_URL, bridge->url.at);
    bridge->calls.set(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    bridge->calls.set(curl, CURLOPT_NOSIGNAL, 1L);
    bridge->calls.set(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    bridge->calls.set(curl, CURLOPT_TIMEOUT, (long)ANSWER_SECONDS);
    bridge->calls.set(curl, CURLOPT_ERRORBUFFER, bridge->failure);
    bridge->calls.set(curl, CURLOPT_USERAGENT, "stepscope/" STEPSCOPE_VERSION);
    if (is_loopback((struct str){bridge->url.at, bridge->url.len}))
        bridge->calls.set(curl, CURLOPT_NOPROXY, "*");
}

struct hub_bridge *hub_bridge_open(const char *url, const char *token, struct err *err)
{
    struct hub_bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge || !load_calls(&bridge->calls, err)) {
        if (!bridge)
            err_set(err, ERR_MEMORY, "out of memory");
        free(bridge);
        return NULL;
    }
    if (bridge->calls.global_init(CURL_GLOBAL_DEFAULT) != 0) {
        free(bridge);
        err_set(err, ERR_MEMORY, "cannot start the HTTP client");
        return NULL;
    }
    bridge->curl = bridge->calls.easy_init();
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
    bridge->calls.easy_cleanup(bridge->curl);
    bridge->calls.free_list(bridge->headers);
    bridge->calls.global_cleanup();
    buf_free(&bridge->url);
    free(bridge);
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
static bool add_value(const struct curl_calls *calls, struct curl_slist **list, const char *name,
                      const char *value)
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
    bool ok = !line.failed && add_header(calls, list, line.at);
    buf_free(&line);
    return ok;
}

// The headers that repeat what a message of the newer generation says, before the others.
static struct curl_slist *headers_of(const struct curl_calls *calls,
                                     const struct mcp_message *message)
{
    struct curl_slist *list = NULL;
    const char *name = json_string_value(json_object_get(message->params, "name"));
    if (!message->version || !message->method)
        return NULL;
    if (add_value(calls, &list, "MCP-Protocol-Version", message->version) &&
        add_value(calls, &list, "Mcp-Method", message->method) && name)
        (void)!add_value(calls, &list, "Mcp-Name", name);
    return list;
}

static CURLcode post(struct hub_bridge *bridge, const struct mcp_message *message, struct str line,
                     struct buf *body)
{
    CURL *curl = bridge->curl;
    struct curl_slist *own = headers_of(&bridge->calls, message), *last = own;
    while (last && last->next)
        last = last->next;
    if (last)
        last->next = bridge->headers; // for this message
    bridge->failure[0] = '\0';
    bridge->calls.set(curl, CURLOPT_HTTPHEADER, own ? own : bridge->headers);
    bridge->calls.set(curl, CURLOPT_POSTFIELDS, line.at);
    bridge->calls.set(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)line.len);
    bridge->calls.set(curl, CURLOPT_WRITEFUNCTION, take);
    bridge->calls.set(curl, CURLOPT_WRITEDATA, body);
    CURLcode code = bridge->calls.perform(curl);
    if (last)
        last->next = NULL;
    bridge->calls.free_list(own);
    return code;
}

// --- the answer ---------------------------------------------------------------------------------

// Why there is none: the way there failed, or the service refuses.
static void explain(struct hub_bridge *bridge, CURLcode code, json_t *problem, char *text)
{
    long status = 0;
    json_t *detail = mcp_sentence(json_object_get(problem, "detail"), DETAIL_MAX);
    bridge->calls.get(bridge->curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        snprintf(text, MESSAGE_MAX, "the service cannot be reached: %.160s",
                 bridge->failure[0] ? bridge->failure : bridge->calls.explain(code));
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
    buf_free(&body);
    mcp_message_free(&message);
}
