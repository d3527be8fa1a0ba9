// SPDX-License-Identifier: Apache-2.0
// Headers are compared according to HTTP, and every error has its status.
#include "server/base/program_version.h"
#include "server/http/known_answers.h"
#include "server/http/problem.h"

#include "ingest/base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

static struct request with_header(struct request_header *header, const char *name,
                                  const char *value)
{
    *header = (struct request_header){str_of(name), str_of(value)};
    return (struct request){.headers = header, .header_count = 1};
}

static bool accepts(const char *value, const char *word)
{
    struct request_header header;
    struct request request = with_header(&header, "accept", value);
    return request_accepts(&request, "Accept", word);
}

static void a_word_is_accepted_unless_its_weight_is_zero(void **state)
{
    (void)state;
    assert_true(accepts("text/html", "text/html"));
    assert_true(accepts("a/b, TEXT/HTML;q=0.1 ,c/d", "text/html"));
    assert_false(accepts("text/html;q=0", "text/html"));
    assert_false(accepts("text/html; q=0.000", "text/html"));
    assert_false(accepts("text/htmlx, */*", "text/html"));
    assert_false(accepts("", "text/html"));
}

static void etags_are_found_in_lists(void **state)
{
    (void)state;
    struct str tag = STR("\"a.1\"");
    assert_true(response_tag_matches(STR("\"a.1\""), tag));
    assert_true(response_tag_matches(STR("\"x\", W/\"a.1\""), tag));
    assert_true(response_tag_matches(STR("*"), tag));
    assert_false(response_tag_matches(STR("\"a.12\""), tag));
    assert_false(response_tag_matches((struct str){NULL, 0}, tag));
}

// Of a request with these ETags.
struct known {
    struct arena arena;
    struct request_header header;
    struct request request;
    struct response response;
};

static void ask_with(struct known *known, const char *etags)
{
    known->request = with_header(&known->header, "If-None-Match", etags);
    known->request.arena = &known->arena;
}

static void begin_known(struct known *known, const char *etags)
{
    arena_init(&known->arena, NULL);
    response_init(&known->response);
    ask_with(known, etags);
}

static void a_known_etag_is_answered_304(void **state)
{
    (void)state;
    struct known known;
    begin_known(&known, "\"v-7\"");
    assert_true(response_unchanged(&known.request, &known.response, "v-%d", 7));
    assert_int_equal(known.response.status, 304);
    assert_false(response_unchanged(&known.request, &known.response, "v-%d", 8));
    assert_true(str_equal(known.response.etag, STR("\"v-8\"")));
    arena_free(&known.arena);
}

static void another_programs_answer_to_the_same_data_is_not_known(void **state)
{
    (void)state;
    struct known known;
    begin_known(&known, "\"v-7\", \"v-7-0.0.1-\"");
    assert_false(response_data_unchanged(&known.request, &known.response, "v-%d", 7));
    assert_non_null(strstr(known.response.etag.at, program_version));
    ask_with(&known, known.response.etag.at);
    assert_true(response_data_unchanged(&known.request, &known.response, "v-%d", 7));
    assert_int_equal(known.response.status, 304);
    arena_free(&known.arena);
}

// A request for a path with an ETag, and the answer that was made for it.
struct asked {
    struct arena arena;
    struct request_header header;
    struct request request;
    struct response response;
};

static void ask(struct asked *asked, const char *path, const char *etag)
{
    arena_init(&asked->arena, NULL);
    response_init(&asked->response);
    asked->request = with_header(&asked->header, "If-None-Match", etag);
    asked->request.arena = &asked->arena;
    asked->request.path = str_of(path);
}

static int answered(struct known_answers *known, const char *path, const char *etag,
                    uint64_t version)
{
    struct asked asked;
    ask(&asked, path, etag);
    bool found = known_answers_give(known, &asked.request, &asked.response, version);
    arena_free(&asked.arena);
    return found ? asked.response.status : 0;
}

