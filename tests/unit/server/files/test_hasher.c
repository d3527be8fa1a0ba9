// SPDX-License-Identifier: Apache-2.0
// The hash covers all bytes, however they are passed.
#include "server/files/hasher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void hash_in_blocks(const char *bytes, size_t size, size_t block, char *sha256)
{
    struct err err = {0};
    struct hasher *hasher = hasher_new(&err);
    assert_non_null(hasher);
    for (size_t at = 0; at < size; at += block) {
        assert_true(hasher_add(hasher, bytes + at, size - at < block ? size - at : block, &err));
    }
    assert_true(hasher_end(hasher, sha256, &err));
    hasher_free(hasher);
}

static void known_hashes_come_out(void **state)
{
    (void)state;
    char sha256[HASHER_TEXT_SIZE];
    hash_in_blocks("", 0, 1, sha256);
    assert_string_equal(sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    hash_in_blocks("abc", 3, 1, sha256);
    assert_string_equal(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void large_streams_hash_the_same_in_blocks_of_any_size(void **state)
{
    (void)state;
    enum { SIZE = 12 << 20 };
    char *bytes = malloc(SIZE);
    char whole[HASHER_TEXT_SIZE], other[HASHER_TEXT_SIZE];
    assert_non_null(bytes);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (char)(i * 2654435761u >> 13);
    hash_in_blocks(bytes, SIZE, SIZE, whole);
    static const size_t blocks[] = {1 << 18, 100003, 1 << 15, 4096};
    for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
        hash_in_blocks(bytes, SIZE, blocks[i], other);
        assert_string_equal(other, whole);
    }
    free(bytes);
}

static void a_stream_may_be_given_up_at_any_time(void **state)
{
    (void)state;
    struct err err = {0};
    char *bytes = calloc(1, 8 << 20);
    assert_non_null(bytes);
    hasher_free(NULL);
    hasher_free(hasher_new(&err));
    struct hasher *hasher = hasher_new(&err);
    for (int i = 0; i < 3; i++) {
        assert_true(hasher_add(hasher, bytes, 8 << 20, &err));
    }
    hasher_free(hasher);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_hashes_come_out),
        cmocka_unit_test(large_streams_hash_the_same_in_blocks_of_any_size),
        cmocka_unit_test(a_stream_may_be_given_up_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
