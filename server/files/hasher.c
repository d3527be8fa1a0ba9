// SPDX-License-Identifier: Apache-2.0
// Hashed in place: the bytes are in the cache when they are hashed, written or compared, and a
// separate thread would cost a copy and switches that take longer than what it would overlap.
#include "server/files/hasher.h"

#include "ingest/base/str.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct hasher {
    EVP_MD_CTX *context;
};

struct hasher *hasher_new(struct err *err)
{
    struct hasher *hasher = calloc(1, sizeof(*hasher));
    if (!hasher) {
        err_set(err, ERR_MEMORY, "out of memory for a hash");
        return NULL;
    }
    hasher->context = EVP_MD_CTX_new();
    if (hasher->context && EVP_DigestInit_ex(hasher->context, EVP_sha256(), NULL) == 1)
        return hasher;
    hasher_free(hasher);
    err_set(err, ERR_INTERNAL, "cannot start a hash");
    return NULL;
}

void hasher_free(struct hasher *hasher)
{
    if (!hasher)
        return;
    EVP_MD_CTX_free(hasher->context);
    free(hasher);
}

bool hasher_add(struct hasher *hasher, const void *bytes, size_t size, struct err *err)
{
    return EVP_DigestUpdate(hasher->context, bytes, size) == 1 ||
           err_set(err, ERR_INTERNAL, "cannot hash an uploaded file");
}

bool hasher_end(struct hasher *hasher, char sha256[HASHER_TEXT_SIZE], struct err *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_DigestFinal_ex(hasher->context, digest, &size) != 1 || size != HASHER_TEXT_SIZE / 2)
        return err_set(err, ERR_INTERNAL, "cannot finish a hash");
    str_hex(sha256, digest, size);
    return true;
}
