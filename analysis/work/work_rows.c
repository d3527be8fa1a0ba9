// SPDX-License-Identifier: Apache-2.0
// Finds the row of each call and sums the calls up. Inputs are parsed once per distinct tuple of an
// operator's name and inputs; rows differ in what they show.
#include "analysis/work/work_rows.h"

#include "analysis/facts/attention.h"
#include "analysis/comm/comm_message.h"
#include "analysis/stats/tally.h"

// The last result for some inputs; mostly only one operator has them.
struct memo {
    str_id name; // 0: none yet
    uint32_t row;
};

struct making {
    struct work_rows *rows;
    struct budget *budget;
    struct groups texts;    // (dims, types), then (that, strides), then (that, concrete)
    struct groups names;    // (operator, texts): the distinct tuples
    uint32_t *row_of_name;  // per tuple
    struct memo *memo;      // per op_inputs of the trace, plus one for calls without
    struct groups figures;  // (FLOPs, bytes), then (that, note): further keys of a row
    struct groups keys;     // of the rows: (operator and dims, types and figures)
    struct work_row *grown; // the rows while they are being added
    size_t name_cap, row_cap;
    struct tally kernels, modules, strides;
    struct serving_steps passes; // of an inference engine
};

static bool begin(struct making *making, struct work_rows *rows, struct arena *arena,
                  struct err *err)
{
    struct budget *budget = rows->facts->budget;
    *making = (struct making){.rows = rows, .budget = budget};
    size_t inputs = (size_t)rows->facts->trace->op_inputs_count + 1;
    making->memo = arena_array(arena, inputs, sizeof *making->memo, err);
    if (!serving_make(rows->facts, arena, &making->passes, err))
        return false;
    groups_init(&making->texts, budget);
    groups_init(&making->names, budget);
    groups_init(&making->figures, budget);
    groups_init(&making->keys, budget);
    tally_init(&making->kernels, budget);
    tally_init(&making->modules, budget);
    tally_init(&making->strides, budget);
    return making->memo;
}

static void end(struct making *making)
{
    budget_free(making->budget, making->row_of_name,
                making->name_cap * sizeof *making->row_of_name);
    budget_free(making->budget, making->grown, making->row_cap * sizeof *making->grown);
    groups_free(&making->texts);
    groups_free(&making->names);
    groups_free(&making->figures);
    groups_free(&making->keys);
    tally_free(&making->kernels);
    tally_free(&making->modules);
    tally_free(&making->strides);
}

// --- distinct tuples -----------------------------------------------------------------------------

static const struct op_inputs no_inputs;

// Index of an operator's inputs; one past the last for those without.
static uint32_t inputs_of(const struct trace *trace, uint32_t op)
{
    uint32_t args = trace->args[op];
    uint32_t inputs = args == ARGS_NONE ? ARGS_NONE : trace->op_args[args].inputs;
    return inputs == ARGS_NONE ? trace->op_inputs_count : inputs;
}

// Numbers the texts used by formulas; the module among the inputs is not one. The three levels
// share one set: keys of a level are marked by a bit that no string's number has.
static bool number_texts(struct groups *texts, const struct op_inputs *inputs, uint32_t *number,
                         struct err *err)
{
    const uint64_t second = (uint64_t)1 << 62, third = (uint64_t)1 << 63;
    return groups_index(texts, inputs->dims, inputs->types, number, err) &&
           groups_index(texts, second | *number, inputs->strides, number, err) &&
           groups_index(texts, third | *number, inputs->concrete, number, err);
}

static str_id strides_of(const struct trace *trace, uint32_t op)
{
    uint32_t inputs = inputs_of(trace, op);
    return inputs == trace->op_inputs_count ? 0 : trace->op_inputs[inputs].strides;
}

