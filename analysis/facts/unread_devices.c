// SPDX-License-Identifier: Apache-2.0
// Producers are known by the names they give to processes and threads.
#include "analysis/facts/unread_devices.h"

// Prefixes; NULL: any.
static const struct producer {
    const char *process, *thread, *thread_name;
    struct unread_devices says;
} producers[] = {
    {NULL,
     NULL,
     "Stream #",
     {"the trace has no device events: it is trace.json of JAX or TensorFlow, whose rows of "
      "devices "
      "are not read; upload the .xplane.pb beside it",
      "Upload the .xplane.pb that lies beside trace.json: it holds the same recording with more "
      "about each kernel."}},
    {NULL,
     NULL,
     "Computing",
     {"the trace has no device events: it is trace_view.json of torch_npu, whose rows of Ascend "
      "devices are not read",
      "The rows of Ascend devices are not read; only the host's operators and steps are."}},
    {"CUDA functions",
     NULL,
     NULL,
     {"the trace has no device events: it is of torch.autograd.profiler before Kineto, which has "
      "times of operators on the device, one within the other, and no kernels",
      "Record with torch.profiler of PyTorch 1.8.1 or later, which records kernels."}},
    {"Device ",
     "Stream ",
     NULL,
     {"the trace has no device events: it is converted from Nsight Systems, and its rows of "
      "devices "
      "are not read; upload the .sqlite that it was made from",
      "Upload the .sqlite that the file was made from: nsys export --type sqlite."}},
};

static const struct unread_devices of_others = {
    "the trace has no device events, and none that PyTorch's profiler writes: it is of another "
    "program",
    "Upload a trace with device events; the recording table says how PyTorch's profiler records "
    "them. Of traces of other programs only the rows of the host are shown."};

static const struct unread_devices of_paraver = {
    "the trace has no device events: in a Paraver trace the .row says which rows are of devices, "
    "and the .pcf which of their events are work",
    "If it is of a job on GPUs, read the .prv together with its .pcf and .row: of the same name in "
    "the same folder, or in one request. nsys2prv writes the rows of devices, and so does Extrae "
    "with its library for CUDA or HIP."};

static bool begins_with(struct str text, const char *prefix)
{
    return !prefix || str_starts_with(text, str_of(prefix));
}

static bool is_of(const struct trace *trace, const struct track *track,
                  const struct producer *producer)
{
    return begins_with(trace_text(trace, track->pid.text), producer->process) &&
           begins_with(trace_text(trace, track->tid.text), producer->thread) &&
           begins_with(trace_text(trace, track->name), producer->thread_name);
}

// Whether it is Chrome's JSON in which no event has a category of PyTorch's profiler.
static bool is_of_others(const struct trace *trace)
{
    for (uint32_t e = 0; e < trace->event_count; e++)
        if (trace->kind[e] != EVENT_OTHER)
            return false;
    return trace->event_count && trace->job.recorder == RECORDER_PYTORCH;
}

const struct unread_devices *unread_devices_of(const struct trace *trace)
{
    for (uint32_t t = 0; t < trace->track_count; t++)
        for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
            if (is_of(trace, &trace->tracks[t], &producers[i]))
                return &producers[i].says;
    if (trace->job.recorder == RECORDER_EXTRAE)
        return &of_paraver;
    return is_of_others(trace) ? &of_others : NULL;
}
