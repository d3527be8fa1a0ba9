// SPDX-License-Identifier: Apache-2.0
// Reads texts as settings of a job, found by their content and name.
#ifndef TESTS_UNIT_CONFIG_HAND_H
#define TESTS_UNIT_CONFIG_HAND_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct config_hand {
    struct budget budget;
    struct evidence evidence;
    struct err err;
};

// False with hand->err if it is refused. Pair with config_hand_free.
static inline bool config_hand_try(struct config_hand *hand, const char *filename, struct str text)
{
    struct str head = {text.at, text.len < FORMAT_HEAD_BYTES ? text.len : FORMAT_HEAD_BYTES};
    const struct format *found = format_find(head, str_of(filename));
    *hand = (struct config_hand){.budget = {.limit = (uint64_t)64 << 20}};
    hand->err.pos = ERR_NO_POS;
    evidence_init(&hand->evidence, &hand->budget);
    assert_non_null(found);
    assert_non_null(found->gather);
    struct format_input input = {.budget = &hand->budget, .evidence = &hand->evidence};
    input.source = source_mem_open(text.at, text.len, 7, &hand->err);
    bool ok = found->gather(&input, &hand->err);
    source_close(input.source);
    assert_true(ok || hand->err.code != ERR_NONE);
    return ok;
}

static inline void config_hand_read(struct config_hand *hand, const char *filename,
                                    const char *text)
{
    if (!config_hand_try(hand, filename, str_of(text)))
        fail_msg("%s", hand->err.msg);
}

static inline void config_hand_free(struct config_hand *hand)
{
    evidence_free(&hand->evidence);
    assert_int_equal(hand->budget.used, 0);
}

// "" if it is not set.
static inline struct str config_hand_value(const struct config_hand *hand, const char *name)
{
    for (size_t i = 0; i < hand->evidence.setting_count; i++)
        if (str_equal(hand->evidence.settings[i].name, str_of(name)))
            return hand->evidence.settings[i].value;
    return STR("");
}

static inline void assert_setting(const struct config_hand *hand, const char *name,
                                  const char *expected)
{
    struct str value = config_hand_value(hand, name);
    if (!str_equal(value, str_of(expected)))
        fail_msg("%s is \"%.*s\", expected \"%s\"", name, (int)value.len, value.at, expected);
}

// What format a file is found to be; "" none.
static inline const char *config_hand_found(const char *filename, const char *text)
{
    const struct format *found = format_find(str_of(text), str_of(filename));
    return found ? found->name : "";
}

#endif