static void model(const struct trace *trace, str_id name, const struct op_inputs *inputs,
                  const struct serving_step *step, struct work *work)
{
    struct op_arg_texts texts = {trace_text(trace, inputs->dims), trace_text(trace, inputs->types),
                                 trace_text(trace, inputs->strides),
                                 trace_text(trace, inputs->concrete)};
    struct arg_list args;
    op_args_parse(&texts, &args);
    work_model(trace_text(trace, name), &args, work);
    if (step)
        work_paged(trace_text(trace, name), &args, &step->pass, work);
}

static bool find_key(struct making *making, const struct work_row *row, uint32_t *index,
                     struct err *err)
{
    uint32_t figures;
    uint64_t note = (uint64_t)1 << 63 | (uintptr_t)row->work.note;
    return groups_index(&making->figures, (uint64_t)row->work.flops, (uint64_t)row->work.bytes,
                        &figures, err) &&
           groups_index(&making->figures, note, figures, &figures, err) &&
           groups_index(&making->keys, (uint64_t)row->name << 32 | row->dims,
                        (uint64_t)row->types << 32 | figures, index, err);
}

static bool add_row(struct making *making, const struct work_row *row, uint32_t *index,
                    struct err *err)
{
    uint32_t known = making->keys.count;
    if (!find_key(making, row, index, err))
        return false;
    if (*index != known)
        return true;
    void *grown = budget_room(making->budget, making->grown, &making->row_cap, making->keys.count,
                              sizeof *row, err);
    if (!grown)
        return false;
    making->grown = grown;
    making->grown[*index] = *row;
    return true;
}

static bool keep_name(struct making *making, uint32_t name, uint32_t row, struct err *err)
{
    uint32_t *rows = budget_room(making->budget, making->row_of_name, &making->name_cap,
                                 making->names.count, sizeof *rows, err);
    if (!rows)
        return false;
    making->row_of_name = rows;
    rows[name] = row;
    return true;
}

static bool look_up(struct making *making, str_id op, const struct op_inputs *inputs, uint32_t *row,
                    struct err *err)
{
    uint32_t texts, name, known = making->names.count;
    if (!number_texts(&making->texts, inputs, &texts, err) ||
        !groups_index(&making->names, op, texts, &name, err))
        return false;
    if (name != known) {
        *row = making->row_of_name[name];
        return true;
    }
    struct work_row fresh = {.name = op, .dims = inputs->dims, .types = inputs->types};
    model(making->rows->facts->trace, op, inputs, NULL, &fresh.work);
    return add_row(making, &fresh, row, err) && keep_name(making, name, *row, err);
}

// Attention over a cache has different lengths in each pass: its row is looked up call by call.
static bool find_paged(struct making *making, uint32_t op, uint32_t inputs, uint32_t *row,
                       struct err *err)
{
    const struct trace *trace = making->rows->facts->trace;
    const struct op_inputs *recorded = &trace->op_inputs[inputs];
    struct work_row fresh = {
        .name = trace->name[op], .dims = recorded->dims, .types = recorded->types};
    model(trace, trace->name[op], recorded, serving_at(&making->passes, trace->begin_ns[op]),
          &fresh.work);
    return add_row(making, &fresh, row, err);
}

static bool find_row(struct making *making, uint32_t op, uint32_t *row, struct err *err)
{
    const struct trace *trace = making->rows->facts->trace;
    uint32_t inputs = inputs_of(trace, op);
    if (making->passes.count && inputs != trace->op_inputs_count &&
        work_is_paged(facts_short_name(trace, trace->name[op])))
        return find_paged(making, op, inputs, row, err);
    struct memo *memo = &making->memo[inputs];
    if (memo->name != trace->name[op] || memo->name == 0) {
        bool none = inputs == trace->op_inputs_count;
        if (!look_up(making, trace->name[op], none ? &no_inputs : &trace->op_inputs[inputs],
                     &memo->row, err))
            return false;
        memo->name = trace->name[op];
    }
    *row = memo->row;
    return true;
}

// --- sums ----------------------------------------------------------------------------------------

