// SPDX-License-Identifier: Apache-2.0
#include "server/collect/remote_hub.h"

#include "ingest/base/clock.h"
#include "ingest/base/visible.h"
#include "server/collect/stop_signal.h"

#include <jansson.h>
#include <stdlib.h>
#include <sys/random.h>

#define SECOND_NS      1000000000LL
#define LONGEST_WAIT_S ((int64_t)60)
#define MOST_RETRY_S   ((int64_t)600) // that the hub may ask for

// --- opening ------------------------------------------------------------------------------------

bool remote_hub_open(struct remote_hub *hub, const char *url, const char *token, struct err *err)
{
    if (!url)
        return err_set(err, ERR_USAGE, "found no --url, expected the address of a service");
    struct str base = str_of(url);
    if (!http_client_check_url(url, err))
        return err_wrap(err, "--url");
    if (token && !http_client_is_plain(token))
        return err_set(err, ERR_USAGE, "found a character in the token that no token has");
    while (base.len && base.at[base.len - 1] == '/')
        base.len--;
    buf_add_str(&hub->base, base);
    if (token && *token)
        buf_printf(&hub->bearer, "Authorization: Bearer %s", token);
    hub->client = http_client_open(err);
    return hub->client && buf_ok(&hub->base, err) && buf_ok(&hub->bearer, err);
}

void remote_hub_close(struct remote_hub *hub)
{
    http_client_close(hub->client);
    http_answer_free(&hub->answer);
    buf_free(&hub->base);
    buf_free(&hub->bearer);
}

// --- one try ------------------------------------------------------------------------------------

// A token goes to no other address than the one it was given for.
static bool address(const struct remote_hub *hub, const char *path, struct buf *url,
                    struct err *err)
{
    struct str base = {hub->base.at, hub->base.len};
    if (path[0] == '/')
        buf_add_str(url, base);
    else if (!str_starts_with(str_of(path), base) || path[base.len] != '/')
        return err_set(err, ERR_USAGE,
                       "the service names the address '%.80s', which is not below "
                       "its own; check its --public-url",
                       path);
    buf_puts(url, path);
    return buf_ok(url, err) && http_client_check_url(url->at, err);
}

bool remote_hub_try(struct remote_hub *hub, const struct hub_call *call, struct err *err)
{
    const char *headers[REMOTE_HUB_MOST_HEADERS] = {0};
    size_t count = 0;
    struct buf url = {0};
    while (count + 1 < REMOTE_HUB_MOST_HEADERS && call->headers[count]) {
        headers[count] = call->headers[count];
        count++;
    }
    if (hub->bearer.len)
        headers[count++] = hub->bearer.at;
    struct http_call sent = {.method = call->method,
                             .headers = headers,
                             .header_count = count,
                             .body = call->body,
                             .fd = call->fd,
                             .file_at = call->file_at,
                             .file_bytes = call->file_bytes,
                             .timeout_s = call->timeout_s,
                             .stop = hub->stop ? stop_signal_now : NULL,
                             .context = hub->stop};
    bool ok = address(hub, call->path, &url, err);
    sent.url = url.at;
    ok = ok && http_client_call(hub->client, &sent, &hub->answer, err);
    if (!ok)
        hub->answer.status = 0;
    buf_free(&url);
    return ok;
}

// A member of the problem in the answer, or "".
static void read_member(const struct remote_hub *hub, const char *name, char *text, size_t size)
{
    const struct buf *body = &hub->answer.body;
    json_t *problem = json_loadb(body->at ? body->at : "", body->len, 0, NULL);
    const char *value = json_string_value(json_object_get(problem, name));
    struct buf shown = {0};
    buf_add_visible(&shown, str_of(value ? value : ""));
    snprintf(text, size, "%s", shown.at && !shown.failed ? shown.at : "");
    buf_free(&shown);
    json_decref(problem);
}

// Not the page of a proxy in between. The answer to a HEAD has no body.
static bool is_hubs_own(const struct remote_hub *hub)
{
    char type[160];
    struct str media = http_answer_header(&hub->answer, "Content-Type");
    read_member(hub, "type", type, sizeof type);
    return str_starts_with(media, STR("application/problem+json")) &&
           (!hub->answer.body.len || str_starts_with(str_of(type), STR("tag:stepscope")));
}

