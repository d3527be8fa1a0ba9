// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_names.h"

enum event_kind rocm_call_kind(struct str domain)
{
    if (str_contains_nocase(domain, STR("marker")) || str_contains_nocase(domain, STR("rccl")))
        return EVENT_ANNOTATION;
    return str_contains_nocase(domain, STR("hsa")) ? EVENT_DRIVER : EVENT_RUNTIME;
}

struct str rocm_kernel_name(struct str name)
{
    static const char *const ends[] = {" [clone .kd]", " (.kd)", "(.kd)", ".kd"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct str end = str_of(ends[i]);
        if (name.len > end.len &&
            str_equal((struct str){name.at + name.len - end.len, end.len}, end))
            return (struct str){name.at, name.len - end.len};
    }
    return name;
}

bool rocm_kernel_intern(struct text_table *texts, struct trace_builder *builder, int64_t id,
                        str_id *interned, struct err *err)
{
    struct str text = STR("");
    (void)text_table_find(texts, id, &text);
    struct str name = rocm_kernel_name(text);
    return name.len < text.len ? trace_builder_text(builder, name, ERR_NO_POS, interned, err)
                               : text_table_intern(texts, builder, id, interned, err);
}

void rocm_extent(struct launch_shape *shape, unsigned dimension, int64_t items, int64_t per_block)
{
    if (items <= 0 || items > UINT32_MAX || per_block <= 0 || per_block > INT32_MAX)
        return;
    int64_t blocks = (items + per_block - 1) / per_block;
    shape->grid[dimension] = blocks <= INT32_MAX ? (int32_t)blocks : 0;
    shape->block[dimension] = (int32_t)per_block;
}
