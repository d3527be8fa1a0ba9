// SPDX-License-Identifier: Apache-2.0
// Compares the transfers of equal collectives across groups that differ only in their ranks. The
// cost of a slow group is computed call by call: a transfer ends later by its excess over the
// usual, and that part of it, counted from its end, is exposed needlessly.
#include "analysis/ranks/run_links.h"

#include "analysis/findings/findings_text.h"
#include "analysis/stats/groups.h"
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

#define MOST_BESIDE 256 // calls examined besides a slow one

// Calls of one group, kind, type and size.
struct kind_row {
    uint32_t op, first, calls; // op: that of any of the calls
    uint32_t class;            // shared by rows that are equal except for the ranks
    int64_t median_ns;         // of the matches' transfers
    int64_t excess_ns;
};

struct finding_links {
    const struct run_comm *comm;
    double ratio;
    struct arena scratch;
    uint32_t *row_of; // per operation
    struct kind_row *rows;
    uint32_t row_count, class_count;
    int64_t *usual_ns;  // per class; 0 if unknown
    int64_t *excess_ns; // per rank, over its steady steps
};

static uint64_t hash_text(uint64_t seed, struct str text)
{
    return hash_mix(seed ^ 0x9E3779B97F4A7C15u, hash_bytes(text.at, text.len) | 1);
}

static uint64_t hash_word(uint64_t seed, const char *word)
{
    return hash_text(seed, word ? str_of(word) : STR(""));
}

static bool make_rows(struct finding_links *all, struct err *err)
{
    const struct run_comm *comm = all->comm;
    struct groups rows;
    bool ok = true;
    groups_init(&rows, comm->budget);
    for (uint32_t i = 0; ok && i < comm->op_count; i++) {
        const struct comm_op *op = &comm->ops[i];
        uint64_t what = hash_text((uint64_t)run_comm_kind(op) << 32 | op->group, op->dtype);
        ok = groups_index(&rows, what, (uint64_t)op->bytes, &all->row_of[i], err);
        if (ok)
            all->rows[all->row_of[i]].op = i;
    }
    all->row_count = rows.count;
    groups_free(&rows);
    return ok;
}

static bool make_classes(struct finding_links *all, struct err *err)
{
    const struct run_comm *comm = all->comm;
    struct groups classes;
    bool ok = true;
    groups_init(&classes, comm->budget);
    for (uint32_t i = 0; ok && i < all->row_count; i++) {
        const struct comm_op *op = &comm->ops[all->rows[i].op];
        const struct comm_group *group = &comm->groups[op->group];
        uint64_t what =
            hash_text((uint64_t)run_comm_kind(op) << 32 ^ (uint64_t)group->size, op->dtype);
        what = hash_word(hash_word(what, group->span), group->dimension);
        ok = groups_index(&classes, what, (uint64_t)op->bytes, &all->rows[i].class, err);
    }
    all->class_count = classes.count;
    groups_free(&classes);
    return ok;
}

static bool make_room(struct finding_links *all, struct err *err)
{
    uint32_t ops = all->comm->op_count;
    all->row_of = arena_room(&all->scratch, ops + 1, sizeof *all->row_of, err);
    all->rows = arena_array(&all->scratch, ops + 1, sizeof *all->rows, err);
    all->usual_ns = arena_array(&all->scratch, ops + 1, sizeof *all->usual_ns, err);
    all->excess_ns =
        arena_array(&all->scratch, all->comm->rank_count + 1, sizeof *all->excess_ns, err);
    return all->row_of && all->rows && all->usual_ns && all->excess_ns;
}

// Without a size all_to_all cannot be compared: some groups send more tokens than others.
static bool counts(const struct run_comm *comm, const struct comm_match *match)
{
    const struct comm_op *op = &comm->ops[match->op];
    bool alike = op->bytes >= 0 || op->kind != KIND_ALL_TO_ALL;
    return alike && match->latest_rank != RUN_NONE && run_match_is_steady(comm, match);
}

