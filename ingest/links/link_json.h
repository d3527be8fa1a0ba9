// SPDX-License-Identifier: Apache-2.0
// Objects of JSON into structs, by tables of their members.
#ifndef INGEST_LINKS_LINK_JSON_H
#define INGEST_LINKS_LINK_JSON_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"
#include "ingest/json/json_cursor.h"

enum { LINK_RECENT = 16 };

struct link_json {
    struct json_cursor cursor;
    struct evidence *evidence;
    struct buf text; // the last one, decoded
    // Texts repeat from record to record: those kept last, of which `next` is the oldest.
    struct str recent[LINK_RECENT];
    unsigned next;
};

enum link_field_kind {
    LINK_WHOLE, // int64_t of at least 0; also as a text with blanks around it
    LINK_REAL,  // double of at least 0, times the unit
    LINK_TEXT,  // struct str, fit to be stored
    LINK_FLAG,  // bool; also as a text
};

struct link_field {
    const char *name;
    enum link_field_kind kind;
    size_t offset; // in the struct
    double unit;   // of LINK_REAL
};

struct link_shape {
    const struct link_field *fields;
    size_t field_count;
    // An object or list that is no field, and anything else that the table lacks; NULL: passed.
    // True if it was read to its end. Failures go to json_cursor_fail.
    bool (*inside)(struct link_json *json, struct str key, const struct json_value *value,
                   void *target);
};

#define LINK_FIELD(name, kind, type, member, unit)      \
    {                                                   \
        name, kind, offsetof(struct type, member), unit \
    }
#define LINK_SHAPE(fields, inside)                        \
    {                                                     \
        fields, sizeof(fields) / sizeof *(fields), inside \
    }

// Reads the object that was entered; members of other types than their field's are left out.
void link_json_object(struct link_json *json, const struct link_shape *shape, void *target);

// The items that are objects, for each of which `take` reads it to its end.
void link_json_objects(struct link_json *json, void (*take)(struct link_json *json, void *context),
                       void *context);

// A copy of a text that is fit to be stored.
void link_json_keep(struct link_json *json, struct str raw, struct str *kept);

// The text of a value with its escapes resolved, until the next one; "" if it is none.
struct str link_json_text(struct link_json *json, const struct json_value *value);

// -1 if it is none.
int64_t link_json_whole(struct link_json *json, const struct json_value *value);

// Reads the document, whose root is an object; what is cut or no JSON gives a warning.
MUST_CHECK bool link_json_read(const struct format_input *input, const struct link_shape *shape,
                               void *target, struct err *err);

// Opens the document and enters its root. False if this is no object, or with *err.
// Pair with link_json_close, also on failure.
MUST_CHECK bool link_json_open(struct link_json *json, const struct format_input *input,
                               struct err *err);
void link_json_close(struct link_json *json);

// After a failure to keep something.
static inline void link_json_check(struct link_json *json, bool ok, const struct err *err)
{
    if (!ok)
        json_cursor_fail(&json->cursor, err);
}

#endif
