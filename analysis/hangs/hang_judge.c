// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_judge.h"

#include "analysis/hangs/hang_pairs.h"

// --- roles --------------------------------------------------------------------------------------

// A seat's progress on a line: even numbers are before entering a collective, odd ones inside it.
#define UNKNOWN_PROGRESS INT64_C(-1)

static int64_t progress_of(const struct hang_job *job, const struct hang_seat *seat)
{
    if (seat->first)
        return 2 * seat->unfinished + 1;
    if (seat->known)
        return 2 * (seat->entered + 1);
    // An empty dump: the rank has had nothing to do for a long time.
    return job->dumps[seat->dump].flight->entry_count == 0 ? 0 : UNKNOWN_PROGRESS;
}

// How far the members of a group are.
struct spread {
    int64_t furthest, furthest_inside; // of all, of those that wait; UNKNOWN_PROGRESS: none
    int64_t nearest;
};

static struct spread spread_of(const struct hang_job *job, const struct hang_case *one)
{
    struct spread spread = {UNKNOWN_PROGRESS, UNKNOWN_PROGRESS, INT64_MAX};
    for (size_t i = 0; i < one->group->member_count; i++) {
        int64_t progress = one->at[i] ? progress_of(job, one->at[i]) : UNKNOWN_PROGRESS;
        if (progress == UNKNOWN_PROGRESS)
            continue;
        spread.furthest = progress > spread.furthest ? progress : spread.furthest;
        spread.nearest = progress < spread.nearest ? progress : spread.nearest;
        if (progress % 2 && progress > spread.furthest_inside)
            spread.furthest_inside = progress;
    }
    return spread;
}

static enum hang_role role_of(int64_t progress, const struct spread *spread)
{
    if (progress == UNKNOWN_PROGRESS)
        return HANG_UNKNOWN;
    if (progress % 2)
        return progress < spread->furthest ? HANG_BEHIND : HANG_WAITS;
    return progress < spread->furthest_inside ? HANG_ABSENT : HANG_PAST;
}

// The root of a broadcast is done when its data are on the way, and so is all but the root of a
// reduction: there, being further than others says less.
static bool synchronizes(struct str op)
{
    static const char *const loose[] = {"broadcast", "reduce", "scatter", "gather", "send", "recv"};
    static const char *const tight[] = {"all", "reduce_scatter", "barrier"};
    for (size_t i = 0; i < sizeof tight / sizeof *tight; i++)
        if (str_contains_nocase(op, str_of(tight[i])))
            return true;
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++)
        if (str_contains_nocase(op, str_of(loose[i])))
            return false;
    return true;
}

// Finds the members' seats; both are sorted by rank.
static void find_seats(const struct hang_job *job, struct hang_case *one)
{
    const struct hang_group *group = one->group;
    size_t next = 0;
    for (size_t i = 0; i < group->member_count; i++) {
        while (next < group->seat_count && hang_rank(job, group->seats[next]) < group->members[i])
            next++;
        if (next < group->seat_count && hang_rank(job, group->seats[next]) == group->members[i])
            one->at[i] = group->seats[next];
    }
}

// The role of a member whose dump does not list the group.
static enum hang_role role_without_seat(const struct hang_job *job, int64_t rank,
                                        const struct spread *spread)
{
    const struct hang_dump *dump = hang_find_dump(job, rank);
    if (!dump)
        return HANG_UNDUMPED;
    return role_of(dump->flight->entry_count ? UNKNOWN_PROGRESS : 0, spread);
}

static void find_roles(const struct hang_job *job, struct hang_case *one)
{
    struct spread spread = spread_of(job, one);
    for (size_t i = 0; i < one->group->member_count; i++) {
        one->roles[i] = one->at[i] ? role_of(progress_of(job, one->at[i]), &spread)
                                   : role_without_seat(job, one->group->members[i], &spread);
        one->counts[one->roles[i]]++;
    }
}

// --- mismatches ---------------------------------------------------------------------------------

// Whether ranks may give such an operation tensors of different sizes.
static bool may_differ(struct str op)
{
    static const char *const uneven[] = {"all_to_all", "alltoall", "coalesced",
                                         ":gather",    ":scatter", "object"};
    for (size_t i = 0; i < sizeof uneven / sizeof *uneven; i++)
        if (str_contains_nocase(op, str_of(uneven[i])))
            return true;
    return false;
}

struct call {
    const struct flight *flight;
    const struct flight_entry *entry;
};

static struct call call_of(const struct hang_job *job, const struct hang_seat *seat)
{
    return (struct call){job->dumps[seat->dump].flight, seat->here};
}

static bool same_elements(int64_t a, int64_t b)
{
    return a == b || a == FLIGHT_UNKNOWN || b == FLIGHT_UNKNOWN;
}

static bool same_tensors(const struct call *a, const struct flight_tensors *x, const struct call *b,
                         const struct flight_tensors *y)
{
    return same_elements(x->elements, y->elements) &&
           (!x->dtypes || !y->dtypes ||
            str_equal(hang_text(a->flight, x->dtypes), hang_text(b->flight, y->dtypes)));
}

static bool same_call(struct call a, struct call b)
{
    struct str op = hang_text(a.flight, a.entry->op);
    return str_equal(op, hang_text(b.flight, b.entry->op)) &&
           (may_differ(op) || (same_tensors(&a, &a.entry->input, &b, &b.entry->input) &&
                               same_tensors(&a, &a.entry->output, &b, &b.entry->output)));
}

