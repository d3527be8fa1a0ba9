// SPDX-License-Identifier: Apache-2.0
// Selects device events by what is known of them, and host time by what encloses it.
#include "analysis/replay/change.h"

#include "analysis/comm/comm_calls.h"
#include "analysis/comm/group_ranks.h"
#include "analysis/facts/track_pairs.h"
#include "analysis/names/host_traits.h"
#include "analysis/replay/change_order.h"
#include "analysis/replay/counterpart_factors.h"
#include "analysis/replay/recording_time.h"
#include "analysis/replay/roofline_factors.h"
#include "ingest/base/figures.h"

#include <math.h>

#define MOST_NESTED 256 // operators around a launch that are looked at

// While one change is applied.
struct applied {
    const struct change *change;
    const struct facts *facts;
    const struct rank_graph *graph;
    struct arena *scratch;
    struct host_traits *traits;
    uint8_t *memo; // per string: 0 unknown, 1 does not match, 2 matches
    int64_t *dur;
    bool *targeted;          // per device event: an earlier change says what it takes
    const uint8_t *of_group; // per device event: selected by its process group
    const double *factor;    // per device event, of its roofline or counterpart
    const struct table *counterpart;
    int64_t touched_ns;
};

// --- names --------------------------------------------------------------------------------------

static bool fits(struct str pattern, struct str text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, from = 0;
    while (t < text.len) {
        if (p < pattern.len && pattern.at[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.len && pattern.at[p] == text.at[t]) {
            p++;
            t++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            t = ++from;
        } else
            return false;
    }
    while (p < pattern.len && pattern.at[p] == '*')
        p++;
    return p == pattern.len;
}

static bool name_fits(struct applied *applied, str_id name)
{
    uint8_t *known = &applied->memo[name];
    if (!*known)
        *known = 1 + fits(applied->change->pattern, trace_text(applied->facts->trace, name));
    return *known == 2;
}

// --- device events ------------------------------------------------------------------------------

static bool op_fits(struct applied *applied, uint32_t op)
{
    const struct facts *facts = applied->facts;
    for (int depth = 0; op != FACTS_NONE && depth < MOST_NESTED; depth++) {
        if (name_fits(applied, facts->trace->name[op]))
            return true;
        op = facts->op_parent[op];
    }
    return false;
}

static bool selects_device(struct applied *applied, uint32_t index)
{
    static const char *const class_names[] = {[CLASS_COMPUTE] = "compute",
                                              [CLASS_COMMUNICATION] = "communication",
                                              [CLASS_MEMORY] = "memory"};
    const struct facts *facts = applied->facts;
    const struct device_event *device = &facts->devices[index];
    const struct launch *launch =
        device->launch == FACTS_NONE ? NULL : &facts->launches[device->launch];
    struct str pattern = applied->change->pattern;
    switch (applied->change->of) {
    case CHANGE_OF_KERNEL: return name_fits(applied, facts_device_name(facts, index));
    case CHANGE_OF_OPERATOR: return launch && op_fits(applied, launch->op);
    case CHANGE_OF_CATEGORY: return fits(pattern, str_of(category_word(device->category)));
    case CHANGE_OF_CLASS: return fits(pattern, str_of(class_names[device->class]));
    case CHANGE_OF_GROUP:
    case CHANGE_OF_LINK: return applied->of_group[index];
    case CHANGE_OF_RECOMPUTE: // what hooks send meanwhile is sent without it, too
        return launch && launch->recompute && device->class != CLASS_COMMUNICATION;
    case CHANGE_OF_HOST:
    case CHANGE_OF_LOADING:
    case CHANGE_OF_PROFILER: break;
    }
    return false;
}

// Whoever scales again and again gets a time that replay_fits refuses.
static int64_t bounded(double ns)
{
    const double most = (double)(INT64_MAX / 2);
    return (int64_t)llround(fmax(-most, fmin(ns, most)));
}

// What a change makes of time that others left.
static int64_t kept_of(const struct change *change, int64_t left_ns)
{
    int64_t longer_ns = left_ns;
    switch (change->action) {
    case CHANGE_SET: return change->set_ns;
    case CHANGE_ADD: figures_sum(&longer_ns, change->set_ns); return longer_ns > 0 ? longer_ns : 0;
    case CHANGE_SCALE:
    case CHANGE_DROP: return bounded((double)left_ns * change->factor);
    case CHANGE_COUNTERPART:
    case CHANGE_ROOFLINE:
    case CHANGE_OVERLAP: break;
    }
    return left_ns;
}

static void change_node(struct applied *applied, uint32_t node, int64_t selected_ns)
{
    int64_t *dur = &applied->dur[node];
    figures_sum(&applied->touched_ns, selected_ns);
    selected_ns = selected_ns < *dur ? selected_ns : *dur;
    int64_t rest_ns = *dur - selected_ns;
    figures_sum(&rest_ns, kept_of(applied->change, selected_ns));
    *dur = rest_ns;
}

// Whether the change says what a device event takes, whatever others say.
static bool target_of(const struct applied *applied, uint32_t index, int64_t *target_ns)
{
    const struct change *change = applied->change;
    double share = 1;
    *target_ns = change->set_ns;
    switch (change->action) {
    case CHANGE_SET: return true;
    case CHANGE_COUNTERPART: share = applied->factor[index]; break;
    case CHANGE_ROOFLINE: share = applied->factor[index] / change->factor; break;
    case CHANGE_SCALE:
    case CHANGE_DROP:
    case CHANGE_ADD:
    case CHANGE_OVERLAP: return false;
    }
    *target_ns = bounded((double)applied->graph->dur[index] * share);
    return change->action == CHANGE_COUNTERPART || share < 1;
}

static void change_device(struct applied *applied, uint32_t index)
{
    int64_t *dur = &applied->dur[index], target_ns;
    figures_sum(&applied->touched_ns, applied->graph->dur[index]);
    if (!target_of(applied, index, &target_ns)) {
        *dur = kept_of(applied->change, *dur);
        return;
    }
    *dur = applied->targeted[index] && *dur < target_ns ? *dur : target_ns;
    applied->targeted[index] = true;
}

// Only what has one counts as selected.
static bool has_counterpart(const struct applied *applied, uint32_t index)
{
    return applied->change->action != CHANGE_COUNTERPART ||
           applied->factor[index] > COUNTERPART_NONE;
}

static void change_devices(struct applied *applied)
{
    for (uint32_t d = 0; d < applied->facts->device_count; d++)
        if (selects_device(applied, d) && has_counterpart(applied, d))
            change_device(applied, d);
}

// --- host time ----------------------------------------------------------------------------------

// Stretches of a thread that count, by begin.
struct stretches {
    struct keyed *at; // key: begin; a: event
    uint32_t count;
};

static bool selects_host(struct applied *applied, uint32_t event)
{
    const struct trace *trace = applied->facts->trace;
    enum event_kind kind = (enum event_kind)trace->kind[event];
    bool counts = kind == EVENT_CPU_OP || kind == EVENT_ANNOTATION || kind == EVENT_PYTHON ||
                  event_kind_is_launch(kind);
    if (!counts)
        return false;
    if (applied->change->of == CHANGE_OF_LOADING)
        return host_traits_of(applied->traits, event) >> HOST_LOADING & 1;
    return name_fits(applied, trace->name[event]);
}

static uint32_t collect(struct applied *applied, const struct track *track, struct keyed *into)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < track->count; i++) {
        uint32_t event = track->first + i;
        if (selects_host(applied, event))
            into[count++] = (struct keyed){applied->facts->trace->begin_ns[event], event, 0};
    }
    return count;
}

