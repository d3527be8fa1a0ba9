// SPDX-License-Identifier: Apache-2.0
// Which calls of different ranks are one collective, or one send with its recv.
#include "analysis/stats/groups.h"
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/ranks/run_misfit.h"
#include "analysis/ranks/run_shift.h"
#include "analysis/stats/sort.h"
#include "ingest/base/crew.h"

#include <assert.h>
#include <stdlib.h>

#define P2P_FLAG ((uint64_t)1 << 63) // of a channel's key
#define REACH    16                  // sequence numbers that may be out of order

// What a channel says about the matches of a rank: that no others are possible; that they are a
// guess; or that others, nearer by the clocks, are as likely.
enum { SAYS_SURE = 1, SAYS_GUESSED, SAYS_OPEN };

// Calls that can only match each other: the collectives of a group, or what one rank sends to
// another.
struct channels {
    struct run_comm *comm;
    struct arena scratch;
    struct groups keys;
    uint32_t *first;             // per channel: its first entry; entries ascend by rank and begin
    struct comm_member *entries; // all calls by channel
    uint32_t *slots;             // per entry: which of the channel's collectives it is
    uint32_t *slot_counts;       // per channel; 0: it has a single rank
    uint8_t *said;               // per entry: of the first of a rank what is said about its matches
    bool *guessed;               // per channel: matches of some of its ranks
    bool again;                  // the ranks' clocks are known
};

// One channel. `lanes` are its ranks.
struct matcher {
    const struct run_comm *comm;
    struct lane *lanes; // room for every rank of the run
    uint32_t *slots;    // per entry
    uint32_t lane_count, slot_count;
    bool stepped;  // the lanes number their steps alike
    bool sends;    // not a group's collectives
    bool aligned;  // the clocks of the lanes are known, which say nothing new
    uint8_t *said; // per entry
};

struct lane {
    uint32_t rank, first, count; // entries of the channel
};

static const struct comm_event *event_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ranks[member.rank].events[member.event];
}

static const struct comm_op *op_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ops[event_of(comm, member)->op];
}

// --- channels -----------------------------------------------------------------------------------

// The peer of a send or recv; in a group of two the rank that is not this one.
static int64_t peer_of(const struct run_comm *comm, const struct comm_op *op, int64_t rank)
{
    const struct comm_group *group = &comm->groups[op->group];
    if (op->peer >= 0 || group->size != 2 || group->rank_count != 2)
        return op->peer;
    int64_t a = comm->ranks[group->ranks[0]].rank, b = comm->ranks[group->ranks[1]].rank;
    return rank == a ? b : a;
}

static struct group_key channel_of(const struct run_comm *comm, const struct comm_op *op,
                                   int64_t rank)
{
    if (!run_comm_is_p2p(op->kind))
        return (struct group_key){op->group, 0};
    int64_t peer = peer_of(comm, op, rank);
    bool swap = op->kind == KIND_RECV || (op->kind == KIND_SEND_RECV && peer < rank);
    uint64_t from = (uint32_t)(swap ? peer : rank), to = (uint32_t)(swap ? rank : peer);
    uint64_t both = op->kind == KIND_SEND_RECV;
    return (struct group_key){P2P_FLAG | both << 62 | op->group, from << 32 | to};
}

// Whether the participating ranks are known: not for kernels without metadata, nor for groups that
// share a name and a size.
static bool has_known_ranks(const struct run_comm *comm, const struct comm_op *op, int64_t rank)
{
    const struct comm_group *group = &comm->groups[op->group];
    if (run_comm_is_p2p(op->kind))
        return peer_of(comm, op, rank) >= 0;
    return group->name.len > 0 &&
           (group->list.len > 0 || group->size < 0 || group->rank_count <= group->size);
}