static void an_etag_holds_for_its_address_while_the_store_is_unchanged(void **state)
{
    (void)state;
    struct known_answers *known = known_answers_new();
    struct asked asked;
    ask(&asked, "/a", "\"v-7\"");
    assert_true(response_unchanged(&asked.request, &asked.response, "v-7"));
    known_answers_keep(known, &asked.request, &asked.response, 3);
    assert_int_equal(answered(known, "/a", "\"v-7\"", 3), 0); // it need not last
    asked.response.lasts = true;
    known_answers_keep(known, &asked.request, &asked.response, 0);
    assert_int_equal(answered(known, "/a", "\"v-7\"", 0), 0); // nothing is known of the store
    known_answers_keep(known, &asked.request, &asked.response, 3);
    assert_int_equal(answered(known, "/a", "\"v-7\"", 3), 304);
    assert_int_equal(answered(known, "/a", "\"v-8\"", 3), 0);
    assert_int_equal(answered(known, "/b", "\"v-7\"", 3), 0);
    assert_int_equal(answered(known, "/a", "\"v-7\"", 4), 0);
    assert_int_equal(answered(NULL, "/a", "\"v-7\"", 3), 0);
    arena_free(&asked.arena);
    known_answers_free(known);
}

static void a_header_of_the_moment_is_not_kept(void **state)
{
    (void)state;
    struct known_answers *known = known_answers_new();
    struct asked asked;
    ask(&asked, "/a", "\"v-7\"");
    asked.response.lasts = true;
    assert_true(response_unchanged(&asked.request, &asked.response, "v-7"));
    response_header(&asked.response, &asked.arena, "Content-Location", "/a/1");
    known_answers_keep(known, &asked.request, &asked.response, 1);
    assert_int_equal(answered(known, "/a", "\"v-7\"", 1), 304);
    asked.request.path = STR("/b");
    response_header(&asked.response, &asked.arena, "Stepscope-Storage", "sound");
    known_answers_keep(known, &asked.request, &asked.response, 1);
    assert_int_equal(answered(known, "/b", "\"v-7\"", 1), 0);
    arena_free(&asked.arena);
    known_answers_free(known);
}

// Makes an answer with that content, or is given one, and checks what is sent.
static bool given(struct known_answers *known, const char *encoding, unsigned scopes,
                  const char *content)
{
    struct asked asked;
    ask(&asked, "/list", "");
    asked.request.headers = &(struct request_header){STR("Accept-Encoding"), str_of(encoding)};
    asked.request.who.scopes = scopes;
    bool was_known = known_answers_give(known, &asked.request, &asked.response, 5);
    if (!was_known) {
        buf_puts(&asked.response.body, content);
        asked.response.type = "application/json";
        asked.response.lasts = true;
        asked.response.etag = STR("\"v-1\"");
        known_answers_keep(known, &asked.request, &asked.response, 5);
    }
    assert_true(str_equal(asked.response.etag, STR("\"v-1\"")));
    assert_string_equal(asked.response.type, "application/json");
    assert_true(asked.response.gzipped == (*encoding && strlen(content) > 1024));
    if (!asked.response.gzipped)
        assert_true(str_equal((struct str){asked.response.body.at, asked.response.body.len},
                              str_of(content)));
    response_free(&asked.response);
    arena_free(&asked.arena);
    return was_known;
}

// Whether the first answer is still there after two others, which may have its place.
static bool stays_beside_others(void)
{
    char content[4000] = {0};
    memset(content, 'x', sizeof content - 1);
    struct known_answers *known = known_answers_new();
    assert_false(given(known, "", SCOPE_READ, content));
    assert_true(given(known, "", SCOPE_READ, content));
    assert_false(given(known, "", SCOPE_READ | SCOPE_WRITE, content));
    assert_false(given(known, "gzip", SCOPE_READ, content));
    assert_true(given(known, "gzip", SCOPE_READ, content));
    bool stays = given(known, "", SCOPE_READ, content);
    assert_false(given(NULL, "", SCOPE_READ, content));
    known_answers_free(known);
    return stays;
}

// Places go by a secret key: one of some 2,000 pairs of answers shares one, three pairs do not.
static void a_kept_answer_is_given_to_those_with_the_same_rights(void **state)
{
    (void)state;
    assert_true(stays_beside_others() || stays_beside_others() || stays_beside_others());
}

