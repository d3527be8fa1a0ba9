// SPDX-License-Identifier: Apache-2.0
// Keys for hash tables whose contents come from outside.
#include "ingest/base/hash.h"

#include <sys/random.h>

struct hash_key hash_key_random(void)
{
    struct hash_key key = HASH_KEY_FIXED;
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    struct hash_key random;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) == (ssize_t)sizeof random)
        key = random;
#endif
    return key;
}
