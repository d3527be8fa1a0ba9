// SPDX-License-Identifier: Apache-2.0
// Reads Idempotency-Key.
#include "server/upload_key.h"

#include "server/store_resumable.h"

bool upload_key_read(const struct request *request, struct str *key, struct err *err)
{
    struct str text = request_header(request, "Idempotency-Key");
    *key = text.at ? text : STR("");
    if (!text.at)
        return true;
    bool visible = text.len > 0 && text.len <= STORE_KEY_MAX_BYTES;
    for (size_t i = 0; visible && i < text.len; i++)
        visible = text.at[i] > ' ' && text.at[i] <= '~';
    return visible || err_set(err, ERR_USAGE,
                              "found an Idempotency-Key of %zu bytes, expected 1 to %zu visible "
                              "characters",
                              text.len, STORE_KEY_MAX_BYTES);
}
