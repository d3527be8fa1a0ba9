// SPDX-License-Identifier: Apache-2.0
#include "ingest/source/lines.h"

#define BLOCK_BYTES  ((size_t)FUZZED_SIZE(64 << 10, 256))
#define BUFFER_BYTES (LINES_MAX_BYTES + LINES_AFTER_BYTES + BLOCK_BYTES)

bool lines_open(struct lines *lines, struct source *source, struct budget *budget, struct err *err)
{
    *lines = (struct lines){.source = source, .budget = budget};
    lines->bytes = budget_alloc(budget, BUFFER_BYTES, err);
    return lines->bytes;
}

void lines_close(struct lines *lines)
{
    if (lines->bytes)
        budget_free(lines->budget, lines->bytes, BUFFER_BYTES);
    lines->bytes = NULL;
}

// Drops the NUL bytes of what was read.
static size_t without_nuls(struct lines *lines, char *at, size_t len)
{
    size_t kept = 0;
    if (!len || !memchr(at, '\0', len))
        return len;
    for (size_t i = 0; i < len; i++)
        if (at[i] != '\0')
            at[kept++] = at[i];
    lines->nul_bytes += len - kept;
    return kept;
}

// Appends a block to what is there, which moves to the front. False on failure.
static bool read_more(struct lines *lines, struct err *err)
{
    size_t got = 0;
    struct err damage = {0};
    memmove(lines->bytes, lines->bytes + lines->from, lines->to - lines->from);
    lines->to -= lines->from;
    lines->from = 0;
    if (!source_read(lines->source, lines->bytes + lines->to, BLOCK_BYTES, &got, &damage)) {
        if (damage.code != ERR_FORMAT) {
            *err = damage;
            return false;
        }
        lines->damage = damage;
        got = 0;
    }
    lines->ended = got == 0;
    lines->to += without_nuls(lines, lines->bytes + lines->to, got);
    return true;
}

static void drop(struct lines *lines, size_t count)
{
    lines->from += count;
    lines->pos += count;
}

// Passes the rest of a line that is too long.
static bool pass_rest(struct lines *lines, struct err *err)
{
    for (;;) {
        const char *at = lines->bytes + lines->from;
        const char *end = memchr(at, '\n', lines->to - lines->from);
        drop(lines, end ? (size_t)(end - at) + 1 : lines->to - lines->from);
        if (end || lines->ended)
            return true;
        if (!read_more(lines, err))
            return false;
    }
}

bool lines_next(struct lines *lines, struct line *line, struct err *err)
{
    const char *end = NULL;
    size_t len = 0;
    *err = (struct err){0};
    if (line->cut && !pass_rest(lines, err))
        return false;
    *line = (struct line){0};
    for (;;) {
        const char *at = lines->bytes + lines->from;
        size_t there = lines->to - lines->from;
        end = there > len ? memchr(at + len, '\n', there - len) : NULL;
        len = end ? (size_t)(end - at) : there;
        if (end || lines->ended || len >= LINES_MAX_BYTES)
            break;
        if (!read_more(lines, err))
            return false;
    }
    line->pos = lines->pos;
    line->text = (struct str){lines->bytes + lines->from, len};
    line->cut = !end && !lines->ended;
    drop(lines, len + (end != NULL));
    if (line->text.len && line->text.at[line->text.len - 1] == '\r')
        line->text.len--;
    return end || len > 0;
}

// The length of whole lines in `there` bytes, of which the first `known` hold no line end; 0 if
// more are needed.
static size_t whole_lines(const char *at, size_t known, size_t there)
{
    const char *end = there > known ? memrchr(at + known, '\n', there - known) : NULL;
    return end ? (size_t)(end - at) + 1 : 0;
}

// Takes the start of a line that is too long.
static void take_long(const char *at, struct line *many)
{
    const char *end = memrchr(at, '\r', LINES_MAX_BYTES);
    many->text.len = end ? (size_t)(end - at) + 1 : LINES_MAX_BYTES;
    many->cut = !end;
}

static bool is_long(const char *at, size_t there)
{
    return there > LINES_MAX_BYTES && !memchr(at, '\n', LINES_MAX_BYTES + 1);
}

// How much of what is there may be taken now.
static size_t ripe(const struct lines *lines, size_t there)
{
    size_t after = lines->ended ? 0 : LINES_AFTER_BYTES;
    return there > after ? there - after : 0;
}

// The same whatever the stream gives at a time.
static size_t after_bytes(const struct line *many, size_t there)
{
    size_t left = many->cut ? 0 : there - many->text.len;
    return left < LINES_AFTER_BYTES ? left : LINES_AFTER_BYTES;
}

bool lines_next_many(struct lines *lines, struct line *many, struct err *err)
{
    size_t len = 0, known = 0, there;
    *err = (struct err){0};
    if (many->cut && !pass_rest(lines, err))
        return false;
    *many = (struct line){0};
    for (;;) {
        there = lines->to - lines->from;
        len = whole_lines(lines->bytes + lines->from, known, ripe(lines, there));
        if (len || lines->ended || ripe(lines, there) > LINES_MAX_BYTES)
            break;
        known = ripe(lines, there);
        if (!read_more(lines, err))
            return false;
    }
    const char *at = lines->bytes + lines->from;
    *many = (struct line){.text = {at, len ? len : there}, .pos = lines->pos};
    if (is_long(at, there))
        take_long(at, many);
    many->after_bytes = after_bytes(many, there);
    drop(lines, many->text.len);
    return many->text.len;
}
