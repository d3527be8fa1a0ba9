// SPDX-License-Identifier: Apache-2.0
// The rules about device memory: growth, almost none left, much left, reserved but unused. None
// costs time itself; of several devices the worst is reported.
#include "analysis/findings/findings.h"

#include "analysis/report/tables.h"
#include <stdio.h>

struct memory_row {
    const struct table *table;
    size_t row;
};

static bool find_i64(struct memory_row at, unsigned column, int64_t *value)
{
    const struct cell *cell = table_cell(at.table, at.row, column);
    *value = cell->null ? 0 : cell->i;
    return !cell->null;
}

// A figure of a device, negative if it has none.
typedef double measure_fn(struct memory_row at);

// The device with the largest figure from `least` on.
static bool find_worst(const struct finding_case *the_case, measure_fn *measure, double least,
                       struct memory_row *worst)
{
    const struct table *table = report_find(the_case->report, "memory");
    double most = least;
    bool found = false;
    for (size_t i = 0; table && i < table->row_count; i++) {
        struct memory_row at = {table, i};
        double value = measure(at);
        if (value < most || (found && value == most))
            continue;
        most = value;
        *worst = at;
        found = true;
    }
    return found;
}

struct bytes_text {
    char text[32];
};

// "1.25 GB"; 1 GB = 1e9 bytes.
static struct bytes_text bytes_text(double bytes)
{
    struct bytes_text text;
    if (bytes >= 1e9)
        snprintf(text.text, sizeof text.text, "%.2f GB", bytes / 1e9);
    else
        snprintf(text.text, sizeof text.text, "%.2f MB", bytes / 1e6);
    return text;
}

static const char *device_of(struct memory_row at)
{
    return table_cell(at.table, at.row, MEMORY_DEVICE)->s.at;
}

// --- growth --------------------------------------------------------------------------------------

static double leak_of(struct memory_row at)
{
    int64_t leak;
    return find_i64(at, MEMORY_LEAK, &leak) && leak
               ? table_cell(at.table, at.row, MEMORY_LEAK_BYTES_PER_STEP)->f
               : -1;
}

static bool check_leak(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct memory_row at;
    *fires = find_worst(the_case, leak_of, 0, &at);
    if (!*fires)
        return true;
    double slope = leak_of(at);
    int64_t growth, steps;
    find_i64(at, MEMORY_LEAK_GROWTH_BYTES, &growth);
    find_i64(at, MEMORY_LEAK_STEPS, &steps);
    finding->severity = slope >= FINDING_LEAK_HIGH_BYTES     ? "high"
                        : slope >= FINDING_LEAK_MEDIUM_BYTES ? "medium"
                                                             : "low";
    finding->confidence = "medium";
    finding->title = arena_printf(the_case->arena, err, "memory of %s grows by %s per step",
                                  device_of(at), bytes_text(slope).text);
    finding->evidence =
        findings_fact(the_case, "memory_timeline", err,
                      "95 %% interval from %s to %s per step; %s gained over "
                      "%s steady steps",
                      bytes_text(table_cell(at.table, at.row, MEMORY_LEAK_LOW)->f).text,
                      bytes_text(table_cell(at.table, at.row, MEMORY_LEAK_HIGH)->f).text,
                      bytes_text((double)growth).text, count_text((int64_t)steps).text);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_memory_leak = {
    .name = "memory_leak",
    .why = "The minimum of allocated memory rises from step to step, so something keeps tensors "
           "alive; the job will run out of memory.",
    .advice = "Look for tensors kept alive with their graph: a loss or metric accumulated without "
              ".item() or .detach(), a list of outputs, hooks, caches that are never cleared.",
    .method = "Theil-Sen slope of each steady step's minimum of allocated bytes, when its 95 % "
              "interval is above 0 and memory grew by more than 1 MB. High from 100 MB per step, "
              "medium from 1 MB.",
    .false_alarms = "Caches that fill up once (a key-value cache, growing sequence lengths) stop "
                    "growing after a while, which a longer recording shows.",
    .check = check_leak,
};

// --- almost none left ----------------------------------------------------------------------------

// The most the allocator held, as a share of the device's memory.
static double used_share(struct memory_row at)
{
    int64_t capacity, used;
    if (!find_i64(at, MEMORY_CAPACITY_BYTES, &capacity) || capacity <= 0)
        return -1;
    if (!find_i64(at, MEMORY_PEAK_RESERVED_BYTES, &used))
        find_i64(at, MEMORY_PEAK_ALLOCATED_BYTES, &used);
    return (double)used / (double)capacity;
}

static bool tell_use(const struct finding_case *the_case, struct memory_row at,
                     struct finding *finding, struct err *err)
{
    int64_t capacity, peak;
    find_i64(at, MEMORY_CAPACITY_BYTES, &capacity);
    find_i64(at, MEMORY_PEAK_ALLOCATED_BYTES, &peak);
    double percent = 100 * used_share(at);
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err, "the memory of %s is %.*f %% full at the peak",
                     device_of(at), percent < 9.95 ? 1 : 0, percent);
    finding->evidence =
        findings_fact(the_case, "memory", err, "%s of %s held by the allocator, %s allocated",
                      bytes_text(used_share(at) * (double)capacity).text,
                      bytes_text((double)capacity).text, bytes_text((double)peak).text);
    return finding->title && finding->evidence;
}