static bool list_stretches(struct applied *applied, uint32_t track, uint32_t frames,
                           struct stretches *stretches, struct err *err)
{
    const struct track *tracks = applied->facts->trace->tracks;
    size_t most = tracks[track].count;
    most += frames == FACTS_NONE ? 0 : tracks[frames].count;
    stretches->at = arena_room(applied->scratch, 2 * most + 1, sizeof *stretches->at, err);
    if (!stretches->at)
        return false;
    stretches->count = collect(applied, &tracks[track], stretches->at);
    if (frames != FACTS_NONE)
        stretches->count += collect(applied, &tracks[frames], stretches->at + stretches->count);
    sort_keyed(stretches->at, stretches->at + most, stretches->count);
    return true;
}

// How much of a stretch of time is covered; *next and *covered_ns move forward with begin_ns.
struct cover {
    const struct trace *trace;
    const struct stretches *stretches;
    uint32_t next;
    int64_t covered_ns; // up to here something that was passed reaches
};

static int64_t cover_of(struct cover *cover, int64_t begin_ns, int64_t end_ns)
{
    int64_t sum_ns = 0, at_ns = begin_ns;
    if (cover->covered_ns > at_ns) {
        int64_t to_ns = cover->covered_ns < end_ns ? cover->covered_ns : end_ns;
        sum_ns += to_ns - at_ns;
        at_ns = to_ns;
    }
    while (cover->next < cover->stretches->count &&
           cover->stretches->at[cover->next].key < end_ns) {
        const struct keyed *stretch = &cover->stretches->at[cover->next++];
        int64_t stop_ns = facts_event_end(cover->trace, stretch->a);
        int64_t from_ns = stretch->key > at_ns ? stretch->key : at_ns;
        int64_t to_ns = stop_ns < end_ns ? stop_ns : end_ns;
        if (to_ns > from_ns) {
            sum_ns += to_ns - from_ns;
            at_ns = to_ns;
        }
        cover->covered_ns = stop_ns > cover->covered_ns ? stop_ns : cover->covered_ns;
    }
    return sum_ns;
}

