// SPDX-License-Identifier: Apache-2.0
// Parts each call into waiting for the last rank and transfer, and sums both by step and rank.
#include "analysis/run_comm_stages.h"

static struct comm_event *event_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ranks[member.rank].events[member.event];
}

bool run_match_is_steady(const struct run_comm *comm, const struct comm_match *match)
{
    uint32_t steady = 0;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        uint32_t step = event_of(comm, member)->step;
        steady += step != RUN_NONE && comm->ranks[member.rank].steps[step].steady;
    }
    return 2 * steady > match->count;
}

// Whether the clocks of all members can be compared.
static bool is_comparable(const struct run_comm *comm, const struct comm_match *match)
{
    uint32_t component = comm->ranks[comm->members[match->first].rank].component;
    for (uint32_t i = 1; i < match->count; i++)
        if (comm->ranks[comm->members[match->first + i].rank].component != component)
            return false;
    return true;
}

static void find_latest(const struct run_comm *comm, struct comm_match *match)
{
    match->latest_ns = INT64_MIN;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        int64_t begin_ns = run_comm_begin(&comm->ranks[member.rank], event_of(comm, member));
        if (begin_ns > match->latest_ns) {
            match->latest_ns = begin_ns;
            match->latest_rank = member.rank;
        }
    }
}

// Whoever leaves before the last has come waited to its end; or, where ranks need not leave
// together (a send), not at all.
static int64_t wait_of(const struct comm_rank *rank, const struct comm_event *event,
                       int64_t latest_ns, bool joint)
{
    int64_t begin_ns = run_comm_begin(rank, event);
    if (latest_ns <= begin_ns)
        return 0;
    if (latest_ns - begin_ns <= event->dur_ns)
        return latest_ns - begin_ns;
    return joint ? event->dur_ns : 0;
}

static void part_match(const struct run_comm *comm, struct comm_match *match)
{
    if (!is_comparable(comm, match))
        return;
    bool joint = run_comm_is_joint(comm->ops[match->op].kind);
    find_latest(comm, match);
    match->transfer_ns = INT64_MAX;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        struct comm_event *event = event_of(comm, member);
        event->wait_ns = wait_of(&comm->ranks[member.rank], event, match->latest_ns, joint);
        int64_t transfer_ns = event->dur_ns - event->wait_ns;
        match->transfer_ns = transfer_ns < match->transfer_ns ? transfer_ns : match->transfer_ns;
    }
}

// Begin of the last member minus the median begin of the others.
static int64_t lateness_of(const struct run_comm *comm, const struct comm_match *match,
                           int64_t *values)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        if (member.rank != match->latest_rank)
            values[count++] = run_comm_begin(&comm->ranks[member.rank], event_of(comm, member));
    }
    return match->latest_ns - run_median(values, values + comm->rank_count, count);
}

// --- sums ---------------------------------------------------------------------------------------

static void add_sums(struct comm_sums *to, const struct comm_sums *sums)
{
    to->wait_ns += sums->wait_ns;
    to->exposed_wait_ns += sums->exposed_wait_ns;
    to->exposed_transfer_ns += sums->exposed_transfer_ns;
    to->lateness_ns += sums->lateness_ns;
    to->calls += sums->calls;
    to->late_calls += sums->late_calls;
    to->unmatched_calls += sums->unmatched_calls;
}

// Adds to the step, and to the rank when the step is steady.
static void add_to_step(struct comm_rank *rank, uint32_t step, const struct comm_sums *sums)
{
    if (step == RUN_NONE)
        return;
    add_sums(&rank->steps[step].sums, sums);
    if (rank->steps[step].steady)
        add_sums(&rank->steady, sums);
}

static void sum_rank(struct comm_rank *rank)
{
    for (uint32_t i = 0; i < rank->count; i++) {
        const struct comm_event *event = &rank->events[i];
        bool matched = event->match != RUN_NONE;
        int64_t wait_ns = event->exposed_ns < event->wait_ns ? event->exposed_ns : event->wait_ns;
        add_to_step(rank, event->step,
                    &(struct comm_sums){.wait_ns = event->wait_ns,
                                        .exposed_wait_ns = wait_ns,
                                        .exposed_transfer_ns = event->exposed_ns - wait_ns,
                                        .calls = matched,
                                        .unmatched_calls = !matched});
    }
}

// The last to come of a send and its recv is no news: stages of a pipeline wait for each other.
static void add_lateness(struct run_comm *comm, const struct comm_match *match, int64_t *values)
{
    if (!run_match_has_late(comm, match))
        return;
    struct comm_rank *rank = &comm->ranks[match->latest_rank];
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        if (member.rank == match->latest_rank)
            add_to_step(rank, event_of(comm, member)->step,
                        &(struct comm_sums){.lateness_ns = lateness_of(comm, match, values),
                                            .late_calls = 1});
    }
}

bool run_waits_make(struct run_comm *comm, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    int64_t *values = arena_room(&scratch, 2 * (size_t)comm->rank_count, sizeof *values, err);
    for (uint32_t m = 0; values && m < comm->match_count; m++) {
        part_match(comm, &comm->matches[m]);
        add_lateness(comm, &comm->matches[m], values);
    }
    for (uint32_t r = 0; values && r < comm->rank_count; r++)
        sum_rank(&comm->ranks[r]);
    arena_free(&scratch);
    return values != NULL;
}
