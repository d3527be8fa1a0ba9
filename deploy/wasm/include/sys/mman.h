// SPDX-License-Identifier: Apache-2.0
// wasi-libc copies what is mapped.
#ifndef WASM_SYS_MMAN_H
#define WASM_SYS_MMAN_H

#include_next <sys/mman.h>

#define MFD_CLOEXEC 1U

int memfd_create(const char *name, unsigned flags);

#endif