static void an_answer_that_the_clock_ends_is_not_given_afterwards(void **state)
{
    (void)state;
    static const struct {
        int64_t from_s, until_s;
        int status;
    } cases[] = {{-10, 1000, 304}, {-10, -1, 0}, {1000, 2000, 0}}; // the clock was set back
    struct known_answers *known = known_answers_new();
    int64_t now_ns = clock_wall_ns();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct asked asked;
        ask(&asked, "/a", "\"v-7\"");
        asked.response.lasts = true;
        asked.response.from_ns = now_ns + cases[i].from_s * 1000000000;
        asked.response.until_ns = now_ns + cases[i].until_s * 1000000000;
        assert_true(response_unchanged(&asked.request, &asked.response, "v-7"));
        known_answers_keep(known, &asked.request, &asked.response, 1);
        assert_int_equal(answered(known, "/a", "\"v-7\"", 1), cases[i].status);
        arena_free(&asked.arena);
    }
    known_answers_free(known);
}

static void answers_are_expected_once_one_lasted(void **state)
{
    (void)state;
    struct known_answers *known = known_answers_new();
    struct asked asked;
    ask(&asked, "/a", "\"v-7\"");
    assert_false(known_answers_expect(known, &asked.request));
    asked.response.lasts = true;
    assert_true(response_unchanged(&asked.request, &asked.response, "v-7"));
    known_answers_keep(known, &asked.request, &asked.response, 0);
    assert_true(known_answers_expect(known, &asked.request));
    asked.request.path = STR("/b");
    assert_false(known_answers_expect(known, &asked.request));
    assert_false(known_answers_expect(NULL, &asked.request));
    arena_free(&asked.arena);
    known_answers_free(known);
}

// --- races --------------------------------------------------------------------------------------

#define PATHS   200
#define LARGE   400000 // so that not all contents fit
#define TURNS   500
#define THREADS 4

struct race {
    struct known_answers *known;
    atomic_ullong version;
    atomic_uint wrong, found;
};

// The answer at a version says which one it is, at its start and at its end.
static void make(struct asked *asked, uint64_t version)
{
    static const char filling[LARGE] = {0};
    struct buf *body = &asked->response.body;
    buf_printf(body, "%020llu", (unsigned long long)version);
    buf_add(body, filling, sizeof filling);
    buf_printf(body, "%020llu", (unsigned long long)version);
    asked->response.etag = STR("\"v\"");
    asked->response.type = "application/json";
    asked->response.lasts = true;
}

static void check_answer(struct race *race, const struct response *response, uint64_t version)
{
    char expected[21];
    snprintf(expected, sizeof expected, "%020llu", (unsigned long long)version);
    const struct buf *body = &response->body;
    atomic_fetch_add(&race->found, 1);
    if (body->len < LARGE || memcmp(body->at, expected, 20) != 0 ||
        memcmp(body->at + body->len - 20, expected, 20) != 0)
        atomic_fetch_add(&race->wrong, 1);
}

static void *ask_on(void *context)
{
    struct race *race = context;
    char path[20];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        struct asked asked;
        snprintf(path, sizeof path, "/%u", turn * 7919 % (turn % 2 ? 3 : PATHS));
        ask(&asked, path, "");
        uint64_t version = atomic_load(&race->version);
        if (known_answers_give(race->known, &asked.request, &asked.response, version)) {
            check_answer(race, &asked.response, version);
        } else {
            make(&asked, version);
            known_answers_keep(race->known, &asked.request, &asked.response, version);
        }
        if (turn % 50 == 49)
            atomic_fetch_add(&race->version, 1);
        response_free(&asked.response);
        arena_free(&asked.arena);
    }
    return NULL;
}

static void no_thread_gets_the_answer_of_another_version(void **state)
{
    (void)state;
    struct race race = {.known = known_answers_new(), .version = 1};
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &race), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(race.wrong, 0);
    assert_true(race.found > 0);
    known_answers_free(race.known);
}

static void header_values_cannot_begin_new_lines(void **state)
{
    (void)state;
    struct arena arena;
    struct response response;
    arena_init(&arena, NULL);
    response_init(&response);
    response_header(&response, &arena, "Location", "/a%s", "\r\nSet-Cookie: x\x7f");
    assert_true(str_equal(response.headers[0].value, STR("/a??Set-Cookie: x?")));
    arena_free(&arena);
}

