// SPDX-License-Identifier: Apache-2.0
#ifndef WASM_LIMITS_H
#define WASM_LIMITS_H

#include_next <limits.h>

#define PIPE_BUF 4096

#endif
