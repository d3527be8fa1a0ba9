// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_seats.h"
#include "ingest/base/orders.h"

#include <stdlib.h>

#define MOST_MEMBERS ((size_t)1 << 24) // of all groups together

// --- dumps --------------------------------------------------------------------------------------

static int by_rank(const void *a, const void *b)
{
    const struct hang_dump *x = a, *y = b;
    return (x->flight->rank > y->flight->rank) - (x->flight->rank < y->flight->rank);
}

// Among several dumps of a rank, the one given first comes first.
static int by_rank_and_place(const void *a, const void *b)
{
    const struct hang_dump *x = a, *y = b;
    int order = by_rank(a, b);
    return order ? order : (x->first_seat > y->first_seat) - (x->first_seat < y->first_seat);
}

static bool sort_dumps(struct hang_job *job, const struct flight *const *dumps, size_t count,
                       struct err *err)
{
    size_t kept = 0;
    job->dumps = arena_array(job->arena, count + 1, sizeof *job->dumps, err);
    job->used = arena_array(job->arena, count + 1, sizeof *job->used, err);
    if (!job->dumps || !job->used)
        return false;
    for (size_t i = 0; i < count; i++)
        if (dumps[i]->rank >= 0)
            job->dumps[kept++] = (struct hang_dump){.flight = dumps[i], .first_seat = i};
    qsort(job->dumps, kept, sizeof *job->dumps, by_rank_and_place);
    for (size_t i = 0; i < kept; i++) {
        if (i && job->dumps[i].flight->rank == job->dumps[job->dump_count - 1].flight->rank)
            continue;
        job->used[job->dumps[i].first_seat] = true;
        job->dumps[job->dump_count++] = job->dumps[i];
    }
    return true;
}

struct hang_dump *hang_find_dump(const struct hang_job *job, int64_t rank)
{
    struct flight flight = {.rank = rank};
    const struct hang_dump key = {.flight = &flight};
    return job->dump_count ? bsearch(&key, job->dumps, job->dump_count, sizeof key, by_rank) : NULL;
}

// --- groups -------------------------------------------------------------------------------------

// What makes a group the same on two ranks. Names count the groups of a rank, so they only
// distinguish namesakes, by their order.
struct namesakes {
    uint32_t desc, ranks;
};
struct group_key {
    uint32_t namesakes, nth;
};

// How many namesakes of a kind the dump had so far.
struct counted {
    uint32_t dump, count; // dump: + 1
};

struct merging {
    struct hang_job *job;
    struct strtab texts;     // of descriptions and lists of ranks
    struct record_set kinds; // struct namesakes
    struct record_set keys;  // struct group_key
    struct counted *counted; // by kind
    size_t counted_cap;
    uint32_t *ids; // of a dump's texts: + 1 among ours, 0 unknown
};

struct named_group {
    int64_t number; // its name as a number; INT64_MAX: it is not one
    struct str name;
    uint32_t group;
};

static int by_name(const void *a, const void *b)
{
    const struct named_group *x = a, *y = b;
    int order = (x->number > y->number) - (x->number < y->number);
    return order ? order : str_compare(x->name, y->name);
}

static struct named_group *sort_groups(const struct flight *flight, struct budget *budget,
                                       struct err *err)
{
    struct named_group *named =
        budget_alloc(budget, (flight->group_count + 1) * sizeof *named, err);
    for (size_t i = 0; named && i < flight->group_count; i++) {
        named[i].name = hang_text(flight, flight->groups[i].name);
        named[i].group = (uint32_t)i;
        if (!str_to_i64(named[i].name, &named[i].number))
            named[i].number = INT64_MAX;
    }
    if (named)
        qsort(named, flight->group_count, sizeof *named, by_name);
    return named;
}

// Texts are long and shared by many groups: each is looked up once.
static bool own_text(struct merging *merging, const struct flight *flight, str_id id, uint32_t *own,
                     struct err *err)
{
    if (!merging->ids[id]) {
        str_id found;
        if (!strtab_intern(&merging->texts, hang_text(flight, id), &found, err))
            return false;
        merging->ids[id] = found + 1;
    }
    *own = merging->ids[id];
    return true;
}

