// SPDX-License-Identifier: Apache-2.0
#include "ingest/rocm/rocm_names.h"

enum event_kind rocm_call_kind(struct str domain)
{
    if (str_contains_nocase(domain, STR("marker")) || str_contains_nocase(domain, STR("rccl")))
        return EVENT_ANNOTATION;
    return str_contains_nocase(domain, STR("hsa")) ? EVENT_DRIVER : EVENT_RUNTIME;
}

void rocm_extent(struct launch_shape *shape, unsigned dimension, int64_t items, int64_t per_block)
{
    if (items <= 0 || items > UINT32_MAX || per_block <= 0 || per_block > INT32_MAX)
        return;
    int64_t blocks = (items + per_block - 1) / per_block;
    shape->grid[dimension] = blocks <= INT32_MAX ? (int32_t)blocks : 0;
    shape->block[dimension] = (int32_t)per_block;
}