static bool check_full(const struct finding_case *the_case, bool *fires, struct finding *finding,
                       struct err *err)
{
    struct memory_row at;
    *fires = find_worst(the_case, used_share, FINDING_MEMORY_FULL_SHARE, &at);
    finding->severity = "medium";
    return !*fires || tell_use(the_case, at, finding, err);
}

const struct finding_rule finding_memory_full = {
    .name = "memory_near_capacity",
    .why = "Little memory is left. A failing allocation makes the allocator free cached blocks, "
           "which waits for the device, or ends the job.",
    .advice = "Leave some room: activation checkpointing, a smaller batch with accumulation, or "
              "sharded optimizer states. Allocator retries among the idle causes show that there "
              "is already too little.",
    .method = "Peak of reserved bytes (allocated bytes if those are not recorded) divided by the "
              "device's memory; reported from 92 %.",
    .false_alarms = "An allocator configured to reserve all memory at the start.",
    .check = check_full,
};

// --- much left -----------------------------------------------------------------------------------

static double free_share(struct memory_row at)
{
    double used = used_share(at);
    return used < 0 ? -1 : 1 - used;
}

static bool check_headroom(const struct finding_case *the_case, bool *fires,
                           struct finding *finding, struct err *err)
{
    struct memory_row at;
    *fires = find_worst(the_case, free_share, FINDING_HEADROOM_SHARE, &at);
    finding->severity = "info";
    return !*fires || tell_use(the_case, at, finding, err);
}

const struct finding_rule finding_memory_headroom = {
    .name = "memory_headroom",
    .why = "Most of the device's memory is free. Larger batches use the device better, and "
           "activations kept in memory need no recomputation.",
    .advice = "Try a larger batch, or longer sequences; turn activation checkpointing or "
              "offloading off if they are on.",
    .method = "Peak of reserved bytes (allocated bytes if those are not recorded) divided by the "
              "device's memory; reported up to 50 %.",
    .false_alarms = "Other processes may share the device; the task may fix the batch size.",
    .check = check_headroom,
};

// --- reserved but unused -------------------------------------------------------------------------

static double fragmentation_of(struct memory_row at)
{
    int64_t bytes;
    const struct cell *share = table_cell(at.table, at.row, MEMORY_FRAGMENTATION_SHARE);
    return find_i64(at, MEMORY_FRAGMENTATION_BYTES, &bytes) && bytes >= FINDING_FRAGMENT_BYTES &&
                   !share->null
               ? share->f
               : -1;
}

static bool check_fragmentation(const struct finding_case *the_case, bool *fires,
                                struct finding *finding, struct err *err)
{
    struct memory_row at;
    *fires = find_worst(the_case, fragmentation_of, FINDING_FRAGMENT_SHARE, &at);
    if (!*fires)
        return true;
    int64_t bytes, peak;
    find_i64(at, MEMORY_FRAGMENTATION_BYTES, &bytes);
    find_i64(at, MEMORY_PEAK_ALLOCATED_BYTES, &peak);
    finding->severity = used_share(at) >= FINDING_MEMORY_FULL_SHARE ? "medium" : "low";
    finding->confidence = "medium";
    finding->title =
        arena_printf(the_case->arena, err, "%s (%.0f %%) of the memory reserved on %s is unused",
                     bytes_text((double)bytes).text, 100 * fragmentation_of(at), device_of(at));
    finding->evidence =
        findings_fact(the_case, "memory", err, "at the peak %s are allocated of %s reserved",
                      bytes_text((double)peak).text, bytes_text((double)(peak + bytes)).text);
    return finding->title && finding->evidence;
}

const struct finding_rule finding_memory_fragmentation = {
    .name = "memory_fragmentation",
    .why = "The allocator holds blocks that current allocations do not fit into, so memory runs "
           "out earlier than necessary.",
    .advice = "Fewer distinct sizes, for example by padding sequence lengths; "
              "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True (on ROCm only new versions of "
              "PyTorch have it: try it in a short job first).",
    .method = "Reserved minus allocated memory at the allocation peak; reported from 20 % of "
              "reserved and 1 GB.",
    .false_alarms =
        "Memory that an earlier phase needed stays reserved; this hurts only when memory is short.",
    .check = check_fragmentation,
};