// Stores the channel in each event's match until the matches are known.
static bool find_channels(struct channels *channels, struct err *err)
{
    struct run_comm *comm = channels->comm;
    uint32_t *of_op = arena_room(&channels->scratch, comm->op_count, sizeof *of_op, err);
    if (!of_op)
        return false;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        struct comm_rank *rank = &comm->ranks[r];
        memset(of_op, 0xFF, comm->op_count * sizeof *of_op);
        for (uint32_t i = 0; i < rank->count; i++) {
            struct comm_event *event = &rank->events[i];
            const struct comm_op *op = &comm->ops[event->op];
            struct group_key key = channel_of(comm, op, rank->rank);
            if (of_op[event->op] == RUN_NONE && has_known_ranks(comm, op, rank->rank) &&
                !groups_index(&channels->keys, key.a, key.b, &of_op[event->op], err))
                return false;
            event->match = of_op[event->op];
        }
    }
    return true;
}

static bool sort_entries(struct channels *channels, struct err *err)
{
    struct run_comm *comm = channels->comm;
    uint32_t count = channels->keys.count, total = 0;
    uint32_t *first = arena_array(&channels->scratch, (size_t)count + 2, sizeof *first, err);
    if (!first)
        return false;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++)
            if (comm->ranks[r].events[i].match != RUN_NONE)
                first[comm->ranks[r].events[i].match + 2]++;
    for (uint32_t c = 0; c < count; c++)
        first[c + 2] += first[c + 1];
    total = first[count + 1];
    channels->entries = arena_room(&channels->scratch, total, sizeof *channels->entries, err);
    channels->slots = arena_room(&channels->scratch, total, sizeof *channels->slots, err);
    channels->slot_counts =
        arena_array(&channels->scratch, count, sizeof *channels->slot_counts, err);
    if (!channels->again)
        comm->members = arena_room(&comm->arena, total, sizeof *comm->members, err);
    channels->said = arena_array(&channels->scratch, total, sizeof *channels->said, err);
    channels->guessed = arena_array(&channels->scratch, count, sizeof *channels->guessed, err);
    if (!channels->entries || !channels->slots || !channels->said || !channels->guessed ||
        !channels->slot_counts || !comm->members)
        return false;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++) {
            struct comm_event *event = &comm->ranks[r].events[i];
            if (event->match != RUN_NONE)
                channels->entries[first[event->match + 1]++] = (struct comm_member){r, i};
            event->match = RUN_NONE;
        }
    channels->first = first;
    return true;
}

// --- what makes calls equal ---------------------------------------------------------------------

// Kind and size; ranks give different sizes for one all_to_all, and a recv may not give its own.
static uint64_t symbol_of(const struct run_comm *comm, struct comm_member member)
{
    const struct comm_op *op = op_of(comm, member);
    uint64_t kind = run_comm_is_p2p(op->kind) ? KIND_SEND_RECV : op->kind;
    uint64_t bytes = kind == KIND_ALL_TO_ALL || kind == KIND_SEND_RECV ? 0 : (uint64_t)op->bytes;
    return hash_mix(kind + 0x9E3779B97F4A7C15u, bytes ^ 0xE7037ED1A0B428DBu);
}

// Same with the number of the step; outside of steps a separate number.
static uint64_t stepped_of(const struct run_comm *comm, struct comm_member member)
{
    const struct comm_event *event = event_of(comm, member);
    uint64_t step = event->step == RUN_NONE
                        ? (uint64_t)INT64_MIN
                        : (uint64_t)comm->ranks[member.rank].steps[event->step].number;
    return hash_mix(symbol_of(comm, member), step ^ 0x9E3779B97F4A7C15u);
}

static uint64_t kind_of(const struct run_comm *comm, struct comm_member member)
{
    return run_comm_kind(op_of(comm, member));
}

static uint64_t numbered_of(const struct run_comm *comm, struct comm_member member)
{
    return hash_mix(kind_of(comm, member) + 0x9E3779B97F4A7C15u,
                    (uint64_t)run_match_sequence(event_of(comm, member)) ^ 0xE7037ED1A0B428DBu);
}

typedef uint64_t (*likeness)(const struct run_comm *comm, struct comm_member member);

static likeness likeness_of(const struct matcher *matcher)
{
    return matcher->stepped ? stepped_of : symbol_of;
}

