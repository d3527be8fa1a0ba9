// SPDX-License-Identifier: Apache-2.0
// Compares what each match's last rank did since the group's previous match with what the others
// did, and attributes the waits.
#include "analysis/ranks/run_blame.h"

#include "analysis/ranks/run_comm_stages.h"

#define SAMPLE_MAX 64 // others that a late rank is compared with

// What a rank did between two collectives of a group.
struct segment {
    int64_t ns[BEFORE_COUNT]; // communication without the previous collective's
    int64_t pace;             // of its rank, see pace_of
    int64_t waited_ns;        // exposed, in other collectives
    int64_t slower_ns;        // of compute, what others would have saved on the same work
};

#define SEGMENT_FIELDS (BEFORE_COUNT + 3)

// Kernels per step are counted in thousandths; this many more are more work.
#define PACE_UNIT 1000
#define MORE_PACE (PACE_UNIT / 2)

// The late rank of a group's previous match, and what made it late then.
struct carried {
    uint32_t rank;
    int64_t lateness_ns;
    double reason_ns[REASON_COUNT];
    struct match_blame fault;
};

struct judge {
    const struct run_comm *comm;
    struct rank_blame *ranks;
    struct match_blame *matches;
    int64_t **waited; // per rank and event: exposed waits of earlier events
    int64_t *pace;    // per rank
    uint32_t *before; // per rank: its event in the group's previous match, RUN_NONE without
    int64_t *caused;  // per rank: in the current group
    int64_t *values;  // room for one per rank, twice
    struct carried carried;
    struct segment others; // what the others in the current match did
};

static const struct comm_event *event_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ranks[member.rank].events[member.event];
}

// --- segments -----------------------------------------------------------------------------------

// Whether the rank's call in the group's previous match is known. Overlapping calls may match in
// another order than they start; then there is no segment.
static bool has_segment(const struct judge *judge, struct comm_member member)
{
    return judge->before[member.rank] < member.event; // RUN_NONE is never less
}

static struct segment segment_of(const struct judge *judge, struct comm_member member)
{
    const struct comm_event *events = judge->comm->ranks[member.rank].events;
    uint32_t from = judge->before[member.rank], to = member.event;
    struct segment segment = {
        .pace = judge->pace[member.rank],
        .waited_ns = judge->waited[member.rank][to] - judge->waited[member.rank][from] -
                     run_blame_wait(judge->comm, &events[from]),
    };
    for (int i = 0; i < BEFORE_COUNT; i++)
        segment.ns[i] = events[to].before_ns[i] - events[from].before_ns[i];
    segment.ns[BEFORE_COMM] -= events[from].exposed_ns;
    double ratio = judge->comm->ranks[member.rank].work_ratio;
    if (events[to].step != RUN_NONE)
        ratio *= judge->comm->ranks[member.rank].steps[events[to].step].ratio;
    if (ratio > 0)
        segment.slower_ns = (int64_t)((double)segment.ns[BEFORE_COMPUTE] * (1 - 1 / ratio));
    return segment;
}

static int64_t *field(struct segment *segment, int index)
{
    int64_t *const others[] = {&segment->pace, &segment->waited_ns, &segment->slower_ns};
    return index < BEFORE_COUNT ? &segment->ns[index] : others[index - BEFORE_COUNT];
}

// Medians of what the others did, part by part; false if there is nobody to compare with.
static bool others_did(const struct judge *judge, const struct comm_match *match,
                       struct segment *median)
{
    struct segment others[SAMPLE_MAX];
    uint32_t count = 0, stride = 1 + (match->count - 1) / SAMPLE_MAX;
    for (uint32_t i = 0; i < match->count && count < SAMPLE_MAX; i += stride) {
        struct comm_member member = judge->comm->members[match->first + i];
        if (member.rank != match->latest_rank && has_segment(judge, member))
            others[count++] = segment_of(judge, member);
    }
    for (int f = 0; f < SEGMENT_FIELDS; f++) {
        int64_t values[SAMPLE_MAX], scratch[SAMPLE_MAX];
        for (uint32_t i = 0; i < count; i++)
            values[i] = *field(&others[i], f);
        *field(median, f) = run_median(values, scratch, count);
    }
    return count > 0;
}

