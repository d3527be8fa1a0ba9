// SPDX-License-Identifier: Apache-2.0
// Any bytes as the JSON body of a request: an object or a refusal, however they are split, and what
// was read can be written and read again.
#include "server/http/json_body.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct feed {
    struct str rest;
    size_t step;
};

static bool pull(void *ctx, void *bytes, size_t cap, size_t *got, struct err *err)
{
    (void)err;
    struct feed *feed = ctx;
    size_t len = feed->rest.len < feed->step ? feed->rest.len : feed->step;
    *got = len < cap ? len : cap;
    memcpy(bytes, feed->rest.at, *got);
    feed->rest = (struct str){feed->rest.at + *got, feed->rest.len - *got};
    return true;
}

static json_t *read_body(struct str text, size_t step, struct arena *arena)
{
    const struct request_header type = {STR("Content-Type"), STR("application/json")};
    struct feed feed = {text, step};
    struct body body = {.pull = pull, .ctx = &feed, .length = text.len, .limit = UINT64_MAX};
    struct request request = {.arena = arena, .body = &body, .headers = &type, .header_count = 1};
    struct response response;
    struct err err = {0};
    response_init(&response);
    json_t *object = json_body_read(&request, &response, &err);
    if (!object && err.code == ERR_NONE)
        abort();
    response_free(&response);
    return object;
}

static void use(json_t *object, struct arena *arena)
{
    const char *name;
    json_t *value;
    struct str text;
    struct err err;
    json_object_foreach(object, name, value) if (json_body_text(object, name, arena, &text, &err) &&
                                                 !json_is_null(value) &&
                                                 text.len != json_string_length(value)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct str text = {(const char *)data + 1, size - 1};
    struct arena arena;
    arena_init(&arena, NULL);
    json_t *whole = read_body(text, SIZE_MAX, &arena);
    json_t *stepped = read_body(text, 1 + data[0] % 64, &arena);
    if (!whole != !stepped || (whole && !json_equal(whole, stepped)))
        abort();
    if (whole)
        use(whole, &arena);
    json_decref(whole);
    json_decref(stepped);
    arena_free(&arena);
    return 0;
}
