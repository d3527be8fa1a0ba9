// SPDX-License-Identifier: Apache-2.0
#ifndef WASM_UNISTD_H
#define WASM_UNISTD_H

#include_next <unistd.h>

int dup(int fd);

#endif
