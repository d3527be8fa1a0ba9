// SPDX-License-Identifier: Apache-2.0
// Sorts the names of calls by vendor prefix and verb, those of operators and frames by parts.
#include "analysis/host_traits.h"

#define KNOWN      (1u << 7)
#define CALL_BITS  (1u << HOST_SYNC | 1u << HOST_ALLOCATOR | 1u << HOST_STREAM_WAIT)
#define OTHER_BITS (1u << HOST_LOADING)

// "cudaMalloc" -> "Malloc". False when it is no call of a vendor's library.
static bool strip_vendor(struct str *name)
{
    static const char *const prefixes[] = {"cuda", "hip", "cu"};
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
    if (!strip_vendor(&name))
        return 0;
    if (str_starts_with(name, STR("StreamWaitEvent")))
        return 1u << HOST_STREAM_WAIT;
    if (has(name, STR("Async")))
        return 0;
    if (begins_with_any(name, allocating, sizeof allocating / sizeof *allocating))
        return 1u << HOST_ALLOCATOR;
    return has(name, STR("Synchronize")) || has(name, STR("Memcpy")) ? 1u << HOST_SYNC : 0;
}

// What follows the last slash: folders say nothing about a frame.
static struct str base_name(struct str name)
{
    size_t at = name.len;
    while (at > 0 && name.at[at - 1] != '/')
        at--;
    return (struct str){name.at + at, name.len - at};
}

static unsigned traits_of_other(struct str name)
{
    static const char *const parts[] = {"dataloader", "data_loader", "pin_memory", "__next__"};
    struct str base = base_name(name);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (str_contains_nocase(base, str_of(parts[i])))
            return 1u << HOST_LOADING;
    return 0;
}

bool host_traits_make(struct host_traits *traits, const struct trace *trace, struct budget *budget,
                      struct err *err)
{
    *traits = (struct host_traits){.trace = trace, .budget = budget, .size = trace->strings.count};
    traits->memo = budget_alloc(budget, traits->size, err);
    if (traits->memo)
        memset(traits->memo, 0, traits->size);
    return traits->memo != NULL;
}

void host_traits_free(struct host_traits *traits)
{
    budget_free(traits->budget, traits->memo, traits->size);
    traits->memo = NULL;
}

unsigned host_traits_of(struct host_traits *traits, uint32_t event)
{
    str_id name = traits->trace->name[event];
    if (!traits->memo[name]) {
        struct str text = trace_text(traits->trace, name);
        traits->memo[name] = (uint8_t)(KNOWN | traits_of_call(text) | traits_of_other(text));
    }
    bool call = event_kind_is_launch((enum event_kind)traits->trace->kind[event]);
    return traits->memo[name] & (call ? CALL_BITS : OTHER_BITS);
}