// Medians of the rows' transfers; each match's is that of its fastest member.
static bool find_medians(struct finding_links *all, struct err *err)
{
    const struct run_comm *comm = all->comm;
    int64_t *values =
        arena_room(&all->scratch, 2 * (size_t)comm->match_count + 1, sizeof *values, err);
    if (!values)
        return false;
    for (uint32_t m = 0; m < comm->match_count; m++)
        all->rows[all->row_of[comm->matches[m].op]].calls += counts(comm, &comm->matches[m]);
    for (uint32_t i = 1; i < all->row_count; i++)
        all->rows[i].first = all->rows[i - 1].first + all->rows[i - 1].calls;
    for (uint32_t m = 0; m < comm->match_count; m++)
        if (counts(comm, &comm->matches[m]))
            values[all->rows[all->row_of[comm->matches[m].op]].first++] =
                comm->matches[m].transfer_ns;
    for (uint32_t i = 0; i < all->row_count; i++) {
        struct kind_row *row = &all->rows[i];
        row->first -= row->calls; // it has moved to the start of the next one
        if (row->calls)
            row->median_ns =
                stats_quantiles(values + row->first, values + comm->match_count, row->calls).median;
    }
    return true;
}

// The usual time of a class, whose items ascend: the lower median. 0 if at least half of them would
// be slow by it and it is not recorded that they span nodes in the same way: with two groups on
// different switches there is no telling which one is normal.
static int64_t usual_of(const struct finding_links *all, const struct keyed *items, size_t count)
{
    int64_t usual_ns = all->rows[items[(count - 1) / 2].a].median_ns;
    const struct kind_row *first_not_few = &all->rows[items[count / 2].a];
    bool many = (double)first_not_few->median_ns >= all->ratio * (double)usual_ns;
    const struct comm_op *op = &all->comm->ops[all->rows[items[0].a].op];
    return many && !all->comm->groups[op->group].span ? 0 : usual_ns;
}

// Rows sorted by time, then by class.
static bool find_usual(struct finding_links *all, struct err *err)
{
    size_t count = 0;
    struct keyed *items =
        arena_room(&all->scratch, 2 * (size_t)all->row_count + 1, sizeof *items, err);
    if (!items)
        return false;
    for (uint32_t i = 0; i < all->row_count; i++)
        if (all->rows[i].median_ns > 0)
            items[count++] = (struct keyed){all->rows[i].median_ns, i, 0};
    sort_keyed(items, items + all->row_count, count);
    for (size_t i = 0; i < count; i++)
        items[i].key = all->rows[items[i].a].class;
    sort_keyed(items, items + all->row_count, count);
    for (size_t first = 0, past; first < count; first = past) {
        for (past = first; past < count && items[past].key == items[first].key;)
            past++;
        all->usual_ns[items[first].key] = usual_of(all, items + first, past - first);
    }
    return true;
}

static bool is_slow(const struct finding_links *all, const struct kind_row *row)
{
    int64_t usual_ns = all->usual_ns[row->class];
    return usual_ns > 0 && (double)row->median_ns >= all->ratio * (double)usual_ns;
}

// What compute does not hide between the start of a call and the start of the next.
static int64_t bare_ns(const struct comm_rank *rank, uint32_t call)
{
    const struct comm_event *event = &rank->events[call];
    if (call + 1 == rank->count)
        return event->dur_ns;
    return event[1].begin_ns - event->begin_ns -
           (event[1].before_ns[BEFORE_COMPUTE] - event->before_ns[BEFORE_COMPUTE]);
}

// The end of a call's transfer if it were no slower than usual.
static int64_t usual_end(const struct finding_links *all, const struct comm_event *event)
{
    int64_t end_ns = event->begin_ns + event->dur_ns;
    if (event->match == RUN_NONE)
        return end_ns;
    const struct kind_row *row = &all->rows[all->row_of[all->comm->matches[event->match].op]];
    int64_t usual_ns = event->begin_ns + event->wait_ns + all->usual_ns[row->class];
    return is_slow(all, row) && usual_ns < end_ns ? usual_ns : end_ns;
}

// Exposed time of a transfer during which calls that started later also transfer: without it, that
// time is theirs.
static int64_t shared_ns(const struct finding_links *all, const struct comm_rank *rank,
                         uint32_t call)
{
    const struct comm_event *event = &rank->events[call];
    int64_t from_ns = event->begin_ns + event->wait_ns, end_ns = event->begin_ns + event->dur_ns;
    int64_t sum_ns = 0;
    uint32_t past = rank->count - call > MOST_BESIDE ? call + MOST_BESIDE : rank->count;
    for (uint32_t i = call + 1; i < past && rank->events[i].begin_ns < end_ns; i++) {
        const struct comm_event *other = &rank->events[i];
        int64_t begin_ns = other->begin_ns + other->wait_ns, bare = bare_ns(rank, i);
        int64_t until_ns = usual_end(all, other);
        begin_ns = begin_ns > from_ns ? begin_ns : from_ns;
        until_ns = until_ns < end_ns ? until_ns : end_ns;
        if (other->joined || until_ns <= begin_ns)
            continue;
        sum_ns += until_ns - begin_ns < bare ? until_ns - begin_ns : bare;
        from_ns = until_ns;
    }
    return sum_ns;
}

