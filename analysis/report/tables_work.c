// SPDX-License-Identifier: Apache-2.0
// The tables of work done and of the roofline.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_work[] = {
    TEXT("op", "Name of the operator."),
    TEXT("kind", "gemm, attention_forward, attention_backward, conv_forward, conv_backward, "
                 "elementwise, reduction, norm, softmax, embedding, triton, other."),
    TEXT("problem", "Problem size, such as M=.., N=.., K=..; empty when only bytes matter."),
    TEXT("dims", "Shapes of the inputs."),
    TEXT("types", "Element types of the inputs."),
    TEXT("precision",
         "Precision of matrix products, attention and convolutions: fp4, fp8, int8, bf16, fp16, "
         "tf32, fp32, fp64; from the inputs; tf32 from the kernel's name."),
    I64("calls", "count", "Calls that launched device events."),
    I64("kernels", "count", "Device events of the calls."),
    I64("busy_ns", "ns", "Union of the device events of each call, summed over the calls."),
    I64("median_ns", "ns", "Median device time of a call."),
    I64("p95_ns", "ns", "95th percentile of the device time of a call, by nearest rank."),
    I64("flops", "count",
        "Floating point operations per call, a multiply-add counting as two; empty when only bytes "
        "matter."),
    I64("bytes", "bytes",
        "Minimum of bytes a call reads and writes: each tensor once, in its element type."),
    F64("tflops", "TFLOP/s", "Operations of all calls divided by their time; 1e12 per second."),
    F64("tbps", "TB/s", "Bytes of all calls divided by their time; 1e12 bytes per second."),
    F64("intensity", "FLOP/B", "Operations divided by bytes."),
    F64("peak_tflops", "TFLOP/s", "Dense peak of the device at this precision."),
    F64("peak_tbps", "TB/s", "Peak memory bandwidth of the device."),
    TEXT("bound", "compute when operations at peak take at least as long as bytes at peak "
                  "bandwidth, else memory."),
    I64("roofline_ns", "ns",
        "Shortest possible time of all calls: operations at peak or bytes at peak bandwidth, "
        "whichever takes longer."),
    F64("efficiency", "share", "Roofline time divided by measured time."),
    I64("lost_ns", "ns",
        "Measured minus roofline time, at least 0: what a perfect kernel would "
        "save."),
    I64("owned_ns", "ns", "Owned time of the device events."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    TEXT("kernel", "Device event with the most of its time."),
    TEXT("module", "Path of the module with the most of its time."),
    I64("recompute_calls", "count", "Calls in recomputed forward passes."),
    TEXT("note", "Why a figure is missing, or what was assumed."),
};
const struct table_desc table_work =
    TABLE("work", work, "Operations and bytes by operator and shape, against the roofline.");

static const struct column columns_phases[] = {
    TEXT("phase", "prefill: prompts are processed; decode: each request gets its next token; "
                  "mixed: both in one pass; draft and verify: speculative decoding; between: the "
                  "rest of the window, including passes that fit no phase."),
    I64("passes", "count",
        "Passes of the model, by the engine's annotations or else by the shapes of attention."),
    I64("requests", "count",
        "Requests of all passes (sequences, when inferred from shapes); empty when unknown for any "
        "pass."),
    I64("tokens", "count",
        "Tokens of all passes (sequences x queries, when inferred from shapes); empty when unknown "
        "for any pass."),
    F64("tokens_per_second", "1/s",
        "Tokens divided by the time covered, unrecorded time excluded."),
    I64("median_pass_ns", "ns",
        "Median time of a pass, from the start of its first device event to the end of the last: "
        "for decode without speculation, the time per output token."),
    PARTS_COLUMNS,
};
const struct table_desc table_phases =
    TABLE("phases", phases,
          "Prefill and decode of inference, identified by the engine's annotations or by the "
          "shapes of attention; the times sum to the window.");

static const struct column columns_metrics[] = {
    TEXT("metric", "Name of the figure."),
    F64("value", "", "Value in the unit of its row; empty when unknown."),
    TEXT("unit", "Unit of the value."),
    TEXT("help", "What it means, or why it is missing."),
};
const struct table_desc table_metrics =
    TABLE("metrics", metrics, "Single figures: utilization, precision, recomputation.");