static bool is_host(const struct applied *applied, uint32_t node)
{
    return work_is_host(rank_graph_kind(applied->facts, applied->graph, node));
}

// The nodes of all threads by thread, each thread's in order.
struct thread_nodes {
    uint32_t *first, *at; // of track t: at[first[t]] .. at[first[t + 1] - 1]
};

static bool takes_time(const struct applied *applied, uint32_t node)
{
    return is_host(applied, node) && applied->graph->dur[node] > 0;
}

static uint32_t track_of(const struct applied *applied, uint32_t node)
{
    return rank_graph_node(applied->facts, applied->graph, node).track;
}

static bool list_thread_nodes(struct applied *applied, struct thread_nodes *nodes, struct err *err)
{
    const struct rank_graph *graph = applied->graph;
    uint32_t tracks = applied->facts->trace->track_count, from = applied->facts->device_count;
    size_t count = graph->graph.node_count - from;
    nodes->first = arena_array(applied->scratch, (size_t)tracks + 2, sizeof *nodes->first, err);
    nodes->at = arena_room(applied->scratch, count + 1, sizeof *nodes->at, err);
    if (!nodes->first || !nodes->at)
        return false;
    uint32_t *next = nodes->first + 1; // ends as the first of the next track
    for (uint32_t n = from; n < graph->graph.node_count; n++)
        if (takes_time(applied, n))
            next[track_of(applied, n) + 1]++;
    for (uint32_t t = 0; t < tracks; t++)
        next[t + 1] += next[t];
    for (uint32_t n = from; n < graph->graph.node_count; n++)
        if (takes_time(applied, n))
            nodes->at[next[track_of(applied, n)]++] = n;
    return true;
}

static bool change_thread(struct applied *applied, const struct thread_nodes *nodes, uint32_t track,
                          uint32_t frames, struct err *err)
{
    const struct rank_graph *graph = applied->graph;
    struct stretches stretches;
    if (!list_stretches(applied, track, frames, &stretches, err))
        return false;
    struct cover cover = {applied->facts->trace, &stretches, 0, INT64_MIN};
    for (uint32_t i = nodes->first[track]; i < nodes->first[track + 1]; i++) {
        uint32_t n = nodes->at[i];
        int64_t begin_ns = rank_graph_begin(applied->facts, graph, n);
        int64_t selected_ns = cover_of(&cover, begin_ns, begin_ns + graph->dur[n]);
        if (selected_ns > 0)
            change_node(applied, n, selected_ns);
    }
    return true;
}