// The part of a call's exposed transfer that a usual transfer would not have.
static int64_t excess_of(const struct finding_links *all, const struct comm_rank *rank,
                         uint32_t call, int64_t usual_ns)
{
    const struct comm_event *event = &rank->events[call];
    int64_t exposed_ns = event->joined ? 0 : event->exposed_ns - event->exposed_wait_ns;
    int64_t beyond_ns = event->dur_ns - event->wait_ns - usual_ns;
    if (exposed_ns <= 0 || beyond_ns <= 0)
        return 0;
    exposed_ns -= shared_ns(all, rank, call);
    int64_t excess_ns = beyond_ns < exposed_ns ? beyond_ns : exposed_ns;
    return excess_ns > 0 ? excess_ns : 0;
}

static void sum_excess(struct finding_links *all)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_match *match = &comm->matches[m];
        struct kind_row *row = &all->rows[all->row_of[match->op]];
        if (!is_slow(all, row) || !counts(comm, match))
            continue;
        for (uint32_t i = 0; i < match->count; i++) {
            struct comm_member member = comm->members[match->first + i];
            int64_t excess_ns =
                excess_of(all, &comm->ranks[member.rank], member.event, all->usual_ns[row->class]);
            row->excess_ns += excess_ns;
            all->excess_ns[member.rank] += excess_ns;
        }
    }
}

static bool list_slow(struct finding_links *all, struct arena *arena, struct run_links *links,
                      struct err *err)
{
    const struct run_comm *comm = all->comm;
    bool *seen = arena_array(&all->scratch, comm->group_count + 1, sizeof *seen, err);
    links->links = arena_array(arena, (size_t)all->row_count + 1, sizeof *links->links, err);
    if (!seen || !links->links)
        return false;
    for (uint32_t i = 0; i < all->row_count; i++) {
        const struct kind_row *row = &all->rows[i];
        const struct comm_op *op = &comm->ops[row->op];
        if (!is_slow(all, row))
            continue;
        struct slow_link link = {
            &comm->groups[op->group], run_comm_kind(op),         op->bytes,
            row->median_ns,           all->usual_ns[row->class], row->excess_ns};
        links->links[links->count++] = link;
        links->group_count += !seen[op->group];
        seen[op->group] = true;
        struct slow_link most = links->links[0];
        if (link.excess_ns <= most.excess_ns)
            continue;
        links->links[0] = link;
        links->links[links->count - 1] = most;
    }
    return true;
}

static bool name_ranks(struct finding_links *all, struct arena *arena, struct run_links *links,
                       struct err *err)
{
    const struct comm_group *group = links->count ? links->links[0].group : NULL;
    links->list = "";
    if (!group)
        return true;
    int64_t *ranks = arena_room(&all->scratch, group->rank_count, sizeof *ranks, err);
    if (!ranks)
        return false;
    for (uint32_t i = 0; i < group->rank_count; i++)
        ranks[i] = all->comm->ranks[group->ranks[i]].rank;
    links->list = number_list(ranks, group->rank_count, arena, err);
    return links->list != NULL;
}

bool run_links_find(const struct run_comm *comm, double slow_ratio, struct arena *arena,
                    struct run_links *links, struct err *err)
{
    struct finding_links all = {.comm = comm, .ratio = slow_ratio};
    *links = (struct run_links){0};
    arena_init(&all.scratch, comm->budget);
    bool ok = make_room(&all, err) && make_rows(&all, err) && make_classes(&all, err) &&
              find_medians(&all, err) && find_usual(&all, err);
    if (ok) {
        sum_excess(&all);
        ok = list_slow(&all, arena, links, err) && name_ranks(&all, arena, links, err);
    }
    for (uint32_t r = 0; ok && r < comm->rank_count; r++) {
        int64_t cost_ns = all.excess_ns[r] / run_comm_steps(&comm->ranks[r], true);
        links->cost_ns = cost_ns > links->cost_ns ? cost_ns : links->cost_ns;
    }
    arena_free(&all.scratch);
    return ok;
}
