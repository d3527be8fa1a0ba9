// SPDX-License-Identifier: Apache-2.0
// PyTorch (Kineto) and Chrome trace JSON: an object with traceEvents among other members in any
// order, or a bare array of events; the end may be missing.
#include "ingest/kineto/format_kineto.h"
#include "ingest/json/member_clean.h"
#include "ingest/json/json_number.h"
#include "ingest/json/json_outline.h"
#include "ingest/json/json_window.h"
#include "ingest/kineto/kineto_event.h"
#include "ingest/kineto/kineto_layout.h"
#include "ingest/kineto/kineto_members.h"
#include "ingest/kineto/kineto_part.h"
#include "ingest/kineto/kineto_walk.h"

#define MAX_MEMBER (STRTAB_MAX_LEN - 1)
// Root members up to this size are read whole; larger ones may or may not be in memory, depending
// on the stream's block boundaries.
#define MAX_WHOLE (2 * MAX_MEMBER)

// Pieces for other cores: long enough that learning layouts and absorbing cost little compared with
// reading. A shorter file is done before a second core would have started.
#define PIECE_BYTES  ((size_t)2 << 20)
#define SPLIT_BEHIND ((uint64_t)4 << 20)

// Where the reader is in the document.
enum place {
    PLACE_START,
    PLACE_ROOT,   // among the members of the root object
    PLACE_EVENTS, // among the events
    PLACE_SKIP,   // inside a value too large to keep
    PLACE_RESYNC, // after something that is not JSON, looking for the next event
    PLACE_END,
};

struct reader {
    struct json_window window;
    struct str head; // the first bytes of the document
    struct kineto_events events;
    struct kineto_categories categories;
    struct kineto_layouts *layouts; // NULL: every event is read member by member
    struct text_guess guess;
    struct kineto_members members;
    struct trace_builder *builder;
    struct budget *budget;
    struct progress *progress;
    struct split *split; // NULL while there is nothing to split
    size_t piece_bytes;
    uint64_t split_behind; // nothing is split before this offset in the stream
    enum place place, after_skip;
    bool comma_due;
    bool bare_array;   // the root is the event list
    bool seen_events;  // an event list was entered
    bool odd_events;   // a member has the list's name but is not a list
    bool in_list;      // when looking for a restart: the unreadable part is an event
    size_t skip_depth; // number of open brackets inside the value being skipped
    bool skip_in_text; // its last token opened a string
    uint64_t event_count;
    struct kineto_own own;
    uint64_t retried; // offset of an item that is read again without what is before it
};

static struct json_walk walk_from(const struct reader *reader)
{
    const struct json_window *window = &reader->window;
    // Text that is not indexed yet is out of bounds: consuming it would leave its tokens unread.
    return (struct json_walk){.at = window->text + window->pos,
                              .end = window->text + window->indexed,
                              .text = window->text,
                              .token = window->tokens + window->token,
                              .token_end = window->tokens + window->token_count,
                              .comma_due = reader->comma_due};
}

// Consumes what was walked over.
static void commit(struct reader *reader, const struct json_walk *walk)
{
    uint64_t pos = reader->window.base + reader->window.pos;
    reader->window.pos = (size_t)(walk->at - reader->window.text);
    reader->window.token = (size_t)(walk->token - reader->window.tokens);
    reader->comma_due = walk->comma_due;
    for (unsigned i = 0; i < walk->comma_faults; i++)
        trace_builder_repair(reader->builder, REPAIR_COMMA, pos);
}

static size_t walk_size(const struct reader *reader, const struct json_walk *walk)
{
    return (size_t)(walk->at - reader->window.text) - reader->window.pos;
}

static uint64_t position(const struct reader *reader)
{
    return reader->window.base + reader->window.pos;
}

static void repair(struct reader *reader, enum repair what)
{
    trace_builder_repair(reader->builder, what, position(reader));
}

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Whitespace around a candidate that is looked at. Bounded, so that the result does not depend on
// the stream's block boundaries.
#define LOOK_AROUND ((size_t)256)
// Text after a candidate that must be in memory to judge it.
#define LOOK_AHEAD (2 * LOOK_AROUND)

