// SPDX-License-Identifier: Apache-2.0
// Follows waits back to the rank that made all others wait.
#include "analysis/ranks/run_blame.h"

#define CHAIN_MAX  64   // matches that blame passes through
#define WALK_MAX   1000 // calls of a rank to look back over
#define PASS_SHARE 0.5  // of its lateness that a rank must have waited to pass all blame on

static const struct comm_event *event_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ranks[member.rank].events[member.event];
}

int64_t run_blame_wait(const struct run_comm *comm, const struct comm_event *event)
{
    const struct comm_op *op = &comm->ops[event->op];
    if (comm->groups[op->group].staged && !run_comm_is_p2p(op->kind))
        return 0;
    return event->exposed_wait_ns;
}

struct comm_member run_blame_late(const struct run_comm *comm, const struct comm_match *match)
{
    uint32_t i = 0;
    while (comm->members[match->first + i].rank != match->latest_rank)
        i++;
    return comm->members[match->first + i];
}

uint32_t run_blame_longest(const struct run_comm *comm, struct comm_member late,
                           struct comm_member peer, uint32_t from, int64_t *excess_ns)
{
    uint32_t best = late.event;
    int64_t best_ns = 0, sum_ns = 0;
    *excess_ns = 0;
    for (uint32_t back = 1; back <= WALK_MAX && late.event - from > back; back++) {
        const struct comm_event *event = &comm->ranks[late.rank].events[late.event - back];
        int64_t wait_ns = run_blame_wait(comm, event);
        if (peer.event >= back && peer.rank != RUN_NONE)
            wait_ns -= run_blame_wait(comm, &comm->ranks[peer.rank].events[peer.event - back]);
        sum_ns += wait_ns;
        *excess_ns = sum_ns > *excess_ns ? sum_ns : *excess_ns;
        if (wait_ns > best_ns && event->match != RUN_NONE) {
            best_ns = wait_ns;
            best = late.event - back;
        }
    }
    return best;
}

// The rank's previous call of the same operation.
static uint32_t call_before(const struct run_comm *comm, struct comm_member member)
{
    const struct comm_event *events = comm->ranks[member.rank].events;
    uint32_t at = member.event;
    while (at > 0 && member.event - at < WALK_MAX)
        if (events[--at].op == events[member.event].op)
            return at;
    return at;
}

// In the peer's send, the rank on the same side as the late one in its own.
static struct comm_member same_side(const struct run_comm *comm, struct comm_member late,
                                    const struct comm_match *match)
{
    enum collective_kind kind = comm->ops[event_of(comm, late)->op].kind;
    struct comm_member first = comm->members[match->first];
    return comm->ops[event_of(comm, first)->op].kind == kind ? first
                                                             : comm->members[match->first + 1];
}

// A step back along the chain: the match and where a peer was in its place.
struct link {
    uint32_t match;
    struct comm_member peer;
};

// From a late send to what made its last rank wait, longer than the peer's last rank had to; false
// if nothing did.
static bool step_back(const struct run_comm *comm, struct link *link)
{
    const struct comm_match *match = &comm->matches[link->match];
    uint32_t peers = link->peer.rank == RUN_NONE ? RUN_NONE : event_of(comm, link->peer)->match;
    struct comm_member late = run_blame_late(comm, match), peer = {RUN_NONE, 0};
    if (peers != RUN_NONE && run_comm_is_p2p(comm->ops[comm->matches[peers].op].kind))
        peer = same_side(comm, late, &comm->matches[peers]);
    int64_t lost_ns = 0, excess_ns;
    for (uint32_t i = 0; i < match->count; i++)
        lost_ns += event_of(comm, comm->members[match->first + i])->wait_ns;
    if (peer.rank != RUN_NONE)
        for (uint32_t i = 0; i < comm->matches[peers].count; i++)
            lost_ns -= event_of(comm, comm->members[comm->matches[peers].first + i])->wait_ns;
    uint32_t event = run_blame_longest(comm, late, peer, call_before(comm, late), &excess_ns);
    if (event == late.event || (double)excess_ns < PASS_SHARE * (double)lost_ns)
        return false;
    link->match = comm->ranks[late.rank].events[event].match;
    link->peer = run_blame_back(peer, late.event - event);
    return true;
}

uint32_t run_root_of(const struct blame *blame, uint32_t m)
{
    const struct run_comm *comm = blame->comm;
    const struct match_blame *fault = &blame->matches[m];
    if (fault->cause == RUN_NONE || comm->matches[fault->cause].latest_rank == RUN_NONE)
        return comm->matches[m].latest_rank;
    struct link link = {fault->cause, fault->peer};
    for (int i = 0; i < CHAIN_MAX; i++) {
        struct link next = link;
        fault = &blame->matches[link.match];
        if (run_comm_is_p2p(comm->ops[comm->matches[link.match].op].kind)) {
            if (!step_back(comm, &next))
                break;
        } else {
            if (fault->cause == RUN_NONE || fault->share < PASS_SHARE)
                break;
            next = (struct link){fault->cause, fault->peer};
        }
        if (comm->matches[next.match].latest_rank == RUN_NONE)
            break;
        link = next;
    }
    return comm->matches[link.match].latest_rank;
}
