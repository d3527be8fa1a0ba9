// SPDX-License-Identifier: Apache-2.0
// Counts calls by operation first, so that each call costs one addition.
#include "analysis/ranks/strategy_use.h"

#include "analysis/stats/groups.h"
#include "ingest/trace/strtab.h"

// A use less frequent than this per step is not part of a strategy.
#define RARE 0.01

bool strategy_use_kind(const struct comm_op *op, enum use_kind *kind)
{
    bool bare = op->kernel.len != 0; // without metadata all_to_all and send are one kernel
    // Coalesced calls are recorded without bytes: theirs are unknown.
    if ((op->bytes > 0 && op->bytes <= STRATEGY_SMALL_BYTES) ||
        (bare && op->kind == KIND_SEND_RECV))
        return false;
    switch (op->kind) {
    case KIND_ALL_REDUCE: *kind = USE_ALL_REDUCE; return true;
    case KIND_ALL_GATHER: *kind = USE_ALL_GATHER; return true;
    case KIND_REDUCE:
    case KIND_REDUCE_SCATTER: *kind = USE_REDUCE_SCATTER; return true;
    case KIND_ALL_TO_ALL: *kind = USE_ALL_TO_ALL; return true;
    case KIND_BROADCAST: *kind = USE_BROADCAST; return true;
    case KIND_SEND:
    case KIND_SEND_RECV: *kind = USE_SEND; return true;
    case KIND_RECV: *kind = USE_RECV; return true;
    case KIND_UNKNOWN:
    case KIND_GATHER:
    case KIND_SCATTER:
    case KIND_BARRIER:
    case COLLECTIVE_KIND_COUNT: break;
    }
    return false;
}

enum comm_phase strategy_use_phase(const struct comm_op *op)
{
    for (enum comm_phase phase = PHASE_FORWARD; phase < COMM_PHASE_COUNT; phase++)
        if (str_equal(op->phase, str_of(comm_phase_word(phase))))
            return phase;
    return PHASE_UNKNOWN;
}

bool strategy_use_counts(const struct comm_rank *rank, const struct comm_event *event, bool steady)
{
    return !steady || (event->step != RUN_NONE && rank->steps[event->step].steady);
}

// --- teams --------------------------------------------------------------------------------------

struct team_keys {
    struct strtab lists;
    struct groups keys; // a list and 1, or name and size of a group without
};

static bool key_of(struct team_keys *keys, const struct comm_group *group, uint32_t *team,
                   struct err *err)
{
    bool listed = group->list.len && group->list.len <= STRTAB_MAX_LEN;
    struct str text = listed ? group->list : group->name;
    str_id id = 0;
    if (text.len <= STRTAB_MAX_LEN && !strtab_intern(&keys->lists, text, &id, err))
        return false;
    uint64_t size = (uint64_t)group->size;
    uint64_t known = UINT64_MAX - group->context; // the same ranks may share a context and replicas
    return groups_index(&keys->keys, id, listed ? known : size & INT64_MAX, team, err);
}

static bool find_teams(const struct run_comm *comm, struct team_keys *keys,
                       struct strategy_use *use, struct err *err)
{
    for (uint32_t g = 0; g < comm->group_count; g++) {
        const struct comm_group *group = &comm->groups[g];
        uint32_t index;
        if (!key_of(keys, group, &index, err))
            return false;
        struct team *team = &use->teams[index];
        if (index == use->team_count) {
            use->team_count++;
            *team = (struct team){.name = group->name,
                                  .list = group->list,
                                  .size = group->size,
                                  .context = group->context};
        }
        team->groups++;
        use->team_of[g] = index;
    }
    return true;
}

static bool make_teams(const struct run_comm *comm, struct arena *arena, struct strategy_use *use,
                       struct err *err)
{
    struct team_keys keys;
    use->teams = arena_array(arena, comm->group_count, sizeof *use->teams, err);
    use->team_of = arena_array(arena, comm->group_count, sizeof *use->team_of, err);
    if (!use->teams || !use->team_of || !strtab_init(&keys.lists, comm->budget, err))
        return false;
    groups_init(&keys.keys, comm->budget);
    bool ok = find_teams(comm, &keys, use, err);
    groups_free(&keys.keys);
    strtab_free(&keys.lists);
    return ok;
}

// --- uses ---------------------------------------------------------------------------------------

