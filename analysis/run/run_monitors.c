// SPDX-License-Identifier: Apache-2.0
#include "analysis/run/run_monitors.h"

#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/report/trust.h"
#include "analysis/run/run_monitors_inner.h"
#include "ingest/trace/trace.h"

#include <math.h>

// Times since 1970 are those of a year with GPUs; others count from an unknown moment.
#define UNIX_FROM_NS (INT64_C(1000000000) * 1000000000)

#define MOST_WORK 2e8 // samples compared, for all files and ranks of a run

struct joined {
    const struct run *run;
    struct arena *scratch; // of one file
    struct rank_device *devices;
    size_t count, cap;
    bool *has;                          // per device: whether a monitor has been joined
    size_t unjoined, unaligned, unlike; // ranks
    double work;                        // left
};

// --- devices ------------------------------------------------------------------------------------

static bool keep(struct arena *arena, struct str text, struct str *kept, struct err *err)
{
    const char *copy = arena_strdup(arena, text, err);
    *kept = (struct str){copy, text.len};
    return copy;
}

static bool make_room(struct joined *joined, size_t count, struct err *err)
{
    size_t size = sizeof *joined->devices, cap = 2 * joined->cap + count + 8;
    if (joined->count + count <= joined->cap)
        return true;
    struct rank_device *grown =
        arena_grow(joined->run->scratch, joined->devices, joined->cap * size, cap * size, err);
    if (!grown)
        return false;
    joined->devices = grown;
    joined->cap = cap;
    return true;
}

