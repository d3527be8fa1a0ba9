// SPDX-License-Identifier: Apache-2.0
// One call to the provider at a time: people sign in rarely, and it may be slow.
#include "server/access/oidc.h"

#include "server/access/access_parts.h"
#include "server/access/id_token.h"
#include "server/base/base64.h"
#include "server/outbound/http_client.h"

#include "ingest/base/clock.h"
#include "ingest/base/fd_io.h"
#include "ingest/base/visible.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { CALL_SECONDS = 10, MOST_WAITING = 16, SECRET_MAX_BYTES = 512, CODE_MAX_BYTES = 4096 };
#define SECOND_NS        ((int64_t)1000000000)
#define PROVIDER_KEPT_NS (3600 * SECOND_NS) // keys, too: the provider may have revoked one
#define KEYS_AGAIN_NS    (30 * SECOND_NS)   // between two reads because of an unknown key
#define FAILURE_KEPT_NS  (2 * SECOND_NS)

struct oidc {
    struct oidc_config config;
    char secret[SECRET_MAX_BYTES + 2]; // room for the line end; "": a public client
    atomic_uint waiting;               // for the lock
    pthread_mutex_t lock;              // guards all below
    struct http_client *client;
    json_t *provider; // its description; NULL: not read yet
    json_t *keys;
    int64_t provider_ns, keys_ns, failed_ns; // on the clock that never jumps; 0: never
};

// --- settings -----------------------------------------------------------------------------------

static bool is_https(const char *url)
{
    return str_starts_with(str_of(url), STR("https://"));
}

static bool is_given(const char *text)
{
    return text && *text;
}

static bool check_config(const struct oidc_config *config, struct err *err)
{
    if (!is_given(config->client_id))
        return err_set(err, ERR_USAGE, "--oidc-issuer needs --oidc-client-id");
    if (!is_given(config->users))
        return err_set(err, ERR_USAGE,
                       "--oidc-issuer needs --oidc-users: who may sign in, by name or @DOMAIN; '*' "
                       "is everyone with an account there");
    if (!is_given(config->public_url))
        return err_set(err, ERR_USAGE,
                       "--oidc-issuer needs --public-url: the provider sends browsers back to it");
    if (!http_client_check_url(config->issuer, err))
        return err_wrap(err, "--oidc-issuer");
    if (!is_https(config->issuer) && !access_is_loopback(config->issuer))
        return err_set(err, ERR_USAGE,
                       "--oidc-issuer: found an address without https, which anyone on the way "
                       "could answer for");
    return true;
}

static bool read_secret(struct oidc *oidc, const char *path, struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : fd_read_at(fd, oidc->secret, sizeof oidc->secret - 1, 0);
    if (got < 0)
        err_set_errno(err, "reading %s", path);
    if (fd >= 0)
        close(fd);
    if (got < 0)
        return false;
    size_t len = strcspn(oidc->secret, "\r\n");
    oidc->secret[len] = '\0';
    return (len > 0 && len <= SECRET_MAX_BYTES) ||
           err_set(err, ERR_USAGE, "found %s in %s, expected a secret of at most %d bytes",
                   len ? "a longer line" : "nothing", path, SECRET_MAX_BYTES);
}

struct oidc *oidc_open(const struct oidc_config *config, struct err *err)
{
    if (!check_config(config, err))
        return NULL;
    struct oidc *oidc = calloc(1, sizeof *oidc);
    if (!oidc) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    oidc->config = *config;
    pthread_mutex_init(&oidc->lock, NULL);
    oidc->client = http_client_open(err);
    bool is_public = !config->secret_file || !*config->secret_file;
    if (oidc->client && (is_public || read_secret(oidc, config->secret_file, err)))
        return oidc;
    oidc_close(oidc);
    return NULL;
}

void oidc_close(struct oidc *oidc)
{
    if (!oidc)
        return;
    http_client_close(oidc->client);
    json_decref(oidc->provider);
    json_decref(oidc->keys);
    pthread_mutex_destroy(&oidc->lock);
    OPENSSL_cleanse(oidc->secret, sizeof oidc->secret);
    free(oidc);
}

