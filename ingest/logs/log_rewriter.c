// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_rewriter.h"

#include <stdlib.h>

static void add_line(struct log_rewriter *rewriter)
{
    struct buf *text = &rewriter->text;
    bool ended = rewriter->add(rewriter, rewriter->line.text);
    if (ended && !(text->len && text->at[text->len - 1] == '\n'))
        buf_putc(text, '\n');
    rewriter->in_line = !ended;
}

// The text of the next line.
static bool next_text(struct log_rewriter *rewriter, struct err *err)
{
    struct err problem = {0};
    buf_clear(&rewriter->text);
    rewriter->taken = 0;
    while (rewriter->text.len == 0 && lines_next(&rewriter->lines, &rewriter->line, &problem))
        add_line(rewriter);
    if (rewriter->text.len || rewriter->text.failed)
        return buf_ok(&rewriter->text, err);
    if (problem.code == ERR_NONE)
        problem = rewriter->lines.damage;
    if (problem.code != ERR_NONE && err)
        *err = problem;
    return problem.code == ERR_NONE;
}

static bool rewritten_read(struct source *source, void *bytes, size_t cap, size_t *got,
                           struct err *err)
{
    struct log_rewriter *rewriter = (struct log_rewriter *)source;
    *got = 0;
    if (rewriter->taken == rewriter->text.len && !next_text(rewriter, err))
        return false;
    size_t left = rewriter->text.len - rewriter->taken;
    *got = left < cap ? left : cap;
    if (*got)
        memcpy(bytes, rewriter->text.at + rewriter->taken, *got);
    rewriter->taken += *got;
    return true;
}

static void rewritten_close(struct source *source)
{
    struct log_rewriter *rewriter = (struct log_rewriter *)source;
    lines_close(&rewriter->lines);
    buf_free(&rewriter->text);
    source_close(rewriter->below);
    free(rewriter);
}

static uint64_t rewritten_consumed(const struct source *source)
{
    return source_consumed(((const struct log_rewriter *)source)->below);
}

struct source *log_rewritten_open(struct source *below,
                                  bool (*add)(struct log_rewriter *rewriter, struct str line),
                                  size_t width, struct err *err)
{
    static const struct source_ops ops = {
        .read = rewritten_read, .close = rewritten_close, .consumed = rewritten_consumed};
    struct log_rewriter *rewriter = calloc(1, sizeof *rewriter);
    if (!rewriter) {
        source_close(below);
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    rewriter->source.ops = &ops;
    rewriter->below = below;
    rewriter->add = add;
    rewriter->width = width;
    if (lines_open(&rewriter->lines, below, NULL, err))
        return &rewriter->source;
    rewritten_close(&rewriter->source);
    return NULL;
}
