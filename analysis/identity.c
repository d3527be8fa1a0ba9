// SPDX-License-Identifier: Apache-2.0
// Who a trace is: rank, size of the job, name of the device.
#include "analysis/analysis.h"
#include "analysis/member_json.h"

// Name of the first device that has one.
static const char *gpu_name(const json_t *devices)
{
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(devices, i), "name"));
        if (name && *name)
            return name;
    }
    return "";
}

bool identity_of(const struct trace *trace, struct arena *arena, struct identity *identity,
                 struct err *err)
{
    *identity = (struct identity){.rank = -1, .world_size = -1};
    json_t *info = member_json_find(trace, STR("distributedInfo"));
    int64_t number;
    if (member_json_i64(json_object_get(info, "rank"), &number) && number >= 0)
        identity->rank = number;
    if (member_json_i64(json_object_get(info, "world_size"), &number) && number > 0)
        identity->world_size = number;
    json_decref(info);
    json_t *devices = member_json_find(trace, STR("deviceProperties"));
    struct str name = str_of(gpu_name(devices));
    identity->gpu = (struct str){arena_strdup(arena, name, err), name.len};
    json_decref(devices);
    return identity->gpu.at != NULL;
}
