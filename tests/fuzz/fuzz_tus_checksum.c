// SPDX-License-Identifier: Apache-2.0
// Any bytes as base64, and as the checksum of a piece: a refusal, or a checksum that no other bytes
// have.
#include "server/base/base64.h"
#include "server/uploads/tus_checksum.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void fuzz_checksum(struct str text, struct arena *arena)
{
    struct request_header header = {STR("Upload-Checksum"), text};
    struct request request = {.arena = arena, .headers = &header, .header_count = 1};
    struct tus_checksum *checksum = NULL;
    struct err err = {0};
    if (!tus_checksum_begin(&request, &checksum, &err)) {
        check(err.code != ERR_NONE);
        return;
    }
    check(!checksum || tus_checksum_add(checksum, text.at, text.len, &err));
    if (checksum)
        check(!tus_checksum_agrees(checksum)); // a text that contains its own hash
    tus_checksum_free(checksum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    struct str text = {size ? (const char *)data : empty, size}, bytes;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    if (base64_decode(text, &arena, &bytes, &err))
        check(bytes.len <= text.len && bytes.at[bytes.len] == '\0');
    fuzz_checksum(text, &arena);
    arena_free(&arena);
    return 0;
}
