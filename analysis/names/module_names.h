// SPDX-License-Identifier: Apache-2.0
// Module names that are the same in every run: the profiler numbers instances of a class in the
// order it meets them, so equal modules of two runs may have different numbers.
#ifndef ANALYSIS_MODULE_NAMES_H
#define ANALYSIS_MODULE_NAMES_H

#include "analysis/report/report.h"

// One module of a run's table.
struct module_name {
    struct str recorded; // its path as recorded
    struct str path;     // same, with numbers that count modules of one class below one parent
    struct str parent;   // path of the parent module
    int64_t depth;
    size_t row;
};

struct module_names {
    struct module_name *at; // sorted by the recorded path
    size_t count;
};

// Names the rows of a table of modules, which may be NULL. Paths live in arena; beyond 1,024 bytes
// they end in "..." and the id. A parent whose id is not below its child's counts as the root.
// ERR_FORMAT if ids are not 0, 1, 2, ... in any order. Apart from sorting, linear in the length of
// the paths.
MUST_CHECK bool module_names_make(const struct table *modules, struct arena *arena,
                                  struct module_names *names, struct err *err);

// The path of a module by its recorded one; the recorded one if the table lacks it.
struct str module_names_path(const struct module_names *names, struct str recorded);

#endif
