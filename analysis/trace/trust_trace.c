// SPDX-License-Identifier: Apache-2.0
// The trust report: what was repaired, left out, cut or uncertain, and its effect on the numbers.
#include "analysis/trace/trust_host.h"
#include "analysis/trace/trust_steps.h"

#include "analysis/trace/analyses.h"
#include "analysis/facts/gaps.h"
#include "analysis/facts/unread_devices.h"
#include "analysis/trace/step_gaps.h"
#include "analysis/stats/groups.h"
#include "analysis/report/table_limit.h"
#include "analysis/report/tables.h"

#include <inttypes.h>

// How severe each repair is, and its effect on the numbers.
static const struct {
    const char *severity, *effect;
} repairs[REPAIR_COUNT] = {
    [REPAIR_TRUNCATED] = {"warning", "everything after the cut is missing from all figures"},
    [REPAIR_MALFORMED] = {"warning", "these events are missing from all figures"},
    [REPAIR_OVERSIZE] = {"warning", "these events are missing from all figures"},
    [REPAIR_NOT_OBJECT] = {"info", "none: these were not events"},
    [REPAIR_INCOMPLETE] = {"warning", "these events are missing from all figures"},
    [REPAIR_INCOMPLETE_OTHER] = {"info", "none: no figure depends on them"},
    [REPAIR_NO_DURATION] = {"info", "these host events count with zero duration"},
    [REPAIR_NEGATIVE_DURATION] = {"warning", "device events below them may lack an operator"},
    [REPAIR_LONG_DURATION] =
        {"warning", "device events below them may lack an operator, and steps their annotation"},
    [REPAIR_FAR_TIME] = {"info", "no figure is affected; the date of the recording is unknown"},
    [REPAIR_SECOND_LIST] =
        {"warning",
         "figures are those of all lists at once, duplicates included; other tools may read only "
         "one of them"},
    [REPAIR_LOG] = {"info", "none unless that file lies beside the database: then run sqlite3 FILE "
                            "'PRAGMA journal_mode = DELETE' there, and send it again"},
    [REPAIR_DAMAGED] = {"warning", "rows of these pages are missing from all figures"},
    [REPAIR_LOST] = {"warning", "events may be missing from all figures"},
    [REPAIR_BAD_NUMBER] = {"info", "the argument counts as missing"},
    [REPAIR_TEXT] = {"info", "names show a replacement character"},
    [REPAIR_LONG_TEXT] = {"info", "names that differ only after the cut count as one"},
    [REPAIR_COMMA] = {"info", "none: the events around it are whole"},
    [REPAIR_UNKNOWN_PHASE] = {"info", "none: no figure depends on them"},
    [REPAIR_END_WITHOUT_BEGIN] = {"info", "device events below them may lack an operator"},
    [REPAIR_BEGIN_WITHOUT_END] = {"info", "these events are extended to the end of the trace"},
    [REPAIR_BYTE_ORDER_MARK] = {"info", "none"},
    [REPAIR_TRAILING] = {"info", "none: the document had already ended"},
    [REPAIR_METADATA] = {"info", "this member of the file was not read"},
    [REPAIR_ARGS] = {"info", "these operators have no shapes and no module"},
    [REPAIR_COMPRESSION] = {"warning", "everything after the damage is missing from all figures"},
};

static bool add_repairs(const struct trace *trace, struct report *report, struct err *err)
{
    for (int r = 0; r < REPAIR_COUNT; r++) {
        const struct repair_note *note = &trace->repairs[r];
        struct doubt doubt = {
            .item = repair_word((enum repair)r),
            .severity = repairs[r].severity,
            .count = (int64_t)note->count,
            .placed = note->first_pos != ERR_NO_POS,
            .position = (int64_t)note->first_pos,
            .detail = repair_text((enum repair)r),
            .effect = repairs[r].effect,
        };
        if (note->count && !doubt_add(report, &doubt, err))
            return false;
    }
    return true;
}

// How many of which kind, as "2 hugging-face, 1 named".
static void list_kinds(const struct secret_count *found, struct buf *out)
{
    for (int kind = 0; kind < SECRET_KINDS; kind++)
        if (found[kind].count)
            buf_printf(out, "%s%" PRIu64 " %s", out->len ? ", " : "", found[kind].count,
                       secret_word((enum secret_kind)kind));
}