static bool count_namesake(struct merging *merging, uint32_t kind, uint32_t dump, uint32_t *nth,
                           struct err *err)
{
    size_t before = merging->counted_cap;
    struct counted *grown = budget_room(merging->job->arena->budget, merging->counted,
                                        &merging->counted_cap, kind + 1, sizeof *grown, err);
    if (!grown)
        return false;
    merging->counted = grown;
    if (merging->counted_cap > before)
        memset(grown + before, 0, (merging->counted_cap - before) * sizeof *grown);
    if (grown[kind].dump != dump + 1)
        grown[kind] = (struct counted){.dump = dump + 1};
    *nth = grown[kind].count++;
    return true;
}

static bool find_key(struct merging *merging, const struct namesakes *kind, uint32_t dump,
                     uint32_t *group, struct err *err)
{
    struct group_key key;
    return record_set_add(&merging->kinds, kind, &key.namesakes, err) &&
           count_namesake(merging, key.namesakes, dump, &key.nth, err) &&
           record_set_add(&merging->keys, &key, group, err);
}

static bool place_group(struct merging *merging, uint32_t dump, uint32_t local, struct err *err)
{
    const struct hang_dump *owner = &merging->job->dumps[dump];
    const struct flight_group *group = &owner->flight->groups[local];
    struct hang_seat *seat = &merging->job->seats[owner->first_seat + local];
    struct namesakes kind = {0};
    *seat = (struct hang_seat){.dump = dump, .unfinished = HANG_NO_SEQ, .entered = HANG_NO_SEQ};
    return own_text(merging, owner->flight, group->desc, &kind.desc, err) &&
           own_text(merging, owner->flight, group->ranks, &kind.ranks, err) &&
           find_key(merging, &kind, dump, &seat->group, err);
}

static bool place_dump(struct merging *merging, uint32_t dump, struct err *err)
{
    const struct flight *flight = merging->job->dumps[dump].flight;
    struct budget *budget = merging->job->arena->budget;
    size_t size = flight->texts.count * sizeof *merging->ids;
    struct named_group *named = sort_groups(flight, budget, err);
    merging->ids = budget_zalloc(budget, size, err);
    bool ok = named && merging->ids;
    for (size_t i = 0; ok && i < flight->group_count; i++)
        ok = place_group(merging, dump, named[i].group, err);
    budget_free(budget, merging->ids, size);
    budget_free(budget, named, (flight->group_count + 1) * sizeof *named);
    return ok;
}

static bool count_seats(struct hang_job *job, struct err *err)
{
    for (size_t i = 0; i < job->dump_count; i++) {
        job->dumps[i].first_seat = job->seat_count;
        job->seat_count += job->dumps[i].flight->group_count;
    }
    job->seats = arena_array(job->arena, job->seat_count + 1, sizeof *job->seats, err);
    return job->seats && (job->dump_count < UINT32_MAX ||
                          err_set(err, ERR_LIMIT, "more than %u dumps", UINT32_MAX));
}

static bool place_all(struct merging *merging, struct err *err)
{
    struct hang_job *job = merging->job;
    bool ok = count_seats(job, err);
    for (size_t i = 0; ok && i < job->dump_count; i++)
        ok = place_dump(merging, (uint32_t)i, err);
    job->group_count = merging->keys.count;
    return ok;
}

static bool merge_groups(struct hang_job *job, struct err *err)
{
    struct budget *budget = job->arena->budget;
    struct merging merging = {.job = job};
    if (!strtab_init(&merging.texts, budget, err))
        return false;
    record_set_init(&merging.kinds, sizeof(struct namesakes), budget);
    record_set_init(&merging.keys, sizeof(struct group_key), budget);
    bool ok = place_all(&merging, err);
    budget_free(budget, merging.counted, merging.counted_cap * sizeof *merging.counted);
    record_set_free(&merging.kinds);
    record_set_free(&merging.keys);
    strtab_free(&merging.texts);
    return ok;
}

