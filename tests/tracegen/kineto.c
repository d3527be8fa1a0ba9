// SPDX-License-Identifier: Apache-2.0
// Operators, annotations, Python functions, runtime calls and device work as JSON.
#include "tests/tracegen/kineto_text.h"

#include "tests/tracegen/put.h"

#include <stdlib.h>

enum { FIRST_PID = 542, PID_STRIDE = 1000, WARPS_PER_MULTIPROCESSOR = 64 };

static const struct layout pretty = {"  {\n    ", "\n    ", "\n    \"args\": {\n      ", "\n    }",
                                     "\n  },\n"};
static const struct layout one_line = {"{", " ", " \"args\": {", "}", "},\n"};

const struct layout *kineto_layout(const struct arguments *arguments)
{
    return arguments->one_line ? &one_line : &pretty;
}

static char *put_member(char *p, const char *key, uint64_t value)
{
    return put_u64(put_text(p, key), value);
}

static char *put_string(char *p, const char *key, const char *value)
{
    p = put_text(put_text(p, key), value);
    *p++ = '"';
    return p;
}

static int32_t thread_id(const struct kineto *kineto, enum host_thread thread)
{
    return kineto->pid + (thread == THREAD_AUTOGRAD ? KINETO_AUTOGRAD_TID : 0);
}

static int32_t stream_id(const struct kineto *kineto, const struct instruction *work)
{
    const struct vendor *vendor = kineto->machine->vendor;
    const int32_t streams[STREAM_COUNT] = {
        [STREAM_COMPUTE] = vendor->compute_stream,
        [STREAM_COMM] = vendor->comm_stream,
        [STREAM_SIDE] = vendor->side_stream,
    };
    return streams[work->stream];
}

// Where and when an event is.
struct place {
    int32_t pid, tid;
    int64_t begin_ns, end_ns;
};

// A complete event up to the start of its args; the name is taken as it is.
static char *put_event(const struct kineto *kineto, char *p, const char *cat, const char *name,
                       const struct place *place)
{
    p = put_text(put_text(p, kineto->layout->open), "\"ph\": \"X\", \"cat\": \"");
    p = put_text(put_text(put_text(p, cat), "\", \"name\": \""), name);
    p = put_i64(put_text(p, "\", \"pid\": "), place->pid);
    p = put_i64(put_text(p, ", \"tid\": "), place->tid);
    *p++ = ',';
    p = put_text(put_text(p, kineto->layout->line), "\"ts\": ");
    p = put_us(p, place->begin_ns + kineto->rank->clock_ns);
    p = put_us(put_text(p, ", \"dur\": "), place->end_ns - place->begin_ns);
    *p++ = ',';
    return put_text(p, kineto->layout->args);
}

static char *put_close(const struct kineto *kineto, char *p)
{
    return put_text(put_text(p, kineto->layout->args_end), kineto->layout->close);
}

// One end of an arrow; `ends`: its head.
static char *put_flow(const struct kineto *kineto, char *p, const char *cat, uint64_t id,
                      const struct place *place)
{
    bool ends = place->end_ns < 0;
    p = put_text(p, kineto->layout->open);
    p = put_member(p, ends ? "\"ph\": \"f\", \"id\": " : "\"ph\": \"s\", \"id\": ", id);
    p = put_member(p, ", \"pid\": ", (uint64_t)place->pid);
    p = put_member(p, ", \"tid\": ", (uint64_t)place->tid);
    p = put_us(put_text(p, ", \"ts\": "), place->begin_ns + kineto->rank->clock_ns);
    p = put_text(put_text(p, ","), kineto->layout->line);
    p = put_string(put_string(p, "\"cat\": \"", cat), ", \"name\": \"", cat);
    p = put_text(p, ends ? ", \"bp\": \"e\"" : "");
    return put_text(p, kineto->layout->close);
}

// --- host ---------------------------------------------------------------------------------------