static bool add_secrets(const struct trace *trace, struct report *report, struct err *err)
{
    struct doubt doubt = {
        .item = TRUST_SECRETS,
        .severity = "info",
        .placed = true,
        .position = INT64_MAX,
        .effect = "tables and pages show [redacted:KIND] instead, and no figure is affected; the "
                  "stored file still contains them, so their owner should rotate them",
    };
    for (int kind = 0; kind < SECRET_KINDS; kind++) {
        const struct secret_count *found = &trace->secrets[kind];
        doubt.count += (int64_t)found->count;
        if (found->count && (int64_t)found->first_pos < doubt.position)
            doubt.position = (int64_t)found->first_pos;
    }
    if (doubt.count == 0)
        return true;
    struct buf kinds = {0};
    list_kinds(trace->secrets, &kinds);
    if (!buf_ok(&kinds, err))
        return false;
    doubt.detail =
        arena_printf(report->arena, err,
                     "text that looks like passwords, tokens or keys in the file: %s", kinds.at);
    buf_free(&kinds);
    return doubt.detail && doubt_add(report, &doubt, err);
}

static bool add_quarantine(const struct facts *facts, struct report *report, struct err *err)
{
    const struct quarantine *found = &facts->quarantine;
    struct doubt implausible = {
        .item = "implausible",
        .severity = "warning",
        .count = (int64_t)found->implausible,
        .timed = true,
        .time_ns = found->implausible_ns,
        .detail =
            "device events that end before they start, last over an hour, or start over an "
            "hour from the median start and from all work of the host, or a day from that start",
        .effect = "they are left out of all figures",
    };
    struct doubt clipped = {
        .item = "clipped",
        .severity = "warning",
        .count = (int64_t)found->clipped,
        .timed = true,
        .time_ns = found->clipped_ns,
        .detail = "kernels that overlap the next device event on their stream by over 100 us",
        .effect = "they are cut there, so their durations err on the short side",
    };
    return (!found->implausible || doubt_add(report, &implausible, err)) &&
           (!found->clipped || doubt_add(report, &clipped, err));
}

// Graphs without their kernels, as Nsight Systems records them by default.
static struct doubt whole_graphs(const struct facts *facts)
{
    struct doubt doubt = {
        .item = "graphs_whole",
        .severity = "warning",
        .timed = true,
        .detail = "launches of CUDA graphs recorded as a whole, without their kernels",
        .effect = "the device is busy then, and all of it counts as compute, communication "
                  "included; record with --cuda-graph-trace=node",
    };
    for (uint32_t i = 0; i < facts->device_count; i++)
        if (facts->trace->kind[facts->devices[i].event] == EVENT_GRAPH) {
            doubt.count++;
            doubt.time_ns += facts->devices[i].owned_ns;
        }
    return doubt;
}

static bool add_graphs(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt whole = whole_graphs(facts);
    int64_t replayed = 0;
    for (uint32_t l = 0; l < facts->launch_count; l++)
        replayed += facts->launches[l].count > 1 ? facts->launches[l].count : 0;
    struct doubt graphs = {
        .item = "graph_replay",
        .severity = "info",
        .count = replayed,
        .detail = "device events that share their launch with others (graph replay)",
        .effect = "their operators are those of the replay, not of the model",
    };
    return (!whole.count || doubt_add(report, &whole, err)) &&
           (!replayed || doubt_add(report, &graphs, err));
}

// Events that start before their predecessor on the stream ended. last_ns has one entry per track.
static void count_overlaps(const struct facts *facts, int64_t *last_ns, struct doubt *doubt)
{
    for (uint32_t t = 0; t < facts->trace->track_count; t++)
        last_ns[t] = INT64_MIN;
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        int64_t *last = &last_ns[device->track];
        if (*last > device->begin_ns) {
            doubt->count++;
            int64_t until_ns = *last < device->end_ns ? *last : device->end_ns;
            doubt->time_ns += until_ns - device->begin_ns;
        }
        *last = device->end_ns > *last ? device->end_ns : *last;
    }
}

