// SPDX-License-Identifier: Apache-2.0
#include "ingest/base/figures.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_PATH = 512, MOST_FIGURES = 4096 };

static struct figure *find(struct figures *figures, const char *path)
{
    for (size_t i = 0; i < figures->count; i++)
        if (strcmp(figures->at[i].path, path) == 0)
            return &figures->at[i];
    return NULL;
}

static struct figure *append(struct figures *figures, const char *path)
{
    struct err ignored;
    if (figures->count == figures->cap) {
        size_t cap = figures->cap ? 2 * figures->cap : 64;
        struct figure *at = arena_array(figures->arena, cap, sizeof *at, &ignored);
        if (!at)
            return NULL;
        if (figures->count)
            memcpy(at, figures->at, figures->count * sizeof *at);
        figures->at = at;
        figures->cap = cap;
    }
    const char *own = arena_strdup(figures->arena, str_of(path), &ignored);
    if (!own)
        return NULL;
    struct figure *figure = &figures->at[figures->count++];
    *figure = (struct figure){.path = own};
    return figure;
}

__attribute__((format(printf, 2, 0))) static struct figure *place(struct figures *figures,
                                                                  const char *format, va_list args)
{
    char path[MAX_PATH];
    if (!figures)
        return NULL;
    vsnprintf(path, sizeof path, format, args);
    struct figure *figure = find(figures, path);
    if (figure || figures->count == MOST_FIGURES)
        return figure; // a file may have any number of names: listing them all helps nobody
    figure = append(figures, path);
    figures->failed |= !figure;
    return figure;
}

void figures_add(struct figures *figures, int64_t count, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    struct figure *figure = place(figures, path, args);
    va_end(args);
    if (figure)
        figures_sum(&figure->count, count);
}

void figures_real(struct figures *figures, double real, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    struct figure *figure = place(figures, path, args);
    va_end(args);
    if (figure) {
        figure->kind = FIGURE_REAL;
        figure->real = real;
    }
}

void figures_list(struct figures *figures, const char *path, ...)
{
    va_list args;
    va_start(args, path);
    struct figure *figure = place(figures, path, args);
    va_end(args);
    if (figure)
        figure->kind = FIGURE_LIST;
}

void figures_text(struct figures *figures, struct str text, const char *path, ...)
{
    va_list args;
    struct err ignored;
    va_start(args, path);
    struct figure *figure = place(figures, path, args);
    va_end(args);
    if (figure) {
        figure->kind = FIGURE_TEXT;
        figure->text = arena_strdup(figures->arena, text, &ignored);
        figures->failed |= !figure->text;
    }
}

// --- JSON ---------------------------------------------------------------------------------------

static struct str next_name(const char *path)
{
    return (struct str){path, strcspn(path, IN)};
}

static bool is_within(const struct figure *figure, struct str parent)
{
    return strncmp(figure->path, parent.at, parent.len) == 0;
}

// Whether an earlier figure starts the same child.
static bool is_again(const struct figures *figures, size_t index, struct str parent)
{
    struct str name = next_name(figures->at[index].path + parent.len);
    for (size_t i = 0; i < index; i++)
        if (is_within(&figures->at[i], parent) &&
            str_equal(next_name(figures->at[i].path + parent.len), name))
            return true;
    return false;
}

static bool is_number(struct str name)
{
    int64_t number;
    return str_to_i64(name, &number);
}

static void put_value(const struct figure *figure, struct buf *out)
{
    switch (figure->kind) {
    case FIGURE_COUNT: buf_i64(out, figure->count); return;
    case FIGURE_REAL: buf_f64(out, figure->real); return;
    case FIGURE_TEXT: buf_json(out, str_of(figure->text)); return;
    case FIGURE_LIST: return;
    }
}

static void put_children(const struct figures *figures, struct str parent, struct buf *out)
{
    bool list = false, object = false, first = true;
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->at[i];
        if (!is_within(figure, parent) || is_again(figures, i, parent))
            continue;
        struct str name = next_name(figure->path + parent.len);
        list |= figure->kind == FIGURE_LIST && name.len == 0;
        object |= figure->kind != FIGURE_LIST && name.len == 0;
        if (name.len == 0)
            continue;
        if (first)
            buf_putc(out, (list = list || (!object && is_number(name))) ? '[' : '{');
        else
            buf_putc(out, ',');
        first = false;
        if (!list) {
            buf_json(out, name);
            buf_putc(out, ':');
        }
        if (name.at[name.len])
            put_children(figures, (struct str){figure->path, parent.len + name.len + 1}, out);
        else
            put_value(figure, out);
    }
    if (first)
        buf_putc(out, list ? '[' : '{');
    buf_putc(out, list ? ']' : '}');
}

void figures_json(const struct figures *figures, struct buf *out)
{
    put_children(figures, (struct str){"", 0}, out);
}

// --- words --------------------------------------------------------------------------------------

// "top_frames" as "top frames".
static void put_words(struct buf *out, const char *path)
{
    for (; *path; path++)
        buf_putc(out, *path == '_' ? ' ' : *path);
}

void figures_words(const struct figures *figures, char *out, size_t size)
{
    struct buf text = {0};
    out[0] = '\0';
    for (size_t i = 0; i < figures->count; i++) {
        const struct figure *figure = &figures->at[i];
        if (strchr(figure->path, IN[0]) ||
            (figure->kind != FIGURE_COUNT && figure->kind != FIGURE_TEXT))
            continue;
        buf_puts(&text, text.len ? "; " : "");
        put_words(&text, figure->path);
        if (figure->kind == FIGURE_COUNT)
            buf_printf(&text, " %lld", (long long)figure->count);
        else
            buf_printf(&text, " %s", figure->text);
    }
    if (text.len && !text.failed) {
        size_t len = text.len < size ? text.len : size - 1;
        snprintf(out, size, "%.*s", (int)str_valid_utf8((struct str){text.at, len}), text.at);
    }
    buf_free(&text);
}