static bool take_devices(void *context, size_t rank, const struct report *own, struct err *err)
{
    struct joined *joined = context;
    const struct table *table = report_find(own, "devices");
    struct arena *arena = joined->run->scratch;
    size_t count = table ? table->row_count : 0;
    if (!make_room(joined, count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct rank_device *device = &joined->devices[joined->count++];
        *device = (struct rank_device){.rank = rank,
                                       .node = joined->run->places[rank].node,
                                       .gpu = table_i64(table, i, DEVICES_GPU, -1),
                                       .alone = count == 1,
                                       .monitor = MONITOR_NONE};
        if (!keep(arena, table_text(table, i, DEVICES_GPU_BASIS), &device->basis, err) ||
            !keep(arena, table_text(table, i, DEVICES_DEVICE), &device->device, err) ||
            !keep(arena, table_text(table, i, DEVICES_UUID), &device->uuid, err) ||
            !keep(arena, table_text(table, i, DEVICES_BUS_ID), &device->bus_id, err))
            return false;
    }
    return true;
}

// --- files --------------------------------------------------------------------------------------

static bool is_possible(int64_t time_ns)
{
    return time_ns > -TRACE_MAX_NS && time_ns < TRACE_MAX_NS;
}

// Rows of a GPU are adjacent, in order of time.
static bool index_samples(struct monitor_file *file, struct err *err)
{
    size_t count = file->samples ? file->samples->row_count : 0;
    file->of_gpu = arena_array(file->arena, file->monitors->row_count, sizeof *file->of_gpu, err);
    if (!file->of_gpu)
        return false;
    memset(file->of_gpu, 0, file->monitors->row_count * sizeof *file->of_gpu);
    for (size_t i = 0; i < count; i++) {
        int64_t gpu = table_i64(file->samples, i, MONITOR_SAMPLES_DEVICE, -1);
        if (gpu < 0 || (size_t)gpu >= file->monitors->row_count ||
            !is_possible(monitor_sample_ns(file, i)))
            continue;
        struct gpu_samples *of = &file->of_gpu[gpu];
        of->first = of->count++ ? of->first : i;
    }
    return true;
}

static bool load_file(struct joined *joined, size_t index, struct monitor_file *file,
                      struct err *err)
{
    static const struct table_desc *const known[] = {&table_monitors, &table_monitor_samples, NULL};
    const struct rank_source *source = joined->run->source;
    struct report *found = arena_array(joined->scratch, 1, sizeof *found, err);
    *file = (struct monitor_file){.arena = joined->scratch, .work = &joined->work};
    if (!found)
        return false;
    *found = (struct report){.arena = joined->scratch};
    if (!source->load(source->context, source->count + index, known, found, err))
        return false;
    file->monitors = report_find(found, table_monitors.name);
    file->samples = report_find(found, table_monitor_samples.name);
    if (!file->monitors || !file->monitors->row_count) {
        file->monitors = NULL;
        return true;
    }
    file->name = table_text(file->monitors, 0, MONITORS_FILE);
    return index_samples(file, err);
}

// --- the time of a rank -------------------------------------------------------------------------

static bool read_profile(const struct table *busy, struct rank_time *time, struct arena *arena,
                         struct err *err)
{
    int64_t *before_ns = arena_array(arena, busy->row_count + 1, sizeof *before_ns, err);
    if (!before_ns)
        return false;
    before_ns[0] = 0;
    for (size_t i = 0; i < busy->row_count; i++)
        before_ns[i + 1] = before_ns[i] + table_i64(busy, i, BUSY_SERIES_BUSY_NS, 0);
    time->profile.before_ns = before_ns;
    time->profile.pieces = busy->row_count;
    return true;
}

// A rank without a time has a window of 0.
static bool read_time(const struct run *run, const struct report *own, struct rank_time *time,
                      struct arena *arena, struct err *err)
{
    const struct table *busy = report_find(own, "busy_series");
    const struct table *breakdown = run_head(run, time->of->rank, "breakdown");
    int64_t begin_ns = run_summary_i64(run, time->of->rank, SUMMARY_WINDOW_BEGIN_NS, INT64_MIN);
    int64_t window_ns = breakdown ? table_i64(breakdown, 0, BREAKDOWN_WINDOW_NS, 0) : 0;
    time->unix_time = begin_ns > UNIX_FROM_NS;
    if (!busy || !busy->row_count || window_ns <= 0 || window_ns >= TRACE_MAX_NS ||
        !is_possible(begin_ns))
        return true;
    time->profile.begin_ns = begin_ns;
    time->profile.window_ns = window_ns;
    return read_profile(busy, time, arena, err);
}

// --- one file -----------------------------------------------------------------------------------

static const struct table_desc *const of_rank[] = {&table_busy_series, &table_steps, NULL};

struct ranks {
    struct rank_time *times;
    struct report *own; // of each, by the order of devices
    size_t count;
};

static bool load_rank(const struct joined *joined, const struct monitor_file *file, size_t device,
                      struct ranks *ranks, struct err *err)
{
    const struct rank_source *source = joined->run->source;
    const struct rank_device *of = &joined->devices[device];
    struct rank_time *time = &ranks->times[ranks->count];
    *time = (struct rank_time){.of = of};
    ranks->own[device] = (struct report){.arena = file->arena};
    if (!source->load(source->context, of->rank, of_rank, &ranks->own[device], err) ||
        !read_time(joined->run, &ranks->own[device], time, file->arena, err))
        return false;
    ranks->count += time->profile.window_ns > 0;
    return true;
}

// What the monitor saw and what the trace has are one thing, or the join or the time is wrong.
static bool is_unlike(const struct table *rows, size_t row)
{
    double seen = table_f64(rows, row, RUN_RANK_MONITORS_UTILIZATION_SHARE, NAN);
    double busy = table_f64(rows, row, RUN_RANK_MONITORS_BUSY_SHARE, NAN);
    return table_i64(rows, row, RUN_RANK_MONITORS_SAMPLES, 0) >= 3 && busy - seen > 0.5;
}

static bool add_ranks(struct joined *joined, const struct monitor_file *file, struct ranks *ranks,
                      struct err *err)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const struct rank_time *rank = &ranks->times[i];
        size_t device = (size_t)(rank->of - joined->devices);
        if (!monitor_add_rank(joined->run, file, rank, &ranks->own[device], err))
            return false;
        const struct table *rows = report_find(joined->run->report, "rank_monitors");
        joined->has[device] = true;
        joined->unaligned += !rank->time.aligned_by;
        joined->unlike += is_unlike(rows, rows->row_count - 1);
    }
    return true;
}

static bool join_file(struct joined *joined, const struct monitor_file *file, struct err *err)
{
    struct ranks ranks = {
        .times = arena_array(file->arena, joined->count + 1, sizeof *ranks.times, err),
        .own = arena_array(file->arena, joined->count + 1, sizeof *ranks.own, err)};
    if (!ranks.times || !ranks.own)
        return false;
    monitor_join(file, joined->devices, joined->count);
    for (size_t i = 0; i < joined->count; i++)
        if (joined->devices[i].monitor != MONITOR_NONE && !load_rank(joined, file, i, &ranks, err))
            return false;
    return monitor_align(file, ranks.times, ranks.count, err) &&
           add_ranks(joined, file, &ranks, err);
}

