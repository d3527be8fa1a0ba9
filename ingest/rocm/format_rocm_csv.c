// SPDX-License-Identifier: Apache-2.0
// CSV files of AMD's profilers with times: rocprofv3's kernel, API, marker and copy traces, the
// same from rocpd, those of rocprofv2, and results.csv of the old rocprof. Columns are in any order
// and are found by their names. Files of one process may follow one another in one (file_sets):
// each starts with its header, and that with the agents comes first.
#include "ingest/csv/csv.h"
#include "ingest/source/format.h"
#include "ingest/rocm/rocm_memory.h"
#include "ingest/rocm/rocm_names.h"
#include "ingest/rocm/rocm_rows.h"
#include "ingest/source/source.h"

#define ROWS_BETWEEN 1024 // reports of progress

enum column {
    NAME,
    START,
    END,
    AGENT,
    TO_AGENT,
    STREAM,
    QUEUE,
    PROCESS,
    THREAD,
    CORRELATION,
    DOMAIN,
    OPERATION,
    LDS,
    VGPRS,
    GRID,
    BLOCK = GRID + 3,
    NODE = BLOCK + 3,
    LOGICAL_NODE,
    AGENT_TYPE,
    AGENT_UNITS,
    AGENT_NAME,
    AGENT_PRODUCT,
    COUNTER,
    COUNTER_VALUE,
    ADDRESS,
    ALLOCATED,
    COLUMNS
};

#define NO_COLUMN SIZE_MAX

// What a file of a set holds.
enum block { NO_TRACE, AGENTS, EVENTS, COUNTERS, ALLOCATIONS };

enum { MOST_AGENTS = 256, MOST_COUNTERS = 256 };

struct agent {
    int64_t node, logical_node;
};

// How rows number devices, by rocprofv3's --agent-index. Numbers alone, of old versions, are nodes.
struct numbering {
    bool gpus;     // "GPU 1" is the second GPU
    bool labelled; // "Agent 4": a logical node or, as is seen in the end, a node
    bool absolute; // which it is, since the logical node of some kernel would be no GPU
};

// The names that versions have used.
static const struct {
    enum column column;
    const char *name;
} names[] = {
    {NAME, "Kernel_Name"},
    {NAME, "KernelName"},
    {NAME, "Function"},
    {NAME, "Direction"},
    {START, "Start_Timestamp"},
    {START, "BeginNs"},
    {END, "End_Timestamp"},
    {END, "EndNs"},
    {END, "Stop_Timestamp"},
    {AGENT, "Agent_Id"},
    {AGENT, "GPU_ID"},
    {AGENT, "gpu-id"},
    {AGENT, "Source_Agent_Id"},
    {TO_AGENT, "Destination_Agent_Id"},
    {STREAM, "Stream_Id"},
    {QUEUE, "Queue_Id"},
    {QUEUE, "queue-id"},
    {PROCESS, "Process_Id"},
    {PROCESS, "pid"},
    {THREAD, "Thread_Id"},
    {THREAD, "tid"},
    {CORRELATION, "Correlation_Id"},
    {DOMAIN, "Domain"},
    {OPERATION, "Operation"},
    {LDS, "LDS_Block_Size"},
    {LDS, "LDS_Per_Workgroup"},
    {LDS, "Group_Segment_Size"},
    {LDS, "lds"},
    {VGPRS, "VGPR_Count"},
    {VGPRS, "arch_vgpr"},
    {GRID, "Grid_Size_X"},
    {GRID + 1, "Grid_Size_Y"},
    {GRID + 2, "Grid_Size_Z"},
    {GRID, "Grid_Size"},
    {GRID, "grd"},
    {BLOCK, "Workgroup_Size_X"},
    {BLOCK + 1, "Workgroup_Size_Y"},
    {BLOCK + 2, "Workgroup_Size_Z"},
    {BLOCK, "Workgroup_Size"},
    {BLOCK, "wgr"},
    {NODE, "Node_Id"},
    {LOGICAL_NODE, "Logical_Node_Id"},
    {AGENT_TYPE, "Agent_Type"},
    {AGENT_UNITS, "Cu_Count"},
    {AGENT_NAME, "Name"},
    {AGENT_PRODUCT, "Product_Name"},
    {COUNTER, "Counter_Name"},
    {COUNTER_VALUE, "Counter_Value"},
    {ADDRESS, "Address"},
    {ALLOCATED, "Allocation_Size"},
};

