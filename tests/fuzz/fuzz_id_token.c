// SPDX-License-Identifier: Apache-2.0
// Any text as an ID token, followed by a line with any keys: a refusal with its reason, since
// nobody who only writes text has signed it.
#include "server/access/id_token.h"

#include "ingest/base/buf.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static json_t *read_keys(struct str text)
{
    static const char usual[] = "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
                                "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","
                                "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}";
    json_t *keys = text.len ? json_loadb(text.at, text.len, JSON_REJECT_DUPLICATES, NULL) : NULL;
    return keys ? keys : json_loadb(usual, sizeof usual - 1, 0, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    static const struct id_token_terms terms = {"https://a", "b", "c", "email", 1790000000};
    struct str text = {size ? (const char *)data : empty, size}, keys_text = {empty, 0}, user;
    size_t line = str_find(text, STR("\n"));
    if (line != SIZE_MAX) {
        keys_text = (struct str){text.at + line + 1, text.len - line - 1};
        text.len = line;
    }
    struct arena arena;
    struct err err = {0};
    json_t *keys = read_keys(keys_text);
    arena_init(&arena, NULL);
    check(!id_token_check(text, keys, &terms, &arena, &user, &err));
    check(err.code != ERR_NONE && err.msg[0]);
    arena_free(&arena);
    json_decref(keys);
    return 0;
}