static void change_whole_host(struct applied *applied)
{
    for (uint32_t n = applied->facts->device_count; n < applied->graph->graph.node_count; n++)
        if (is_host(applied, n))
            change_node(applied, n, applied->graph->dur[n]);
}

static bool change_recording(struct applied *applied, struct err *err)
{
    int64_t *recording_ns;
    if (!recording_time(applied->facts, applied->graph, applied->scratch, &recording_ns, err))
        return false;
    for (uint32_t n = 0; n < applied->graph->graph.node_count; n++)
        if (recording_ns[n] > 0)
            change_node(applied, n, recording_ns[n]);
    return true;
}

static bool change_hosts(struct applied *applied, struct err *err)
{
    const struct trace *trace = applied->facts->trace;
    struct thread_nodes nodes;
    uint32_t *frames_of;
    if (!track_pairs_make(trace, TRACK_PYTHON, applied->scratch, &frames_of, err) ||
        !list_thread_nodes(applied, &nodes, err))
        return false;
    for (uint32_t t = 0; t < trace->track_count; t++)
        if (trace->tracks[t].family == TRACK_HOST && nodes.first[t] < nodes.first[t + 1] &&
            !change_thread(applied, &nodes, t, frames_of[t], err))
            return false;
    return true;
}

// --- what the recording says elsewhere ----------------------------------------------------------

// Whether a process group is meant: by its name, its description or its span.
static bool place_fits(const struct applied *applied, const struct collective *collective,
                       struct arena *scratch, bool *is_meant, struct err *err)
{
    const struct trace *trace = applied->facts->trace;
    struct str pattern = applied->change->pattern;
    struct group_about about = group_about_none();
    struct group_place place;
    group_about_add(&about, trace, collective);
    if (!group_place_find(trace, collective->group, &about, scratch, &place, err))
        return false;
    if (applied->change->of == CHANGE_OF_LINK)
        *is_meant = place.span && fits(pattern, str_of(place.span));
    else
        *is_meant = fits(pattern, trace_text(trace, collective->group)) ||
                    (place.description.len && fits(pattern, place.description));
    return true;
}

// The list of a group's ranks may be long, and is needed no longer.
static bool group_fits(const struct applied *applied, const struct collective *collective,
                       bool *is_meant, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, applied->scratch->budget);
    bool ok = place_fits(applied, collective, &scratch, is_meant, err);
    arena_free(&scratch);
    return ok;
}

static bool find_groups(struct applied *applied, struct err *err)
{
    const struct facts *facts = applied->facts;
    const struct trace *trace = facts->trace;
    struct comm_calls calls;
    uint8_t *of_group = arena_array(applied->scratch, (size_t)facts->device_count + 1, 1, err);
    uint8_t *known = arena_array(applied->scratch, (size_t)trace->collective_count + 1, 1, err);
    if (!of_group || !known || !comm_calls_make(facts, applied->scratch, &calls, err))
        return false;
    applied->of_group = of_group;
    for (uint32_t c = 0; c < calls.count; c++) {
        uint32_t collective = calls.calls[c].collective;
        bool is_meant;
        if (collective == ARGS_NONE)
            continue;
        if (!known[collective]) {
            if (!group_fits(applied, &trace->collectives[collective], &is_meant, err))
                return false;
            known[collective] = 1 + is_meant;
        }
        of_group[calls.calls[c].device] = known[collective] == 2;
    }
    return true;
}

static bool look_up(struct applied *applied, struct err *err)
{
    const struct change *change = applied->change;
    bool groups = change->of == CHANGE_OF_GROUP || change->of == CHANGE_OF_LINK;
    return (!groups || find_groups(applied, err)) &&
           (change->action != CHANGE_ROOFLINE ||
            roofline_factors(applied->facts, applied->scratch, &applied->factor, err)) &&
           (change->action != CHANGE_COUNTERPART ||
            counterpart_factors(applied->facts, applied->counterpart, applied->scratch,
                                &applied->factor, err));
}

// --- one change ---------------------------------------------------------------------------------