// By how much the last rank did more than the others; nothing if unknown.
static struct segment excess_of(struct judge *judge, const struct comm_match *match,
                                struct comm_member late)
{
    struct segment excess = {0};
    judge->others = excess;
    if (!has_segment(judge, late) || !others_did(judge, match, &judge->others))
        return excess;
    excess = segment_of(judge, late);
    for (int f = 0; f < SEGMENT_FIELDS; f++)
        *field(&excess, f) -= *field(&judge->others, f);
    return excess;
}

// --- reasons ------------------------------------------------------------------------------------

static double positive(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

// Compute beyond that of the others at their speed is more work; if speeds cannot be compared, all
// of it if the rank has more kernels.
static double more_work_ns(const struct segment *excess, bool compared)
{
    double compute_ns = positive(excess->ns[BEFORE_COMPUTE]);
    if (!compared)
        return excess->pace > MORE_PACE ? compute_ns : 0;
    double slower_ns = positive(excess->slower_ns);
    return slower_ns < compute_ns ? compute_ns - slower_ns : 0;
}

static void reasons_of(const struct segment *excess, bool compared, double reason_ns[REASON_COUNT])
{
    double more_ns = more_work_ns(excess, compared);
    reason_ns[REASON_SLOWER] = positive(excess->ns[BEFORE_COMPUTE]) - more_ns;
    reason_ns[REASON_MORE_WORK] = more_ns;
    reason_ns[REASON_DATA_LOADING] = positive(excess->ns[BEFORE_DATA_LOADING]);
    reason_ns[REASON_HOST] = positive(excess->ns[BEFORE_HOST]);
    reason_ns[REASON_COPIES] = positive(excess->ns[BEFORE_MEMORY]);
    reason_ns[REASON_COMMUNICATION] = positive(excess->ns[BEFORE_COMM]);
    reason_ns[REASON_UNKNOWN] = positive(excess->ns[BEFORE_IDLE]);
}

// Lateness that the segment does not explain has the reasons of the previous lateness, as far as
// the same rank was late then: collectives that overlap compute preserve the others' lead. Returns
// the share of the lateness that is carried over.
static double carry(struct judge *judge, uint32_t rank, int64_t lateness_ns,
                    double reason_ns[REASON_COUNT])
{
    struct carried *carried = &judge->carried;
    double explained_ns = 0;
    for (int i = 0; i < REASON_COUNT; i++)
        explained_ns += reason_ns[i];
    double rest_ns = (double)lateness_ns - explained_ns, before_ns = (double)carried->lateness_ns;
    bool same = carried->rank == rank && before_ns > 0 && rest_ns > 0;
    double kept_ns = !same ? 0 : rest_ns < before_ns ? rest_ns : before_ns;
    for (int i = 0; i < REASON_COUNT; i++) {
        reason_ns[i] += same ? kept_ns / before_ns * carried->reason_ns[i] : 0;
        carried->reason_ns[i] = reason_ns[i];
    }
    carried->rank = rank;
    carried->lateness_ns = lateness_ns;
    return lateness_ns > 0 ? kept_ns / (double)lateness_ns : 0;
}

// The other rank whose waits since the group's previous match were closest to a time.
static struct comm_member nearest_peer(const struct judge *judge, const struct comm_match *match,
                                       int64_t waited_ns)
{
    struct comm_member best = {RUN_NONE, 0};
    int64_t best_ns = INT64_MAX;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = judge->comm->members[match->first + i];
        if (member.rank == match->latest_rank || !has_segment(judge, member))
            continue;
        int64_t apart_ns = segment_of(judge, member).waited_ns - waited_ns;
        apart_ns = apart_ns < 0 ? -apart_ns : apart_ns;
        if (apart_ns < best_ns) {
            best_ns = apart_ns;
            best = member;
        }
    }
    return best;
}