// Whether the k-th call of each rank is like the k-th of the first.
static bool all_alike(const struct matcher *matcher, const struct comm_member *entries,
                      likeness like)
{
    const struct lane *lanes = matcher->lanes;
    for (uint32_t l = 1; l < matcher->lane_count; l++)
        if (lanes[l].count != lanes[0].count)
            return false;
    for (uint32_t i = 0; i < lanes[0].count; i++) {
        uint64_t wanted = like(matcher->comm, entries[i]);
        for (uint32_t l = 1; l < matcher->lane_count; l++)
            if (like(matcher->comm, entries[lanes[l].first + i]) != wanted)
                return false;
    }
    return true;
}

// Whether a number lower than an earlier one is merely out of order, as when a clock is set back:
// by little, and not used before.
static bool is_out_of_order(const struct matcher *matcher, const struct comm_member *entries,
                            uint32_t index, int64_t highest)
{
    int64_t sequence = run_match_sequence(event_of(matcher->comm, entries[index]));
    if (highest - sequence > REACH)
        return false;
    for (uint32_t i = index; i > 0 && index - i < 2 * REACH; i--)
        if (entries[i - 1].rank == entries[index].rank &&
            numbered_of(matcher->comm, entries[i - 1]) ==
                numbered_of(matcher->comm, entries[index]))
            return false;
    return true;
}

// Whether numbers identify calls: every call has one, a rank's never fall back, as they do when a
// group is created again, and most of them differ.
static bool are_numbered(const struct matcher *matcher, const struct comm_member *entries,
                         uint32_t count)
{
    uint32_t changes = 0;
    int64_t before = -1, highest = -1;
    for (uint32_t i = 0; i < count; i++) {
        int64_t sequence = run_match_sequence(event_of(matcher->comm, entries[i]));
        highest = i > 0 && entries[i].rank == entries[i - 1].rank ? highest : -1;
        if (sequence < 0 || run_comm_is_p2p(op_of(matcher->comm, entries[i])->kind) ||
            (sequence < highest && !is_out_of_order(matcher, entries, i, highest)))
            return false;
        changes += i > 0 && sequence != before;
        before = sequence;
        highest = sequence > highest ? sequence : highest;
    }
    return 2 * changes >= count;
}

// --- slots --------------------------------------------------------------------------------------

static void slots_by_place(struct matcher *matcher)
{
    for (uint32_t l = 0; l < matcher->lane_count; l++)
        for (uint32_t i = 0; i < matcher->lanes[l].count; i++)
            matcher->slots[matcher->lanes[l].first + i] = i;
    matcher->slot_count = matcher->lanes[0].count;
}

// Slots in order of number; several calls of one rank with the same number keep their order.
static bool slots_by_number(struct matcher *matcher, const struct comm_member *entries,
                            uint32_t count, struct err *err)
{
    struct arena arena;
    arena_init(&arena, matcher->comm->budget);
    struct keyed *keys = arena_room(&arena, 2 * (size_t)count, sizeof *keys, err);
    for (uint32_t i = 0; keys && i < count; i++) // by number, then kind, then rank, then begin
        keys[i] = (struct keyed){(int64_t)kind_of(matcher->comm, entries[i]), i, 0};
    if (keys)
        sort_keyed(keys, keys + count, count);
    for (uint32_t i = 0; keys && i < count; i++)
        keys[i].key = run_match_sequence(event_of(matcher->comm, entries[keys[i].a]));
    if (keys)
        sort_keyed(keys, keys + count, count);
    uint32_t base = 0, used = 0, repeat = 0; // of the calls of one number and kind
    for (uint32_t i = 0; keys && i < count; i++) {
        struct comm_member entry = entries[keys[i].a];
        bool fresh = i == 0 || numbered_of(matcher->comm, entry) !=
                                   numbered_of(matcher->comm, entries[keys[i - 1].a]);
        base = fresh ? base + used : base;
        used = fresh ? 0 : used;
        repeat = fresh || entry.rank != entries[keys[i - 1].a].rank ? 0 : repeat + 1;
        matcher->slots[keys[i].a] = base + repeat;
        used = repeat + 1 > used ? repeat + 1 : used;
    }
    matcher->slot_count = base + used;
    arena_free(&arena);
    return keys != NULL;
}

