// SPDX-License-Identifier: Apache-2.0
// Cleans and shortens texts.
#include "server/mcp/mcp_text.h"

#include "ingest/base/hash.h"

#include <stdio.h>

enum { NAME_TAIL = 20, NAME_HASH = 8, NAME_HEAD = MCP_NAME_MAX - NAME_TAIL - NAME_HASH };

#define REPLACEMENT "\xEF\xBF\xBD"

// Characters that show nothing, by Unicode: categories Cc, Cf and Co, line separators, those that
// are ignored by default, and what is not assigned.
static const struct {
    uint32_t first, last;
} hidden[] = {
    {0x0, 0x1F},         {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x600, 0x605},      {0x61C, 0x61C},     {0x6DD, 0x6DD},     {0x70F, 0x70F},
    {0x890, 0x891},      {0x8E2, 0x8E2},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F},    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},
    {0x3164, 0x3164},    {0xD800, 0xF8FF},   {0xFDD0, 0xFDEF},   {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},    {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD},  {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0x323B0, 0x10FFFF},
};

static bool is_hidden(uint32_t c)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i].first && c <= hidden[i].last)
            return true;
    return (c & 0xFFFE) == 0xFFFE;
}

// Of a well-formed sequence.
static uint32_t decode(const char *at, size_t len)
{
    static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t c = (unsigned char)at[0] & masks[len];
    for (size_t i = 1; i < len; i++)
        c = c << 6 | ((unsigned char)at[i] & 0x3F);
    return c;
}

// Cuts the first character off.
static struct str next_character(struct str *rest)
{
    size_t bad = 1, len = str_utf8_next(*rest, &bad);
    size_t used = len ? len : bad;
    struct str one = {rest->at, len};
    *rest = (struct str){rest->at + used, rest->len - used};
    return len && !is_hidden(decode(one.at, len)) ? one : STR(REPLACEMENT);
}

static size_t count_characters(struct str text)
{
    size_t count = 0;
    for (; text.len; count++)
        (void)next_character(&text);
    return count;
}

// Appends characters from one up to another.
static void add_part(struct str text, size_t from, size_t to, struct buf *out)
{
    for (size_t i = 0; text.len && i < to; i++) {
        struct str one = next_character(&text);
        if (i >= from)
            buf_add_str(out, one);
    }
}

void mcp_clean(struct str text, size_t max, struct buf *out)
{
    bool fits = count_characters(text) <= max;
    add_part(text, 0, fits ? max : max - 1, out);
    buf_puts(out, fits ? "" : "\xE2\x80\xA6");
}

static json_t *take_text(struct buf *text)
{
    json_t *value = text->failed ? NULL : json_stringn(text->at ? text->at : "", text->len);
    buf_free(text);
    return value;
}

// It may hold NUL bytes.
static struct str text_of(const json_t *text)
{
    return (struct str){json_string_value(text), json_string_length(text)};
}

json_t *mcp_sentence(const json_t *text, size_t max)
{
    struct buf clean = {0};
    if (!json_is_string(text))
        return json_null();
    mcp_clean(text_of(text), max, &clean);
    return take_text(&clean);
}

json_t *mcp_name(const json_t *text)
{
    struct str name = text_of(text);
    size_t count = count_characters(name);
    struct buf clean = {0};
    if (count <= MCP_NAME_MAX)
        return mcp_sentence(text, MCP_NAME_MAX);
    add_part(name, 0, NAME_HEAD, &clean);
    buf_printf(&clean, "~%06x~", (unsigned)(hash_bytes(name.at, name.len) >> 40));
    add_part(name, count - NAME_TAIL, count, &clean);
    return take_text(&clean);
}

size_t mcp_weight(struct str text)
{
    size_t weight = text.len, digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        weight += (unsigned char)text.at[i] >= 0x80;
        digits += str_is_digit(text.at[i]);
    }
    return weight + digits / 4;
}
