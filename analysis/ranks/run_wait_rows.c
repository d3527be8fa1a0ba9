// SPDX-License-Identifier: Apache-2.0
// The table comm_waits: collectives over all their ranks by group, kind, type and size.
#include "analysis/comm/group_ranks.h"
#include "analysis/stats/rank_list.h"
#include "analysis/report/ranked.h"
#include "analysis/report/row.h"
#include "analysis/ranks/run_comm_stages.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"
#include "analysis/report/tables.h"
#include "ingest/trace/record_set.h"

#define MAX_ROWS 5000 // beyond that, those with the most time are kept
#define MAX_SIZES \
    8 // of all_to_all in one group: more means tokens, whose number differs in every call

// Calls with the same key form one row. Compared as bytes.
struct wait_key {
    int64_t bytes;
    uint64_t dtype; // hash
    uint32_t group, kind;
};

struct wait_row {
    uint32_t op;   // any of its operations
    int64_t bytes; // -1: unknown, or various
    uint32_t first, calls;
    int64_t unmatched, total_ns, wait_ns, exposed_wait_ns, exposed_transfer_ns;
};

struct wait_rows {
    const struct run_comm *comm;
    struct arena scratch;
    struct record_set keys;
    uint32_t *row_of; // per operation
    struct wait_row *rows;
    uint32_t *matches; // steady ones by row
    int64_t *values;   // room for the most calls of a row, twice
    int64_t *numbers;  // room for the ranks of a group
    uint32_t *late;    // per rank, 0 between rows
    uint32_t number_cap;
};

static struct wait_key key_of(const struct comm_op *op)
{
    return (struct wait_key){op->bytes, hash_bytes(op->dtype.at, op->dtype.len), op->group,
                             run_comm_kind(op)};
}

static struct wait_key key_without_size(const struct comm_op *op)
{
    struct wait_key key = key_of(op);
    key.bytes = -1;
    return key;
}

// How many sizes the all_to_all of each group have: per key without size in `families`.
static bool count_sizes(struct wait_rows *all, struct record_set *families, uint32_t *sizes,
                        struct err *err)
{
    const struct run_comm *comm = all->comm;
    struct record_set seen;
    bool ok = true;
    record_set_init(&seen, sizeof(struct wait_key), comm->budget);
    for (uint32_t i = 0; ok && i < comm->op_count; i++) {
        struct wait_key key = key_of(&comm->ops[i]), family = key_without_size(&comm->ops[i]);
        uint32_t known = seen.count, index;
        if (comm->ops[i].kind != KIND_ALL_TO_ALL)
            continue;
        ok = record_set_add(&seen, &key, &index, err) &&
             record_set_add(families, &family, &index, err);
        if (ok)
            sizes[index] += seen.count > known;
    }
    record_set_free(&seen);
    return ok;
}

static bool are_uneven(const struct run_comm *comm, const struct comm_match *match)
{
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        uint32_t op = comm->ranks[member.rank].events[member.event].op;
        if (comm->ops[op].bytes != comm->ops[match->op].bytes)
            return true;
    }
    return false;
}

// Where ranks give different sizes for one all_to_all, none of them is its size.
static void spot_uneven(const struct run_comm *comm, const struct record_set *families,
                        uint32_t *sizes)
{
    for (uint32_t m = 0; families->count > 0 && m < comm->match_count; m++) {
        const struct comm_op *op = &comm->ops[comm->matches[m].op];
        struct wait_key family = key_without_size(op);
        uint32_t index;
        if (op->kind == KIND_ALL_TO_ALL && record_set_find(families, &family, &index) &&
            sizes[index] <= MAX_SIZES && are_uneven(comm, &comm->matches[m]))
            sizes[index] = MAX_SIZES + 1;
    }
}

