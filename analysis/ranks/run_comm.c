// SPDX-License-Identifier: Apache-2.0
// From the tables of each rank to compact calls of a run, with shared operations and groups.
#include "analysis/ranks/run_comm.h"

#include "analysis/report/tables.h"
#include "analysis/stats/groups.h"
#include "analysis/ranks/run_comm_stages.h"
#include "ingest/trace/record_set.h"
#include "ingest/trace/strtab.h"

#include <math.h>

#define NO_RANK INT64_MIN // -1 may be a rank without a known number

#define MAX_KERNELS (UINT32_MAX >> 2)

#define MAX_ORIGIN_NS ((int64_t)1 << 61) // 73 years
#define MAX_TIME_NS   ((int64_t)1 << 58)

// Groups and operations, with texts as numbers, compared as bytes.
struct group_name {
    uint32_t namesake;
    str_id list;
    uint32_t subset; // of those without a list, by Comms Ids, from 1 on; 0: unknown
};

struct op_key {
    int64_t bytes, peer;
    uint32_t group, kind;
    str_id dtype, phase, kernel;
    uint32_t unused;
};

// What is known about all groups with one name and size.
struct namesake {
    str_id name;
    int64_t size;
    int64_t rank;    // last loaded with one of them
    uint32_t group;  // the one it had
    uint32_t subset; // of that rank: see group_name
    uint32_t listed; // the one with a list of ranks, if there is only one; RUN_NONE
    uint32_t listed_count;
    const char *span;
    bool context; // its description says that its ranks share a context
};

struct comm_loader {
    struct strtab texts;
    struct record_set groups, ops;
    struct groups names;     // of groups: name, size
    struct groups comms_ids; // of calls: namesake, Comms Id
    uint32_t *subset_of;     // per Comms Id, see group_name
    size_t subset_cap;
    uint32_t subset_count;
    struct namesake *namesakes; // per name
    size_t namesake_cap;
    uint32_t *op_of; // of the rank's operations: the run's
    size_t op_cap;
    int64_t rank; // being loaded
};

static const char *const span_words[] = {"intra-node", "inter-node"};

bool run_comm_open(struct run_comm *comm, size_t ranks, struct budget *budget, struct err *err)
{
    *comm = (struct run_comm){.budget = budget};
    arena_init(&comm->arena, budget);
    arena_init(&comm->pieces, budget);
    comm->ranks = arena_array(&comm->arena, ranks, sizeof *comm->ranks, err);
    comm->loader = budget_zalloc(budget, sizeof *comm->loader, err);
    if (!comm->loader)
        return false;
    record_set_init(&comm->loader->groups, sizeof(struct group_name), budget);
    record_set_init(&comm->loader->ops, sizeof(struct op_key), budget);
    groups_init(&comm->loader->names, budget);
    groups_init(&comm->loader->comms_ids, budget);
    return strtab_init(&comm->loader->texts, budget, err) && comm->ranks;
}

static void free_loader(struct run_comm *comm)
{
    struct comm_loader *loader = comm->loader;
    if (!loader)
        return;
    strtab_free(&loader->texts);
    record_set_free(&loader->groups);
    record_set_free(&loader->ops);
    groups_free(&loader->names);
    groups_free(&loader->comms_ids);
    budget_free(comm->budget, loader->subset_of, loader->subset_cap * sizeof *loader->subset_of);
    budget_free(comm->budget, loader->namesakes, loader->namesake_cap * sizeof *loader->namesakes);
    budget_free(comm->budget, loader->op_of, loader->op_cap * sizeof *loader->op_of);
    budget_free(comm->budget, loader, sizeof *loader);
    comm->loader = NULL;
}

void run_comm_close(struct run_comm *comm)
{
    free_loader(comm);
    budget_free(comm->budget, comm->matches, comm->match_cap * sizeof *comm->matches);
    comm->matches = NULL;
    arena_free(&comm->arena);
    arena_free(&comm->pieces);
}

// --- one rank's operations ----------------------------------------------------------------------

// Room for `count` items of `size` bytes, new ones zeroed.
static void *grow(struct budget *budget, void *items, size_t *cap, size_t count, size_t size,
                  struct err *err)
{
    size_t known = *cap;
    char *room = budget_room(budget, items, cap, count, size, err);
    if (room && *cap > known)
        memset(room + known * size, 0, (*cap - known) * size);
    return room;
}