static size_t skip_some_space(const char *text, size_t at, size_t len)
{
    size_t until = len - at > LOOK_AROUND ? at + LOOK_AROUND : len;
    while (at < until && is_space(text[at]))
        at++;
    return at;
}

// --- events --------------------------------------------------------------------------------------

static bool skip_item(struct json_walk *walk, const struct json_value *value, enum walk *got)
{
    if (value->type == JSON_ARRAY || value->type == JSON_OBJECT)
        *got = json_walk_skip(walk);
    return *got == WALK_OK;
}

// Whether a scalar is valid JSON; if not, the reader has lost its place.
static bool is_json_scalar(struct str text)
{
    return *text.at == '-' || str_is_digit(*text.at) || str_equal(text, STR("null")) ||
           str_equal(text, STR("true")) || str_equal(text, STR("false"));
}

// Reads the next event if its layout is known; sets *known accordingly.
static bool read_known_event(struct reader *reader, bool *known, struct err *err)
{
    struct json_window *window = &reader->window;
    const char *brace, *end = NULL;
    if (reader->layouts && reader->comma_due)
        end = kineto_layouts_match(reader->layouts, window->text + window->pos,
                                   &reader->events.fields, &brace);
    // read_item decides about larger ones, however much of the stream is in memory.
    *known = end && (size_t)(end - window->text) - window->pos <= JSON_WINDOW_MAX_ITEM;
    if (!*known)
        return true;
    reader->event_count++;
    if (!kineto_event_add(&reader->events, window->base + (uint64_t)(brace - window->text), err))
        return false;
    json_window_advance(window, (size_t)(end - window->text));
    return true;
}

// Reads one item of the event list. *got is the outcome; false is a failure.
static bool read_item(struct reader *reader, enum walk *got, struct err *err)
{
    struct json_walk walk = walk_from(reader);
    struct json_value value;
    *got = json_walk_item(&walk, &value);
    if (*got == WALK_END) {
        commit(reader, &walk);
        reader->place = reader->bare_array ? PLACE_END : PLACE_ROOT;
        *got = WALK_OK;
        return true;
    }
    if (*got != WALK_OK)
        return true;
    if (value.type == JSON_SCALAR && !is_json_scalar(value.text)) {
        *got = WALK_BAD;
        return true;
    }
    if (value.type != JSON_OBJECT) {
        if (skip_item(&walk, &value, got)) {
            repair(reader, REPAIR_NOT_OBJECT);
            reader->event_count++;
            commit(reader, &walk);
        }
        return true;
    }
    uint64_t pos = reader->window.base + (uint64_t)(walk.at - 1 - reader->window.text);
    *got = kineto_walk_event(&reader->categories, &walk, &reader->events.fields);
    if (*got != WALK_OK)
        return true;
    reader->event_count++;
    if (reader->layouts)
        kineto_layouts_learn(reader->layouts, walk_from(reader), &reader->events.fields);
    // Whether an event this large is complete in memory depends on the stream's block boundaries.
    if (walk_size(reader, &walk) > JSON_WINDOW_MAX_ITEM)
        repair(reader, REPAIR_OVERSIZE);
    else if (!kineto_event_add(&reader->events, pos, err))
        return false;
    commit(reader, &walk);
    return true;
}

static bool read_event(struct reader *reader, enum walk *got, struct err *err)
{
    bool known;
    *got = WALK_OK;
    return read_known_event(reader, &known, err) && (known || read_item(reader, got, err));
}

// --- root members --------------------------------------------------------------------------------

static void begin_events(struct reader *reader, const struct json_walk *walk)
{
    if (reader->seen_events)
        repair(reader, REPAIR_SECOND_LIST);
    commit(reader, walk);
    reader->place = PLACE_EVENTS;
    reader->seen_events = true;
}

// Stops keeping the current value and skips it, however long it is.
static void begin_skip(struct reader *reader, enum place then)
{
    reader->place = PLACE_SKIP;
    reader->after_skip = then;
    reader->skip_depth = 0;
    reader->skip_in_text = false;
}