static bool add_keys(struct wait_rows *all, const struct record_set *families,
                     const uint32_t *sizes, struct err *err)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t i = 0; i < comm->op_count; i++) {
        struct wait_key key = key_of(&comm->ops[i]), family = key_without_size(&comm->ops[i]);
        uint32_t index;
        if (record_set_find(families, &family, &index) && sizes[index] > MAX_SIZES)
            key = family;
        if (!record_set_add(&all->keys, &key, &all->row_of[i], err))
            return false;
        all->rows[all->row_of[i]].op = i;
        all->rows[all->row_of[i]].bytes = key.bytes;
    }
    return true;
}

static bool find_rows(struct wait_rows *all, struct err *err)
{
    const struct run_comm *comm = all->comm;
    uint32_t *sizes = arena_array(&all->scratch, comm->op_count, sizeof *sizes, err);
    all->row_of = arena_room(&all->scratch, comm->op_count, sizeof *all->row_of, err);
    all->rows = arena_array(&all->scratch, comm->op_count, sizeof *all->rows, err);
    if (!sizes || !all->row_of || !all->rows)
        return false;
    struct record_set families;
    record_set_init(&families, sizeof(struct wait_key), comm->budget);
    bool ok = count_sizes(all, &families, sizes, err);
    spot_uneven(comm, &families, sizes);
    ok = ok && add_keys(all, &families, sizes, err);
    record_set_free(&families);
    return ok;
}

static bool counts(const struct run_comm *comm, const struct comm_match *match)
{
    return match->latest_rank != RUN_NONE && run_match_is_steady(comm, match);
}

static void add_match(struct wait_rows *all, const struct comm_match *match)
{
    struct wait_row *row = &all->rows[all->row_of[match->op]];
    row->calls++;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = all->comm->members[match->first + i];
        const struct comm_event *event = &all->comm->ranks[member.rank].events[member.event];
        if (event->joined)
            continue;
        row->total_ns += event->dur_ns;
        row->wait_ns += event->wait_ns;
        row->exposed_wait_ns += event->exposed_wait_ns;
        row->exposed_transfer_ns += event->exposed_ns - event->exposed_wait_ns;
    }
}

static void add_unmatched(struct wait_rows *all)
{
    const struct run_comm *comm = all->comm;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        for (uint32_t i = 0; i < rank->count; i++) {
            const struct comm_event *event = &rank->events[i];
            bool steady = event->step != RUN_NONE && rank->steps[event->step].steady;
            bool known =
                event->match != RUN_NONE && comm->matches[event->match].latest_rank != RUN_NONE;
            all->rows[all->row_of[event->op]].unmatched += steady && !known;
        }
    }
}

static bool list_matches(struct wait_rows *all, struct err *err)
{
    const struct run_comm *comm = all->comm;
    uint32_t sum = 0, most = 0;
    for (uint32_t m = 0; m < comm->match_count; m++)
        if (counts(comm, &comm->matches[m]))
            add_match(all, &comm->matches[m]);
    add_unmatched(all);
    for (uint32_t i = 0; i < all->keys.count; i++) {
        all->rows[i].first = sum;
        sum += all->rows[i].calls;
        most = all->rows[i].calls > most ? all->rows[i].calls : most;
        all->rows[i].calls = 0;
    }
    all->matches = arena_room(&all->scratch, sum, sizeof *all->matches, err);
    all->values = arena_room(&all->scratch, 2 * (size_t)most, sizeof *all->values, err);
    all->late = arena_array(&all->scratch, comm->rank_count, sizeof *all->late, err);
    if (!all->matches || !all->values || !all->late)
        return false;
    for (uint32_t m = 0; m < comm->match_count; m++)
        if (counts(comm, &comm->matches[m])) {
            struct wait_row *row = &all->rows[all->row_of[comm->matches[m].op]];
            all->matches[row->first + row->calls++] = m;
        }
    return true;
}

// --- one row ------------------------------------------------------------------------------------

