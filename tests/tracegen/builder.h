// SPDX-License-Identifier: Apache-2.0
// The words in which a step is written: operators, kernels, collectives appended to a program.
#pragma once

#include "tests/tracegen/program.h"

struct builder {
    struct program *program;
    const struct arguments *arguments;
    const struct vendor *vendor;
    int64_t filler;
    int32_t modules; // Python modules named so far
};

// A string that lives as long as the program.
const char *builder_text(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A table that lives as long as the program, zeroed.
void *builder_table(struct builder *b, size_t count, size_t size);

void builder_add(struct builder *b, const struct instruction *instruction);

// Host rows. `args` are JSON members or NULL; every begin needs its builder_end.
void builder_op(struct builder *b, const char *name, const char *args);
void builder_leaf(struct builder *b, const char *name, const char *args);
void builder_annotation(struct builder *b, const char *name);
void builder_end(struct builder *b);
void builder_thread(struct builder *b, enum host_thread thread);

// A forward operator that autograd records; its sequence number is returned.
int32_t builder_forward(struct builder *b, const char *name, const char *args);
// An operator inside one that autograd records, carrying the same number.
void builder_inner(struct builder *b, const char *name, const char *args, int32_t sequence);
// The engine's row and the node's row around a backward; close with builder_end twice.
void builder_backward(struct builder *b, const char *node, int32_t sequence);

// Python rows appear only with --stacks; both calls are needed either way.
void builder_python(struct builder *b, const char *name);
void builder_module(struct builder *b, const char *kind, int32_t index);
void builder_python_end(struct builder *b);

// A kernel that computes m x n results over k.
void builder_gemm(struct builder *b, enum role role, int64_t m, int64_t n, int64_t k);
// A kernel bound by memory traffic.
void builder_traffic(struct builder *b, enum role role, int64_t elements, int64_t bytes);
// An attention kernel.
void builder_attention(struct builder *b, enum role role, int64_t flop, uint32_t blocks);
void builder_set(struct builder *b, int64_t bytes);

// A collective over `elements` bf16 elements of the whole (not the shard); its slot is returned.
int32_t builder_collective(struct builder *b, enum role role, int64_t elements, bool last);
void builder_wait(struct builder *b, int32_t slot);
