// SPDX-License-Identifier: Apache-2.0
// Everything a rank does except exposed communication is its own time, which takes as long as it
// took. A call starts when its rank reaches it, and is done when all of its ranks have; a rank
// whose call was exposed cannot continue past the call's end before it is done. The ranks are
// replayed along the common clock, so that all that had started a call when it ended have reached
// it. One whose partners were not recorded takes as long as it took. A host launches when it did,
// except for the time it waited for its device: no kernel starts before its launch.
#include "analysis/ranks/run_replay.h"

#include "ingest/base/budget.h"
#include "ingest/base/search.h"

#define MOST_OPEN 16 // concurrent calls of a rank; beyond that, the first to end is ended

struct replay_rank {
    const struct comm_rank *rank;
    int64_t exposed_ns;       // communication of the rank, up to its last call's end
    uint32_t next;            // call that has not started
    uint32_t open[MOST_OPEN]; // calls that have not ended
    uint32_t open_count;
    uint32_t border;       // of its steps: two each, begin and end
    bool exposed;          // the kernel started last is
    int64_t slip_ns;       // added to its own time: the time in the replay
    int64_t host_ahead_ns; // by how much its host is earlier than it was
    int64_t blocked_ns;    // of the latest launch so far
    int64_t *ahead_ns;     // per call: by how much its device was earlier, once it is over
    bool *kept;            // per call: takes as long as it took
    int64_t saved_ns;      // in its steady steps
};

// Where a rank continues, in the heap: computing it for each comparison took a fifth of a join.
struct point {
    int64_t at_ns; // on the common clock
    uint32_t rank;
};

struct replay {
    const struct run_comm *comm;
    struct arena arena;
    struct replay_rank *ranks;
    int64_t *done_ns;   // per match: when it is done, INT64_MIN before anyone arrives
    struct point *heap; // ranks by the time of their next point
    uint32_t heap_count;
};

// --- own time -----------------------------------------------------------------------------------

// Calls of the rank that start before the time.
static uint32_t calls_before(const struct comm_rank *rank, int64_t time_ns)
{
    return count_below_i64(FIRST_OF(rank->events, begin_ns), rank->count, sizeof *rank->events,
                           time_ns);
}

// Exposed communication up to then, by the rank's own clock. Between the starts of two calls
// exposed time comes first.
static int64_t exposed_before(const struct replay_rank *rank, int64_t time_ns)
{
    const struct comm_rank *known = rank->rank;
    uint32_t before = calls_before(known, time_ns);
    if (before == 0)
        return 0;
    const struct comm_event *last = &known->events[before - 1];
    int64_t then_ns =
        before < known->count ? known->events[before].before_ns[BEFORE_COMM] : rank->exposed_ns;
    int64_t within_ns = time_ns - last->begin_ns;
    int64_t exposed_ns = then_ns - last->before_ns[BEFORE_COMM];
    return last->before_ns[BEFORE_COMM] + (exposed_ns < within_ns ? exposed_ns : within_ns);
}

// That moment in the replay, on the common clock, without the slip.
static int64_t own_time(const struct replay_rank *rank, int64_t time_ns)
{
    return time_ns + run_comm_offset(rank->rank, time_ns) - exposed_before(rank, time_ns);
}

static int64_t ahead_at(const struct replay_rank *rank, int64_t time_ns)
{
    return exposed_before(rank, time_ns) - rank->slip_ns;
}

static int64_t all_exposed(const struct comm_rank *rank)
{
    int64_t most_ns = 0;
    for (uint32_t i = 0; i < rank->count; i++) {
        int64_t ns = rank->events[i].before_ns[BEFORE_COMM] + rank->events[i].exposed_ns;
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return most_ns;
}

static int64_t end_of(const struct comm_event *event)
{
    return event->begin_ns + event->dur_ns;
}

// --- points -------------------------------------------------------------------------------------

// The open call that ends first; the count if none.
static uint32_t first_to_end(const struct replay_rank *rank)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < rank->open_count; i++)
        if (end_of(&rank->rank->events[rank->open[i]]) <
            end_of(&rank->rank->events[rank->open[first]]))
            first = i;
    return first;
}

static int64_t end_point(const struct replay_rank *rank)
{
    const struct comm_rank *known = rank->rank;
    return rank->open_count ? run_comm_end(known, &known->events[rank->open[first_to_end(rank)]])
                            : INT64_MAX;
}

static int64_t begin_point(const struct replay_rank *rank)
{
    const struct comm_rank *known = rank->rank;
    return rank->next < known->count ? run_comm_begin(known, &known->events[rank->next])
                                     : INT64_MAX;
}

