// SPDX-License-Identifier: Apache-2.0
// Browser sessions: a cookie represents the token that started it.
#include "server/access/access_parts.h"
#include "server/access/credentials.h"
#include "server/base/token.h"

#include "ingest/base/clock.h"

// The prefix __Host- makes browsers restrict it to https, this host and all paths.
static const char *cookie_name(const struct access *access)
{
    return access->secure ? "__Host-stepscope" : "stepscope";
}

static struct str find_cookie(const struct request *request)
{
    return credentials_session(request, cookie_name(request->services->access));
}

// Browsers attach cookies to whatever a page makes them send, so a change must come from a page of
// ours; its Origin was already checked.
static bool check_sender(const struct request *request, struct response *response, struct err *err)
{
    struct str site = request_header(request, "Sec-Fetch-Site");
    if (request_is_safe(request) || request_header(request, "Origin").at ||
        (site.at && str_equal(site, STR("same-origin"))))
        return true;
    return response_refuse(response, err, (struct refusal){403, "cross-site"},
                           "found neither Origin nor Sec-Fetch-Site, expected one of them for a "
                           "change by session; programs send a token");
}

static void set_cookie(struct request *request, struct response *response, const char *value,
                       const char *more)
{
    const struct access *access = request->services->access;
    response_header(response, request->arena, "Set-Cookie",
                    "%s=%s; Path=/; HttpOnly; SameSite=Strict%s%s", cookie_name(access), value,
                    access->secure ? "; Secure" : "", more);
}

// Guessed, or ended: the browser should forget it, so that it does not come again.
static bool refuse_session(struct request *request, struct response *response, struct err *err)
{
    set_cookie(request, response, "", "; Max-Age=0");
    return access_count_failure(request, response, "found an unknown or expired session", err);
}

bool access_read_session(struct request *request, struct response *response, struct err *err)
{
    struct str secret = find_cookie(request);
    struct store *store = request->services->access->store;
    char hash[TOKEN_HASH_SIZE];
    struct token token;
    bool found = false;
    if (!secret.at)
        return true;
    if (!token_hash(secret, hash, err) ||
        !store_find_session(store, hash, request->arena, &token, &found, err))
        return false;
    bool good = found && token.revoked_ns == 0 &&
                (token.expires_ns == 0 || token.expires_ns > clock_wall_ns());
    if (!good)
        return refuse_session(request, response, err);
    if (!check_sender(request, response, err) || !access_know(request, &token, err))
        return false;
    request->who.by_session = true;
    return true;
}

bool access_begin_session(struct request *request, struct response *response, struct str text,
                          struct err *err)
{
    struct token token;
    char secret[TOKEN_SIZE], hash[TOKEN_HASH_SIZE];
    if (!access_check_token(request, response, text, &token, err) ||
        !token_make(SESSION_PREFIX, secret, err) || !token_hash(str_of(secret), hash, err) ||
        !store_add_session(request->services->access->store, hash, token.id, err) ||
        !access_know(request, &token, err))
        return false;
    request->who.by_session = true;
    set_cookie(request, response, secret, "");
    return true;
}

bool access_end_session(struct request *request, struct response *response, struct err *err)
{
    char hash[TOKEN_HASH_SIZE];
    struct str secret = find_cookie(request);
    if (secret.at && (!token_hash(secret, hash, err) ||
                      !store_end_session(request->services->access->store, hash, err)))
        return false;
    set_cookie(request, response, "", "; Max-Age=0");
    return true;
}