// --- what is not known --------------------------------------------------------------------------

static bool add_unjoined(struct joined *joined, struct err *err)
{
    for (size_t i = 0; i < joined->count; i++) {
        const struct rank_device *device = &joined->devices[i];
        struct row row = {.desc = &table_run_rank_monitors};
        if (joined->has[i])
            continue;
        joined->unjoined++;
        row_i64(&row, RUN_RANK_MONITORS_RANK, joined->run->ranks[device->rank]);
        row_text(&row, RUN_RANK_MONITORS_DEVICE, device->device);
        row_word(&row, RUN_RANK_MONITORS_DOUBT,
                 device->doubt ? device->doubt
                               : "no GPU of a monitor has its UUID, PCI address or index");
        if (!row_end(&row, joined->run->report, err))
            return false;
    }
    return true;
}

static bool add_doubt(const struct run *run, const char *item, size_t count, const char *detail,
                      const char *effect, struct err *err)
{
    struct row row = {.desc = &table_run_trust};
    if (count == 0)
        return true;
    row_word(&row, RUN_TRUST_ITEM, item);
    row_word(&row, RUN_TRUST_SEVERITY, "info");
    row_i64(&row, RUN_TRUST_COUNT, (int64_t)count);
    row_word(&row, RUN_TRUST_DETAIL, detail);
    row_word(&row, RUN_TRUST_EFFECT, effect);
    return row_end(&row, run->report, err);
}

static bool add_doubts(const struct joined *joined, struct err *err)
{
    return add_doubt(joined->run, "monitor_not_joined", joined->unjoined,
                     "ranks whose GPU is not known to be one of the monitors'",
                     "they have no power, clock or temperature; rank_monitors says why", err) &&
           add_doubt(joined->run, "monitor_not_aligned", joined->unaligned,
                     "monitors whose times could not be aligned with the rank's trace",
                     "figures of these ranks are of all that the monitor recorded", err) &&
           add_doubt(joined->run, "monitor_unlike_trace", joined->unlike,
                     "monitors that saw a GPU idle while the rank's trace has work on it",
                     "the GPU or the time may be that of another rank or job", err);
}

// --- all files ----------------------------------------------------------------------------------

static bool join_files(struct joined *joined, struct err *err)
{
    bool any = false;
    for (size_t i = 0; i < joined->run->source->evidence_count; i++) {
        struct arena scratch;
        struct monitor_file file;
        arena_init(&scratch, joined->run->budget);
        joined->scratch = &scratch;
        bool ok =
            load_file(joined, i, &file, err) && (!file.monitors || join_file(joined, &file, err));
        any = any || (ok && file.monitors);
        arena_free(&scratch);
        if (!ok)
            return false;
    }
    return !any || (add_unjoined(joined, err) && add_doubts(joined, err));
}

bool run_join_monitors(const struct run *run, struct err *err)
{
    static const struct table_desc *const known[] = {&table_devices, NULL};
    struct joined joined = {.run = run, .work = MOST_WORK};
    if (run->source->evidence_count == 0)
        return true;
    if (!rank_source_each(run->source, known, run->budget, take_devices, &joined, err))
        return false;
    joined.has = arena_array(run->scratch, joined.count + 1, sizeof *joined.has, err);
    if (!joined.has)
        return false;
    memset(joined.has, 0, (joined.count + 1) * sizeof *joined.has);
    return join_files(&joined, err);
}

void run_monitor_tokens(struct report *report, double tokens_per_step_and_gpu)
{
    for (unsigned t = 0; t < report->table_count; t++) {
        struct table *table = &report->tables[t];
        unsigned columns = table->desc->column_count;
        for (size_t i = 0; table->desc == &table_run_rank_monitors && i < table->row_count; i++) {
            double joules = table_f64(table, i, RUN_RANK_MONITORS_ENERGY_J_PER_STEP, NAN);
            unsigned place = column_place(table->desc, RUN_RANK_MONITORS_TOKENS_PER_J);
            if (joules > 0 && tokens_per_step_and_gpu > 0)
                table->cells[i * columns + place] = cell_f64(tokens_per_step_and_gpu / joules);
        }
    }
}
