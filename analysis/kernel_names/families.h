// SPDX-License-Identifier: Apache-2.0
// The grammars, one per library or family of libraries, and the rules that most of them have.
#ifndef ANALYSIS_FAMILIES_H
#define ANALYSIS_FAMILIES_H

#include "analysis/kernel_names/kernel_scan.h"

// A grammar: false if the name is not one of its names; out is then unchanged.
typedef bool kernel_family(const struct kernel_text *text, struct kernel_decoded *out);

kernel_family family_runtime;
kernel_family family_nvjet;
kernel_family family_cutlass3;
kernel_family family_attention;
kernel_family family_cutlass2;
kernel_family family_cublas_sass;
kernel_family family_xmma;
kernel_family family_cublas;
kernel_family family_tensile;
kernel_family family_cudnn;
kernel_family family_miopen;
kernel_family family_ck;
kernel_family family_aiter;
kernel_family family_flydsl;
kernel_family family_gemm_generators;
kernel_family family_collectives;
kernel_family family_inductor;
kernel_family family_xla;
kernel_family family_cupy;
kernel_family family_elementwise;
kernel_family family_pytorch;
kernel_family family_primitives;
kernel_family family_ggml;
kernel_family family_serving;
kernel_family family_libraries;
kernel_family family_triton;

// Where the element type is among the template arguments.
enum type_from {
    FROM_NOWHERE,
    FROM_FIRST,  // the first, if it is a type
    FROM_FLOAT,  // the first that is a floating-point type
    FROM_TYPE,   // the first that is a type: numbers come before it
    FROM_SECOND, // the second that is a floating-point type: that of the arithmetic comes first
    FROM_NESTED, // the first type among the arguments of an argument
};

// What a word in the name of a function means. Patterns are those of kernel_matches.
struct kernel_rule {
    const char *space; // namespaces; NULL: any
    const char *base;
    enum kernel_library library; // LIBRARY_NONE: as the namespaces say
    enum kernel_op op;
    enum type_from type;
    enum kernel_flag flags[3];
    enum kernel_func func;
};

// The first rule that matches decides; false if none does.
bool apply_rules(const struct kernel_rule *rules, size_t count, const struct kernel_text *text,
                 struct kernel_decoded *out);

// The library whose namespaces these are; LIBRARY_NONE for those of none.
enum kernel_library library_of_space(struct str space);

// A name of words between underscores that holds no template or namespace, as Triton's have.
bool is_bare(const struct kernel_text *text);

#endif
