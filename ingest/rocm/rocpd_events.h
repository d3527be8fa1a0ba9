// SPDX-License-Identifier: Apache-2.0
// What rocpd_event says about each kernel, copy and call: most of what a large database requires in
// memory, so a row takes five bytes where ids follow one another.
#ifndef INGEST_ROCPD_EVENTS_H
#define INGEST_ROCPD_EVENTS_H

#include "ingest/sqlite/id_table.h"

enum { ROCPD_MOST_CATEGORIES = 255 };

struct rocpd_event {
    uint32_t stack;
    uint8_t category; // its place in `categories`
} __attribute__((packed));

struct rocpd_events {
    struct budget *budget;
    struct rocpd_event *rows; // of the ids from `first` on
    size_t count, cap;
    int64_t first;
    int64_t categories[ROCPD_MOST_CATEGORIES];
    unsigned category_count;
    struct id_table others; // rows that do not fit: stack, category
};

// Pair with rocpd_events_free, also on failure.
MUST_CHECK bool rocpd_events_load(struct rocpd_events *events, struct budget *budget,
                                  struct database *database, const char *table, struct err *err);
void rocpd_events_free(struct rocpd_events *events);

// ID_NONE without the event, or if it has none.
int64_t rocpd_events_stack(const struct rocpd_events *events, int64_t id);
int64_t rocpd_events_category(const struct rocpd_events *events, int64_t id);

#endif
