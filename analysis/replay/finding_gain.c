// SPDX-License-Identifier: Apache-2.0
// Device events lose what a finding claims of them. A wait for the host is taken off what the
// launching thread did meanwhile.
#include "analysis/replay/finding_gain.h"

#include "analysis/replay/recording_time.h"
#include "analysis/replay/whatif.h"
#include "analysis/names/gap_cause.h"

#include <math.h>

#define LEAST_KNOWN 0.9 // of the claimed time

enum { MOST_NODES = 256 }; // of all threads during a wait

struct taking {
    const struct finding_case *the_case;
    const struct finding *finding;
    const struct rank_graph *graph;
    const uint32_t *call_of; // per launch: its node, or REPLAY_NONE
    int64_t *dur;
    double claimed_ns, known_ns;
    bool claims_waits;
};

static void take(struct taking *taking, uint32_t node, int64_t *ns)
{
    int64_t off_ns = *ns < taking->dur[node] ? *ns : taking->dur[node];
    taking->dur[node] -= off_ns;
    *ns -= off_ns;
}

static bool is_host_wait(const struct gap *gap)
{
    return gap->next != FACTS_NONE &&
           (gap->cause == IDLE_HOST_COMPUTE || gap->cause == IDLE_LAUNCH_OVERHEAD);
}

// Takes a wait off what precedes the launch, for whose start the event waits, back to the start of
// the wait.
static void take_wait(struct taking *taking, const struct gap *gap, int64_t ns)
{
    const struct rank_graph *graph = taking->graph;
    const struct facts *facts = taking->the_case->facts;
    uint32_t launch = facts->devices[gap->next].launch;
    uint32_t call = launch == FACTS_NONE ? REPLAY_NONE : taking->call_of[launch];
    if (call == REPLAY_NONE)
        return;
    taking->known_ns += (double)ns;
    uint32_t track = rank_graph_node(facts, graph, call).track;
    uint32_t last =
        call - facts->device_count > MOST_NODES ? call - MOST_NODES : facts->device_count;
    for (uint32_t n = call - 1; ns > 0 && n >= last; n--) {
        if (rank_graph_node(facts, graph, n).track != track)
            continue;
        if (rank_graph_begin(facts, graph, n) + graph->dur[n] <= gap->begin_ns)
            break;
        take(taking, n, &ns);
    }
}

// The call that launched it, and what the thread did before that. A graph's call stays for the rest
// of the graph.
static void drop_launch(struct taking *taking, uint32_t device)
{
    const struct facts *facts = taking->the_case->facts;
    uint32_t launch = facts->devices[device].launch;
    uint32_t call = launch == FACTS_NONE ? REPLAY_NONE : taking->call_of[launch];
    if (call == REPLAY_NONE || facts->launches[launch].count > 1)
        return;
    taking->dur[call] = 0;
    if (rank_graph_kind(facts, taking->graph, call - 1) == WORK_HOST)
        taking->dur[call - 1] = 0;
}

static void take_atom(void *context, const struct atom *atom)
{
    struct taking *taking = context;
    const struct finding *finding = taking->finding;
    int64_t ns = finding->claim(taking->the_case, finding->context, atom);
    if (ns <= 0)
        return;
    taking->claimed_ns += (double)ns;
    if (!atom->gap) {
        taking->known_ns += (double)ns;
        if (finding->gain == FINDING_GAIN_DROPS && ns == atom->ns)
            drop_launch(taking, atom->device);
        take(taking, atom->device, &ns);
    } else if (is_host_wait(atom->gap))
        take_wait(taking, atom->gap, ns);
}