static void say(const struct matcher *matcher, uint32_t l, uint8_t said)
{
    if (!matcher->aligned)
        matcher->said[matcher->lanes[l].first] = said;
}

static void list_calls(const struct matcher *matcher, const struct comm_member *entries,
                       const struct lane *lane, struct misfit_call *calls)
{
    for (uint32_t i = 0; i < lane->count; i++) {
        struct comm_member entry = entries[lane->first + i];
        const struct comm_rank *rank = &matcher->comm->ranks[entry.rank];
        const struct comm_event *event = event_of(matcher->comm, entry);
        uint64_t dur_ns = (uint64_t)event->dur_ns;
        calls[i] =
            (struct misfit_call){.symbol = (uint32_t)symbol_of(matcher->comm, entry),
                                 .stepped = (uint32_t)likeness_of(matcher)(matcher->comm, entry),
                                 .end_ns = matcher->aligned ? run_comm_end(rank, event)
                                                            : event->begin_ns + event->dur_ns,
                                 .dur_ns = dur_ns < UINT32_MAX ? (uint32_t)dur_ns : UINT32_MAX,
                                 .index = lane->first + i};
    }
}

static bool slots_by_fit(struct matcher *matcher, const struct comm_member *entries, uint32_t count,
                         struct err *err)
{
    struct arena arena;
    arena_init(&arena, matcher->comm->budget);
    struct misfit_call *calls = arena_room(&arena, count, sizeof *calls, err);
    struct misfit_lane *lanes = arena_array(&arena, matcher->lane_count, sizeof *lanes, err);
    bool ok = calls && lanes;
    for (uint32_t l = 0; ok && l < matcher->lane_count; l++) {
        const struct lane *lane = &matcher->lanes[l];
        lanes[l] = (struct misfit_lane){.calls = calls + lane->first, .count = lane->count};
        list_calls(matcher, entries, lane, lanes[l].calls);
    }
    struct misfit misfit = {.lanes = lanes,
                            .lane_count = matcher->lane_count,
                            .slots = matcher->slots,
                            .aligned = matcher->aligned};
    ok = ok && run_misfit_match(&misfit, matcher->comm->budget, err);
    for (uint32_t l = 0; ok && l < matcher->lane_count; l++)
        say(matcher, l, lanes[l].sure ? SAYS_SURE : lanes[l].open ? SAYS_OPEN : SAYS_GUESSED);
    matcher->slot_count = misfit.slot_count;
    arena_free(&arena);
    return ok;
}

// Whether the k-th calls of two ranks, which are alike, are one: their clocks or their ends say so,
// or nothing speaks for others.
static bool check_place(const struct matcher *matcher, uint32_t l, struct misfit_lane known,
                        struct misfit_lane lane, bool *in_place, struct err *err)
{
    struct arena scratch;
    struct run_shift shift = {0};
    *in_place = run_shift_is_nearest(known, lane);
    say(matcher, l, SAYS_SURE);
    if (*in_place || matcher->aligned)
        return true;
    arena_init(&scratch, matcher->comm->budget);
    bool ok = run_shift_find(known, lane, &scratch, &shift, err);
    *in_place = !shift.clear || shift.in_place;
    say(matcher, l, shift.clear ? SAYS_SURE : SAYS_OPEN);
    arena_free(&scratch);
    return ok;
}

static bool check_places(const struct matcher *matcher, const struct comm_member *entries,
                         bool *in_place, struct err *err)
{
    struct arena arena;
    uint32_t count = matcher->lanes[0].count;
    arena_init(&arena, matcher->comm->budget);
    struct misfit_call *calls = arena_room(&arena, 2 * (size_t)count, sizeof *calls, err);
    bool ok = calls;
    if (ok)
        list_calls(matcher, entries, &matcher->lanes[0], calls);
    *in_place = true;
    for (uint32_t l = 1; ok && *in_place && l < matcher->lane_count; l++) {
        struct misfit_lane known = {.calls = calls, .count = count};
        struct misfit_lane lane = {.calls = calls + count, .count = count};
        list_calls(matcher, entries, &matcher->lanes[l], lane.calls);
        ok = check_place(matcher, l, known, lane, in_place, err);
    }
    arena_free(&arena);
    return ok;
}