// The start or end of a step by the rank's own clock.
static int64_t border_of(const struct replay_rank *rank)
{
    const struct comm_step *step = &rank->rank->steps[rank->border / 2];
    return rank->border % 2 ? step->end_ns : step->begin_ns;
}

static int64_t border_point(const struct replay_rank *rank)
{
    if (rank->border == 2 * rank->rank->step_count)
        return INT64_MAX;
    return border_of(rank) + run_comm_offset(rank->rank, border_of(rank));
}

// When the rank has its next event, on the common clock; INT64_MAX if it is finished.
static int64_t next_point(const struct replay_rank *rank)
{
    int64_t begin_ns = begin_point(rank), end_ns = end_point(rank), border_ns = border_point(rank);
    int64_t call_ns = begin_ns < end_ns ? begin_ns : end_ns;
    return call_ns < border_ns ? call_ns : border_ns;
}

// Continues when the call is done, at the earliest.
static void end_call(struct replay *replay, struct replay_rank *rank)
{
    uint32_t first = first_to_end(rank), call = rank->open[first];
    const struct comm_event *event = &rank->rank->events[call];
    rank->open[first] = rank->open[--rank->open_count];
    int64_t done_ns = rank->kept[call] ? run_comm_end(rank->rank, event) - rank->ahead_ns[call]
                                       : replay->done_ns[event->match];
    int64_t slip_ns = done_ns - own_time(rank, end_of(event));
    rank->slip_ns = slip_ns > rank->slip_ns ? slip_ns : rank->slip_ns;
    rank->ahead_ns[call] = ahead_at(rank, end_of(event));
}

// --- hosts --------------------------------------------------------------------------------------

// A host that waited for its device continues earlier by as much as the device was ahead then.
static void free_host(struct replay_rank *rank, const struct comm_event *event)
{
    uint32_t before = calls_before(rank->rank, event->launch_ns);
    int64_t device_ns = before ? rank->ahead_ns[before - 1] : 0;
    int64_t host_ns = rank->host_ahead_ns + event->blocked_ns - rank->blocked_ns;
    device_ns = device_ns > 0 ? device_ns : 0;
    rank->host_ahead_ns = host_ns < device_ns ? host_ns : device_ns;
    rank->blocked_ns = event->blocked_ns;
}

static int64_t host_idle(const struct comm_event *event)
{
    return event->before_ns[BEFORE_HOST] + event->before_ns[BEFORE_DATA_LOADING];
}

// A device that waited for its host continues once that has launched, however early it was; and no
// call starts before its launch.
static void hold_back(struct replay_rank *rank)
{
    const struct comm_event *event = &rank->rank->events[rank->next];
    if (event->launch_ns == INT64_MIN)
        return;
    if (event->blocked_ns > rank->blocked_ns)
        free_host(rank, event);
    int64_t idle_ns = host_idle(event) - (rank->next ? host_idle(event - 1) : 0);
    int64_t queued_ns = event->begin_ns - event->launch_ns;
    int64_t ahead_ns = ahead_at(rank, event->begin_ns), kept_ns = ahead_ns;
    if (idle_ns > 0) {
        kept_ns += idle_ns;
        queued_ns = 0;
    }
    int64_t most_ns = rank->host_ahead_ns + (queued_ns > 0 ? queued_ns : 0);
    kept_ns = kept_ns < most_ns ? kept_ns : most_ns;
    rank->slip_ns += ahead_ns - kept_ns;
}

// --- calls --------------------------------------------------------------------------------------

// Whether nobody is known to wait in the call, and it takes no time.
static bool is_instant(const struct replay *replay, const struct replay_rank *rank)
{
    uint32_t match = rank->rank->events[rank->next].match;
    return match == RUN_NONE ? !rank->kept[rank->next]
                             : replay->comm->matches[match].latest_rank == RUN_NONE;
}

static void arrive(struct replay *replay, const struct replay_rank *rank)
{
    const struct comm_event *event = &rank->rank->events[rank->next];
    if (event->match == RUN_NONE)
        return;
    int64_t there_ns = own_time(rank, event->begin_ns) + rank->slip_ns;
    int64_t *done_ns = &replay->done_ns[event->match];
    *done_ns = there_ns > *done_ns ? there_ns : *done_ns;
}

static void begin_call(struct replay *replay, struct replay_rank *rank)
{
    const struct comm_event *event = &rank->rank->events[rank->next];
    // For a kernel of several sends and receives, which start at once, the first has the exposed
    // time.
    rank->exposed = event->joined ? rank->exposed : event->exposed_ns > 0;
    if (!event->joined)
        hold_back(rank);
    rank->ahead_ns[rank->next] = ahead_at(rank, event->begin_ns);
    if (is_instant(replay, rank)) {
        rank->next++;
        return;
    }
    arrive(replay, rank);
    if (rank->open_count == MOST_OPEN)
        end_call(replay, rank);
    if (rank->exposed)
        rank->open[rank->open_count++] = rank->next;
    rank->next++;
}