static char *put_call_numbers(const struct kineto *kineto, char *p, const struct collective *what,
                              uint32_t number)
{
    p = put_text(put_text(p, ", "), what->args);
    p = put_member(p, ", \"Seq\": ", number);
    p = put_member(p, ", \"Rank\": ", (uint64_t)kineto->rank->index);
    p = put_member(p, ", \"Global rank start\": ", (uint64_t)what->group->start);
    return put_member(p, ", \"Global rank stride\": ", (uint64_t)what->group->stride);
}

static char *put_op_args(struct kineto *kineto, char *p, const struct host_row *row)
{
    const struct instruction *begin = row->begin;
    p = put_member(p, "\"External id\": ", row->external_id);
    p = put_text(p, ", \"Record function id\": 0");
    if (begin->sequence >= 0) {
        uint64_t number = (uint64_t)(kineto->rank->sequence_base + begin->sequence);
        p = put_member(p, ", \"Sequence number\": ", number);
        p = put_text(p, begin->backward ? ", \"Fwd thread id\": 1" : ", \"Fwd thread id\": 0");
    }
    if (begin->kind == ROW_COLLECTIVE_OP)
        p = put_call_numbers(kineto, p, begin->collective, row->call_number);
    if (begin->args)
        p = put_text(put_text(p, ", "), begin->args);
    return put_member(p, ", \"Ev Idx\": ", kineto->event_index++);
}

static char *put_python_args(struct kineto *kineto, char *p, const struct host_row *row)
{
    if (row->parent_id)
        p = put_member(p, "\"Python parent id\": ", row->parent_id);
    else
        p = put_text(p, "\"Python parent id\": null");
    p = put_member(p, ", \"Python id\": ", row->external_id);
    if (row->begin->module >= 0)
        p = put_member(p, ", \"Python module id\": ", (uint64_t)row->begin->module);
    return put_member(p, ", \"Ev Idx\": ", kineto->event_index++);
}

static void write_host_row(struct kineto *kineto, const struct host_row *row)
{
    static const char *const cats[] = {
        [ROW_OP] = "cpu_op",
        [ROW_COLLECTIVE_OP] = "cpu_op",
        [ROW_ANNOTATION] = "user_annotation",
        [ROW_STEP] = "user_annotation",
        [ROW_PYTHON] = "python_function",
        [ROW_OVERHEAD] = "overhead",
    };
    const struct instruction *begin = row->begin;
    char step[64];
    const char *name = begin->name;
    if (begin->kind == ROW_STEP) {
        *put_i64(put_text(step, name), kineto->machine->step - 1) = '\0';
        name = step;
    }
    struct place place = {kineto->pid, thread_id(kineto, row->thread), row->begin_ns, row->end_ns};
    if (begin->kind == ROW_OVERHEAD)
        place.pid = -1, place.tid = 0;
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    p = put_event(kineto, p, cats[begin->kind], name, &place);
    if (begin->kind == ROW_PYTHON)
        p = put_python_args(kineto, p, row);
    else if (begin->kind != ROW_OVERHEAD)
        p = put_op_args(kineto, p, row);
    p = put_close(kineto, p);
    if (begin->links) {
        place.end_ns = begin->backward ? -1 : row->end_ns;
        p = put_flow(kineto, p, "fwdbwd", (uint64_t)(kineto->rank->sequence_base + begin->sequence),
                     &place);
    }
    outfile_commit(kineto->out, p);
}

// --- runtime calls ------------------------------------------------------------------------------

static char *put_triple(char *p, const char *key, const uint32_t *values, uint32_t third)
{
    p = put_member(p, key, values[0]);
    p = put_member(put_member(p, ", ", values[1]), ", ", third);
    *p++ = ']';
    return p;
}

