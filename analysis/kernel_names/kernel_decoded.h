// SPDX-License-Identifier: Apache-2.0
// What the name of a kernel says: a pure function from bytes, which may be hostile, to fields.
#ifndef ANALYSIS_KERNEL_DECODED_H
#define ANALYSIS_KERNEL_DECODED_H

#include "analysis/kernel_names/kernel_words.h"

#include "ingest/base/str.h"

enum {
    KERNEL_OPS_MAX = 32,
    KERNEL_LABEL_MAX = 48, // characters of a label
    KERNEL_LABEL_BYTES = 2 * KERNEL_LABEL_MAX,
};

// Fields that may be a reading rather than a fact.
enum kernel_doubt {
    DOUBT_LIBRARY = 1,
    DOUBT_OP = 2,
    DOUBT_DTYPE = 4,
    DOUBT_TYPES = 8, // the other types
    DOUBT_FUNC = 16,
    DOUBT_OPS = 32,
    DOUBT_TILE = 64,
    DOUBT_CAUSAL = 128,
    DOUBT_FLAGS = 256,
    DOUBT_REST = 512, // every other field
    DOUBT_ALL = 1023,
};

// A field that the name does not give is 0, empty or KERNEL_CAUSAL_UNSAID.
struct kernel_decoded {
    enum kernel_library library;
    enum kernel_op op;
    enum kernel_func func;
    enum kernel_type dtype; // of operand A as the arithmetic sees it
    enum kernel_type dtype_b, dtype_out, dtype_acc;
    enum { KERNEL_CAUSAL_UNSAID, KERNEL_CAUSAL_NO, KERNEL_CAUSAL_YES } causal;
    enum { KERNEL_ALGO_UNSAID, KERNEL_ALGO_RING, KERNEL_ALGO_TREE } algo;
    enum { KERNEL_PROTO_UNSAID, KERNEL_PROTO_LL, KERNEL_PROTO_LL128, KERNEL_PROTO_SIMPLE } proto;
    char arch[12];   // "sm90", "gfx942"
    char layout[8];  // "tn", "nhwc"
    int32_t tile[3]; // M, N and K of one block, or queries and keys; 0: unsaid
    int32_t cluster[2];
    int32_t stages;
    int32_t alignment; // in elements
    int32_t head_dim;
    int32_t vec; // elements per access
    int32_t shape_n, shape_k;
    uint64_t flags[2];              // use kernel_has_flag
    struct str ops[KERNEL_OPS_MAX]; // operators in the name of a fused kernel, part of the name
    uint32_t op_count;
    uint32_t doubts;                // of kernel_doubt
    uint32_t settled;               // of kernel_doubt: what the rest of a cut name cannot change
    char label[KERNEL_LABEL_BYTES]; // short, for people; never empty
};

// Never fails: what is not recognized stays unsaid. `decoded->ops` points into name.
void kernel_decode(struct str name, struct kernel_decoded *decoded);

bool kernel_has_flag(const struct kernel_decoded *decoded, enum kernel_flag flag);

// "ring", "ll128"; NULL if unsaid.
const char *kernel_algo_word(const struct kernel_decoded *decoded);
const char *kernel_proto_word(const struct kernel_decoded *decoded);

// A matrix product or convolution that names its types and uses no tensor or matrix cores.
bool kernel_is_simt(const struct kernel_decoded *decoded);

#endif
