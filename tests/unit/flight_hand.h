// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps written by hand as JSON, and the same as a pickle.
#ifndef TESTS_UNIT_FLIGHT_HAND_H
#define TESTS_UNIT_FLIGHT_HAND_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/source/source.h"

#include <jansson.h>

static inline void pickle_number(struct buf *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_putc(out, (char)(number >> 8 * i));
}

static inline void pickle_text_of(struct buf *out, const char *text)
{
    buf_putc(out, 'X');
    pickle_number(out, strlen(text), 4);
    buf_puts(out, text);
}

// A value without the head and the end of a pickle.
static inline void pickle_of(struct buf *out, const json_t *value)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_object(value)) {
        buf_puts(out, "}(");
        json_object_foreach((json_t *)(uintptr_t)value, key, item)
        {
            pickle_text_of(out, key);
            pickle_of(out, item);
        }
        buf_putc(out, 'u');
    } else if (json_is_array(value)) {
        buf_puts(out, "](");
        json_array_foreach(value, i, item) pickle_of(out, item);
        buf_putc(out, 'e');
    } else if (json_is_string(value)) {
        pickle_text_of(out, json_string_value(value));
    } else if (json_is_integer(value)) {
        buf_add(out, "\x8a\x08", 2);
        pickle_number(out, (uint64_t)json_integer_value(value), 8);
    } else {
        buf_putc(out, json_is_true(value) ? '\x88' : json_is_false(value) ? '\x89' : 'N');
    }
}

static inline void pickle_of_json(struct buf *out, const char *json)
{
    json_error_t error;
    json_t *root = json_loads(json, 0, &error);
    if (!root)
        fail_msg("%s", error.text);
    buf_puts(out, "\x80\x02");
    pickle_of(out, root);
    buf_putc(out, '.');
    json_decref(root);
}

// Recognizes the bytes and reads them; the evidence is for the caller to free, in either case.
static inline bool flight_read(struct str bytes, const char *filename, struct evidence *evidence,
                               struct err *err)
{
    struct str head = {bytes.at, bytes.len < FORMAT_HEAD_BYTES ? bytes.len : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR(""));
    assert_non_null(format);
    assert_string_equal(format->name, "flight-recorder");
    struct format_input input = {
        .budget = evidence->budget, .evidence = evidence, .filename = str_of(filename)};
    input.source = source_mem_open(bytes.at, bytes.len, 0, err);
    bool ok = format->gather(&input, err);
    source_close(input.source);
    return ok;
}

#endif