static bool place_or_fit(struct matcher *matcher, const struct comm_member *entries, uint32_t count,
                         struct err *err)
{
    bool in_place = all_alike(matcher, entries, likeness_of(matcher));
    if (in_place && !check_places(matcher, entries, &in_place, err))
        return false;
    if (in_place)
        slots_by_place(matcher);
    return in_place || slots_by_fit(matcher, entries, count, err);
}

static bool are_aligned(const struct matcher *matcher)
{
    const struct comm_rank *ranks = matcher->comm->ranks;
    for (uint32_t l = 0; l < matcher->lane_count; l++)
        if (ranks[matcher->lanes[l].rank].error_ns < 0 ||
            ranks[matcher->lanes[l].rank].component != ranks[matcher->lanes[0].rank].component)
            return false;
    return true;
}

static bool has_guesses(const struct matcher *matcher)
{
    for (uint32_t l = 0; !matcher->sends && l < matcher->lane_count; l++)
        if (matcher->said[matcher->lanes[l].first] > SAYS_SURE)
            return true;
    return false;
}

// Sends are not matched by clocks, as they may end long before their receives.
static bool find_slots(struct matcher *matcher, const struct comm_member *entries, uint32_t count,
                       bool again, struct err *err)
{
    if (are_numbered(matcher, entries, count)) {
        for (uint32_t l = 0; l < matcher->lane_count; l++)
            say(matcher, l, SAYS_SURE);
        if (!all_alike(matcher, entries, numbered_of))
            return slots_by_number(matcher, entries, count, err);
        slots_by_place(matcher);
        return true;
    }
    say(matcher, 0, SAYS_SURE);
    if (!place_or_fit(matcher, entries, count, err))
        return false;
    matcher->aligned = again && has_guesses(matcher) && are_aligned(matcher);
    return !matcher->aligned || place_or_fit(matcher, entries, count, err);
}

// --- matches ------------------------------------------------------------------------------------

static bool add_match(struct run_comm *comm, uint32_t first, uint32_t count, struct err *err)
{
    struct comm_match *grown = budget_room(comm->budget, comm->matches, &comm->match_cap,
                                           (size_t)comm->match_count + 1, sizeof *grown, err);
    if (!grown)
        return false;
    comm->matches = grown;
    assert(count >= 2 && count <= comm->member_count - first);
    comm->matches[comm->match_count] = (struct comm_match){
        .op = event_of(comm, comm->members[first])->op,
        .first = first,
        .count = count,
        .latest_rank = RUN_NONE,
    };
    for (uint32_t i = 0; i < count; i++) {
        struct comm_member member = comm->members[first + i];
        comm->ranks[member.rank].events[member.event].match = comm->match_count;
    }
    comm->match_count++;
    return true;
}

// Members by slot; slots with only one member are dropped again.
static bool add_matches(struct channels *channels, uint32_t channel, uint32_t *ends,
                        struct err *err)
{
    struct run_comm *comm = channels->comm;
    uint32_t begin = channels->first[channel], end = channels->first[channel + 1];
    uint32_t slot_count = channels->slot_counts[channel];
    const uint32_t *slots = channels->slots;
    struct comm_member *members = comm->members + comm->member_count;
    for (uint32_t i = begin; i < end; i++) {
        assert(slots[i] < slot_count);
        ends[slots[i] + 1]++;
    }
    uint32_t kept = 0;
    for (uint32_t s = 0; s < slot_count; s++) { // where each slot's members start
        uint32_t here = ends[s + 1];
        ends[s + 1] = here > 1 ? kept : RUN_NONE;
        kept += here > 1 ? here : 0;
    }
    for (uint32_t i = begin; i < end; i++)
        if (ends[slots[i] + 1] != RUN_NONE)
            members[ends[slots[i] + 1]++] = channels->entries[i];
    uint32_t first = comm->member_count;
    comm->member_count += kept;
    for (uint32_t s = 0; s < slot_count; s++) {
        if (ends[s + 1] == RUN_NONE)
            continue;
        uint32_t last = (uint32_t)(members - comm->members) + ends[s + 1];
        if (!add_match(comm, first, last - first, err))
            return false;
        first = last;
    }
    return true;
}