static bool add_overlaps(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt overlaps = {
        .item = "stream_overlap",
        .severity = "info",
        .timed = true,
        .detail = "device events that start before the previous one on their stream ended",
        .effect = "sums of durations count this time twice; unions and the breakdown do not",
    };
    size_t size = facts->trace->track_count * sizeof(int64_t);
    int64_t *last_ns = budget_alloc(facts->budget, size, err);
    if (!last_ns)
        return false;
    count_overlaps(facts, last_ns, &overlaps);
    budget_free(facts->budget, last_ns, size);
    return !overlaps.count || doubt_add(report, &overlaps, err);
}

static bool has_metadata(const struct facts *facts, const struct device_event *device)
{
    uint32_t args = facts->trace->args[device->event];
    return args != ARGS_NONE && facts->trace->device_args[args].collective != ARGS_NONE;
}

static bool is_start(const struct facts *facts, const struct device_event *device)
{
    const struct trace *trace = facts->trace;
    uint32_t args = trace->args[device->event];
    uint32_t collective = args == ARGS_NONE ? ARGS_NONE : trace->device_args[args].collective;
    return collective != ARGS_NONE &&
           str_equal(trace_text(trace, trace->collectives[collective].name),
                     STR(TRACE_ASYNC_START));
}

static bool add_communication(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt waiting = {
        .item = "waiting_included",
        .severity = "info",
        .timed = true,
        .detail = "communication, which lasts until the last rank arrives",
        .effect = "one trace alone does not separate waiting for other ranks from transfer; "
                  "bandwidths include both",
    };
    struct doubt bare = {
        .item = "collectives_without_metadata",
        .severity = "info",
        .timed = true,
        .detail = "communication kernels without metadata about the data they moved",
        .effect = facts->trace->job.recorder == RECORDER_NSYS
                      ? "their time counts; group, size and bandwidth are known only when the "
                        "launching operator shows them, or from an export with --include-blobs=true"
                      : "their time counts; group, size and bandwidth are known only when the "
                        "launching operator shows them",
    };
    struct doubt async = {
        .item = "async_transfers",
        .severity = "warning",
        .detail =
            "operations that start a transfer, which runs beside others until one waits for it",
        .effect = "communication is the waits alone: how long transfers took, and how much of them "
                  "compute hid, is unknown",
    };
    for (uint32_t i = 0; i < facts->device_count; i++) {
        const struct device_event *device = &facts->devices[i];
        if (device->class != CLASS_COMMUNICATION)
            continue;
        async.count += is_start(facts, device);
        bool known = has_metadata(facts, device);
        waiting.count++;
        waiting.time_ns += device->owned_ns;
        bare.count += !known;
        bare.time_ns += known ? 0 : device->owned_ns;
    }
    return (!async.count || doubt_add(report, &async, err)) &&
           (!waiting.count || doubt_add(report, &waiting, err)) &&
           (!bare.count || doubt_add(report, &bare, err));
}

static bool add_calls_left_out(const struct facts *facts, struct report *report, struct err *err)
{
    const uint32_t *first = facts->class_first + CLASS_COMMUNICATION;
    struct doubt cut = {
        .item = "calls_left_out",
        .severity = "warning",
        .count = (int64_t)(first[1] - first[0]) - COMM_TABLE_MAX_CALLS,
        .detail = "more collective calls than the table of calls keeps",
        .effect = "later ones are not matched with those of other ranks",
    };
    return cut.count <= 0 || doubt_add(report, &cut, err);
}

#define UNRECORDED_WARN_SHARE 0.01 // of the window

// Gaps with a cause, all devices merged.
static int64_t count_gaps(const struct facts *facts, enum idle_cause cause)
{
    int64_t count = 0;
    for (uint32_t g = 0; g < facts->gaps.count; g++)
        count += facts->gaps.gaps[g].cause == (uint8_t)cause;
    return count;
}

struct cold_gaps {
    const struct gap *last; // steps may share a gap
    int64_t count;
};

static void count_cold(void *context, const struct gap *gap, int64_t length_ns)
{
    struct cold_gaps *cold = context;
    (void)length_ns;
    cold->count += gap->cause == IDLE_COLD_START && gap != cold->last;
    cold->last = gap;
}