const struct oidc_config *oidc_settings(const struct oidc *oidc)
{
    return &oidc->config;
}

// --- calls --------------------------------------------------------------------------------------

// A slow provider must not keep all threads of the service waiting: anyone may start a sign-in.
static bool take_turn(struct oidc *oidc, struct err *err)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += CALL_SECONDS;
    bool may_wait = atomic_fetch_add(&oidc->waiting, 1) < MOST_WAITING;
    bool has_turn = may_wait && pthread_mutex_timedlock(&oidc->lock, &until) == 0;
    atomic_fetch_sub(&oidc->waiting, 1);
    return has_turn || err_set(err, ERR_BUSY, "others wait for the provider of sign-ins");
}

// A provider gives its reason for refusing as a word such as invalid_grant.
static bool explain(const struct http_answer *answer, const json_t *object, struct err *err)
{
    const char *word = json_string_value(json_object_get(object, "error"));
    struct buf shown = {0};
    buf_add_visible(&shown, str_of(word ? word : ""));
    err_set(err, answer->status < 500 ? ERR_DENIED : ERR_BUSY,
            "the provider answered with status %ld %.40s", answer->status,
            shown.at && !shown.failed ? shown.at : "");
    buf_free(&shown);
    return false;
}

// The JSON object that the provider answers with; NULL if it does not.
static json_t *call(struct oidc *oidc, const struct http_call *what, struct err *err)
{
    struct http_answer answer = {0};
    json_t *object = NULL;
    if (http_client_call(oidc->client, what, &answer, err)) {
        object = json_loadb(answer.body.at ? answer.body.at : "", answer.body.len,
                            JSON_REJECT_DUPLICATES, NULL);
        if (answer.status != 200 || !json_is_object(object)) {
            explain(&answer, object, err);
            json_decref(object);
            object = NULL;
        }
    }
    if (answer.body.at)
        OPENSSL_cleanse(answer.body.at, answer.body.len);
    http_answer_free(&answer);
    return object;
}

static json_t *get(struct oidc *oidc, const char *url, struct err *err)
{
    static const char *const headers[] = {"Accept: application/json"};
    struct http_call what = {.method = "GET",
                             .url = url,
                             .headers = headers,
                             .header_count = 1,
                             .timeout_s = CALL_SECONDS};
    return call(oidc, &what, err);
}

// --- what the provider says about itself ---------------------------------------------------------

// NULL unless it is as safe as the issuer.
static const char *endpoint(const struct oidc *oidc, const json_t *provider, const char *name,
                            struct err *err)
{
    const char *url = json_string_value(json_object_get(provider, name));
    bool good =
        url && http_client_check_url(url, err) && (is_https(url) || !is_https(oidc->config.issuer));
    if (!good)
        err_set(err, ERR_DENIED, "the provider's description has no usable %s", name);
    return good ? url : NULL;
}

static bool check_provider(const struct oidc *oidc, const json_t *provider, struct err *err)
{
    const char *issuer = json_string_value(json_object_get(provider, "issuer"));
    if (!issuer || strcmp(issuer, oidc->config.issuer) != 0)
        return err_set(err, ERR_DENIED,
                       "the provider's description is of another issuer, expected exactly %s",
                       oidc->config.issuer);
    return endpoint(oidc, provider, "authorization_endpoint", err) &&
           endpoint(oidc, provider, "token_endpoint", err) &&
           endpoint(oidc, provider, "jwks_uri", err);
}

static json_t *read_provider(struct oidc *oidc, struct err *err)
{
    struct str issuer = str_of(oidc->config.issuer);
    struct buf url = {0};
    while (issuer.len && issuer.at[issuer.len - 1] == '/')
        issuer.len--;
    buf_add_str(&url, issuer);
    buf_puts(&url, "/.well-known/openid-configuration");
    json_t *provider = buf_ok(&url, err) ? get(oidc, url.at, err) : NULL;
    buf_free(&url);
    if (provider && check_provider(oidc, provider, err))
        return provider;
    json_decref(provider);
    return NULL;
}