bool work_is_heavy(const struct facts *facts, uint32_t device)
{
    uint8_t category = facts->devices[device].category;
    return facts_is_steady(facts, device) &&
           (category == CATEGORY_GEMM || category == CATEGORY_CONVOLUTION ||
            (category == CATEGORY_ATTENTION && !attention_is_middle(facts, device)));
}

static bool add_launch(struct making *making, uint32_t index, const struct launch *launch,
                       struct err *err)
{
    const struct facts *facts = making->rows->facts;
    struct work_row *row = &making->grown[index];
    for (uint32_t d = launch->first; d != FACTS_NONE; d = facts->devices[d].next) {
        const struct device_event *device = &facts->devices[d];
        row->kernels++;
        row->owned_ns += device->owned_ns;
        row->heavy_owned_ns += work_is_heavy(facts, d) ? device->owned_ns : 0;
        if (!tally_add(&making->kernels, index, facts_device_name(facts, d),
                       device->end_ns - device->begin_ns, err))
            return false;
    }
    return true;
}

// Whether the message size of what an operator launched can be known: from its kernel, from the
// operator as record_param_comms, or from its inputs.
static bool has_message(const struct facts *facts, uint32_t device, uint32_t op)
{
    const struct trace *trace = facts->trace;
    uint32_t kernel = trace->args[facts->devices[device].event], args = trace->args[op];
    enum collective_kind kind;
    return (kernel != ARGS_NONE && trace->device_args[kernel].collective != ARGS_NONE) ||
           (args != ARGS_NONE && trace->op_args[args].collective != ARGS_NONE) ||
           comm_message_bytes(facts, device, &kind) >= 0;
}

static bool add_call(struct making *making, const struct op_call *call, uint32_t index,
                     struct err *err)
{
    const struct facts *facts = making->rows->facts;
    const uint32_t *order = making->rows->calls->order;
    const struct launch *first = &facts->launches[order[call->from]];
    struct work_row *row = &making->grown[index];
    bool steady = facts_is_steady(facts, first->first);
    if (row->calls == 0 && facts->devices[first->first].class == CLASS_COMMUNICATION) {
        row->communicates = true;
        row->message = has_message(facts, first->first, call->op);
    }
    row->calls++;
    row->busy_ns += call->self_ns;
    row->recompute_calls += first->recompute;
    row->steady_calls += steady;
    row->steady_recompute_calls += steady && first->recompute;
    for (uint32_t i = call->from; i < call->to; i++)
        if (!add_launch(making, index, &facts->launches[order[i]], err))
            return false;
    return tally_add(&making->strides, index, strides_of(facts->trace, call->op), call->self_ns,
                     err) &&
           tally_add(&making->modules, index, first->module, call->self_ns, err);
}

static bool add_calls(struct making *making, struct err *err)
{
    struct work_rows *rows = making->rows;
    for (uint32_t c = 0; c < rows->calls->count; c++) {
        const struct op_call *call = &rows->calls->calls[c];
        if (!find_row(making, call->op, &rows->row_of_call[c], err) ||
            !add_call(making, call, rows->row_of_call[c], err))
            return false;
    }
    return true;
}

// --- the finished rows ---------------------------------------------------------------------------

static bool find_most(const struct tally *tally, uint32_t count, uint32_t *most,
                      struct arena *arena, struct err *err)
{
    int64_t *best = arena_array(arena, count, sizeof *best, err);
    if (!best)
        return false;
    for (uint32_t i = 0; i < count; i++)
        best[i] = -1;
    tally_most(tally, most, best);
    return true;
}

