// SPDX-License-Identifier: Apache-2.0
// Signatures as AWS documents them, and lists as S3 sends them. Requests are tested by
// tests/e2e/cluster.test.mjs.
#include "server/files/s3_client.h"
#include "server/files/s3_list.h"
#include "server/files/s3_pieces.h"
#include "server/files/sigv4.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define EMPTY_HASH "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// The keys of the examples in "Signature Calculations for the Authorization Header" of S3.
static const struct sigv4_keys example_keys = {
    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL, "us-east-1"};

static void expect_signature(const char *query, const char *signature)
{
    struct sigv4_request request = {.method = "GET",
                                    .host = "examplebucket.s3.amazonaws.com",
                                    .path = "/",
                                    .query = query,
                                    .payload_hash = EMPTY_HASH,
                                    .at_s = 1369353600};
    struct sigv4_headers headers;
    struct err err;
    assert_true(sigv4_sign(&example_keys, &request, &headers, &err));
    assert_non_null(
        strstr(headers.lines[0], "SignedHeaders=host;x-amz-content-sha256;x-amz-date,"));
    assert_string_equal(headers.lines[1], "x-amz-date: 20130524T000000Z");
    assert_string_equal(strstr(headers.lines[0], "Signature=") + strlen("Signature="), signature);
}

static void signatures_are_those_of_the_documentation(void **state)
{
    (void)state;
    expect_signature("lifecycle=",
                     "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
    expect_signature("max-keys=2&prefix=J",
                     "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void keys_that_are_too_long_are_refused(void **state)
{
    (void)state;
    char long_text[300];
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    struct sigv4_keys keys = {long_text, "secret", NULL, "us-east-1"};
    struct sigv4_request request = {"GET", "h", "/", "", EMPTY_HASH, NULL, 0};
    struct sigv4_headers headers;
    struct err err;
    assert_false(sigv4_sign(&keys, &request, &headers, &err));
    assert_int_equal(err.code, ERR_USAGE);
}

static void texts_of_queries_are_encoded(void **state)
{
    struct buf out = {0};
    (void)state;
    sigv4_encode(STR("a/b c~\xc3"), false, &out);
    sigv4_encode(STR("a/b"), true, &out);
    assert_string_equal(out.at, "a%2Fb%20c~%C3a/b");
    buf_free(&out);
}

static void entries_of_lists_are_read(void **state)
{
    (void)state;
    struct str xml = STR("<R><IsTruncated>true</IsTruncated><Contents><Key>a</Key><Size>7</Size>"
                         "<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>"
                         "<Contents><Key>b</Key><Size>-1</Size></Contents><Contents><Key>c</R>");
    struct s3_entry entry;
    assert_true(str_equal(s3_list_text(xml, STR("IsTruncated")), STR("true")));
    assert_true(s3_list_next(&xml, STR("Contents"), &entry));
    assert_true(str_equal(entry.key, STR("a")));
    assert_int_equal(entry.bytes, 7);
    assert_true(s3_list_is_before(entry.time, "2026-01-02T03:04:06"));
    assert_false(s3_list_is_before(entry.time, "2026-01-02T03:04:05"));
    assert_true(s3_list_next(&xml, STR("Contents"), &entry));
    assert_int_equal(entry.bytes, 0);
    assert_false(s3_list_is_before(entry.time, "2026-01-02T03:04:05")); // it has no time
    assert_false(s3_list_next(&xml, STR("Contents"), &entry));
}

static void expect_refused(const char *place)
{
    struct err err = {0};
    assert_null(s3_client_open(place, &err));
    assert_int_equal(err.code, ERR_USAGE);
}

static void places_that_are_none_are_refused(void **state)
{
    (void)state;
    setenv("AWS_ACCESS_KEY_ID", "x", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "y", 1);
    expect_refused("s3://");
    expect_refused("s3://ab");
    expect_refused("s3://bucket/with space");
    expect_refused("s3://bucket?endpoint=127.0.0.1");
    expect_refused("s3://bucket?endpoint=http://host/path");
    expect_refused("s3://bucket?part_bytes=1");
    expect_refused("s3://bucket?part_bytes=many");
    unsetenv("AWS_SECRET_ACCESS_KEY");
    expect_refused("s3://bucket");
}

static void names_of_pieces_say_what_is_inside(void **state)
{
    (void)state;
    struct blob_piece piece;
    assert_true(s3_piece_parse(STR("pieces/p_1a/00000000000000000500-120.n_2b"), &piece));
    assert_string_equal(piece.id, "p_1a");
    assert_int_equal(piece.from, 500);
    assert_int_equal(piece.bytes, 120);
    assert_string_equal(piece.node, "n_2b");
    static const char *const others[] = {
        "pieces/p_1a/500-120.n_2b",
        "pieces/p_1a/00000000000000000500-0.n_2b",
        "pieces/p_1a/00000000000000000500--1.n_2b",
        "pieces/../00000000000000000500-120.n_2b",
        "pieces/p_1a/00000000000000000500-120.n_2b/more",
        "pieces/p_1a/99999999999999999999-120.n_2b",
        "pieces//00000000000000000500-120.n_2b",
        "blobs/p_1a/00000000000000000500-120.n_2b",
        "pieces/p_1a/00000000000000000500-120.",
        "pieces/a_name_that_is_longer_than_any/00000000000000000500-120.n_2b",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(s3_piece_parse(str_of(others[i]), &piece));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_those_of_the_documentation),
        cmocka_unit_test(keys_that_are_too_long_are_refused),
        cmocka_unit_test(texts_of_queries_are_encoded),
        cmocka_unit_test(entries_of_lists_are_read),
        cmocka_unit_test(names_of_pieces_say_what_is_inside),
        cmocka_unit_test(places_that_are_none_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