static char *put_hip_args(char *p, const struct instruction *work)
{
    switch (work->code) {
    case CODE_LAUNCH:
    case CODE_UNLINKED:
    case CODE_COLLECTIVE:
        p = put_triple(p, ", \"grid\": [", work->grid, work->grid[2]);
        p = put_triple(p, ", \"block\": [", work->kernel->block, 1);
        return put_text(p, ", \"shared memory\": 0");
    case CODE_COPY:
        p = put_text(p, ", \"src\": \"0x7f0e4a7e8000\", \"dst\": \"0x7f0e79800400\"");
        p = put_member(p, ", \"bytes\": \"", (uint64_t)work->bytes);
        return put_text(put_member(p, "\", \"kind\": \"", (uint64_t)work->way + 1), "\"");
    default: return p;
    }
}

static char *put_api(const struct kineto *kineto, char *p, const struct device_row *row)
{
    bool hip = kineto->machine->arguments->flavour == VENDOR_ROCM;
    struct place place = {kineto->pid, thread_id(kineto, row->thread), row->api_begin_ns,
                          row->api_end_ns};
    p = put_event(kineto, p, row->api->is_driver ? "cuda_driver" : "cuda_runtime", row->api->name,
                  &place);
    if (row->external_id)
        p = put_text(put_member(p, "\"External id\": ", row->external_id), ", ");
    if (hip && row->work && row->work->kernel)
        p = put_text(put_string(p, "\"kernel\": \"", row->work->kernel->name), ", ");
    p = put_member(p, hip ? "\"cid\": " : "\"cbid\": ", row->api->id);
    p = put_member(p, ", \"correlation\": ", row->correlation);
    if (hip && row->work)
        p = put_hip_args(p, row->work);
    p = put_close(kineto, p);
    return row->work ? put_flow(kineto, p, "ac2g", row->correlation, &place) : p;
}

// --- device work --------------------------------------------------------------------------------

static char *put_occupancy(const struct kineto *kineto, char *p, const struct instruction *work)
{
    const struct vendor *vendor = kineto->machine->vendor;
    const struct kernel *kernel = work->kernel;
    uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1];
    uint64_t blocks = work->grid[0] * UINT64_C(1000000) / vendor->sms;
    uint64_t warps = blocks * (threads / vendor->warp_size);
    uint64_t percent = warps / (WARPS_PER_MULTIPROCESSOR * 10000);
    p = put_member(p, ", \"registers per thread\": ", kernel->registers);
    p = put_member(p, ", \"shared memory\": ", kernel->shared_bytes);
    p = put_millionths(put_text(p, ", \"blocks per SM\": "), blocks);
    p = put_millionths(put_text(p, ", \"warps per SM\": "), warps);
    p = put_triple(p, ", \"grid\": [", work->grid, work->grid[2]);
    p = put_triple(p, ", \"block\": [", kernel->block, 1);
    return put_member(p, ", \"est. achieved occupancy %\": ", percent > 100 ? 100 : percent);
}

static char *put_kernel_args(const struct kineto *kineto, char *p, const struct device_row *row)
{
    const struct instruction *work = row->work;
    if (kineto->machine->arguments->flavour == VENDOR_CUDA) {
        p = put_occupancy(kineto, p, work);
    } else {
        p = put_text(p, ", \"kind\": \"Dispatch Kernel\"");
        p = put_triple(p, ", \"grid\": [", work->grid, work->grid[2]);
        p = put_triple(p, ", \"block\": [", work->kernel->block, 1);
    }
    if (work->collective && !work->collective->bare) {
        p = put_text(put_text(p, ", "), work->collective->args);
        p = put_member(p, ", \"Seq\": ", row->call_number);
    }
    return p;
}

