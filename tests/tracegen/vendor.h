// SPDX-License-Identifier: Apache-2.0
// What differs between the two vendors' traces: kernels, runtime calls, device properties, speeds.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum vendor_flavour { VENDOR_CUDA, VENDOR_ROCM };

// The categories that --slow can name.
enum category {
    CATEGORY_GEMM,
    CATEGORY_ATTENTION,
    CATEGORY_NORM,
    CATEGORY_ELEMENTWISE,
    CATEGORY_REDUCTION,
    CATEGORY_EMBEDDING,
    CATEGORY_OPTIMIZER,
    CATEGORY_COMM,
    CATEGORY_COPY,
    CATEGORY_COUNT
};

// What a kernel does; each vendor has one kernel per role.
enum role {
    ROLE_GEMM_FORWARD,
    ROLE_GEMM_DGRAD,
    ROLE_GEMM_WGRAD,
    ROLE_ATTENTION_FORWARD,
    ROLE_ATTENTION_PREPARE,
    ROLE_ATTENTION_BACKWARD,
    ROLE_NORM_FORWARD,
    ROLE_NORM_BACKWARD_INPUT,
    ROLE_NORM_BACKWARD_WEIGHT,
    ROLE_GELU,
    ROLE_GELU_BACKWARD,
    ROLE_ADD,
    ROLE_CAST,
    ROLE_SUM,
    ROLE_EMBEDDING,
    ROLE_EMBEDDING_BACKWARD,
    ROLE_LOG_SOFTMAX,
    ROLE_LOG_SOFTMAX_BACKWARD,
    ROLE_NLL,
    ROLE_NLL_BACKWARD,
    ROLE_FILL,
    ROLE_ADAM,
    ROLE_TINY_MUL,
    ROLE_TINY_ADD,
    ROLE_TINY_SQRT,
    ROLE_ALL_REDUCE,
    ROLE_ALL_GATHER,
    ROLE_REDUCE_SCATTER,
    ROLE_ALL_TO_ALL,
    ROLE_CUSTOM_ALL_REDUCE,
    ROLE_COUNT
};

// A call into the runtime or driver; the id is cbid (CUDA) or cid (ROCm).
struct vendor_api {
    const char *name;
    uint32_t id;
    bool is_driver;
    bool grid_in_items; // the recorded grid counts work-items instead of blocks
    const char *sync;   // CUPTI's name for this kind of wait, NULL for none
};

struct kernel {
    const char *name;
    enum category category;
    const struct vendor_api *launch;
    uint32_t registers, shared_bytes;
    uint32_t block[2];
    uint32_t tile; // elements (for matrix kernels: rows and columns) per block
};

struct vendor {
    const char *device_name, *device_properties, *versions, *process;
    uint64_t memory_bytes;
    uint32_t sms, warp_size;
    int64_t gemm_flop_per_ns, attention_flop_per_ns, bytes_per_ns, copy_bytes_per_ns;
    int64_t bus_bytes_per_ns, collective_latency_ns;
    int32_t first_device, compute_stream, comm_stream, side_stream;
    const struct kernel *kernels; // one per role
    const struct vendor_api *copy, *blocking_copy, *set, *event_record, *stream_wait;
    const struct vendor_api *event_sync, *stream_sync, *device_sync, *graph, *malloc;
    const struct vendor_api *value_wait, *module_load;
    bool blocking_copy_needs_sync; // a blocking copy is an async copy plus a stream synchronize
};

const struct vendor *vendor_get(enum vendor_flavour flavour);

// The word --slow uses for a category.
const char *vendor_category_name(enum category category);
