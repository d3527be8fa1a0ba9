// SPDX-License-Identifier: Apache-2.0
#include "analysis/names/kernel_base.h"

// The parentheses of "(anonymous namespace)" and inside template arguments are not parameters.
static size_t parameters_at(struct str name)
{
    static const struct str anonymous = {"(anonymous namespace)", 21};
    int depth = 0;
    for (size_t i = 0; i < name.len; i++) {
        struct str rest = {name.at + i, name.len - i};
        if (name.at[i] == '<')
            depth++;
        else if (name.at[i] == '>')
            depth -= depth > 0;
        else if (str_starts_with(rest, anonymous))
            i += anonymous.len - 1;
        else if (name.at[i] == '(' && depth == 0)
            return i;
    }
    return name.len;
}

struct str kernel_bare(struct str name)
{
    if (str_starts_with(name, STR("void ")))
        name = (struct str){name.at + 5, name.len - 5};
    return (struct str){name.at, parameters_at(name)};
}

struct str kernel_base(struct str name)
{
    struct str bare = kernel_bare(name);
    size_t end = str_find(bare, STR("<")), from = 0;
    end = end == SIZE_MAX || end == 0 ? bare.len : end;
    for (size_t i = 0; i + 1 < end; i++)
        if (bare.at[i] == ':' && bare.at[i + 1] == ':')
            from = i + 2;
    return (struct str){bare.at + from, end - from};
}
