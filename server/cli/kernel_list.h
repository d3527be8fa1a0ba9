// SPDX-License-Identifier: Apache-2.0
// Names of kernels, one a line, as JSON objects, one a line.
#ifndef SERVER_KERNEL_LIST_H
#define SERVER_KERNEL_LIST_H

#include "ingest/base/err.h"

// Reads the files, or standard input if there are none or one is "-", and prints what each name
// says. Empty lines are skipped.
MUST_CHECK bool kernel_list_print(char *const *paths, int count, struct err *err);

#endif