// Who made the last rank wait, if that made it late: since the previous match, and for the
// carried-over part, whoever it was then.
static void find_cause(struct judge *judge, uint32_t m, struct comm_member late, double waited,
                       double kept)
{
    const struct comm_match *match = &judge->comm->matches[m];
    struct match_blame *fault = &judge->matches[m], *before = &judge->carried.fault;
    kept *= before->cause == RUN_NONE ? 0 : before->share;
    uint32_t event = late.event;
    int64_t excess_ns;
    if (waited > kept) {
        struct comm_member peer = nearest_peer(judge, match, judge->others.waited_ns);
        event = run_blame_longest(judge->comm, late, peer, judge->before[late.rank], &excess_ns);
        fault->peer = run_blame_back(peer, late.event - event);
    }
    if (event != late.event) {
        fault->cause = judge->comm->ranks[late.rank].events[event].match;
    } else if (kept > 0) {
        fault->cause = before->cause;
        fault->peer = before->peer;
    }
    fault->share = (float)(waited + kept < 1 ? waited + kept : 1);
    judge->carried.fault = *fault;
}

// --- one match ----------------------------------------------------------------------------------

// Waits of the others, and how much the last one's start is after their median start.
static int64_t caused_of(const struct judge *judge, const struct comm_match *match,
                         int64_t *lateness_ns)
{
    const struct run_comm *comm = judge->comm;
    int64_t caused_ns = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        const struct comm_event *event = event_of(comm, member);
        if (member.rank == match->latest_rank)
            continue;
        caused_ns += event->wait_ns;
        judge->values[count++] = run_comm_begin(&comm->ranks[member.rank], event);
    }
    *lateness_ns =
        match->latest_ns - run_median(judge->values, judge->values + comm->rank_count, count);
    return caused_ns;
}

static void count_late(struct judge *judge, struct comm_member late, int64_t lateness_ns,
                       const struct segment *excess, const double reason_ns[REASON_COUNT])
{
    struct rank_blame *rank = &judge->ranks[late.rank];
    rank->late_calls++;
    rank->lateness_ns += lateness_ns;
    rank->compute_ns += excess->ns[BEFORE_COMPUTE] + judge->others.ns[BEFORE_COMPUTE];
    for (int i = 0; i < BEFORE_COUNT; i++)
        rank->excess_ns[i] += excess->ns[i];
    for (int i = 0; i < REASON_COUNT; i++)
        rank->reason_ns[i] += reason_ns[i];
}

static void judge_match(struct judge *judge, uint32_t m)
{
    const struct run_comm *comm = judge->comm;
    const struct comm_match *match = &comm->matches[m];
    struct comm_member late = run_blame_late(comm, match);
    int64_t lateness_ns;
    int64_t caused_ns = caused_of(judge, match, &lateness_ns);
    struct segment excess = excess_of(judge, match, late);
    double reason_ns[REASON_COUNT];
    reasons_of(&excess, comm->ranks[late.rank].work_ratio > 0, reason_ns);
    double kept = carry(judge, late.rank, lateness_ns, reason_ns);
    double waited = lateness_ns > 0 ? positive(excess.waited_ns) / (double)lateness_ns : 0;
    find_cause(judge, m, late, waited, kept);
    if (!run_match_is_steady(comm, match))
        return;
    judge->matches[m].caused_ns = caused_ns;
    count_late(judge, late, lateness_ns, &excess, reason_ns);
}

// --- all matches --------------------------------------------------------------------------------

static void forget_before(struct judge *judge, uint32_t group)
{
    const struct comm_group *about = &judge->comm->groups[group];
    for (uint32_t i = 0; i < about->rank_count; i++)
        judge->before[about->ranks[i]] = RUN_NONE;
    judge->carried = (struct carried){.rank = RUN_NONE, .fault = {.cause = RUN_NONE}};
}

// The collectives of a group are consecutive.
static void judge_all(struct judge *judge)
{
    const struct run_comm *comm = judge->comm;
    uint32_t group = RUN_NONE;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_match *match = &comm->matches[m];
        judge->matches[m] = (struct match_blame){.cause = RUN_NONE};
        if (!run_match_has_late(comm, match))
            continue;
        if (comm->ops[match->op].group != group) {
            group = comm->ops[match->op].group;
            forget_before(judge, group);
        }
        judge_match(judge, m);
        bool counts = run_match_is_steady(comm, match);
        for (uint32_t i = 0; i < match->count; i++) {
            struct comm_member member = comm->members[match->first + i];
            judge->before[member.rank] = member.event;
            judge->ranks[member.rank].calls += counts;
        }
    }
}

