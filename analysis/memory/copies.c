// SPDX-License-Identifier: Apache-2.0
// Copies and memsets by direction, host memory and whether the host waits.
#include "analysis/trace/analyses.h"
#include "analysis/trace/copy_kind.h"
#include "analysis/report/row.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#define KIND_COUNT ((int)COPY_DIRECTION_COUNT * (int)COPY_HOST_COUNT * (int)COPY_WAIT_COUNT)

// All copies of one row.
struct copies {
    struct copy_kind kind;
    uint32_t count, first; // durations first .. first + count - 1
    int64_t sized_calls, bytes, sized_ns;
    int64_t total_ns, exposed_ns, host_ns;
    bool overflow, host_overflow; // bytes or host_ns overflow
};

struct copy_walk {
    const struct facts *facts;
    struct copy_names names;
    struct copies rows[KIND_COUNT];
    const uint32_t *devices; // device events of class memory
    uint32_t count;
    uint32_t *row_of; // per event
    int64_t *dur_ns;  // by row, and room for as many
};

static uint32_t row_of(const struct copy_kind *kind)
{
    uint32_t hosts = COPY_HOST_COUNT, waits = COPY_WAIT_COUNT;
    return (kind->direction * hosts + kind->host) * waits + kind->wait;
}

// A call that launched several copies counts with its first one.
static int64_t host_ns_of(const struct copy_walk *walk, uint32_t device)
{
    const struct facts *facts = walk->facts;
    uint32_t launch = facts->devices[device].launch;
    if (launch == FACTS_NONE || facts->launches[launch].first != device ||
        !copy_kind_is_call(&walk->names, launch))
        return 0;
    return facts->trace->dur_ns[facts->launches[launch].event];
}

static void count_copy(struct copy_walk *walk, uint32_t index)
{
    uint32_t device = walk->devices[index];
    const struct device_event *event = &walk->facts->devices[device];
    struct copy_kind kind = copy_kind_of(&walk->names, device);
    uint32_t at = row_of(&kind);
    struct copies *row = &walk->rows[at];
    int64_t dur_ns = event->end_ns - event->begin_ns;
    walk->row_of[index] = at;
    row->kind = kind;
    row->count++;
    row->total_ns += dur_ns;
    row->exposed_ns += event->owned_ns;
    row->host_overflow |=
        __builtin_add_overflow(row->host_ns, host_ns_of(walk, device), &row->host_ns);
    if (kind.bytes == VALUE_ABSENT)
        return;
    row->sized_calls++;
    row->sized_ns += dur_ns;
    row->overflow |= __builtin_add_overflow(row->bytes, kind.bytes, &row->bytes);
}

static bool count_all(struct copy_walk *walk, struct arena *arena, struct err *err)
{
    uint32_t first = 0;
    walk->row_of = arena_room(arena, walk->count, sizeof *walk->row_of, err);
    if (!walk->row_of)
        return false;
    for (uint32_t i = 0; i < walk->count; i++)
        count_copy(walk, i);
    for (uint32_t k = 0; k < KIND_COUNT; k++) {
        walk->rows[k].first = first;
        first += walk->rows[k].count;
    }
    walk->dur_ns = arena_room(arena, 2 * (size_t)first, sizeof *walk->dur_ns, err);
    return walk->dur_ns;
}

static void part_durations(struct copy_walk *walk)
{
    const struct facts *facts = walk->facts;
    uint32_t next[KIND_COUNT];
    for (uint32_t k = 0; k < KIND_COUNT; k++)
        next[k] = walk->rows[k].first;
    for (uint32_t i = 0; i < walk->count; i++) {
        const struct device_event *device = &facts->devices[walk->devices[i]];
        walk->dur_ns[next[walk->row_of[i]]++] = device->end_ns - device->begin_ns;
    }
}

static void add_kind(struct row *row, const struct copy_kind *kind)
{
    static const char *const directions[COPY_DIRECTION_COUNT] = {
        [COPY_UNKNOWN] = "unknown", [COPY_HTOD] = "HtoD", [COPY_DTOH] = "DtoH",
        [COPY_DTOD] = "DtoD",       [COPY_HTOH] = "HtoH", [COPY_PTOP] = "PtoP",
        [COPY_MEMSET] = "memset"};
    static const char *const hosts[COPY_HOST_COUNT] = {
        [COPY_HOST_PAGEABLE] = "pageable", [COPY_HOST_PINNED] = "pinned"};
    row_word(row, COPIES_DIRECTION, directions[kind->direction]);
    row_word(row, COPIES_HOST_MEMORY, hosts[kind->host]);
    row_bool_if(row, COPIES_BLOCKING, kind->wait != COPY_WAIT_UNKNOWN, kind->wait == COPY_WAIT_YES);
}

static bool add_row(const struct copy_walk *walk, const struct copies *copies,
                    struct report *report, struct err *err)
{
    struct quantiles dur_ns =
        stats_quantiles(walk->dur_ns + copies->first, walk->dur_ns + walk->count, copies->count);
    bool sized = copies->sized_calls > 0 && !copies->overflow;
    struct row row = {.desc = &table_copies};
    add_kind(&row, &copies->kind);
    row_i64(&row, COPIES_CALLS, copies->count);
    row_i64_if(&row, COPIES_BYTES, sized, copies->bytes);
    row_i64(&row, COPIES_SIZED_CALLS, copies->sized_calls);
    row_i64(&row, COPIES_TOTAL_NS, copies->total_ns);
    row_f64_if(&row, COPIES_GBPS, sized && copies->sized_ns > 0, // bytes per ns are GB/s
               (double)copies->bytes / (double)copies->sized_ns);
    row_i64(&row, COPIES_MEDIAN_NS, dur_ns.median);
    row_i64(&row, COPIES_P95_NS, dur_ns.p95);
    row_i64(&row, COPIES_MAX_NS, dur_ns.max);
    row_i64(&row, COPIES_EXPOSED_NS, copies->exposed_ns);
    row_i64_if(&row, COPIES_HOST_NS, !copies->host_overflow, copies->host_ns);
    return row_end(&row, report, err);
}

// Most time first.
static bool add_rows(const struct copy_walk *walk, struct report *report, struct err *err)
{
    bool done[KIND_COUNT] = {false};
    for (;;) {
        uint32_t best = KIND_COUNT;
        for (uint32_t k = 0; k < KIND_COUNT; k++)
            if (!done[k] && walk->rows[k].count &&
                (best == KIND_COUNT || walk->rows[k].total_ns > walk->rows[best].total_ns))
                best = k;
        if (best == KIND_COUNT)
            return true;
        done[best] = true;
        if (!add_row(walk, &walk->rows[best], report, err))
            return false;
    }
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    const uint32_t *first = facts->class_first + CLASS_MEMORY;
    struct copy_walk walk = {
        .facts = facts, .devices = facts->class_devices + first[0], .count = first[1] - first[0]};
    bool ok = copy_names_make(facts, scratch, &walk.names, err) && count_all(&walk, scratch, err);
    if (ok) {
        part_durations(&walk);
        ok = add_rows(&walk, report, err);
    }
    return ok;
}

const struct analysis copies_analysis = {"copies", run};
