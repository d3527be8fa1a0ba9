// SPDX-License-Identifier: Apache-2.0
#include "server/http/early.h"

#define EARLY_MAX_VALUES 4

struct value {
    struct str name, text; // decoded
};

struct match {
    const struct request *request;
    struct value values[EARLY_MAX_VALUES];
    size_t count;
};

// Takes what stands before the first c, and c.
static struct str take_until(struct str *rest, char c)
{
    const char *end = rest->len ? memchr(rest->at, c, rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->at) : rest->len, used = end ? len + 1 : len;
    struct str part = {rest->at, len};
    *rest = (struct str){rest->at + used, rest->len - used};
    return part;
}

static bool keep_value(struct match *match, struct str name, struct str text)
{
    if (text.len == 0 || match->count == EARLY_MAX_VALUES)
        return false;
    match->values[match->count++] = (struct value){name, text};
    return true;
}

// "run" of "{run}"; nothing for other text.
static struct str braced(struct str text)
{
    bool is = text.len > 2 && text.at[0] == '{' && text.at[text.len - 1] == '}';
    return is ? (struct str){text.at + 1, text.len - 2} : (struct str){NULL, 0};
}

static bool match_segment(struct match *match, struct str want, struct str have)
{
    struct str name = braced(want), text;
    if (!name.at)
        return str_equal(want, have);
    return query_decode(have, false, match->request->arena, &text, NULL) &&
           keep_value(match, name, text);
}

static bool match_path(struct match *match, struct str pattern)
{
    struct str path = match->request->path;
    while (pattern.len && path.len) {
        struct str want = take_until(&pattern, '/');
        if (str_equal(want, STR("*")))
            return true;
        if (!match_segment(match, want, take_until(&path, '/')))
            return false;
    }
    return path.len == 0 && (pattern.len == 0 || str_equal(pattern, STR("*")));
}

static bool match_query(struct match *match, struct str names)
{
    const struct query *query = &match->request->query;
    size_t count = 0;
    if (str_equal(names, STR("*")))
        return true;
    for (; names.len; count++) {
        struct str name = take_until(&names, '&');
        if (count == query->count || !str_equal(query->params[count].name, name) ||
            !keep_value(match, name, query->params[count].value))
            return false;
    }
    return count == query->count;
}

static struct str value_of(const struct match *match, struct str name)
{
    for (size_t i = 0; i < match->count; i++)
        if (str_equal(match->values[i].name, name))
            return match->values[i].text;
    return (struct str){NULL, 0};
}

// Encodes as encodeURIComponent does for a path segment, and URLSearchParams for a value: a page's
// request uses what was fetched early only if the address is identical.
static void add_encoded(struct buf *html, struct str text, bool in_query)
{
    const char *plain_marks = in_query ? "*-._" : "!'()*-._~";
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i], letter = (char)(c | 0x20);
        bool plain = (letter >= 'a' && letter <= 'z') || str_is_digit(c);
        if (plain || (c && strchr(plain_marks, c)))
            buf_putc(html, c);
        else if (in_query && c == ' ')
            buf_putc(html, '+');
        else
            buf_printf(html, "%%%02X", (unsigned)(unsigned char)c);
    }
}

// The address as the value of an attribute. What stands in braces and has no value stays.
static void add_address(const struct match *match, struct str address, struct buf *html)
{
    bool in_query = false;
    for (size_t i = 0; i < address.len; i++) {
        struct str rest = {address.at + i, address.len - i};
        struct str name = {rest.at, str_find(rest, STR("}")) + 1};
        struct str value = name.len ? value_of(match, braced(name)) : name;
        in_query = in_query || address.at[i] == '?';
        if (value.len) {
            add_encoded(html, value, in_query);
            i += name.len - 1;
        } else if (address.at[i] == '&')
            buf_puts(html, "&amp;");
        else
            buf_putc(html, address.at[i]);
    }
}

static void add_link(const struct match *match, struct str address, struct buf *html)
{
    bool is_module = str_ends_with(address, STR(".mjs"));
    buf_puts(html, is_module ? "  <link rel=\"modulepreload\" href=\""
                             : "  <link rel=\"preload\" as=\"fetch\" crossorigin href=\"");
    add_address(match, address, html);
    buf_puts(html, "\">\n");
}

void early_links(const struct request *request, struct str table, struct buf *html)
{
    while (table.len) {
        struct match match = {.request = request};
        struct str line = take_until(&table, '\n'), pattern = take_until(&line, ' ');
        struct str names = pattern, path = take_until(&names, '?');
        while (line.len && line.at[0] == ' ')
            take_until(&line, ' ');
        bool counts = line.len && pattern.len && pattern.at[0] == '/';
        if (counts && match_path(&match, path) && match_query(&match, names))
            add_link(&match, line, html);
    }
}