static bool seat_groups(struct hang_job *job, struct err *err)
{
    struct hang_seat **seats = arena_array(job->arena, job->seat_count + 1, sizeof *seats, err);
    job->groups = arena_array(job->arena, job->group_count + 1, sizeof *job->groups, err);
    if (!seats || !job->groups)
        return false;
    for (size_t i = 0; i < job->seat_count; i++)
        job->groups[job->seats[i].group].seat_count++;
    for (size_t i = 0; i < job->group_count; i++) {
        job->groups[i].seats = seats;
        job->groups[i].lowest = job->groups[i].furthest = HANG_NO_SEQ;
        seats += job->groups[i].seat_count;
        job->groups[i].seat_count = 0;
    }
    for (size_t i = 0; i < job->seat_count; i++) {
        struct hang_group *group = &job->groups[job->seats[i].group];
        const struct hang_dump *dump = &job->dumps[job->seats[i].dump];
        const struct flight_group *own = &dump->flight->groups[i - dump->first_seat];
        group->desc = hang_text(dump->flight, own->desc);
        group->ranks = hang_text(dump->flight, own->ranks);
        group->seats[group->seat_count++] = &job->seats[i];
    }
    return true;
}

// --- entries ------------------------------------------------------------------------------------

static struct hang_seat *seat_of(const struct hang_job *job, const struct hang_dump *dump,
                                 const struct flight_entry *entry)
{
    return &job->seats[dump->first_seat + entry->group];
}

static void take_p2p(struct hang_job *job, struct hang_dump *dump, const struct flight_entry *entry)
{
    job->groups[seat_of(job, dump, entry)->group].p2p = true;
    if (!hang_is_unfinished(entry))
        return;
    dump->p2p++;
    if (!dump->oldest_p2p || entry->created_ns < dump->oldest_p2p->created_ns)
        dump->oldest_p2p = entry;
}

static void take_unfinished(struct hang_dump *dump, struct hang_seat *seat,
                            const struct flight_entry *entry)
{
    dump->collectives++;
    if (!dump->oldest || entry->created_ns < dump->oldest->created_ns)
        dump->oldest = entry;
    if (seat->unfinished != HANG_NO_SEQ && seat->unfinished <= entry->collective_seq)
        return;
    seat->unfinished = entry->collective_seq;
    seat->first = entry;
}

static void note_furthest(const struct hang_job *job, const struct hang_dump *dump)
{
    for (size_t i = 0; i < dump->flight->entry_count; i++) {
        const struct flight_entry *entry = &dump->flight->entries[i];
        struct hang_group *group = &job->groups[seat_of(job, dump, entry)->group];
        if (!entry->is_p2p && hang_has_seq(entry) && entry->collective_seq > group->furthest)
            group->furthest = entry->collective_seq;
    }
}

// A collective that gloo retired ended well if some rank went on to the next.
static bool is_unfinished(const struct hang_job *job, const struct hang_dump *dump,
                          const struct flight_entry *entry)
{
    const struct hang_group *group = &job->groups[seat_of(job, dump, entry)->group];
    return hang_is_unfinished(entry) && (entry->collective_seq >= group->furthest ||
                                         !flight_keeps_no_states(dump->flight, entry));
}

static void take_entry(struct hang_job *job, struct hang_dump *dump,
                       const struct flight_entry *entry)
{
    struct hang_seat *seat = seat_of(job, dump, entry);
    if (entry->is_p2p) {
        take_p2p(job, dump, entry);
        return;
    }
    if (!hang_has_seq(entry))
        return;
    seat->known = true;
    if (seat->entered < entry->collective_seq)
        seat->entered = entry->collective_seq;
    if (is_unfinished(job, dump, entry))
        take_unfinished(dump, seat, entry);
    else if (!dump->last_finish || entry->created_ns >= dump->last_finish->created_ns)
        dump->last_finish = entry;
}

static void take_entries(struct hang_job *job)
{
    for (size_t i = 0; i < job->dump_count; i++)
        note_furthest(job, &job->dumps[i]);
    for (size_t i = 0; i < job->dump_count; i++) {
        const struct flight *flight = job->dumps[i].flight;
        job->dumps[i].collectives = flight->left.unfinished;
        job->dumps[i].p2p = flight->left.unfinished_p2p;
        for (size_t k = 0; k < flight->entry_count; k++)
            take_entry(job, &job->dumps[i], &flight->entries[k]);
    }
}

