// SPDX-License-Identifier: Apache-2.0
// Signing in at a provider: there and back. A cookie holds a secret meanwhile; the provider sees
// only what is derived from it, so nothing is stored for those who never come back.
#include "server/access/access_parts.h"
#include "server/access/audit.h"
#include "server/access/credentials.h"
#include "server/base/token.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "ingest/base/visible.h"

#include <stdio.h>

#define FLOW_PREFIX    "ssgo_"
#define NEXT_MAX_BYTES ((size_t)1024)

static const char *flow_cookie(const struct access *access)
{
    return access->secure ? "__Host-stepscope-go" : "stepscope-go";
}

struct str access_provider(const struct access *access)
{
    return access && access->oidc ? access_host_of(str_of(oidc_settings(access->oidc)->issuer))
                                  : STR("");
}

bool access_may_sign_in(const struct access *access, struct str user)
{
    struct str users = str_of(oidc_settings(access->oidc)->users);
    return str_equal(users, STR("*")) || access_is_listed(users, user);
}

static bool derive(const char *what, struct str secret, char out[OIDC_SECRET_SIZE], struct err *err)
{
    char text[16 + TOKEN_SIZE];
    snprintf(text, sizeof text, "%s %.*s", what, (int)secret.len, secret.at);
    return token_hash(str_of(text), out, err);
}

static bool derive_flow(struct str secret, struct oidc_flow *flow, struct err *err)
{
    return derive("state", secret, flow->state, err) && derive("nonce", secret, flow->nonce, err) &&
           derive("verifier", secret, flow->verifier, err);
}

// --- where to afterwards ------------------------------------------------------------------------

// A path of this service, in characters that need no escaping in cookies or, except for '&', in
// pages.
static bool is_path(struct str next)
{
    static const char plain[] = "-._~/?&=%+:@";
    if (next.len == 0 || next.len > NEXT_MAX_BYTES || next.at[0] != '/' ||
        (next.len > 1 && next.at[1] == '/'))
        return false;
    for (size_t i = 0; i < next.len; i++) {
        unsigned char c = (unsigned char)next.at[i];
        bool word = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        if (!word && !memchr(plain, c, sizeof plain - 1))
            return false;
    }
    return true;
}

// Browsers do not send the cookie with a redirect that began at another site, but they do with what
// a page of this one opens. The page must not be sandboxed: then it counts as another site.
static bool show_next(struct response *response, struct str next, struct err *err)
{
    struct buf escaped = {0};
    for (size_t i = 0; i < next.len; i++)
        if (next.at[i] == '&')
            buf_puts(&escaped, "&amp;");
        else
            buf_putc(&escaped, next.at[i]);
    const char *to = escaped.at && !escaped.failed ? escaped.at : "/";
    buf_printf(&response->body,
               "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
               "<meta http-equiv=\"refresh\" content=\"0;url=%s\"><title>Signed in</title>"
               "<p>You are signed in. <a href=\"%s\">Continue</a></p></html>\n",
               to, to);
    buf_free(&escaped);
    response->type = "text/html; charset=utf-8";
    response->cache = CACHE_NEVER;
    return buf_ok(&response->body, err);
}

// --- the cookie ---------------------------------------------------------------------------------

static void set_flow(struct request *request, struct response *response, const char *secret,
                     struct str next)
{
    const struct access *access = request->services->access;
    response_header(response, request->arena, "Set-Cookie",
                    "%s=%s%.*s; Path=/; HttpOnly; SameSite=Lax; Max-Age=%d%s", flow_cookie(access),
                    secret, (int)next.len, next.at ? next.at : "", *secret ? 600 : 0,
                    access->secure ? "; Secure" : "");
}

// The secret and the page after it; false without a cookie of that form.
static bool read_flow(const struct request *request, struct str *secret, struct str *next)
{
    struct str value = credentials_cookie(request, flow_cookie(request->services->access));
    size_t len = sizeof FLOW_PREFIX - 1 + TOKEN_CHARS;
    if (value.len < len)
        return false;
    *secret = (struct str){value.at, len};
    *next = (struct str){value.at + len, value.len - len};
    return token_has_form(*secret, FLOW_PREFIX) && is_path(*next);
}

// --- failures -----------------------------------------------------------------------------------

// The page after the next attempt: the same as after this one.
static struct str find_next(const struct request *request)
{
    struct str secret, next = query_get(&request->query, "next");
    bool known = is_path(next) || read_flow(request, &secret, &next);
    return known ? next : STR("/");
}

