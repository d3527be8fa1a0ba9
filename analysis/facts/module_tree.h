// SPDX-License-Identifier: Apache-2.0
// Collects the modules of a trace as a tree of instances.
#ifndef ANALYSIS_MODULE_TREE_H
#define ANALYSIS_MODULE_TREE_H

#include "analysis/facts/facts.h"
#include "analysis/stats/groups.h"

// Deeper modules count as their parent, and so do those beyond the limit; no model comes close.
#define MODULE_MAX_DEPTH 64
#define MODULE_MAX_COUNT 65536

struct module_tree {
    const struct trace *trace;
    struct module *modules; // 0 is the root
    uint32_t count;
    size_t cap;
    struct groups children; // (parent, name) -> module - 1, up to the largest number
    struct groups texts;    // whole hierarchies -> index into text_modules
    uint32_t *text_modules;
    size_t text_cap;
    struct strtab parts; // names within hierarchies
    bool has_parts;
};

// A tree with only the root. Pair with module_tree_free, even on failure.
MUST_CHECK bool module_tree_init(struct module_tree *tree, const struct trace *trace,
                                 struct budget *budget, struct err *err);
void module_tree_free(struct module_tree *tree);

// The module of a frame "nn.Module: X" within parent, added if new.
MUST_CHECK bool module_tree_child(struct module_tree *tree, uint32_t parent, str_id frame,
                                  uint32_t *module, struct err *err);

// The module of a hierarchy "TOP(Net)::forward.conv1(Conv2d)::forward" as written by TorchScript.
MUST_CHECK bool module_tree_hierarchy(struct module_tree *tree, str_id text, uint32_t *module,
                                      struct err *err);

// Moves the modules into the facts.
MUST_CHECK bool module_tree_finish(struct module_tree *tree, struct facts *facts, struct err *err);

#endif
