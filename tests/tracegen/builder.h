// SPDX-License-Identifier: Apache-2.0
// The vocabulary for writing a step: appends operators, kernels and collectives to a program.
#pragma once

#include "tests/tracegen/program.h"

enum { BUILDER_DEPTH = 64, BUILDER_TENSORS = 65536 };

struct builder {
    struct program *program;
    const struct arguments *arguments;
    const struct vendor *vendor;
    int64_t filler;
    int32_t modules; // Python modules named so far
    enum phase phase;
    bool forgets;                     // nothing is kept for a backward
    const char *path;                 // modules around what is being written, joined by slashes
    const char *paths[BUILDER_DEPTH]; // around the open Python functions
    size_t depth;
    const char **sequence_paths; // where the forward of each sequence number ran
    size_t sequence_capacity;
    size_t tensors[BUILDER_TENSORS]; // kept for the backward, the last one first
    size_t kept;
    int32_t attentions[4]; // sequence numbers of planted ones
};

// A string that lives as long as the program.
const char *builder_text(struct builder *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// A table that lives as long as the program, zeroed.
void *builder_table(struct builder *b, size_t count, size_t size);

// Frees what only building needs.
void builder_finish(struct builder *b);

void builder_add(struct builder *b, const struct instruction *instruction);

// Host rows. `args` are JSON members or NULL; every begin needs a builder_end.
void builder_op(struct builder *b, const char *name, const char *args);
void builder_leaf(struct builder *b, const char *name, const char *args);
void builder_annotation(struct builder *b, const char *name);
void builder_end(struct builder *b);
void builder_thread(struct builder *b, enum host_thread thread);

// A forward operator recorded by autograd; returns its sequence number.
int32_t builder_forward(struct builder *b, const char *name, const char *args);
// An operator inside one recorded by autograd, with the same number.
void builder_inner(struct builder *b, const char *name, const char *args, int32_t sequence);
// The engine's row and the node's row around a backward.
void builder_backward(struct builder *b, const char *node, int32_t sequence);
void builder_backward_end(struct builder *b);
// Only the engine's row, when the node's has ended.
void builder_backward_leave(struct builder *b);

// Python rows appear only with --stacks; both calls are needed in any case.
void builder_python(struct builder *b, const char *name);
void builder_module(struct builder *b, const char *kind, int32_t index);
void builder_python_end(struct builder *b);

// The step's own row; close with builder_end.
void builder_step(struct builder *b);
// The profiler at its own work; close with builder_end.
void builder_overhead(struct builder *b, const char *name);
// What a call of the operator just begun computes, and the fewest bytes it must read and write.
void builder_worth(struct builder *b, int64_t flops, int64_t least_bytes);

// Work on the device, as given; module and phase are filled in.
void builder_work(struct builder *b, const struct instruction *work);

// Memory for a result that the backward needs, and its release; last in, first out.
void builder_keep(struct builder *b, int64_t bytes);
void builder_drop(struct builder *b);
// Memory that is never released.
void builder_lose(struct builder *b, int64_t bytes);

// A kernel that computes m x n results over k.
void builder_gemm(struct builder *b, enum role role, int64_t m, int64_t n, int64_t k);
// A kernel bound by memory traffic.
void builder_traffic(struct builder *b, enum role role, int64_t elements, int64_t bytes);
// An attention kernel.
void builder_attention(struct builder *b, enum role role, int64_t flop, uint32_t blocks);
void builder_set(struct builder *b, int64_t bytes);

// A collective over `elements` bf16 elements of the whole (not the shard); returns its slot.
struct call {
    enum role role;
    int64_t elements;
    const struct group *group;
    bool last; // the one the optimizer waits for
    bool bare; // the kernel carries no metadata
};

int32_t builder_collective_of(struct builder *b, const struct call *call);
int32_t builder_collective(struct builder *b, enum role role, int64_t elements, bool last);
void builder_wait(struct builder *b, int32_t slot);
