// SPDX-License-Identifier: Apache-2.0
// The short label of a kernel, for people.
#ifndef ANALYSIS_KERNEL_LABEL_H
#define ANALYSIS_KERNEL_LABEL_H

#include "analysis/kernel_names/kernel_decoded.h"
#include "analysis/kernel_names/kernel_text.h"

// Fills decoded->label from the other fields, or from the name where they say nothing.
void kernel_label(const struct kernel_text *text, struct kernel_decoded *decoded);

#endif
