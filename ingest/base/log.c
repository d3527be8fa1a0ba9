// SPDX-License-Identifier: Apache-2.0
// Logging with a single write per line, so that lines from different threads never interleave, and
// without ever waiting for a reader.
#include "ingest/base/log.h"

#include "ingest/base/clock.h"
#include "ingest/base/secrets.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MESSAGE_BYTES 900
#define TEXT_BYTES    256 // longest field
#define LINE_BYTES    4096
#define FRAME_BYTES   768 // kept for names, numbers, quotes and braces, so that a line is never cut

// A pipe takes this many bytes either whole or not at all.
_Static_assert(LINE_BYTES <= PIPE_BUF, "a line could fill a pipe half and wait");

// Standard error belongs to the whole process, so the lock for it does too: of two threads that
// both see room for one line, the second would block.
// lint-allow(mutable-globals): no caller passes a log around
static struct {
    pthread_mutex_t turn;
    uint64_t lost; // lines lost since the last one written
} output = {PTHREAD_MUTEX_INITIALIZER, 0};

struct line {
    bool json;
    size_t used;
    char text[LINE_BYTES];
};

static void add_within(struct line *line, struct str bytes, size_t limit)
{
    if (line->used + bytes.len > limit)
        return;
    memcpy(line->text + line->used, bytes.at, bytes.len);
    line->used += bytes.len;
}

static void add_frame(struct line *line, const char *text)
{
    add_within(line, str_of(text), LINE_BYTES);
}

static void add_content(struct line *line, const char *bytes, size_t count)
{
    add_within(line, (struct str){bytes, count}, LINE_BYTES - FRAME_BYTES);
}

// Anything a terminal or a line reader would not treat as text: control characters, including the
// one-byte ones above ASCII (C1).
static bool is_control(struct str bytes, size_t len)
{
    unsigned char first = (unsigned char)bytes.at[0];
    return first < 0x20 || first == 0x7f ||
           (len == 2 && first == 0xc2 && (unsigned char)bytes.at[1] < 0xa0);
}

// The text in quotes: valid UTF-8 without control characters, so that a name from outside can forge
// neither a second line nor a second value.
static void add_quoted(struct line *line, struct str text)
{
    add_frame(line, "\"");
    while (text.len) {
        size_t bad = 1;
        size_t len = str_utf8_next(text, &bad);
        if (len == 0)
            add_content(line, "\xef\xbf\xbd", 3);
        else if (is_control(text, len))
            add_content(line, " ", 1);
        else if (*text.at == '"' || *text.at == '\\')
            add_content(line, (char[]){'\\', *text.at}, 2);
        else
            add_content(line, text.at, len);
        len = len ? len : bad;
        text = (struct str){text.at + len, text.len - len};
    }
    add_frame(line, "\"");
}

// In logfmt, words of harmless characters need no quotes.
static bool is_word(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\')
            return false;
    }
    return text.len > 0;
}

static void add_name(struct line *line, const char *name)
{
    bool first = line->used == 0;
    if (line->json)
        add_frame(line, first ? "{\"" : ",\"");
    else if (!first)
        add_frame(line, " ");
    add_frame(line, name);
    add_frame(line, line->json ? "\":" : "=");
}

static void add_value(struct line *line, const char *name, struct str text)
{
    char clean[MESSAGE_BYTES];
    text = (struct str){clean, secrets_redact_into(text, clean, sizeof clean)};
    add_name(line, name);
    if (!line->json && is_word(text))
        add_content(line, text.at, text.len);
    else
        add_quoted(line, text);
}

static void add_field(struct line *line, const struct log_field *field)
{
    if (field->text.at) {
        struct str text = field->text;
        char clean[TEXT_BYTES]; // redacted before it is cut: half a secret no longer looks like one
        text = (struct str){clean, secrets_redact_into(text, clean, sizeof clean)};
        add_value(line, field->name, text);
        return;
    }
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)field->number);
    add_name(line, field->name);
    add_frame(line, number);
}

bool log_is_json(void)
{
    const char *format = getenv(LOG_FORMAT_ENV);
    return format && strcmp(format, "json") == 0;
}

static void compose(struct line *line, enum log_level level, const char *message,
                    const struct log_field *fields, size_t count)
{
    static const char *const levels[] = {"info", "warn", "error"};
    char when[CLOCK_RFC3339_SIZE];
    line->json = log_is_json();
    line->used = 0;
    clock_rfc3339(clock_wall_ns(), when);
    add_value(line, "time", str_of(when));
    add_value(line, "level", str_of(levels[level]));
    add_value(line, "message", str_of(message));
    for (size_t i = 0; i < count; i++)
        add_field(line, &fields[i]);
    add_frame(line, line->json ? "}\n" : "\n");
}

// Writes a line unless that would block on a pipe's reader; files never block.
static bool put(const struct line *line)
{
    struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 0) == 0)
        return false;
    ssize_t written = write(STDERR_FILENO, line->text, line->used);
    (void)written; // there is nowhere left to report a failure
    return true;
}

// Reports earlier lost lines, if any; false while there is still no room for that.
static bool tell_lost(void)
{
    char message[80];
    struct line line;
    if (output.lost == 0)
        return true;
    snprintf(message, sizeof message, "%llu lines were lost: nobody read the log",
             (unsigned long long)output.lost);
    compose(&line, LOG_WARN, message, NULL, 0);
    if (!put(&line))
        return false;
    output.lost = 0;
    return true;
}

void log_event(enum log_level level, const char *message, const struct log_field *fields,
               size_t count)
{
    struct line line;
    compose(&line, level, message, fields, count);
    pthread_mutex_lock(&output.turn);
    if (!tell_lost() || !put(&line))
        output.lost++;
    pthread_mutex_unlock(&output.turn);
}

PRINTF_LIKE(2, 0)
static void say(enum log_level level, const char *fmt, va_list args)
{
    char message[MESSAGE_BYTES];
    vsnprintf(message, sizeof message, fmt, args);
    log_event(level, message, NULL, 0);
}

void log_info(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(LOG_INFO, fmt, args);
    va_end(args);
}

void log_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(LOG_WARN, fmt, args);
    va_end(args);
}

void log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    say(LOG_ERROR, fmt, args);
    va_end(args);
}