// Among a team's groups, the one with most ranks shows who is there.
static void count_steps(const struct run_comm *comm, struct strategy_use *use)
{
    for (uint32_t g = 0; g < comm->group_count; g++) {
        const struct comm_group *group = &comm->groups[g];
        struct team *team = &use->teams[use->team_of[g]];
        if (group->rank_count <= team->ranks)
            continue;
        team->ranks = group->rank_count;
        team->rank_steps = 0;
        for (uint32_t i = 0; i < group->rank_count; i++)
            team->rank_steps += run_comm_steps(&comm->ranks[group->ranks[i]], use->steady);
    }
}

static bool has_steady_step(const struct run_comm *comm)
{
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t s = 0; s < comm->ranks[r].step_count; s++)
            if (comm->ranks[r].steps[s].steady)
                return true;
    return false;
}

// Whether any of the rank's calls gives its group.
static bool has_groups(const struct run_comm *comm, const struct comm_rank *rank)
{
    for (uint32_t e = 0; e < rank->count; e++)
        if (comm->groups[comm->ops[rank->events[e].op].group].name.len)
            return true;
    return false;
}

static bool any_groups(const struct run_comm *comm)
{
    for (uint32_t g = 0; g < comm->group_count; g++)
        if (comm->groups[g].name.len)
            return true;
    return false;
}

// If some ranks give their peers, those without any metadata do the same.
static void count_calls(const struct run_comm *comm, bool steady, int64_t *calls)
{
    bool some_have = any_groups(comm);
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        if (some_have && !has_groups(comm, rank))
            continue;
        for (uint32_t e = 0; e < rank->count; e++)
            calls[rank->events[e].op] += strategy_use_counts(rank, &rank->events[e], steady);
    }
}

static void find_rates(struct team *team)
{
    for (int kind = 0; team->rank_steps && kind < USE_KIND_COUNT; kind++)
        for (int phase = 0; phase < COMM_PHASE_COUNT; phase++) {
            struct use *use = &team->uses[kind][phase];
            use->per_step = (double)use->calls / (double)team->rank_steps;
        }
}

static void add_uses(const struct run_comm *comm, const int64_t *calls, struct strategy_use *use)
{
    for (uint32_t o = 0; o < comm->op_count; o++) {
        const struct comm_op *op = &comm->ops[o];
        enum use_kind kind;
        int64_t bytes;
        if (calls[o] == 0 || !strategy_use_kind(op, &kind))
            continue;
        struct team *team = &use->teams[use->team_of[op->group]];
        struct use *at = &team->uses[kind][strategy_use_phase(op)];
        at->calls += calls[o];
        if (op->bytes < 0 || __builtin_mul_overflow(op->bytes, calls[o], &bytes) ||
            __builtin_add_overflow(at->bytes, bytes, &at->bytes))
            continue; // unknown sizes do not count
    }
    for (uint32_t t = 0; t < use->team_count; t++)
        find_rates(&use->teams[t]);
}

bool strategy_use_make(const struct run_comm *comm, struct arena *arena, struct strategy_use *use,
                       struct err *err)
{
    *use = (struct strategy_use){.steady = has_steady_step(comm)};
    int64_t *calls = arena_array(arena, comm->op_count, sizeof *calls, err);
    if (!calls || !make_teams(comm, arena, use, err))
        return false;
    count_steps(comm, use);
    count_calls(comm, use->steady, calls);
    add_uses(comm, calls, use);
    return true;
}

// --- reading ------------------------------------------------------------------------------------

double strategy_use_of_kind(const struct team *team, enum use_kind kind)
{
    double calls = 0;
    for (int phase = 0; phase < COMM_PHASE_COUNT; phase++)
        calls += team->uses[kind][phase].per_step;
    return calls;
}

static void put_bytes(struct buf *text, double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    unsigned unit = 0;
    for (; bytes >= 1000 && unit < 4; unit++)
        bytes /= 1000;
    buf_printf(text, " of %.3g %s", bytes, units[unit]);
}

void strategy_use_text(const struct team *team, enum use_kind first, enum use_kind last,
                       struct buf *text)
{
    static const char *const words[USE_KIND_COUNT] = {
        "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send", "recv"};
    const char *between = "";
    for (int kind = (int)first; kind <= (int)last; kind++)
        for (int phase = 0; phase < COMM_PHASE_COUNT; phase++) {
            const struct use *use = &team->uses[kind][phase];
            const char *where = comm_phase_word((enum comm_phase)phase);
            if (use->per_step < RARE)
                continue;
            buf_printf(text, "%s%.3g %s", between, use->per_step, words[kind]);
            if (use->bytes > 0)
                put_bytes(text, (double)use->bytes / (double)use->calls);
            if (where)
                buf_printf(text, phase == PHASE_OTHER ? " after the backward" : " in %s", where);
            between = ", ";
        }
}
