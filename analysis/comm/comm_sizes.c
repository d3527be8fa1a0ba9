// SPDX-License-Identifier: Apache-2.0
// Communication by process group, kind, type and size class, with its bandwidths.
#include "analysis/comm/comm_calls.h"
#include "analysis/report/ranked.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdio.h>

#define CLASS_EMPTY   64 // messages without bytes
#define CLASS_UNKNOWN 65
#define CLASS_TEXT    32 // bytes, enough for "512 KiB - 1 MiB"
#define NO_METADATA   ((uint64_t)1 << 63)

struct comm_sizes {
    const struct facts *facts;
    const struct comm_calls *calls;
    struct groups process_groups, groups;
    uint32_t *group_of; // per call
    struct comm_order order;
    int64_t *values; // room for twice the calls
};

// Sums over the calls of one row.
struct size_sums {
    int64_t bytes, total_ns, exposed_ns;
    int64_t steady, steady_ns, steady_exposed_ns; // of calls in steady steps
    bool overflows;
    double algo, best_algo; // GB/s, NaN when not known
    struct stats stats;
};

// The binary logarithm, rounded down.
static unsigned class_of(int64_t bytes)
{
    if (bytes <= 0)
        return bytes ? CLASS_UNKNOWN : CLASS_EMPTY;
    return 63 - (unsigned)__builtin_clzll((unsigned long long)bytes);
}

static void put_size(unsigned power, char text[CLASS_TEXT / 2])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    snprintf(text, CLASS_TEXT / 2, "%u %s", 1u << power % 10, units[power / 10]);
}

static struct str class_text(unsigned class, char text[CLASS_TEXT])
{
    char low[CLASS_TEXT / 2], high[CLASS_TEXT / 2];
    if (class == CLASS_EMPTY)
        return STR("0 B");
    if (class == CLASS_UNKNOWN)
        return STR("");
    put_size(class, low);
    put_size(class + 1, high);
    snprintf(text, CLASS_TEXT, "%.13s - %.13s", low, high);
    return str_of(text);
}

// Calls with metadata: process group, type, kind and class; the others: the kernel's name and
// class.
static bool key_of(struct comm_sizes *all, uint32_t index, struct group_key *key, struct err *err)
{
    const struct facts *facts = all->facts;
    const struct comm_call *call = &all->calls->calls[index];
    if (call->collective == ARGS_NONE) {
        *key = (struct group_key){facts_device_name(facts, call->device),
                                  NO_METADATA | class_of(call->own.bytes)};
        return true;
    }
    const struct collective *c = &facts->trace->collectives[call->collective];
    struct group_key group = comm_calls_group(facts, call);
    uint32_t process_group;
    if (!groups_index(&all->process_groups, group.a, group.b, &process_group, err))
        return false;
    *key = (struct group_key){(uint64_t)process_group << 32 | c->dtype,
                              (uint64_t)comm_calls_kind(all->calls, index) << 8 |
                                  class_of(comm_calls_bytes(all->calls, index))};
    return true;
}

static bool group_calls(struct comm_sizes *all, struct arena *arena, struct err *err)
{
    all->group_of = arena_room(arena, all->calls->count, sizeof *all->group_of, err);
    all->values = arena_room(arena, 2 * (size_t)all->calls->count, sizeof *all->values, err);
    if (!all->group_of || !all->values)
        return false;
    for (uint32_t i = 0; i < all->calls->count; i++) {
        struct group_key key;
        if (!key_of(all, i, &key, err) ||
            !groups_index(&all->groups, key.a, key.b, &all->group_of[i], err))
            return false;
    }
    return comm_calls_order(all->calls, all->group_of, all->groups.count, arena, &all->order, err);
}

static int64_t dur_of(const struct comm_sizes *all, uint32_t call)
{
    const struct device_event *device = &all->facts->devices[all->calls->calls[call].device];
    return device->end_ns - device->begin_ns;
}

