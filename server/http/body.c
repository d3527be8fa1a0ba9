// SPDX-License-Identifier: Apache-2.0
// Checks a body's bytes against the announced length and the limit.
#include "server/http/body.h"

static bool too_long(const struct body *body, struct err *err)
{
    return err_set(
        err, ERR_LIMIT, "found a body of %s%llu bytes, expected at most %llu",
        body->length == BODY_UNKNOWN ? "more than " : "",
        (unsigned long long)(body->length == BODY_UNKNOWN ? body->received : body->length),
        (unsigned long long)body->limit);
}

bool body_limit(struct body *body, uint64_t limit, struct err *err)
{
    body->limit = limit;
    if (body->length != BODY_UNKNOWN && body->length > limit)
        return too_long(body, err);
    return true;
}

static bool begin(struct body *body, struct err *err)
{
    if (body->begun)
        return true;
    body->begun = true;
    return !body->proceed || body->length == 0 || body->proceed(body->ctx, err);
}

bool body_read(struct body *body, void *bytes, size_t cap, size_t *got, struct err *err)
{
    *got = 0;
    if (!begin(body, err))
        return false;
    uint64_t left = body->length == BODY_UNKNOWN ? UINT64_MAX : body->length - body->received;
    if (body->ended || left == 0) {
        body->ended = true;
        return true;
    }
    if (!body->pull(body->ctx, bytes, cap < left ? cap : (size_t)left, got, err))
        return err_wrap(err, "after %llu bytes of the body", (unsigned long long)body->received);
    body->received += *got;
    if (*got == 0 && body->length != BODY_UNKNOWN)
        return err_set(err, ERR_CANCELLED, "the client stopped sending after %llu of %llu bytes",
                       (unsigned long long)body->received, (unsigned long long)body->length);
    body->ended = *got == 0 || body->received == body->length;
    if (body->received > body->limit)
        return too_long(body, err);
    return !body->count || body->count(body->count_ctx, err);
}

bool body_read_all(struct body *body, uint64_t limit, struct buf *out, struct err *err)
{
    if (!body_limit(body, limit, err))
        return false;
    char block[4096];
    size_t got = 0;
    do {
        if (!body_read(body, block, sizeof(block), &got, err))
            return false;
        buf_add(out, block, got);
    } while (got);
    return buf_ok(out, err);
}