static bool keep_pair(struct reader *reader, struct str key, struct str text, struct err *err)
{
    if (key.len > MAX_MEMBER || text.len > MAX_MEMBER) {
        repair(reader, REPAIR_METADATA);
        return true;
    }
    return kineto_members_keep(&reader->members, key, text, err);
}

static bool keep_member(struct reader *reader, struct str key, struct str text, struct err *err)
{
    struct buf clean = {0};
    bool long_text = text.len > MAX_MEMBER; // not kept
    char room[JSON_WORD];
    key = json_word(key, room);
    struct str kept = long_text ? text : member_clean(key, text, &clean);
    bool ok = buf_ok(&clean, err) && keep_pair(reader, key, kept, err);
    buf_free(&clean);
    return ok;
}

// The raw text of a value, with its quotes or brackets.
static struct str raw_text(const struct json_walk *walk, const struct json_value *value,
                           const char *inner)
{
    if (value->type == JSON_SCALAR)
        return value->text;
    const char *from = value->type == JSON_TEXT ? value->text.at - 1 : inner - 1;
    return (struct str){from, (size_t)(walk->at - from)};
}

// Finds the start of an event list, key and bracket, at or after *at; false if there is none.
static bool list_follows(struct str text, size_t *at)
{
    static const char key[] = "\"traceEvents\"";
    while (*at < text.len) {
        const char *found = memmem(text.at + *at, text.len - *at, key, sizeof key - 1);
        if (!found)
            return false;
        *at = (size_t)(found - text.at);
        size_t colon = skip_some_space(text.at, *at + sizeof key - 1, text.len);
        if (colon < text.len && text.at[colon] == ':') {
            size_t bracket = skip_some_space(text.at, colon + 1, text.len);
            if (bracket < text.len && text.at[bracket] == '[')
                return true;
        }
        ++*at;
    }
    return false;
}

static void go_on_at_list(struct reader *reader, size_t at)
{
    repair(reader, REPAIR_MALFORMED);
    json_window_restart(&reader->window, at);
    reader->comma_due = false;
}

// A string left open by a backslash, or a bracket that is never closed, swallows what follows.
// Continues at the event list if the current member contains it before text[end].
static bool find_swallowed_list(struct reader *reader, size_t end)
{
    size_t at = reader->window.pos;
    if (reader->seen_events || reader->place != PLACE_ROOT ||
        !list_follows((struct str){reader->window.text, end}, &at))
        return false;
    go_on_at_list(reader, at);
    return true;
}

// Whether another member follows text[at]; *known is false if more of the stream is needed to tell.
static bool member_follows(const struct json_window *window, size_t at, bool *known)
{
    size_t comma = skip_some_space(window->text, at, window->len), key = comma;
    if (comma < window->len && window->text[comma] == ',')
        key = skip_some_space(window->text, comma + 1, window->len);
    *known = key < window->len || window->ended;
    return key > comma && key < window->len && window->text[key] == '"';
}

// Same for a member that ends at text[end]: if another member follows, a list inside it is its own.
static bool find_list_within(struct reader *reader, size_t end, enum walk *got)
{
    const struct json_window *window = &reader->window;
    size_t at = window->pos, most = at + MAX_WHOLE;
    bool known = true;
    if (reader->seen_events ||
        !list_follows((struct str){window->text, end < most ? end : most}, &at) ||
        (end + LOOK_AHEAD <= most && member_follows(window, end, &known)))
        return false;
    if (known)
        go_on_at_list(reader, at);
    else
        *got = WALK_MORE;
    return true;
}

static bool read_member(struct reader *reader, enum walk *got, struct err *err)
{
    struct json_walk walk = walk_from(reader);
    struct json_value value;
    struct str key;
    *got = json_walk_member(&walk, &key, &value);
    if (*got == WALK_END) {
        commit(reader, &walk);
        reader->place = PLACE_END;
        *got = WALK_OK;
        return true;
    }
    if (*got != WALK_OK)
        return true;
    char room[JSON_WORD];
    bool names_events = str_equal(json_word(key, room), STR("traceEvents"));
    if (names_events && value.type == JSON_ARRAY) {
        begin_events(reader, &walk);
        return true;
    }
    reader->odd_events |= names_events;
    const char *inner = walk.at;
    if (!skip_item(&walk, &value, got) ||
        find_list_within(reader, (size_t)(walk.at - reader->window.text), got))
        return true;
    if (!keep_member(reader, key, raw_text(&walk, &value, inner), err))
        return false;
    commit(reader, &walk);
    return true;
}