// Ranks of the group from its list, else those of the run that called it.
static bool add_ranks(struct wait_rows *all, const struct comm_group *group, struct row *row,
                      struct err *err)
{
    struct str list = group->list;
    size_t count = 0, most = list.len / 2 + group->rank_count + 1;
    if (most > all->number_cap) {
        all->numbers = arena_room(&all->scratch, 2 * most, sizeof *all->numbers, err);
        all->number_cap = all->numbers ? (uint32_t)most : 0;
    }
    if (!all->numbers)
        return false;
    while (count < most && group_ranks_next(&list, &all->numbers[count]))
        count++;
    for (uint32_t i = 0; group->list.len == 0 && i < group->rank_count; i++)
        all->numbers[count++] = all->comm->ranks[group->ranks[i]].rank;
    sort_i64(all->numbers, all->numbers + most, count);
    struct buf text = {0};
    rank_list_add(&text, all->numbers, count);
    bool ok = buf_ok(&text, err);
    const char *copy =
        ok ? arena_strdup(&all->scratch, (struct str){text.at, text.len}, err) : NULL;
    buf_free(&text);
    row_word(row, RUN_COMM_WAITS_RANKS, copy);
    return copy != NULL;
}

static int64_t skew_of(const struct run_comm *comm, const struct comm_match *match)
{
    int64_t first_ns = match->latest_ns;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        const struct comm_rank *rank = &comm->ranks[member.rank];
        int64_t begin_ns = run_comm_begin(rank, &rank->events[member.event]);
        first_ns = begin_ns < first_ns ? begin_ns : first_ns;
    }
    return match->latest_ns - first_ns;
}

static void add_bandwidth(enum collective_kind kind, int64_t bytes, int64_t size,
                          int64_t transfer_ns, struct row *row)
{
    bool known = bytes > 0 && transfer_ns > 0;
    double algo = known ? (double)bytes / (double)transfer_ns : 0; // bytes per ns are GB/s
    row_f64_if(row, RUN_COMM_WAITS_ALGO_GBPS, known, algo);
    double factor = bandwidth_bus_factor(kind, size);
    row_f64_if(row, RUN_COMM_WAITS_BUS_GBPS, known, algo * factor);
}

static void add_latest(struct wait_rows *all, const struct wait_row *sums, struct row *row)
{
    const struct run_comm *comm = all->comm;
    const struct comm_match *matches = comm->matches;
    uint32_t best = RUN_NONE, most = 0;
    for (uint32_t i = 0; i < sums->calls; i++) {
        uint32_t rank = matches[all->matches[sums->first + i]].latest_rank;
        uint32_t late = ++all->late[rank];
        if (late > most || (late == most && rank < best)) {
            most = late;
            best = rank;
        }
    }
    for (uint32_t i = 0; i < sums->calls; i++)
        all->late[matches[all->matches[sums->first + i]].latest_rank] = 0;
    row_i64_if(row, RUN_COMM_WAITS_LATEST_RANK, most > 0, most > 0 ? comm->ranks[best].rank : 0);
    row_share(row, RUN_COMM_WAITS_LATEST_SHARE, most, sums->calls);
}

// Minimum transfers, skews and derived figures; all empty without matches.
static void add_distributions(struct wait_rows *all, const struct wait_row *sums, struct row *row)
{
    const struct run_comm *comm = all->comm;
    const struct comm_op *op = &comm->ops[sums->op];
    uint32_t calls = sums->calls;
    for (uint32_t i = 0; i < calls; i++)
        all->values[i] = comm->matches[all->matches[sums->first + i]].transfer_ns;
    struct quantiles transfer = stats_quantiles(all->values, all->values + calls, calls);
    for (uint32_t i = 0; i < calls; i++)
        all->values[i] = skew_of(comm, &comm->matches[all->matches[sums->first + i]]);
    struct quantiles skew = stats_quantiles(all->values, all->values + calls, calls);
    row_i64_if(row, RUN_COMM_WAITS_TRANSFER_MEDIAN_NS, calls > 0, transfer.median);
    row_i64_if(row, RUN_COMM_WAITS_TRANSFER_P95_NS, calls > 0, transfer.p95);
    row_i64_if(row, RUN_COMM_WAITS_SKEW_MEDIAN_NS, calls > 0, skew.median);
    row_i64_if(row, RUN_COMM_WAITS_SKEW_P95_NS, calls > 0, skew.p95);
    add_bandwidth(run_comm_kind(op), sums->bytes, comm->groups[op->group].size,
                  calls ? transfer.median : 0, row);
    add_latest(all, sums, row);
}

