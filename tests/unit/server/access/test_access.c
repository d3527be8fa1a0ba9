// SPDX-License-Identifier: Apache-2.0
// Who is let in, by which setting, token, session or proxy; and who is not.
#include "server/access/access.h"
#include "server/base/services.h"
#include "server/base/token.h"
#include "server/routes.h"
#include "server/store/store_access.h"

#include "ingest/base/clock.h"
#include "tests/unit/store_fixture.h"

static const struct access_config loopback = {.auth = "auto",
                                              .data_dir = "/data",
                                              .listen = "127.0.0.1:8080",
                                              .proxy_user_header = "X-Forwarded-User"};

static void make_token(struct fixture *f, unsigned scopes, int64_t expires_ns,
                       char secret[TOKEN_SIZE])
{
    char hash[TOKEN_HASH_SIZE];
    struct str id;
    struct token_request request = {
        .name = STR("ci"), .scopes = scopes, .expires_ns = expires_ns, .limits = {-1, -1, -1}};
    assert_ok(f, token_make(TOKEN_PREFIX, secret, &f->err));
    assert_ok(f, token_hash(str_of(secret), hash, &f->err));
    assert_ok(f, store_add_token(f->store, &request, hash, &f->arena, &id, &f->err));
}

static struct access *open_with(struct fixture *f, struct access_config config)
{
    config.store = f->store;
    return access_open(&config, &f->err);
}

// --- settings -----------------------------------------------------------------------------------

static void assert_required(struct fixture *f, struct access_config config, bool required)
{
    struct access *access = open_with(f, config);
    assert_ok(f, access != NULL);
    if (access_is_required(access) != required)
        fail_msg("--auth %s, %s, %s: expected %d", config.auth, config.listen,
                 config.public_url ? config.public_url : "-", required);
    access_close(access);
}

static void auto_asks_whoever_may_come_from_elsewhere(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    make_token(f, SCOPE_ADMIN, 0, secret);
    const char *const local[] = {"127.0.0.1:0", "localhost:80", "127.9.9.9:1", "[::1]:80"};
    const char *const open[] = {"0.0.0.0:80", "10.0.0.1:80", "traces:80", "[::]:80", "127.evil:80"};
    struct access_config config = loopback;
    for (size_t i = 0; i < sizeof(local) / sizeof(*local); i++) {
        config.listen = local[i];
        assert_required(f, config, false);
    }
    for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++) {
        config.listen = open[i];
        assert_required(f, config, true);
    }
    config = loopback;
    config.public_url = "https://traces.example";
    assert_required(f, config, true);
    config.public_url = "http://127.0.0.1:9000/";
    assert_required(f, config, false);
    config.public_url = "https://127.0.0.1.evil.example";
    assert_required(f, config, true);
    config = loopback;
    config.auth = "required";
    assert_required(f, config, true);
    config = loopback;
    config.trusted_proxies = "127.0.0.1";
    assert_required(f, config, true);
}

static void a_service_that_nobody_could_use_does_not_start(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    struct access_config config = loopback;
    config.listen = "0.0.0.0:80";
    assert_null(open_with(f, config));
    assert_int_equal(f->err.code, ERR_USAGE);
    assert_non_null(strstr(f->err.msg, "stepscope token create"));
    make_token(f, SCOPE_ADMIN, clock_wall_ns() - 1, secret); // expired
    assert_null(open_with(f, config));
    config.trusted_proxies = "10.0.0.1";
    assert_required(f, config, true);
    config.trusted_proxies = "everybody";
    assert_null(open_with(f, config));
    assert_int_equal(f->err.code, ERR_USAGE);
}