// Skips tokens until the value given to begin_skip is closed.
static void skip_tokens(struct reader *reader, enum walk *got)
{
    struct json_window *window = &reader->window;
    *got = WALK_MORE;
    while (window->token < window->token_count) {
        uint32_t at = window->tokens[window->token++];
        char c = window->text[at];
        window->pos = at + 1;
        bool closes = c == '}' || c == ']';
        if (c == '"')
            reader->skip_in_text = !reader->skip_in_text;
        else if (closes && reader->skip_depth > 0)
            reader->skip_depth--;
        else if (!closes)
            reader->skip_depth++;
        if (reader->skip_depth == 0 && !reader->skip_in_text) {
            reader->place = reader->after_skip;
            reader->comma_due = true;
            *got = WALK_OK;
            return;
        }
    }
    window->pos = window->indexed;
}

// Leaves unreadable text to resync. An item that cannot be read at the second try either counts
// once.
static void lose_place(struct reader *reader)
{
    reader->in_list = reader->place == PLACE_EVENTS;
    reader->event_count += reader->in_list && position(reader) != reader->retried;
    reader->place = PLACE_RESYNC;
}

// Skips a value that is too large to keep; its key, if any, is consumed first.
static void give_up_item(struct reader *reader)
{
    struct json_walk walk = walk_from(reader);
    struct json_value value = {.type = JSON_SCALAR};
    struct str key;
    bool in_list = reader->place == PLACE_EVENTS;
    repair(reader, in_list ? REPAIR_OVERSIZE : REPAIR_METADATA);
    enum walk got = in_list ? json_walk_item(&walk, &value) : json_walk_member(&walk, &key, &value);
    bool in_text = got == WALK_MORE && value.type == JSON_TEXT && walk.token < walk.token_end;
    bool inside = got == WALK_OK && (value.type == JSON_OBJECT || value.type == JSON_ARRAY);
    if (reader->place == PLACE_START || (!inside && !in_text)) {
        lose_place(reader);
        return;
    }
    reader->event_count += in_list;
    walk.token += in_text; // the opening quote; a bracket is already consumed
    walk.at += in_text;
    enum place then = reader->place;
    commit(reader, &walk);
    begin_skip(reader, then);
    reader->skip_depth = inside;
    reader->skip_in_text = in_text;
}

// --- resynchronisation ---------------------------------------------------------------------------

// Whether one of the quoted keys is at text[at]; *end is after it.
static bool key_at(struct str text, size_t at, const char *const *keys, size_t *end)
{
    for (; *keys; keys++) {
        *end = at + strlen(*keys);
        if (text.len >= *end && memcmp(text.at + at, *keys, *end - at) == 0)
            return true;
    }
    return false;
}

// Whether an event starts at text[at]: an opening brace and one of the keys that events start with.
static bool looks_like_event(struct str text, size_t at)
{
    static const char *const keys[] = {"\"ph\"",  "\"name\"", "\"cat\"", "\"pid\"",
                                       "\"tid\"", "\"ts\"",   NULL};
    size_t before = at, first = at > LOOK_AROUND ? at - LOOK_AROUND : 0, end;
    while (before > first && is_space(text.at[before - 1]))
        before--;
    if (before > 0 && text.at[before - 1] == ':')
        return false; // the value of a member, such as args
    return key_at(text, skip_some_space(text.at, at + 1, text.len), keys, &end);
}

// Whether a root member worth finding starts at text[at].
static bool looks_like_member(struct str text, size_t at)
{
    static const char *const keys[] = {"\"traceEvents\"",     "\"baseTimeNanoseconds\"",
                                       "\"distributedInfo\"", "\"deviceProperties\"",
                                       "\"traceName\"",       NULL};
    size_t end;
    if (!key_at(text, at, keys, &end))
        return false;
    end = skip_some_space(text.at, end, text.len);
    return end < text.len && text.at[end] == ':';
}

