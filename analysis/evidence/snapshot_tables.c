// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/snapshot_tables.h"

#include "analysis/evidence/snapshot_view.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/stats/leak.h"

void snapshot_row_place(const struct snapshot_view *view, struct row *row)
{
    unsigned first = table_first(row->desc);
    row_text(row, first, view->file);
    row_i64_if(row, first + 1, view->snapshot->rank >= 0, view->snapshot->rank);
    row_i64(row, first + 2, view->number);
}

void snapshot_row_calls(const struct snapshot_view *view, struct row *row, unsigned column,
                        uint32_t stack)
{
    struct str calls = snapshot_frames(view->snapshot, stack);
    row_text_if(row, column, calls.len, calls);
}

// --- the device ---------------------------------------------------------------------------------

static int64_t sum(int64_t a, int64_t b)
{
    figures_sum(&a, b);
    return a;
}

static void row_recorded(const struct snapshot_view *view, struct row *row)
{
    const struct snapshot_device *device = view->device;
    bool timed = device->events > 0 && !view->snapshot->untimed;
    row_i64(row, SNAPSHOTS_EVENTS, device->events);
    row_i64_if(row, SNAPSHOTS_DURATION_NS, timed, 1000 * (device->last_us - device->first_us));
    row_i64_if(row, SNAPSHOTS_PEAK_NS, timed && device->peak > 0,
               1000 * (device->peak_us - device->first_us));
    row_i64(row, SNAPSHOTS_PEAK_ALLOCATED_BYTES,
            sum(device->peak, snapshot_allocated_before(view->snapshot, view->number)));
    row_i64_if(row, SNAPSHOTS_PEAK_RESERVED_BYTES, !view->snapshot->sums.profiled,
               sum(device->peak_reserved, snapshot_reserved_before(device)));
    row_i64_if(row, SNAPSHOTS_BEGIN_BYTES, snapshot_is_replayed(device),
               snapshot_allocated_before(view->snapshot, view->number));
    row_i64(row, SNAPSHOTS_OOMS, device->ooms);
}

static void row_end_state(const struct snapshot_view *view, struct row *row)
{
    const struct snapshot_device *device = view->device;
    row_i64(row, SNAPSHOTS_END_ALLOCATED_BYTES, device->in_use);
    if (view->snapshot->sums.profiled)
        return;
    row_i64(row, SNAPSHOTS_END_RESERVED_BYTES, device->total);
    row_i64(row, SNAPSHOTS_FRAGMENTATION_BYTES, device->total - device->in_use);
    row_share(row, SNAPSHOTS_FRAGMENTATION_SHARE, device->total - device->in_use, device->total);
    row_i64(row, SNAPSHOTS_FREE_BLOCKS, device->free_blocks);
    row_i64(row, SNAPSHOTS_LARGEST_FREE_BYTES, device->largest_free);
    row_i64(row, SNAPSHOTS_RELEASABLE_BYTES, device->releasable);
    row_i64(row, SNAPSHOTS_SEGMENTS, device->segments);
}

static void row_growth(const struct snapshot_growing *growing, struct row *row)
{
    bool known = growing->steps > 0;
    row_i64_if(row, SNAPSHOTS_GROWTH_STEPS, known, (int64_t)growing->steps);
    row_f64_if(row, SNAPSHOTS_GROWTH_BYTES, known,
               (double)growing->bytes / (double)(known ? growing->steps : 1));
    row_bool_if(row, SNAPSHOTS_LEAK, known, growing->bytes > LEAK_BYTES);
}

// --- over time ----------------------------------------------------------------------------------

static bool add_series(const struct snapshot_view *view, struct err *err)
{
    const struct snapshot_device *device = view->device;
    struct level_point *points = arena_array(view->scratch, LEVEL_MOST_POINTS, sizeof *points, err);
    size_t count = points ? level_curve_points(&device->curve, points) : 0;
    for (size_t i = 0; i < count; i++) {
        struct row row = {.desc = &table_snapshot_series};
        snapshot_row_place(view, &row);
        row_i64(&row, SNAPSHOT_SERIES_TIME_NS, 1000 * (points[i].time_us - device->first_us));
        row_i64(&row, SNAPSHOT_SERIES_ALLOCATED_BYTES,
                sum(points[i].allocated, snapshot_allocated_before(view->snapshot, view->number)));
        row_i64_if(&row, SNAPSHOT_SERIES_RESERVED_BYTES, !view->snapshot->sums.profiled,
                   sum(points[i].reserved, snapshot_reserved_before(device)));
        if (!row_end(&row, view->report, err))
            return false;
    }
    return points;
}

// --- requests that failed -----------------------------------------------------------------------

