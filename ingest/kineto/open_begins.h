// SPDX-License-Identifier: Apache-2.0
// Begin events (ph B) waiting for their end (ph E): one stack per thread.
#ifndef INGEST_OPEN_BEGINS_H
#define INGEST_OPEN_BEGINS_H

#include "ingest/trace/record_set.h"
#include "ingest/trace/trace_builder.h"

struct open_begin {
    int64_t begin_ns;
    uint64_t pos; // of the event in the stream
    str_id name;
    enum event_kind kind;
    uint32_t below; // index of the one below it on its stack + 1, 0 at the bottom
};

struct open_thread {
    int64_t pid, tid;
    str_id pid_text, tid_text;
};

struct open_begins {
    struct budget *budget;
    struct record_set threads; // struct open_thread
    uint32_t *tops;            // per thread: index of its top + 1, 0 if empty
    uint32_t top_cap;
    struct open_begin *items;
    uint32_t count, cap;
    uint32_t free; // list of unused items, linked by below
};

void open_begins_init(struct open_begins *begins, struct budget *budget);
void open_begins_free(struct open_begins *begins);

MUST_CHECK bool open_begins_push(struct open_begins *begins, const struct open_thread *thread,
                                 const struct open_begin *begin, struct err *err);

// Pops a thread's innermost unmatched begin event; *found is false if there is none.
MUST_CHECK bool open_begins_pop(struct open_begins *begins, const struct open_thread *thread,
                                struct open_begin *begin, bool *found, struct err *err);

// Takes any unmatched begin event, innermost first within a thread; false if none is left.
bool open_begins_take(struct open_begins *begins, struct open_thread *thread,
                      struct open_begin *begin);

#endif