static bool is_fresh(int64_t then_ns, int64_t kept_ns)
{
    return then_ns && clock_mono_ns() - then_ns < kept_ns;
}

static bool know_provider(struct oidc *oidc, struct err *err)
{
    if (oidc->provider && is_fresh(oidc->provider_ns, PROVIDER_KEPT_NS))
        return true;
    if (is_fresh(oidc->failed_ns, FAILURE_KEPT_NS))
        return err_set(err, ERR_BUSY, "the provider of sign-ins could not be reached just now");
    json_t *provider = read_provider(oidc, err);
    if (!provider) {
        oidc->failed_ns = clock_mono_ns();
        return false;
    }
    json_decref(oidc->provider);
    oidc->provider = provider;
    oidc->provider_ns = clock_mono_ns();
    return true;
}

static bool read_keys(struct oidc *oidc, struct err *err)
{
    const char *url = endpoint(oidc, oidc->provider, "jwks_uri", err);
    json_t *keys = url ? get(oidc, url, err) : NULL;
    json_decref(oidc->keys);
    oidc->keys = keys;
    oidc->keys_ns = clock_mono_ns();
    return keys != NULL;
}

static bool know_keys(struct oidc *oidc, struct err *err)
{
    return (oidc->keys && is_fresh(oidc->keys_ns, PROVIDER_KEPT_NS)) || read_keys(oidc, err);
}

// --- signing in ---------------------------------------------------------------------------------

static void add_field(struct buf *out, const char *name, struct str value)
{
    if (out->len && out->at[out->len - 1] != '?')
        buf_putc(out, '&');
    buf_printf(out, "%s=", name);
    access_write_escaped(out, value);
}

static void add_callback(const struct oidc *oidc, struct buf *out)
{
    struct str base = str_of(oidc->config.public_url);
    struct buf url = {0};
    while (base.len && base.at[base.len - 1] == '/')
        base.len--;
    buf_add_str(&url, base);
    buf_puts(&url, OIDC_CALLBACK);
    add_field(out, "redirect_uri", (struct str){url.at, url.len});
    out->failed = out->failed || url.failed;
    buf_free(&url);
}

static bool add_challenge(const struct oidc_flow *flow, struct buf *out, struct err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    struct str verifier = str_of(flow->verifier);
    if (EVP_Digest(verifier.at, verifier.len, digest, &size, EVP_sha256(), NULL) != 1)
        return err_set(err, ERR_INTERNAL, "cannot compute a SHA-256");
    buf_puts(out, "&code_challenge_method=S256&code_challenge=");
    base64_encode_url((struct str){(const char *)digest, size}, out);
    return true;
}

static bool write_start(const struct oidc *oidc, const struct oidc_flow *flow, struct buf *out,
                        struct err *err)
{
    const char *url = endpoint(oidc, oidc->provider, "authorization_endpoint", err);
    if (!url)
        return false;
    buf_puts(out, url);
    if (!strchr(url, '?'))
        buf_putc(out, '?');
    add_field(out, "response_type", STR("code"));
    add_field(out, "client_id", str_of(oidc->config.client_id));
    add_field(out, "scope", STR("openid email profile"));
    add_field(out, "state", str_of(flow->state));
    add_field(out, "nonce", str_of(flow->nonce));
    add_callback(oidc, out);
    return add_challenge(flow, out, err) && buf_ok(out, err);
}

bool oidc_start_url(struct oidc *oidc, const struct oidc_flow *flow, struct arena *arena,
                    const char **url, struct err *err)
{
    struct buf out = {0};
    if (!take_turn(oidc, err))
        return false;
    bool ok = know_provider(oidc, err) && write_start(oidc, flow, &out, err);
    pthread_mutex_unlock(&oidc->lock);
    *url = ok ? arena_strdup(arena, (struct str){out.at, out.len}, err) : NULL;
    buf_free(&out);
    return *url != NULL;
}