// Where reading may continue from text[at]; PLACE_RESYNC if it may not.
static enum place restart_at(const struct reader *reader, struct str text, size_t at)
{
    if (text.at[at] == '{' && reader->seen_events && looks_like_event(text, at))
        return PLACE_EVENTS;
    if (text.at[at] == '"' && !reader->in_list && looks_like_member(text, at))
        return PLACE_ROOT;
    return PLACE_RESYNC;
}

// Looks for a place to continue, from *at on. *at becomes that place, or where to look further.
static bool find_restart(struct reader *reader, size_t *at)
{
    const struct json_window *window = &reader->window;
    struct str text = {window->text, window->len};
    size_t until = window->ended              ? window->len
                   : window->len > LOOK_AHEAD ? window->len - LOOK_AHEAD
                                              : 0;
    for (; *at < until; ++*at) {
        reader->place = restart_at(reader, text, *at);
        if (reader->place != PLACE_RESYNC)
            return true;
    }
    return false;
}

// Whether only separators are between text[at] and the place that was lost, not far before: what
// follows is the item that could not be read.
static bool is_retried(const struct json_window *window, size_t at, uint64_t lost)
{
    uint64_t distance = window->base + at - lost;
    const char *text = window->text + at;
    while (distance && distance <= LOOK_AROUND &&
           (text[-(ptrdiff_t)distance] == ',' || is_space(text[-(ptrdiff_t)distance])))
        distance--;
    return distance == 0;
}

static bool resync(struct reader *reader, bool *more, struct err *err)
{
    struct json_window *window = &reader->window;
    size_t at = window->pos + 1;
    uint64_t lost = position(reader);
    while (!find_restart(reader, &at)) {
        *more = !window->ended;
        if (!*more)
            return true;
        // Some text before it is kept, to look back at.
        size_t keep = at > LOOK_AROUND ? at - LOOK_AROUND : 0;
        json_window_restart(window, keep > window->pos ? keep : window->pos);
        at -= window->pos;
        if (!json_window_read(window, more, err))
            return false;
    }
    *more = true;
    reader->retried = is_retried(window, at, lost) ? window->base + at : UINT64_MAX;
    json_window_restart(window, at);
    reader->comma_due = false;
    return true;
}

// --- document ------------------------------------------------------------------------------------

static enum walk read_start(struct reader *reader)
{
    struct json_walk walk = walk_from(reader);
    bool mark =
        str_starts_with((struct str){walk.at, (size_t)(walk.end - walk.at)}, STR("\xEF\xBB\xBF"));
    walk.at += mark ? 3 : 0;
    struct json_value value;
    enum walk got = json_walk_value(&walk, &value);
    if (got != WALK_OK)
        return got;
    if (mark)
        repair(reader, REPAIR_BYTE_ORDER_MARK);
    if (value.type == JSON_ARRAY) {
        reader->bare_array = true;
        begin_events(reader, &walk);
    } else if (value.type == JSON_OBJECT) {
        commit(reader, &walk);
        reader->place = PLACE_ROOT;
    } else {
        return WALK_BAD;
    }
    return WALK_OK;
}

static bool read_next(struct reader *reader, enum walk *got, struct err *err)
{
    *got = WALK_OK;
    switch (reader->place) {
    case PLACE_START: *got = read_start(reader); return true;
    case PLACE_ROOT: return read_member(reader, got, err);
    case PLACE_EVENTS: return read_event(reader, got, err);
    case PLACE_SKIP: skip_tokens(reader, got); return true;
    case PLACE_RESYNC:
    case PLACE_END: return true;
    }
    return true;
}

static bool report_progress(struct reader *reader, struct err *err)
{
    if (!reader->progress)
        return true;
    atomic_store_explicit(&reader->progress->done_bytes, source_consumed(reader->window.source),
                          memory_order_relaxed);
    if (atomic_load_explicit(&reader->progress->cancel, memory_order_relaxed))
        return err_set(err, ERR_CANCELLED, "the analysis was cancelled");
    return true;
}

