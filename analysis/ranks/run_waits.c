// SPDX-License-Identifier: Apache-2.0
// Splits each call into waiting for the last rank and transfer, and sums both by step and rank.
#include "analysis/comm/comm_pieces.h"
#include "analysis/ranks/run_comm_stages.h"
#include "ingest/base/crew.h"
#include "ingest/base/search.h"

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

// A rank that leaves before the last has arrived waited until its end; or, if ranks need not leave
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

static void find_waits(const struct run_comm *comm, struct comm_match *match)
{
    if (!is_comparable(comm, match))
        return;
    bool joint = run_comm_is_joint(comm->ops[match->op].kind);
    find_latest(comm, match);
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        struct comm_event *event = event_of(comm, member);
        event->wait_ns = wait_of(&comm->ranks[member.rank], event, match->latest_ns, joint);
    }
}

// A kernel of several sends and receives waits for the last of its peers.
static void join_waits(struct comm_rank *rank)
{
    for (uint32_t i = 0, first = 0; i < rank->count; i++) {
        struct comm_event *event = &rank->events[i];
        first = event->joined ? first : i;
        if (event->wait_ns > rank->events[first].wait_ns)
            rank->events[first].wait_ns = event->wait_ns;
    }
    for (uint32_t i = 0, first = 0; i < rank->count; i++) {
        first = rank->events[i].joined ? first : i;
        rank->events[i].wait_ns = rank->events[first].wait_ns;
    }
}

static void find_transfer(const struct run_comm *comm, struct comm_match *match)
{
    if (match->latest_rank == RUN_NONE)
        return;
    match->transfer_ns = INT64_MAX;
    for (uint32_t i = 0; i < match->count; i++) {
        const struct comm_event *event = event_of(comm, comm->members[match->first + i]);
        int64_t transfer_ns = event->dur_ns - event->wait_ns;
        match->transfer_ns = transfer_ns < match->transfer_ns ? transfer_ns : match->transfer_ns;
    }
}

// Start of the last member minus the median start of the others.
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
    to->apart_calls += sums->apart_calls;
    to->apart_ns += sums->apart_ns;
}

// Adds to the step, and to the rank if the step is steady.
static void add_to_step(struct comm_rank *rank, uint32_t step, const struct comm_sums *sums)
{
    if (step == RUN_NONE)
        return;
    add_sums(&rank->steps[step].sums, sums);
    if (rank->steps[step].steady)
        add_sums(&rank->steady, sums);
}

enum match_state { MATCH_NONE, MATCH_APART, MATCH_KNOWN };

static enum match_state state_of(const struct run_comm *comm, const struct comm_event *event)
{
    if (event->match == RUN_NONE)
        return MATCH_NONE;
    return comm->matches[event->match].latest_rank == RUN_NONE ? MATCH_APART : MATCH_KNOWN;
}

// For a kernel of several sends and receives the best known state, and where the next kernel is.
static enum match_state state_of_kernel(const struct run_comm *comm, const struct comm_rank *rank,
                                        uint32_t event, uint32_t *next)
{
    enum match_state best = state_of(comm, &rank->events[event]);
    for (*next = event + 1; *next < rank->count && rank->events[*next].joined; ++*next) {
        enum match_state state = state_of(comm, &rank->events[*next]);
        best = state > best ? state : best;
    }
    return best;
}

// The first step that ends after the time; steps are consecutive.
static uint32_t step_after(const struct comm_rank *rank, int64_t time_ns)
{
    return count_upto_i64(FIRST_OF(rank->steps, end_ns), rank->step_count, sizeof *rank->steps,
                          time_ns);
}

// A piece belongs to the steps it is in, as in their bars, wherever its call was launched.
static void add_piece(struct comm_rank *rank, const struct comm_event *event,
                      const struct comm_piece *piece, bool apart)
{
    int64_t until_ns = event->begin_ns + piece->end_ns;
    for (uint32_t s = step_after(rank, event->begin_ns + piece->begin_ns);
         s < rank->step_count && rank->steps[s].begin_ns < until_ns; s++) {
        int64_t begin_ns = rank->steps[s].begin_ns - event->begin_ns;
        int64_t end_ns = rank->steps[s].end_ns - event->begin_ns;
        int64_t part_ns = event->wait_ns < begin_ns ? begin_ns : event->wait_ns;
        part_ns = part_ns < end_ns ? part_ns : end_ns;
        int64_t waited_ns = comm_piece_before(piece, part_ns) - comm_piece_before(piece, begin_ns);
        int64_t moved_ns = comm_piece_before(piece, end_ns) - comm_piece_before(piece, part_ns);
        add_to_step(rank, s,
                    &(struct comm_sums){.exposed_wait_ns = waited_ns,
                                        .exposed_transfer_ns = moved_ns,
                                        .apart_ns = apart ? waited_ns + moved_ns : 0});
    }
}