static void a_provider_of_sign_ins_that_cannot_work_is_refused(void **state)
{
    struct fixture *f = *state;
    struct access_config config = loopback;
    const struct {
        struct oidc_config oidc;
        const char *why;
    } cases[] = {
        {{.issuer = "https://a.example", .public_url = "https://t"}, "--oidc-client-id"},
        {{.issuer = "https://a.example", .client_id = "x", .users = "@a"}, "--public-url"},
        {{"https://a.example", "x", .public_url = "https://t"}, "--oidc-users"},
        {{"https://a.example", "x", .public_url = "https://t", .users = ""}, "--oidc-users"},
        {{"http://a.example", "x", .public_url = "https://t", .users = "*"}, "https"},
        {{"a.example", "x", .public_url = "https://t", .users = "*"}, "--oidc-issuer"},
        {{"https://a.example", "x", "/nonexistent", .public_url = "https://t", .users = "*"},
         "/nonexistent"},
        {{"https://a.example", "x", "/dev/null", .public_url = "https://t", .users = "*"},
         "found nothing in"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        config.oidc = cases[i].oidc;
        assert_null(open_with(f, config));
        if (!strstr(f->err.msg, cases[i].why))
            fail_msg("found '%s', expected '%s'", f->err.msg, cases[i].why);
    }
    config.oidc =
        (struct oidc_config){"https://a.example", "x", "", .public_url = "https://t", .users = "*"};
    assert_required(f, config, true);
    config.oidc.issuer = "";
    assert_required(f, config, false);
}

static void off_is_for_this_machine_alone(void **state)
{
    struct fixture *f = *state;
    struct access_config config = loopback;
    config.auth = "off";
    assert_required(f, config, false);
    config.listen = "0.0.0.0:80";
    assert_null(open_with(f, config));
    assert_int_equal(f->err.code, ERR_USAGE);
}

// --- requests -----------------------------------------------------------------------------------

#define MAX_HEADERS 8

struct asked {
    struct services services;
    struct arena arena;
    struct request_header headers[MAX_HEADERS];
    struct request request;
    struct response response;
    struct err err;
    bool ok;
};

static struct request_header header(const char *name, const char *value)
{
    return (struct request_header){str_of(name), str_of(value)};
}

// A request with nothing added yet.
static struct asked *begin(struct access *access, const char *method, const char *path)
{
    struct asked *asked = calloc(1, sizeof(*asked));
    arena_init(&asked->arena, NULL);
    response_init(&asked->response);
    asked->services.access = access;
    asked->request = (struct request){.services = &asked->services,
                                      .arena = &asked->arena,
                                      .method = str_of(method),
                                      .path = str_of(path),
                                      .headers = asked->headers,
                                      .peer = STR("10.0.0.9")};
    return asked;
}

static void with(struct asked *asked, const char *name, const char *value)
{
    asked->headers[asked->request.header_count++] = header(name, value);
}

static void bearer(struct asked *asked, const char *token)
{
    char *value = arena_printf(&asked->arena, NULL, "Bearer %s", token);
    with(asked, "Authorization", value);
}

static int admit(struct asked *asked)
{
    struct request *request = &asked->request;
    asked->ok = routes_find(request, &asked->response, &asked->err);
    assert_true(asked->ok);
    access_find_peer(request);
    asked->ok = query_parse(request->query_text, request->arena, &request->query, &asked->err) &&
                access_admit(request, &asked->response, &asked->err);
    return asked->ok ? 200 : asked->response.status;
}

static struct str reply_header(const struct asked *asked, const char *name)
{
    for (size_t i = 0; i < asked->response.header_count; i++)
        if (str_equal(asked->response.headers[i].name, str_of(name)))
            return asked->response.headers[i].value;
    return (struct str){NULL, 0};
}

static void end(struct asked *asked)
{
    response_free(&asked->response);
    arena_free(&asked->arena);
    free(asked);
}

static int status_with(struct access *access, const char *method, const char *path,
                       const char *token)
{
    struct asked *asked = begin(access, method, path);
    if (token)
        bearer(asked, token);
    int status = admit(asked);
    end(asked);
    return status;
}

static struct access *open_required(struct fixture *f, const char *proxies)
{
    struct access_config config = loopback;
    config.auth = "required";
    config.trusted_proxies = proxies;
    config.proxy_admins = "root, alice";
    struct access *access = open_with(f, config);
    assert_ok(f, access != NULL);
    return access;
}

static void without_a_guard_everybody_is_local(void **state)
{
    (void)state;
    struct asked *asked = begin(NULL, "DELETE", "/api/v1/runs/x");
    assert_int_equal(admit(asked), 200);
    assert_text(asked->request.who.name, "local");
    assert_int_equal(asked->request.who.scopes, SCOPE_ALL);
    end(asked);
}

static void a_token_admits_to_what_its_scopes_name(void **state)
{
    struct fixture *f = *state;
    char read[TOKEN_SIZE], upload[TOKEN_SIZE], write[TOKEN_SIZE], admin[TOKEN_SIZE];
    make_token(f, SCOPE_READ, 0, read);
    make_token(f, SCOPE_UPLOAD, 0, upload);
    make_token(f, SCOPE_WRITE, 0, write);
    make_token(f, SCOPE_ADMIN, 0, admin);
    struct access *access = open_required(f, NULL);
    const char *const run = "/api/v1/runs/x";
    const struct {
        const char *method, *path;
        int none, read, upload, write, admin;
    } rows[] = {
        {"GET", "/healthz", 200, 200, 200, 200, 200},
        {"GET", run, 401, 200, 403, 200, 200},
        {"HEAD", run, 401, 200, 403, 200, 200},
        {"POST", "/upload", 401, 403, 200, 403, 200},
        {"PATCH", run, 401, 403, 403, 200, 200},
        {"DELETE", run, 401, 403, 403, 403, 200},
        {"GET", "/", 200, 200, 200, 200, 200},
        {"GET", "/api/v1/audit", 401, 403, 403, 403, 200},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(status_with(access, rows[i].method, rows[i].path, NULL), rows[i].none);
        assert_int_equal(status_with(access, rows[i].method, rows[i].path, read), rows[i].read);
        assert_int_equal(status_with(access, rows[i].method, rows[i].path, upload), rows[i].upload);
        assert_int_equal(status_with(access, rows[i].method, rows[i].path, write), rows[i].write);
        assert_int_equal(status_with(access, rows[i].method, rows[i].path, admin), rows[i].admin);
    }
    access_close(access);
}

static void wrong_tokens_are_refused_and_the_eleventh_has_to_wait(void **state)
{
    struct fixture *f = *state;
    char good[TOKEN_SIZE], expired[TOKEN_SIZE], other[TOKEN_SIZE];
    make_token(f, SCOPE_ADMIN, 0, good);
    make_token(f, SCOPE_ADMIN, clock_wall_ns() - 1, expired);
    assert_true(token_make(TOKEN_PREFIX, other, NULL));
    struct access *access = open_required(f, NULL);
    const char *const wrong[] = {expired, other, "", "ss_", "x"};
    for (int i = 0; i < 10; i++)
        assert_int_equal(status_with(access, "GET", "/api/v1/runs", wrong[i % 5]), 401);
    struct asked *asked = begin(access, "GET", "/api/v1/runs");
    bearer(asked, other);
    assert_int_equal(admit(asked), 429);
    assert_true(reply_header(asked, "Retry-After").len > 0);
    end(asked);
    asked = begin(access, "GET", "/api/v1/runs");
    asked->request.peer = STR("10.0.0.10");
    bearer(asked, other);
    assert_int_equal(admit(asked), 401);
    end(asked);
    assert_int_equal(status_with(access, "GET", "/api/v1/runs", good), 200);
    assert_int_equal(status_with(access, "GET", "/api/v1/runs", NULL), 401);
    access_close(access);
}

static void a_refusal_tells_how_to_get_in(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    make_token(f, SCOPE_READ, 0, secret);
    struct access *access = open_required(f, NULL);
    struct asked *asked = begin(access, "GET", "/api/v1/runs");
    assert_int_equal(admit(asked), 401);
    assert_true(str_starts_with(reply_header(asked, "WWW-Authenticate"), STR("Bearer")));
    end(asked);
    asked = begin(access, "GET", "/api/v1/runs");
    bearer(asked, secret);
    with(asked, "Authorization", "Bearer x");
    assert_int_equal(admit(asked), 400);
    end(asked);
    access_close(access);
}

static void a_token_in_the_address_is_refused_and_not_repeated(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    make_token(f, SCOPE_ADMIN, 0, secret);
    struct access *access = open_required(f, NULL);
    const char *const names[] = {"q", "token", "access_token", "ACCESS_TOKEN", "api_key"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct asked *asked = begin(access, "GET", "/api/v1/runs");
        char *query = arena_printf(&asked->arena, NULL, "%s=%s", names[i], secret);
        asked->request.query_text = str_of(query);
        bearer(asked, secret);
        assert_int_equal(admit(asked), 400);
        assert_null(strstr(asked->err.msg, secret));
        end(asked);
    }
    access_close(access);
}

// --- sessions -----------------------------------------------------------------------------------

// The cookie's "name=value" from signing in.
static void sign_in(struct access *access, const char *token, char cookie[128])
{
    struct asked *asked = begin(access, "POST", "/api/v1/session");
    assert_int_equal(admit(asked), 200);
    if (!access_begin_session(&asked->request, &asked->response, str_of(token), &asked->err))
        fail_msg("%s", asked->err.msg);
    struct str line = reply_header(asked, "Set-Cookie");
    assert_true(str_find(line, STR("; HttpOnly; SameSite=Strict")) != SIZE_MAX);
    assert_true(str_find(line, STR("Path=/")) != SIZE_MAX);
    size_t len = str_find(line, STR(";"));
    assert_in_range(len, 10, 127);
    memcpy(cookie, line.at, len);
    cookie[len] = '\0';
    end(asked);
}

static int with_cookie(struct access *access, const char *method, const char *cookie,
                       const char *name, const char *value)
{
    struct asked *asked = begin(access, method, "/api/v1/runs/x");
    with(asked, "Cookie", cookie);
    if (name)
        with(asked, name, value);
    int status = admit(asked);
    end(asked);
    return status;
}

static void a_change_by_session_must_say_that_a_page_of_ours_sends_it(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE], cookie[128];
    make_token(f, SCOPE_ADMIN, 0, secret);
    struct access *access = open_required(f, NULL);
    sign_in(access, secret, cookie);
    assert_int_equal(with_cookie(access, "GET", cookie, NULL, NULL), 200);
    assert_int_equal(with_cookie(access, "DELETE", cookie, NULL, NULL), 403);
    assert_int_equal(with_cookie(access, "DELETE", cookie, "Sec-Fetch-Site", "none"), 403);
    assert_int_equal(with_cookie(access, "DELETE", cookie, "Sec-Fetch-Site", "same-origin"), 200);
    assert_int_equal(with_cookie(access, "DELETE", cookie, "Origin", "http://127.0.0.1:8080"), 200);
    access_close(access);
}

