// SPDX-License-Identifier: Apache-2.0
// What monitors recorded, read from texts and compared as text.
#ifndef TESTS_UNIT_SAMPLES_HAND_H
#define TESTS_UNIT_SAMPLES_HAND_H

#include "tests/unit/links_hand.h"

#include "ingest/base/buf.h"

static inline const struct sample_set *samples_hand_set(const struct links_hand *hand)
{
    return &hand->evidence.samples;
}

// The values of a device, "?" for each missing one at the end: "97 50 ?".
static inline void assert_values(const struct links_hand *hand, uint32_t device,
                                 enum sample_metric metric, const char *expected)
{
    struct buf out = {0};
    const struct sample_set *set = samples_hand_set(hand);
    assert_true(device < set->device_count);
    const struct sample_series *series = samples_of(set, device, metric);
    buf_puts(&out, series ? "" : "none");
    for (size_t i = 0; series && i < series->count; i++)
        buf_printf(&out, "%s%.10g", i ? " " : "", series->at[i].value);
    for (uint64_t i = 0; series && i < series->missing; i++)
        buf_puts(&out, out.len ? " ?" : "?");
    assert_string_equal(out.at ? out.at : "", expected);
    buf_free(&out);
}

// Their times in milliseconds: "0 1000".
static inline void assert_times(const struct links_hand *hand, uint32_t device,
                                enum sample_metric metric, const char *expected)
{
    struct buf out = {0};
    const struct sample_series *series = samples_of(samples_hand_set(hand), device, metric);
    assert_non_null(series);
    for (size_t i = 0; i < series->count; i++) {
        assert_int_equal(series->at[i].time_ns % 1000000, 0);
        buf_puts(&out, i ? " " : "");
        buf_i64(&out, series->at[i].time_ns / 1000000);
    }
    assert_string_equal(out.at ? out.at : "", expected);
    buf_free(&out);
}

// Reads, expects, frees.
static inline void assert_only_values(const char *format, struct str text,
                                      enum sample_metric metric, const char *expected)
{
    struct links_hand hand;
    links_hand_read(&hand, format, text);
    assert_values(&hand, 0, metric, expected);
    links_hand_free(&hand);
}

static inline void assert_found_as(struct str text, const char *expected)
{
    const struct format *found = format_find(text, STR(""));
    assert_string_equal(found ? found->name : "unknown", expected);
}

#endif
