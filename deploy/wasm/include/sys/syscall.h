// SPDX-License-Identifier: Apache-2.0
#ifndef WASM_SYS_SYSCALL_H
#define WASM_SYS_SYSCALL_H

enum { SYS_openat2 };

// There is none: -1 with ENOSYS.
long syscall(long number, ...);

#endif
