// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_order.h"

// The group of what a rank's device is at: its oldest unfinished collective.
static const struct hang_group *head_group(const struct hang_job *job, const struct hang_dump *dump)
{
    return &job->groups[job->seats[dump->first_seat + dump->oldest->group].group];
}

static bool is_at(const struct hang_job *job, const struct hang_dump *dump,
                  const struct hang_group *group)
{
    return dump->oldest && head_group(job, dump) == group &&
           dump->oldest->collective_seq == group->lowest;
}

// Real jobs take a thousandth of it.
#define MOST_LOOKS ((size_t)1 << 27)

// A search in one group. Its members are mostly at the same collective elsewhere, so the last
// answer is kept.
struct search {
    const struct hang_job *job;
    const struct hang_case *one;
    const struct hang_group *other; // of the last answer; NULL: none
    int64_t seq;
    const struct hang_dump *mate;
    size_t *looks; // how many more; shared by the searches
};

// A rank whose device is at the lowest collective of the case, and which has queued after it the
// one that `dump` is at; NULL: none.
static const struct hang_dump *opposite(struct search *search, const struct hang_dump *dump)
{
    const struct hang_job *job = search->job;
    const struct hang_group *other = head_group(job, dump);
    int64_t seq = dump->oldest->collective_seq;
    if (search->other == other && search->seq == seq)
        return search->mate;
    search->other = other;
    search->seq = seq;
    search->mate = NULL;
    for (size_t i = 0; i < other->seat_count && !search->mate && *search->looks; i++) {
        const struct hang_seat *seat = other->seats[i];
        const struct hang_dump *mate = &job->dumps[seat->dump];
        (*search->looks)--;
        if (seat->first && seat->unfinished <= seq && seat->entered >= seq &&
            is_at(job, mate, search->one->group))
            search->mate = mate;
    }
    return search->mate;
}

// ELSEWHERE: at another collective first, with this one queued after it or left out. AGREES: here,
// having finished its own group's counterpart of that other collective.
enum side { NEITHER, HERE, ELSEWHERE, AGREES, SIDES };

static enum side side_of(struct search *search, size_t member)
{
    const struct hang_job *job = search->job;
    const struct hang_case *one = search->one;
    const struct hang_seat *seat = one->at[member];
    const struct hang_dump *dump = seat ? &job->dumps[seat->dump] : NULL;
    bool there = seat && (seat->first ? seat->unfinished == one->group->lowest
                                      : one->roles[member] == HANG_ABSENT);
    if (!there || !dump->oldest)
        return NEITHER;
    if (is_at(job, dump, one->group))
        return HERE;
    return opposite(search, dump) ? ELSEWHERE : NEITHER;
}

// "undefined" is what PyTorch writes for a group without a description.
static bool is_described(struct str desc)
{
    return desc.len && !str_equal(desc, STR("undefined"));
}

// Whether the rank has finished a counterpart of the collective that `elsewhere` is at: in a group
// with the same description, other than the group of this case.
static bool finished_counterpart(const struct search *search, const struct hang_dump *dump,
                                 const struct hang_dump *elsewhere)
{
    const struct hang_job *job = search->job;
    struct str desc = head_group(job, elsewhere)->desc;
    int64_t seq = elsewhere->oldest->collective_seq;
    if (!is_described(desc))
        return false;
    for (size_t i = 0; i < dump->flight->group_count && *search->looks; i++) {
        const struct hang_seat *seat = &job->seats[dump->first_seat + i];
        (*search->looks)--;
        if (&job->groups[seat->group] != search->one->group && seat->entered >= seq &&
            (!seat->first || seat->unfinished > seq) &&
            str_equal(job->groups[seat->group].desc, desc))
            return true;
    }
    return false;
}

// Ranks that take no part in the other collective may still tell which order is the usual one.
static void move_agreeing(const struct search *search, const struct hang_dump *elsewhere,
                          enum side *sides, size_t counts[SIDES])
{
    const struct hang_case *one = search->one;
    for (size_t i = 0; elsewhere && i < one->group->member_count; i++) {
        if (sides[i] != HERE ||
            !finished_counterpart(search, &search->job->dumps[one->at[i]->dump], elsewhere))
            continue;
        sides[i] = AGREES;
        counts[HERE]--;
        counts[AGREES]++;
    }
}

static bool look_at(struct search search, struct hang_order *order, struct err *err)
{
    const struct hang_job *job = search.job;
    const struct hang_case *one = search.one;
    size_t count = one->group->member_count, counts[SIDES] = {0};
    const struct hang_dump *elsewhere = NULL, *here = NULL;
    enum side *sides = arena_array(job->arena, count + 1, sizeof *sides, err);
    order->ranks = arena_room(job->arena, count + 1, sizeof *order->ranks, err);
    if (!sides || !order->ranks)
        return false;
    for (size_t i = 0; i < count; i++) {
        counts[sides[i] = side_of(&search, i)]++;
        if (sides[i] == ELSEWHERE && !elsewhere) {
            elsewhere = &job->dumps[one->at[i]->dump];
            here = search.mate;
        }
    }
    move_agreeing(&search, elsewhere, sides, counts);
    size_t others = counts[ELSEWHERE] + counts[AGREES];
    bool fewer_here = counts[HERE] < others;
    order->tie = counts[HERE] == others;
    order->odd = fewer_here ? here : elsewhere;
    order->most = fewer_here ? elsewhere : here;
    for (size_t i = 0; i < count && counts[ELSEWHERE]; i++)
        if (sides[i] == (fewer_here ? HERE : ELSEWHERE) || (sides[i] == HERE && order->tie))
            order->ranks[order->count++] = one->group->members[i];
    return true;
}

bool hang_order_find(const struct hang_job *job, const struct hang_cases *cases,
                     struct hang_order *order, struct err *err)
{
    size_t looks = MOST_LOOKS;
    *order = (struct hang_order){0};
    for (size_t i = 0; order->count == 0 && looks && i < cases->count; i++) {
        const struct search search = {.job = job, .one = &cases->at[i], .looks = &looks};
        if (!look_at(search, order, err))
            return false;
    }
    order->gave_up = looks == 0;
    return true;
}