static char *put_memory_args(const struct kineto *kineto, char *p, const struct device_row *row)
{
    uint64_t bytes = (uint64_t)row->work->bytes;
    if (kineto->machine->arguments->flavour == VENDOR_ROCM) {
        if (row->work->code == CODE_SET)
            return put_text(p, ", \"kind\": \"Device\"");
        p = put_string(p, ", \"kind\": \"", ledger_copy(row->work));
        return put_member(p, ", \"bytes\": ", bytes);
    }
    p = put_member(p, ", \"bytes\": ", bytes);
    return put_millionths(put_text(p, ", \"memory bandwidth (GB/s)\": "),
                          bytes * 1000000 / (uint64_t)(row->end_ns - row->begin_ns));
}

static const char *copy_name(const struct instruction *work)
{
    switch (work->way) {
    case COPY_DTOH:
        return work->pageable ? "Memcpy DtoH (Device -> Pageable)"
                              : "Memcpy DtoH (Device -> Pinned)";
    case COPY_DTOD: return "Memcpy DtoD (Device -> Device)";
    case COPY_PTOP: return "Memcpy PtoP (Device -> Device)";
    case COPY_HTOD: break;
    }
    return work->pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)";
}

static char *put_device(const struct kineto *kineto, char *p, const struct device_row *row)
{
    const struct instruction *work = row->work;
    bool cuda = kineto->machine->arguments->flavour == VENDOR_CUDA;
    int32_t stream = stream_id(kineto, work);
    struct place place = {kineto->device, stream, row->begin_ns, row->end_ns + work->overrun_ns};
    const char *cat = work->code == CODE_COPY  ? "gpu_memcpy"
                      : work->code == CODE_SET ? "gpu_memset"
                                               : "kernel";
    const char *name = work->code == CODE_SET    ? "Memset (Device)"
                       : work->code == CODE_COPY ? copy_name(work)
                                                 : work->kernel->name;
    p = put_event(kineto, p, cat, name, &place);
    if (row->external_id)
        p = put_text(put_member(p, "\"External id\": ", row->external_id), ", ");
    if (cuda && work->kernel)
        p = put_text(p, "\"queued\": 0, ");
    p = put_member(p, "\"device\": ", (uint64_t)kineto->device);
    p = put_text(p, cuda ? ", \"context\": 1" : "");
    p = put_member(p, ", \"stream\": ", (uint64_t)stream);
    p = put_member(p, ", \"correlation\": ", row->correlation);
    p = work->kernel ? put_kernel_args(kineto, p, row) : put_memory_args(kineto, p, row);
    p = put_close(kineto, p);
    place.end_ns = -1;
    return put_flow(kineto, p, "ac2g", row->correlation, &place);
}

// A wait as recorded by the device.
static char *put_sync(const struct kineto *kineto, char *p, const struct device_row *row)
{
    struct place place = {kineto->device, -1, row->api_begin_ns, row->api_end_ns};
    p = put_event(kineto, p, "cuda_sync", row->api->sync, &place);
    p = put_string(p, "\"cuda_sync_kind\": \"", row->api->sync);
    p = put_text(p, ", \"stream\": -1");
    p = put_member(p, ", \"correlation\": ", row->correlation);
    p = put_member(p, ", \"device\": ", (uint64_t)kineto->device);
    return put_close(kineto, put_text(p, ", \"context\": 1"));
}

static void write_call(const struct kineto *kineto, const struct device_row *row)
{
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    if (row->work)
        p = put_device(kineto, p, row);
    if (row->api)
        p = put_api(kineto, p, row);
    if (row->api && row->api->sync && kineto->machine->arguments->sync_events)
        p = put_sync(kineto, p, row);
    outfile_commit(kineto->out, p);
}