static void cross_border(struct replay_rank *rank)
{
    int64_t ahead_ns = ahead_at(rank, border_of(rank));
    if (rank->rank->steps[rank->border / 2].steady)
        rank->saved_ns += rank->border % 2 ? ahead_ns : -ahead_ns;
    rank->border++;
}

static void take_point(struct replay *replay, struct replay_rank *rank)
{
    int64_t begin_ns = begin_point(rank), end_ns = end_point(rank), border_ns = border_point(rank);
    if (border_ns <= begin_ns && border_ns <= end_ns)
        cross_border(rank);
    else if (begin_ns <= end_ns)
        begin_call(replay, rank);
    else
        end_call(replay, rank);
}

// --- all ranks ----------------------------------------------------------------------------------

static void sift_down(struct replay *replay, uint32_t at)
{
    struct point *heap = replay->heap, point = heap[at];
    uint32_t child;
    while ((child = 2 * at + 1) < replay->heap_count) {
        uint32_t other = child + 1;
        if (other < replay->heap_count && heap[other].at_ns < heap[child].at_ns)
            child = other;
        if (heap[child].at_ns >= point.at_ns)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = point;
}

// A call that has no match though others like it have is at an end of the recordings, or was lost:
// how long it waited for its partners is unknown. `matched` has room for every operation.
static void keep_calls(const struct replay_rank *rank, uint32_t r, uint32_t *matched)
{
    const struct comm_rank *known = rank->rank;
    for (uint32_t i = 0; i < known->count; i++)
        if (known->events[i].match != RUN_NONE)
            matched[known->events[i].op] = r + 1;
    for (uint32_t i = 0; i < known->count; i++)
        rank->kept[i] = known->events[i].match == RUN_NONE && matched[known->events[i].op] == r + 1;
}

static bool make_room(struct replay *replay, struct err *err)
{
    const struct run_comm *comm = replay->comm;
    replay->ranks = arena_array(&replay->arena, comm->rank_count + 1, sizeof *replay->ranks, err);
    replay->heap = arena_room(&replay->arena, comm->rank_count + 1, sizeof *replay->heap, err);
    replay->done_ns =
        arena_room(&replay->arena, comm->match_count + 1, sizeof *replay->done_ns, err);
    if (!replay->ranks || !replay->heap || !replay->done_ns)
        return false;
    for (uint32_t m = 0; m < comm->match_count; m++)
        replay->done_ns[m] = INT64_MIN;
    return true;
}

static bool place_ranks(struct replay *replay, struct err *err)
{
    const struct run_comm *comm = replay->comm;
    uint32_t *matched =
        arena_array(&replay->arena, (size_t)comm->op_count + 1, sizeof *matched, err);
    for (uint32_t r = 0; matched && r < comm->rank_count; r++) {
        const struct comm_rank *known = &comm->ranks[r];
        struct replay_rank *rank = &replay->ranks[r];
        *rank = (struct replay_rank){.rank = known, .exposed_ns = all_exposed(known)};
        rank->ahead_ns =
            arena_room(&replay->arena, (size_t)known->count + 1, sizeof *rank->ahead_ns, err);
        rank->kept = arena_room(&replay->arena, (size_t)known->count + 1, sizeof *rank->kept, err);
        if (!rank->ahead_ns || !rank->kept)
            return false;
        keep_calls(rank, r, matched);
        int64_t at_ns = next_point(rank);
        if (at_ns < INT64_MAX)
            replay->heap[replay->heap_count++] = (struct point){at_ns, r};
    }
    for (uint32_t at = replay->heap_count / 2; at-- > 0;)
        sift_down(replay, at);
    return matched;
}

static void play(struct replay *replay)
{
    while (replay->heap_count > 0) {
        struct replay_rank *rank = &replay->ranks[replay->heap[0].rank];
        take_point(replay, rank);
        replay->heap[0].at_ns = next_point(rank);
        if (replay->heap[0].at_ns == INT64_MAX)
            replay->heap[0] = replay->heap[--replay->heap_count];
        if (replay->heap_count > 0)
            sift_down(replay, 0);
    }
}

bool run_replay(const struct run_comm *comm, int64_t *saved_ns, struct err *err)
{
    struct replay replay = {.comm = comm};
    arena_init(&replay.arena, comm->budget);
    bool ok = make_room(&replay, err) && place_ranks(&replay, err);
    if (ok)
        play(&replay);
    for (uint32_t r = 0; ok && r < comm->rank_count; r++)
        saved_ns[r] = replay.ranks[r].saved_ns;
    arena_free(&replay.arena);
    return ok;
}
