// SPDX-License-Identifier: Apache-2.0
// The rows of a table that is a tree, such as op_tree or modules: gathered while they come, then
// read as stacks with the time of each node itself. For flame graphs.
#ifndef SERVER_TREE_ROWS_H
#define SERVER_TREE_ROWS_H

#include "server/exports/export.h"

struct tree_node {
    int64_t id, parent; // parent -1: none
    uint32_t above;     // index of the node above, TREE_NONE: none
    uint32_t frame;     // number of its name
    size_t name_at, name_len;
    int64_t total_ns, self_ns; // self: without the nodes below
    int64_t calls;
};

#define TREE_NONE  UINT32_MAX
#define TREE_DEPTH 256u // stacks are cut there, at their root

struct tree_rows {
    struct tree_node *nodes;
    size_t count, room;
    struct buf names;
    uint32_t *frames; // a node with each distinct name
    size_t frame_count;
    size_t next, written; // for who reads them
    int stage;
    bool failed;
};

// Whether a table is a tree of times.
bool tree_rows_suit(const struct table_desc *desc);

// After the last row: links, own times and frames. ERR_MEMORY.
MUST_CHECK bool tree_rows_finish(struct tree_rows *tree, struct err *err);

struct str tree_rows_name(const struct tree_rows *tree, size_t node);
// The frames from the node up to its root; their number.
unsigned tree_rows_stack(const struct tree_rows *tree, size_t node, uint32_t frames[TREE_DEPTH]);

// What both formats keep as their state.
MUST_CHECK bool tree_rows_open(struct export_view *view, struct err *err);
void tree_rows_close(void *state);
void tree_rows_put(const struct export_view *view, const struct table *rows, uint64_t before,
                   struct buf *out);

#endif
