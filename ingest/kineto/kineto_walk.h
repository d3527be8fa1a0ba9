// SPDX-License-Identifier: Apache-2.0
// Reads the fields of an event of any layout, member by member.
#ifndef INGEST_KINETO_WALK_H
#define INGEST_KINETO_WALK_H

#include "ingest/json/json_walk.h"
#include "ingest/kineto/kineto_fields.h"

#define KINETO_CATEGORIES 16

struct category_kind {
    char text[24];
    size_t len;
    enum event_kind kind;
};

// The categories seen so far in one file.
struct kineto_categories {
    struct category_kind known[KINETO_CATEGORIES];
    unsigned count;
};

// Walks one event whose opening brace was consumed. Its texts are slices of the window.
enum walk kineto_walk_event(struct kineto_categories *categories, struct json_walk *walk,
                            struct event_fields *fields);

#endif
