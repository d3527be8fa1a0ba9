// SPDX-License-Identifier: Apache-2.0
// The device that all of a trace's work but copies ran on. Others may have copies: a process copies
// to a GPU on which it runs nothing, and PyTorch on ROCm (rocprofiler-sdk) writes copies to the
// host under the number of a CPU.
#ifndef ANALYSIS_ONLY_DEVICE_H
#define ANALYSIS_ONLY_DEVICE_H

#include "ingest/trace/trace.h"

// One of its streams; NULL if no device has other work than copies, or several have.
const struct track *only_device(const struct trace *trace);

#endif
