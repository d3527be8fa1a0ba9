// SPDX-License-Identifier: Apache-2.0
// A span is what one rank, later all ranks, did for a role in a step. Spans of all ranks are put in
// order by the ranks' own clocks; the time between them is waiting.
#include "analysis/run/run_roles.h"

#include "analysis/report/tables.h"

#include <stdlib.h>

enum { OF_TRACE = 1, OF_RANGES = 2 };
enum { COMPUTE, COMMUNICATION, COPY, IDLE, TIMES };

struct role_span {
    uint32_t role;
    int64_t step;  // NO_STEP without steps, and for what a rank with steps does outside of them
    bool outside;  // the latter: from before the first to after the last
    int64_t ranks; // the rank; once merged, how many
    int64_t begin_ns, end_ns;
    int64_t ns[TIMES];
    int64_t wait_ns; // once in order
    uint32_t after;  // a role, or NO_ROLE
};

#define NO_STEP INT64_MIN
#define NO_ROLE UINT32_MAX

void run_roles_open(struct run_roles *roles, struct budget *budget)
{
    *roles = (struct run_roles){0};
    arena_init(&roles->arena, budget);
}

void run_roles_close(struct run_roles *roles)
{
    arena_free(&roles->arena);
}

// --- spans of ranks -----------------------------------------------------------------------------

static bool find_name(struct run_roles *roles, struct str name, uint8_t basis, uint32_t *role,
                      struct err *err)
{
    for (*role = 0; *role < roles->name_count; ++*role)
        if (str_equal(roles->names[*role], name))
            break;
    if (*role == RUN_MOST_ROLES)
        return true;
    if (*role == roles->name_count) {
        char *copy = arena_strdup(&roles->arena, name, err);
        if (!copy)
            return false;
        roles->names[roles->name_count++] = (struct str){copy, name.len};
    }
    roles->basis[*role] |= basis;
    return true;
}

static bool add_span(struct run_roles *roles, const struct role_span *span, struct err *err)
{
    if (span->role == RUN_MOST_ROLES)
        return true;
    if (roles->count == roles->cap) {
        size_t cap = roles->cap ? 2 * roles->cap : 64;
        struct role_span *spans = arena_grow(&roles->arena, roles->spans,
                                             roles->cap * sizeof *spans, cap * sizeof *spans, err);
        if (!spans)
            return false;
        roles->spans = spans;
        roles->cap = cap;
    }
    roles->spans[roles->count++] = *span;
    return true;
}

static int64_t later(int64_t time_ns, int64_t by_ns)
{
    int64_t sum_ns;
    return __builtin_add_overflow(time_ns, by_ns, &sum_ns) ? INT64_MAX : sum_ns;
}

static int64_t between(int64_t from_ns, int64_t to_ns)
{
    int64_t length_ns;
    return __builtin_sub_overflow(to_ns, from_ns, &length_ns) ? INT64_MAX : length_ns;
}

// The trace has one role: all that its steps did.
static bool add_trace(struct run_roles *roles, struct role_span span, const struct table *steps,
                      int64_t window_ns, struct err *err)
{
    for (size_t i = 0; steps && i < steps->row_count; i++) {
        struct parts parts = parts_read(steps, i, STEPS_TIMES);
        span.step = table_i64(steps, i, STEPS_STEP, NO_STEP);
        span.begin_ns = later(window_ns, table_i64(steps, i, STEPS_BEGIN_NS, 0));
        span.end_ns = later(span.begin_ns, parts_window_ns(&parts));
        span.ns[COMPUTE] = parts_compute_ns(&parts);
        span.ns[COMMUNICATION] = parts.bar_ns[BAR_EXPOSED_COMM];
        span.ns[COPY] = parts.bar_ns[BAR_EXPOSED_MEMORY];
        span.ns[IDLE] = parts_idle_ns(&parts);
        if (span.begin_ns < span.end_ns && !add_span(roles, &span, err))
            return false;
    }
    return true;
}

static bool has_steps(const struct table *rows)
{
    for (size_t i = 0; rows && i < rows->row_count; i++)
        if (!table_cell(rows, i, ROLE_STEPS_STEP)->null)
            return true;
    return false;
}

static bool add_ranges(struct run_roles *roles, struct role_span span, const struct table *rows,
                       int64_t window_ns, struct err *err)
{
    static const unsigned columns[TIMES] = {ROLE_STEPS_COMPUTE_NS, ROLE_STEPS_COMMUNICATION_NS,
                                            ROLE_STEPS_COPY_NS, ROLE_STEPS_IDLE_NS};
    bool in_steps = has_steps(rows);
    for (size_t i = 0; rows && i < rows->row_count; i++) {
        if (table_cell(rows, i, ROLE_STEPS_BEGIN_NS)->null)
            continue;
        if (!find_name(roles, table_text(rows, i, ROLE_STEPS_ROLE), OF_RANGES, &span.role, err))
            return false;
        span.step = table_i64(rows, i, ROLE_STEPS_STEP, NO_STEP);
        span.outside = in_steps && span.step == NO_STEP;
        span.begin_ns = later(window_ns, table_i64(rows, i, ROLE_STEPS_BEGIN_NS, 0));
        span.end_ns = later(window_ns, table_i64(rows, i, ROLE_STEPS_END_NS, 0));
        for (int t = 0; t < TIMES; t++)
            span.ns[t] = table_i64(rows, i, columns[t], 0);
        if (!add_span(roles, &span, err))
            return false;
    }
    return true;
}

