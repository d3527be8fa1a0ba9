// SPDX-License-Identifier: Apache-2.0
// Figures of a file for `stepscope inspect`: a tree of numbers and texts, addressed by path. All
// functions do nothing if the figures are NULL.
#ifndef INGEST_BASE_FIGURES_H
#define INGEST_BASE_FIGURES_H

#include "ingest/base/arena.h"
#include "ingest/base/buf.h"

// Between the names of a path: "copies" IN "HtoD" IN "count". Names that are numbers from 0 make a
// list. A path that ends with IN makes an object, which may have nothing or numbers for names in
// it.
#define IN "\x1f"

enum figure_kind { FIGURE_COUNT, FIGURE_REAL, FIGURE_TEXT, FIGURE_LIST };

struct figure {
    const char *path;
    enum figure_kind kind;
    int64_t count;
    double real;
    const char *text;
};

struct figures {
    struct arena *arena;
    struct figure *at;
    size_t count, cap;
    bool failed; // out of memory
};

// Adds up numbers before they become a figure; saturates at INT64_MAX.
static inline void figures_sum(int64_t *sum, int64_t number)
{
    if (__builtin_add_overflow(*sum, number, sum))
        *sum = INT64_MAX;
}

// Saturates as well.
static inline int64_t figures_minus(int64_t from, int64_t number)
{
    int64_t rest;
    return __builtin_sub_overflow(from, number, &rest) ? INT64_MAX : rest;
}

// Adds to the number at the path, which starts at 0.
void figures_add(struct figures *figures, int64_t count, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
void figures_real(struct figures *figures, double real, const char *path, ...)
    __attribute__((format(printf, 3, 4)));
// A list that may stay empty; the path ends in IN.
void figures_list(struct figures *figures, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
// Replaces the text at the path; it is copied.
void figures_text(struct figures *figures, struct str text, const char *path, ...)
    __attribute__((format(printf, 3, 4)));

// The numbers and texts outside of objects and lists, as many as fit: "samples 120, top frames
// main".
void figures_words(const struct figures *figures, char *out, size_t size);

// An object in JSON.
void figures_json(const struct figures *figures, struct buf *out);

#endif
