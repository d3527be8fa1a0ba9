// SPDX-License-Identifier: Apache-2.0
// The identity of a trace: rank, world size, device name.
#include "analysis/facts/identity.h"
#include "analysis/names/gpu_name.h"
#include "analysis/report/json_memory.h"
#include "analysis/facts/member_json.h"

static int64_t number_of(const json_t *device, const char *key)
{
    return json_integer_value(json_object_get(device, key)); // 0 if absent
}

// Name of the first device that has one or can be recognized.
static struct str name_of(const json_t *devices)
{
    for (size_t i = 0; i < json_array_size(devices); i++) {
        const json_t *device = json_array_get(devices, i);
        const char *recorded = json_string_value(json_object_get(device, "name"));
        struct str name = gpu_name(str_of(recorded), number_of(device, "numSms"),
                                   number_of(device, "totalGlobalMem"));
        if (name.len)
            return name;
    }
    return STR("");
}

bool identity_of(const struct trace *trace, struct arena *arena, struct identity *identity,
                 struct err *err)
{
    *identity = (struct identity){.rank = -1, .world_size = -1};
    json_memory_forget();
    json_t *info = member_json_find(trace, STR("distributedInfo"));
    int64_t number;
    if (member_json_i64(json_object_get(info, "rank"), &number) && number >= 0 &&
        number <= INT32_MAX)
        identity->rank = number;
    if (member_json_i64(json_object_get(info, "world_size"), &number) && number > 0 &&
        number <= INT32_MAX)
        identity->world_size = number;
    json_decref(info);
    json_t *devices = member_json_find(trace, STR("deviceProperties"));
    struct str name = name_of(devices);
    identity->gpu = (struct str){arena_strdup(arena, name, err), name.len};
    json_decref(devices);
    return identity->gpu.at && json_memory_check(err);
}
