// SPDX-License-Identifier: Apache-2.0
#include "ingest/torch/snapshot_calls.h"

#include <stdio.h>

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

// The device with the highest peak.
struct highest {
    uint32_t number;
    const struct snapshot_device *device; // NULL: nothing was recorded
    int64_t peak;
};

static struct highest highest_of(const struct memory_snapshot *snapshot)
{
    struct highest highest = {0};
    for (uint32_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++) {
        const struct snapshot_device *device = snapshot->devices[i];
        if (!device || !snapshot_is_replayed(device))
            continue;
        int64_t peak = snapshot_allocated_before(snapshot, i);
        figures_sum(&peak, device->peak);
        if (!highest.device || peak > highest.peak)
            highest = (struct highest){i, device, peak};
    }
    return highest;
}

// What one call held at the peak: what was recorded, and what was there all the time.
static void report_calls(const struct memory_snapshot *snapshot, const struct highest *highest,
                         struct figures *figures)
{
    const struct snapshot_device *device = highest->device;
    struct err err;
    struct snapshot_use *uses =
        figures ? arena_array(figures->arena, snapshot->stack_count, sizeof *uses, &err) : NULL;
    uint32_t largest = SNAPSHOT_NO_STACK;
    int64_t unknown = highest->peak;
    if (!uses)
        return;
    snapshot_add_before(snapshot, highest->number, uses);
    uses[SNAPSHOT_NO_STACK] = (struct snapshot_use){0};
    for (uint32_t i = SNAPSHOT_NO_STACK + 1; i < snapshot->stack_count; i++) {
        if (i < device->site_cap)
            figures_sum(&uses[i].bytes, snapshot_use_at_peak(device, &device->sites[i]).bytes);
        largest = uses[i].bytes > uses[largest].bytes ? i : largest;
        unknown = figures_minus(unknown, uses[i].bytes);
    }
    figures_add(figures, uses[largest].bytes, "most_by_one_call");
    figures_text(figures, snapshot_frames(snapshot, largest), "which_is");
    figures_add(figures, unknown > 0 ? unknown : 0, "peak_without_call");
}

static void report_failed(const struct memory_snapshot *snapshot, struct figures *figures)
{
    int64_t ooms = 0;
    for (size_t i = 0; i < SNAPSHOT_MOST_DEVICES; i++)
        figures_sum(&ooms, snapshot->devices[i] ? snapshot->devices[i]->ooms : 0);
    figures_add(figures, ooms, "failed_requests");
    for (size_t i = 0; i < snapshot->oom_count; i++) {
        const struct snapshot_oom *oom = &snapshot->ooms[i];
        figures_add(figures, oom->device, "failed" IN "%zu" IN "device", i);
        if (!snapshot->untimed)
            figures_add(figures, oom->time_us, "failed" IN "%zu" IN "time_us", i);
        figures_add(figures, oom->size, "failed" IN "%zu" IN "requested", i);
        figures_add(figures, oom->device_free, "failed" IN "%zu" IN "device_free", i);
    }
    if (snapshot->oom_count == 0)
        return;
    const struct snapshot_oom *last = &snapshot->ooms[snapshot->oom_count - 1];
    char text[128];
    snprintf(text, sizeof text, "%lld bytes on device %u, where %lld were free",
             (long long)last->size, last->device, (long long)last->device_free);
    figures_text(figures, str_of(text), "last_failed");
}

// For people.
static void report_peak(const struct memory_snapshot *snapshot, struct figures *figures)
{
    struct highest highest = highest_of(snapshot);
    if (!highest.device)
        return;
    int64_t reserved = snapshot_reserved_before(highest.device);
    figures_sum(&reserved, highest.device->peak_reserved);
    report_failed(snapshot, figures);
    figures_add(figures, highest.peak, "peak_allocated");
    figures_add(figures, highest.number, "peak_device");
    if (!snapshot->untimed && highest.device->peak > 0)
        figures_add(figures, highest.device->peak_us, "peak_time_us");
    if (!snapshot->sums.profiled)
        figures_add(figures, reserved, "peak_reserved");
    report_calls(snapshot, &highest, figures);
}

static void report_snapshot(const struct evidence *evidence, struct figures *figures)
{
    const struct snapshot_sums *sums = &evidence->memory->sums;
    int64_t used = sums->active > sums->allocated ? sums->active : sums->allocated;
    snapshot_report(sums, figures);
    if (!sums->profiled)
        figures_add(figures, sums->reserved > used ? sums->reserved - used : 0, "inactive");
    report_peak(evidence->memory, figures);
}

bool snapshot_count(const struct format_input *input, evidence_gather *gather, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather, report_snapshot}, input, err);
}