// Which call most members agree on, by the vote of Boyer and Moore.
static const struct hang_seat *majority(const struct hang_job *job, const struct hang_case *one)
{
    const struct hang_seat *best = NULL;
    size_t votes = 0;
    for (size_t i = 0; i < one->group->member_count; i++) {
        const struct hang_seat *seat = one->at[i];
        if (!seat || !seat->here)
            continue;
        if (votes == 0)
            best = seat;
        votes += votes == 0 || same_call(call_of(job, best), call_of(job, seat)) ? 1 : (size_t)-1;
    }
    return best;
}

// Other groups of that description run the same program: the votes of their members for one call
// less those for another.
static int64_t votes_elsewhere(struct hang_job *job, const struct hang_case *one,
                               const struct hang_seat *seat)
{
    int64_t votes = 0;
    for (size_t i = 0; i < job->dump_count; i++) {
        const struct flight *flight = job->dumps[i].flight;
        for (size_t k = 0; k < flight->entry_count; k++) {
            const struct flight_entry *entry = &flight->entries[k];
            size_t place = job->dumps[i].first_seat + entry->group;
            const struct hang_group *own = &job->groups[job->seats[place].group];
            const struct call call = {flight, entry};
            if (entry->is_p2p || entry->collective_seq != one->group->lowest || own == one->group ||
                job->voted[place] == one || !str_equal(own->desc, one->group->desc))
                continue;
            job->voted[place] = one;
            votes += same_call(call, call_of(job, one->most_call));
            votes -= same_call(call, call_of(job, seat));
        }
    }
    return votes;
}

static void mark_odd(const struct hang_job *job, struct hang_case *one)
{
    size_t calls = 0;
    one->odd_count = 0;
    one->odd_call = NULL;
    for (size_t i = 0; i < one->group->member_count; i++) {
        const struct hang_seat *seat = one->at[i];
        if (!seat || !seat->here)
            continue;
        calls++;
        one->odd[i] = !same_call(call_of(job, one->most_call), call_of(job, seat));
        if (!one->odd[i])
            continue;
        one->odd_count++;
        one->odd_call = one->odd_call ? one->odd_call : seat;
    }
    one->tie = 2 * one->odd_count >= calls;
}

// More ties than this are hostile.
#define MOST_TIES 8

static void find_mismatch(struct hang_job *job, struct hang_case *one, unsigned *ties)
{
    one->most_call = majority(job, one);
    mark_odd(job, one);
    if (!one->odd_count || !one->tie || (*ties)++ >= MOST_TIES)
        return;
    int64_t votes = votes_elsewhere(job, one, one->odd_call);
    one->most_call = votes < 0 ? one->odd_call : one->most_call;
    if (votes)
        mark_odd(job, one);
    one->tie = votes == 0 || 2 * one->odd_count > one->group->member_count;
}

// --- all ----------------------------------------------------------------------------------------

static bool lacks_some(const struct hang_case *one)
{
    return one->counts[HANG_ABSENT] || one->counts[HANG_UNDUMPED];
}

// In a group with a mismatch, being further ahead means nothing.
static void count_roles(const struct hang_job *job, const struct hang_case *one)
{
    for (size_t i = 0; i < one->group->member_count && !one->odd_count; i++) {
        struct hang_dump *dump = hang_find_dump(job, one->group->members[i]);
        enum hang_role role = one->roles[i];
        if (!dump)
            continue;
        bool tight =
            role == HANG_BEHIND && synchronizes(hang_text(dump->flight, one->at[i]->first->op));
        dump->behind_in += tight;
        dump->weakly_behind_in += role == HANG_BEHIND && !tight;
        dump->absent_in += role == HANG_ABSENT;
        dump->waits_in += role == HANG_WAITS || (role == HANG_BEHIND && !tight && lacks_some(one));
    }
}

static bool make_case(struct hang_job *job, const struct hang_group *group, struct hang_case *one,
                      unsigned *ties, struct err *err)
{
    *one = (struct hang_case){.group = group};
    one->roles = arena_array(job->arena, group->member_count + 1, sizeof *one->roles, err);
    one->at = arena_array(job->arena, group->member_count + 1, sizeof *one->at, err);
    one->odd = arena_array(job->arena, group->member_count + 1, sizeof *one->odd, err);
    if (!one->roles || !one->at || !one->odd)
        return false;
    find_seats(job, one);
    find_roles(job, one);
    find_mismatch(job, one, ties);
    one->synchronizes = synchronizes(hang_text(group->op_flight, group->op->op));
    count_roles(job, one);
    return true;
}

// Only by each rank's oldest operation: later ones may be waiting for that.
static void note_peers(const struct hang_job *job)
{
    for (size_t i = 0; i < job->dump_count; i++) {
        struct hang_dump *awaited = hang_peer(job, &job->dumps[i]);
        if (awaited)
            awaited->awaited = true;
    }
}

bool hang_judge(struct hang_job *job, struct hang_cases *cases, struct err *err)
{
    size_t count = 0;
    unsigned ties = 0;
    for (size_t i = 0; i < job->group_count; i++)
        count += job->groups[i].op != NULL;
    cases->count = 0;
    cases->at = arena_array(job->arena, count + 1, sizeof *cases->at, err);
    job->voted = arena_array(job->arena, job->seat_count + 1, sizeof *job->voted, err);
    if (!cases->at || !job->voted)
        return false;
    for (size_t i = 0; i < job->group_count; i++)
        if (job->groups[i].op &&
            !make_case(job, &job->groups[i], &cases->at[cases->count++], &ties, err))
            return false;
    note_peers(job);
    return true;
}