struct rocm_csv {
    const struct format_input *input;
    struct trace_builder *builder;
    enum event_kind kind; // EVENT_RUNTIME: by the domain
    enum block block;
    size_t columns[COLUMNS];
    size_t first_counter, counter_count; // columns of an old kernel trace
    str_id counters[MOST_COUNTERS];      // their names
    uint64_t rows, events, bytes;
    struct agent agents[MOST_AGENTS]; // GPUs
    size_t agent_count;
    struct numbering numbering;
    struct rocm_rows places;
    struct rocm_memory memory; // devices are as rows number them
};

// --- cells --------------------------------------------------------------------------------------

static struct str cell(const struct rocm_csv *csv, const struct csv_row *row, unsigned column)
{
    return csv_cell(row, csv->columns[column]);
}

#define OF_AGENT STR("Agent ")
#define OF_GPU   STR("GPU ")

// "Agent 4" and "GPU 4" are 4.
static int64_t number(const struct rocm_csv *csv, const struct csv_row *row, unsigned column,
                      int64_t otherwise)
{
    int64_t value;
    struct str text = cell(csv, row, column);
    if (str_starts_with(text, OF_AGENT))
        text = (struct str){text.at + OF_AGENT.len, text.len - OF_AGENT.len};
    else if (str_starts_with(text, OF_GPU))
        text = (struct str){text.at + OF_GPU.len, text.len - OF_GPU.len};
    return str_to_i64(text, &value) ? value : otherwise;
}

static int32_t small(const struct rocm_csv *csv, const struct csv_row *row, unsigned column,
                     int32_t otherwise)
{
    int64_t value = number(csv, row, column, -1);
    return value >= 0 && value <= INT32_MAX ? (int32_t)value : otherwise;
}

static void find_columns(struct rocm_csv *csv, const struct csv_row *header)
{
    for (unsigned i = 0; i < COLUMNS; i++)
        csv->columns[i] = NO_COLUMN;
    for (size_t i = header->count; i-- > 0;)
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (str_equal_nocase(header->cells[i], str_of(names[n].name)))
                csv->columns[names[n].column] = i;
}

// Those of rocprof before version 3 are the columns between "obj" and the times.
static bool find_counters(struct rocm_csv *csv, const struct csv_row *header, struct err *err)
{
    size_t i = 0;
    csv->counter_count = 0;
    while (i < header->count && !str_equal(header->cells[i], STR("obj")))
        i++;
    csv->first_counter = i + 1;
    for (i++; i < header->count && csv->counter_count < MOST_COUNTERS; i++) {
        if (str_ends_with(header->cells[i], STR("Ns")))
            break;
        if (!trace_builder_text(csv->builder, header->cells[i], header->pos,
                                &csv->counters[csv->counter_count++], err))
            return false;
    }
    return true;
}

// --- times --------------------------------------------------------------------------------------

// Whether a spreadsheet rounded it: "8.1097E+14".
static bool is_rounded(struct str text)
{
    bool digit = text.len && str_is_digit(text.at[0]);
    return digit && (memchr(text.at, 'E', text.len) || memchr(text.at, '.', text.len));
}

// *skip: the row has no times, and is counted as such.
static bool take_times(struct rocm_csv *csv, const struct csv_row *row, struct event_record *record,
                       bool *skip, struct err *err)
{
    struct str start = cell(csv, row, START);
    if (is_rounded(start))
        return err_set_at(err, ERR_FORMAT, row->pos,
                          "found times rounded by a spreadsheet (%.*s): send the file as "
                          "the profiler wrote it",
                          (int)(start.len < 24 ? start.len : 24), start.at);
    *skip = !rocm_times(csv->builder, record, number(csv, row, START, VALUE_ABSENT),
                        number(csv, row, END, VALUE_ABSENT), row->pos);
    return true;
}

