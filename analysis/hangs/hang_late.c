// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_late.h"

// How long after its previous call a rank entered what it waits in; -1 unknown.
static int64_t away_ns(const struct flight *flight, const struct flight_entry *call)
{
    int64_t before = FLIGHT_UNKNOWN, away;
    for (size_t i = 0; i < flight->entry_count; i++) {
        int64_t created = flight->entries[i].created_ns;
        if (created < call->created_ns && created > before)
            before = created;
    }
    bool known =
        before != FLIGHT_UNKNOWN && !__builtin_sub_overflow(call->created_ns, before, &away);
    return known ? away : -1;
}

bool hang_late_find(const struct hang_job *job, const struct hang_case *one, struct hang_late *late,
                    struct err *err)
{
    size_t members = one->group->member_count;
    *late = (struct hang_late){.ranks = arena_room(job->arena, members + 1, sizeof(int64_t), err)};
    for (size_t i = 0; late->ranks && i < members; i++) {
        const struct hang_seat *seat = one->at[i];
        int64_t timeout_ns = seat && seat->first ? hang_timeout_ns(seat->first) : -1;
        if (timeout_ns <= 0)
            continue;
        int64_t away = away_ns(job->dumps[seat->dump].flight, seat->first);
        if (away <= timeout_ns)
            continue;
        late->ranks[late->count++] = one->group->members[i];
        if (away > late->away_ns) {
            late->away_ns = away;
            late->timeout_ns = timeout_ns;
        }
    }
    if (2 * late->count > members)
        late->count = 0;
    return late->ranks;
}