static void a_session_is_no_token_and_a_token_no_session(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE], cookie[128], forged[128];
    make_token(f, SCOPE_ADMIN, 0, secret);
    struct access *access = open_required(f, NULL);
    sign_in(access, secret, cookie);
    assert_int_equal(status_with(access, "GET", "/api/v1/runs", strchr(cookie, '=') + 1), 401);
    snprintf(forged, sizeof forged, "stepscope=%s", secret);
    assert_int_equal(with_cookie(access, "GET", forged, NULL, NULL), 401);
    assert_int_equal(with_cookie(access, "GET", cookie, "Cookie", cookie), 401); // one is planted
    cookie[strlen(cookie) - 1] ^= 1;
    assert_int_equal(with_cookie(access, "GET", cookie, NULL, NULL), 401);
    access_close(access);
}

static void a_session_ends_when_asked_or_with_its_token(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE], cookie[128], second[128];
    struct str id;
    make_token(f, SCOPE_ADMIN, 0, secret);
    struct access *access = open_required(f, NULL);
    sign_in(access, secret, cookie);
    sign_in(access, secret, second);
    assert_string_not_equal(cookie, second);
    struct asked *asked = begin(access, "DELETE", "/api/v1/session");
    with(asked, "Cookie", cookie);
    assert_true(access_end_session(&asked->request, &asked->response, &asked->err));
    assert_true(str_find(reply_header(asked, "Set-Cookie"), STR("Max-Age=0")) != SIZE_MAX);
    end(asked);
    for (int i = 0; i < 12; i++) // it is no guess
        assert_int_equal(with_cookie(access, "GET", cookie, NULL, NULL), 401);
    assert_int_equal(with_cookie(access, "GET", second, NULL, NULL), 200);
    assert_ok(f, store_revoke_token(f->store, STR("ci"), &f->arena, &id, &f->err));
    assert_int_equal(with_cookie(access, "GET", second, NULL, NULL), 401);
    access_close(access);
}

