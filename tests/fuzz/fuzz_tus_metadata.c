// SPDX-License-Identifier: Apache-2.0
// Any bytes as Upload-Metadata: never a crash, only clean fields, and the same ones when written
// out and read again.
#include "server/base/base64.h"
#include "server/uploads/tus_metadata.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_field(const struct tus_field *field)
{
    if (field->name.len == 0 || str_valid_utf8(field->value) != field->value.len ||
        memchr(field->value.at, '\0', field->value.len))
        abort();
    for (size_t i = 0; i < field->name.len; i++)
        if (field->name.at[i] <= ' ' || field->name.at[i] > '~')
            abort();
}

static void check_again(const struct tus_metadata *metadata, struct arena *arena)
{
    struct tus_metadata again;
    struct buf out = {0};
    struct err err = {0};
    for (size_t i = 0; i < metadata->count; i++) {
        buf_puts(&out, i ? "," : "");
        buf_add_str(&out, metadata->fields[i].name);
        buf_putc(&out, ' ');
        base64_encode(metadata->fields[i].value, &out);
    }
    if (!tus_metadata_parse((struct str){out.at, out.len}, arena, &again, &err) ||
        again.count != metadata->count)
        abort();
    for (size_t i = 0; i < again.count; i++)
        if (!str_equal(again.fields[i].name, metadata->fields[i].name) ||
            !str_equal(again.fields[i].value, metadata->fields[i].value))
            abort();
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tus_metadata metadata;
    struct arena arena;
    struct err err = {0};
    arena_init(&arena, NULL);
    if (tus_metadata_parse((struct str){(const char *)data, size}, &arena, &metadata, &err)) {
        for (size_t i = 0; i < metadata.count; i++)
            check_field(&metadata.fields[i]);
        check_again(&metadata, &arena);
    }
    arena_free(&arena);
    return 0;
}
