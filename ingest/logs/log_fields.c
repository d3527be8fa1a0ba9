// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_fields.h"

#include "ingest/logs/log_text.h"

static const char *find(struct str text, char c)
{
    return text.len ? memchr(text.at, c, text.len) : NULL;
}

// --- words --------------------------------------------------------------------------------------

static bool ends_word(enum log_style style, char c)
{
    return c == ' ' || (style == LOG_SETS && c == ',');
}

// The key before a colon or sign: from the last blank or color.
static struct str key_before(enum log_style style, struct str text)
{
    size_t from = text.len;
    while (from > 0 && !ends_word(style, text.at[from - 1]) && text.at[from - 1] != '\t')
        from--;
    return log_from(text, from);
}

static bool next_word(struct log_fields *fields, struct str *key, struct str *value)
{
    const char *colon = find(fields->rest, fields->style == LOG_SETS ? '=' : ':');
    if (!colon)
        return false;
    struct str before = {fields->rest.at, (size_t)(colon - fields->rest.at)};
    *key = key_before(fields->style, log_trim(before));
    struct str rest = log_trim(log_from(fields->rest, before.len + 1));
    size_t len = 0;
    while (len < rest.len && !ends_word(fields->style, rest.at[len]))
        len++;
    *value = (struct str){rest.at, len};
    fields->rest = log_from(rest, len);
    return len < rest.len || fields->ended;
}

static struct str word_of(struct str text)
{
    size_t len = 0;
    while (len < text.len && text.at[len] != ' ' && text.at[len] != '\t')
        len++;
    return (struct str){text.at, len};
}

// The next word that a number follows, without a colon at its end. "Batch Time 0.5" is a time, but
// not "Data Time 0.1".
static bool next_number(struct log_fields *fields, struct str *key, struct str *value)
{
    for (struct str before = {NULL, 0};; before = *key) {
        struct str rest = log_trim(fields->rest);
        *key = word_of(rest);
        fields->rest = log_from(rest, key->len);
        rest = log_trim(fields->rest);
        *value = word_of(rest);
        if (value->len == 0)
            return false;
        bool number = str_is_digit(*value->at) || (value->len > 1 && memchr("-+.", *value->at, 3));
        bool is_name = !str_is_digit(*key->at) && *key->at != '(';
        if (number && is_name && !str_equal_nocase(before, STR("data"))) {
            key->len -= key->at[key->len - 1] == ':';
            fields->rest = log_from(rest, value->len);
            return fields->rest.len || fields->ended;
        }
    }
}

// --- pieces -------------------------------------------------------------------------------------

static struct str unquoted(struct str text)
{
    bool quoted = text.len > 1 && memchr("'\"", *text.at, 2) && text.at[text.len - 1] == *text.at;
    return quoted ? (struct str){text.at + 1, text.len - 2} : text;
}

// Automodel has a blank in place of a colon.
static const char *find_between(enum log_style style, struct str piece)
{
    if (style == LOG_PAIRS)
        return find(piece, ' ');
    const char *colon = find(piece, style == LOG_EQUALS || style == LOG_ASSIGN ? '=' : ':');
    return colon || style != LOG_BARS ? colon : find(piece, ' ');
}

// "50.1% bf16 MFU": the number comes first.
static void swap_if_number(struct str *key, struct str *value)
{
    struct str number = *key;
    if (number.len && *number.at >= '0' && *number.at <= '9' && value->len) {
        *key = *value;
        *value = number;
    }
}

static void split(enum log_style style, struct str piece, struct str *key, struct str *value)
{
    size_t colon = style == LOG_PAIRS ? str_find(piece, STR(": ")) : SIZE_MAX;
    piece = colon < piece.len ? log_from(piece, colon + 2) : piece;
    const char *between = find_between(style, piece);
    size_t len = between ? (size_t)(between - piece.at) : piece.len;
    *key = log_trim((struct str){piece.at, len});
    *value = log_trim(log_from(piece, len + 1));
    if (style == LOG_BARS && between && *between == ' ')
        swap_if_number(key, value);
    bool list = style == LOG_EQUALS || style == LOG_COMMAS;
    if (list && value->len && *value->at == '[') // the first of it
        *value = log_from(*value, 1);
    if (style == LOG_DICT) {
        *key = unquoted(*key);
        *value = unquoted(*value);
    }
}

static char between_pieces(enum log_style style)
{
    bool line = style == LOG_LINE || style == LOG_ASSIGN;
    return style == LOG_BARS ? '|' : line ? '\n' : ',';
}

// Whether the comma there is within a number, "tok/sec: 12,987"; in "16:19:16,008" it is not.
static bool is_in_number(struct str text, size_t comma)
{
    enum { MOST_NUMBER = 32 };
    size_t from = comma;
    if (!log_is_group(text, comma))
        return false;
    while (from > 0 && comma - from < MOST_NUMBER &&
           (str_is_digit(text.at[from - 1]) || text.at[from - 1] == ','))
        from--;
    if (from == comma || from == 0)
        return false;
    bool clock = text.at[from - 1] == ':' && from > 1 && str_is_digit(text.at[from - 2]);
    return memchr(" :=", text.at[from - 1], 3) && !clock;
}

static size_t piece_length(enum log_style style, struct str rest)
{
    char between = between_pieces(style);
    const char *end = find(rest, between);
    while (end && between == ',' && is_in_number(rest, (size_t)(end - rest.at)))
        end = find(log_from(rest, (size_t)(end - rest.at) + 1), between);
    return end ? (size_t)(end - rest.at) : rest.len;
}

bool log_fields_next(struct log_fields *fields, struct str *key, struct str *value)
{
    if (fields->style == LOG_WORDS || fields->style == LOG_SETS)
        return next_word(fields, key, value);
    if (fields->style == LOG_MEANS)
        return next_number(fields, key, value);
    if (fields->rest.len == 0)
        return false;
    size_t len = piece_length(fields->style, fields->rest);
    bool end = len < fields->rest.len;
    struct str piece = log_trim((struct str){fields->rest.at, len});
    fields->rest = log_from(fields->rest, len + 1);
    split(fields->style, piece, key, value);
    return end || fields->ended;
}
