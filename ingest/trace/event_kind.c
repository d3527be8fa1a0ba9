// SPDX-License-Identifier: Apache-2.0
// The tables of categories and kernel names that decide an event's kind and class.
#include "ingest/trace/event_kind.h"

#include "ingest/base/name_index.h"

struct category {
    const char *name; // lower case
    enum event_kind kind;
};

static const struct category categories[] = {
    {"kernel", EVENT_KERNEL},
    {"cpu_op", EVENT_CPU_OP},
    {"python_function", EVENT_PYTHON},
    {"gpu_memcpy", EVENT_MEMCPY},
    {"gpu_memset", EVENT_MEMSET},
    {"user_annotation", EVENT_ANNOTATION},
    {"gpu_user_annotation", EVENT_GPU_ANNOTATION},
    {"cuda_sync", EVENT_SYNC},
    {"cuda_event", EVENT_CUDA_EVENT},
    {"overhead", EVENT_OVERHEAD},
    {"cpu_instant_event", EVENT_ALLOCATION},
    // The spelling of 2021.
    {"operator", EVENT_CPU_OP},
    {"runtime", EVENT_RUNTIME},
    {"memcpy", EVENT_MEMCPY},
    {"memset", EVENT_MEMSET},
};

static bool ends_nocase(struct str category, struct str end)
{
    return category.len >= end.len &&
           str_equal_nocase((struct str){category.at + category.len - end.len, end.len}, end);
}

// Calls are named after the platform: cuda_runtime (HIP too), xpu_runtime, privateuse1_driver, ...
static enum event_kind call_of(struct str category)
{
    if (ends_nocase(category, STR("_runtime")))
        return EVENT_RUNTIME;
    return ends_nocase(category, STR("_driver")) ? EVENT_DRIVER : EVENT_OTHER;
}

enum event_kind event_kind_of_category(struct str category)
{
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        if (str_equal_nocase(category, str_of(categories[i].name)))
            return categories[i].kind;
    return call_of(category);
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
    case EVENT_MEMSET:
    case EVENT_GRAPH: return TRACK_DEVICE;
    case EVENT_GPU_ANNOTATION:
    case EVENT_SYNC:
    case EVENT_CUDA_EVENT: return TRACK_DEVICE_NOTE;
    case EVENT_OTHER:
    case EVENT_OS_CALL:
    case EVENT_OVERHEAD:
    case EVENT_KIND_COUNT: return TRACK_OTHER;
    }
    return TRACK_OTHER;
}

// Kernels that move memory, by the start of their name; case matters.
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

// Kernels that communicate, by part of their name in any case; `then`, if given, must follow it.
// The first rows are common to all tools. The others match transports that bring their own kernels
// and do not apply to compiler-generated kernels, whose names list the operators they were fused
// from.
static const struct communication_rule {
    const char *text, *then;
    bool not_fused;
} communication_rules[] = {
    {"nccl", NULL, false},
    {"rccl", NULL, false},
    {"mscclkernel", NULL, false},
    {"cross_device_reduce", NULL, false}, // vLLM, SGLang, aiter
    {"multimem_", "reduce", false},       // symmetric memory in PyTorch
    {"multimem_", "gather", false},
    {"one_shot_all_reduce", NULL, false},
    {"two_shot_all_reduce", NULL, false},
    {"quickreduce", NULL, false},
    {"quick_reduce", NULL, false},
    {"nvshmem", NULL, false},
    {"_on_stream_kernel", NULL, true}, // NVSHMEM, called by the host: barrier, sync_all, ...
    {"deepep", NULL, false},
    {"deep_ep", NULL, false},
    {"internode", NULL, true}, // DeepEP's kernels in other namespaces, as the next two
    {"intranode", NULL, true},
    {"get_dispatch_layout", NULL, true},
    {"hybrid_ep", NULL, true}, // DeepEP
    {"flashinfer::comm::", NULL, true},
    {"oneccl", NULL, false},
    {"hccl", NULL, false},
    {"allreduce_fusion", NULL, false},
    {"allreduce_kernel", NULL, false},
    {"all_reduce_fusion", NULL, false},
    {"all_reduce_kernel", NULL, false},
    {"mscclpp", NULL, true},
    {"symmetric_memory", NULL, true},
    {"symm_mem", NULL, true},
    {"exchangesplitandoffset", NULL, true}, // all_to_all_vdev
    {"shotallreduce", NULL, true},          // oneShotAllReduceKernel in TensorRT-LLM, FlashInfer
    {"shot_allreduce", NULL, true},
    {"allreduce", "shot", true},
    {"all_reduce", "shot", true}, // all_reduce_one_shot_push_kernel in SGLang
    {"allreduce_rmsnorm", NULL, true},
    {"customallreduce", NULL, true},
    {"lamport", NULL, true},
    {"userbuffers", NULL, true}, // Transformer Engine
    {"reduce_scatter", NULL, true},
    {"reducescatter", NULL, true},
    {"all_gather", NULL, true},
    {"allgather", NULL, true},
    {"all_to_all", NULL, true},
    {"alltoall", NULL, true},
    {"all2all", NULL, true},
    {"a2a_dispatch", NULL, true}, // pplx
    {"a2a_combine", NULL, true},
    {"moea2adispatch", NULL, true}, // TensorRT-LLM
    {"moea2acombine", NULL, true},
    {"epdispatch", NULL, true}, // MORI
    {"epcombine", NULL, true},
    {"uccl::", NULL, true},
    {"4uccl", NULL, true}, // same, mangled
    {"low_latency", "dispatch", true},
    {"low_latency", "combine", true},
};

