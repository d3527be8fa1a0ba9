// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_keep.h"

#include "analysis/hangs/hang_pairs.h"

enum { MOST_NEAR = 20000 };

struct keeping {
    const struct flight *flight;
    struct flight ranked; // the same with a rank: dumps without one are left out of a job
    struct hang_job job;  // of this dump alone
    bool *kept;
    size_t count;
    uint64_t *near; // of each group: bits of sequence numbers that are kept
    bool *last;     // of each group: the last that was entered is kept
    bool *p2p;      // of each group: a send or receive is kept
};

static void keep(struct keeping *keeping, const struct flight_entry *entry)
{
    size_t place = entry ? (size_t)(entry - keeping->flight->entries) : 0;
    if (!entry || keeping->kept[place])
        return;
    keeping->kept[place] = true;
    keeping->count++;
}

static void keep_once(struct keeping *keeping, const struct flight_entry *entry, bool *known)
{
    if (!*known)
        keep(keeping, entry);
    *known = true;
}

// Keeps the entries that say how far the rank is.
static void keep_needed(struct keeping *keeping)
{
    const struct flight *flight = keeping->flight;
    const struct hang_dump *dump = &keeping->job.dumps[0];
    keep(keeping, dump->oldest);
    keep(keeping, dump->oldest_p2p);
    keep(keeping, hang_counterpart(dump));
    keep(keeping, dump->last_finish);
    for (size_t i = 0; i < keeping->job.seat_count; i++)
        keep(keeping, keeping->job.seats[i].first);
    for (size_t i = 0; i < flight->entry_count; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        if (entry->is_p2p)
            keep_once(keeping, entry, &keeping->p2p[entry->group]);
        else if (hang_has_seq(entry) &&
                 entry->collective_seq == keeping->job.seats[entry->group].entered)
            keep_once(keeping, entry, &keeping->last[entry->group]);
    }
}

// Keeps, for each sequence number in reach, the first entry: what the rank called there.
static void keep_near(struct keeping *keeping)
{
    const struct flight *flight = keeping->flight;
    for (size_t i = 0; i < flight->entry_count && keeping->count < MOST_NEAR; i++) {
        const struct flight_entry *entry = &flight->entries[i];
        const struct hang_seat *seat = &keeping->job.seats[entry->group];
        if (entry->is_p2p || !hang_has_seq(entry))
            continue;
        int64_t middle = seat->first ? seat->unfinished : seat->entered;
        int64_t place = entry->collective_seq - middle + HANG_KEEP_BEFORE - 1;
        if (place < 0 || place >= HANG_KEEP_BEFORE + HANG_KEEP_AFTER ||
            keeping->near[entry->group] & UINT64_C(1) << place)
            continue;
        keeping->near[entry->group] |= UINT64_C(1) << place;
        keep(keeping, entry);
    }
}

static bool prepare(struct keeping *keeping, struct arena *arena, struct err *err)
{
    const struct flight *flight = keeping->flight;
    const struct flight *one = &keeping->ranked;
    keeping->ranked = *flight;
    keeping->ranked.rank = 0;
    size_t groups = flight->group_count + 1;
    keeping->near = arena_array(arena, groups, sizeof *keeping->near, err);
    keeping->last = arena_array(arena, groups, sizeof *keeping->last, err);
    keeping->p2p = arena_array(arena, groups, sizeof *keeping->p2p, err);
    return keeping->near && keeping->last && keeping->p2p &&
           hang_job_place(&one, 1, arena, &keeping->job, err);
}

bool hang_keep(const struct flight *flight, bool *kept, struct hang_unfinished *unfinished,
               struct budget *budget, struct err *err)
{
    struct keeping keeping = {.flight = flight, .kept = kept};
    struct arena arena;
    arena_init(&arena, budget);
    bool ok = prepare(&keeping, &arena, err);
    if (ok) {
        keep_needed(&keeping);
        keep_near(&keeping);
        *unfinished =
            (struct hang_unfinished){keeping.job.dumps[0].collectives, keeping.job.dumps[0].p2p};
    }
    arena_free(&arena);
    return ok;
}