// Providers that take the secret in the body alone say so; the header is what all others take.
static bool takes_header(const json_t *provider)
{
    const json_t *methods = json_object_get(provider, "token_endpoint_auth_methods_supported");
    size_t i;
    json_t *method;
    json_array_foreach(methods, i, method) if (json_is_string(method) &&
                                               strcmp(json_string_value(method),
                                                      "client_secret_basic") == 0) return true;
    return !json_array_size(methods);
}

static void add_authorization(const struct oidc *oidc, struct buf *header)
{
    struct buf pair = {0};
    access_write_escaped(&pair, str_of(oidc->config.client_id));
    buf_putc(&pair, ':');
    access_write_escaped(&pair, str_of(oidc->secret));
    buf_puts(header, "Authorization: Basic ");
    base64_encode((struct str){pair.at, pair.len}, header);
    header->failed = header->failed || pair.failed;
    buf_free(&pair);
}

static void write_exchange(const struct oidc *oidc, const struct oidc_flow *flow, struct str code,
                           bool by_header, struct buf *body)
{
    add_field(body, "grant_type", STR("authorization_code"));
    add_field(body, "code", code);
    add_field(body, "code_verifier", str_of(flow->verifier));
    add_callback(oidc, body);
    if (!by_header)
        add_field(body, "client_id", str_of(oidc->config.client_id));
    if (!by_header && oidc->secret[0])
        add_field(body, "client_secret", str_of(oidc->secret));
}

static json_t *exchange(struct oidc *oidc, const struct oidc_flow *flow, struct str code,
                        struct err *err)
{
    bool by_header = oidc->secret[0] && takes_header(oidc->provider);
    struct buf body = {0}, header = {0};
    write_exchange(oidc, flow, code, by_header, &body);
    if (by_header)
        add_authorization(oidc, &header);
    const char *headers[] = {"Content-Type: application/x-www-form-urlencoded",
                             "Accept: application/json", header.at};
    struct http_call what = {.method = "POST",
                             .url = endpoint(oidc, oidc->provider, "token_endpoint", err),
                             .headers = headers,
                             .header_count = by_header ? 3 : 2,
                             .body = {body.at, body.len},
                             .timeout_s = CALL_SECONDS};
    bool ok = what.url && buf_ok(&body, err) && buf_ok(&header, err);
    json_t *answer = ok ? call(oidc, &what, err) : NULL;
    buf_free(&body);
    buf_free(&header);
    return answer;
}

static bool check_answer(struct oidc *oidc, const json_t *answer, const struct oidc_flow *flow,
                         struct arena *arena, struct str *user, struct err *err)
{
    struct str token = str_of(json_string_value(json_object_get(answer, "id_token")));
    struct id_token_terms terms = {.issuer = oidc->config.issuer,
                                   .client_id = oidc->config.client_id,
                                   .nonce = flow->nonce,
                                   .claim = oidc->config.claim,
                                   .now_s = clock_wall_ns() / SECOND_NS};
    if (!token.len)
        return err_set(err, ERR_DENIED, "the provider answered without an ID token");
    if (!know_keys(oidc, err))
        return false;
    if (id_token_check(token, oidc->keys, &terms, arena, user, err))
        return true;
    if (err->code != ERR_NOT_FOUND || is_fresh(oidc->keys_ns, KEYS_AGAIN_NS))
        return false;
    return read_keys(oidc, err) && id_token_check(token, oidc->keys, &terms, arena, user, err);
}

bool oidc_redeem(struct oidc *oidc, const struct oidc_flow *flow, struct str code,
                 struct arena *arena, struct str *user, struct err *err)
{
    if (code.len == 0 || code.len > CODE_MAX_BYTES)
        return err_set(err, ERR_DENIED, "the provider sent no code, or a very long one");
    if (!take_turn(oidc, err))
        return false;
    json_t *answer = know_provider(oidc, err) ? exchange(oidc, flow, code, err) : NULL;
    bool ok = answer && check_answer(oidc, answer, flow, arena, user, err);
    pthread_mutex_unlock(&oidc->lock);
    json_decref(answer);
    return ok;
}