static bool intern(struct comm_loader *loader, const struct table *table, size_t row,
                   unsigned column, str_id *id, struct err *err)
{
    const struct cell *cell = table_cell(table, row, column);
    bool known = !cell->null && cell->s.len <= STRTAB_MAX_LEN;
    return strtab_intern(&loader->texts, known ? cell->s : STR(""), id, err);
}

// Where a table holds a group's name and size.
struct namesake_columns {
    unsigned group, size;
};

static const struct namesake_columns of_op = {COMM_OPS_PROCESS_GROUP, COMM_OPS_GROUP_SIZE};
static const struct namesake_columns of_group = {PROCESS_GROUPS_PROCESS_GROUP, PROCESS_GROUPS_SIZE};

// The number of the group's name and size in the rank's recording, added if new.
static bool find_namesake(struct run_comm *comm, const struct table *table, size_t row,
                          struct namesake_columns columns, uint32_t *index, struct err *err)
{
    struct comm_loader *loader = comm->loader;
    int64_t size = table_i64(table, row, columns.size, -1);
    uint32_t known = loader->names.count;
    uint32_t recording = comm->recordings ? comm->recordings[comm->rank_count - 1] : 0;
    str_id name;
    if (!intern(loader, table, row, columns.group, &name, err) ||
        !groups_index(&loader->names, (uint64_t)recording << 32 | name, (uint64_t)size, index, err))
        return false;
    struct namesake *grown = grow(comm->budget, loader->namesakes, &loader->namesake_cap,
                                  loader->names.count, sizeof *grown, err);
    if (!grown)
        return false;
    loader->namesakes = grown;
    if (*index == known)
        grown[known] =
            (struct namesake){.name = name, .size = size, .rank = NO_RANK, .listed = RUN_NONE};
    return true;
}

// The group of an operation. A rank's table gives the list of a group at least once, if at all, so
// an operation without one gets that of the rank's last operation with the same name and size.
static bool find_group(struct run_comm *comm, const struct table *ops, size_t row, uint32_t *group,
                       struct err *err)
{
    struct comm_loader *loader = comm->loader;
    struct group_name key;
    if (!intern(loader, ops, row, COMM_OPS_GROUP_RANKS, &key.list, err) ||
        !find_namesake(comm, ops, row, of_op, &key.namesake, err))
        return false;
    struct namesake *namesake = &loader->namesakes[key.namesake];
    key.subset = key.list ? 0 : namesake->subset;
    if (!key.list && namesake->rank == loader->rank) {
        *group = namesake->group;
        return true;
    }
    uint32_t known = loader->groups.count;
    if (!record_set_add(&loader->groups, &key, group, err))
        return false;
    if (key.list && loader->groups.count > known) {
        namesake->listed = *group;
        namesake->listed_count++;
    }
    namesake->rank = loader->rank;
    namesake->group = *group;
    return true;
}

static enum collective_kind kind_of(const struct table *ops, size_t row)
{
    const struct cell *cell = table_cell(ops, row, COMM_OPS_KIND);
    for (int kind = KIND_UNKNOWN + 1; !cell->null && kind < COLLECTIVE_KIND_COUNT; kind++)
        if (str_equal(cell->s, str_of(bandwidth_kind_word((enum collective_kind)kind))))
            return (enum collective_kind)kind;
    return KIND_UNKNOWN;
}

static bool add_op(struct run_comm *comm, const struct table *ops, size_t row, struct err *err)
{
    struct comm_loader *loader = comm->loader;
    struct op_key key = {
        .bytes = table_i64(ops, row, COMM_OPS_BYTES, -1),
        .peer = table_i64(ops, row, COMM_OPS_PEER, -1),
        .kind = (uint32_t)kind_of(ops, row),
    };
    return find_group(comm, ops, row, &key.group, err) &&
           intern(loader, ops, row, COMM_OPS_DTYPE, &key.dtype, err) &&
           intern(loader, ops, row, COMM_OPS_PHASE, &key.phase, err) &&
           intern(loader, ops, row, COMM_OPS_KERNEL, &key.kernel, err) &&
           record_set_add(&loader->ops, &key, &loader->op_of[row], err);
}

// --- groups without a list of their ranks -------------------------------------------------------

