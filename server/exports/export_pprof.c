// SPDX-License-Identifier: Apache-2.0
// A tree as a profile of pprof: time and calls of each stack. Field numbers are those of
// perftools.profiles.Profile.
#include "server/exports/proto_write.h"
#include "server/exports/tree_rows.h"

enum { SAMPLE_TYPE = 1, SAMPLE = 2, LOCATION = 4, FUNCTION = 5, STRING = 6, DEFAULT_TYPE = 14 };
enum { TYPE_NAME = 1, TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum { ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, FUNCTION_NAME = 2 };
enum { TIME, NANOSECONDS, CALLS, COUNT, FIXED_TEXTS };
enum { START, FRAMES, SAMPLES, END };

#define PIECE_BYTES ((size_t)256 << 10)

// Texts are numbered from 1, after the empty one.
static void put_type(unsigned name, unsigned unit, struct buf *out)
{
    struct buf type = {0};
    proto_number(&type, TYPE_NAME, name + 1);
    proto_number(&type, TYPE_UNIT, unit + 1);
    proto_message(out, SAMPLE_TYPE, &type);
    buf_free(&type);
}

static void start(struct buf *out)
{
    static const char *const texts[FIXED_TEXTS] = {"device_time", "nanoseconds", "calls", "count"};
    proto_put_text(out, STRING, STR(""));
    for (size_t i = 0; i < FIXED_TEXTS; i++)
        proto_put_text(out, STRING, str_of(texts[i]));
    put_type(CALLS, COUNT, out);
    put_type(TIME, NANOSECONDS, out);
    proto_number(out, DEFAULT_TYPE, TIME + 1);
}

// A name with its function and location, which have the same number.
static void put_frame(const struct tree_rows *tree, size_t i, struct buf *out)
{
    struct buf line = {0}, part = {0};
    proto_put_text(out, STRING, tree_rows_name(tree, tree->frames[i]));
    proto_number(&part, ID, i + 1);
    proto_number(&part, FUNCTION_NAME, FIXED_TEXTS + 1 + i);
    proto_message(out, FUNCTION, &part);
    buf_clear(&part);
    proto_number(&line, LINE_FUNCTION, i + 1);
    proto_number(&part, ID, i + 1);
    proto_message(&part, LOCATION_LINE, &line);
    proto_message(out, LOCATION, &part);
    buf_free(&line);
    buf_free(&part);
}

static void put_sample(const struct tree_rows *tree, size_t node, struct buf *out)
{
    uint32_t frames[TREE_DEPTH];
    struct buf sample = {0};
    const struct tree_node *at = &tree->nodes[node];
    unsigned depth = tree_rows_stack(tree, node, frames);
    for (unsigned i = 0; i < depth; i++)
        proto_number(&sample, SAMPLE_LOCATIONS, (uint64_t)frames[i] + 1);
    proto_number(&sample, SAMPLE_VALUES, (uint64_t)at->calls);
    proto_number(&sample, SAMPLE_VALUES, (uint64_t)at->self_ns);
    proto_message(out, SAMPLE, &sample);
    buf_free(&sample);
}

static bool rest(const struct export_view *view, struct buf *out, bool *more, struct err *err)
{
    struct tree_rows *tree = view->state;
    size_t goal = out->len + PIECE_BYTES;
    if (tree->stage == START) {
        if (!tree_rows_finish(tree, err))
            return false;
        start(out);
        tree->stage = FRAMES;
    }
    while (tree->stage < END && out->len < goal) {
        size_t count = tree->stage == FRAMES ? tree->frame_count : tree->count, i = tree->next++;
        if (i == count) {
            tree->stage++;
            tree->next = 0;
        } else if (tree->stage == FRAMES) {
            put_frame(tree, i, out);
        } else if (tree->nodes[i].self_ns > 0) {
            put_sample(tree, i, out);
        }
    }
    *more = tree->stage < END;
    return buf_ok(out, err);
}

const struct table_export export_pprof = {.word = "pprof",
                                          .type = "application/octet-stream",
                                          .suffix = "pb",
                                          .suits = tree_rows_suit,
                                          .open = tree_rows_open,
                                          .close = tree_rows_close,
                                          .rows = tree_rows_put,
                                          .rest = rest};