static void https_makes_the_cookie_secure(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE], cookie[128];
    make_token(f, SCOPE_ADMIN, 0, secret);
    struct access_config config = loopback;
    config.public_url = "https://traces.example";
    struct access *access = open_with(f, config);
    sign_in(access, secret, cookie);
    assert_true(str_starts_with(str_of(cookie), STR("__Host-stepscope=ssweb_")));
    access_close(access);
}

static void pages_send_strangers_to_sign_in_and_back(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    make_token(f, SCOPE_READ, 0, secret);
    struct access *access = open_required(f, NULL);
    struct asked *asked = begin(access, "GET", "/runs/a%20b");
    asked->request.query_text = STR("q=x&sort=name");
    assert_int_equal(admit(asked), 200);
    assert_true(access_sends_to_login(&asked->request, &asked->response));
    assert_int_equal(asked->response.status, 303);
    assert_text(reply_header(asked, "Location"), "/login?next=/runs/a%2520b%3Fq%3Dx%26sort%3Dname");
    end(asked);
    const char *const open[] = {"/login", "/healthz", "/static/x/app.mjs"};
    for (size_t i = 0; i < sizeof(open) / sizeof(*open); i++) {
        asked = begin(access, "GET", open[i]);
        assert_int_equal(admit(asked), 200);
        assert_false(access_sends_to_login(&asked->request, &asked->response));
        end(asked);
    }
    asked = begin(access, "GET", "/");
    bearer(asked, secret);
    assert_int_equal(admit(asked), 200);
    assert_false(access_sends_to_login(&asked->request, &asked->response));
    end(asked);
    access_close(access);
}