// Records the Comms Id of a call, and which of its namesakes the rank's group is if an earlier rank
// took part in that call.
static bool note_comms_id(struct comm_loader *loader, struct namesake *namesake, uint32_t id,
                          struct err *err)
{
    uint32_t index, known = loader->comms_ids.count;
    uint64_t number = (uint64_t)(namesake - loader->namesakes);
    if (!groups_index(&loader->comms_ids, number, id, &index, err))
        return false;
    uint32_t *grown = grow(loader->comms_ids.budget, loader->subset_of, &loader->subset_cap,
                           loader->comms_ids.count, sizeof *grown, err);
    if (!grown)
        return false;
    loader->subset_of = grown;
    if (index < known && !namesake->subset)
        namesake->subset = grown[index];
    if (index >= known)
        grown[index] = 0;
    return true;
}

// Later ranks that share one of its calls are in the rank's group.
static bool keep_subset(struct comm_loader *loader, struct namesake *namesake, uint32_t id,
                        struct err *err)
{
    uint32_t index;
    if (!groups_index(&loader->comms_ids, (uint64_t)(namesake - loader->namesakes), id, &index,
                      err))
        return false;
    namesake->subset = namesake->subset ? namesake->subset : ++loader->subset_count;
    loader->subset_of[index] =
        loader->subset_of[index] ? loader->subset_of[index] : namesake->subset;
    return true;
}

typedef bool (*take_id)(struct comm_loader *loader, struct namesake *namesake, uint32_t id,
                        struct err *err);

// Whether the Comms Ids of an operation's calls show who takes part: those of sends and receives do
// not.
static bool is_unlisted(const struct table *ops, size_t op)
{
    return table_cell(ops, op, COMM_OPS_GROUP_RANKS)->null && !run_comm_is_p2p(kind_of(ops, op));
}

static bool each_comms_id(struct comm_loader *loader, const struct table *ops,
                          const struct table *calls, take_id take, struct err *err)
{
    for (size_t row = 0; row < calls->row_count; row++) {
        const struct cell *id = table_cell(calls, row, COMM_CALLS_COMMS_ID);
        size_t op = (size_t)table_cell(calls, row, COMM_CALLS_OP)->i;
        if (!id->null && op < ops->row_count && is_unlisted(ops, op) &&
            !take(loader, &loader->namesakes[loader->op_of[op]], (uint32_t)id->i, err))
            return false;
    }
    return true;
}

// Ranks that took part in one call are in one group, even if several groups have its name and size.
static bool split_groups(struct run_comm *comm, const struct table *ops, const struct table *calls,
                         struct err *err)
{
    struct comm_loader *loader = comm->loader;
    for (size_t row = 0; row < ops->row_count; row++) {
        if (!find_namesake(comm, ops, row, of_op, &loader->op_of[row], err))
            return false;
        loader->namesakes[loader->op_of[row]].subset = 0;
    }
    return each_comms_id(loader, ops, calls, note_comms_id, err) &&
           each_comms_id(loader, ops, calls, keep_subset, err);
}

// --- all of its operations ----------------------------------------------------------------------

static bool add_ops(struct run_comm *comm, const struct table *ops, const struct table *calls,
                    struct err *err)
{
    struct comm_loader *loader = comm->loader;
    uint32_t *grown =
        grow(comm->budget, loader->op_of, &loader->op_cap, ops->row_count, sizeof *grown, err);
    if (!grown)
        return false;
    loader->op_of = grown;
    if (!split_groups(comm, ops, calls, err))
        return false;
    for (size_t row = 0; row < ops->row_count; row++)
        if (!add_op(comm, ops, row, err))
            return false;
    return true;
}

// In Megatron-LM groups of replicas name the context, too, as their gradients are summed over both,
// and so do those of tensor parallelism, for scales of FP8 and losses of experts.
static bool shares_context(const struct cell *description)
{
    if (description->null)
        return false;
    return str_equal(description->s, STR("mesh_cp")) ||
           (str_find(description->s, STR("CONTEXT_PARALLEL")) != SIZE_MAX &&
            str_find(description->s, STR("DATA_PARALLEL")) == SIZE_MAX &&
            str_find(description->s, STR("TENSOR")) == SIZE_MAX);
}

