// SPDX-License-Identifier: Apache-2.0
// Classifies the names of calls by vendor prefix and verb, those of operators and frames by parts.
#include "analysis/names/host_traits.h"

#include "analysis/names/loader_names.h"
#include "ingest/base/search.h"

#define KNOWN (1u << 15)
#define CALL_BITS                                                                            \
    (1u << HOST_SYNC | 1u << HOST_SYNC_ALL | 1u << HOST_ALLOCATOR | 1u << HOST_STREAM_WAIT | \
     1u << HOST_HOLD | 1u << HOST_COLD)
#define OTHER_BITS \
    (1u << HOST_LOADING | 1u << HOST_OPERATOR | 1u << HOST_MODULE | 1u << HOST_COMPILE)

// "cudaMalloc" -> "Malloc". False if it is not a call of a vendor's library.
static bool strip_vendor(struct str *name)
{
    static const char *const prefixes[] = {"cuda", "hip", "cu", "ur", "ze"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct str prefix = str_of(prefixes[i]);
        if (name->len <= prefix.len || !str_starts_with(*name, prefix) ||
            name->at[prefix.len] < 'A' || name->at[prefix.len] > 'Z')
            continue;
        *name = (struct str){name->at + prefix.len, name->len - prefix.len};
        return true;
    }
    return false;
}

static bool begins_with_any(struct str name, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_starts_with(name, str_of(prefixes[i])))
            return true;
    return false;
}

static bool has(struct str name, struct str part)
{
    return str_find(name, part) != SIZE_MAX;
}

static unsigned traits_of_call(struct str name)
{
    static const char *const allocating[] = {
        "Malloc",       "ExtMalloc",    "Free",           "HostAlloc", "HostMalloc",
        "HostFree",     "HostRegister", "HostUnregister", "MemAlloc",  "MemFree",
        "MemHostAlloc", "MemCreate",    "MemMap",         "MemUnmap",  "MemRelease",
        "MemSetAccess", "MemAddress",   "MemPoolTrim",
    };
    static const char *const holding[] = {
        "LaunchHostFunc",   "StreamAddCallback",      "StreamWaitValue",
        "StreamBatchMemOp", "WaitExternalSemaphores",
    };
    static const char *const loading[] = {
        "ModuleLoad",
        "LibraryLoad",
        "LinkAdd",
        "LinkComplete",
        "CtxCreate",
        "StreamCreate",
        "DevicePrimaryCtxRetain",
    };
    if (!strip_vendor(&name))
        return 0;
    if (begins_with_any(name, holding, sizeof holding / sizeof *holding))
        return 1u << HOST_HOLD;
    if (begins_with_any(name, loading, sizeof loading / sizeof *loading))
        return 1u << HOST_COLD;
    if (str_starts_with(name, STR("StreamWaitEvent")))
        return 1u << HOST_STREAM_WAIT;
    if (has(name, STR("Async")) || str_starts_with(name, STR("Enqueue")))
        return 0;
    if (begins_with_any(name, allocating, sizeof allocating / sizeof *allocating))
        return 1u << HOST_ALLOCATOR;
    if (str_starts_with(name, STR("DeviceSynchronize")) ||
        str_starts_with(name, STR("CtxSynchronize")))
        return 1u << HOST_SYNC | 1u << HOST_SYNC_ALL;
    bool waits = has(name, STR("Synchronize")) || has(name, STR("Memcpy")) ||
                 str_starts_with(name, STR("QueueFinish")) || // of SYCL, like the next
                 str_starts_with(name, STR("EventWait"));
    return waits ? 1u << HOST_SYNC : 0;
}

// "_compile.compile_inner (dynamo_timed)": torch._dynamo.utils.dynamo_timed marks each phase so.
bool host_name_compiles(struct str name)
{
    struct str end = STR(" (dynamo_timed)");
    return name.len > end.len &&
           str_equal((struct str){name.at + name.len - end.len, end.len}, end);
}

static unsigned traits_of_other(struct str name)
{
    if (host_name_compiles(name))
        return 1u << HOST_COMPILE;
    if (loader_names_have(name))
        return 1u << HOST_LOADING;
    if (str_starts_with(name, STR("nn.Module: ")))
        return 1u << HOST_MODULE;
    return has(name, STR("::")) ? 1u << HOST_OPERATOR : 0;
}

bool host_traits_make(struct host_traits *traits, const struct trace *trace, struct budget *budget,
                      struct err *err)
{
    *traits = (struct host_traits){.trace = trace, .budget = budget, .size = trace->strings.count};
    traits->memo = budget_alloc(budget, traits->size * sizeof *traits->memo, err);
    if (traits->memo)
        memset(traits->memo, 0, traits->size * sizeof *traits->memo);
    return traits->memo != NULL;
}

void host_traits_free(struct host_traits *traits)
{
    budget_free(traits->budget, traits->memo, traits->size * sizeof *traits->memo);
    traits->memo = NULL;
}

static bool is_cold(const struct host_traits *traits, uint32_t event)
{
    uint32_t before = count_below_i64(FIRST_OF(traits->cold, key), traits->cold_count,
                                      sizeof *traits->cold, event);
    return before < traits->cold_count && traits->cold[before].key == event;
}

static bool is_waiting(const struct host_traits *traits, uint32_t event)
{
    uint32_t before =
        count_below_u32(traits->waiting, traits->waiting_count, sizeof *traits->waiting, event);
    return before < traits->waiting_count && traits->waiting[before] == event;
}

unsigned host_traits_of(struct host_traits *traits, uint32_t event)
{
    str_id name = traits->trace->name[event];
    if (!traits->memo[name]) {
        struct str text = trace_text(traits->trace, name);
        traits->memo[name] = (uint16_t)(KNOWN | traits_of_call(text) | traits_of_other(text));
    }
    bool call = event_kind_is_launch((enum event_kind)traits->trace->kind[event]);
    if (call && traits->cold_count && is_cold(traits, event))
        return 1u << HOST_COLD;
    if (call && traits->waiting_count && is_waiting(traits, event))
        return 1u << HOST_SYNC;
    unsigned bits = traits->memo[name] & (call ? CALL_BITS : OTHER_BITS);
    return bits >> HOST_COMPILE & 1 && traits->compiles_once ? 1u << HOST_COLD : bits;
}
