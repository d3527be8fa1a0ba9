// SPDX-License-Identifier: Apache-2.0
// Operators that mean the same under other names, with the reason of each.
#include "analysis/op_alias.h"

#include <stddef.h>

// PyTorch takes the operator of the library that is there: cuDNN on NVIDIA, MIOpen on AMD.
static const char *const aliases[][2] = {
    {"aten::cudnn_convolution", "aten::convolution"},
    {"aten::miopen_convolution", "aten::convolution"},
};

struct str op_alias_name(struct str op)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (str_equal(op, str_of(aliases[i][0])))
            return str_of(aliases[i][1]);
    return op;
}