// Whether both ranks mark their steps with the same name and start counting at about the same
// moment.
static bool count_alike(const struct comm_rank *one, const struct comm_rank *other)
{
    if (one->marks != other->marks || one->step_count == 0 || other->step_count == 0)
        return one->marks == other->marks;
    return one->steps[0].number <= other->steps[other->step_count - 1].number &&
           other->steps[0].number <= one->steps[one->step_count - 1].number;
}

static bool match_channel(struct channels *channels, uint32_t channel, struct lane *lanes,
                          struct err *err)
{
    uint32_t first = channels->first[channel], count = channels->first[channel + 1] - first;
    const struct comm_member *entries = channels->entries + first;
    const struct comm_rank *ranks = channels->comm->ranks;
    struct matcher matcher = {.comm = channels->comm,
                              .lanes = lanes,
                              .slots = channels->slots + first,
                              .stepped = true,
                              .sends = run_comm_is_p2p(op_of(channels->comm, entries[0])->kind),
                              .said = channels->said + first};
    for (uint32_t i = 0; i < count; i++) {
        assert(i == 0 || entries[i - 1].rank < entries[i].rank ||
               (entries[i - 1].rank == entries[i].rank && entries[i - 1].event < entries[i].event));
        if (i == 0 || entries[i].rank != entries[i - 1].rank) {
            lanes[matcher.lane_count++] = (struct lane){entries[i].rank, i, 0};
            matcher.stepped &= count_alike(&ranks[entries[0].rank], &ranks[entries[i].rank]);
        }
        lanes[matcher.lane_count - 1].count++;
    }
    if (matcher.lane_count < 2)
        return true;
    if (!find_slots(&matcher, entries, count, channels->again, err))
        return false;
    channels->guessed[channel] = has_guesses(&matcher);
    channels->slot_counts[channel] = matcher.slot_count;
    return true;
}

static bool match_in(void *context, size_t from, size_t to, struct err *err)
{
    struct channels *channels = context;
    struct arena scratch;
    arena_init(&scratch, channels->comm->budget);
    struct lane *lanes =
        arena_room(&scratch, (size_t)channels->comm->rank_count + 1, sizeof *lanes, err);
    bool ok = lanes;
    for (size_t c = from; ok && c < to; c++)
        ok = match_channel(channels, (uint32_t)c, lanes, err);
    arena_free(&scratch);
    return ok;
}

static void doubt_from(struct run_comm *comm, uint32_t first)
{
    for (uint32_t m = first; m < comm->match_count; m++)
        comm->matches[m].doubtful = true;
}

// In the order of the channels.
static bool add_all(struct channels *channels, struct err *err)
{
    bool ok = true;
    for (uint32_t c = 0; ok && c < channels->keys.count; c++) {
        if (channels->slot_counts[c] == 0)
            continue;
        struct arena arena;
        arena_init(&arena, channels->comm->budget);
        uint32_t *ends =
            arena_array(&arena, (size_t)channels->slot_counts[c] + 1, sizeof *ends, err);
        uint32_t before = channels->comm->match_count;
        ok = ends && add_matches(channels, c, ends, err);
        if (channels->guessed[c] && !channels->again)
            doubt_from(channels->comm, before);
        channels->comm->has_guesses |= channels->guessed[c];
        arena_free(&arena);
    }
    return ok;
}

// --- doubts -------------------------------------------------------------------------------------

// Joins the ranks that the channel is sure of; one of them, RUN_NONE without.
static uint32_t join_sure(const struct channels *channels, uint32_t channel, uint32_t *parent)
{
    uint32_t root = RUN_NONE;
    for (uint32_t i = channels->first[channel]; i < channels->first[channel + 1]; i++) {
        if (channels->said[i] != SAYS_SURE)
            continue;
        uint32_t own = run_joined_root(parent, channels->entries[i].rank);
        root = root == RUN_NONE ? own : root;
        parent[own] = root;
    }
    return root;
}

