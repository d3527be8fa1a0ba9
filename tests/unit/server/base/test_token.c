// SPDX-License-Identifier: Apache-2.0
// Secrets are random, recognizable by their form, and kept as hashes; scopes are words.
#include "server/base/token.h"

#include "server/access/access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void each_token_is_another_one_of_the_same_form(void **state)
{
    (void)state;
    enum { COUNT = 200 };
    static char tokens[COUNT][TOKEN_SIZE];
    bool seen[128] = {false};
    int letters = 0;
    for (int i = 0; i < COUNT; i++) {
        assert_true(token_make(TOKEN_PREFIX, tokens[i], NULL));
        assert_int_equal(strlen(tokens[i]), 3 + TOKEN_CHARS);
        assert_true(token_has_form(str_of(tokens[i]), TOKEN_PREFIX));
        assert_false(token_has_form(str_of(tokens[i]), SESSION_PREFIX));
        for (int k = 0; k < i; k++)
            assert_string_not_equal(tokens[i], tokens[k]);
        for (const char *c = tokens[i] + 3; *c; c++)
            seen[(unsigned char)*c] = true;
    }
    for (int c = 0; c < 128; c++)
        letters += seen[c];
    assert_int_equal(letters, 62);
}

static void other_texts_have_not_the_form(void **state)
{
    (void)state;
    const char *const others[] = {
        "",
        "ss_",
        "ss_012345678901234567890123456789012345678901",   // one too short
        "ss_01234567890123456789012345678901234567890123", // one too long
        "ss_0123456789012345678901234567890123456789-12",
        "xx_0123456789012345678901234567890123456789012a",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        assert_false(token_has_form(str_of(others[i]), TOKEN_PREFIX));
    char text[] = "ss_0123456789012345678901234567890123456789012";
    text[20] = '\0';
    assert_false(token_has_form((struct str){text, sizeof(text) - 1}, TOKEN_PREFIX));
}

static void a_hash_is_the_sha256_in_hex(void **state)
{
    (void)state;
    char hash[TOKEN_HASH_SIZE], other[TOKEN_HASH_SIZE];
    assert_true(token_hash(STR("abc"), hash, NULL));
    assert_string_equal(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_true(token_hash(STR("abd"), other, NULL));
    assert_true(token_same_hash(str_of(hash), str_of(hash)));
    assert_false(token_same_hash(str_of(hash), str_of(other)));
    assert_false(token_same_hash(str_of(hash), STR("ba78")));
}

static void scopes_are_words_joined_by_commas(void **state)
{
    (void)state;
    unsigned scopes = 0;
    char words[TOKEN_SCOPES_SIZE];
    assert_true(token_parse_scopes(STR("upload,read"), &scopes, NULL));
    assert_int_equal(scopes, SCOPE_READ | SCOPE_UPLOAD);
    token_write_scopes(scopes, words);
    assert_string_equal(words, "read,upload");
    token_write_scopes(SCOPE_ALL, words);
    assert_string_equal(words, "read,upload,write,admin");
    token_write_scopes(0, words);
    assert_string_equal(words, "");
    const char *const wrong[] = {"", ",", "read,", ",read", "Read", "root", "read, upload"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct err err = {0};
        if (token_parse_scopes(str_of(wrong[i]), &scopes, &err))
            fail_msg("'%s' was taken", wrong[i]);
        assert_int_equal(err.code, ERR_USAGE);
    }
}

static void scopes_include_lesser_ones(void **state)
{
    (void)state;
    assert_int_equal(token_all_scopes(SCOPE_ADMIN), SCOPE_ALL);
    assert_int_equal(token_all_scopes(SCOPE_WRITE), SCOPE_WRITE | SCOPE_READ);
    assert_int_equal(token_all_scopes(SCOPE_UPLOAD), SCOPE_UPLOAD);
    assert_int_equal(token_all_scopes(SCOPE_READ), SCOPE_READ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_token_is_another_one_of_the_same_form),
        cmocka_unit_test(other_texts_have_not_the_form),
        cmocka_unit_test(a_hash_is_the_sha256_in_hex),
        cmocka_unit_test(scopes_are_words_joined_by_commas),
        cmocka_unit_test(scopes_include_lesser_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
