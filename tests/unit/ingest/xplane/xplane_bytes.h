// SPDX-License-Identifier: Apache-2.0
// Writes XPlane profiles by hand, and reads them.
#ifndef TESTS_UNIT_INGEST_XPLANE_XPLANE_BYTES_H
#define TESTS_UNIT_INGEST_XPLANE_XPLANE_BYTES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ingest/base/buf.h"
#include "ingest/ingest.h"

// --- writing ------------------------------------------------------------------------------------

static inline void put_varint(struct buf *out, uint64_t value)
{
    for (; value > 0x7F; value >>= 7)
        buf_putc(out, (char)(0x80 | (value & 0x7F)));
    buf_putc(out, (char)value);
}

static inline void put_number(struct buf *out, unsigned field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static inline void put_bytes(struct buf *out, unsigned field, struct str bytes)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, bytes.len);
    buf_add_str(out, bytes);
}

// Puts a message into another, and empties it.
static inline void put_message(struct buf *out, unsigned field, struct buf *message)
{
    put_bytes(out, field, (struct str){message->at ? message->at : "", message->len});
    buf_free(message);
    *message = (struct buf){0};
}

// An entry of a map from a number to a message with a name.
static inline void put_name(struct buf *plane, unsigned field, uint64_t id, const char *name)
{
    struct buf meta = {0}, entry = {0};
    put_number(&meta, 1, id);
    put_bytes(&meta, 2, str_of(name));
    put_number(&entry, 1, id);
    put_message(&entry, 2, &meta);
    put_message(plane, field, &entry);
}

struct event {
    uint64_t name, offset_ps, dur_ps, correlation;
};

static inline void put_event(struct buf *line, struct event event)
{
    struct buf message = {0}, stat = {0};
    put_number(&message, 1, event.name);
    put_number(&message, 2, event.offset_ps);
    put_number(&message, 3, event.dur_ps);
    put_number(&stat, 1, 9);
    put_number(&stat, 3, event.correlation);
    put_message(&message, 4, &stat);
    put_message(line, 4, &message);
}

static inline void put_line(struct buf *plane, const char *name, const struct event *events,
                            size_t count)
{
    struct buf line = {0};
    put_number(&line, 1, 77);
    put_bytes(&line, 2, str_of(name));
    put_number(&line, 3, 1000);
    for (size_t i = 0; i < count; i++)
        put_event(&line, events[i]);
    put_message(plane, 3, &line);
}

// An event with one statistic that is a text; stat 0: none.
static inline void put_stated(struct buf *line, struct event event, unsigned stat, const char *text)
{
    struct buf message = {0}, value = {0};
    put_number(&message, 1, event.name);
    put_number(&message, 2, event.offset_ps);
    put_number(&message, 3, event.dur_ps);
    put_number(&value, 1, stat);
    put_bytes(&value, 5, str_of(text));
    if (stat)
        put_message(&message, 4, &value);
    put_message(line, 4, &message);
    buf_free(&value);
}

static inline struct buf line_named(const char *name, uint64_t time_ns)
{
    struct buf line = {0};
    put_number(&line, 1, 3);
    put_bytes(&line, 2, str_of(name));
    put_number(&line, 3, time_ns);
    return line;
}

// A name of an event that has a category, as the operations of a TPU have.
static inline void put_category(struct buf *plane, uint64_t id, const char *name,
                                const char *category)
{
    struct buf meta = {0}, entry = {0}, stat = {0};
    put_number(&meta, 1, id);
    put_bytes(&meta, 2, str_of(name));
    put_number(&stat, 1, 1);
    put_bytes(&stat, 5, str_of(category));
    put_message(&meta, 5, &stat);
    put_number(&entry, 1, id);
    put_message(&entry, 2, &meta);
    put_message(plane, 4, &entry);
}

// --- reading ------------------------------------------------------------------------------------

static inline struct trace *read_bytes(struct str bytes, struct budget *budget, struct err *err)
{
    struct source *source = source_mem_open(bytes.at, bytes.len, 0, err);
    assert_non_null(source);
    return ingest_source(source, budget, NULL, err);
}

static inline uint32_t find(const struct trace *trace, enum event_kind kind, uint32_t skip)
{
    for (uint32_t i = 0; i < trace->event_count; i++)
        if (trace->kind[i] == kind && skip-- == 0)
            return i;
    fail_msg("no event of kind %d", (int)kind);
    return 0;
}

static inline void assert_event(const struct trace *trace, uint32_t event, const char *name,
                                int64_t begin_ns, int64_t dur_ns)
{
    assert_string_equal(trace_text(trace, trace->name[event]).at, name);
    assert_int_equal(trace->begin_ns[event], begin_ns);
    assert_int_equal(trace->dur_ns[event], dur_ns);
}

static inline struct trace *read_good(struct buf *bytes)
{
    static struct budget budget;
    struct err err = {0};
    struct trace *trace = read_bytes((struct str){bytes->at, bytes->len}, &budget, &err);
    if (!trace)
        fail_msg("%s", err.msg);
    buf_free(bytes);
    return trace;
}

#endif