static bool add_unrecorded(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt lacking = {
        .item = "unrecorded",
        .severity = "info",
        .count = count_gaps(facts, IDLE_UNRECORDED),
        .timed = true,
        .time_ns = facts->whole.bar_ns[BAR_UNRECORDED],
        .detail = "gaps in which the device ran work missing from the recording: launches were "
                  "pending, and nothing recorded blocked them",
        .effect = "this time is neither idle nor busy: utilization, HFU, MFU and findings leave it "
                  "out, and no kernel or operator shows what ran. Record with larger buffers, and "
                  "skip one more wait or warm-up step first",
    };
    double window_ns = (double)parts_window_ns(&facts->whole);
    if ((double)lacking.time_ns >= UNRECORDED_WARN_SHARE * window_ns)
        lacking.severity = "warning";
    return !lacking.count || doubt_add(report, &lacking, err);
}

static bool add_cold(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt cold = {
        .item = "cold_start",
        .severity = "info",
        .timed = true,
        .time_ns = facts->steady.idle_ns[IDLE_COLD_START],
        .detail = "idle time in the steady steps while code was loaded, a context or stream "
                  "created, or the first call of its kind took ten times as long as later ones",
        .effect = "a one-time cost that makes these steps longer than those of a long run; only "
                  "the finding unexplained_idle counts it. Skip more steps before recording",
    };
    struct cold_gaps gaps = {0};
    step_gaps_visit(facts, count_cold, &gaps);
    cold.count = gaps.count;
    return !cold.time_ns || doubt_add(report, &cold, err);
}

// The rank that a device of a merged file belongs to: "[TP00" of "[TP00] 0"; empty if to none.
static struct str merged_rank(const struct facts *facts, uint32_t gpu)
{
    struct str label = trace_text(facts->trace, facts->gpus[gpu].text);
    size_t end = str_find(label, STR("]"));
    bool is_merged = label.len && *label.at == '[' && end != SIZE_MAX;
    return (struct str){label.at, is_merged ? end : 0};
}

static bool count_merged(const struct facts *facts, int64_t *count, struct err *err)
{
    struct groups ranks;
    uint32_t index;
    bool ok = true;
    groups_init(&ranks, facts->budget);
    for (uint32_t g = 0; ok && g < facts->gpu_count; g++) {
        struct str rank = merged_rank(facts, g);
        ok = !rank.len || groups_index(&ranks, hash_bytes(rank.at, rank.len), 0, &index, err);
    }
    *count = ranks.count;
    groups_free(&ranks);
    return ok;
}

static bool add_together(const struct facts *facts, struct report *report, struct err *err)
{
    struct doubt merged = {
        .item = "merged_ranks",
        .severity = "warning",
        .detail = "ranks in this one file, as SGLang and Extrae write them",
        .effect =
            "steps, idle time and exposed communication are those of all of them at once, and "
            "waits between them are unknown; upload the ranks' own files instead, if there are any",
    };
    struct doubt several = {
        .item = "several_devices",
        .severity = "info",
        .count = facts->gpu_count,
        .detail = "devices of one process, which count together",
        .effect = "it is busy while any of them is, and computes while any computes; breakdown has "
                  "each by itself",
    };
    if (!count_merged(facts, &merged.count, err))
        return false;
    bool is_joined = merged.count > 1 || (facts->trace->job.recorder == RECORDER_ROCM &&
                                          facts->trace->repairs[REPAIR_SECOND_LIST].count);
    return (merged.count < 2 || doubt_add(report, &merged, err)) &&
           (is_joined || several.count < 2 || doubt_add(report, &several, err));
}

static bool run(const struct facts *facts, struct arena *scratch, struct report *report,
                struct err *err)
{
    struct doubt empty = {
        .item = "no_device_events",
        .severity = "error",
        .count = 1,
        .detail = "the trace has no device events",
        .effect = "there is no breakdown, no step and no kernel",
    };
    const struct unread_devices *unread =
        facts->device_count ? NULL : unread_devices_of(facts->trace);
    if (unread)
        empty.detail = unread->what;
    return add_unrecorded(facts, report, err) &&
           (facts->device_count || doubt_add(report, &empty, err)) &&
           add_together(facts, report, err) && add_cold(facts, report, err) &&
           doubts_add_recorded(facts, report, err) && add_repairs(facts->trace, report, err) &&
           add_secrets(facts->trace, report, err) && add_quarantine(facts, report, err) &&
           doubts_add_host(facts, report, err) && add_graphs(facts, report, err) &&
           add_overlaps(facts, report, err) && doubts_add_steps(facts, scratch, report, err) &&
           add_communication(facts, report, err) && add_calls_left_out(facts, report, err);
}

const struct analysis trust_analysis = {"trust", run};
