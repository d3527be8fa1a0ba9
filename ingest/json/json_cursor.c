// SPDX-License-Identifier: Apache-2.0
#include "ingest/json/json_cursor.h"

static void start_walk(struct json_cursor *cursor)
{
    const struct json_window *window = &cursor->window;
    // Text that is not indexed yet is out of bounds: consuming it would leave its tokens unread.
    cursor->walk.at = window->text + window->pos;
    cursor->walk.end = window->text + window->indexed;
    cursor->walk.text = window->text;
    cursor->walk.token = window->tokens + window->token;
    cursor->walk.token_end = window->tokens + window->token_count;
}

void json_cursor_fail(struct json_cursor *cursor, const struct err *err)
{
    if (cursor->stop == JSON_FAILED)
        return;
    cursor->stop = JSON_FAILED;
    cursor->err = *err;
}

// Brings in more of the document, with what was walked over dropped.
static bool bring_more(struct json_cursor *cursor)
{
    struct json_window *window = &cursor->window;
    struct err err;
    bool more;
    window->pos = (size_t)(cursor->walk.at - window->text);
    window->token = (size_t)(cursor->walk.token - window->tokens);
    if (window->indexed - window->pos > JSON_WINDOW_MAX_ITEM) {
        cursor->stop = JSON_BROKEN;
        cursor->broken = NULL;
        return false;
    }
    if (!json_window_more(window, &more, &err)) {
        json_cursor_fail(cursor, &err);
        return false;
    }
    if (!more)
        cursor->stop = JSON_CUT;
    start_walk(cursor);
    return more;
}

// Where an element starts, to walk over it again once more of it is in memory.
struct mark {
    const char *at;
    const uint32_t *token;
    bool comma_due;
};

static inline struct mark mark_of(const struct json_walk *walk)
{
    return (struct mark){walk->at, walk->token, walk->comma_due};
}

// Whether to try again after anything but WALK_OK.
static bool again(struct json_cursor *cursor, const struct mark *mark, enum walk got)
{
    if (got == WALK_MORE) {
        cursor->walk.at = mark->at;
        cursor->walk.token = mark->token;
        cursor->walk.comma_due = mark->comma_due;
        return bring_more(cursor);
    }
    if (got == WALK_BAD) {
        cursor->stop = JSON_BROKEN;
        cursor->broken = mark->at;
    }
    return false;
}

bool json_cursor_member(struct json_cursor *cursor, struct str *key, struct json_value *value)
{
    while (!cursor->stop) {
        struct mark mark = mark_of(&cursor->walk);
        enum walk got = json_walk_member(&cursor->walk, key, value);
        if (got == WALK_OK)
            return true;
        if (!again(cursor, &mark, got))
            return false;
    }
    return false;
}

bool json_cursor_item(struct json_cursor *cursor, struct json_value *value)
{
    while (!cursor->stop) {
        struct mark mark = mark_of(&cursor->walk);
        enum walk got = json_walk_item(&cursor->walk, value);
        if (got == WALK_OK)
            return true;
        if (!again(cursor, &mark, got))
            return false;
    }
    return false;
}

// Brackets inside texts are not tokens.
void json_cursor_pass(struct json_cursor *cursor, const struct json_value *value)
{
    struct json_walk *walk = &cursor->walk;
    size_t depth = value->type == JSON_OBJECT || value->type == JSON_ARRAY;
    while (depth && !cursor->stop) {
        while (depth && walk->token < walk->token_end) {
            char c = walk->text[*walk->token];
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            walk->at = walk->text + *walk->token++ + 1;
        }
        if (depth) {
            walk->at = walk->end;
            (void)bring_more(cursor);
        }
    }
    walk->comma_due = true;
}

bool json_cursor_next_line(struct json_cursor *cursor)
{
    struct json_window *window = &cursor->window;
    size_t from = (size_t)(cursor->walk.at - window->text);
    bool more = true;
    struct err err;
    while (cursor->stop != JSON_FAILED && more) {
        const char *end = memchr(window->text + from, '\n', window->len - from);
        if (end) {
            json_window_restart(window, (size_t)(end + 1 - window->text));
            cursor->stop = JSON_GOING;
            start_walk(cursor);
            return true;
        }
        json_window_restart(window, window->len);
        if (!json_window_read(window, &more, &err))
            json_cursor_fail(cursor, &err);
        from = window->pos;
    }
    return false;
}

// Some writers put a byte order mark in front.
static void pass_order_mark(struct json_walk *walk)
{
    if (str_starts_with((struct str){walk->at, (size_t)(walk->end - walk->at)},
                        STR("\xEF\xBB\xBF")))
        walk->at += 3;
}

bool json_cursor_enter(struct json_cursor *cursor, const struct json_value *value,
                       enum json_type type)
{
    if (value->type != type)
        json_cursor_pass(cursor, value);
    return value->type == type;
}

static bool read_root(struct json_cursor *cursor, struct json_value *root)
{
    enum walk got = WALK_MORE;
    while (got != WALK_OK && !cursor->stop) {
        struct mark mark = mark_of(&cursor->walk);
        pass_order_mark(&cursor->walk);
        got = json_walk_value(&cursor->walk, root);
        if (got != WALK_OK)
            (void)again(cursor, &mark, got);
    }
    return got == WALK_OK;
}

static bool is_bracket(char c)
{
    return c == '{' || c == '[';
}

// The byte after what was read; NUL at the end.
static char next_byte(struct json_cursor *cursor)
{
    struct json_window *window = &cursor->window;
    struct err err;
    bool more = true;
    while (window->pos == window->len && more)
        if (!json_window_read(window, &more, &err)) {
            json_cursor_fail(cursor, &err);
            return '\0';
        }
    start_walk(cursor);
    return window->pos < window->len ? window->text[window->pos] : '\0';
}

bool json_cursor_next_document(struct json_cursor *cursor, struct json_value *root)
{
    if (cursor->stop == JSON_BROKEN && cursor->broken) // a text without its end reaches far
        cursor->walk.at = cursor->broken;
    while (json_cursor_next_line(cursor)) {
        cursor->broken = NULL;
        cursor->walk.comma_due = false;
        if (is_bracket(next_byte(cursor)))
            return read_root(cursor, root);
    }
    return false;
}

struct str json_document_in(struct str head)
{
    for (size_t at = 0; at < head.len;) {
        struct str rest = {head.at + at, head.len - at};
        const char *end = memchr(rest.at, '\n', rest.len);
        if (is_bracket(*rest.at))
            return rest;
        at = end ? (size_t)(end - head.at) + 1 : head.len;
    }
    return (struct str){head.at, 0};
}

bool json_cursor_open(struct json_cursor *cursor, struct source *source, struct budget *budget,
                      struct json_value *root, struct err *err)
{
    *cursor = (struct json_cursor){.stop = JSON_GOING};
    if (!json_window_open(&cursor->window, source, budget, err)) {
        cursor->window.budget = NULL;
        return false;
    }
    start_walk(cursor);
    (void)read_root(cursor, root);
    if (cursor->stop == JSON_FAILED)
        *err = cursor->err;
    return cursor->stop != JSON_FAILED;
}

void json_cursor_close(struct json_cursor *cursor)
{
    if (cursor->window.budget)
        json_window_close(&cursor->window);
}

uint64_t json_cursor_pos(const struct json_cursor *cursor)
{
    return cursor->window.base + (uint64_t)(cursor->walk.at - cursor->window.text);
}