// --- events -------------------------------------------------------------------------------------

static bool is_logical_node(const struct rocm_csv *csv, int64_t agent)
{
    for (size_t i = 0; i < csv->agent_count; i++)
        if (csv->agents[i].logical_node == agent)
            return true;
    return false;
}

// The number that the row has for a device. A copy belongs to a GPU: the target if it goes to a
// device, else the source.
static int64_t device_of(struct rocm_csv *csv, const struct csv_row *row)
{
    struct numbering *numbering = &csv->numbering;
    bool to = str_find(cell(csv, row, NAME), STR("_TO_DEVICE")) != SIZE_MAX;
    enum column column = csv->kind == EVENT_MEMCPY && to ? TO_AGENT : AGENT;
    int64_t agent = number(csv, row, column, 0);
    bool labelled = str_starts_with(cell(csv, row, column), OF_AGENT);
    numbering->gpus |= str_starts_with(cell(csv, row, column), OF_GPU);
    numbering->labelled |= labelled;
    numbering->absolute |= labelled && csv->kind == EVENT_KERNEL && !is_logical_node(csv, agent);
    return agent;
}

// GPUs are numbered in the order in which they are listed. Logical nodes differ from nodes where a
// container hides GPUs. Negative: none is this agent.
static int64_t find_gpu(const struct rocm_csv *csv, int64_t agent)
{
    bool logical = csv->numbering.labelled && !csv->numbering.absolute;
    for (size_t i = 0; i < csv->agent_count; i++)
        if ((logical ? csv->agents[i].logical_node : csv->agents[i].node) == agent)
            return (int64_t)i;
    return -1;
}

static int64_t gpu_of(const void *context, int64_t agent)
{
    int64_t gpu = find_gpu(context, agent);
    return gpu < 0 ? agent : gpu;
}

static void take_shape(const struct rocm_csv *csv, const struct csv_row *row,
                       struct launch_shape *shape)
{
    for (unsigned i = 0; i < 3; i++) {
        int32_t otherwise = csv->columns[BLOCK + i] == NO_COLUMN;
        rocm_extent(shape, i, small(csv, row, GRID + i, otherwise),
                    small(csv, row, BLOCK + i, otherwise));
    }
    shape->registers = small(csv, row, VGPRS, -1);
    shape->shared_bytes = number(csv, row, LDS, VALUE_ABSENT);
}

static bool take_place(struct rocm_csv *csv, const struct csv_row *row, struct event_record *record,
                       struct err *err)
{
    if (event_kind_is_device(record->kind)) {
        bool streams = csv->columns[STREAM] != NO_COLUMN, copy = csv->kind == EVENT_MEMCPY;
        struct rocm_place place = {.device = device_of(csv, row),
                                   .stream = streams ? number(csv, row, STREAM, 0) : -1,
                                   .queue = number(csv, row, QUEUE, 0),
                                   .direction = copy ? cell(csv, row, NAME) : STR("")};
        record->pid.number = place.device;
        return rocm_row_of(&csv->places, csv->builder, &place, &record->tid, err);
    }
    record->pid.number = number(csv, row, PROCESS, 0);
    record->tid.number = number(csv, row, THREAD, 0);
    return true;
}

// ROCm before 6.3 writes directions without "MEMORY_COPY_". NULL: not known.
static const char *direction_of(struct str text, const char **as_written)
{
    static const char *const known[] = {"MEMORY_COPY_HOST_TO_DEVICE", "MEMORY_COPY_DEVICE_TO_HOST",
                                        "MEMORY_COPY_DEVICE_TO_DEVICE", "MEMORY_COPY_HOST_TO_HOST"};
    static const size_t starts[] = {0, sizeof "MEMORY_COPY_" - 1};
    for (size_t i = 0; i < 2 * (sizeof known / sizeof *known); i++) {
        *as_written = known[i / 2] + starts[i % 2];
        if (str_equal(text, str_of(*as_written)))
            return known[i / 2];
    }
    *as_written = "other";
    return NULL;
}

