// SPDX-License-Identifier: Apache-2.0
// Browser sessions: a cookie represents the token that started it, or someone whom the provider of
// sign-ins has named.
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

// *found: the session is of a user who may still sign in.
static bool find_user(struct request *request, const char *hash, bool *found, struct err *err)
{
    const struct access *access = request->services->access;
    struct str user;
    int64_t expires_ns = 0;
    *found = false;
    if (!access->oidc)
        return true;
    if (!store_find_user_session(access->store, hash, request->arena, &user, &expires_ns, err))
        return false;
    *found = user.len && access_may_sign_in(access, user);
    if (!*found)
        return true;
    bool ok = access_know_user(request, user, str_of(oidc_settings(access->oidc)->admins), err);
    request->who.until_ns = expires_ns;
    return ok;
}

static bool find_holder(struct request *request, const char *hash, bool *found, struct err *err)
{
    struct token token;
    if (!store_find_session(request->services->access->store, hash, request->arena, &token, found,
                            err))
        return false;
    if (!*found)
        return find_user(request, hash, found, err);
    *found = token.revoked_ns == 0 && (token.expires_ns == 0 || token.expires_ns > clock_wall_ns());
    return !*found || access_know(request, &token, err);
}

// One that has ended is no guess: a page that was left open asks for many things at once, and
// nobody guesses 256 bits.
bool access_read_session(struct request *request, struct response *response, struct err *err)
{
    struct str secret = find_cookie(request);
    const struct principal nobody = request->who;
    char hash[TOKEN_HASH_SIZE];
    bool found = false;
    if (!secret.at)
        return true;
    if (!token_hash(secret, hash, err) || !find_holder(request, hash, &found, err))
        return false;
    if (!found) {
        set_cookie(request, response, "", "; Max-Age=0"); // the browser drops it
        return true;
    }
    if (!check_sender(request, response, err)) {
        request->who = nobody;
        return false;
    }
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

bool access_begin_user_session(struct request *request, struct response *response, struct str user,
                               struct err *err)
{
    const struct access *access = request->services->access;
    char secret[TOKEN_SIZE], hash[TOKEN_HASH_SIZE];
    int64_t expires_ns = clock_wall_ns() + STORE_SESSION_IDLE_NS;
    if (!token_make(SESSION_PREFIX, secret, err) || !token_hash(str_of(secret), hash, err) ||
        !store_add_user_session(access->store, hash, user, expires_ns, err) ||
        !access_know_user(request, user, str_of(oidc_settings(access->oidc)->admins), err))
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