bool run_roles_add(struct run_roles *roles, const struct run *run, size_t rank,
                   const struct report *report, struct err *err)
{
    struct role_span span = {.ranks = run->ranks[rank]};
    int64_t window_ns = run_summary_i64(run, rank, SUMMARY_WINDOW_BEGIN_NS, 0);
    struct str given = run->source->roles ? run->source->roles[rank] : STR("");
    if (given.len == 0)
        return add_ranges(roles, span, report_find(report, "role_steps"), window_ns, err);
    return find_name(roles, given, OF_TRACE, &span.role, err) &&
           add_trace(roles, span, report_find(report, "steps"), window_ns, err);
}

// --- spans of all ranks -------------------------------------------------------------------------

static int order_of(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_step_and_role(const void *left, const void *right)
{
    const struct role_span *a = left, *b = right;
    int order = order_of(a->step, b->step);
    order = order ? order : order_of(a->outside, b->outside);
    order = order ? order : order_of(a->role, b->role);
    return order ? order : order_of(a->ranks, b->ranks);
}

static int by_time(const void *left, const void *right)
{
    const struct role_span *a = left, *b = right;
    int order = order_of(a->begin_ns, b->begin_ns);
    return order ? order : by_step_and_role(left, right);
}

static void add_to(struct role_span *sum, const struct role_span *span)
{
    sum->begin_ns = span->begin_ns < sum->begin_ns ? span->begin_ns : sum->begin_ns;
    sum->end_ns = span->end_ns > sum->end_ns ? span->end_ns : sum->end_ns;
    for (int t = 0; t < TIMES; t++)
        sum->ns[t] = later(sum->ns[t], span->ns[t]);
}

// One span for each step and role, in `merged`; how many.
static size_t merge(struct role_span *spans, size_t count, struct role_span *merged)
{
    size_t made = 0;
    if (count)
        qsort(spans, count, sizeof *spans, by_step_and_role);
    for (size_t i = 0; i < count; i++) {
        struct role_span *last = made ? &merged[made - 1] : NULL;
        bool same = last && last->step == spans[i].step && last->role == spans[i].role &&
                    last->outside == spans[i].outside;
        if (!same) {
            merged[made] = spans[i];
            merged[made++].ranks = 1;
            continue;
        }
        last->ranks += spans[i].ranks != spans[i - 1].ranks;
        add_to(last, &spans[i]);
    }
    return made;
}

// Time in which no role works is a wait of the one that works next.
static void find_waits(struct role_span *spans, size_t count)
{
    if (count)
        qsort(spans, count, sizeof *spans, by_time);
    const struct role_span *last = NULL;
    for (size_t i = 0; i < count; i++) {
        struct role_span *span = &spans[i];
        int64_t wait_ns;
        span->after = NO_ROLE;
        span->wait_ns = 0;
        if (span->outside)
            continue;
        if (last && !__builtin_sub_overflow(span->begin_ns, last->end_ns, &wait_ns))
            span->wait_ns = wait_ns > 0 ? wait_ns : 0;
        span->after = last ? last->role : NO_ROLE;
        last = !last || span->end_ns >= last->end_ns ? span : last;
    }
}

// --- rows ---------------------------------------------------------------------------------------

static bool add_step(const struct run_roles *roles, const struct role_span *spans, size_t index,
                     const struct run *run, struct err *err)
{
    const struct role_span *span = &spans[index];
    struct row row = {.desc = &table_run_role_steps};
    row_i64_if(&row, RUN_ROLE_STEPS_STEP, span->step != NO_STEP, span->step);
    row_text(&row, RUN_ROLE_STEPS_ROLE, roles->names[span->role]);
    row_i64(&row, RUN_ROLE_STEPS_RANKS, span->ranks);
    row_i64(&row, RUN_ROLE_STEPS_BEGIN_NS, between(spans[0].begin_ns, span->begin_ns));
    row_i64(&row, RUN_ROLE_STEPS_END_NS, between(spans[0].begin_ns, span->end_ns));
    row_i64(&row, RUN_ROLE_STEPS_COMPUTE_NS, span->ns[COMPUTE]);
    row_i64(&row, RUN_ROLE_STEPS_COMMUNICATION_NS, span->ns[COMMUNICATION]);
    row_i64(&row, RUN_ROLE_STEPS_COPY_NS, span->ns[COPY]);
    row_i64(&row, RUN_ROLE_STEPS_IDLE_NS, span->ns[IDLE]);
    row_i64(&row, RUN_ROLE_STEPS_WAIT_NS, span->wait_ns);
    row_text_if(&row, RUN_ROLE_STEPS_AFTER, span->after != NO_ROLE,
                span->after != NO_ROLE ? roles->names[span->after] : STR(""));
    return row_end(&row, run->report, err);
}

struct role_sum {
    struct role_span sum;
    bool works;
    int64_t steps, shared, span_ns;
    int64_t wait_after[RUN_MOST_ROLES];
};

// Whether another role worked in the step as well.
static bool is_shared(const struct role_span *spans, size_t count, const struct role_span *span)
{
    for (size_t i = 0; i < count; i++)
        if (spans[i].step == span->step && spans[i].role != span->role)
            return true;
    return false;
}

// spans by step and role, so that those of a step are neighbors.
static void sum_steps(const struct role_span *spans, size_t count, struct role_sum *sums)
{
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && spans[to].step == spans[from].step;)
            to++;
        for (size_t i = from; i < to; i++) {
            struct role_sum *sum = &sums[spans[i].role];
            sum->works = true;
            sum->steps += spans[i].step != NO_STEP;
            sum->shared +=
                spans[i].step != NO_STEP && is_shared(spans + from, to - from, &spans[i]);
            if (!spans[i].outside)
                sum->span_ns = later(sum->span_ns, between(spans[i].begin_ns, spans[i].end_ns));
            add_to(&sum->sum, &spans[i]);
        }
    }
}

