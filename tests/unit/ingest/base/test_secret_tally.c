// SPDX-License-Identifier: Apache-2.0
// Counting the secrets of a stream: the same however it is cut.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/secret_tally.h"

#define SIZE ((size_t)20000)

// A stream of dots with secrets in some places, close together and far apart.
static void make_stream(char *stream, size_t shift)
{
    static const struct {
        size_t at;
        const char *text;
    } planted[] = {{10, " HF_TOKEN=abcdefgh "},
                   {700, " API_KEY=abcdefgh SECRET=abcdefgh "},
                   {5000, " https://jane:abcdefgh@host "},
                   {6020, " \"DB_PASSWORD\": \"abcdefgh\" "},
                   {9000, " --password abcdefgh "}};
    memset(stream, '.', SIZE);
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        memcpy(stream + planted[i].at + shift, planted[i].text, strlen(planted[i].text));
}

static void check_tally(const struct secret_tally *tally, size_t shift)
{
    assert_int_equal(tally->found[SECRET_NAMED].count, 5);
    assert_int_equal(tally->found[SECRET_NAMED].first_pos, 20 + shift);
    assert_int_equal(tally->found[SECRET_URL_PASSWORD].count, 1);
    assert_int_equal(tally->found[SECRET_URL_PASSWORD].first_pos, 5009 + shift);
    assert_int_equal(tally->pos, SIZE);
}

static void secrets_are_counted_once_however_the_stream_is_cut(void **state)
{
    (void)state;
    char *stream = malloc(SIZE);
    assert_non_null(stream);
    for (size_t shift = 0; shift < 40; shift++)
        for (size_t step = 1; step < SIZE * 2; step = step * 3 / 2 + 1) {
            struct secret_tally tally = {0};
            make_stream(stream, shift);
            for (size_t at = 0; at < SIZE; at += step) {
                struct str piece = {stream + at, SIZE - at < step ? SIZE - at : step};
                secret_tally_add(&tally, piece);
            }
            secret_tally_end(&tally);
            check_tally(&tally, shift);
        }
    free(stream);
}

static void a_secret_at_the_very_end_counts(void **state)
{
    (void)state;
    struct secret_tally tally = {0};
    secret_tally_add(&tally, STR("x PASSWORD="));
    secret_tally_add(&tally, STR("abc"));
    secret_tally_end(&tally);
    assert_int_equal(tally.found[SECRET_NAMED].count, 1);
    assert_int_equal(tally.found[SECRET_NAMED].first_pos, 11);
    struct secret_tally none = {0};
    secret_tally_end(&none);
    assert_int_equal(none.pos, 0);
}

// The part after the first pieces of a long one must not count as another.
static void a_secret_longer_than_many_pieces_counts_once(void **state)
{
    (void)state;
    struct secret_tally tally = {0};
    secret_tally_add(&tally, STR("x hf_"));
    for (int i = 0; i < 300; i++)
        secret_tally_add(&tally, STR("abcdefghijABCDEFGHIJ0123456789"));
    secret_tally_add(&tally, STR(" end"));
    secret_tally_end(&tally);
    assert_int_equal(tally.found[SECRET_HUGGING_FACE].count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(secrets_are_counted_once_however_the_stream_is_cut),
        cmocka_unit_test(a_secret_at_the_very_end_counts),
        cmocka_unit_test(a_secret_longer_than_many_pieces_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
