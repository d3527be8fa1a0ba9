// SPDX-License-Identifier: Apache-2.0
// Vector steps agree with their scalar twins on every byte at every place.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/base/simd.h"

static void expect_twins_agree(const char *bytes, const char *others)
{
    assert_true(simd_equal(bytes, others) == simd_equal_scalar(bytes, others));
    assert_true(simd_text_stops(bytes) == simd_text_stops_scalar(bytes));
    struct simd_list list = simd_list(bytes), twin = simd_list_scalar(bytes);
    assert_true(list.quotes == twin.quotes && list.odd == twin.odd);
    assert_true(list.opens == twin.opens && list.closes == twin.closes);
}

static void every_byte_is_classified_at_every_place(void **state)
{
    (void)state;
    char plain[SIMD_BYTES], bytes[SIMD_BYTES];
    memset(plain, 'a', sizeof plain);
    for (unsigned at = 0; at < SIMD_BYTES; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            memset(bytes, 'a', sizeof bytes);
            bytes[at] = (char)byte;
            expect_twins_agree(bytes, plain);
            simd_mask differ = simd_low(SIMD_BYTES) & ~simd_equal(bytes, plain);
            assert_true(byte == 'a' ? differ == 0 : simd_first(differ) == at);
        }
}

static void mixed_bytes_are_classified(void **state)
{
    (void)state;
    static const char pool[] = "a\"\\[]{}\0\x1F \x7F\x80\xFF";
    char bytes[SIMD_BYTES], others[SIMD_BYTES];
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        for (unsigned i = 0; i < SIMD_BYTES; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = pool[(seed >> 8) % (sizeof pool - 1)];
            others[i] = seed >> 31 ? bytes[i] : pool[(seed >> 16) % (sizeof pool - 1)];
        }
        expect_twins_agree(bytes, others);
    }
}

static void the_first_bytes_are_counted(void **state)
{
    (void)state;
    char bytes[SIMD_BYTES];
    memset(bytes, 'a', sizeof bytes);
    for (unsigned count = 1; count <= SIMD_BYTES; count++) {
        unsigned bits = (unsigned)__builtin_popcountll(simd_low(count));
        assert_int_equal(bits, count);
        assert_true((simd_equal(bytes, bytes) & simd_low(count)) == simd_low(count));
    }
}

static void parity_tells_what_stands_between_marks(void **state)
{
    (void)state;
    simd_mask marks = simd_bit(2) | simd_bit(5) | simd_bit(9);
    for (unsigned at = 0; at < SIMD_BYTES; at++) {
        bool odd = (at >= 2 && at < 5) || at >= 9;
        assert_true(((simd_parity(marks) & simd_bit(at)) != 0) == odd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_is_classified_at_every_place),
        cmocka_unit_test(mixed_bytes_are_classified),
        cmocka_unit_test(the_first_bytes_are_counted),
        cmocka_unit_test(parity_tells_what_stands_between_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
