// SPDX-License-Identifier: Apache-2.0
// Quotes and brackets: every variant agrees with the scalar one and with a slow reference.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ingest/json/json_index.h"
#include "tests/tracegen/splitmix.h"

#define MAX_TEXT 700

// The definition, one byte at a time, independent of the code under test.
static size_t index_slowly(const char *text, size_t len, uint32_t *out)
{
    size_t count = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        size_t slashes = 0;
        while (slashes < i && text[i - 1 - slashes] == '\\')
            slashes++;
        bool quote = text[i] == '"' && slashes % 2 == 0;
        if (quote || (!in_string && text[i] && strchr("{}[]", text[i])))
            out[count++] = (uint32_t)i;
        in_string ^= quote;
    }
    return count;
}

static void check_split(json_index_fn *index, const char *text, size_t len, size_t split)
{
    uint32_t expected[MAX_TEXT], *found = malloc((len + 64) * sizeof *found);
    char *exact = malloc(len ? len : 1); // so that reads past the end are detected
    memcpy(exact, text, len);
    struct json_index_state carry = {0};
    size_t wanted = index_slowly(text, len, expected);
    size_t count = index(exact, split, 0, &carry, found);
    count += index(exact + split, len - split, (uint32_t)split, &carry, found + count);
    assert_int_equal(count, wanted);
    assert_memory_equal(found, expected, count * sizeof *found);
    free(exact);
    free(found);
}

static void check_everywhere(const char *text, size_t len)
{
    for (const struct json_index *variant = json_index_variants(); variant->name; variant++)
        for (size_t split = 0; split <= len; split++)
            check_split(variant->run, text, len, split);
}

static void variants_agree_on_random_text_at_every_split(void **state)
{
    (void)state;
    static const char alphabet[] = "\"\\{}[]a,:;[{\0\x5b\xdb\xfb\xdc\xa2";
    struct splitmix random = {42};
    char text[300];
    for (int round = 0; round < 40; round++) {
        size_t len = (size_t)round * 7 + 1;
        for (size_t i = 0; i < len; i++)
            text[i] = alphabet[splitmix_next(&random) % (sizeof alphabet - 1)];
        check_everywhere(text, len);
    }
}

static void runs_of_backslashes_of_every_length_and_place_are_distinguished(void **state)
{
    (void)state;
    char text[300];
    for (size_t before = 0; before < 130; before += 3) {
        for (size_t run = 0; run < 140; run += run < 4 ? 1 : 17) {
            memset(text, 'x', before);
            memset(text + before, '\\', run);
            memcpy(text + before + run, "\"{\"]", 4);
            size_t len = before + run + 4;
            for (const struct json_index *v = json_index_variants(); v->name; v++) {
                check_split(v->run, text, len, len);
                check_split(v->run, text, len, before + run / 2);
                check_split(v->run, text, len, before + run);
            }
        }
    }
}

static void offsets_count_from_the_base(void **state)
{
    (void)state;
    for (const struct json_index *v = json_index_variants(); v->name; v++) {
        uint32_t out[70];
        struct json_index_state carry = {.in_string = true};
        assert_int_equal(v->run("{\"}", 3, 1000, &carry, out), 2);
        assert_int_equal(out[0], 1001);
        assert_int_equal(out[1], 1002);
        assert_false(carry.in_string);
    }
}

static bool is_listed(const char *name)
{
    const struct json_index *v = json_index_variants();
    while (v->name && strcmp(v->name, name) != 0)
        v++;
    return v->name;
}

static void every_variant_that_the_processor_runs_is_listed(void **state)
{
    (void)state;
#if defined(__x86_64__)
    assert_int_equal(is_listed("AVX2"), __builtin_cpu_supports("avx2") != 0);
    assert_int_equal(is_listed("AVX-512"), __builtin_cpu_supports("avx512vbmi2") != 0);
#elif defined(__aarch64__)
    assert_true(is_listed("NEON"));
#endif
    assert_true(is_listed("scalar"));
    assert_true(json_index_best() == json_index_variants()->run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variants_agree_on_random_text_at_every_split),
        cmocka_unit_test(runs_of_backslashes_of_every_length_and_place_are_distinguished),
        cmocka_unit_test(offsets_count_from_the_base),
        cmocka_unit_test(every_variant_that_the_processor_runs_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
