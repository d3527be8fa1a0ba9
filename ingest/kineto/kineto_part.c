// SPDX-License-Identifier: Apache-2.0
// Cuts a trace between events, and reads the pieces.
#include "ingest/kineto/kineto_part.h"
#include "ingest/json/json_window.h"
#include "ingest/kineto/kineto_layout.h"
#include "ingest/kineto/kineto_walk.h"

// A cut is searched for in this many bytes at the end of a piece: far more than an event takes.
#define CUT_BYTES ((size_t)256 << 10)
// Whitespace between two events that is searched.
#define MAX_SPACE ((size_t)256)

// --- cutting -------------------------------------------------------------------------------------

static bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static size_t skip_space(struct str text, size_t at)
{
    size_t until = text.len - at > MAX_SPACE ? at + MAX_SPACE : text.len;
    while (at < until && is_space(text.at[at]))
        at++;
    return at;
}

static bool begins_event(struct str text, size_t at)
{
    static const char *const keys[] = {"\"ph\"", "\"name\"", "\"cat\"", "\"pid\"", "\"ts\""};
    if (at >= text.len || text.at[at] != '{')
        return false;
    at = skip_space(text, at + 1);
    struct str rest = {text.at + at, text.len - at};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (str_starts_with(rest, (struct str){keys[i], strlen(keys[i])}))
            return true;
    return false;
}

// After the object that ends before a comma, 0 if none does.
static size_t end_before(struct str text, size_t comma)
{
    size_t first = comma > MAX_SPACE ? comma - MAX_SPACE : 0, at = comma;
    while (at > first && is_space(text.at[at - 1]))
        at--;
    return at > 0 && text.at[at - 1] == '}' ? at : 0;
}

static size_t cut(struct str text)
{
    size_t first = text.len > CUT_BYTES ? text.len - CUT_BYTES : 0;
    for (size_t at = text.len; at > first; at--) {
        if (text.at[at - 1] != ',' || !begins_event(text, skip_space(text, at)))
            continue;
        size_t end = end_before(text, at - 1);
        if (end)
            return end;
    }
    return 0;
}

// --- reading -------------------------------------------------------------------------------------

struct part {
    struct budget *budget;
    struct trace_builder *builder;
    struct kineto_layouts *layouts;
    struct kineto_categories categories;
    struct kineto_events events;
    struct json_window window;
    struct text_guess guess;
    uint64_t event_count; // not absorbed yet
};

static void close_part(void *context)
{
    struct part *part = context;
    if (!part)
        return;
    kineto_events_free(&part->events);
    kineto_layouts_free(part->layouts);
    trace_builder_free(part->builder);
    json_window_view(&part->window, (struct str){NULL, 0}, 0);
    json_window_close(&part->window);
    budget_free(part->budget, part, sizeof *part);
}

static void *open_part(struct budget *budget, struct err *err)
{
    struct part *part = budget_zalloc(budget, sizeof *part, err);
    if (!part)
        return NULL;
    part->budget = part->window.budget = budget;
    part->builder = trace_builder_new(budget, err);
    kineto_events_init(&part->events, part->builder, budget);
    part->events.guess = &part->guess;
    if (part->builder) {
        part->guess.strings = trace_builder_strings(part->builder);
        part->layouts = kineto_layouts_new(kineto_match_variants(), &part->guess, budget, err);
    }
    if (!part->layouts) {
        close_part(part);
        return NULL;
    }
    return part;
}

// Begin and end events pair up across the whole trace; far times count from its first one.
static bool stands_alone(const struct event_fields *fields)
{
    return fields->phase != 'B' && fields->phase != 'E' && !kineto_event_is_far(fields);
}

// Reads the current event if its layout is known; returns its end, or NULL if it is not.
static const char *match(struct part *part, const char **brace)
{
    struct json_window *window = &part->window;
    const char *end = kineto_layouts_match(part->layouts, window->text + window->pos,
                                           &part->events.fields, brace);
    return end && stands_alone(&part->events.fields) ? end : NULL;
}

// Same, member by member, after the comma that is due.
static const char *walk_event(struct part *part, const char **brace, bool *more)
{
    struct json_window *window = &part->window;
    *more = window->indexed == window->pos; // nothing to walk yet, and there may never be a token
    if (*more)
        return NULL;
    struct json_walk walk = {.at = window->text + window->pos,
                             .end = window->text + window->indexed,
                             .text = window->text,
                             .token = window->tokens + window->token,
                             .token_end = window->tokens + window->token_count,
                             .comma_due = true};
    const struct json_walk before = walk;
    struct json_value value;
    enum walk got = json_walk_item(&walk, &value);
    bool is_object = got == WALK_OK && value.type == JSON_OBJECT && walk.comma_faults == 0;
    *brace = walk.at - 1;
    if (is_object)
        got = kineto_walk_event(&part->categories, &walk, &part->events.fields);
    *more = got == WALK_MORE;
    if (!is_object || got != WALK_OK || walk.comma_faults || !stands_alone(&part->events.fields))
        return NULL;
    kineto_layouts_learn(part->layouts, before, &part->events.fields);
    return walk.at;
}

// Reads one event; *want is set if the piece must be indexed further first, *done if what follows
// cannot be read here.
static bool read_event(struct part *part, bool *want, bool *done, struct err *err)
{
    struct json_window *window = &part->window;
    const char *brace;
    *want = false;
    const char *end = match(part, &brace);
    if (!end)
        end = walk_event(part, &brace, want);
    *done = !end && !*want;
    if (!end)
        return true;
    part->event_count++;
    if (!kineto_event_add(&part->events, window->base + (uint64_t)(brace - window->text), err))
        return false;
    json_window_advance(window, (size_t)(end - window->text));
    return true;
}

static bool read_part(void *context, const struct split_piece *piece, uint64_t *stop,
                      struct err *err)
{
    struct part *part = context;
    struct json_window *window = &part->window;
    json_window_view(window, (struct str){piece->text, piece->len}, piece->base);
    for (bool done = false; !done && window->pos < window->len;) {
        bool want, more = true;
        if (!read_event(part, &want, &done, err) || (want && !json_window_more(window, &more, err)))
            return false;
        done = done || !more;
    }
    *stop = window->base + window->pos;
    return true;
}

static bool absorb(void *context, void *from, struct err *err)
{
    struct kineto_whole *whole = context;
    struct part *part = from;
    *whole->event_count += part->event_count;
    whole->events->defined_count += part->events.defined_count;
    kineto_events_note_rank(whole->events, part->events.rank);
    part->event_count = part->events.defined_count = 0;
    return trace_builder_absorb(whole->events->builder, part->builder, err);
}

const struct split_ops kineto_split_ops = {cut, open_part, close_part, read_part, absorb};
