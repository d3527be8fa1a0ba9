// SPDX-License-Identifier: Apache-2.0
// A name and the category that it must have.
#ifndef TESTS_UNIT_CATEGORY_SAMPLE_H
#define TESTS_UNIT_CATEGORY_SAMPLE_H

#include "analysis/names/category.h"

struct category_sample {
    const char *name;
    enum category category;
};

#endif