static void sum_waits(const struct role_span *spans, size_t count, struct role_sum *sums)
{
    for (size_t i = 0; i < count; i++) {
        struct role_sum *sum = &sums[spans[i].role];
        if (spans[i].after == NO_ROLE)
            continue;
        sum->sum.wait_ns = later(sum->sum.wait_ns, spans[i].wait_ns);
        sum->wait_after[spans[i].after] = later(sum->wait_after[spans[i].after], spans[i].wait_ns);
    }
}

static uint32_t most_waited_for(const struct role_sum *sum)
{
    uint32_t most = 0;
    for (uint32_t r = 1; r < RUN_MOST_ROLES; r++)
        most = sum->wait_after[r] > sum->wait_after[most] ? r : most;
    return most;
}

static int64_t count_ranks(const struct run_roles *roles, uint32_t role)
{
    int64_t ranks = 0, last = -1;
    for (size_t i = 0; i < roles->count; i++) { // in the order of ranks
        if (roles->spans[i].role != role)
            continue;
        ranks += roles->spans[i].ranks != last;
        last = roles->spans[i].ranks;
    }
    return ranks;
}

static bool add_role(const struct run_roles *roles, uint32_t role, const struct role_sum *sum,
                     const struct run *run, struct err *err)
{
    static const char *const bases[] = {"", "trace", "ranges", "both"};
    struct row row = {.desc = &table_run_roles};
    row_text(&row, RUN_ROLES_ROLE, roles->names[role]);
    row_word(&row, RUN_ROLES_BASIS, bases[roles->basis[role]]);
    row_i64(&row, RUN_ROLES_RANKS, count_ranks(roles, role));
    row_i64_if(&row, RUN_ROLES_STEPS, sum->steps > 0, sum->steps);
    row_i64_if(&row, RUN_ROLES_SHARED_STEPS, sum->steps > 0, sum->shared);
    row_i64(&row, RUN_ROLES_SPAN_NS, sum->span_ns);
    row_i64(&row, RUN_ROLES_COMPUTE_NS, sum->sum.ns[COMPUTE]);
    row_i64(&row, RUN_ROLES_COMMUNICATION_NS, sum->sum.ns[COMMUNICATION]);
    row_i64(&row, RUN_ROLES_COPY_NS, sum->sum.ns[COPY]);
    row_i64(&row, RUN_ROLES_IDLE_NS, sum->sum.ns[IDLE]);
    row_i64(&row, RUN_ROLES_WAIT_NS, sum->sum.wait_ns);
    row_text_if(&row, RUN_ROLES_AFTER, sum->sum.wait_ns > 0, roles->names[most_waited_for(sum)]);
    return row_end(&row, run->report, err);
}

// spans: room for as many as there are.
static bool write(const struct run_roles *roles, const struct run *run, struct role_span *spans,
                  struct role_sum *sums, struct err *err)
{
    size_t count = merge(memcpy(spans, roles->spans, roles->count * sizeof *spans), roles->count,
                         spans + roles->count);
    spans += roles->count;
    sum_steps(spans, count, sums);
    find_waits(spans, count);
    sum_waits(spans, count, sums);
    for (uint32_t r = 0; r < roles->name_count; r++)
        if (sums[r].works && !add_role(roles, r, &sums[r], run, err))
            return false;
    for (size_t i = 0; i < count; i++)
        if (!add_step(roles, spans, i, run, err))
            return false;
    return true;
}

bool run_roles_write(const struct run_roles *roles, const struct run *run, struct err *err)
{
    if (roles->name_count < 2 || roles->count == 0)
        return true;
    struct arena scratch;
    arena_init(&scratch, run->budget);
    struct role_span *spans = arena_array(&scratch, 2 * roles->count, sizeof *spans, err);
    struct role_sum *sums = arena_array(&scratch, RUN_MOST_ROLES, sizeof *sums, err);
    bool ok = spans && sums && write(roles, run, spans, sums, err);
    arena_free(&scratch);
    return ok;
}