// Lets free cores read ahead once the event list is long enough.
static bool begin_split(struct reader *reader, struct err *err)
{
    struct json_window *window = &reader->window;
    struct split_plan plan = {.ops = &kineto_split_ops,
                              .budget = reader->budget,
                              .cores = reader->progress ? reader->progress->cores : NULL,
                              .piece_bytes = reader->piece_bytes};
    if (reader->split || !reader->layouts || reader->own.label || reader->place != PLACE_EVENTS ||
        position(reader) < reader->split_behind)
        return true;
    if (!split_open(&reader->split, &plan, window->source, window->base + window->len, err))
        return false;
    if (reader->split)
        window->source = split_source(reader->split);
    return true;
}

// Takes over what another core read from here on; sets *taken if there was anything.
static bool take_piece(struct reader *reader, bool *taken, struct err *err)
{
    const struct json_window *window = &reader->window;
    *taken = false;
    if (!reader->split || reader->place != PLACE_EVENTS || !reader->comma_due ||
        window->pos < window->len)
        return true;
    struct kineto_whole whole = {&reader->events, &reader->event_count};
    uint64_t at;
    if (!split_take(reader->split, &whole, &at, err))
        return false;
    *taken = at != position(reader);
    if (*taken)
        json_window_seek(&reader->window, at);
    return true;
}

// Brings in more of the stream for an incomplete item. *more is false at the end.
static bool bring_more(struct reader *reader, bool *more, struct err *err)
{
    *more = true;
    size_t live = reader->window.indexed - reader->window.pos;
    size_t most = reader->place == PLACE_ROOT ? MAX_WHOLE : JSON_WINDOW_MAX_ITEM;
    if (reader->place != PLACE_SKIP && live > most) {
        if (!find_swallowed_list(reader, reader->window.pos + most))
            give_up_item(reader);
        return true;
    }
    bool taken;
    if (!begin_split(reader, err) || !take_piece(reader, &taken, err) ||
        (!taken && !json_window_more(&reader->window, more, err)) || !report_progress(reader, err))
        return false;
    *more = *more || find_swallowed_list(reader, reader->window.len);
    return true;
}

static bool read_document(struct reader *reader, struct err *err)
{
    bool more = true;
    while (more && reader->place != PLACE_END) {
        enum walk got;
        if (!read_next(reader, &got, err))
            return false;
        if (got == WALK_BAD) {
            if (reader->place == PLACE_START)
                return err_set_at(err, ERR_FORMAT, position(reader),
                                  "expected a JSON object or array at byte 0");
            if (position(reader) != reader->retried)
                repair(reader, REPAIR_MALFORMED);
            lose_place(reader);
        }
        if (got == WALK_MORE && !bring_more(reader, &more, err))
            return false;
        if (reader->place == PLACE_RESYNC && !resync(reader, &more, err))
            return false;
    }
    return true;
}

// Only whitespace may follow the document.
static bool read_trailing(struct reader *reader, struct err *err)
{
    bool more = true;
    while (more) {
        const struct json_window *window = &reader->window;
        while (reader->window.pos < window->len && is_space(window->text[window->pos]))
            reader->window.pos++;
        if (window->pos < window->len) {
            repair(reader, REPAIR_TRAILING);
            return true;
        }
        if (!json_window_read(&reader->window, &more, err))
            return false;
    }
    return true;
}

// Whether what starts with a bracket continues as JSON.
static bool begins_as_json(struct str head)
{
    return head.len == 0 || json_outline_of(head).json;
}

// Refuses a document without any event, saying what it is instead if known.
static bool refuse(const struct reader *reader, struct err *err)
{
    const struct err *cut = &reader->window.cut;
    bool whole = reader->place == PLACE_END;
    if (cut->code != ERR_NONE) {
        *err = *cut;
        return false;
    }
    if (whole && reader->seen_events && !reader->bare_array && reader->event_count == 0)
        return err_set(err, ERR_FORMAT,
                       "no events were recorded: traceEvents is empty; did the profiler's schedule "
                       "reach an active step, with prof.step() after each?");
    if (reader->odd_events)
        return err_set(err, ERR_FORMAT,
                       "found traceEvents that is not a list, expected a list of events");
    if (!whole && reader->place != PLACE_RESYNC && begins_as_json(reader->head))
        return err_set_at(err, ERR_FORMAT, position(reader),
                          "the file ends before its first event; upload all of it");
    return format_refuse_json(reader->head, err);
}