static void settle_group(struct judge *judge, uint32_t group)
{
    for (uint32_t r = 0; r < judge->comm->rank_count; r++) {
        if (judge->caused[r] > judge->ranks[r].group_ns) {
            judge->ranks[r].group_ns = judge->caused[r];
            judge->ranks[r].group = group;
        }
        judge->ranks[r].caused_ns += judge->caused[r];
        judge->caused[r] = 0;
    }
}

// Attributes to each rank the waits it caused, directly or by making the last rank wait.
static void share_out(struct judge *judge, const struct blame *blame)
{
    const struct run_comm *comm = judge->comm;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct match_blame *fault = &judge->matches[m];
        uint32_t group = comm->ops[comm->matches[m].op].group;
        if (fault->caused_ns > 0) {
            uint32_t root = run_root_of(blame, m);
            int64_t passed_ns = root == comm->matches[m].latest_rank
                                    ? 0
                                    : (int64_t)(fault->share * (double)fault->caused_ns);
            judge->caused[comm->matches[m].latest_rank] += fault->caused_ns - passed_ns;
            judge->caused[root] += passed_ns;
        }
        if (m + 1 == comm->match_count || comm->ops[comm->matches[m + 1].op].group != group)
            settle_group(judge, group);
    }
}

// Compute kernels per step of a rank, from the first call of its first step to that of its last; of
// a single step all. Between two calls they cannot be counted: communication that overlaps compute
// starts after different kernels on a slow rank than on a fast one.
static int64_t pace_of(const struct comm_rank *rank)
{
    const struct comm_event *first = NULL, *last = NULL;
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct comm_event *event = &rank->events[i];
        if (event->step == RUN_NONE || (last && event->step <= last->step))
            continue;
        first = first ? first : event;
        last = event;
    }
    if (rank->count == 0)
        return 0;
    int64_t steps = first && first != last ? (int64_t)last->step - first->step : 1;
    if (!first || first == last) {
        first = &rank->events[0];
        last = &rank->events[rank->count - 1];
    }
    return ((int64_t)last->kernels - first->kernels) * PACE_UNIT / steps;
}

static bool sum_up_ranks(struct judge *judge, struct arena *scratch, struct err *err)
{
    const struct run_comm *comm = judge->comm;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        int64_t *waited = arena_room(scratch, rank->count, sizeof *waited, err), sum_ns = 0;
        if (!waited)
            return false;
        for (uint32_t i = 0; i < rank->count; i++) {
            waited[i] = sum_ns;
            sum_ns += run_blame_wait(comm, &rank->events[i]);
        }
        judge->waited[r] = waited;
        judge->pace[r] = pace_of(rank);
    }
    return true;
}

bool run_blame_make(const struct run_comm *comm, struct arena *arena, struct blame *blame,
                    struct err *err)
{
    size_t ranks = comm->rank_count;
    struct judge judge = {.comm = comm};
    judge.ranks = arena_array(arena, ranks, sizeof *judge.ranks, err);
    judge.matches = arena_room(arena, comm->match_count, sizeof *judge.matches, err);
    judge.waited = arena_array(arena, ranks, sizeof *judge.waited, err);
    judge.pace = arena_array(arena, ranks, sizeof *judge.pace, err);
    judge.before = arena_array(arena, ranks, sizeof *judge.before, err);
    judge.caused = arena_array(arena, ranks, sizeof *judge.caused, err);
    judge.values = arena_room(arena, 2 * ranks, sizeof *judge.values, err);
    if (!judge.ranks || !judge.matches || !judge.waited || !judge.pace || !judge.before ||
        !judge.caused || !judge.values || !sum_up_ranks(&judge, arena, err))
        return false;
    for (size_t r = 0; r < ranks; r++)
        judge.ranks[r].group = RUN_NONE;
    *blame = (struct blame){comm, judge.ranks, judge.matches};
    judge_all(&judge);
    share_out(&judge, blame);
    return true;
}