static bool apply(struct applied *applied, struct err *err)
{
    const struct change *change = applied->change;
    if (!look_up(applied, err))
        return false;
    if (change->of == CHANGE_OF_PROFILER)
        return change_recording(applied, err);
    bool all = change_is_whole_host(change), host = change_is_of_host(change);
    if (all)
        change_whole_host(applied);
    if (!host)
        change_devices(applied);
    bool drops = change->action == CHANGE_DROP && change->of == CHANGE_OF_OPERATOR;
    return all || (!host && !drops) || change_hosts(applied, err);
}

// --- all ----------------------------------------------------------------------------------------

static bool needs_traits(const struct change_list *list)
{
    bool needs = false;
    for (uint32_t c = 0; c < list->count; c++)
        needs = needs || list->at[c].of == CHANGE_OF_LOADING;
    return needs;
}

bool change_needs_counterpart(const struct change_list *list)
{
    bool needs = false;
    for (uint32_t c = 0; c < list->count; c++)
        needs = needs || list->at[c].action == CHANGE_COUNTERPART;
    return needs;
}

bool change_overlaps(const struct change_list *list)
{
    bool overlaps = false;
    for (uint32_t c = 0; c < list->count; c++)
        overlaps = overlaps || list->at[c].action == CHANGE_OVERLAP;
    return overlaps;
}

static bool mark_overlapped(struct applied *applied, struct arena *scratch, bool *loose,
                            struct err *err)
{
    const struct facts *facts = applied->facts;
    applied->scratch = scratch;
    applied->memo = arena_array(scratch, facts->trace->strings.count + 1, 1, err);
    if (!applied->memo || !look_up(applied, err))
        return false;
    for (uint32_t d = 0; d < facts->device_count; d++)
        loose[d] = loose[d] || selects_device(applied, d);
    return true;
}

bool change_overlapped(const struct change_list *list, const struct facts *facts,
                       const struct rank_graph *graph, bool *loose, struct err *err)
{
    bool ok = true;
    for (uint32_t c = 0; ok && c < list->count; c++) {
        struct arena scratch;
        struct applied applied = {.change = &list->at[c], .facts = facts, .graph = graph};
        if (list->at[c].action != CHANGE_OVERLAP)
            continue;
        arena_init(&scratch, facts->budget);
        ok = mark_overlapped(&applied, &scratch, loose, err);
        arena_free(&scratch);
    }
    return ok;
}

static bool apply_all(const struct change_list *list, struct applied *each, int64_t *touched_ns,
                      struct err *err)
{
    uint32_t turns[CHANGE_MOST];
    bool ok = true;
    change_order(list, turns);
    for (uint32_t i = 0; ok && i < list->count; i++) {
        struct arena scratch;
        struct applied applied = *each;
        applied.change = &list->at[turns[i]];
        applied.scratch = &scratch;
        arena_init(&scratch, each->facts->budget);
        applied.memo = arena_array(&scratch, each->facts->trace->strings.count + 1, 1, err);
        ok = applied.memo && apply(&applied, err);
        touched_ns[turns[i]] = applied.touched_ns;
        arena_free(&scratch);
    }
    return ok;
}

bool change_apply(const struct change_list *list, const struct facts *facts,
                  const struct rank_graph *graph, int64_t *dur, int64_t *touched_ns,
                  struct err *err)
{
    struct host_traits traits = {0};
    struct arena arena;
    bool has_traits = needs_traits(list);
    memcpy(dur, graph->dur, graph->graph.node_count * sizeof *dur);
    if (has_traits && !host_traits_make(&traits, facts->trace, facts->budget, err))
        return false;
    arena_init(&arena, facts->budget);
    struct applied each = {
        .facts = facts,
        .graph = graph,
        .traits = &traits,
        .counterpart = list->counterpart,
        .dur = dur,
        .targeted = arena_array(&arena, (size_t)facts->device_count + 1, sizeof(bool), err)};
    bool ok = each.targeted && apply_all(list, &each, touched_ns, err);
    arena_free(&arena);
    if (has_traits)
        host_traits_free(&traits);
    return ok;
}
