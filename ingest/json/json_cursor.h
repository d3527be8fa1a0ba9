// SPDX-License-Identifier: Apache-2.0
// Reads a JSON document of any size member by member, without keeping it: for documents of records
// whose shape the reader knows.
//
//     while (json_cursor_member(&cursor, &key, &value))
//         if (str_equal(key, STR("agents")) && value.type == JSON_ARRAY)
//             while (json_cursor_item(&cursor, &value)) ...
//         else
//             json_cursor_pass(&cursor, &value);
//
// All loops end once nothing more can be read; `stop` says why.
#ifndef INGEST_JSON_CURSOR_H
#define INGEST_JSON_CURSOR_H

#include "ingest/json/json_walk.h"
#include "ingest/json/json_window.h"

enum json_stop {
    JSON_GOING,
    JSON_CUT,    // the document ends early; window.cut says if its compression is damaged
    JSON_BROKEN, // this is not JSON
    JSON_FAILED, // err says why
};

struct json_cursor {
    struct json_window window;
    struct json_walk walk;
    enum json_stop stop;
    const char *broken; // the element that is not JSON, if it stopped at one
    struct err err;
};

// Reads the bracket of the root and its kind. The source stays the caller's. Pair with
// json_cursor_close, also on failure.
MUST_CHECK bool json_cursor_open(struct json_cursor *cursor, struct source *source,
                                 struct budget *budget, struct json_value *root, struct err *err);
void json_cursor_close(struct json_cursor *cursor);

// The next member of the object, or item of the array, that was entered last; false after the last
// one. A container that it returns has been entered: read it to its end or pass it. Texts,
// those of keys too, live until the next call of any function here.
bool json_cursor_member(struct json_cursor *cursor, struct str *key, struct json_value *value);
bool json_cursor_item(struct json_cursor *cursor, struct json_value *value);
// Leaves out what is in a container, of any size. Nothing to do for other values.
void json_cursor_pass(struct json_cursor *cursor, const struct json_value *value);

// Whether a value is a container of that type, to be read to its end. Others are passed.
bool json_cursor_enter(struct json_cursor *cursor, const struct json_value *value,
                       enum json_type type);

// In JSON lines, whose further documents json_cursor_item gives: continues after the next line
// break. False at the end.
bool json_cursor_next_line(struct json_cursor *cursor);

// Where tools append a document at each turn of a loop, perhaps with text between: the root of the
// next one that starts a line. False at the end.
bool json_cursor_next_document(struct json_cursor *cursor, struct json_value *root);
// The first text that can be a document, in a head: from a bracket that starts a line. "" if there
// is none.
struct str json_document_in(struct str head);

// Ends the reading with an error.
void json_cursor_fail(struct json_cursor *cursor, const struct err *err);
// Offset in the document.
uint64_t json_cursor_pos(const struct json_cursor *cursor);

#endif
