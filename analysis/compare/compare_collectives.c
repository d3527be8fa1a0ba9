// SPDX-License-Identifier: Apache-2.0
// Communication of both sides by kind, group, type and size.
#include "analysis/compare/compare_pair.h"
#include "analysis/report/tables.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NS 0x1p55

// Rows with equal kind, role, group size, type and size class, first of one side only.
struct call {
    struct str kind, role, dtype, size_class;
    int64_t group_size; // -1 if unknown
    // Over the weighed steps of the side's runs; then per step.
    double calls[SIDES], ns[SIDES], exposed_ns[SIDES];
    double bytes[SIDES], bus[SIDES]; // bandwidths weighted by bytes, over rows that have both
    bool has[SIDES];
};

struct calls {
    struct call *at;
    size_t count;
};

// The role of a process group's ranks, from the run's collectives.
struct role {
    struct str group, dimension;
};

struct roles {
    struct role *at;
    size_t count;
};

static int compare_groups(const void *a, const void *b)
{
    const struct role *x = a, *y = b;
    return str_compare(x->group, y->group);
}

static bool read_roles(const struct compare_run *run, struct arena *arena, struct roles *roles,
                       struct err *err)
{
    const struct table *waits = report_find(run->run, "comm_waits");
    size_t count = waits ? waits->row_count : 0;
    *roles = (struct roles){arena_array(arena, count + 1, sizeof *roles->at, err), count};
    if (!roles->at)
        return false;
    for (size_t i = 0; i < count; i++)
        roles->at[i] = (struct role){table_text(waits, i, RUN_COMM_WAITS_PROCESS_GROUP),
                                     table_text(waits, i, RUN_COMM_WAITS_DIMENSION)};
    qsort(roles->at, count, sizeof *roles->at, compare_groups);
    return true;
}

static struct str role_of(const struct roles *roles, struct str group)
{
    const struct role key = {.group = group};
    const struct role *found =
        bsearch(&key, roles->at, roles->count, sizeof *roles->at, compare_groups);
    return group.len && found ? found->dimension : STR("");
}

// each: steps that the run counts as, weight: these by those that it has.
static struct call read_call(const struct table *sizes, size_t row, int side, double each,
                             double weight)
{
    const struct cell *group_size = table_cell(sizes, row, COMM_SIZES_GROUP_SIZE);
    struct call call = {.kind = table_text(sizes, row, COMM_SIZES_KIND),
                        .dtype = table_text(sizes, row, COMM_SIZES_DTYPE),
                        .size_class = table_text(sizes, row, COMM_SIZES_SIZE_CLASS),
                        .group_size = group_size->null ? -1 : group_size->i};
    double bus = table_number(sizes, row, COMM_SIZES_BUS_GBPS, 0),
           bytes = table_number(sizes, row, COMM_SIZES_BYTES, 0);
    call.has[side] = true;
    call.calls[side] = table_number(sizes, row, COMM_SIZES_CALLS_PER_STEP, 0) * each;
    call.ns[side] = table_number(sizes, row, COMM_SIZES_STEADY_NS, 0) * weight;
    call.exposed_ns[side] = table_number(sizes, row, COMM_SIZES_STEADY_EXPOSED_NS, 0) * weight;
    call.bytes[side] = bus > 0 ? bytes : 0;
    call.bus[side] = bus > 0 ? bus * bytes : 0;
    return call;
}

static bool read_side(const struct pair *pair, int side, struct calls *calls, struct err *err)
{
    const struct compare_pool *pool = pair->sides[side];
    for (size_t r = 0; r < pool->count; r++) {
        const struct compare_run *run = pool->runs[r].from;
        const struct table *sizes = report_find(run->rank, "comm_sizes");
        double each = (double)pool->each_steps, steps = (double)pool->runs[r].steps;
        struct roles roles;
        if (!read_roles(run, pair->scratch, &roles, err))
            return false;
        for (size_t i = 0; sizes && steps > 0 && i < sizes->row_count; i++) {
            struct call call = read_call(sizes, i, side, each, each / steps);
            call.role = role_of(&roles, table_text(sizes, i, COMM_SIZES_PROCESS_GROUP));
            calls->at[calls->count++] = call;
        }
    }
    return true;
}

// SAYS_OTHER: a type other than "Byte", which is also that of sizes whose type is not recorded.
enum { SAYS_ROLE = 1, SAYS_GROUP_SIZE = 2, SAYS_DTYPE = 4, SAYS_SIZE = 8, SAYS_OTHER = 16 };

static unsigned said_by(const struct call *call)
{
    bool is_other = call->dtype.len && !str_equal(call->dtype, STR("Byte"));
    return (call->role.len ? SAYS_ROLE : 0) | (call->group_size >= 0 ? SAYS_GROUP_SIZE : 0) |
           (call->dtype.len ? SAYS_DTYPE : 0) | (call->size_class.len ? SAYS_SIZE : 0) |
           (is_other ? SAYS_OTHER : 0);
}

static void forget(struct call *call, unsigned what)
{
    call->role = what & SAYS_ROLE ? STR("") : call->role;
    call->group_size = what & SAYS_GROUP_SIZE ? -1 : call->group_size;
    call->dtype = what & SAYS_DTYPE ? STR("") : call->dtype;
    call->size_class = what & SAYS_SIZE ? STR("") : call->size_class;
}

