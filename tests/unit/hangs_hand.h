// SPDX-License-Identifier: Apache-2.0
// Reads dumps of a job and says why it hangs; the same has to come of them as tables.
#ifndef TESTS_UNIT_HANGS_HAND_H
#define TESTS_UNIT_HANGS_HAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/flight_job.h"

#include "analysis/evidence/flight_tables.h"
#include "analysis/hangs/hang_keep.h"
#include "analysis/hangs/hangs.h"
#include "analysis/report/tables.h"

enum { MOST_DUMPS = JOB_MOST_RANKS };

struct hand {
    struct budget budget;
    struct arena arena;
    struct report report;
    struct hangs hangs;
    struct evidence evidence[MOST_DUMPS];
    const struct flight *dumps[MOST_DUMPS];
    size_t count;
    struct err err;
};

static inline struct hand *hand_new(void)
{
    struct hand *hand = calloc(1, sizeof *hand);
    assert_non_null(hand);
    arena_init(&hand->arena, &hand->budget);
    hand->report.arena = &hand->arena;
    return hand;
}

static inline void hand_free(struct hand *hand)
{
    for (size_t i = 0; i < hand->count; i++)
        evidence_free(&hand->evidence[i]);
    arena_free(&hand->arena);
    assert_int_equal(hand->budget.used, 0);
    free(hand);
}

static inline void add_dump(struct hand *hand, struct str bytes, int rank)
{
    char name[32];
    struct evidence *evidence = &hand->evidence[hand->count];
    snprintf(name, sizeof name, "_dump_%d", rank);
    evidence_init(evidence, &hand->budget);
    hand->dumps[hand->count++] = &evidence->flight;
    if (!flight_read(bytes, name, evidence, &hand->err))
        fail_msg("%s", hand->err.msg);
}

// A run keeps its dumps as tables.
static inline void read_from_tables(struct hand *hand, size_t dump, struct evidence *again)
{
    bool is;
    struct arena arena;
    arena_init(&arena, &hand->budget);
    struct report tables = {.arena = &arena};
    evidence_init(again, &hand->budget);
    assert_true(flight_tables_add(&hand->evidence[dump], STR("dump"), &tables, &hand->err));
    assert_true(flight_tables_read(&tables, again, &is, &hand->err));
    assert_true(is);
    arena_free(&arena);
}

static inline void assert_same_from_tables(struct hand *hand)
{
    struct evidence *again = calloc(hand->count + 1, sizeof *again);
    const struct flight **flights = calloc(hand->count + 1, sizeof *flights);
    struct hangs hangs;
    struct arena arena;
    arena_init(&arena, &hand->budget);
    struct report report = {.arena = &arena};
    for (size_t i = 0; i < hand->count; i++) {
        read_from_tables(hand, i, &again[i]);
        flights[i] = &again[i].flight;
    }
    assert_true(hangs_find(flights, hand->count, &report, &hangs, &hand->err));
    struct buf expected = {0}, found = {0};
    report_json(&hand->report, &expected);
    report_json(&report, &found);
    assert_string_equal(found.at, expected.at);
    buf_free(&expected);
    buf_free(&found);
    for (size_t i = 0; i < hand->count; i++)
        evidence_free(&again[i]);
    arena_free(&arena);
    free(flights);
    free(again);
}

static inline void diagnose(struct hand *hand)
{
    if (!hangs_find(hand->dumps, hand->count, &hand->report, &hand->hangs, &hand->err))
        fail_msg("%s", hand->err.msg);
    assert_true(hand->hangs.finding_count >= 1);
    assert_same_from_tables(hand);
}

#endif
