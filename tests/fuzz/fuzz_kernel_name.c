// SPDX-License-Identifier: Apache-2.0
// Any bytes as the name of a kernel: fields stay within their bounds, and the label is short text.
#include "analysis/kernel_names/kernel_json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_label(const char *label)
{
    size_t characters = 0;
    struct str text = str_of(label);
    check(text.len > 0 && str_valid_utf8(text) == text.len);
    for (size_t i = 0; i < text.len; i++)
        characters += ((unsigned char)text.at[i] & 0xc0) != 0x80;
    check(characters <= KERNEL_LABEL_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char empty[1];
    struct str name = {size ? (const char *)data : empty, size};
    struct kernel_decoded decoded;
    struct err err = {0};
    struct buf json = {0};
    kernel_decode(name, &decoded);
    check(decoded.library < LIBRARY_COUNT && decoded.op < OP_COUNT && decoded.func < FUNC_COUNT);
    check(memchr(decoded.arch, '\0', sizeof decoded.arch) != NULL);
    check(memchr(decoded.layout, '\0', sizeof decoded.layout) != NULL);
    check(decoded.op_count <= KERNEL_OPS_MAX);
    for (uint32_t i = 0; i < decoded.op_count; i++)
        check(decoded.ops[i].at >= name.at &&
              decoded.ops[i].at + decoded.ops[i].len <= name.at + name.len);
    check_label(decoded.label);
    kernel_json(name, &decoded, &json);
    check(buf_ok(&json, &err) && str_valid_utf8((struct str){json.at, json.len}) == json.len);
    buf_free(&json);
    return 0;
}