// Statuses count sends and receives, too, so in groups that have some they say nothing.
static void take_status(const struct hang_job *job, struct hang_seat *seat)
{
    const struct hang_dump *dump = &job->dumps[seat->dump];
    const struct flight_group *own = &dump->flight->groups[seat - job->seats - dump->first_seat];
    if (job->groups[seat->group].p2p || own->enqueued < HANG_NO_SEQ ||
        own->enqueued > HANG_MOST_SEQ)
        return;
    seat->known = true;
    if (seat->entered < own->enqueued)
        seat->entered = own->enqueued;
}

static void find_lowest(struct hang_job *job)
{
    for (size_t i = 0; i < job->seat_count; i++) {
        struct hang_seat *seat = &job->seats[i];
        struct hang_group *group = &job->groups[seat->group];
        take_status(job, seat);
        if (!seat->first || (group->op && group->lowest <= seat->unfinished))
            continue;
        group->lowest = seat->unfinished;
        group->op = seat->first;
        group->op_flight = job->dumps[seat->dump].flight;
    }
}

// What each rank called at the lowest unfinished collective of its group.
static void find_here(struct hang_job *job)
{
    for (size_t i = 0; i < job->dump_count; i++) {
        const struct flight *flight = job->dumps[i].flight;
        for (size_t k = 0; k < flight->entry_count; k++) {
            const struct flight_entry *entry = &flight->entries[k];
            struct hang_seat *seat = seat_of(job, &job->dumps[i], entry);
            if (!entry->is_p2p && hang_has_seq(entry) && !seat->here &&
                entry->collective_seq == job->groups[seat->group].lowest)
                seat->here = entry;
        }
    }
}

// --- members ------------------------------------------------------------------------------------

static size_t count_ranks(struct str list)
{
    int64_t rank;
    size_t count = 0;
    while (flight_next_rank(&list, &rank))
        count++;
    return count;
}

size_t hang_sort_ranks(int64_t *ranks, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(ranks, count, sizeof *ranks, order_i64);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ranks[i] != ranks[kept - 1])
            ranks[kept++] = ranks[i];
    return kept;
}

static bool find_members(struct hang_job *job, struct hang_group *group, struct err *err)
{
    struct str list = group->ranks;
    size_t count = list.len ? count_ranks(list) : group->seat_count;
    group->members = arena_room(job->arena, count + 1, sizeof *group->members, err);
    if (!group->members)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!list.len)
            group->members[i] = hang_rank(job, group->seats[i]);
        else if (!flight_next_rank(&list, &group->members[i]))
            break;
    group->member_count = hang_sort_ranks(group->members, count);
    return true;
}

// Finds the members of the groups in which someone waits.
static bool find_all_members(struct hang_job *job, struct err *err)
{
    size_t all = 0;
    for (size_t i = 0; i < job->group_count; i++) {
        struct hang_group *group = &job->groups[i];
        if (!group->op)
            continue;
        all += count_ranks(group->ranks);
        if (all > MOST_MEMBERS)
            return err_set(err, ERR_LIMIT, "the process groups have more than %zu members in all",
                           MOST_MEMBERS);
        if (!find_members(job, group, err))
            return false;
    }
    return true;
}

bool hang_job_place(const struct flight *const *dumps, size_t count, struct arena *arena,
                    struct hang_job *job, struct err *err)
{
    *job = (struct hang_job){.arena = arena};
    if (!sort_dumps(job, dumps, count, err) || !merge_groups(job, err) || !seat_groups(job, err))
        return false;
    take_entries(job);
    find_lowest(job);
    return true;
}

bool hang_job_make(const struct flight *const *dumps, size_t count, struct arena *arena,
                   struct hang_job *job, struct err *err)
{
    if (!hang_job_place(dumps, count, arena, job, err))
        return false;
    find_here(job);
    return find_all_members(job, err);
}
