// SPDX-License-Identifier: Apache-2.0
// Checksums of pieces.
#include "server/uploads/tus_checksum.h"

#include "server/base/base64.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct tus_checksum {
    EVP_MD_CTX *context;
    struct str announced; // in the request's arena
};

static const EVP_MD *find_algorithm(struct str name)
{
    if (str_equal(name, STR("sha1")))
        return EVP_sha1();
    return str_equal(name, STR("sha256")) ? EVP_sha256() : NULL;
}

static bool begin(const struct request *request, struct str text, struct tus_checksum *checksum,
                  struct err *err)
{
    size_t space = str_find(text, STR(" "));
    struct str name = {text.at, space == SIZE_MAX ? text.len : space};
    const EVP_MD *algorithm = find_algorithm(name);
    if (!algorithm || space == SIZE_MAX)
        return err_set(err, ERR_USAGE,
                       "found Upload-Checksum '%.*s', expected sha1 or sha256 and "
                       "the hash in base64",
                       (int)(text.len < 40 ? text.len : 40), text.at);
    struct str hash = {text.at + space + 1, text.len - space - 1};
    if (!base64_decode(hash, request->arena, &checksum->announced, err))
        return false;
    if (checksum->announced.len != (size_t)EVP_MD_get_size(algorithm))
        return err_set(err, ERR_USAGE, "found an Upload-Checksum of %zu bytes, expected %d",
                       checksum->announced.len, EVP_MD_get_size(algorithm));
    checksum->context = EVP_MD_CTX_new();
    return (checksum->context && EVP_DigestInit_ex(checksum->context, algorithm, NULL) == 1) ||
           err_set(err, ERR_INTERNAL, "cannot start a checksum");
}

bool tus_checksum_begin(const struct request *request, struct tus_checksum **checksum,
                        struct err *err)
{
    struct str text = request_header(request, "Upload-Checksum");
    *checksum = NULL;
    if (!text.at)
        return true;
    struct tus_checksum *made = calloc(1, sizeof *made);
    if (!made)
        return err_set(err, ERR_MEMORY, "out of memory for a checksum");
    if (!begin(request, text, made, err)) {
        tus_checksum_free(made);
        return false;
    }
    *checksum = made;
    return true;
}

bool tus_checksum_add(struct tus_checksum *checksum, const void *bytes, size_t size,
                      struct err *err)
{
    return EVP_DigestUpdate(checksum->context, bytes, size) == 1 ||
           err_set(err, ERR_INTERNAL, "cannot compute a checksum");
}

bool tus_checksum_agrees(struct tus_checksum *checksum)
{
    unsigned char found[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    return EVP_DigestFinal_ex(checksum->context, found, &size) == 1 &&
           str_equal((struct str){(const char *)found, size}, checksum->announced);
}

void tus_checksum_free(struct tus_checksum *checksum)
{
    if (!checksum)
        return;
    EVP_MD_CTX_free(checksum->context);
    free(checksum);
}
