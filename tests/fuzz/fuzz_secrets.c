// SPDX-License-Identifier: Apache-2.0
// Any bytes as text: secrets found are inside it, in order, and gone from the redacted text.
#include "ingest/base/secret_anchors.h"
#include "ingest/base/secrets.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    struct str text = {size ? (const char *)data : empty, size};
    struct secret secret;
    size_t count = 0;
    for (size_t from = 0; secrets_find(text, from, &secret); count++) {
        check(secret.at >= from && secret.len > 0 && secret.len <= size - secret.at);
        check(secret.kind < SECRET_KINDS);
        from = secret.at + secret.len;
    }
    check(secret_anchor_next(text, 0) == secret_anchor_next_scalar(text, 0));
    struct buf clean = {0};
    check(secrets_redact(text, NULL, &clean) == count);
    check(clean.failed || count || clean.len == size);
    struct str half = {text.at, size / 2};
    struct buf value = {0};
    secrets_redact_value(half, (struct str){text.at + size / 2, size - size / 2}, &value);
    buf_free(&value);
    buf_free(&clean);
    return 0;
}
