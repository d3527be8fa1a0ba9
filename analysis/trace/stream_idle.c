// SPDX-License-Identifier: Apache-2.0
// Idle time of each stream in the three categories of Holistic Trace Analysis, with two errors
// fixed: streams of different devices are separate, and gaps start at the latest end so far.
#include "analysis/trace/analyses.h"
#include "analysis/facts/facts_within.h"
#include "analysis/names/gap_cause.h"
#include "analysis/stats/stats.h"
#include "analysis/trace/streams.h"
#include "analysis/report/tables.h"

enum stream_wait { WAIT_HOST, WAIT_KERNEL, WAIT_OTHER, WAIT_COUNT };

static const char *const words[WAIT_COUNT] = {"host_wait", "kernel_wait", "other"};

// The gaps of one stream.
struct stream_gaps {
    int64_t *lengths_ns[WAIT_COUNT];
    int64_t idle_ns[WAIT_COUNT]; // their sums
    uint32_t counts[WAIT_COUNT];
    int64_t *scratch;
    const int64_t *free_ns; // per device event of the trace
};

static enum stream_wait wait_of(const struct facts *facts, const struct device_event *device,
                                int64_t free_ns)
{
    if (device->launch != FACTS_NONE) {
        uint32_t launch = facts->launches[device->launch].event;
        if (facts->trace->begin_ns[launch] > free_ns)
            return WAIT_HOST;
    }
    return device->begin_ns - free_ns < IDLE_START_NS ? WAIT_KERNEL : WAIT_OTHER;
}

static void measure(const struct facts *facts, const uint32_t *devices, uint32_t count,
                    struct stream_gaps *gaps)
{
    memset(gaps->counts, 0, sizeof gaps->counts);
    memset(gaps->idle_ns, 0, sizeof gaps->idle_ns);
    for (uint32_t i = 0; i < count; i++) {
        const struct device_event *device = &facts->devices[devices[i]];
        int64_t free_ns =
            gaps->free_ns[facts->is_part ? facts_part(facts)->chosen[devices[i]] : devices[i]];
        if (device->begin_ns > free_ns) {
            enum stream_wait wait = wait_of(facts, device, free_ns);
            gaps->lengths_ns[wait][gaps->counts[wait]++] = device->begin_ns - free_ns;
            gaps->idle_ns[wait] += device->begin_ns - free_ns;
        }
    }
}

static bool add_rows(const struct facts *facts, uint32_t track, const struct stream_gaps *gaps,
                     struct report *report, struct err *err)
{
    const struct track *stream = &facts->trace->tracks[track];
    int64_t total_ns = 0;
    for (int w = 0; w < WAIT_COUNT; w++)
        total_ns += gaps->idle_ns[w];
    for (int w = 0; w < WAIT_COUNT; w++) {
        char device[32], name[32];
        if (gaps->counts[w] == 0)
            continue;
        struct quantiles lengths =
            stats_quantiles(gaps->lengths_ns[w], gaps->scratch, gaps->counts[w]);
        struct row row = {.desc = &table_stream_idle};
        row_text(&row, STREAM_IDLE_DEVICE, facts_label(facts->trace, stream->pid, device));
        row_text(&row, STREAM_IDLE_STREAM, facts_label(facts->trace, stream->tid, name));
        row_word(&row, STREAM_IDLE_CATEGORY, words[w]);
        row_i64(&row, STREAM_IDLE_GAPS, gaps->counts[w]);
        row_i64(&row, STREAM_IDLE_IDLE_NS, gaps->idle_ns[w]);
        row_share(&row, STREAM_IDLE_IDLE_SHARE, gaps->idle_ns[w], total_ns);
        row_i64(&row, STREAM_IDLE_MEDIAN_NS, lengths.median);
        row_i64(&row, STREAM_IDLE_MAX_NS, lengths.max);
        if (!row_end(&row, report, err))
            return false;
    }
    return true;
}

static bool run(const struct facts *facts, struct arena *arena, struct report *report,
                struct err *err)
{
    struct streams streams;
    struct stream_gaps gaps;
    for (int w = 0; w < WAIT_COUNT; w++) {
        gaps.lengths_ns[w] = arena_room(arena, facts->device_count, sizeof(int64_t), err);
        if (!gaps.lengths_ns[w])
            return false;
    }
    gaps.scratch = arena_room(arena, facts->device_count, sizeof(int64_t), err);
    if (!gaps.scratch || !streams_make(facts, arena, &streams, err))
        return false;
    gaps.free_ns =
        facts->is_part ? facts_part(facts)->free_ns : streams_free(facts, &streams, arena, err);
    if (!gaps.free_ns)
        return false;
    for (uint32_t t = 0; t < facts->trace->track_count; t++) {
        uint32_t first = streams.first[t], count = streams.first[t + 1] - first;
        measure(facts, streams.devices + first, count, &gaps);
        if (!add_rows(facts, t, &gaps, report, err))
            return false;
    }
    return true;
}

const struct analysis stream_idle_analysis = {"stream_idle", run};