// The direction as newer versions write it, which analyses look for.
static struct str take_copy(const struct rocm_csv *csv, struct str direction, int64_t ns)
{
    const char *word, *known = direction_of(direction, &word);
    figures_add(csv->input->figures, 1, "copies" IN "%s" IN "count", word);
    figures_add(csv->input->figures, ns, "copies" IN "%s" IN "ns", word);
    return known ? str_of(known) : direction;
}

// What rocprofv2 lists in hcc_ops_trace.csv beside kernels has an operation in place of a name.
static enum event_kind operation_kind(struct str operation)
{
    if (str_starts_with(operation, STR("Copy")))
        return EVENT_MEMCPY;
    return str_starts_with(operation, STR("Fill")) ? EVENT_MEMSET : EVENT_KERNEL;
}

// Such a copy belongs to no GPU.
static bool is_between_hosts(const struct rocm_csv *csv, struct str direction)
{
    return csv->kind == EVENT_MEMCPY && str_ends_with(direction, STR("HOST_TO_HOST"));
}

// A counter of a kernel has its value from the kernel's start on.
static bool add_columns(struct rocm_csv *csv, const struct csv_row *row,
                        const struct event_record *kernel, struct err *err)
{
    for (size_t i = 0; i < csv->counter_count; i++) {
        struct counter_record counter = {
            .pid = kernel->pid, .time_ns = kernel->begin_ns, .name = csv->counters[i]};
        if (str_to_f64(csv_cell(row, csv->first_counter + i), &counter.value) &&
            !trace_builder_count(csv->builder, &counter, err))
            return false;
    }
    return true;
}

static bool add_row(struct rocm_csv *csv, const struct csv_row *row, struct err *err)
{
    bool skip;
    struct str name = cell(csv, row, NAME);
    bool calls = csv->kind == EVENT_RUNTIME;
    struct event_record record =
        event_record_of(calls ? rocm_call_kind(cell(csv, row, DOMAIN)) : csv->kind);
    record.correlation = number(csv, row, CORRELATION, VALUE_ABSENT);
    if (!take_times(csv, row, &record, &skip, err))
        return false;
    if (skip)
        return true;
    if (!take_place(csv, row, &record, err))
        return false;
    if (!add_columns(csv, row, &record, err))
        return false;
    if (csv->kind == EVENT_KERNEL) {
        take_shape(csv, row, &record.shape);
        name = rocm_kernel_name(name);
    }
    if (csv->kind == EVENT_MEMCPY)
        name = take_copy(csv, name, record.dur_ns);
    if (csv->kind == EVENT_KERNEL && !name.len)
        record.kind = operation_kind(name = cell(csv, row, OPERATION));
    return is_between_hosts(csv, name) ||
           (trace_builder_text(csv->builder, name.len ? name : STR("unnamed"), row->pos,
                               &record.name, err) &&
            trace_builder_add(csv->builder, &record, err));
}

// --- other files of a set -----------------------------------------------------------------------

static bool add_agent(struct rocm_csv *csv, const struct csv_row *row, struct err *err)
{
    int64_t node = number(csv, row, NODE, -1);
    struct str product = cell(csv, row, AGENT_PRODUCT);
    struct trace_device device = {.id = (int64_t)csv->agent_count,
                                  .memory_bytes = VALUE_ABSENT,
                                  .multiprocessors = number(csv, row, AGENT_UNITS, VALUE_ABSENT),
                                  .compute_major = VALUE_ABSENT,
                                  .compute_minor = VALUE_ABSENT};
    if (!str_equal(cell(csv, row, AGENT_TYPE), STR("GPU")) || node < 0 ||
        csv->agent_count == MOST_AGENTS)
        return true;
    csv->agents[csv->agent_count++] = (struct agent){node, number(csv, row, LOGICAL_NODE, node)};
    return trace_builder_text(csv->builder, product.len ? product : cell(csv, row, AGENT_NAME),
                              row->pos, &device.name, err) &&
           trace_builder_device(csv->builder, &device, err);
}