static void write_memory(struct kineto *kineto, const struct memory_row *row)
{
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    p = put_text(p, kineto->layout->open);
    p = put_text(p, "\"ph\": \"i\", \"cat\": \"cpu_instant_event\", \"s\": \"t\", "
                    "\"name\": \"[memory]\", ");
    p = put_member(p, "\"pid\": ", (uint64_t)kineto->pid);
    p = put_member(p, ", \"tid\": ", (uint64_t)thread_id(kineto, row->thread));
    p = put_us(put_text(p, ", \"ts\": "), row->at_ns + kineto->rank->clock_ns);
    *p++ = ',';
    p = put_text(p, kineto->layout->args);
    p = put_i64(put_text(p, "\"Total Reserved\": "), row->reserved_bytes);
    p = put_i64(put_text(p, ", \"Total Allocated\": "), row->allocated_bytes);
    p = put_i64(put_text(p, ", \"Bytes\": "), row->bytes);
    p = put_member(p, ", \"Addr\": ", row->address);
    p = put_member(p, ", \"Device Id\": ", (uint64_t)kineto->device);
    p = put_member(p, ", \"Device Type\": 1, \"Ev Idx\": ", kineto->event_index++);
    outfile_commit(kineto->out, put_close(kineto, p));
}

// A user annotation as its stream saw it; the profiler widens it by a nanosecond on each side.
static void write_projection(struct kineto *kineto, const struct host_row *row)
{
    const struct vendor *vendor = kineto->machine->vendor;
    int32_t stream = row->begin->on_comm_stream ? vendor->comm_stream : vendor->compute_stream;
    struct place place = {kineto->device, stream, row->gpu_begin_ns - 1, row->gpu_end_ns + 1};
    char name[64] = "";
    if (row->begin->kind == ROW_STEP)
        *put_i64(put_text(name, row->begin->name), kineto->machine->step - 1) = '\0';
    char *p = outfile_reserve(kineto->out, KINETO_EVENT_BYTES);
    p = put_event(kineto, p, "gpu_user_annotation", *name ? name : row->begin->name, &place);
    p = put_member(p, "\"External id\": ", row->external_id);
    outfile_commit(kineto->out, put_close(kineto, p));
}

// --- files --------------------------------------------------------------------------------------

struct kineto *kineto_open(const char *path, const struct machine *machine, const struct rank *rank)
{
    struct kineto *kineto = outfile_memory(1, sizeof *kineto);
    kineto->out = outfile_open(path, machine->arguments->format, machine->arguments->spacing);
    kineto->machine = machine;
    kineto->rank = rank;
    kineto->layout = kineto_layout(machine->arguments);
    kineto->pid = FIRST_PID + rank->index * PID_STRIDE;
    kineto->device = machine->vendor->first_device + rank->index % 8;
    kineto_head(kineto);
    return kineto;
}

// In the profiler's order: autograd's rows, the main thread's, Python's, memory, calls,
// projections.
void kineto_step(struct kineto *kineto)
{
    const struct rank *rank = kineto->rank;
    for (int thread = THREAD_COUNT - 1; thread >= 0; thread--)
        for (size_t i = 0; i < rank->row_count; i++)
            if ((int)rank->rows[i].thread == thread && rank->rows[i].begin->kind != ROW_PYTHON)
                write_host_row(kineto, &rank->rows[i]);
    for (size_t i = 0; i < rank->row_count; i++)
        if (rank->rows[i].begin->kind == ROW_PYTHON)
            write_host_row(kineto, &rank->rows[i]);
    for (size_t i = 0; i < rank->memory_count; i++)
        write_memory(kineto, &rank->memory[i]);
    for (size_t i = 0; i < rank->call_count; i++)
        write_call(kineto, &rank->calls[i]);
    for (size_t i = 0; i < rank->row_count; i++)
        if (rank->rows[i].gpu_end_ns > 0)
            write_projection(kineto, &rank->rows[i]);
    if (kineto->machine->arguments->counters)
        counters_step(kineto);
}

uint64_t kineto_text_bytes(const struct kineto *kineto)
{
    return outfile_text_bytes(kineto->out);
}

uint64_t kineto_close(struct kineto *kineto)
{
    kineto_tail(kineto);
    uint64_t bytes = outfile_text_bytes(kineto->out);
    outfile_close(kineto->out);
    free(kineto);
    return bytes;
}