// Whether the ranks that called it are known to be one group: not without a name, nor if more ranks
// than its size have called and no list separates them.
static bool is_one_group(const struct comm_group *group)
{
    bool fits = group->size < 0 || group->rank_count <= group->size;
    return group->name.len > 0 && (group->list.len > 0 || fits);
}

static bool add_row(struct wait_rows *all, const struct wait_row *sums, struct report *report,
                    struct err *err)
{
    const struct comm_op *op = &all->comm->ops[sums->op];
    const struct comm_group *group = &all->comm->groups[op->group];
    struct row row = {.desc = &table_run_comm_waits};
    row_text_if(&row, RUN_COMM_WAITS_PROCESS_GROUP, group->name.len > 0, group->name);
    row_word(&row, RUN_COMM_WAITS_DIMENSION, group->dimension);
    // Else it is unknown which ranks took part.
    if (is_one_group(group) && !add_ranks(all, group, &row, err))
        return false;
    row_i64_if(&row, RUN_COMM_WAITS_GROUP_SIZE, group->size >= 0, group->size);
    row_word(&row, RUN_COMM_WAITS_KIND, bandwidth_kind_word(run_comm_kind(op)));
    row_text_if(&row, RUN_COMM_WAITS_DTYPE, op->dtype.len > 0, op->dtype);
    row_i64_if(&row, RUN_COMM_WAITS_BYTES, sums->bytes >= 0, sums->bytes);
    row_word(&row, RUN_COMM_WAITS_SPAN, group->span);
    row_i64(&row, RUN_COMM_WAITS_CALLS, sums->calls);
    row_i64(&row, RUN_COMM_WAITS_UNMATCHED_CALLS, sums->unmatched);
    row_i64(&row, RUN_COMM_WAITS_TOTAL_NS, sums->total_ns);
    bool known = sums->calls > 0; // otherwise it is unknown who waited
    row_i64_if(&row, RUN_COMM_WAITS_WAIT_NS, known, sums->wait_ns);
    row_i64_if(&row, RUN_COMM_WAITS_TRANSFER_NS, known, sums->total_ns - sums->wait_ns);
    row_i64_if(&row, RUN_COMM_WAITS_EXPOSED_WAIT_NS, known, sums->exposed_wait_ns);
    row_i64_if(&row, RUN_COMM_WAITS_EXPOSED_TRANSFER_NS, known, sums->exposed_transfer_ns);
    add_distributions(all, sums, &row);
    return row_end(&row, report, err);
}

static bool add_rows(struct wait_rows *all, struct report *report, struct err *err)
{
    uint32_t count = 0;
    struct ranked *order = arena_room(&all->scratch, all->keys.count, sizeof *order, err);
    if (!order)
        return false;
    for (uint32_t i = 0; i < all->keys.count; i++)
        if (all->rows[i].calls || all->rows[i].unmatched)
            order[count++] = (struct ranked){all->rows[i].total_ns, {NULL, 0}, i};
    ranked_sort(order, count);
    for (uint32_t i = 0; i < count && i < MAX_ROWS; i++)
        if (!add_row(all, &all->rows[order[i].index], report, err))
            return false;
    return true;
}

bool run_waits_add(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct wait_rows all = {.comm = comm};
    arena_init(&all.scratch, comm->budget);
    record_set_init(&all.keys, sizeof(struct wait_key), comm->budget);
    bool ok = find_rows(&all, err) && list_matches(&all, err) && add_rows(&all, report, err);
    record_set_free(&all.keys);
    arena_free(&all.scratch);
    return ok;
}