// Copies limited by another memory or a link, not by the device's memory.
static bool crosses_link(struct str kernel)
{
    static const char *const marks[] = {
        "htod", "dtoh", "ptop", "host_to_device", "device_to_host", "hosttodevice", "devicetohost"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (str_contains_nocase(kernel, str_of(marks[i])))
            return true;
    return false;
}

static bool finish_rows(struct making *making, struct arena *arena, struct err *err)
{
    struct work_rows *rows = making->rows;
    const struct trace *trace = rows->facts->trace;
    uint32_t count = rows->count = making->keys.count;
    uint32_t *kernels = arena_array(arena, count, sizeof *kernels, err);
    uint32_t *modules = arena_array(arena, count, sizeof *modules, err);
    uint32_t *strides = arena_array(arena, count, sizeof *strides, err);
    rows->rows = arena_array(arena, count, sizeof *rows->rows, err);
    if (!kernels || !modules || !strides || !rows->rows ||
        !find_most(&making->kernels, count, kernels, arena, err) ||
        !find_most(&making->modules, count, modules, arena, err) ||
        !find_most(&making->strides, count, strides, arena, err))
        return false;
    for (uint32_t r = 0; r < count; r++) {
        struct work_row *row = &rows->rows[r];
        *row = making->grown[r];
        row->kernel = kernels[r];
        row->module = modules[r];
        row->strides = strides[r];
        struct str kernel = trace_text(trace, row->kernel);
        row->work.precision = precision_refine(row->work.precision, kernel);
        row->host_link = crosses_link(facts_short_name(trace, row->kernel));
        if (row->communicates)
            row->work.note = row->message ? "communication: its bytes are in the table comm_sizes"
                                          : "communication whose message size was not recorded";
    }
    return true;
}

static bool gather_samples(struct work_rows *rows, struct arena *arena, struct err *err)
{
    uint32_t count = rows->calls->count, at = 0;
    rows->samples = arena_room(arena, 2 * (size_t)count, sizeof *rows->samples, err);
    if (!rows->samples)
        return false;
    for (uint32_t r = 0; r < rows->count; r++) {
        rows->rows[r].first = at;
        at += (uint32_t)rows->rows[r].calls;
    }
    for (uint32_t c = 0; c < count; c++)
        rows->samples[rows->rows[rows->row_of_call[c]].first++] = rows->calls->calls[c].self_ns;
    for (uint32_t r = 0; r < rows->count; r++) // each has moved to the start of the next
        rows->rows[r].first -= (uint32_t)rows->rows[r].calls;
    return true;
}

// --- the device ----------------------------------------------------------------------------------

// Memory of the device, 0 if not recorded.
static int64_t memory_bytes(const struct trace *trace)
{
    const struct trace_device *device = identity_device(trace);
    int64_t bytes = device ? device->memory_bytes : VALUE_ABSENT;
    return bytes == VALUE_ABSENT ? 0 : bytes;
}

// The user's rows take precedence over built-in ones.
static bool find_peak(struct work_rows *rows, struct arena *arena, struct err *err)
{
    const struct facts *facts = rows->facts;
    int64_t bytes = memory_bytes(facts->trace);
    struct peaks builtin;
    if (facts->identity.gpu.len == 0)
        return true;
    rows->peak = peaks_find(facts->options->peaks, facts->identity.gpu, bytes);
    if (rows->peak)
        return true;
    if (!peaks_parse(peaks_builtin, arena, &builtin, err))
        return false;
    rows->peak = peaks_find(&builtin, facts->identity.gpu, bytes);
    return true;
}

bool work_rows_make(const struct facts *facts, struct arena *arena, struct work_rows *rows,
                    struct err *err)
{
    struct making making;
    *rows = (struct work_rows){.facts = facts};
    rows->calls = facts->calls;
    if (!find_peak(rows, arena, err))
        return false;
    rows->row_of_call = arena_room(arena, rows->calls->count, sizeof *rows->row_of_call, err);
    if (!rows->row_of_call)
        return false;
    bool ok = begin(&making, rows, arena, err) && add_calls(&making, err) &&
              finish_rows(&making, arena, err);
    end(&making);
    return ok && gather_samples(rows, arena, err);
}