// The node of each launch's call.
static uint32_t *find_calls(const struct facts *facts, const struct rank_graph *graph,
                            struct arena *arena, struct err *err)
{
    uint32_t *call_of = arena_room(arena, (size_t)facts->launch_count + 1, sizeof *call_of, err);
    for (uint32_t i = 0; call_of && i < facts->launch_count; i++)
        call_of[i] = REPLAY_NONE;
    for (uint32_t n = facts->device_count; call_of && n < graph->graph.node_count; n++) {
        const struct work_node node = rank_graph_node(facts, graph, n);
        uint32_t launch = node.kind == WORK_CALL ? facts_launch_by(facts, node.event) : FACTS_NONE;
        if (launch != FACTS_NONE)
            call_of[launch] = n;
    }
    return call_of;
}

// Takes off what recording took of the host's time.
static bool take_recording(struct taking *taking, struct arena *arena, struct err *err)
{
    int64_t *recording_ns;
    if (!recording_time(taking->the_case->facts, taking->graph, arena, &recording_ns, err))
        return false;
    for (uint32_t n = 0; n < taking->graph->graph.node_count; n++)
        take(taking, n, &recording_ns[n]);
    return true;
}

static void free_host(struct taking *taking)
{
    const struct rank_graph *graph = taking->graph;
    const struct facts *facts = taking->the_case->facts;
    for (uint32_t n = facts->device_count; n < graph->graph.node_count; n++)
        if (work_is_host(rank_graph_kind(facts, graph, n)))
            taking->dur[n] = 0;
}

static void note_wait(void *context, const struct atom *atom)
{
    struct taking *taking = context;
    const struct finding *finding = taking->finding;
    taking->claims_waits =
        taking->claims_waits ||
        (atom->gap && finding->claim(taking->the_case, finding->context, atom) > 0);
}

// Without the profiler the host is faster by its time, and the device is the same. So what shorter
// device events bring shows only without that time, and host work that is dropped takes its part of
// it along: both replays leave it out. Claimed waits include it.
static bool leaves_out_recording(struct taking *taking)
{
    enum finding_gain gain = taking->finding->gain;
    if (gain == FINDING_GAIN_DROPS || gain == FINDING_GAIN_FREE_HOST)
        return true;
    findings_visit(taking->the_case, note_wait, taking);
    return !taking->claims_waits;
}

static bool simulate(const struct whatif *whatif, struct taking *taking, struct arena *arena,
                     double *gain_ns, struct err *err)
{
    size_t nodes = whatif->graph.graph.node_count;
    double before_ns = 0;
    taking->call_of = find_calls(whatif->facts, taking->graph, arena, err);
    taking->dur = arena_room(arena, nodes + 1, sizeof *taking->dur, err);
    if (!taking->call_of || !taking->dur)
        return false;
    memcpy(taking->dur, whatif->graph.dur, nodes * sizeof *taking->dur);
    if (leaves_out_recording(taking) &&
        (!take_recording(taking, arena, err) ||
         !whatif_replay(whatif, taking->dur, arena, &before_ns, err)))
        return false;
    if (taking->finding->gain == FINDING_GAIN_FREE_HOST)
        free_host(taking);
    else
        findings_visit(taking->the_case, take_atom, taking);
    if (!whatif_replay(whatif, taking->dur, arena, gain_ns, err))
        return false;
    *gain_ns -= before_ns;
    return true;
}

bool finding_gain(const void *context, const struct finding_case *the_case,
                  const struct finding *finding, bool *known, int64_t *gain_ns, struct err *err)
{
    const struct whatif *whatif = context;
    struct taking taking = {.the_case = the_case, .finding = finding, .graph = &whatif->graph};
    struct arena arena;
    double gain = 0;
    *known = false;
    if (whatif->refused)
        return true;
    arena_init(&arena, whatif->facts->budget);
    bool ok = simulate(whatif, &taking, &arena, &gain, err);
    arena_free(&arena);
    if (!ok && err->code == ERR_LIMIT) { // the finding holds without it
        *err = (struct err){.pos = ERR_NO_POS};
        return true;
    }
    bool all = finding->gain == FINDING_GAIN_FREE_HOST;
    *known =
        ok && (all || (taking.known_ns > 0 && taking.known_ns >= LEAST_KNOWN * taking.claimed_ns));
    *gain_ns = llround(gain);
    return ok;
}