static bool add_places(struct run_comm *comm, const struct table *groups, struct err *err)
{
    for (size_t row = 0; groups && row < groups->row_count; row++) {
        const struct cell *span = table_cell(groups, row, PROCESS_GROUPS_SPAN);
        const struct cell *description = table_cell(groups, row, PROCESS_GROUPS_DESCRIPTION);
        uint32_t namesake;
        if (!find_namesake(comm, groups, row, of_group, &namesake, err))
            return false;
        comm->loader->namesakes[namesake].context |= shares_context(description);
        for (size_t i = 0; !span->null && i < sizeof span_words / sizeof *span_words; i++)
            if (str_equal(span->s, str_of(span_words[i])))
                comm->loader->namesakes[namesake].span = span_words[i];
    }
    return true;
}

// --- one rank's calls ---------------------------------------------------------------------------

// Far beyond any real time, so that sums and differences of a few stay within 63 bits.
static int64_t plausible(int64_t time_ns, int64_t limit_ns)
{
    return time_ns > limit_ns ? limit_ns : time_ns < -limit_ns ? -limit_ns : time_ns;
}

// A mark's name up to the number after '#'.
static uint64_t hash_mark(const struct cell *name)
{
    struct str text = name->null ? STR("") : name->s;
    size_t number = str_find(text, STR("#"));
    return hash_bytes(text.at, number == SIZE_MAX ? text.len : number);
}

static void add_ratios(struct comm_rank *rank, const struct table *rates)
{
    for (uint32_t i = 0; i < rank->step_count; i++) {
        bool known = rates && i < rates->row_count &&
                     table_cell(rates, i, STEP_RATES_STEP)->i == rank->steps[i].number &&
                     !table_cell(rates, i, STEP_RATES_RATIO)->null;
        rank->steps[i].ratio = known ? table_cell(rates, i, STEP_RATES_RATIO)->f : 1;
    }
}

static bool add_steps(struct run_comm *comm, struct comm_rank *rank, const struct table *steps,
                      struct err *err)
{
    rank->step_count = steps ? (uint32_t)steps->row_count : 0;
    rank->steps = arena_array(&comm->arena, rank->step_count, sizeof *rank->steps, err);
    if (rank->step_count)
        rank->marks = hash_mark(table_cell(steps, 0, STEPS_NAME));
    for (uint32_t i = 0; rank->steps && i < rank->step_count; i++) {
        rank->steps[i].number = table_cell(steps, i, STEPS_STEP)->i;
        rank->steps[i].steady = table_cell(steps, i, STEPS_STEADY)->i != 0;
        rank->steps[i].begin_ns =
            rank->origin_ns + plausible(table_i64(steps, i, STEPS_BEGIN_NS, 0), MAX_TIME_NS);
        rank->steps[i].end_ns = rank->steps[i].begin_ns +
                                plausible(table_i64(steps, i, STEPS_WINDOW_NS, 0), MAX_TIME_NS);
    }
    return rank->steps != NULL;
}

// The step with that number, searched from the previous step on.
static uint32_t find_step(const struct comm_rank *rank, const struct cell *step, uint32_t before)
{
    uint32_t at = before < rank->step_count ? before : 0;
    for (uint32_t i = 0; !step->null && i < rank->step_count; i++) {
        if (rank->steps[at].number == step->i)
            return at;
        at = at + 1 < rank->step_count ? at + 1 : 0;
    }
    return RUN_NONE;
}

