// SPDX-License-Identifier: Apache-2.0
// Parts of a kernel's name, for comparing names that profilers print in other ways. All are slices.
#ifndef ANALYSIS_KERNEL_BASE_H
#define ANALYSIS_KERNEL_BASE_H

#include "ingest/base/str.h"

// Without return type and parameters: "void f<int>(float *)" is "f<int>".
struct str kernel_bare(struct str name);

// Without namespaces and template arguments, too: "void at::native::f<int>(float *)" is "f".
struct str kernel_base(struct str name);

#endif
