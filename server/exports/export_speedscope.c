// SPDX-License-Identifier: Apache-2.0
// A tree as a flame graph for speedscope.app: a stack for each node with time of its own.
#include "server/exports/tree_rows.h"

enum { START, FRAMES, SAMPLES, WEIGHTS, END };

#define PIECE_BYTES ((size_t)256 << 10)

static void start(const struct export_view *view, struct buf *out)
{
    buf_puts(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
                  "\"exporter\":\"stepscope\",\"activeProfileIndex\":0,\"name\":");
    buf_json(out, str_of(view->desc->name));
    buf_puts(out, ",\"shared\":{\"frames\":[");
}

static void put_frame(const struct tree_rows *tree, size_t i, struct buf *out)
{
    buf_puts(out, i ? ",{\"name\":" : "{\"name\":");
    buf_json(out, tree_rows_name(tree, tree->frames[i]));
    buf_putc(out, '}');
}

static void put_sample(const struct tree_rows *tree, size_t node, bool first, struct buf *out)
{
    uint32_t frames[TREE_DEPTH];
    unsigned depth = tree_rows_stack(tree, node, frames);
    buf_puts(out, first ? "[" : ",[");
    while (depth-- > 0) {
        buf_i64(out, frames[depth]);
        buf_puts(out, depth ? "," : "");
    }
    buf_putc(out, ']');
}

static int64_t sum(const struct tree_rows *tree)
{
    int64_t total = 0;
    for (size_t i = 0; i < tree->count; i++)
        total += tree->nodes[i].self_ns > 0 ? tree->nodes[i].self_ns : 0;
    return total;
}

// Between two lists, or at the end.
static void put_joint(const struct export_view *view, const struct tree_rows *tree, int stage,
                      struct buf *out)
{
    if (stage == FRAMES) {
        buf_puts(out, "]},\"profiles\":[{\"type\":\"sampled\",\"unit\":\"nanoseconds\","
                      "\"startValue\":0,\"name\":");
        buf_json(out, str_of(view->desc->name));
        buf_printf(out, ",\"endValue\":%lld,\"samples\":[", (long long)sum(tree));
    } else if (stage == SAMPLES) {
        buf_puts(out, "],\"weights\":[");
    } else if (stage == WEIGHTS) {
        buf_puts(out, "]}]}\n");
    }
}

// The next item of the list of this stage; false at its end. Nodes without time have no stack.
static bool put_item(struct tree_rows *tree, size_t *written, struct buf *out)
{
    size_t count = tree->stage == FRAMES ? tree->frame_count : tree->count;
    if (tree->next == count)
        return false;
    size_t i = tree->next++;
    if (tree->stage == FRAMES) {
        put_frame(tree, i, out);
        return true;
    }
    if (tree->nodes[i].self_ns <= 0)
        return true;
    if (tree->stage == SAMPLES) {
        put_sample(tree, i, *written == 0, out);
    } else {
        buf_puts(out, *written ? "," : "");
        buf_i64(out, tree->nodes[i].self_ns);
    }
    ++*written;
    return true;
}

static bool rest(const struct export_view *view, struct buf *out, bool *more, struct err *err)
{
    struct tree_rows *tree = view->state;
    size_t goal = out->len + PIECE_BYTES;
    if (tree->stage == START) {
        if (!tree_rows_finish(tree, err))
            return false;
        start(view, out);
        tree->stage = FRAMES;
    }
    while (tree->stage < END && out->len < goal) {
        if (put_item(tree, &tree->written, out))
            continue;
        put_joint(view, tree, tree->stage++, out);
        tree->next = tree->written = 0;
    }
    *more = tree->stage < END;
    return buf_ok(out, err);
}

const struct table_export export_speedscope = {.word = "speedscope",
                                               .type = "application/json",
                                               .suffix = "speedscope.json",
                                               .suits = tree_rows_suit,
                                               .open = tree_rows_open,
                                               .close = tree_rows_close,
                                               .rows = tree_rows_put,
                                               .rest = rest};
