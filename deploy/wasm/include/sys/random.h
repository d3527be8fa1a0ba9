// SPDX-License-Identifier: Apache-2.0
// Random bytes of the host: crypto.getRandomValues in a browser.
#ifndef WASM_SYS_RANDOM_H
#define WASM_SYS_RANDOM_H

#include <sys/types.h>
#include <unistd.h>

#define GRND_NONBLOCK 1

static inline ssize_t getrandom(void *bytes, size_t size, unsigned flags)
{
    (void)flags;
    return getentropy(bytes, size) == 0 ? (ssize_t)size : -1;
}

#endif