// --- proxies ------------------------------------------------------------------------------------

static struct asked *from(struct access *access, const char *peer, const char *user)
{
    struct asked *asked = begin(access, "GET", "/api/v1/runs");
    asked->request.peer = str_of(peer);
    if (user)
        with(asked, "X-Forwarded-User", user);
    return asked;
}

static void a_trusted_proxy_names_the_user(void **state)
{
    struct fixture *f = *state;
    struct access *access = open_required(f, "127.0.0.1");
    struct asked *asked = from(access, "127.0.0.1", "bob@example.com");
    with(asked, "X-Forwarded-For", "6.6.6.6, 10.1.2.3");
    assert_int_equal(admit(asked), 200);
    assert_text(asked->request.who.name, "user bob@example.com");
    assert_int_equal(asked->request.who.scopes, SCOPE_READ | SCOPE_UPLOAD | SCOPE_WRITE);
    assert_true(str_equal(asked->request.peer, STR("10.1.2.3")));
    end(asked);
    asked = from(access, "127.0.0.1", "alice");
    assert_int_equal(admit(asked), 200);
    assert_int_equal(asked->request.who.scopes, SCOPE_ALL);
    end(asked);
    asked = from(access, "127.0.0.1", NULL);
    assert_int_equal(admit(asked), 401);
    end(asked);
    access_close(access);
}

