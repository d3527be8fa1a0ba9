// SPDX-License-Identifier: Apache-2.0
// Small readers that the grammars share: numbers, sizes, types.
#ifndef ANALYSIS_KERNEL_SCAN_H
#define ANALYSIS_KERNEL_SCAN_H

#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/kernel_names/kernel_text.h"

// The whole text as a number, a suffix such as "ul" allowed; false if it is not a number below 1e8.
bool scan_number(struct str text, int32_t *number);

// The number after a prefix: "align8". False if the rest is no number.
bool scan_after(struct str text, const char *prefix, int32_t *number);

// "128x64x32": how many sizes the whole text has, 0 if it is not of this form or has more than max.
size_t scan_sizes(struct str text, int32_t *sizes, size_t max);

// "bf16", "fp16", "e4m3", "s8": types as libraries write them in names.
enum kernel_type scan_type(struct str word);

// "c10::BFloat16 const*": types of C++.
enum kernel_type scan_cpp_type(struct str type);

// The type at the start of `text`, which it is cut from: "bf16f32" has two.
enum kernel_type scan_type_prefix(struct str *text);

// The first argument that is a floating-point type; TYPE_NONE if there is none.
enum kernel_type scan_first_float(const struct kernel_args *args);

// The one after n others; TYPE_NONE if there are fewer.
enum kernel_type scan_nth_float(const struct kernel_args *args, size_t n);

bool type_is_float(enum kernel_type type);

// "cute::tuple<cute::C<64>, cute::C<128>>": its numbers, at most three.
size_t scan_tuple(struct str type, int32_t sizes[3]);

// Of "true", "false", "1", "0"; -1 for anything else or without such an argument.
int scan_bool(const struct kernel_args *args, size_t index);

// For a cut name: puts in doubt everything that the missing rest may change.
void doubt_unsettled(struct kernel_decoded *out);

// Whether one of the words matches the pattern.
bool scan_has_token(const struct kernel_tokens *tokens, const char *pattern);

void set_flag(struct kernel_decoded *out, enum kernel_flag flag);
void clear_flag(struct kernel_decoded *out, enum kernel_flag flag);
void set_flag_if(struct kernel_decoded *out, enum kernel_flag flag, bool holds);
// OpaqueType<4>: only the size of an element is known.
void read_opaque_size(struct str name, struct kernel_decoded *out);
void set_tile(struct kernel_decoded *out, const int32_t *sizes, size_t count);
void set_arch(struct kernel_decoded *out, const char *prefix, struct str version);
void set_layout(struct kernel_decoded *out, struct str layout);
void set_causal(struct kernel_decoded *out, int yes); // of scan_bool

#endif
