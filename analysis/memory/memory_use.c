// SPDX-License-Identifier: Apache-2.0
// Memory of each device: its curve, its peak and what held it, and whether it grows.
#include "analysis/trace/analyses.h"
#include "analysis/facts/context.h"
#include "analysis/facts/facts_within.h"
#include "analysis/memory/memory_alive.h"
#include "analysis/memory/memory_leak.h"
#include "analysis/memory/memory_timeline.h"
#include "analysis/report/trust.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

// What is reported of one device.
struct memory {
    const struct facts *facts;
    const struct memory_curve *curve;
    struct arena *arena;
    int64_t origin_ns;
    struct memory_peak peak;
    int64_t peak_ns;
    int64_t most_reserved, peak_reserved; // VALUE_ABSENT if not recorded
    int64_t capacity;                     // of the device, VALUE_ABSENT if unknown
    struct memory_leak leak;
    int64_t rest; // part of the peak that no recorded block explains
    char note[640];
    size_t note_len;
};

static void note(struct memory *memory, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Adds a sentence to the note; one that does not fit is dropped.
static void note(struct memory *memory, const char *fmt, ...)
{
    size_t room = sizeof memory->note - memory->note_len;
    size_t begin = memory->note_len;
    if (begin && room > 2) {
        memcpy(memory->note + begin, "; ", 2);
        begin += 2;
        room -= 2;
    }
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(memory->note + begin, room, fmt, args);
    va_end(args);
    if (len >= 0 && (size_t)len < room)
        memory->note_len = begin + (size_t)len;
    memory->note[memory->note_len] = '\0';
}

static void note_totals(struct memory *memory)
{
    const struct memory_curve *curve = memory->curve;
    if (curve->lower_bound)
        note(memory, "totals are not recorded, so they are summed from the first event on and miss "
                     "memory allocated before it");
    else if (curve->worked_out)
        note(memory,
             "%" PRIu32 " of %" PRIu32 " totals are not recorded and are computed from the bytes",
             curve->worked_out, curve->count);
    if (memory->peak.point == FACTS_NONE)
        note(memory, "the peak was before the first event");
    if (memory->rest < 0)
        note(memory,
             "blocks recorded as alive exceed the total at the peak by %" PRId64
             " bytes, so releases are missing",
             -memory->rest);
}

static void note_missing(struct memory *memory)
{
    bool host = memory->curve->device_type == 0;
    if (host)
        note(memory, "the host does not reserve memory");
    else if (memory->most_reserved == VALUE_ABSENT)
        note(memory, "reserved bytes are not recorded");
    else if (memory->peak_reserved == VALUE_ABSENT)
        note(memory, "reserved bytes at the peak are not recorded");
    else if (memory->peak_reserved < memory->peak.allocated)
        note(memory, "recorded reserved memory is below allocated memory at the peak");
    if (memory->leak.note)
        note(memory, "%s", memory->leak.note);
    if (!host && memory->capacity == VALUE_ABSENT)
        note(memory, "the memory size of the device is not recorded");
}

static void find_reserved(struct memory *memory)
{
    const struct trace *trace = memory->facts->trace;
    memory->most_reserved = memory->peak_reserved = VALUE_ABSENT;
    for (uint32_t i = 0; i < memory->curve->count; i++) {
        int64_t reserved = memory_curve_reserved(trace, memory->curve, i);
        if (reserved > memory->most_reserved)
            memory->most_reserved = reserved;
        if (i == memory->peak.point)
            memory->peak_reserved = reserved;
    }
}

// Memory of a device by its index, from the trace's list of devices.
static int64_t capacity_of(const struct trace *trace, const struct memory_curve *curve)
{
    for (uint32_t i = 0; curve->device_type != 0 && i < trace->device_count; i++) {
        const struct trace_device *device = &trace->devices[i];
        if (device->id == curve->device && device->memory_bytes > 0)
            return device->memory_bytes;
    }
    return VALUE_ABSENT;
}

static const struct step *step_at(const struct facts *facts, int64_t time_ns)
{
    for (uint32_t s = 0; facts->marked && s < facts->step_count; s++)
        if (facts->steps[s].mark_begin_ns <= time_ns && time_ns < facts->steps[s].mark_end_ns)
            return &facts->steps[s];
    return NULL;
}

static bool add_peak(const struct memory *memory, struct row *row, struct err *err)
{
    const struct facts *facts = memory->facts;
    const struct step *step = step_at(facts, memory->peak_ns);
    struct context context = {FACTS_NONE, FACTS_NONE, 0};
    if (memory->peak.point != FACTS_NONE &&
        !context_at(facts, memory->curve->events[memory->peak.point], &context, err))
        return false;
    struct str path = context_module_path(facts, context.module, memory->arena, err);
    if (!path.at)
        return false;
    row_i64(row, MEMORY_PEAK_NS, memory->peak_ns - memory->origin_ns);
    row_i64_if(row, MEMORY_PEAK_STEP, step, step ? step->number : 0);
    bool op = context.op != FACTS_NONE;
    row_text_if(row, MEMORY_PEAK_OP, op,
                trace_text(facts->trace, op ? facts->trace->name[context.op] : 0));
    row_text_if(row, MEMORY_PEAK_MODULE, path.len > 0, path);
    return true;
}

static void add_leak(struct row *row, const struct memory_leak *leak)
{
    row_f64(row, MEMORY_LEAK_BYTES_PER_STEP, leak->line.slope);
    row_f64_if(row, MEMORY_LEAK_LOW, leak->known, leak->line.low);
    row_f64_if(row, MEMORY_LEAK_HIGH, leak->known, leak->line.high);
    row_bool_if(row, MEMORY_LEAK, leak->known, leak->leaks);
}

static bool add_row(struct memory *memory, struct report *report, struct err *err)
{
    const struct memory_curve *curve = memory->curve;
    int64_t end_reserved = memory_curve_reserved(memory->facts->trace, curve, curve->count - 1);
    bool known = memory->peak_reserved >= memory->peak.allocated;
    int64_t fragmentation = known ? memory->peak_reserved - memory->peak.allocated : 0;
    char device[32];
    struct row row = {.desc = &table_memory};
    row_text(&row, MEMORY_DEVICE, memory_curve_device(curve, device));
    row_i64(&row, MEMORY_EVENTS, curve->count);
    row_i64(&row, MEMORY_PEAK_ALLOCATED_BYTES, memory->peak.allocated);
    row_i64_if(&row, MEMORY_PEAK_RESERVED_BYTES, memory->most_reserved != VALUE_ABSENT,
               memory->most_reserved);
    if (!add_peak(memory, &row, err))
        return false;
    row_i64_if(&row, MEMORY_FRAGMENTATION_BYTES, known, fragmentation);
    row_f64_if(&row, MEMORY_FRAGMENTATION_SHARE, known && memory->peak_reserved > 0,
               (double)fragmentation / (double)memory->peak_reserved);
    row_i64(&row, MEMORY_BEGIN_BYTES, curve->begin_bytes);
    row_i64(&row, MEMORY_END_BYTES, curve->allocated[curve->count - 1]);
    add_leak(&row, &memory->leak);
    row_i64_if(&row, MEMORY_CAPACITY_BYTES, memory->capacity != VALUE_ABSENT, memory->capacity);
    row_text_if(&row, MEMORY_NOTE, memory->note_len > 0,
                (struct str){memory->note, memory->note_len});
    row_i64_if(&row, MEMORY_LEAK_GROWTH_BYTES, memory->leak.steps >= 2, memory->leak.growth_bytes);
    row_i64(&row, MEMORY_LEAK_STEPS, memory->leak.steps);
    row_i64_if(&row, MEMORY_END_RESERVED_BYTES, end_reserved != VALUE_ABSENT, end_reserved);
    return row_end(&row, report, err);
}

static bool add_device(struct memory *memory, struct report *report, struct err *err)
{
    const struct facts *facts = memory->facts;
    const struct memory_curve *curve = memory->curve;
    memory->peak = memory_curve_peak(curve);
    memory->peak_ns = memory_curve_time(facts->trace, curve,
                                        memory->peak.point == FACTS_NONE ? 0 : memory->peak.point);
    find_reserved(memory);
    if (facts->is_part)
        memory->leak = (struct memory_leak){.line = {.slope = NAN}};
    else if (!memory_leak_make(facts, curve, &memory->leak, err) ||
             !memory_timeline_add(facts->trace, curve, memory->origin_ns, report, err) ||
             !memory_alive_add(facts, curve, memory->peak, report, &memory->rest, err))
        return false;
    note_totals(memory);
    note_missing(memory);
    return add_row(memory, report, err);
}

// Keeps the points of a device that are in a part of the trace; what it held before the first of
// them is its level at the start.
static void keep_chosen(const struct facts_part *part, struct memory_curve *curve)
{
    uint32_t count = 0;
    int64_t before = curve->begin_bytes;
    for (uint32_t i = 0; i < curve->count; i++) {
        uint32_t event = curve->events[i];
        int64_t after = curve->allocated[i];
        if (part->memory_sets[event] & part->memory_bit) {
            if (count == 0)
                curve->begin_bytes = before;
            curve->events[count] = event;
            curve->allocated[count++] = after;
        }
        before = after;
    }
    curve->count = count;
}

static bool add_left_out(int64_t count, const char *detail, struct report *report, struct err *err)
{
    struct doubt doubt = {.item = "allocations",
                          .severity = "warning",
                          .count = count,
                          .detail = detail,
                          .effect = "these devices have no memory figures"};
    return count == 0 || doubt_add(report, &doubt, err);
}

// The origin of times: the window, or the first allocation if there is none.
static int64_t origin_of(const struct facts *facts, const struct memory_curves *curves)
{
    if (facts->device_count)
        return facts->begin_ns;
    int64_t origin_ns = INT64_MAX;
    for (uint32_t d = 0; d < curves->count; d++) {
        int64_t time_ns = memory_curve_time(facts->trace, &curves->curves[d], 0);
        origin_ns = time_ns < origin_ns ? time_ns : origin_ns;
    }
    return origin_ns;
}

static bool add_all(const struct facts *facts, struct arena *arena, struct report *report,
                    struct err *err)
{
    struct memory_curves curves;
    if (!memory_curves_make(facts, arena, &curves, err))
        return false;
    int64_t overflown = 0;
    for (uint32_t d = 0; d < curves.count; d++) {
        struct memory memory = {.facts = facts,
                                .curve = &curves.curves[d],
                                .arena = arena,
                                .origin_ns = origin_of(facts, &curves),
                                .capacity = capacity_of(facts->trace, &curves.curves[d])};
        if (facts->is_part)
            keep_chosen(facts_part(facts), &curves.curves[d]);
        if (memory.curve->count == 0)
            continue;
        overflown += memory.curve->overflow ? memory.curve->count : 0;
        if (!memory.curve->overflow && !add_device(&memory, report, err))
            return false;
    }
    return add_left_out(overflown, "allocations whose bytes sum to more than 63 bits", report,
                        err) &&
           add_left_out(curves.left_out, "allocations on devices beyond the 64th", report, err);
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    if (facts->trace->memory_args_count == 0)
        return true;
    return add_all(facts, scratch, report, err);
}

const struct analysis memory_use_analysis = {"memory_use", run};
