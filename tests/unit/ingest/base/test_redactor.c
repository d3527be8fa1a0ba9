// SPDX-License-Identifier: Apache-2.0
// A long text loses the same secrets in pieces as at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/redactor.h"

#define SIZE (20 * REDACTOR_REACH)

// Lines with secrets at places that fall before, within and after the ends of blocks.
static void make_text(char *text, size_t shift)
{
    static const char key[] = "-----BEGIN PRIVATE KEY-----\n"
                              "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n"
                              "VJTUt9Us8cKjMzEfYyjiWA4R4/M2bS1GB4t7NXp98C3SC6dVMvDu\n"
                              "-----END PRIVATE KEY-----\n";
    static const char *const secrets[] = {key, " HF_TOKEN=abcdefgh ",
                                          " https://jane:abcdefgh@host ",
                                          " \"DB_PASSWORD\": \"abcdefgh\" "};
    for (size_t i = 0; i < SIZE; i++)
        text[i] = i % 61 == 60 ? '\n' : '.';
    size_t which = 0;
    for (size_t at = shift; at + sizeof key < SIZE; at += REDACTOR_REACH / 2 + 37)
        memcpy(text + at, secrets[which % 4], strlen(secrets[which % 4])), which++;
}

static void check_in_steps(struct str text, const struct buf *expected, size_t step)
{
    struct redactor redactor = {0};
    struct buf out = {0};
    struct err err;
    for (size_t at = 0; at < text.len; at += step)
        redactor_add(&redactor,
                     (struct str){text.at + at, text.len - at < step ? text.len - at : step}, &out);
    assert_true(redactor_end(&redactor, &out, &err));
    assert_int_equal(out.len, expected->len);
    assert_memory_equal(out.at, expected->at, out.len);
    redactor_free(&redactor);
    buf_free(&out);
}

static void pieces_lose_the_same_secrets_as_the_whole(void **state)
{
    (void)state;
    char *text = malloc(SIZE);
    assert_non_null(text);
    for (size_t shift = 0; shift < 3000; shift += 157) {
        struct buf expected = {0};
        make_text(text, shift);
        assert_true(secrets_redact((struct str){text, SIZE}, NULL, &expected) > 30);
        check_in_steps((struct str){text, SIZE}, &expected, 4093);
        check_in_steps((struct str){text, SIZE}, &expected, SIZE);
        buf_free(&expected);
    }
    free(text);
}

// No cut can be right within what never ends, but it must not take all memory.
static void a_secret_without_an_end_is_no_reason_to_hold_everything(void **state)
{
    (void)state;
    struct redactor redactor = {0};
    struct buf out = {0};
    struct err err;
    redactor_add(&redactor, STR("-----BEGIN PRIVATE KEY-----\n"), &out);
    for (size_t i = 0; i < 40 * REDACTOR_REACH; i += 64)
        redactor_add(&redactor,
                     STR("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cK\n"),
                     &out);
    assert_true(redactor.held.len <= 8 * REDACTOR_REACH);
    assert_true(redactor_end(&redactor, &out, &err));
    redactor_free(&redactor);
    buf_free(&out);
}

static void nothing_stays_nothing(void **state)
{
    (void)state;
    struct redactor redactor = {0};
    struct buf out = {0};
    struct err err;
    assert_true(redactor_end(&redactor, &out, &err));
    assert_int_equal(out.len, 0);
    redactor_free(&redactor);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_lose_the_same_secrets_as_the_whole),
        cmocka_unit_test(a_secret_without_an_end_is_no_reason_to_hold_everything),
        cmocka_unit_test(nothing_stays_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