static struct comm_event read_call(const struct table *calls, size_t row)
{
    static const unsigned before[BEFORE_COUNT] = {
        [BEFORE_COMPUTE] = COMM_CALLS_COMPUTE_NS,
        [BEFORE_MEMORY] = COMM_CALLS_MEMORY_NS,
        [BEFORE_COMM] = COMM_CALLS_COMM_NS,
        [BEFORE_DATA_LOADING] = COMM_CALLS_DATA_LOADING_NS,
        [BEFORE_HOST] = COMM_CALLS_HOST_NS,
        [BEFORE_IDLE] = COMM_CALLS_IDLE_NS,
    };
    const struct cell *launch = table_cell(calls, row, COMM_CALLS_LAUNCH_NS);
    struct comm_event event = {
        .begin_ns = plausible(table_cell(calls, row, COMM_CALLS_BEGIN_NS)->i, MAX_TIME_NS),
        .dur_ns = plausible(table_cell(calls, row, COMM_CALLS_DUR_NS)->i, MAX_TIME_NS),
        .exposed_ns = table_cell(calls, row, COMM_CALLS_EXPOSED_NS)->i,
        .wait_ns = table_i64(calls, row, COMM_CALLS_SEQUENCE, -1), // until run_match_make
        .kernels = (uint32_t)table_cell(calls, row, COMM_CALLS_KERNELS)->i & MAX_KERNELS,
        .joined = table_cell(calls, row, COMM_CALLS_PART)->i > 0,
        .match = RUN_NONE,
        .launch_ns = launch->null ? INT64_MIN : plausible(launch->i, MAX_TIME_NS),
        .blocked_ns = launch->null ? 0 : table_cell(calls, row, COMM_CALLS_BLOCKED_NS)->i,
    };
    for (int i = 0; i < BEFORE_COUNT; i++)
        event.before_ns[i] = table_cell(calls, row, before[i])->i;
    event.before_ns[BEFORE_IDLE] += table_cell(calls, row, COMM_CALLS_UNRECORDED_NS)->i;
    return event;
}

static bool keep_pieces(struct run_comm *comm, const struct cell *text, struct comm_event *event,
                        struct err *err)
{
    event->exposed_at = text->null ? NULL : arena_strdup(&comm->pieces, text->s, err);
    return text->null || event->exposed_at;
}

static bool add_calls(struct run_comm *comm, struct comm_rank *rank, const struct table *calls,
                      size_t ops, int64_t origin_ns, struct err *err)
{
    rank->events = arena_room(&comm->arena, calls->row_count, sizeof *rank->events, err);
    if (!rank->events)
        return false;
    uint32_t step = 0;
    for (size_t row = 0; row < calls->row_count; row++) {
        struct comm_event *event = &rank->events[row];
        size_t op = (size_t)table_cell(calls, row, COMM_CALLS_OP)->i;
        if (op >= ops)
            return err_set(err, ERR_FORMAT, "call %zu of rank %lld is of operation %zu of %zu", row,
                           (long long)rank->rank, op, ops);
        *event = read_call(calls, row);
        if (!keep_pieces(comm, table_cell(calls, row, COMM_CALLS_EXPOSED_AT), event, err))
            return false;
        event->begin_ns += plausible(origin_ns, MAX_ORIGIN_NS);
        if (event->launch_ns != INT64_MIN)
            event->launch_ns += plausible(origin_ns, MAX_ORIGIN_NS);
        event->op = comm->loader->op_of[op];
        event->joined &= row > 0;
        event->step = find_step(rank, table_cell(calls, row, COMM_CALLS_STEP), step);
        step = event->step == RUN_NONE ? step : event->step;
    }
    rank->count = (uint32_t)calls->row_count;
    return true;
}

bool run_comm_add(struct run_comm *comm, int64_t number_of_rank, const struct report *report,
                  struct err *err)
{
    const struct table *ops = report_find(report, "comm_ops");
    const struct table *calls = report_find(report, "comm_calls");
    const struct table *summary = report_find(report, "summary");
    int64_t origin_ns =
        summary && summary->row_count ? table_i64(summary, 0, SUMMARY_WINDOW_BEGIN_NS, 0) : 0;
    struct comm_rank *rank = &comm->ranks[comm->rank_count++];
    *rank = (struct comm_rank){.rank = number_of_rank,
                               .work_ratio = NAN,
                               .error_ns = -1,
                               .origin_ns = plausible(origin_ns, MAX_ORIGIN_NS)};
    comm->loader->rank = number_of_rank;
    if (!add_steps(comm, rank, report_find(report, "steps"), err))
        return false;
    add_ratios(rank, report_find(report, "step_rates"));
    if (!ops || !calls)
        return true;
    return add_ops(comm, ops, calls, err) &&
           add_places(comm, report_find(report, "process_groups"), err) &&
           add_calls(comm, rank, calls, ops->row_count, origin_ns, err);
}

// --- all ranks ----------------------------------------------------------------------------------

static bool copy_text(struct run_comm *comm, str_id id, struct str *text, struct err *err)
{
    struct str known = strtab_get(&comm->loader->texts, id);
    *text = (struct str){arena_strdup(&comm->arena, known, err), known.len};
    return text->at != NULL;
}

