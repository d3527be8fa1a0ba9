// SPDX-License-Identifier: Apache-2.0
// The texts of the vocabularies.
#include "analysis/kernel_names/kernel_words.h"

#include <stddef.h>

#define TEXT(word) #word,

const char *kernel_library_word(enum kernel_library library)
{
    static const char *const words[LIBRARY_COUNT] = {NULL, KERNEL_LIBRARIES(TEXT)};
    return words[library];
}

const char *kernel_op_word(enum kernel_op op)
{
    static const char *const words[OP_COUNT] = {NULL, KERNEL_OPS(TEXT)};
    return words[op];
}

const char *kernel_type_word(enum kernel_type type)
{
    static const char *const words[TYPE_COUNT] = {NULL, KERNEL_TYPES(TEXT)};
    return words[type];
}

const char *kernel_func_word(enum kernel_func func)
{
    static const char *const words[FUNC_COUNT] = {NULL, KERNEL_FUNCS(TEXT)};
    return words[func];
}

const char *kernel_flag_word(enum kernel_flag flag)
{
    static const char *const words[FLAG_COUNT] = {NULL, KERNEL_FLAGS(TEXT)};
    const char *word = words[flag];
    return word && *word == 'N' ? word + 1 : word;
}
