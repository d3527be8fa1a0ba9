// SPDX-License-Identifier: Apache-2.0
// The name of a kernel in one spelling, whichever tool recorded it, and its parts.
#ifndef ANALYSIS_KERNEL_TEXT_H
#define ANALYSIS_KERNEL_TEXT_H

#include "ingest/base/str.h"

enum { KERNEL_TEXT_MAX = 6144, KERNEL_ARGS_MAX = 96, KERNEL_TOKENS_MAX = 128 };

struct kernel_args {
    struct str at[KERNEL_ARGS_MAX];
    size_t count;
};

// "void at::native::reduce_kernel<512, 1>(int)" has the space "at::native", the base
// "reduce_kernel" and the arguments 512 and 1. Pieces point into `text`.
struct kernel_text {
    char text[KERNEL_TEXT_MAX];
    struct str raw;  // as recorded, without suffixes and marks of a cut
    struct str name; // in one spelling, without parameters
    struct str space;
    struct str base;
    struct kernel_args args;
    bool cut;      // the end is missing, or not read
    bool base_cut; // the base touches that end, or is the last that is left
};

// Integer casts, anonymous namespaces, result types and suffixes are gone, "[lambda(int) (instance
// 1)]" is "{lambda(int)#1}", and a mangled name is demangled.
void kernel_text_read(struct str name, struct kernel_text *text);

// Which brackets are open: a bit is 1 for "<", the last one lowest. Of more than 64 the outer ones
// count as others.
struct kernel_brackets {
    uint64_t angles;
    size_t depth;
};

// Takes the character at `at`: opens or closes a bracket, or leaves all as it is. A ">" inside of
// parentheses or after "-" closes no "<" around them.
void kernel_brackets_step(struct kernel_brackets *open, struct str text, size_t at);

// The complete template arguments of "a::b<c, d<e>>"; one that touches a cut is left out.
void kernel_args_of(struct str type, struct kernel_args *args);

// The arguments and, for a cut name, the start of the last one: true if there is one.
bool kernel_open_args_of(struct str type, struct kernel_args *args);

// Same for the whole name.
bool kernel_open_args(const struct kernel_text *text, struct kernel_args *args);

// "a::b" of "a::b<c>", and "b" of "a::b".
struct str kernel_head_of(struct str type);
struct str kernel_last_of(struct str path);

// The part of `text` from the word on, up to the end of its template arguments: "b<c>" of
// "a::b<c>, d" for the word "b<". Empty if there is none.
struct str kernel_instance(struct str text, const char *word);

// Words between underscores, the empty ones too.
struct kernel_tokens {
    struct str at[KERNEL_TOKENS_MAX];
    size_t count;
};
void kernel_tokens_of(struct str name, struct kernel_tokens *tokens);

// Whether text, at any place, has the word.
bool kernel_has(struct str text, const char *word);

// Whether the whole text matches the pattern, in which a star stands for any text.
bool kernel_matches(struct str text, const char *pattern);

#endif
