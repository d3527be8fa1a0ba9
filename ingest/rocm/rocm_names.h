// SPDX-License-Identifier: Apache-2.0
// What the outputs of rocprofv3 have in common, whatever their form.
#ifndef INGEST_ROCM_ROCM_NAMES_H
#define INGEST_ROCM_ROCM_NAMES_H

#include "ingest/sqlite/text_table.h"
#include "ingest/trace/event_record.h"

// The kind of a call by its domain: "HIP_RUNTIME_API_EXT", "HSA_CORE_API", "MARKER_CORE_API", ...
// "KFD_PAGE_MIGRATE", or "rocm_kfd_page_migrate", is of the driver in the kernel, which reports it
// on the process's first thread though that did not call it.
enum event_kind rocm_call_kind(struct str domain);

// The name of a kernel without the ending that marks a kernel's descriptor: "gemm" of "gemm.kd" and
// "gemm [clone .kd]".
struct str rocm_kernel_name(struct str name);

// Interns that name of a text by its id, as text_table_intern does.
MUST_CHECK bool rocm_kernel_intern(struct text_table *texts, struct trace_builder *builder,
                                   int64_t id, str_id *interned, struct err *err);

// Sets the times of an event, as event_record_times does. Work from 0 to 0 is some whose times
// could not be collected.
bool rocm_times(struct trace_builder *builder, struct event_record *record, int64_t start_ns,
                int64_t end_ns, uint64_t pos);

// Sets one dimension of a launch. AMD counts a grid in work items, CUDA in blocks.
void rocm_extent(struct launch_shape *shape, unsigned dimension, int64_t items, int64_t per_block);

#endif
