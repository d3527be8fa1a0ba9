// SPDX-License-Identifier: Apache-2.0
#ifndef WASM_LINUX_OPENAT2_H
#define WASM_LINUX_OPENAT2_H

#include <stdint.h>

struct open_how {
    uint64_t flags, mode, resolve;
};

enum { RESOLVE_NO_SYMLINKS = 4 };

#endif
