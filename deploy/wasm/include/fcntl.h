// SPDX-License-Identifier: Apache-2.0
// A file without a name: what serves the module's files knows these flags. Leases are refused.
#ifndef WASM_FCNTL_H
#define WASM_FCNTL_H

#include_next <fcntl.h>

#define O_TMPFILE (O_CREAT | O_DIRECTORY)

#define F_SETLEASE 1024
#define F_RDLCK    0
#define F_UNLCK    2

#endif