static void the_last_hop_counts_however_proxies_write_it(void **state)
{
    struct fixture *f = *state;
    struct access *access = open_required(f, "127.0.0.1");
    const struct {
        const char *first, *last, *peer;
    } cases[] = {
        {"6.6.6.6", "10.1.2.3", "10.1.2.3"}, // two lines
        {NULL, "6.6.6.6:1, 203.0.113.9:51234", "203.0.113.9"},
        {NULL, "[2001:db8::7]:443", "2001:db8::7"},
        {NULL, "[2001:db8::7]", "2001:db8::7"},
        {NULL, "2001:db8::7", "2001:db8::7"},
        {NULL, "unknown:7", "127.0.0.1"},
        {NULL, "[", "127.0.0.1"},
        {NULL, ":", "127.0.0.1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct asked *asked = from(access, "127.0.0.1", "alice");
        if (cases[i].first)
            with(asked, "X-Forwarded-For", cases[i].first);
        with(asked, "X-Forwarded-For", cases[i].last);
        assert_int_equal(admit(asked), 200);
        assert_true(str_equal(asked->request.peer, str_of(cases[i].peer)));
        end(asked);
    }
    access_close(access);
}

static void nobody_else_names_users(void **state)
{
    struct fixture *f = *state;
    char secret[TOKEN_SIZE];
    make_token(f, SCOPE_READ, 0, secret);
    struct access *access = open_required(f, "127.0.0.1");
    struct asked *asked = from(access, "127.0.0.2", "alice");
    with(asked, "X-Forwarded-For", "127.0.0.1");
    assert_int_equal(admit(asked), 403);
    assert_true(str_equal(asked->request.peer, STR("127.0.0.2")));
    end(asked);
    access_close(access);
    access = open_required(f, NULL); // without a trusted proxy the header means nothing
    asked = from(access, "127.0.0.1", "alice");
    assert_int_equal(admit(asked), 401);
    end(asked);
    access_close(access);
}

static void a_proxy_must_name_one_plain_user(void **state)
{
    struct fixture *f = *state;
    struct access *access = open_required(f, "127.0.0.1");
    const char *const wrong[] = {
        "",
        "alice, bob",
        "alice bob",
        "al\tice",
        "\xc3\xa4",
        "<b>",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct asked *asked = from(access, "127.0.0.1", wrong[i]);
        assert_int_equal(admit(asked), 400);
        end(asked);
    }
    struct asked *asked = from(access, "127.0.0.1", "bob");
    with(asked, "x-forwarded-user", "alice"); // appended by the client, not replaced
    assert_int_equal(admit(asked), 400);
    end(asked);
    access_close(access);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(auto_asks_whoever_may_come_from_elsewhere),
        TEST(a_service_that_nobody_could_use_does_not_start),
        TEST(off_is_for_this_machine_alone),
        TEST(a_provider_of_sign_ins_that_cannot_work_is_refused),
        cmocka_unit_test(without_a_guard_everybody_is_local),
        TEST(a_token_admits_to_what_its_scopes_name),
        TEST(wrong_tokens_are_refused_and_the_eleventh_has_to_wait),
        TEST(a_refusal_tells_how_to_get_in),
        TEST(a_token_in_the_address_is_refused_and_not_repeated),
        TEST(a_change_by_session_must_say_that_a_page_of_ours_sends_it),
        TEST(a_session_is_no_token_and_a_token_no_session),
        TEST(a_session_ends_when_asked_or_with_its_token),
        TEST(https_makes_the_cookie_secure),
        TEST(pages_send_strangers_to_sign_in_and_back),
        TEST(a_trusted_proxy_names_the_user),
        TEST(the_last_hop_counts_however_proxies_write_it),
        TEST(nobody_else_names_users),
        TEST(a_proxy_must_name_one_plain_user),
    };
    return run_on_each_kind(tests);
}
