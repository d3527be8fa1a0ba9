// SPDX-License-Identifier: Apache-2.0
// Every variant of the structural index finds the same as the scalar one, wherever the text is
// split.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/json/json_index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct found {
    uint32_t *offsets;
    size_t count;
    struct json_index_state state;
};

static struct found index_split(json_index_fn *index, const char *text, size_t len, size_t split)
{
    struct found found = {.offsets = calloc(len + 2 * 64, sizeof(uint32_t))};
    if (!found.offsets)
        abort();
    found.count = index(text, split, 0, &found.state, found.offsets);
    found.count += index(text + split, len - split, (uint32_t)split, &found.state,
                         found.offsets + found.count);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t len = size - 2;
    size_t split = len ? (size_t)(data[0] << 8 | data[1]) % (len + 1) : 0;
    const char *text = (const char *)data + 2;
    struct found expected = index_split(json_index_scalar, text, len, len);
    for (const struct json_index *variant = json_index_variants(); variant->name; variant++) {
        struct found found = index_split(variant->run, text, len, split);
        if (found.count != expected.count || found.state.escaped != expected.state.escaped ||
            found.state.in_string != expected.state.in_string ||
            memcmp(found.offsets, expected.offsets, found.count * sizeof *found.offsets) != 0)
            abort();
        free(found.offsets);
    }
    free(expected.offsets);
    return 0;
}
