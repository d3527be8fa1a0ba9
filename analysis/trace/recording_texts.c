// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/recording_texts.h"

const struct recording_text recording_texts[ITEM_COUNT] = {
    [ITEM_DEVICE_EVENTS] =
        {
            .item = "device_events",
            .shows = "kernels and copies: the breakdown, and everything based on it",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], also on "
                        "ROCm",
                    [RECORDER_NSYS] =
                        "nsys profile --trace=cuda,nvtx, as a user who may profile GPUs",
                    [RECORDER_ROCM] = "rocprofv3 --kernel-trace --memory-copy-trace",
                    [RECORDER_XLA] =
                        "jax.profiler.start_trace(folder) and stop_trace() around the steps",
                    [RECORDER_EXTRAE] = "Extrae with its library for CUDA or HIP, or nsys2prv; "
                                        "read the .prv with its .pcf and .row",
                },
            .cost = "540 to 830 bytes of JSON per kernel",
            .silent = "all",
        },
    [ITEM_OPERATORS] =
        {
            .item = "operators",
            .shows = "the operator of each kernel, and the host's work",
            .how =
                {
                    [RECORDER_PYTORCH] = "activities=[ProfilerActivity.CPU, ...]",
                    [RECORDER_NSYS] = "nsys profile --pytorch=autograd-nvtx, or "
                                      "torch.autograd.profiler.emit_nvtx() around the steps",
                    [RECORDER_ROCM] = NULL,
                    [RECORDER_XLA] = "recorded by default",
                },
            .cost = "host time per operator; more where operators are small",
            .silent = "unfused_attention, unfused_optimizer, gemm_below_roofline, "
                      "attention_below_roofline",
        },
    [ITEM_LAUNCHES] =
        {
            .item = "launches",
            .shows = "launch delays, queues, causes of idle time, steps by launch",
            .how =
                {
                    [RECORDER_PYTORCH] = "ProfilerActivity.CPU; use schedule(wait=.., warmup=..) "
                                         "so that earlier launches finish "
                                         "before recording starts",
                    [RECORDER_NSYS] = "nsys profile --trace=cuda records them; start with "
                                      "--capture-range=cudaProfilerApi --capture-range-end=stop "
                                      "after the warm-up",
                    [RECORDER_ROCM] = "rocprofv3 --hip-runtime-trace",
                    [RECORDER_XLA] = "recorded by default on GPUs, with host tracing; a TPU's "
                                     "profile has none",
                    [RECORDER_EXTRAE] = "nsys2prv, from a report with CUDA calls; read the .prv "
                                        "with its .pcf and .row",
                },
            .cost = "included when operators are recorded",
            .silent = "starved_data_loading, starved_sync, starved_allocator, launch_bound, "
                      "no_cuda_graphs, frequent_syncs, host_collectives, idle_devices",
        },
    [ITEM_STEPS] =
        {
            .item = "steps",
            .shows = "time per step without warm-up, distributions, comparison per step",
            .how =
                {
                    [RECORDER_PYTORCH] = "pass a schedule and call prof.step() after each "
                                         "iteration, or name your own "
                                         "annotation as step=PATTERN when uploading",
                    [RECORDER_NSYS] = "push an NVTX range of the same name around each step, and "
                                      "give its name as step=PATTERN when uploading",
                    [RECORDER_ROCM] =
                        "push a roctx range of the same name around each step, record with "
                        "--marker-trace, and give its name as step=PATTERN when uploading",
                    [RECORDER_XLA] = "jax.profiler.StepTraceAnnotation(\"train\", step_num=i) "
                                     "around each step, and step=train when uploading",
                },
            .cost = "nothing",
            .silent = "no_cuda_graphs, periodic_slow_steps, unstable_steps, memory_leak",
        },
    [ITEM_REPEATS] =
        {
            .item = "repeats",
            .shows = "a confidence interval of the step time: five steady steps at least",
            .how =
                {
                    [RECORDER_PYTORCH] = "schedule(wait=2, warmup=2, active=8, repeat=1)",
                    [RECORDER_NSYS] = "let --capture-range=cudaProfilerApi "
                                      "--capture-range-end=stop cover ten steps",
                    [RECORDER_ROCM] =
                        "rocprofv3 --selected-regions --marker-trace, and ten steps between "
                        "roctxProfilerResume and roctxProfilerPause",
                    [RECORDER_XLA] = "trace ten steps",
                },
            .cost = "file size grows with each step; a few seconds in all are enough",
            .silent = "periodic_slow_steps, unstable_steps",
        },
    [ITEM_SHAPES] =
        {
            .item = "shapes",
            .shows = "FLOPs, bytes, roofline, operators by shape, and shapes that changed",
            .how =
                {
                    [RECORDER_PYTORCH] = "record_shapes=True",
                    [RECORDER_NSYS] = "nsys profile --pytorch=autograd-shapes-nvtx, or "
                                      "emit_nvtx(record_shapes=True)",
                    [RECORDER_ROCM] = NULL,
                },
            .cost = "about 190 bytes of JSON per operator and a little host time",
            .silent = "gemm_below_roofline, attention_below_roofline, gemm_precision, bf16_unused, "
                      "slow_calls",
        },
    [ITEM_STACKS] =
        {
            .item = "stacks",
            .shows = "the Python line behind each launch and idle gap",
            .how =
                {
                    [RECORDER_PYTORCH] = "with_stack=True",
                    [RECORDER_NSYS] = NULL,
                    [RECORDER_ROCM] = NULL,
                    [RECORDER_XLA] = "jax.profiler.ProfileOptions().python_tracer_level = 1",
                },
            .cost = "about 230 bytes per Python call, up to half of the file; slows the host "
                    "down. Record it separately from timing runs",
            .silent = "starved_data_loading, recompute",
        },
    [ITEM_MODULES] =
        {
            .item = "modules",
            .shows = "time by nn.Module, split into forward and backward, and recomputation",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "with_stack=True (its frames name the modules); with_modules=True alone "
                        "works for TorchScript only",
                    [RECORDER_NSYS] = NULL,
                    [RECORDER_ROCM] = NULL,
                },
            .cost = "as stacks",
            .silent = NULL,
        },
    [ITEM_MEMORY] =
        {
            .item = "memory",
            .shows = "memory over time, the peak and its allocations, leaks",
            .how =
                {
                    [RECORDER_PYTORCH] = "profile_memory=True",
                    [RECORDER_NSYS] = "nsys profile --cuda-memory-usage=true: CUDA's allocations, "
                                      "not PyTorch's",
                    [RECORDER_ROCM] =
                        "rocprofv3 --memory-allocation-trace: HIP's allocations, not PyTorch's",
                },
            .cost = "about 280 bytes per allocation and release, and host time for each",
            .silent = "memory_leak, memory_near_capacity, memory_fragmentation, memory_headroom",
        },
    [ITEM_COLLECTIVES] =
        {
            .item = "collectives",
            .shows = "message sizes, process groups and bandwidth of communication",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "recorded by default by PyTorch 2.2 or newer with NCCL or RCCL; needs "
                        "ProfilerActivity.CPU",
                    [RECORDER_NSYS] = "--trace=cuda,nvtx, and nsys export "
                                      "--type sqlite --include-blobs=true --include-json=true",
                    [RECORDER_ROCM] = NULL,
                },
            .cost = "nothing",
            .silent = "small_messages, slow_link",
        },
    [ITEM_LAUNCH_SHAPES] =
        {
            .item = "launch_shapes",
            .shows = "grid and block of kernels",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "recorded by default with ProfilerActivity.CUDA on CUDA and on recent ROCm",
                    [RECORDER_NSYS] = "recorded by default",
                    [RECORDER_ROCM] = "recorded by default",
                },
            .cost = "nothing",
            .silent = NULL,
        },
    [ITEM_OCCUPANCY] =
        {
            .item = "occupancy",
            .shows = "estimated occupancy of kernels",
            .how =
                {
                    [RECORDER_PYTORCH] = "recorded by default on CUDA; not available on ROCm",
                    [RECORDER_NSYS] = NULL,
                    [RECORDER_ROCM] = NULL,
                },
            .cost = "nothing",
            .silent = NULL,
        },
    [ITEM_SYNC_EVENTS] =
        {
            .item = "sync_events",
            .shows = "the stream or event that a stream or the host waited for",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "experimental_config=torch._C._profiler._ExperimentalConfig("
                        "enable_cuda_sync_events=True), CUDA only",
                    [RECORDER_NSYS] = "recorded by default with --trace=cuda",
                    [RECORDER_ROCM] = NULL,
                },
            .cost = "one event per synchronization",
            .silent = "unexplained_idle",
        },
    [ITEM_DISTRIBUTED] =
        {
            .item = "distributed",
            .shows = "the rank of the trace, the world size and the process groups",
            .how =
                {
                    [RECORDER_PYTORCH] =
                        "call torch.distributed.init_process_group before the profiler starts",
                    [RECORDER_NSYS] = "--trace=mpi under MPI; otherwise name the files by rank, "
                                      "such as rank3.sqlite, or give rank=N when uploading",
                    [RECORDER_ROCM] =
                        "name the files by rank, such as rank3.db, or give rank=N when uploading",
                },
            .cost = "nothing",
            .silent = "missing_ranks",
        },
    [ITEM_DEVICE] =
        {
            .item = "device",
            .shows = "peak rates for roofline and utilization, and the GPU's name in comparisons",
            .how =
                {
                    [RECORDER_PYTORCH] = "recorded by default with ProfilerActivity.CUDA",
                    [RECORDER_NSYS] = "recorded by default",
                    [RECORDER_ROCM] = "recorded by default",
                },
            .cost = "nothing",
            .silent = "gemm_below_roofline, attention_below_roofline, bf16_unused, "
                      "memory_near_capacity",
        },
};