// A rank is open if a channel says so, and no others join it with those that the channel is sure
// of.
static bool find_open(struct channels *channels, struct err *err)
{
    struct run_comm *comm = channels->comm;
    uint32_t *parent = arena_room(&channels->scratch, comm->rank_count, sizeof *parent, err);
    if (!parent)
        return false;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        comm->ranks[r].open = false;
        parent[r] = r;
    }
    for (uint32_t c = 0; c < channels->keys.count; c++)
        join_sure(channels, c, parent);
    for (uint32_t c = 0; c < channels->keys.count; c++) {
        uint32_t root = join_sure(channels, c, parent);
        for (uint32_t i = channels->first[c]; i < channels->first[c + 1]; i++)
            if (channels->said[i] == SAYS_OPEN)
                comm->ranks[channels->entries[i].rank].open |=
                    root == RUN_NONE || run_joined_root(parent, channels->entries[i].rank) != root;
    }
    return true;
}

static bool match_all(struct run_comm *comm, bool again, struct err *err)
{
    struct channels channels = {.comm = comm, .again = again};
    comm->match_count = comm->member_count = 0;
    arena_init(&channels.scratch, comm->budget);
    groups_init(&channels.keys, comm->budget);
    bool ok = find_channels(&channels, err) && sort_entries(&channels, err) &&
              crew_each(comm->cores, channels.keys.count, 1, match_in, &channels, err) &&
              add_all(&channels, err) && find_open(&channels, err);
    groups_free(&channels.keys);
    arena_free(&channels.scratch);
    return ok;
}

bool run_match_make(struct run_comm *comm, struct err *err)
{
    return match_all(comm, false, err);
}

bool run_match_again(struct run_comm *comm, struct err *err)
{
    return match_all(comm, true, err);
}

// --- impossible matches -------------------------------------------------------------------------

static bool receives(const struct run_comm *comm, struct comm_member member)
{
    return op_of(comm, member)->kind != KIND_SEND;
}

// By how much the rank's clock may be off: a jump is known less well in time than in size.
static int64_t doubt_of(const struct comm_rank *rank)
{
    int64_t doubt_ns = rank->error_ns;
    for (uint32_t j = 0; j < rank->jump_count; j++)
        doubt_ns += llabs(rank->jumps[j].by_ns);
    return doubt_ns;
}

// Whether the first one received before the other began, by more than their clocks may be off.
static bool precedes(const struct run_comm *comm, struct comm_member one, struct comm_member other)
{
    const struct comm_rank *a = &comm->ranks[one.rank], *b = &comm->ranks[other.rank];
    int64_t gap_ns =
        run_comm_begin(b, event_of(comm, other)) - run_comm_end(a, event_of(comm, one));
    return receives(comm, one) && a->component == b->component && a->error_ns >= 0 &&
           b->error_ns >= 0 && gap_ns - doubt_of(a) - doubt_of(b) > RUN_SHIFT_NEAR_NS;
}

static bool is_impossible(const struct run_comm *comm, const struct comm_match *match)
{
    struct comm_member one = comm->members[match->first], other = comm->members[match->first + 1];
    return run_comm_is_p2p(comm->ops[match->op].kind) &&
           (precedes(comm, one, other) || precedes(comm, other, one));
}

void run_match_finish(struct run_comm *comm)
{
    uint32_t kept = 0;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        struct comm_match match = comm->matches[m];
        bool impossible = is_impossible(comm, &match);
        for (uint32_t i = 0; i < match.count; i++) {
            struct comm_member member = comm->members[match.first + i];
            comm->ranks[member.rank].events[member.event].match = impossible ? RUN_NONE : kept;
        }
        comm->matches[kept] = match;
        kept += !impossible;
    }
    comm->impossible_count = comm->match_count - kept;
    comm->match_count = kept;
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++)
            comm->ranks[r].events[i].wait_ns = 0;
}