static const char *cause_of(const struct snapshot_oom *oom, int64_t cached)
{
    if (cached >= oom->size)
        return "fragmentation";
    return oom->device_free >= oom->size ? "limit" : "full";
}

static bool add_oom(const struct snapshot_view *view, const struct snapshot_oom *oom,
                    struct err *err)
{
    struct row row = {.desc = &table_snapshot_ooms};
    int64_t allocated =
        sum(oom->allocated, snapshot_allocated_before(view->snapshot, view->number));
    int64_t reserved = sum(oom->reserved, snapshot_reserved_before(view->device));
    int64_t cached = figures_minus(reserved, allocated);
    snapshot_row_place(view, &row);
    row_i64_if(&row, SNAPSHOT_OOMS_TIME_NS, !view->snapshot->untimed,
               1000 * (oom->time_us - view->device->first_us));
    row_i64(&row, SNAPSHOT_OOMS_REQUESTED_BYTES, oom->size);
    row_i64(&row, SNAPSHOT_OOMS_DEVICE_FREE_BYTES, oom->device_free);
    row_i64(&row, SNAPSHOT_OOMS_ALLOCATED_BYTES, allocated);
    row_i64(&row, SNAPSHOT_OOMS_RESERVED_BYTES, reserved);
    row_i64(&row, SNAPSHOT_OOMS_CACHED_BYTES, cached);
    row_word(&row, SNAPSHOT_OOMS_CAUSE, cause_of(oom, cached));
    snapshot_row_calls(view, &row, SNAPSHOT_OOMS_CALLS, oom->stack);
    return row_end(&row, view->report, err);
}

static bool add_ooms(const struct snapshot_view *view, struct err *err)
{
    for (size_t i = 0; i < view->snapshot->oom_count; i++)
        if (view->snapshot->ooms[i].device == view->number &&
            !add_oom(view, &view->snapshot->ooms[i], err))
            return false;
    return true;
}

// --- the file -----------------------------------------------------------------------------------

static bool add_device(const struct snapshot_view *view, struct err *err)
{
    struct snapshot_top top = {0};
    struct snapshot_growing growing = {0};
    struct row row = {.desc = &table_snapshots};
    bool recorded = snapshot_is_replayed(view->device);
    if (recorded &&
        !(snapshot_holders_add(view, &top, err) && snapshot_growth_add(view, &growing, err) &&
          add_series(view, err) && add_ooms(view, err)))
        return false;
    snapshot_row_place(view, &row);
    row_recorded(view, &row);
    row_end_state(view, &row);
    row_growth(&growing, &row);
    row_word(&row, SNAPSHOTS_TOP_CATEGORY, top.category);
    row_i64_if(&row, SNAPSHOTS_TOP_CATEGORY_BYTES, top.category, top.bytes);
    return row_end(&row, view->report, err);
}

static bool doubt(const struct snapshot_view *view, const char *item, const char *lacks,
                  const char *effect, struct err *err)
{
    const char *detail = arena_printf(view->report->arena, err, "%.*s %s", (int)view->file.len,
                                      view->file.at, lacks);
    const struct doubt doubt = {
        .item = item, .severity = "info", .count = 1, .detail = detail, .effect = effect};
    return detail && doubt_add(view->report, &doubt, err);
}

static bool add_doubts(const struct snapshot_view *view, bool events, struct err *err)
{
    if (!events)
        return doubt(view, "snapshot_without_events", "has no recorded allocations",
                     "only its end is known: call torch.cuda.memory._record_memory_history() "
                     "before what matters",
                     err);
    if (view->snapshot->incomplete &&
        !doubt(view, "snapshot_incomplete", "lacks events of its allocations",
               "only its end is known: record alloc and free_completed, without skip_actions", err))
        return false;
    if (!view->snapshot->has_frames &&
        !doubt(view, "snapshot_without_calls", "has no calls around allocations",
               "what held memory is not known: record with stacks='all'", err))
        return false;
    return !view->snapshot->untimed ||
           doubt(view, "snapshot_without_times", "has allocations without times",
                 "they keep their order, a microsecond apart", err);
}

bool snapshot_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                         struct err *err)
{
    struct arena scratch;
    struct snapshot_view view = {
        .snapshot = evidence->memory, .file = file, .report = report, .scratch = &scratch};
    bool ok = true, events = false;
    if (!view.snapshot)
        return true;
    for (; ok && view.number < SNAPSHOT_MOST_DEVICES; view.number++) {
        view.device = view.snapshot->devices[view.number];
        if (!view.device)
            continue;
        events |= view.device->events > 0;
        arena_init(&scratch, report->arena->budget);
        ok = add_device(&view, err);
        arena_free(&scratch);
    }
    return ok && add_doubts(&view, events, err);
}
