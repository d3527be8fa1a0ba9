// SPDX-License-Identifier: Apache-2.0
// Lines that are sorted in runs come out in one order, whatever their number and length.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdio.h>

#include "server/exports/sorted_spill.h"

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

// A time, its run, and up to 400 further characters.
static void add_line(struct sorted_spill *spill, int64_t time_ns, size_t run, size_t more)
{
    char line[SPILL_MOST_LINE];
    struct err err = {0};
    int len = snprintf(line, sizeof line, "%lld %zu ", (long long)time_ns, run);
    memset(line + len, 'x', more);
    line[(size_t)len + more] = '\n';
    assert_true(sorted_spill_add(spill, time_ns, (struct str){line, (size_t)len + more + 1}, &err));
}

static size_t check_order(const struct buf *out, int64_t *last_ns)
{
    size_t lines = 0;
    for (const char *at = out->at, *end = out->at + out->len; at < end; lines++) {
        int64_t time_ns = strtoll(at, NULL, 10);
        assert_true(time_ns >= *last_ns);
        *last_ns = time_ns;
        at = strchr(at, '\n') + 1;
    }
    return lines;
}

static void check_runs(size_t runs, size_t lines)
{
    struct err err = {0};
    struct buf out = {0};
    uint64_t state = runs * 31 + lines;
    bool more = true;
    size_t found = 0;
    uint64_t bytes = 0;
    int64_t last_ns = INT64_MIN;
    struct sorted_spill *spill = sorted_spill_new(0, &err);
    assert_non_null(spill);
    for (size_t run = 0; run < runs; run++) {
        int64_t time_ns = -50;
        assert_true(sorted_spill_run(spill, &err));
        for (size_t i = 0; i < lines * (run % 3); i++)
            add_line(spill, time_ns += (int64_t)(next_random(&state) % 9), run,
                     next_random(&state) % 400);
    }
    assert_true(sorted_spill_merge(spill, &err));
    while (more) {
        buf_clear(&out);
        assert_true(sorted_spill_next(spill, 1000, &out, &more, &err));
        bytes += out.len;
        found += out.len ? check_order(&out, &last_ns) : 0;
    }
    size_t wanted = 0;
    for (size_t run = 0; run < runs; run++)
        wanted += lines * (run % 3);
    assert_int_equal(found, wanted);
    assert_int_equal(bytes, sorted_spill_bytes(spill));
    buf_free(&out);
    sorted_spill_free(spill);
}

static void runs_of_any_number_and_length_are_merged(void **state)
{
    (void)state;
    check_runs(0, 0);
    check_runs(1, 5);
    check_runs(3, 20000);
    check_runs(700, 12);
    check_runs(20000, 1);
}

static void a_disk_that_runs_short_is_left_alone(void **state)
{
    (void)state;
    struct err err = {0};
    char line[SPILL_MOST_LINE];
    bool ok = true;
    memset(line, 'x', sizeof line);
    struct sorted_spill *spill = sorted_spill_new(UINT64_MAX, &err);
    assert_non_null(spill);
    assert_true(sorted_spill_run(spill, &err));
    for (int i = 0; ok && i < 10000; i++)
        ok = sorted_spill_add(spill, i, (struct str){line, sizeof line}, &err);
    assert_false(ok);
    assert_int_equal(err.code, ERR_SPACE);
    sorted_spill_free(spill);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_of_any_number_and_length_are_merged),
        cmocka_unit_test(a_disk_that_runs_short_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
