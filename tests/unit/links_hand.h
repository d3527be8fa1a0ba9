// SPDX-License-Identifier: Apache-2.0
// Reads texts as tests of links, found by their content.
#ifndef TESTS_UNIT_LINKS_HAND_H
#define TESTS_UNIT_LINKS_HAND_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"
#include "tests/unit/near.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct links_hand {
    struct budget budget;
    struct evidence evidence;
    struct err err;
};

// False with hand->err if it is refused. Pair with links_hand_free.
static inline bool links_hand_try(struct links_hand *hand, const char *format, struct str text)
{
    const struct format *found = format_find(text, STR(""));
    *hand = (struct links_hand){.budget = {.limit = (uint64_t)64 << 20}};
    evidence_init(&hand->evidence, &hand->budget);
    assert_non_null(found);
    assert_string_equal(found->name, format);
    struct format_input input = {.budget = &hand->budget, .evidence = &hand->evidence};
    input.source = source_mem_open(text.at, text.len, 7, &hand->err);
    bool ok = found->gather(&input, &hand->err);
    source_close(input.source);
    return ok;
}

static inline void links_hand_read(struct links_hand *hand, const char *format, struct str text)
{
    if (!links_hand_try(hand, format, text))
        fail_msg("%s", hand->err.msg);
}

static inline void links_hand_free(struct links_hand *hand)
{
    evidence_free(&hand->evidence);
    assert_int_equal(hand->budget.used, 0);
}

static inline void assert_text(struct str text, const char *expected)
{
    if (!str_equal(text, str_of(expected)))
        fail_msg("\"%.*s\", expected \"%s\"", (int)text.len, text.at, expected);
}

static inline size_t links_hand_count(const struct links_hand *hand, enum link_part part)
{
    return hand->evidence.links.parts[part].count;
}

static inline const struct link_run *links_hand_run(const struct links_hand *hand, size_t index)
{
    const struct link_run *runs = hand->evidence.links.parts[LINK_RUNS].items;
    assert_true(index < links_hand_count(hand, LINK_RUNS));
    return &runs[index];
}

static inline const struct link_row *links_hand_row(const struct links_hand *hand, size_t index)
{
    const struct link_row *rows = hand->evidence.links.parts[LINK_ROWS].items;
    assert_true(index < links_hand_count(hand, LINK_ROWS));
    return &rows[index];
}

static inline const struct link_device *links_hand_device(const struct links_hand *hand,
                                                          size_t index)
{
    const struct link_device *devices = hand->evidence.links.parts[LINK_DEVICES].items;
    assert_true(index < links_hand_count(hand, LINK_DEVICES));
    return &devices[index];
}

static inline uint64_t links_hand_warned(const struct links_hand *hand, enum link_warning warning)
{
    return hand->evidence.links.warnings[warning].count;
}

// Figures of a text, as inspect prints them.
static inline void assert_link_figures(struct str text, const char *expected)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {0};
    struct buf out = {0};
    const struct format *found = format_find(text, STR(""));
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    assert_non_null(found);
    input.source = source_mem_open(text.at, text.len, 0, &err);
    if (!found->count(&input, &err))
        fail_msg("%s", err.msg);
    source_close(input.source);
    assert_int_equal(budget.used, 0);
    figures_json(&figures, &out);
    assert_string_equal(out.at, expected);
    buf_free(&out);
    arena_free(&arena);
}

#endif
