// SPDX-License-Identifier: Apache-2.0
// The tables of categories and of kernel names that decide kind and class.
#include "ingest/trace/event_kind.h"

struct category {
    const char *name; // lower case
    enum event_kind kind;
};

static const struct category categories[] = {
    {"kernel", EVENT_KERNEL},
    {"cpu_op", EVENT_CPU_OP},
    {"python_function", EVENT_PYTHON},
    {"cuda_runtime", EVENT_RUNTIME},
    {"cuda_driver", EVENT_DRIVER},
    {"gpu_memcpy", EVENT_MEMCPY},
    {"gpu_memset", EVENT_MEMSET},
    {"user_annotation", EVENT_ANNOTATION},
    {"gpu_user_annotation", EVENT_GPU_ANNOTATION},
    {"cuda_sync", EVENT_SYNC},
    {"cuda_event", EVENT_CUDA_EVENT},
    {"overhead", EVENT_OVERHEAD},
    {"cpu_instant_event", EVENT_ALLOCATION},
    // Spelling of 2021.
    {"operator", EVENT_CPU_OP},
    {"runtime", EVENT_RUNTIME},
    {"memcpy", EVENT_MEMCPY},
    {"memset", EVENT_MEMSET},
};

enum event_kind event_kind_of_category(struct str category)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (str_equal_nocase(category, str_of(categories[i].name)))
            return categories[i].kind;
    return EVENT_OTHER;
}

enum track_family event_kind_family(enum event_kind kind)
{
    switch (kind) {
    case EVENT_CPU_OP:
    case EVENT_ANNOTATION:
    case EVENT_RUNTIME:
    case EVENT_DRIVER:
    case EVENT_ALLOCATION: return TRACK_HOST;
    case EVENT_PYTHON: return TRACK_PYTHON;
    case EVENT_KERNEL:
    case EVENT_MEMCPY:
    case EVENT_MEMSET: return TRACK_DEVICE;
    case EVENT_GPU_ANNOTATION:
    case EVENT_SYNC:
    case EVENT_CUDA_EVENT: return TRACK_DEVICE_NOTE;
    case EVENT_OTHER:
    case EVENT_OVERHEAD:
    case EVENT_KIND_COUNT: return TRACK_OTHER;
    }
    return TRACK_OTHER;
}

// Kernels that move memory, by the begin of their name; case matters.
static const char *const memory_prefixes[] = {
    "MEMORY_COPY_",
    "__amd_rocclr_copyBuffer",
    "__amd_rocclr_fillBuffer",
    "CopyDeviceToDevice",
    "CopyHostToDevice",
    "CopyDeviceToHost",
    "hipMemcpy",
    "hipMemset",
    "Memcpy",
    "Memset",
};

// Kernels that communicate, by a part of their name in any case. All parts of a row must occur in
// this order.
static const char *const communication_parts[][2] = {
    {"nccl", ""},
    {"rccl", ""},
    {"mscclkernel", ""},
    {"cross_device_reduce", ""},
    {"multimem_", "reduce"},
    {"multimem_", "gather"},
    {"one_shot_all_reduce", ""},
    {"two_shot_all_reduce", ""},
    {"quickreduce", ""},
    {"quick_reduce", ""},
    {"nvshmem", ""},
    {"deepep", ""},
    {"deep_ep", ""},
    {"oneccl", ""},
    {"hccl", ""},
    {"allreduce_fusion", ""},
    {"allreduce_kernel", ""},
    {"all_reduce_fusion", ""},
    {"all_reduce_kernel", ""},
};

static size_t find_nocase(struct str text, struct str lower_needle)
{
    for (size_t i = 0; i + lower_needle.len <= text.len; i++)
        if (str_equal_nocase((struct str){text.at + i, lower_needle.len}, lower_needle))
            return i;
    return SIZE_MAX;
}

static bool names_memory(struct str name)
{
    for (size_t i = 0; i < sizeof memory_prefixes / sizeof *memory_prefixes; i++)
        if (str_starts_with(name, str_of(memory_prefixes[i])))
            return true;
    return false;
}

static bool names_communication(struct str name)
{
    for (size_t i = 0; i < sizeof communication_parts / sizeof *communication_parts; i++) {
        struct str first = str_of(communication_parts[i][0]);
        size_t at = find_nocase(name, first);
        if (at == SIZE_MAX)
            continue;
        struct str rest = {name.at + at + first.len, name.len - at - first.len};
        if (find_nocase(rest, str_of(communication_parts[i][1])) != SIZE_MAX)
            return true;
    }
    return false;
}

enum device_class event_device_class(enum event_kind kind, struct str name, bool has_collective)
{
    if (kind != EVENT_KERNEL || names_memory(name))
        return CLASS_MEMORY;
    return has_collective || names_communication(name) ? CLASS_COMMUNICATION : CLASS_COMPUTE;
}

const char *event_device_class_word(enum device_class c)
{
    switch (c) {
    case CLASS_COMPUTE: return "compute";
    case CLASS_COMMUNICATION: return "communication";
    case CLASS_MEMORY: return "memory";
    case DEVICE_CLASS_COUNT: break;
    }
    return "unknown";
}