bool remote_hub_is_busy(const struct remote_hub *hub)
{
    switch (hub->answer.status) {
    case 0:
    case 408:
    case 423: // another connection has the upload, perhaps a dead one of our own
    case 425:
    case 429:
    case 500:
    case 502:
    case 503:
    case 504:
    case 507: return true;
    case 401:
    case 403: return false;
    default: return hub->answer.status >= 300 && !is_hubs_own(hub);
    }
}

// --- what it says -------------------------------------------------------------------------------

bool remote_hub_says(const struct remote_hub *hub, const char *type)
{
    char text[160];
    read_member(hub, "type", text, sizeof text);
    const char *word = strrchr(text, '/');
    return strcmp(word ? word + 1 : text, type) == 0;
}

static enum err_code code_of(const struct remote_hub *hub)
{
    switch (hub->answer.status) {
    case 401:
    case 403: return ERR_DENIED;
    case 404: return remote_hub_is_busy(hub) ? ERR_BUSY : ERR_NOT_FOUND;
    case 409:
    case 413:
    case 415:
    case 422: return remote_hub_is_busy(hub) ? ERR_BUSY : ERR_FORMAT;
    default: return remote_hub_is_busy(hub) || hub->answer.status < 300 ? ERR_BUSY : ERR_USAGE;
    }
}

bool remote_hub_refused(const struct remote_hub *hub, struct err *err)
{
    char detail[160];
    long status = hub->answer.status;
    read_member(hub, "detail", detail, sizeof detail);
    return err_set(err, code_of(hub), "the service answers %ld%s%s%s", status, *detail ? ": " : "",
                   detail, status == 401 ? "; set STEPSCOPE_TOKEN" : "");
}

// --- patience -----------------------------------------------------------------------------------

// From half of the time to all of it, so that a thousand nodes do not come back at once.
static int64_t spread(int64_t wait_ns)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = (uint32_t)clock_mono_ns();
    return wait_ns / 2 + (int64_t)((double)wait_ns / 2 * ((double)random / UINT32_MAX));
}

static int64_t next_wait_ns(const struct remote_hub *hub, int failures)
{
    int64_t asked = hub->answer.status ? http_answer_retry_s(&hub->answer, MOST_RETRY_S) : -1;
    int64_t wait_s = failures < 6 ? (int64_t)1 << failures : LONGEST_WAIT_S;
    if (asked >= 0) // never earlier than asked for
        return asked * SECOND_NS + spread(SECOND_NS);
    return spread(wait_s * SECOND_NS);
}

bool remote_hub_wait(struct remote_hub *hub, struct hub_patience *patience, struct err *why)
{
    int64_t now = clock_mono_ns();
    if (!patience->failures)
        patience->since_ns = now;
    int64_t wait_ns = next_wait_ns(hub, patience->failures);
    if (hub->patience_s && now + wait_ns - patience->since_ns > hub->patience_s * SECOND_NS)
        return false; // with the reason that it came with
    patience->failures += patience->failures < 30;
    for (int64_t end = now + wait_ns; now < end; now = clock_mono_ns()) {
        if (hub->stop && stop_signal_now(hub->stop))
            return err_set(why, ERR_CANCELLED, "stopped");
        int64_t left = end - now < SECOND_NS ? end - now : SECOND_NS;
        struct stop_signal none = {.fd = -1};
        stop_signal_wait(hub->stop ? hub->stop : &none, -1, left);
    }
    return true;
}

bool remote_hub_ask(struct remote_hub *hub, const struct hub_call *call, struct err *err)
{
    struct hub_patience patience = {0};
    for (;;) {
        bool answered = remote_hub_try(hub, call, err);
        if (answered && !remote_hub_is_busy(hub))
            return true;
        if (answered)
            remote_hub_refused(hub, err);
        if (err->code != ERR_BUSY || !remote_hub_wait(hub, &patience, err))
            return false;
    }
}
