// SPDX-License-Identifier: Apache-2.0
// Columns of the table kernels that follow from a kernel's name alone.
#ifndef ANALYSIS_KERNEL_NAME_ROW_H
#define ANALYSIS_KERNEL_NAME_ROW_H

#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/report/row.h"

// What the row points to, until its end.
struct kernel_name_texts {
    struct kernel_decoded decoded;
    char tile[48];
    char marks[512];
};

void kernel_name_put(struct row *row, struct str name, struct kernel_name_texts *texts);

#endif
