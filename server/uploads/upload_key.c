// SPDX-License-Identifier: Apache-2.0
// Reads Idempotency-Key, and tells one request from another.
#include "server/uploads/upload_key.h"

#include "ingest/base/hash.h"
#include "ingest/base/secrets.h"
#include "server/http/precheck.h"
#include "server/store/store_resumable.h"

static uint64_t add(uint64_t hash, struct str text)
{
    return hash_u64(hash ^ hash_bytes(text.at, text.len));
}

// What is known before the body comes. Of the body that is its length: a form has another boundary
// each time, though of curl and most others one as long. Who waits for the answer or not still
// sends the same.
static uint64_t hash_request(const struct request *request)
{
    uint64_t hash = add(add(hash_u64(precheck_length(request)), request->method), request->path);
    for (size_t i = 0; i < request->query.count; i++)
        if (!str_equal(request->query.params[i].name, STR("wait")))
            hash = add(add(hash, request->query.params[i].name), request->query.params[i].value);
    return hash;
}

static bool check(struct str text, struct err *err)
{
    bool visible = text.len > 0 && text.len <= STORE_KEY_MAX_BYTES;
    for (size_t i = 0; visible && i < text.len; i++)
        visible = text.at[i] > ' ' && text.at[i] <= '~';
    return visible || err_set(err, ERR_USAGE,
                              "found an Idempotency-Key of %zu bytes, expected 1 to %zu visible "
                              "characters",
                              text.len, STORE_KEY_MAX_BYTES);
}

// What must not be kept as it is stands for itself as its hash.
static bool hide_secret(const struct request *request, struct str *text, struct err *err)
{
    struct secret secret;
    if (!secrets_find(*text, 0, &secret))
        return true;
    char *hidden = arena_printf(request->arena, err, "hash-%016llx",
                                (unsigned long long)hash_bytes(text->at, text->len));
    if (hidden)
        *text = str_of(hidden);
    return hidden != NULL;
}

bool upload_key_read(const struct request *request, struct upload_key *key, struct err *err)
{
    struct str text = request_header(request, "Idempotency-Key");
    *key = (struct upload_key){.text = STR("")};
    if (!text.at)
        return true;
    if (!check(text, err) || !hide_secret(request, &text, err))
        return false;
    *key = (struct upload_key){text, (int64_t)(hash_request(request) >> 1)};
    return true;
}