#define COMMUNICATION_RULES (sizeof communication_rules / sizeof *communication_rules)
#define WINDOW_OVERLAP      32 // no text in the table is longer

static bool names_memory(struct str name)
{
    for (size_t i = 0; i < sizeof memory_prefixes / sizeof *memory_prefixes; i++)
        if (str_starts_with(name, str_of(memory_prefixes[i])))
            return true;
    return false;
}

// Looks through the part of a name that starts at byte `begin`. found[rule] is the end of the first
// `text` found so far, 0 if none.
static bool window_communicates(const struct name_index *window, size_t begin, bool fused,
                                size_t *found)
{
    for (size_t i = 0; i < COMMUNICATION_RULES; i++) {
        const struct communication_rule *rule = &communication_rules[i];
        if (fused && rule->not_fused)
            continue;
        struct str text = str_of(rule->text);
        if (!found[i]) {
            size_t at = name_index_find(window, text, 0);
            found[i] = at == SIZE_MAX ? 0 : begin + at + text.len;
        }
        size_t behind = found[i] > begin ? found[i] - begin : 0;
        if (found[i] &&
            (!rule->then || name_index_find(window, str_of(rule->then), behind) != SIZE_MAX))
            return true;
    }
    return false;
}

// SGLang's permutations for DeepEP, each on one device.
static bool names_permutation(struct str name)
{
    return str_starts_with(name, STR("deepep_")) &&
           str_contains_nocase(name, STR("_triton_kernel"));
}

// Flux's products, which also scatter or gather: their arguments say ReduceScatterMeta.
static bool names_product(struct str name)
{
    return str_find(name, STR("FluxGemmKernel")) != SIZE_MAX;
}

// In pieces, so that names of any length are searched to their end.
static bool names_communication(struct str name)
{
    struct name_index window;
    size_t found[COMMUNICATION_RULES] = {0};
    bool fused = str_starts_with(name, STR("triton_"));
    if (names_permutation(name) || names_product(name))
        return false;
    for (size_t begin = 0; begin < name.len; begin += NAME_INDEX_MAX - WINDOW_OVERLAP) {
        name_index_make(&window, (struct str){name.at + begin, name.len - begin});
        if (window_communicates(&window, begin, fused, found))
            return true;
    }
    return false;
}

bool event_is_copy(enum event_kind kind, struct str name)
{
    return kind != EVENT_GRAPH && (kind != EVENT_KERNEL || names_memory(name));
}

enum device_class event_device_class(enum event_kind kind, struct str name, bool has_collective)
{
    if (kind == EVENT_GRAPH)
        return CLASS_COMPUTE;
    if (event_is_copy(kind, name))
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

const char *event_kind_word(enum event_kind kind)
{
    static const char *const kinds[EVENT_KIND_COUNT] = {
        [EVENT_OTHER] = "other_event",
        [EVENT_CPU_OP] = "cpu_op",
        [EVENT_ANNOTATION] = "annotation",
        [EVENT_PYTHON] = "python",
        [EVENT_RUNTIME] = "runtime",
        [EVENT_DRIVER] = "driver",
        [EVENT_KERNEL] = "kernel",
        [EVENT_MEMCPY] = "memcpy",
        [EVENT_MEMSET] = "memset",
        [EVENT_GPU_ANNOTATION] = "gpu_annotation",
        [EVENT_SYNC] = "sync",
        [EVENT_CUDA_EVENT] = "cuda_event",
        [EVENT_OVERHEAD] = "overhead",
        [EVENT_ALLOCATION] = "allocation",
        [EVENT_GRAPH] = "graph",
        [EVENT_OS_CALL] = "os_call",
    };
    return kinds[kind];
}