static void errors_become_problems_with_their_status(void **state)
{
    (void)state;
    const int expected[] = {
        [ERR_USAGE] = 400,   [ERR_NOT_FOUND] = 404, [ERR_CONFLICT] = 409,    [ERR_FORMAT] = 422,
        [ERR_LIMIT] = 413,   [ERR_MEMORY] = 503,    [ERR_UNSUPPORTED] = 415, [ERR_BUSY] = 503,
        [ERR_SPACE] = 507,   [ERR_DENIED] = 403,    [ERR_IO] = 503,          [ERR_CANCELLED] = 408,
        [ERR_INTERNAL] = 500};
    for (int code = ERR_USAGE; code <= ERR_INTERNAL; code++) {
        assert_int_equal(problem_status((enum err_code)code), expected[code]);
        assert_string_not_equal(response_phrase(expected[code]), "Error");
    }
    struct request request = {.id = "id7"};
    struct response response;
    struct err err = {0};
    response_init(&response);
    err_set_at(&err, ERR_FORMAT, 17, "found \"x\"");
    response.fix = STR("send y");
    problem_write(&request, &response, &err);
    assert_int_equal(response.status, 422);
    assert_string_equal(response.body.at,
                        "{\"type\":\"tag:stepscope,2026:problem/format\",\"title\":"
                        "\"Unprocessable Content\",\"status\":422,\"detail\":\"found \\\"x\\\"\","
                        "\"position\":17,\"fix\":\"send y\",\"request_id\":\"id7\"}\n");
    response_free(&response);
}

// Unpacks one gzip member.
static void gunzip(const struct buf *packed, struct buf *out)
{
    char block[4096];
    z_stream stream = {.next_in = (Bytef *)packed->at, .avail_in = (uInt)packed->len};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = (Bytef *)block;
        stream.avail_out = sizeof(block);
        state = inflate(&stream, Z_NO_FLUSH);
        buf_add(out, block, sizeof(block) - stream.avail_out);
    }
    assert_int_equal(state, Z_STREAM_END);
    inflateEnd(&stream);
}

static void long_texts_are_compressed_for_those_who_take_it(void **state)
{
    (void)state;
    struct request_header header;
    struct request request = with_header(&header, "Accept-Encoding", "br, gzip");
    struct response response;
    struct buf text = {0}, back = {0};
    response_init(&response);
    response.type = "application/json";
    buf_puts(&response.body, "{}");
    response_compress(&request, &response);
    assert_false(response.gzipped);
    for (int i = 0; i < 50000; i++)
        buf_printf(&text, "%d,", i);
    buf_clear(&response.body);
    buf_add(&response.body, text.at, text.len);
    response_compress(&request, &response);
    assert_true(response.gzipped);
    assert_true(response.body.len < text.len / 2);
    gunzip(&response.body, &back);
    assert_int_equal(back.len, text.len);
    assert_memory_equal(back.at, text.at, text.len);
    buf_free(&text);
    buf_free(&back);
    response_free(&response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_accepted_unless_its_weight_is_zero),
        cmocka_unit_test(etags_are_found_in_lists),
        cmocka_unit_test(a_known_etag_is_answered_304),
        cmocka_unit_test(another_programs_answer_to_the_same_data_is_not_known),
        cmocka_unit_test(an_etag_holds_for_its_address_while_the_store_is_unchanged),
        cmocka_unit_test(a_header_of_the_moment_is_not_kept),
        cmocka_unit_test(a_kept_answer_is_given_to_those_with_the_same_rights),
        cmocka_unit_test(an_answer_that_the_clock_ends_is_not_given_afterwards),
        cmocka_unit_test(answers_are_expected_once_one_lasted),
        cmocka_unit_test(no_thread_gets_the_answer_of_another_version),
        cmocka_unit_test(header_values_cannot_begin_new_lines),
        cmocka_unit_test(errors_become_problems_with_their_status),
        cmocka_unit_test(long_texts_are_compressed_for_those_who_take_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
