// SPDX-License-Identifier: Apache-2.0
// The rules that give device work its category, as data: the first matching row decides.
#ifndef ANALYSIS_CATEGORY_RULES_H
#define ANALYSIS_CATEGORY_RULES_H

#include "analysis/names/category.h"

// How a row's text is compared. Names are in lower case; operator names lose underscores,
// "Backward0", "evaluate_function:" and overloads, so that one row matches aten::_to_copy and
// ToCopyBackward0.
enum category_match {
    MATCH_WORD,  // the whole operator after its namespace
    MATCH_PART,  // any part of that; for kernels any part
    MATCH_FRONT, // the start of the name, including the namespace; for kernels without "void "
    MATCH_WHOLE, // the whole name, including the namespace
};

struct category_rule {
    enum category_match match;
    enum category category; // CATEGORY_NONE: undecided, the kernel's name decides
    const char *text;       // at least 2 characters
    const char *then;       // must occur anywhere after text; NULL: nothing
};

struct category_rules {
    const struct category_rule *rows;
    size_t count;
};

extern const struct category_rules category_op_rules, category_kernel_rules;

// The row that decides, NULL if none does.
const struct category_rule *category_rule_of_op(struct str op);
const struct category_rule *category_rule_of_kernel(struct str kernel);

#endif
