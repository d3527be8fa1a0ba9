// SPDX-License-Identifier: Apache-2.0
// A log of Megatron-LM or HF Trainer that was copied from a terminal, which broke its long lines at
// its width, also within words: each step's line is whole again. Other lines stay as they are.
#include "ingest/logs/log_has_step.h"
#include "ingest/logs/log_rewriter.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/format.h"

// Lines that end by themselves are rarely longer than a terminal is wide; that of a step always is.
enum { LEAST_WIDTH = 60, MOST_WIDTH = 400 };

// "iteration       10/      50 |" or "{'loss': ": how the line of a step starts.
static bool starts_step(struct str line)
{
    static const struct str name = {"iteration", 9};
    int64_t step, total;
    struct str rest;
    if (str_starts_with(line, STR("{'loss': ")))
        return true;
    for (size_t at; (at = str_find(line, name)) != SIZE_MAX;) {
        line = log_from(line, at + name.len);
        rest = line.len && *line.at == ':' ? log_from(line, 1) : line;
        if (log_count(rest, &step, &rest) && str_starts_with(rest, STR("/")) &&
            log_count(log_from(rest, 1), &total, &rest) &&
            str_starts_with(log_trim(rest), STR("|")))
            return true;
    }
    return false;
}

// The line at the start of a text, with its end; without the text's last one, which may be cut.
static bool next_line(struct str *rest, struct str *line)
{
    const char *end = rest->len ? memchr(rest->at, '\n', rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->at) : 0;
    *line = (struct str){rest->at, len && rest->at[len - 1] == '\r' ? len - 1 : len};
    *rest = end ? log_from(*rest, len + 1) : *rest;
    return end;
}

// Whether a line was broken at its end. Figures of HF Trainer may end just there.
static bool goes_on(struct str line, size_t width)
{
    return line.len == width && width && line.at[width - 1] != '}';
}

// Whether a line and those after it are a step, but it is none alone. `rest` is what follows.
static bool is_broken_step(struct str line, struct str rest)
{
    char whole[FORMAT_HEAD_BYTES];
    size_t width = line.len, len = 0;
    if (width < LEAST_WIDTH || width > MOST_WIDTH || !starts_step(line) || log_has_step(line))
        return false;
    for (bool more = true; more; more = goes_on(line, width) && next_line(&rest, &line)) {
        if (len + line.len > sizeof whole || (len && starts_step(line)))
            return false;
        memcpy(whole + len, line.at, line.len);
        len += line.len;
    }
    return line.len <= width && !goes_on(line, width) && log_has_step((struct str){whole, len});
}

// By the first step that is broken; 0: there is none in the head.
static size_t width_of(struct str head)
{
    struct str line;
    while (next_line(&head, &line))
        if (is_broken_step(line, head))
            return line.len;
    return 0;
}

static bool add_line(struct log_rewriter *rewriter, struct str line)
{
    if (rewriter->in_line && starts_step(line)) // the one before was cut
        buf_putc(&rewriter->text, '\n');
    buf_add_str(&rewriter->text, line);
    return !goes_on(line, rewriter->width) || !(rewriter->in_line || starts_step(line));
}

static struct source *open_wrapped_log(struct source *below, struct err *err)
{
    struct str head;
    below = source_peek_open(below, FORMAT_HEAD_BYTES, &head, err);
    return below ? log_rewritten_open(below, add_line, width_of(head), err) : NULL;
}

static enum format_likeness probe_wrapped_log(const struct format_sample *sample)
{
    return width_of(sample->head) ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_wrapped_log = {
    .name = "wrapped-log",
    .what = "a log that was copied from a terminal",
    .kind = FORMAT_TEXT,
    .probe = probe_wrapped_log,
    .decode = open_wrapped_log,
};