static bool finish(struct reader *reader, struct err *err)
{
    struct json_window *window = &reader->window;
    if (reader->place == PLACE_END) {
        if (!read_trailing(reader, err))
            return false;
    } else {
        window->pos = window->len;
        if (reader->place != PLACE_RESYNC || reader->in_list) // otherwise only a member is lost
            repair(reader, REPAIR_TRUNCATED);
    }
    if (reader->events.defined_count == 0)
        return refuse(reader, err);
    if (window->cut.code != ERR_NONE)
        trace_builder_repair(reader->builder, REPAIR_COMPRESSION, window->cut.pos);
    trace_builder_count_input(reader->builder, reader->event_count - reader->events.others,
                              position(reader));
    if (reader->events.rank >= 0)
        trace_builder_rank(reader->builder, reader->events.rank, VALUE_ABSENT);
    return kineto_members_read(&reader->members, reader->builder, err) &&
           kineto_events_finish(&reader->events, err);
}

static bool read_with(struct reader *reader, struct source *source, struct err *err)
{
    if (!json_window_open(&reader->window, source, reader->budget, err))
        return false;
    kineto_events_init(&reader->events, reader->builder, reader->budget);
    reader->events.guess = reader->layouts ? &reader->guess : NULL;
    reader->events.own = reader->own.label;
    bool ok = kineto_members_init(&reader->members, reader->budget, err);
    reader->members.own_rank = reader->own.rank;
    ok = ok && read_document(reader, err) && finish(reader, err);
    split_close(reader->split);
    kineto_members_free(&reader->members);
    kineto_events_free(&reader->events);
    json_window_close(&reader->window);
    return ok;
}

static bool read_by(struct reader *reader, const struct kineto_match *match, struct source *source,
                    struct err *err)
{
    reader->guess.strings = trace_builder_strings(reader->builder);
    reader->layouts = kineto_layouts_new(match, &reader->guess, reader->budget, err);
    bool ok = reader->layouts && read_with(reader, source, err);
    kineto_layouts_free(reader->layouts);
    return ok;
}

static struct reader reader_of(const struct format_input *input)
{
    return (struct reader){.head = input->head,
                           .builder = input->builder,
                           .budget = input->budget,
                           .progress = input->progress,
                           .piece_bytes = PIECE_BYTES,
                           .split_behind = SPLIT_BEHIND,
                           .own = {.rank = VALUE_ABSENT},
                           .retried = UINT64_MAX};
}

bool kineto_read_by(const struct kineto_match *match, const struct format_input *input,
                    struct err *err)
{
    struct reader reader = reader_of(input);
    return match ? read_by(&reader, match, input->source, err)
                 : read_with(&reader, input->source, err);
}

bool kineto_read_pieces(size_t piece_bytes, const struct format_input *input, struct err *err)
{
    struct reader reader = reader_of(input);
    reader.piece_bytes = piece_bytes;
    reader.split_behind = 0;
    return read_by(&reader, kineto_match_variants(), input->source, err);
}

bool kineto_read_own(struct kineto_own own, const struct format_input *input, struct err *err)
{
    struct reader reader = reader_of(input);
    reader.own = own;
    return read_by(&reader, kineto_match_variants(), input->source, err);
}

static bool kineto_read(const struct format_input *input, struct err *err)
{
    return kineto_read_by(kineto_match_variants(), input, err);
}

const struct format format_kineto = {
    .name = "kineto",
    .what = "a PyTorch profiler (Kineto) or Chrome trace in JSON",
    .kind = FORMAT_TRACE,
    .ending = ".json",
    .probe = kineto_probe,
    .read = kineto_read,
};