// What no call of one side says, such as sizes where a profiler records kernels alone, is left out
// on both: otherwise its rows would be on one side only.
static void forget_unknown(struct calls *calls)
{
    unsigned said[SIDES] = {0};
    bool has[SIDES] = {false};
    for (size_t i = 0; i < calls->count; i++)
        for (int side = 0; side < SIDES; side++) {
            has[side] |= calls->at[i].has[side];
            said[side] |= calls->at[i].has[side] ? said_by(&calls->at[i]) : 0;
        }
    unsigned unknown = ~(said[BASE] & said[CAND]);
    if ((said[BASE] ^ said[CAND]) & SAYS_OTHER)
        unknown |= SAYS_DTYPE;
    for (size_t i = 0; has[BASE] && has[CAND] && i < calls->count; i++)
        forget(&calls->at[i], unknown);
}

static int compare_keys(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    int order = str_compare(x->kind, y->kind);
    order = order ? order : str_compare(x->role, y->role);
    order = order ? order : (x->group_size > y->group_size) - (x->group_size < y->group_size);
    order = order ? order : str_compare(x->dtype, y->dtype);
    return order ? order : str_compare(x->size_class, y->size_class);
}

static void join(struct call *into, const struct call *from)
{
    for (int side = 0; side < SIDES; side++) {
        into->has[side] |= from->has[side];
        into->calls[side] += from->calls[side];
        into->ns[side] += from->ns[side];
        into->exposed_ns[side] += from->exposed_ns[side];
        into->bytes[side] += from->bytes[side];
        into->bus[side] += from->bus[side];
    }
}

static void join_equal(struct calls *calls)
{
    size_t kept = 0;
    qsort(calls->at, calls->count, sizeof *calls->at, compare_keys);
    for (size_t i = 0; i < calls->count; i++) {
        if (kept && compare_keys(&calls->at[kept - 1], &calls->at[i]) == 0)
            join(&calls->at[kept - 1], &calls->at[i]);
        else
            calls->at[kept++] = calls->at[i];
    }
    calls->count = kept;
}

// Largest differences of exposed time first, then of time.
static int compare_deltas(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    double dx = fabs(x->exposed_ns[CAND] - x->exposed_ns[BASE]);
    double dy = fabs(y->exposed_ns[CAND] - y->exposed_ns[BASE]);
    if (dx != dy)
        return dx > dy ? -1 : 1;
    dx = fabs(x->ns[CAND] - x->ns[BASE]);
    dy = fabs(y->ns[CAND] - y->ns[BASE]);
    return dx != dy ? (dx > dy ? -1 : 1) : compare_keys(a, b);
}

static void per_step(const struct pair *pair, struct calls *calls)
{
    for (int side = 0; side < SIDES; side++) {
        const struct compare_pool *pool = pair->sides[side];
        double factor =
            compare_pool_factor(pool) / (pool->weighed_steps ? (double)pool->weighed_steps : 1);
        for (size_t i = 0; i < calls->count; i++) {
            calls->at[i].calls[side] *= factor;
            calls->at[i].ns[side] *= factor;
            calls->at[i].exposed_ns[side] *= factor;
        }
    }
}

// The columns of the base, the candidate and their difference, in this order.
static void add_times(struct row *row, unsigned column, const struct call *call,
                      const double ns[SIDES])
{
    int64_t whole[SIDES];
    for (int side = 0; side < SIDES; side++) {
        whole[side] = llround(fmin(fmax(ns[side], 0), MOST_NS));
        row_i64_if(row, column + side, call->has[side], whole[side]);
    }
    row_i64(row, column + SIDES, whole[CAND] - whole[BASE]);
}

static bool add_call(const struct pair *pair, const struct call *call, struct err *err)
{
    struct row row = {.desc = &table_compare_collectives};
    row_i64(&row, COMPARE_COLLECTIVES_CAND, pair->number);
    row_text(&row, COMPARE_COLLECTIVES_KIND, call->kind);
    row_text_if(&row, COMPARE_COLLECTIVES_ROLE, call->role.len != 0, call->role);
    row_i64_if(&row, COMPARE_COLLECTIVES_GROUP_SIZE, call->group_size >= 0, call->group_size);
    row_text_if(&row, COMPARE_COLLECTIVES_DTYPE, call->dtype.len != 0, call->dtype);
    row_text_if(&row, COMPARE_COLLECTIVES_SIZE_CLASS, call->size_class.len != 0, call->size_class);
    for (int side = 0; side < SIDES; side++)
        row_f64_if(&row, COMPARE_COLLECTIVES_BASE_CALLS + side, call->has[side], call->calls[side]);
    add_times(&row, COMPARE_COLLECTIVES_BASE_NS, call, call->ns);
    add_times(&row, COMPARE_COLLECTIVES_BASE_EXPOSED_NS, call, call->exposed_ns);
    for (int side = 0; side < SIDES; side++)
        row_f64_if(&row, COMPARE_COLLECTIVES_BASE_BUS_GBPS + side, call->bytes[side] > 0,
                   call->bytes[side] > 0 ? call->bus[side] / call->bytes[side] : 0);
    return row_end(&row, pair->report, err);
}

bool compare_collectives_write(const struct pair *pair, struct err *err)
{
    size_t room = compare_side_rows(pair->sides[BASE]->side, true, "comm_sizes") +
                  compare_side_rows(pair->sides[CAND]->side, true, "comm_sizes");
    struct calls calls = {arena_array(pair->scratch, room + 1, sizeof *calls.at, err), 0};
    if (!calls.at)
        return false;
    for (int side = 0; side < SIDES; side++)
        if (!read_side(pair, side, &calls, err))
            return false;
    forget_unknown(&calls);
    join_equal(&calls);
    per_step(pair, &calls);
    qsort(calls.at, calls.count, sizeof *calls.at, compare_deltas);
    for (size_t i = 0; i < calls.count; i++)
        if (!add_call(pair, &calls.at[i], err))
            return false;
    return true;
}