// Bandwidths are positive, so their bits sort as integers.
static double from_bits(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void rate(struct comm_sizes *all, uint32_t first, uint32_t end, struct size_sums *sums)
{
    size_t count = 0;
    for (uint32_t i = first; i < end; i++) {
        uint32_t call = all->order.order[i];
        int64_t bytes = comm_calls_bytes(all->calls, call), dur_ns = dur_of(all, call);
        double algo = (double)bytes / (double)dur_ns; // bytes per ns are GB/s
        if (bytes > 0 && dur_ns > 0)
            memcpy(&all->values[count++], &algo, sizeof algo);
    }
    sort_i64(all->values, all->values + count, count);
    sums->algo = count ? from_bits(stats_median(all->values, count)) : NAN;
    sums->best_algo = count ? from_bits(all->values[count - 1]) : NAN;
}

static void sum(struct comm_sizes *all, uint32_t group, struct size_sums *sums)
{
    const struct facts *facts = all->facts;
    uint32_t first = all->order.first[group], end = all->order.first[group + 1];
    *sums = (struct size_sums){0};
    for (uint32_t i = first; i < end; i++) {
        uint32_t call = all->order.order[i];
        const struct device_event *device = &facts->devices[all->calls->calls[call].device];
        sums->total_ns += all->values[i - first] = dur_of(all, call);
        sums->exposed_ns += device->owned_ns;
        bool steady = device->step != FACTS_NONE && facts->steps[device->step].steady;
        sums->steady += steady;
        sums->steady_ns += steady ? dur_of(all, call) : 0;
        sums->steady_exposed_ns += facts->steady_owned_ns[all->calls->calls[call].device];
        sums->overflows |=
            __builtin_add_overflow(sums->bytes, comm_calls_bytes(all->calls, call), &sums->bytes);
    }
    sort_i64(all->values, all->values + (end - first), end - first);
    sums->stats = stats_of(all->values, end - first);
    rate(all, first, end, sums);
}

static void add_identity(const struct comm_sizes *all, uint32_t index, enum collective_kind kind,
                         char text[CLASS_TEXT], struct row *row)
{
    const struct trace *trace = all->facts->trace;
    const struct comm_call *call = &all->calls->calls[index];
    if (call->collective == ARGS_NONE) {
        struct str own = class_text(class_of(call->own.bytes), text);
        row_word(row, COMM_SIZES_KIND, bandwidth_kind_word(kind));
        row_text_if(row, COMM_SIZES_SIZE_CLASS, own.len != 0, own);
        return;
    }
    const struct collective *c = &trace->collectives[call->collective];
    struct str class = class_text(class_of(comm_calls_bytes(all->calls, index)), text);
    row_text_if(row, COMM_SIZES_PROCESS_GROUP, c->group != 0, trace_text(trace, c->group));
    row_word(row, COMM_SIZES_KIND, bandwidth_kind_word(kind));
    row_text_if(row, COMM_SIZES_DTYPE, c->dtype != 0, trace_text(trace, c->dtype));
    row_text_if(row, COMM_SIZES_SIZE_CLASS, class.len != 0, class);
    row_i64_if(row, COMM_SIZES_GROUP_SIZE, c->group_size != VALUE_ABSENT, c->group_size);
}

static bool add_row(struct comm_sizes *all, uint32_t group, struct report *report, struct err *err)
{
    const struct facts *facts = all->facts;
    uint32_t index = all->order.order[all->order.first[group]];
    const struct comm_call *call = &all->calls->calls[index];
    bool named = call->collective != ARGS_NONE;
    struct str kernel = trace_text(facts->trace, facts_device_name(facts, call->device));
    enum collective_kind kind = comm_calls_kind(all->calls, index);
    int64_t ranks = named ? facts->trace->collectives[call->collective].group_size : VALUE_ABSENT;
    double factor = bandwidth_bus_factor(kind, ranks);
    struct size_sums sums;
    sum(all, group, &sums);
    char text[CLASS_TEXT];
    struct row row = {.desc = &table_comm_sizes};
    add_identity(all, index, kind, text, &row);
    row_i64(&row, COMM_SIZES_CALLS, (int64_t)sums.stats.count);
    row_share(&row, COMM_SIZES_CALLS_PER_STEP, sums.steady, facts->steady_count);
    row_i64_if(&row, COMM_SIZES_BYTES, comm_calls_bytes(all->calls, index) >= 0 && !sums.overflows,
               sums.bytes);
    row_i64(&row, COMM_SIZES_TOTAL_NS, sums.total_ns);
    row_i64(&row, COMM_SIZES_MEDIAN_NS, sums.stats.median);
    row_i64(&row, COMM_SIZES_P95_NS, sums.stats.p95);
    row_f64(&row, COMM_SIZES_ALGO_GBPS, sums.algo);
    row_f64(&row, COMM_SIZES_BUS_GBPS, sums.algo * factor);
    row_f64(&row, COMM_SIZES_BEST_BUS_GBPS, sums.best_algo * factor);
    row_i64(&row, COMM_SIZES_EXPOSED_NS, sums.exposed_ns);
    row_share(&row, COMM_SIZES_EXPOSED_SHARE, sums.exposed_ns, sums.total_ns);
    row_i64(&row, COMM_SIZES_STEADY_NS, sums.steady_ns);
    row_i64(&row, COMM_SIZES_STEADY_EXPOSED_NS, sums.steady_exposed_ns);
    row_text_if(&row, COMM_SIZES_KERNEL, !named, kernel);
    return row_end(&row, report, err);
}

static bool add_rows(struct comm_sizes *all, struct arena *arena, struct report *report,
                     struct err *err)
{
    uint32_t count = all->groups.count;
    struct ranked *ranked = arena_array(arena, count, sizeof *ranked, err);
    if (!ranked)
        return false;
    for (uint32_t g = 0; g < count; g++)
        ranked[g] = (struct ranked){0, STR(""), g};
    for (uint32_t i = 0; i < all->calls->count; i++)
        ranked[all->group_of[i]].total_ns += dur_of(all, i);
    ranked_sort(ranked, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(all, ranked[i].index, report, err))
            return false;
    return true;
}

bool comm_sizes_add(const struct facts *facts, const struct comm_calls *calls,
                    struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, facts->budget);
    struct comm_sizes all = {.facts = facts, .calls = calls};
    groups_init(&all.process_groups, facts->budget);
    groups_init(&all.groups, facts->budget);
    bool ok = group_calls(&all, &scratch, err) && add_rows(&all, &scratch, report, err);
    groups_free(&all.groups);
    groups_free(&all.process_groups);
    arena_free(&scratch);
    return ok;
}
