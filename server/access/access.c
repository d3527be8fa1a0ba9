// SPDX-License-Identifier: Apache-2.0
// Admits requests: by a token, a browser's session, or a user named by a trusted proxy.
#include "server/access/access_parts.h"
#include "server/access/audit.h"
#include "server/access/credentials.h"
#include "server/base/metrics.h"
#include "server/base/token.h"
#include "server/http/assets.h"
#include "server/http/route.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <stdlib.h>

// --- how requests are admitted ------------------------------------------------------------------

struct str access_host_of(struct str url)
{
    size_t scheme = str_find(url, STR("://"));
    if (scheme != SIZE_MAX)
        url = (struct str){url.at + scheme + 3, url.len - scheme - 3};
    if (url.len && url.at[0] == '[') {
        size_t end = str_find(url, STR("]"));
        return (struct str){url.at, end == SIZE_MAX ? url.len : end + 1};
    }
    size_t len = 0;
    while (len < url.len && url.at[len] != ':' && url.at[len] != '/')
        len++;
    return (struct str){url.at, len};
}

bool access_is_loopback(const char *url)
{
    struct str host = access_host_of(str_of(url));
    return str_equal_nocase(host, STR("localhost")) || str_equal(host, STR("[::1]")) ||
           (str_starts_with(host, STR("127.")) && peers_is_address(host));
}

static bool has_text(const char *text)
{
    return text && *text;
}

// Processes on other machines can connect.
static bool is_reached_from_elsewhere(const struct access_config *config)
{
    return !access_is_loopback(config->listen) || has_text(config->trusted_proxies) ||
           (has_text(config->public_url) && !access_is_loopback(config->public_url)) ||
           has_text(config->oidc.issuer);
}

static bool check_somebody_gets_in(const struct access *access, const char *data_dir,
                                   struct err *err)
{
    int64_t tokens = 0;
    if (!store_count_tokens(access->store, &tokens, err))
        return false;
    return tokens > 0 || access->proxies.count > 0 || access->oidc ||
           err_set(err, ERR_USAGE,
                   "no access is possible: create a token with 'stepscope token create --name "
                   "admin --scopes admin --data %s', or set a --trusted-proxy or an --oidc-issuer",
                   data_dir);
}

static bool decide(struct access *access, const struct access_config *config, struct err *err)
{
    bool off = strcmp(config->auth, "off") == 0;
    if (off && !access_is_loopback(config->listen))
        return err_set(err, ERR_USAGE,
                       "found --auth off and --listen %s: anyone who reaches it could change and "
                       "delete everything; listen on 127.0.0.1, or omit --auth",
                       config->listen);
    access->required =
        !off && (strcmp(config->auth, "required") == 0 || is_reached_from_elsewhere(config));
    return !access->required || check_somebody_gets_in(access, config->data_dir, err);
}

static bool open_provider(struct access *access, const struct oidc_config *config, struct err *err)
{
    if (!has_text(config->issuer))
        return true;
    access->oidc = oidc_open(config, err);
    struct str host = access_host_of(str_of(config->issuer));
    if (access->oidc && strcmp(config->users, "*") == 0)
        log_warn(
            "everybody with an account at %.*s may sign in, read and upload (--oidc-users '*')",
            (int)host.len, host.at);
    return access->oidc != NULL;
}

struct access *access_open(const struct access_config *config, struct err *err)
{
    struct access *access = calloc(1, sizeof(*access));
    if (!access) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    access->store = config->store;
    access->secure = str_starts_with(str_of(config->public_url), STR("https://"));
    access->user_header = config->proxy_user_header;
    access->admins = str_of(config->proxy_admins);
    access->guard = login_guard_new(store_is_shared(config->store) ? config->store : NULL, err);
    if (access->guard && open_provider(access, &config->oidc, err) &&
        peers_parse(str_of(config->trusted_proxies), &access->proxies, err) &&
        decide(access, config, err))
        return access;
    access_close(access);
    return NULL;
}

void access_close(struct access *access)
{
    if (access) {
        login_guard_free(access->guard);
        oidc_close(access->oidc);
    }
    free(access);
}

bool access_is_required(const struct access *access)
{
    return access && access->required;
}

// --- tokens -------------------------------------------------------------------------------------

// Fails with 401 and advice.
static bool refuse_unknown(struct request *request, struct response *response, const char *why,
                           struct err *err)
{
    response_header(response, request->arena, "WWW-Authenticate", "Bearer realm=\"stepscope\"");
    response->fix = STR("send a token as 'Authorization: Bearer TOKEN', or sign in at /login");
    return response_refuse(response, err, (struct refusal){401, "unauthenticated"}, "%s", why);
}

static bool refuse_guesses(struct request *request, struct response *response, unsigned wait_s,
                           struct err *err)
{
    response_header(response, request->arena, "Retry-After", "%u", wait_s);
    return response_refuse(response, err, (struct refusal){429, "too-many-failures"},
                           "found %d wrong tokens from this address within a minute; try again in "
                           "%u s",
                           LOGIN_GUARD_FAILURES, wait_s);
}

// Only wrong credentials have to wait: a valid token from the same address, as behind one router,
// never does.
bool access_count_failure(struct request *request, struct response *response, const char *why,
                          struct err *err)
{
    const struct services *services = request->services;
    struct login_guard *guard = services->access->guard;
    unsigned wait_s = login_guard_wait_s(guard, request->peer, clock_mono_ns());
    if (wait_s)
        return refuse_guesses(request, response, wait_s, err);
    login_guard_fail(guard, request->peer, clock_mono_ns());
    metrics_add(services->metrics, METRIC_AUTH_FAILURES, 1);
    struct audit_entry entry = {.who = STR("unknown"),
                                .peer = request->peer,
                                .action = STR("refuse credentials"),
                                .object = str_of(why),
                                .request_id = str_of(request->id),
                                .status = 401};
    audit_write(services->audit, &entry);
    return true;
}

