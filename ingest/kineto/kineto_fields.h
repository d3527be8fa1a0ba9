// SPDX-License-Identifier: Apache-2.0
// The values of one event that are read: members of the event, then of its args.
#ifndef INGEST_KINETO_FIELDS_H
#define INGEST_KINETO_FIELDS_H

#include "ingest/base/str.h"
#include "ingest/trace/event_kind.h"
#include "ingest/trace/strtab.h"

enum event_field {
    FIELD_PHASE,
    FIELD_NAME,
    FIELD_TS,
    FIELD_DUR,
    FIELD_PID,
    FIELD_TID,
    ARG_FIRST,
    ARG_CORRELATION = ARG_FIRST,
    ARG_DEVICE,
    ARG_STREAM,
    ARG_ORIGINAL_STREAM, // of a graph, where the exporter moved its events to another
    ARG_BYTES,
    ARG_COPY_KIND, // of a copy whose name does not say it: "HtoD"
    ARG_COPY_SOURCE,
    ARG_COPY_TARGET,
    ARG_KIND,
    ARG_SIZE,
    ARG_REGISTERS,
    ARG_SHARED_BYTES,
    ARG_OCCUPANCY,
    ARG_GRID, // x, y and z of a launch shape
    ARG_BLOCK = ARG_GRID + 3,
    ARG_COLLECTIVE = ARG_BLOCK + 3,
    ARG_DTYPE,
    ARG_IN_ELEMS,
    ARG_OUT_ELEMS,
    ARG_GROUP_SIZE,
    ARG_GROUP,
    ARG_GROUP_DESCRIPTION,
    ARG_GROUP_RANKS,
    ARG_RANK_START,
    ARG_RANK_STRIDE,
    ARG_SOURCE_RANK,
    ARG_TARGET_RANK,
    ARG_RANK_IN_GROUP,
    ARG_IN_SPLITS,
    ARG_OUT_SPLITS,
    ARG_COLLECTIVE_SEQUENCE,
    ARG_COMMS_ID,
    ARG_DIMS,
    ARG_TYPES,
    ARG_STRIDES,
    ARG_CONCRETE,
    ARG_MODULE,
    ARG_SEQUENCE, // of an operator
    ARG_ALLOCATED,
    ARG_RESERVED,
    ARG_ALLOCATION_BYTES,
    ARG_ADDRESS,
    ARG_DEVICE_TYPE,
    ARG_DEVICE_INDEX,
    ARG_NAME, // of a metadata row
    FIELD_NONE
};

#define ARG_FIELDS (~((UINT64_C(1) << ARG_FIRST) - 1))

union event_value {
    struct str text; // raw: between the quotes, or all of a number or list
    int64_t number;  // nanoseconds of ts and dur
    str_id id;
};

// A member of the args of a counter event: its raw name and its value.
struct counter_field {
    struct str key, value;
};

#define KINETO_MAX_COUNTERS 64

struct event_fields {
    uint64_t present; // bit f: value[f] was read; the others are not initialized
    uint64_t numeric; // of those, the ones that are already numbers; the others are texts
    uint64_t plain;   // of the texts, those known to have no escapes
    uint64_t known;   // of the texts, those that are already a str_id
    uint64_t asked;   // of the texts, those that text_guess wants to see
    enum event_kind kind;
    char phase;             // its letter, NUL if the event has none
    bool bad_args;          // args are not JSON and were skipped
    unsigned counter_count; // of a counter event; those beyond are left out
    struct counter_field counters[KINETO_MAX_COUNTERS];
    union event_value value[FIELD_NONE + 1]; // the last one takes unused values
};

// How a field given as a plain number is read.
enum number_form {
    NUMBER_NONE,    // it is a text or a list
    NUMBER_INTEGER, // a fraction is cut
    NUMBER_LABEL,   // a text if it has a fraction
    NUMBER_TIME,    // microseconds
};

// The field of an event's member, and of one of its args; FIELD_NONE if unused.
enum event_field kineto_member_field(struct str key);
enum event_field kineto_arg_field(struct str key);

enum number_form kineto_number_form(enum event_field field);

// Whether a field is kept as a raw list, without looking inside.
static inline bool kineto_field_is_list(enum event_field field)
{
    return field >= ARG_DIMS && field <= ARG_CONCRETE;
}

// Whether the args of an event are read; of instants all are, as older ones have no category.
static inline bool kineto_wants_args(enum event_kind kind, char phase)
{
    return event_kind_is_device(kind) || event_kind_is_launch(kind) || kind == EVENT_CPU_OP ||
           kind == EVENT_ALLOCATION || kind == EVENT_SYNC || phase == 'M' || phase == 'C' ||
           phase == 'i';
}

static inline bool event_has(const struct event_fields *fields, enum event_field field)
{
    return fields->present >> field & 1;
}

static inline bool event_is_known(const struct event_fields *fields, enum event_field field)
{
    return fields->known >> field & 1;
}

static inline bool event_is_numeric(const struct event_fields *fields, enum event_field field)
{
    return fields->numeric >> field & 1;
}

static inline void event_fields_clear(struct event_fields *fields)
{
    fields->present = fields->numeric = fields->plain = fields->known = fields->asked = 0;
    fields->kind = EVENT_OTHER;
    fields->phase = '\0';
    fields->bad_args = false;
    fields->counter_count = 0;
}

static inline void event_set_text(struct event_fields *fields, enum event_field field,
                                  struct str text)
{
    uint64_t bit = UINT64_C(1) << field;
    fields->value[field].text = text;
    fields->present |= bit;
    fields->numeric &= ~bit;
    fields->plain &= ~bit;
    fields->known &= ~bit;
    fields->asked &= ~bit;
}

static inline void event_unset(struct event_fields *fields, enum event_field field)
{
    fields->present &= ~(UINT64_C(1) << field);
}

static inline void event_set_number(struct event_fields *fields, enum event_field field,
                                    int64_t number)
{
    uint64_t bit = UINT64_C(1) << field;
    fields->value[field].number = number;
    fields->present |= bit;
    fields->numeric |= bit;
    fields->known &= ~bit;
}

static inline void event_set_known(struct event_fields *fields, enum event_field field, str_id id)
{
    uint64_t bit = UINT64_C(1) << field;
    fields->value[field].id = id;
    fields->present |= bit;
    fields->known |= bit;
    fields->numeric &= ~bit;
    fields->plain &= ~bit;
}

#endif