static bool settle_groups(struct run_comm *comm, uint32_t *alias, struct err *err)
{
    struct comm_loader *loader = comm->loader;
    comm->group_count = loader->groups.count;
    comm->groups = arena_array(&comm->arena, comm->group_count, sizeof *comm->groups, err);
    if (!comm->groups)
        return false;
    const struct group_name *keys = (const void *)loader->groups.items;
    for (uint32_t g = 0; g < comm->group_count; g++) {
        const struct namesake *namesake = &loader->namesakes[keys[g].namesake];
        struct comm_group *group = &comm->groups[g];
        *group = (struct comm_group){
            .size = namesake->size, .span = namesake->span, .context = namesake->context};
        alias[g] = !keys[g].list && namesake->listed_count == 1 ? namesake->listed : g;
        if (!copy_text(comm, namesake->name, &group->name, err) ||
            !copy_text(comm, keys[g].list, &group->list, err))
            return false;
    }
    return true;
}

static bool settle_ops(struct run_comm *comm, const uint32_t *alias, struct err *err)
{
    struct comm_loader *loader = comm->loader;
    comm->op_count = loader->ops.count;
    comm->ops = arena_array(&comm->arena, comm->op_count, sizeof *comm->ops, err);
    if (!comm->ops)
        return false;
    const struct op_key *keys = (const void *)loader->ops.items;
    for (uint32_t i = 0; i < comm->op_count; i++) {
        struct comm_op *op = &comm->ops[i];
        *op = (struct comm_op){.group = alias[keys[i].group],
                               .kind = (enum collective_kind)keys[i].kind,
                               .bytes = keys[i].bytes,
                               .peer = keys[i].peer};
        if (!copy_text(comm, keys[i].dtype, &op->dtype, err) ||
            !copy_text(comm, keys[i].phase, &op->phase, err) ||
            !copy_text(comm, keys[i].kernel, &op->kernel, err))
            return false;
    }
    return true;
}

static bool settle(struct run_comm *comm, struct err *err)
{
    uint32_t *alias = arena_array(&comm->arena, comm->loader->groups.count, sizeof *alias, err);
    bool ok = alias && settle_groups(comm, alias, err) && settle_ops(comm, alias, err);
    free_loader(comm);
    return ok;
}

// Ranks that have an event of each group: first how many, then which.
static void visit_callers(struct run_comm *comm, uint32_t *last, uint32_t *const *ranks)
{
    for (uint32_t g = 0; g < comm->group_count; g++) {
        comm->groups[g].rank_count = 0;
        last[g] = RUN_NONE;
    }
    for (uint32_t r = 0; r < comm->rank_count; r++)
        for (uint32_t i = 0; i < comm->ranks[r].count; i++) {
            uint32_t g = comm->ops[comm->ranks[r].events[i].op].group;
            if (last[g] == r)
                continue;
            last[g] = r;
            if (ranks)
                ranks[g][comm->groups[g].rank_count] = r;
            comm->groups[g].rank_count++;
        }
}

static bool find_callers(struct run_comm *comm, struct err *err)
{
    uint32_t *last = arena_array(&comm->arena, comm->group_count, sizeof *last, err);
    uint32_t **ranks = arena_array(&comm->arena, comm->group_count, sizeof *ranks, err);
    if (!last || !ranks)
        return false;
    visit_callers(comm, last, NULL);
    for (uint32_t g = 0; g < comm->group_count; g++) {
        ranks[g] = arena_array(&comm->arena, comm->groups[g].rank_count, sizeof **ranks, err);
        if (!ranks[g])
            return false;
        comm->groups[g].ranks = ranks[g];
    }
    visit_callers(comm, last, ranks);
    return true;
}

static bool match_and_align(struct run_comm *comm, struct err *err)
{
    if (!run_match_make(comm, err) || !run_staged_make(comm, err) || !run_clocks_make(comm, err))
        return false;
    return !comm->has_guesses ||
           (run_match_again(comm, err) && run_staged_make(comm, err) && run_clocks_make(comm, err));
}

bool run_comm_solve(struct run_comm *comm, struct err *err)
{
    bool ok = settle(comm, err) && find_callers(comm, err) && match_and_align(comm, err);
    if (ok)
        run_match_finish(comm);
    ok = ok && run_waits_make(comm, err);
    arena_free(&comm->pieces);
    return ok;
}