// A counter of a dispatch has its value from the dispatch's start on.
static bool add_counter(struct rocm_csv *csv, const struct csv_row *row, struct err *err)
{
    struct counter_record counter = {.time_ns = number(csv, row, START, -1)};
    if (counter.time_ns < 0 || !str_to_f64(cell(csv, row, COUNTER_VALUE), &counter.value))
        return true;
    counter.pid.number = device_of(csv, row);
    return trace_builder_text(csv->builder, cell(csv, row, COUNTER), row->pos, &counter.name,
                              err) &&
           trace_builder_count(csv->builder, &counter, err);
}

// Of a GPU, which "GPU 1" says by itself; agents are looked up in the end.
static bool add_block(struct rocm_csv *csv, const struct csv_row *row, struct err *err)
{
    struct rocm_block block = {.address = rocm_address(cell(csv, row, ADDRESS)),
                               .time_ns = number(csv, row, START, -1),
                               .bytes = number(csv, row, ALLOCATED, 0),
                               .device = number(csv, row, AGENT, -1)};
    return rocm_memory_add(&csv->memory, cell(csv, row, OPERATION), &block, err);
}

static bool add_blocks(struct rocm_csv *csv, struct err *err)
{
    for (size_t i = 0; !csv->numbering.gpus && i < csv->memory.count; i++)
        csv->memory.at[i].device = find_gpu(csv, csv->memory.at[i].device);
    return rocm_memory_end(&csv->memory, csv->builder, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool has(const struct rocm_csv *csv, enum column column)
{
    return csv->columns[column] != NO_COLUMN;
}

static bool has_name(const struct csv_row *header, const char *column)
{
    for (size_t i = 0; i < header->count; i++)
        if (str_equal_nocase(header->cells[i], str_of(column)))
            return true;
    return false;
}

// Starts the rows that follow a header.
static bool start_block(struct rocm_csv *csv, const struct csv_row *header, struct err *err)
{
    find_columns(csv, header);
    bool timed = has(csv, START) && has(csv, END);
    csv->block = timed && has(csv, NAME) ? EVENTS : NO_TRACE;
    if (has(csv, AGENT_TYPE) && has(csv, NODE))
        csv->block = AGENTS;
    else if (has(csv, COUNTER))
        csv->block = timed ? COUNTERS : NO_TRACE;
    else if (has(csv, ALLOCATED) && has(csv, ADDRESS))
        csv->block = timed ? ALLOCATIONS : NO_TRACE;
    else if (has(csv, DOMAIN) && has_name(header, "Function"))
        csv->kind = EVENT_RUNTIME; // rocprofv2 has a column of kernels beside the calls
    else if (has_name(header, "Kernel_Name") || has_name(header, "KernelName"))
        csv->kind = EVENT_KERNEL;
    else if (has_name(header, "Direction"))
        csv->kind = EVENT_MEMCPY;
    return find_counters(csv, header, err);
}

// No row of data starts with one of these words and has the name of a column elsewhere.
static bool is_header(const struct csv_row *row)
{
    static const char *const firsts[] = {"Kind",           "Domain",      "Guid",  "Node_Id",
                                         "Correlation_Id", "Dispatch_Id", "Index", "Name"};
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (str_equal_nocase(csv_cell(row, 0), str_of(firsts[i])))
            return has_name(row, "Start_Timestamp") || has_name(row, "BeginNs") ||
                   has_name(row, "Agent_Type") || has_name(row, "TotalDurationNs");
    return false;
}

static bool take_row(struct rocm_csv *csv, const struct csv_row *row, struct err *err)
{
    if (is_header(row))
        return start_block(csv, row, err);
    switch (csv->block) {
    case AGENTS: return add_agent(csv, row, err);
    case COUNTERS: return add_counter(csv, row, err);
    case ALLOCATIONS: return add_block(csv, row, err);
    case EVENTS: csv->events++; return add_row(csv, row, err);
    case NO_TRACE: break;
    }
    return true;
}

static bool go_on(struct rocm_csv *csv, struct err *err)
{
    return ++csv->rows % ROWS_BETWEEN ||
           progress_report(csv->input->progress, source_consumed(csv->input->source), err);
}

static bool read_rows(struct rocm_csv *csv, struct csv *rows, struct err *err)
{
    struct csv_row row;
    bool end, ok = csv_next(rows, &row, &end, err) && start_block(csv, &row, err);
    while (ok && csv_next(rows, &row, &end, err)) {
        if (row.cut)
            trace_builder_repair(csv->builder, REPAIR_TRUNCATED, row.pos);
        csv->bytes = row.pos;
        ok = go_on(csv, err) && take_row(csv, &row, err);
    }
    figures_add(csv->input->figures, (int64_t)csv->rows, "rows");
    trace_builder_count_input(csv->builder, csv->events, csv->bytes);
    if (!ok || !end || !add_blocks(csv, err))
        return false;
    if (!csv->numbering.gpus)
        trace_builder_renumber(csv->builder, gpu_of, csv);
    if (csv->events)
        return true;
    return csv->agent_count ? err_set(err, ERR_FORMAT,
                                      "found the agents of rocprofv3 without a trace: send its "
                                      "*_kernel_trace.csv in one request")
                            : err_set(err, ERR_FORMAT,
                                      "found a rocprof CSV with a header and no rows: record again "
                                      "with --kernel-trace");
}

static bool read_csv(const struct format_input *input, struct err *err)
{
    struct rocm_csv csv = {
        .input = input, .builder = input->builder, .memory.budget = input->budget};
    struct csv *rows = csv_open(input->source, input->budget, err);
    trace_builder_recorder(csv.builder, RECORDER_ROCM);
    trace_builder_base(csv.builder, VALUE_ABSENT); // since the machine started
    bool ok = rows && read_rows(&csv, rows, err);
    csv_close(rows);
    rocm_memory_free(&csv.memory);
    return ok;
}

// --- recognizing --------------------------------------------------------------------------------

static enum format_likeness likeness(struct str head, const char *name)
{
    bool ends = csv_head_has(head, "End_Timestamp") || csv_head_has(head, "Stop_Timestamp");
    bool timed = ends && csv_head_has(head, "Start_Timestamp");
    return timed && csv_head_has(head, name) && !csv_head_has(head, "Counter_Name") ? FORMAT_SURE
                                                                                    : FORMAT_UNLIKE;
}

static enum format_likeness probe_calls(const struct format_sample *sample)
{
    return csv_head_has(sample->head, "Domain") ? likeness(sample->head, "Function")
                                                : FORMAT_UNLIKE;
}

static enum format_likeness probe_kernels(const struct format_sample *sample)
{
    if (probe_calls(sample) == FORMAT_SURE)
        return FORMAT_UNLIKE;
    bool old = csv_head_has(sample->head, "KernelName") && csv_head_has(sample->head, "BeginNs") &&
               csv_head_has(sample->head, "EndNs");
    return old ? FORMAT_SURE : likeness(sample->head, "Kernel_Name");
}

static enum format_likeness probe_copies(const struct format_sample *sample)
{
    return likeness(sample->head, "Direction");
}

static enum format_likeness probe_agents(const struct format_sample *sample)
{
    bool agents = csv_head_has(sample->head, "Node_Id") && csv_head_has(sample->head, "Agent_Type");
    return agents ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_rocm_set = {
    .name = "rocprofv3-csv",
    .what = "CSV files of rocprofv3",
    .kind = FORMAT_TRACE,
    .access = FORMAT_STREAM,
    .ending = ".csv",
    .common = true,
    .probe = probe_agents,
    .read = read_csv,
};

const struct format format_rocm_kernels = {
    .name = "rocprof-kernel-csv",
    .what = "a kernel trace of rocprof as CSV",
    .kind = FORMAT_TRACE,
    .access = FORMAT_STREAM,
    .probe = probe_kernels,
    .read = read_csv,
};

const struct format format_rocm_calls = {
    .name = "rocprofv3-api-csv",
    .what = "an API trace of rocprof as CSV",
    .kind = FORMAT_TRACE,
    .access = FORMAT_STREAM,
    .probe = probe_calls,
    .read = read_csv,
};

const struct format format_rocm_copies = {
    .name = "rocprofv3-memcpy-csv",
    .what = "a memory copy trace of rocprofv3 as CSV",
    .kind = FORMAT_TRACE,
    .access = FORMAT_STREAM,
    .probe = probe_copies,
    .read = read_csv,
};
