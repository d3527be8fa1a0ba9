// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/json_line.h"

#include "ingest/logs/log_text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool ends_scalar(char c)
{
    return c == ',' || c == ']' || c == '}' || is_blank(c);
}

static void skip_blanks(struct json_line *line)
{
    while (line->rest.len && is_blank(*line->rest.at))
        line->rest = log_from(line->rest, 1);
}

static bool take(struct json_line *line, char c)
{
    skip_blanks(line);
    bool is = line->rest.len && *line->rest.at == c;
    line->rest = log_from(line->rest, is);
    return is;
}

// After its first quote; false if it does not end.
static bool take_text(struct json_line *line, struct str *text)
{
    struct str rest = line->rest;
    for (size_t at = 0; at < rest.len; at++) {
        if (rest.at[at] == '\\')
            at++;
        else if (rest.at[at] == '"') {
            *text = (struct str){rest.at, at};
            line->rest = log_from(rest, at + 1);
            return true;
        }
    }
    return false;
}

// After its first bracket.
static bool pass_container(struct json_line *line)
{
    struct str ignored;
    for (size_t depth = 1; line->rest.len;) {
        char c = *line->rest.at;
        line->rest = log_from(line->rest, 1);
        if (c == '"' && !take_text(line, &ignored))
            return false;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (depth == 0)
            return true;
    }
    return false;
}

static bool take_scalar(struct json_line *line, struct str *text)
{
    size_t len = 0;
    while (len < line->rest.len && !ends_scalar(line->rest.at[len]))
        len++;
    *text = (struct str){line->rest.at, len};
    line->rest = log_from(line->rest, len);
    return len > 0 && line->rest.len > 0;
}

bool json_line_open(struct json_line *line, struct str text)
{
    *line = (struct json_line){text};
    return take(line, '{');
}

bool json_line_next(struct json_line *line, struct str *key, struct json_line_value *value)
{
    (void)take(line, ',');
    if (!take(line, '"') || !take_text(line, key) || !take(line, ':'))
        return false;
    *value = (struct json_line_value){.kind = JSON_LINE_TEXT};
    if (take(line, '"'))
        return take_text(line, &value->text);
    value->kind = JSON_LINE_OTHER;
    const char *from = line->rest.at;
    if (take(line, '{') || take(line, '[')) {
        bool whole = pass_container(line);
        value->text = (struct str){from, (size_t)(line->rest.at - from)};
        return whole;
    }
    value->kind = JSON_LINE_SCALAR;
    return take_scalar(line, &value->text);
}