// Same for the wait of a call, hidden or not.
static void add_wait(struct comm_rank *rank, const struct comm_event *event)
{
    int64_t until_ns = event->begin_ns + event->wait_ns;
    for (uint32_t s = step_after(rank, event->begin_ns);
         s < rank->step_count && rank->steps[s].begin_ns < until_ns; s++) {
        const struct comm_step *step = &rank->steps[s];
        int64_t begin_ns = step->begin_ns > event->begin_ns ? step->begin_ns : event->begin_ns;
        int64_t end_ns = step->end_ns < until_ns ? step->end_ns : until_ns;
        if (end_ns > begin_ns)
            add_to_step(rank, s, &(struct comm_sums){.wait_ns = end_ns - begin_ns});
    }
}

// Splits the call's exposed time at the end of its wait. Without pieces it is exposed from its
// start on.
static void part_exposed(struct comm_rank *rank, struct comm_event *event, bool apart)
{
    struct comm_piece piece = {.end_ns = event->exposed_ns, .exposed_ns = event->exposed_ns};
    const char *text = event->exposed_at;
    int64_t most_ns = event->exposed_ns < event->wait_ns ? event->exposed_ns : event->wait_ns;
    int64_t placed_ns = text ? comm_pieces_before(text, event->wait_ns) : most_ns;
    if (!text && event->exposed_ns > 0)
        add_piece(rank, event, &piece, apart);
    while (text && comm_pieces_next(&text, &piece))
        add_piece(rank, event, &piece, apart);
    event->exposed_wait_ns = placed_ns < most_ns ? placed_ns : most_ns;
}

static void sum_rank(const struct run_comm *comm, struct comm_rank *rank)
{
    for (uint32_t i = 0, next; i < rank->count; i = next) {
        enum match_state state = state_of_kernel(comm, rank, i, &next);
        for (uint32_t part = i; part < next; part++)
            part_exposed(rank, &rank->events[part], state == MATCH_APART);
        add_wait(rank, &rank->events[i]);
        add_to_step(rank, rank->events[i].step,
                    &(struct comm_sums){.calls = state == MATCH_KNOWN,
                                        .apart_calls = state == MATCH_APART,
                                        .unmatched_calls = state == MATCH_NONE});
    }
}

// Being last in a send and its recv means nothing: pipeline stages wait for each other.
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

// --- over cores: matches and ranks write nothing of each other ----------------------------------

static bool wait_in(void *context, size_t from, size_t to, struct err *err)
{
    struct run_comm *comm = context;
    (void)err;
    for (size_t m = from; m < to; m++)
        find_waits(comm, &comm->matches[m]);
    return true;
}

static bool sum_in(void *context, size_t from, size_t to, struct err *err)
{
    struct run_comm *comm = context;
    (void)err;
    for (size_t r = from; r < to; r++) {
        join_waits(&comm->ranks[r]);
        sum_rank(comm, &comm->ranks[r]);
    }
    return true;
}

static bool transfer_in(void *context, size_t from, size_t to, struct err *err)
{
    struct run_comm *comm = context;
    (void)err;
    for (size_t m = from; m < to; m++)
        find_transfer(comm, &comm->matches[m]);
    return true;
}

bool run_waits_make(struct run_comm *comm, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    int64_t *values = arena_room(&scratch, 2 * (size_t)comm->rank_count, sizeof *values, err);
    bool ok = values &&
              crew_each(comm->cores, comm->match_count, RUN_MATCHES_EACH, wait_in, comm, err) &&
              crew_each(comm->cores, comm->rank_count, RUN_RANKS_EACH, sum_in, comm, err) &&
              crew_each(comm->cores, comm->match_count, RUN_MATCHES_EACH, transfer_in, comm, err);
    for (uint32_t m = 0; ok && m < comm->match_count; m++)
        add_lateness(comm, &comm->matches[m], values);
    arena_free(&scratch);
    return ok;
}
