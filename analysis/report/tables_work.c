// SPDX-License-Identifier: Apache-2.0
// The tables of work done and of the roofline.
#include "analysis/report/table_columns.h"
#include "analysis/report/tables.h"

static const struct column columns_work[] = {
    TEXT("op", "Name of the operator."),
    TEXT("kind", "gemm, attention_forward, attention_backward, conv_forward, conv_backward, "
                 "elementwise, reduction, norm, softmax, embedding, triton, other."),
    TEXT("problem",
         "What was computed: M=.., N=.., K=.. and the like; empty where only bytes matter."),
    TEXT("dims", "Shapes of the inputs."),
    TEXT("types", "Element types of the inputs."),
    TEXT("precision", "Precision of matrix products, attention and convolutions: fp4, fp8, int8, "
                      "bf16, fp16, tf32, fp32, fp64; by the inputs, tf32 by the kernel's name."),
    I64("calls", "count", "Calls that launched device events."),
    I64("kernels", "count", "Device events of the calls."),
    I64("busy_ns", "ns", "Union of the device events of each call, summed over the calls."),
    I64("median_ns", "ns",
        "Median over the calls of the time in which device events of the call ran."),
    I64("p95_ns", "ns",
        "95th percentile, by nearest rank over the calls, of the time in which device events of "
        "the call ran."),
    I64("flops", "count",
        "Floating point operations of a call, a multiply-add being two; empty for "
        "work of which only the bytes matter."),
    I64("bytes", "bytes",
        "Bytes that a call must read and write at least, each tensor once and by "
        "its own type."),
    F64("tflops", "TFLOP/s", "Operations of all calls divided by their time; 1e12 per second."),
    F64("tbps", "TB/s", "Bytes of all calls divided by their time; 1e12 bytes per second."),
    F64("intensity", "FLOP/B", "Operations divided by bytes."),
    F64("peak_tflops", "TFLOP/s", "Dense peak of the device at this precision."),
    F64("peak_tbps", "TB/s", "Peak memory bandwidth of the device."),
    TEXT("bound", "compute when operations over peak take at least as long as bytes over "
                  "bandwidth, else memory."),
    I64("roofline_ns", "ns",
        "Operations over peak or bytes over bandwidth, whichever is longer, for all calls: nothing "
        "can be faster."),
    F64("efficiency", "share", "Roofline time divided by measured time."),
    I64("lost_ns", "ns",
        "Measured minus roofline time, at least 0: what a perfect kernel would "
        "save."),
    I64("owned_ns", "ns", "Owned time of the device events."),
    F64("busy_share", "share", "Owned time divided by the busy time of the whole trace."),
    TEXT("kernel", "Device event with most of its time."),
    TEXT("module", "Path of the module with most of its time."),
    I64("recompute_calls", "count", "Calls in recomputed forward passes."),
    TEXT("note", "Why a figure is missing, or what was assumed."),
};
const struct table_desc table_work =
    TABLE("work", work, "Operations and bytes by operator and shape, against the roofline.");

static const struct column columns_phases[] = {
    TEXT("phase",
         "prefill: prompts are read; decode: each request gets its next token; mixed: both in one "
         "pass; draft and verify: speculation; between: the rest of the window, passes that prove "
         "nothing included."),
    I64("passes", "count",
        "Passes of the model: what an annotation of the engine encloses, or one forward by the "
        "shapes of its attention."),
    I64("requests", "count",
        "Sum of the passes' requests, by shapes its sequences; empty when one does not say."),
    I64("tokens", "count",
        "Sum of the passes' tokens, by shapes sequences x queries; empty when one does not say."),
    F64("tokens_per_second", "1/s",
        "Tokens divided by the time covered, unrecorded time left out."),
    I64("median_pass_ns", "ns",
        "Median time of a pass, from the first event that it launched to the end of the last; of "
        "decode without speculation the time per output token."),
    PARTS_COLUMNS,
};
const struct table_desc table_phases =
    TABLE("phases", phases,
          "Prefill and decode of an inference, as annotations of its engine or shapes of attention "
          "tell them apart; the times sum to the window.");

static const struct column columns_metrics[] = {
    TEXT("metric", "Name of the figure."),
    F64("value", "", "Value of the figure in the unit beside it; empty when it cannot be known."),
    TEXT("unit", "Unit of the value."),
    TEXT("help", "What it means, or why it is missing."),
};
const struct table_desc table_metrics =
    TABLE("metrics", metrics, "Single figures: utilization, precision, recomputation.");