static bool note_failure(struct request *request, struct response *response, const char *why,
                         struct err *err)
{
    return access_count_failure(request, response, why, err) &&
           refuse_unknown(request, response, why, err);
}

bool access_check_token(struct request *request, struct response *response, struct str text,
                        struct token *token, struct err *err)
{
    struct access *access = request->services->access;
    char hash[TOKEN_HASH_SIZE];
    bool found = false;
    if (!token_has_form(text, TOKEN_PREFIX))
        return note_failure(request, response, "found a malformed token", err);
    if (!token_hash(text, hash, err) ||
        !store_find_token(access->store, hash, request->arena, token, &found, err))
        return false;
    if (!found)
        return note_failure(request, response, "found an unknown token", err);
    if (token->revoked_ns)
        return note_failure(request, response, "found a token that was revoked", err);
    if (token->expires_ns && token->expires_ns <= clock_wall_ns())
        return note_failure(request, response, "found a token that has expired", err);
    struct err ignored = {0}; // a full disk must not lock people out
    if (!store_touch_token(access->store, token, &ignored))
        log_warn("the use of a token was not recorded: %s", ignored.msg);
    return true;
}

bool access_know(struct request *request, const struct token *token, struct err *err)
{
    char *name = arena_printf(request->arena, err, "token %.*s (%.*s)", (int)token->id.len,
                              token->id.at, (int)token->name.len, token->name.at);
    request->who = (struct principal){.kind = WHO_TOKEN,
                                      .name = str_of(name),
                                      .key = token->id,
                                      .scopes = token_all_scopes(token->scopes),
                                      .until_ns = token->expires_ns,
                                      .limits = token->limits};
    return name != NULL;
}

// --- requests -----------------------------------------------------------------------------------

// Refuses tokens in the URL: URLs end up in logs, histories and links.
static bool check_address(const struct request *request, struct response *response, struct err *err)
{
    static const char *const names[] = {"token", "access_token", "api_key", "bearer"};
    for (size_t i = 0; i < request->query.count; i++) {
        struct query_param param = request->query.params[i];
        bool is_secret = token_has_form(param.value, TOKEN_PREFIX);
        for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
            is_secret = is_secret || str_equal_nocase(param.name, str_of(names[n]));
        if (!is_secret)
            continue;
        response->fix = STR("send it as 'Authorization: Bearer TOKEN', and revoke this one: "
                            "proxies may have logged it");
        return response_refuse(response, err, (struct refusal){400, "token-in-address"},
                               "found a token in the URL, where it does not belong");
    }
    return true;
}

bool access_identify(struct request *request, struct response *response, struct err *err)
{
    struct token token;
    request->who = (struct principal){.kind = WHO_NOBODY, .name = STR("nobody")};
    if (!access_is_required(request->services->access)) {
        request->who =
            (struct principal){.kind = WHO_LOCAL, .name = STR("local"), .scopes = SCOPE_ALL};
        return true;
    }
    if (request_header_count(request, "Authorization") > 1)
        return response_refuse(response, err, (struct refusal){400, "credentials"},
                               "found several Authorization headers, expected one");
    struct str bearer = credentials_bearer(request);
    if (bearer.at)
        return access_check_token(request, response, bearer, &token, err) &&
               access_know(request, &token, err);
    if (!access_read_proxy(request, response, err))
        return false;
    return request->who.kind != WHO_NOBODY || access_read_session(request, response, err);
}

static bool is_page(const struct request *request)
{
    return request->route->handle == assets_get_page &&
           strcmp(request->route->pattern, "/login") != 0;
}

static bool check_scopes(struct request *request, struct response *response, struct err *err)
{
    char needed[TOKEN_SCOPES_SIZE];
    if (request->route->scopes & request->who.scopes)
        return true;
    if (request->who.kind == WHO_NOBODY)
        return refuse_unknown(request, response, "found neither a token nor a session", err);
    token_write_scopes(request->route->scopes, needed);
    response_header(response, request->arena, "WWW-Authenticate",
                    "Bearer realm=\"stepscope\", error=\"insufficient_scope\", scope=\"%s\"",
                    needed);
    response->fix = STR("use a token with that scope; an administrator can create one");
    return response_refuse(response, err, (struct refusal){403, "scope"},
                           "%.*s lacks the scope %s, which this requires",
                           (int)request->who.name.len, request->who.name.at, needed);
}

bool access_admit(struct request *request, struct response *response, struct err *err)
{
    if (!check_address(request, response, err))
        return false;
    // Open routes, such as the sign-in page, also serve requests with wrong credentials.
    bool open = request->route->scopes == SCOPE_OPEN;
    if (open && !is_page(request)) {
        request->who = (struct principal){.kind = WHO_NOBODY, .name = STR("nobody")};
        return true;
    }
    return access_identify(request, response, err) &&
           (open || check_scopes(request, response, err));
}

void access_write_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool plain = str_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                     strchr("-._~/", c) != NULL;
        if (plain && c)
            buf_putc(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}

bool access_sends_to_login(struct request *request, struct response *response)
{
    struct buf next = {0};
    if (!is_page(request) || request->who.kind != WHO_NOBODY)
        return false;
    access_write_escaped(&next, request->path);
    if (request->query_text.len) {
        access_write_escaped(&next, STR("?"));
        access_write_escaped(&next, request->query_text);
    }
    response->status = 303;
    response->cache = CACHE_NEVER;
    response_header(response, request->arena, "Location", "/login?next=%s",
                    next.failed ? "%2F" : next.at);
    buf_free(&next);
    return true;
}