// People get a page that says what to do; the reason is in the log, where administrators look.
static bool send_back(struct request *request, struct response *response, const char *word,
                      const char *why)
{
    log_warn("a sign-in failed (%s): %s", word, why);
    set_flow(request, response, "", STR(""));
    response->status = 303;
    response->cache = CACHE_NEVER;
    struct buf next = {0};
    access_write_escaped(&next, find_next(request));
    response_header(response, request->arena, "Location", "/login?failed=%s&next=%s", word,
                    next.failed ? "/" : next.at);
    buf_free(&next);
    return true;
}

// A failure that someone may have tried to cause counts like a wrong token.
static bool refuse_answer(struct request *request, struct response *response, const char *word,
                          const char *why, struct err *err)
{
    return access_count_failure(request, response, why, err) &&
           send_back(request, response, word, why);
}

// The provider gives its reason as a word such as invalid_scope.
static bool tell_refusal(struct request *request, struct response *response, struct str word)
{
    struct buf why = {0};
    buf_puts(&why, "the provider says ");
    buf_add_visible(&why, (struct str){word.at, word.len < 40 ? word.len : 40});
    bool ok = send_back(request, response, "refused", why.failed ? "" : why.at);
    buf_free(&why);
    return ok;
}

static const char *word_of(enum err_code code)
{
    return code == ERR_DENIED || code == ERR_NOT_FOUND ? "answer" : "provider";
}

static bool check_known(const struct request *request, struct err *err)
{
    return request->services->access->oidc ||
           err_set(err, ERR_NOT_FOUND, "this service has no --oidc-issuer to sign in at");
}

// --- there --------------------------------------------------------------------------------------

bool access_get_oidc(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"next", NULL};
    struct oidc_flow flow;
    char secret[TOKEN_SIZE];
    const char *url = NULL;
    if (!check_known(request, err) || !query_allow(&request->query, known, err) ||
        !token_make(FLOW_PREFIX, secret, err) || !derive_flow(str_of(secret), &flow, err))
        return false;
    struct err failure = {0};
    if (!oidc_start_url(request->services->access->oidc, &flow, request->arena, &url, &failure))
        return send_back(request, response, word_of(failure.code), failure.msg);
    struct str next = query_get(&request->query, "next");
    set_flow(request, response, secret, is_path(next) ? next : STR("/"));
    response->status = 303;
    response->cache = CACHE_NEVER;
    response_header(response, request->arena, "Location", "%s", url);
    return true;
}

// --- and back -----------------------------------------------------------------------------------

static void note_sign_in(const struct request *request)
{
    struct audit_entry entry = {.who = request->who.name,
                                .peer = request->peer,
                                .action = STR("sign in"),
                                .object = access_provider(request->services->access),
                                .request_id = str_of(request->id),
                                .status = 200};
    audit_write(request->services->audit, &entry);
}

static bool welcome(struct request *request, struct response *response, struct str user,
                    struct str next, struct err *err)
{
    if (!access_is_user(user) || !access_may_sign_in(request->services->access, user))
        return refuse_answer(request, response, "user",
                             "the provider named someone who may not sign in", err);
    if (!access_begin_user_session(request, response, user, err))
        return false;
    set_flow(request, response, "", STR(""));
    note_sign_in(request);
    return show_next(response, next, err);
}

// Why the answer does not belong to this sign-in; NULL: it does.
static const char *find_fault(const struct request *request, const struct oidc_flow *flow)
{
    const struct query *query = &request->query;
    const char *issuer = oidc_settings(request->services->access->oidc)->issuer;
    struct str named = query_get(query, "iss");
    if (!token_same_hash(query_get(query, "state"), str_of(flow->state)))
        return "the state is not the one that this browser was sent with";
    if (named.at && !str_equal(named, str_of(issuer)))
        return "the answer is of another issuer";
    return NULL;
}

bool access_get_oidc_callback(struct request *request, struct response *response, struct err *err)
{
    struct str secret, next, user;
    struct oidc_flow flow;
    if (!check_known(request, err))
        return false;
    if (!read_flow(request, &secret, &next))
        return send_back(request, response, "late", "the cookie of the sign-in is gone");
    struct access *access = request->services->access;
    if (login_guard_wait_s(access->guard, request->peer, clock_mono_ns()))
        return send_back(request, response, "often", "too many failures from that address");
    if (!derive_flow(secret, &flow, err))
        return false;
    const char *fault = find_fault(request, &flow);
    if (fault)
        return refuse_answer(request, response, "answer", fault, err);
    struct str refusal = query_get(&request->query, "error");
    if (refusal.at)
        return tell_refusal(request, response, refusal);
    struct err failure = {0};
    if (oidc_redeem(access->oidc, &flow, query_get(&request->query, "code"), request->arena, &user,
                    &failure))
        return welcome(request, response, user, next, err);
    if (failure.code == ERR_DENIED || failure.code == ERR_NOT_FOUND)
        return refuse_answer(request, response, "answer", failure.msg, err);
    return send_back(request, response, word_of(failure.code), failure.msg);
}
