// SPDX-License-Identifier: Apache-2.0
// Reading ahead on a separate thread.
// labels: threads
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "ingest/base/buf.h"
#include "ingest/source/source.h"

#define SECRET       "Authorization: Bearer abcdefghijklmnopqrstuvwxyz012345"
#define SECRET_EVERY ((uint64_t)100003) // bytes, in numbers with secrets

// Numbers that never end, or end or fail at a chosen byte; counts how often it was closed.
struct numbers {
    struct source source;
    uint64_t at, end;
    enum err_code failure; // at the end; ERR_NONE: none
    unsigned *closed;
    bool has_secrets;
};

static unsigned char number_at(bool has_secrets, uint64_t at)
{
    uint64_t within = at % SECRET_EVERY;
    if (has_secrets)
        return within < sizeof SECRET - 1 ? (unsigned char)SECRET[within] : '\n';
    return (unsigned char)(at % 251);
}

static bool numbers_read(struct source *source, void *bytes, size_t cap, size_t *got,
                         struct err *err)
{
    struct numbers *numbers = (struct numbers *)source;
    uint64_t left = numbers->end - numbers->at;
    *got = left < cap ? (size_t)left : cap;
    *got = *got > 10007 ? 10007 : *got;
    for (size_t i = 0; i < *got; i++)
        ((unsigned char *)bytes)[i] = number_at(numbers->has_secrets, numbers->at + i);
    numbers->at += *got;
    if (*got == 0 && numbers->failure != ERR_NONE)
        return err_set_at(err, numbers->failure, numbers->at, "as asked for");
    return true;
}

static void numbers_close(struct source *source)
{
    ++*((struct numbers *)source)->closed;
    free(source);
}

static uint64_t numbers_consumed(const struct source *source)
{
    return ((const struct numbers *)source)->at;
}

static const struct source_ops numbers_ops = {
    .read = numbers_read, .close = numbers_close, .consumed = numbers_consumed};

static struct source *open_numbers(uint64_t end, enum err_code failure, unsigned *closed)
{
    struct numbers *numbers = malloc(sizeof *numbers);
    *numbers = (struct numbers){{&numbers_ops}, 0, end, failure, closed, false};
    return &numbers->source;
}

static struct source *open_ahead(uint64_t end, enum err_code failure, unsigned *closed)
{
    static struct secret_tally ignored;
    struct err err;
    struct source *source =
        source_ahead_open(open_numbers(end, failure, closed), NULL, &ignored, &err);
    assert_non_null(source);
    return source;
}

// Reads everything; every byte must be the expected one.
static enum err_code drain(struct source *source, size_t cap, uint64_t *total)
{
    struct err err = {0};
    unsigned char *block = malloc(cap);
    size_t got = 1;
    *total = 0;
    while (got && source_read(source, block, cap, &got, &err))
        for (size_t i = 0; i < got; i++)
            if (block[i] != (*total)++ % 251)
                fail_msg("wrong byte at %llu", (unsigned long long)*total);
    free(block);
    return err.code;
}

static void all_bytes_come_in_order_for_any_length(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 1, 10007, 262143, 262144, 262145, 524288, 3000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned closed = 0;
        uint64_t total;
        struct source *source = open_ahead(lengths[i], ERR_NONE, &closed);
        assert_int_equal(drain(source, 1000 + i * 70000, &total), ERR_NONE);
        assert_int_equal(total, lengths[i]);
        assert_int_equal(source_consumed(source), lengths[i]);
        source_close(source);
        assert_int_equal(closed, 1);
    }
}

static void a_failure_comes_behind_all_bytes_before_it_and_stays(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {0, 5, 262144, 700000, 5000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        unsigned closed = 0;
        uint64_t total;
        struct err err = {0};
        char byte;
        size_t got;
        struct source *source = open_ahead(lengths[i], ERR_FORMAT, &closed);
        assert_int_equal(drain(source, 5000, &total), ERR_FORMAT);
        assert_int_equal(total, lengths[i]);
        assert_false(source_read(source, &byte, 1, &got, &err));
        assert_int_equal(err.code, ERR_FORMAT);
        assert_int_equal(err.pos, lengths[i]);
        assert_string_equal(err.msg, "as asked for");
        source_close(source);
        assert_int_equal(closed, 1);
    }
}

static void closing_early_stops_a_source_without_end(void **state)
{
    (void)state;
    for (unsigned reads = 0; reads < 40; reads++) {
        unsigned closed = 0;
        struct err err;
        char block[100000];
        size_t got;
        struct source *source = open_ahead(UINT64_MAX, ERR_NONE, &closed);
        for (unsigned i = 0; i < reads; i++)
            assert_true(source_read(source, block, sizeof block, &got, &err));
        source_close(source);
        assert_int_equal(closed, 1);
    }
}

static void a_source_of_one_block_leaves_the_core_free(void **state)
{
    (void)state;
    unsigned closed = 0;
    struct cores cores;
    struct err err;
    uint64_t total;
    struct secret_tally tally = {0};
    cores_init(&cores, 1);
    struct source *source =
        source_ahead_open(open_numbers(100000, ERR_NONE, &closed), &cores, &tally, &err);
    assert_int_equal(source_consumed(source), 100000); // at once, so no thread will
    assert_int_equal(cores_free(&cores), 1);
    assert_int_equal(drain(source, 5000, &total), ERR_NONE);
    assert_int_equal(total, 100000);
    source_close(source);
    source = source_ahead_open(open_numbers(UINT64_MAX, ERR_NONE, &closed), &cores, &tally, &err);
    assert_int_equal(cores_free(&cores), 0);
    source_close(source);
    assert_int_equal(cores_free(&cores), 1);
}

// Reads all with some work at every byte, or none, so that either thread may be the faster one.
static uint64_t count_secrets(uint64_t end, unsigned rounds)
{
    unsigned closed = 0;
    struct err err;
    struct secret_tally tally = {0};
    struct source *numbers = open_numbers(end, ERR_NONE, &closed);
    ((struct numbers *)numbers)->has_secrets = true;
    struct source *source = source_ahead_open(numbers, NULL, &tally, &err);
    static char block[100000];
    volatile unsigned sum = 0;
    size_t got = 1;
    while (got && source_read(source, block, sizeof block, &got, &err))
        for (size_t i = 0; i < got * rounds; i++)
            sum += (unsigned char)block[i % got];
    (void)sum;
    source_close(source);
    uint64_t count = 0;
    for (size_t kind = 0; kind < SECRET_KINDS; kind++)
        count += tally.found[kind].count;
    assert_int_equal(tally.pos, end);
    return count;
}

static void secrets_of_all_blocks_count_whichever_thread_waits(void **state)
{
    (void)state;
    static const uint64_t lengths[] = {10, 100003, 524288, 524289, 9000000};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint64_t expected =
            lengths[i] / SECRET_EVERY + (lengths[i] % SECRET_EVERY >= sizeof SECRET - 1);
        assert_int_equal(count_secrets(lengths[i], 0), expected);
        assert_int_equal(count_secrets(lengths[i], 20), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_come_in_order_for_any_length),
        cmocka_unit_test(a_failure_comes_behind_all_bytes_before_it_and_stays),
        cmocka_unit_test(closing_early_stops_a_source_without_end),
        cmocka_unit_test(a_source_of_one_block_leaves_the_core_free),
        cmocka_unit_test(secrets_of_all_blocks_count_whichever_thread_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
