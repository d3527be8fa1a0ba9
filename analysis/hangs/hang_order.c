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

// A rank whose device is at the lowest collective of `group`, and which has queued behind that
// what `dump` is at; NULL: none.
static const struct hang_dump *opposite(const struct hang_job *job, const struct hang_group *group,
                                        const struct hang_dump *dump)
{
    const struct hang_group *other = head_group(job, dump);
    for (size_t i = 0; i < other->seat_count; i++) {
        const struct hang_seat *seat = other->seats[i];
        const struct hang_dump *mate = &job->dumps[seat->dump];
        if (seat->first && seat->unfinished <= dump->oldest->collective_seq &&
            seat->entered >= dump->oldest->collective_seq && is_at(job, mate, group))
            return mate;
    }
    return NULL;
}

// ELSEWHERE: at another collective first, with this one behind it or left out.
enum side { NEITHER, HERE, ELSEWHERE };

static enum side side_of(const struct hang_job *job, const struct hang_case *one, size_t member,
                         const struct hang_dump **mate)
{
    const struct hang_seat *seat = one->at[member];
    const struct hang_dump *dump = seat ? &job->dumps[seat->dump] : NULL;
    bool there = seat && (seat->first ? seat->unfinished == one->group->lowest
                                      : one->roles[member] == HANG_ABSENT);
    if (!there || !dump->oldest)
        return NEITHER;
    if (is_at(job, dump, one->group))
        return HERE;
    *mate = opposite(job, one->group, dump);
    return *mate ? ELSEWHERE : NEITHER;
}

static bool look_at(const struct hang_job *job, const struct hang_case *one,
                    struct hang_order *order, struct err *err)
{
    size_t count = one->group->member_count, counts[3] = {0};
    const struct hang_dump *elsewhere = NULL, *here = NULL, *mate;
    enum side *sides = arena_array(job->arena, count + 1, sizeof *sides, err);
    order->ranks = arena_room(job->arena, count + 1, sizeof *order->ranks, err);
    if (!sides || !order->ranks)
        return false;
    for (size_t i = 0; i < count; i++) {
        counts[sides[i] = side_of(job, one, i, &mate)]++;
        if (sides[i] == ELSEWHERE && !elsewhere) {
            elsewhere = &job->dumps[one->at[i]->dump];
            here = mate;
        }
    }
    bool fewer_here = counts[HERE] < counts[ELSEWHERE];
    order->tie = counts[HERE] == counts[ELSEWHERE];
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
    *order = (struct hang_order){0};
    for (size_t i = 0; order->count == 0 && i < cases->count; i++)
        if (!look_at(job, &cases->at[i], order, err))
            return false;
    return true;
}
