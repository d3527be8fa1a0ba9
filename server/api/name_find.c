// SPDX-License-Identifier: Apache-2.0
#include "server/api/name_find.h"

#include "ingest/trace/trace_blocks.h"

#include <stdlib.h>

// The best event of a kind so far.
struct best {
    bool known;
    struct find_key key;
    struct trace_event event;
};

struct search {
    const struct name_find *wanted;
    struct trace_events events;
    uint8_t *has_text;             // per name
    uint64_t count, before, up_to; // events in all, before wanted->from, and up to it
    struct best next, previous, first, last;
};

static int compare(struct find_key a, struct find_key b)
{
    if (a.begin_ns != b.begin_ns)
        return a.begin_ns < b.begin_ns ? -1 : 1;
    return (a.lane > b.lane) - (a.lane < b.lane);
}

static void keep(struct best *best, int sign, struct find_key key, const struct trace_event *event)
{
    if (!best->known || sign * compare(key, best->key) > 0)
        *best = (struct best){true, key, *event};
}

static void take(struct search *search, struct find_key key, const struct trace_event *event)
{
    int order = compare(key, search->wanted->from);
    search->count++;
    search->before += order < 0;
    search->up_to += order <= 0;
    keep(&search->first, -1, key, event);
    keep(&search->last, 1, key, event);
    if (order > 0)
        keep(&search->next, -1, key, event);
    if (order < 0)
        keep(&search->previous, 1, key, event);
}

static bool search_lane(struct search *search, size_t lane, struct err *err)
{
    static const struct trace_window everything = {INT64_MIN, INT64_MAX};
    struct trace_cursor cursor = trace_events_start(&search->events, lane);
    struct trace_event event;
    bool found = true, any = false;
    for (int64_t last_ns = 0;;) {
        if (!trace_events_next(&search->events, &cursor, everything, &event, &found, err) || !found)
            return !found;
        if (!search->has_text[event.name] || (any && event.begin_ns == last_ns))
            continue;
        any = true;
        last_ns = event.begin_ns;
        take(search, (struct find_key){event.begin_ns, lane}, &event);
    }
}

static bool mark_names(const struct trace_file *file, struct search *search, struct err *err)
{
    uint64_t count = trace_file_count(file, SECTION_SPANS);
    search->has_text = calloc((size_t)count + 1, 1);
    if (!search->has_text)
        return err_set(err, ERR_MEMORY, "out of memory for names");
    struct trace_texts texts = trace_texts_of(file);
    bool ok = true;
    for (uint64_t id = 0; ok && id < count; id++) {
        struct str text;
        ok = trace_texts_get(&texts, (str_id)id, &text, err);
        search->has_text[id] =
            ok && (search->wanted->exact ? str_equal(text, search->wanted->text)
                                         : str_contains_nocase(text, search->wanted->text));
    }
    trace_texts_close(&texts);
    return ok;
}

static void choose(const struct search *search, struct name_found *found)
{
    bool backward = search->wanted->backward;
    const struct best *best = backward ? &search->previous : &search->next;
    found->count = search->count;
    found->index = backward ? search->before : search->up_to + 1;
    if (!best->known) {
        best = backward ? &search->last : &search->first;
        found->index = backward ? search->count : 1;
    }
    found->event = best->event;
    found->lane = best->key.lane;
}

bool name_find(const struct trace_file *file, const struct name_find *wanted,
               struct name_found *found, struct err *err)
{
    struct search search = {.wanted = wanted};
    bool ok = mark_names(file, &search, err);
    if (ok) {
        ok = trace_events_open(&search.events, file, 1, err);
        for (size_t lane = 0; ok && lane < search.events.track_count; lane++) {
            enum track_family family = search.events.tracks[lane].family;
            if (!wanted->device_only || family == TRACK_DEVICE)
                ok = search_lane(&search, lane, err);
        }
        trace_events_close(&search.events);
    }
    free(search.has_text);
    *found = (struct name_found){0};
    if (ok)
        choose(&search, found);
    return ok;
}
