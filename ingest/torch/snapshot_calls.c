// SPDX-License-Identifier: Apache-2.0
#include "ingest/torch/snapshot_calls.h"

enum { MOST_USERS = 3, MOST_INNER = 2, MOST_OPERATORS = 2, MOST_NAME = 160 };

void snapshot_calls_free(struct snapshot_calls *calls)
{
    buf_free(&calls->shown);
    buf_free(&calls->inner);
    buf_free(&calls->operators);
}

void snapshot_calls_open(struct snapshot_calls *calls)
{
    buf_clear(&calls->shown);
    buf_clear(&calls->inner);
    buf_clear(&calls->operators);
    calls->users = calls->count = calls->operator_count = 0;
    calls->category = SNAPSHOT_UNKNOWN;
}

// --- categories ---------------------------------------------------------------------------------

// A call that tells what memory is for: its file, its function, or both. The innermost one decides,
// so activations that are computed again during the backward pass are activations.
static const struct {
    const char *file, *function;
    enum snapshot_category category;
} rules[] = {
    {"torch/optim/", NULL, SNAPSHOT_OPTIMIZER},
    {"/optimizer", NULL, SNAPSHOT_OPTIMIZER},
    {"/optim/", NULL, SNAPSHOT_OPTIMIZER},
    {NULL, "_init_group", SNAPSHOT_OPTIMIZER},
    {"torch/utils/data/", NULL, SNAPSHOT_INPUTS},
    {NULL, "collate_fn", SNAPSHOT_INPUTS},
    {NULL, "backward", SNAPSHOT_GRADIENTS},
    {NULL, "_engine_run_backward", SNAPSHOT_GRADIENTS},
    {NULL, "__init__", SNAPSHOT_WEIGHTS},
    {NULL, "reset_parameters", SNAPSHOT_WEIGHTS},
    {NULL, "init_weights", SNAPSHOT_WEIGHTS},
    {NULL, "_init_weights", SNAPSHOT_WEIGHTS},
    {"torch/nn/modules/module.py", "_apply", SNAPSHOT_WEIGHTS},
    {"torch/nn/modules/module.py", "convert", SNAPSHOT_WEIGHTS},
    {NULL, "load_state_dict", SNAPSHOT_WEIGHTS},
    {NULL, "from_pretrained", SNAPSHOT_WEIGHTS},
    {NULL, "forward", SNAPSHOT_ACTIVATIONS},
    {"torch/nn/modules/module.py", "_call_impl", SNAPSHOT_ACTIVATIONS},
};

static enum snapshot_category category_of(const struct call_frame *frame)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if ((!rules[i].file || call_frame_is_in(frame->filename, rules[i].file)) &&
            (!rules[i].function || str_equal(frame->name, str_of(rules[i].function))))
            return rules[i].category;
    return SNAPSHOT_OTHER;
}

// --- calls --------------------------------------------------------------------------------------

static struct str cut(struct str text)
{
    return text.len > MOST_NAME
               ? (struct str){text.at, str_valid_utf8((struct str){text.at, MOST_NAME})}
               : text;
}

static void put(struct buf *out, const struct call_frame *frame)
{
    buf_puts(out, out->len ? ", " : "");
    buf_add_str(out, cut(frame->name));
    buf_puts(out, " (");
    buf_add_str(out, cut(call_frame_file(frame->filename)));
    buf_printf(out, ":%lld)", (long long)frame->line);
}

// --- compiled code ------------------------------------------------------------------------------

// Names of operators and of autograd's nodes are between these.
static const struct {
    const char *before, *after, *shown;
} marks[] = {
    {"at::_ops::", "::call(", "aten::"},
    {"torch::autograd::generated::", "::apply(", ""},
};

static struct str operator_in(struct str name, const char *before, const char *after)
{
    struct str head = str_of(before);
    if (!str_starts_with(name, head))
        return STR("");
    struct str rest = {name.at + head.len, name.len - head.len};
    size_t end = str_find(rest, str_of(after));
    return end < rest.len ? (struct str){rest.at, end} : STR("");
}

static void add_native(struct snapshot_calls *calls, struct str name)
{
    bool open = calls->category == SNAPSHOT_UNKNOWN || calls->category == SNAPSHOT_OTHER;
    if (open && str_starts_with(name, STR("torch::autograd::Engine::")))
        calls->category = SNAPSHOT_GRADIENTS;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        struct str found = operator_in(name, marks[i].before, marks[i].after);
        if (found.len == 0 || calls->operator_count++ >= MOST_OPERATORS)
            continue;
        buf_puts(&calls->operators, calls->operators.len ? ", " : "");
        buf_puts(&calls->operators, marks[i].shown);
        buf_add_str(&calls->operators, cut(found));
    }
}

void snapshot_calls_add(struct snapshot_calls *calls, const struct call_frame *frame)
{
    if (call_frame_is_native(frame->filename)) {
        add_native(calls, frame->name);
        return;
    }
    if (calls->category == SNAPSHOT_UNKNOWN || calls->category == SNAPSHOT_OTHER)
        calls->category = category_of(frame);
    if (!call_frame_is_of_library(frame->filename)) {
        if (calls->users++ < MOST_USERS)
            put(&calls->shown, frame);
    } else if (calls->count++ < MOST_INNER) {
        put(&calls->inner, frame);
    }
}

bool snapshot_calls_close(struct snapshot_calls *calls, struct evidence *evidence, uint32_t *stack,
                          struct err *err)
{
    const struct buf *text = calls->users   ? &calls->shown
                             : calls->count ? &calls->inner
                                            : &calls->operators;
    return buf_ok(text, err) && memory_snapshot_stack(evidence, (struct str){text->at, text->len},
                                                      calls->category, stack, err);
}

// --- inspect ------------------------------------------------------------------------------------

// The stack that held most at the device's peak, of those recorded.
static uint32_t largest_stack(const struct memory_snapshot *snapshot,
                              const struct snapshot_device *device, int64_t *bytes)
{
    uint32_t largest = SNAPSHOT_NO_STACK;
    *bytes = 0;
    for (size_t i = 0; i < device->site_cap && i < snapshot->stack_count; i++) {
        struct snapshot_use use = snapshot_use_at_peak(device, &device->sites[i]);
        if (use.bytes <= *bytes)
            continue;
        *bytes = use.bytes;
        largest = (uint32_t)i;
    }
    return largest;
}

// Of the device with the highest peak, for people.
static void report_peak(const struct memory_snapshot *snapshot, struct figures *figures)
{
    const struct snapshot_device *highest = NULL;
    int64_t peak = 0, bytes, ooms = 0;
    for (size_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++) {
        const struct snapshot_device *device = snapshot->devices[i];
        if (!device || device->events == 0)
            continue;
        int64_t own = snapshot_allocated_before(device);
        figures_sum(&own, device->peak);
        figures_sum(&ooms, device->ooms);
        if (!highest || own > peak) {
            highest = device;
            peak = own;
        }
    }
    if (!highest)
        return;
    uint32_t stack = largest_stack(snapshot, highest, &bytes);
    figures_add(figures, ooms, "failed_requests");
    figures_add(figures, peak, "peak_allocated");
    figures_add(figures, bytes, "most_by_one_call");
    figures_text(figures, snapshot_frames(snapshot, stack), "which_is");
}

static void report_snapshot(const struct evidence *evidence, struct figures *figures)
{
    snapshot_report(&evidence->memory->sums, figures);
    report_peak(evidence->memory, figures);
}

bool snapshot_count(const struct format_input *input, evidence_gather *gather, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather, report_snapshot}, input, err);
}
