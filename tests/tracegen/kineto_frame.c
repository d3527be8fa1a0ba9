// SPDX-License-Identifier: Apache-2.0
// Everything around the events: device properties, versions, names of processes and threads.
#include "tests/tracegen/kineto_text.h"

#include <stdarg.h>
#include <stdio.h>

enum { DEVICES_SHOWN = 8, GPU_SORT_INDEX = 5000000 };

#define BASE_TIME_NS "1767189312000000000"

static void say(struct kineto *kineto, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct kineto *kineto, const char *format, ...)
{
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(p, KINETO_EVENT_BYTES, format, arguments);
    va_end(arguments);
    if (n < 0 || n >= KINETO_EVENT_BYTES)
        outfile_die("found %d bytes of text, expected fewer than %d", n, KINETO_EVENT_BYTES);
    outfile_commit(kineto->out, p + n);
}

static void say_device(struct kineto *kineto, int id, const char *end)
{
    const struct vendor *vendor = kineto->machine->vendor;
    say(kineto,
        "    {\n      \"id\": %d, \"name\": \"%s\", \"totalGlobalMem\": %llu,\n"
        "      \"computeMajor\": 9, \"computeMinor\": %d,\n"
        "      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n"
        "      \"regsPerBlock\": 65536, \"warpSize\": %u,\n"
        "      \"sharedMemPerBlock\": %d, \"numSms\": %u\n    , %s\n    }%s\n",
        id, vendor->device_name, (unsigned long long)vendor->memory_bytes,
        vendor->warp_size == 64 ? 4 : 0, vendor->warp_size, vendor->warp_size == 64 ? 65536 : 49152,
        vendor->sms, vendor->device_properties, end);
}

static void say_world(struct kineto *kineto)
{
    int32_t world = kineto->machine->arguments->world;
    say(kineto,
        "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, "
        "\"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
        "\"backend_config\": \"cuda:nccl\", \"pg_size\": %d, \"ranks\": [",
        kineto->rank->index, world, world);
    for (int32_t i = 0; i < world; i++)
        say(kineto, i ? ", %d" : "%d", i);
    say(kineto, "]}], \"nccl_version\": \"2.22.3\"},\n");
}

void kineto_head(struct kineto *kineto)
{
    const struct arguments *arguments = kineto->machine->arguments;
    say(kineto, "{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n");
    for (int i = 0; i < DEVICES_SHOWN; i++)
        say_device(kineto, i, i + 1 < DEVICES_SHOWN ? "," : "");
    say(kineto, "  ],\n  %s,\n", kineto->machine->vendor->versions);
    say_world(kineto);
    say(kineto, "  \"record_shapes\": 1,\n");
    if (arguments->stacks)
        say(kineto, "  \"with_stack\": 1,\n");
    if (arguments->memory)
        say(kineto, "  \"profile_memory\": 1,\n");
    say(kineto,
        "  \"trace_id\": \"E2DD41CB5FBC4E7C9464E0B56B%06X\",\n  \"displayTimeUnit\": \"ms\",\n"
        "  \"baseTimeNanoseconds\": " BASE_TIME_NS ",\n  \"traceEvents\": [\n",
        (unsigned)(arguments->seed & 0xffffff));
}

// A metadata row; its time has no meaning.
static void say_meta(struct kineto *kineto, const char *kind, int pid, int tid, const char *args)
{
    const struct layout *layout = kineto->layout;
    say(kineto,
        "%s\"name\": \"%s\", \"ph\": \"M\", \"ts\": %lld.000, \"pid\": %d, \"tid\": %d,%s%s%s%s",
        layout->open, kind, (long long)(MACHINE_START_NS / 1000), pid, tid, layout->args, args,
        layout->args_end, layout->close);
}

static void say_process(struct kineto *kineto, int pid, const char *label, int sort_index)
{
    char args[128];
    snprintf(args, sizeof args, "\"name\": \"%s\"", kineto->machine->vendor->process);
    say_meta(kineto, "process_name", pid, 0, args);
    snprintf(args, sizeof args, "\"labels\": \"%s\"", label);
    say_meta(kineto, "process_labels", pid, 0, args);
    snprintf(args, sizeof args, "\"sort_index\": %d", sort_index);
    say_meta(kineto, "process_sort_index", pid, 0, args);
}

static void say_thread(struct kineto *kineto, int pid, int tid, const char *name)
{
    char args[128];
    snprintf(args, sizeof args, "\"name\": \"%s\"", name);
    say_meta(kineto, "thread_name", pid, tid, args);
    snprintf(args, sizeof args, "\"sort_index\": %d", tid);
    say_meta(kineto, "thread_sort_index", pid, tid, args);
}

static void say_names(struct kineto *kineto)
{
    const struct vendor *vendor = kineto->machine->vendor;
    const int streams[] = {vendor->compute_stream, vendor->comm_stream, vendor->side_stream};
    int stream_count = kineto->machine->arguments->job == JOB_PROBE ? 3 : 2;
    const int threads[] = {kineto->pid, kineto->pid + KINETO_AUTOGRAD_TID};
    char name[64];
    say_process(kineto, kineto->pid, "CPU", kineto->pid);
    for (int i = 0; i < DEVICES_SHOWN + vendor->first_device; i++) {
        snprintf(name, sizeof name, "GPU %d", i);
        say_process(kineto, i, name, GPU_SORT_INDEX + i);
    }
    for (int i = 0; i < stream_count; i++) {
        snprintf(name, sizeof name, "stream %d ", streams[i]);
        say_thread(kineto, kineto->device, streams[i], name);
    }
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "thread %d (%s)", threads[i],
                 i ? "pt_autograd_0" : vendor->process);
        say_thread(kineto, kineto->pid, threads[i], name);
    }
}

void kineto_tail(struct kineto *kineto)
{
    const struct layout *layout = kineto->layout;
    int64_t begin_ns = MACHINE_START_NS - 100000;
    int64_t end_ns = kineto->rank->now_ns + kineto->rank->clock_ns + 20000;
    say_names(kineto);
    say(kineto,
        "%s\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": %lld.000, \"dur\": %lld.%03lld,%s\"pid\": "
        "\"Spans\", \"tid\": \"PyTorch Profiler\",%s\"name\": \"PyTorch Profiler (0)\",%s\"Op "
        "count\": 0%s%s",
        layout->open, (long long)(begin_ns / 1000), (long long)((end_ns - begin_ns) / 1000),
        (long long)((end_ns - begin_ns) % 1000), layout->line, layout->line, layout->args,
        layout->args_end, layout->close);
    say(kineto,
        "%s\"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",%s\"pid\": "
        "\"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": %lld.000%s",
        layout->open, layout->line, (long long)(begin_ns / 1000), layout->close);
    say(kineto,
        "%s\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",%s\"pid\": \"\", \"tid\": "
        "\"\", \"ts\": %lld.%03lld%s\n  ],\n  \"traceName\": "
        "\"./traces/rank%d.json\"\n}\n",
        layout->open, layout->line, (long long)(end_ns / 1000), (long long)(end_ns % 1000),
        kineto->machine->arguments->one_line ? "}" : "\n  }", kineto->rank->index);
}
