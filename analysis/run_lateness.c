// SPDX-License-Identifier: Apache-2.0
// For whom the others waited, what that rank did meanwhile, and who kept it waiting in turn: the
// table lateness.
#include "analysis/ranked.h"
#include "analysis/row.h"
#include "analysis/run_comm_stages.h"
#include "analysis/tables.h"

#define SAMPLE_MAX    64  // others that a late rank is compared with
#define CHAIN_MAX     64  // groups that blame passes through
#define PASS_SHARE    0.5 // of its lateness that a rank must have waited to pass all blame on
#define REASON_SHARE  0.1 // of lateness that a reason explains at least
#define NOISE_NS      1000
#define MEANING_TIMES 3 // lateness below that many alignment errors has no reason

// What may make a rank late; in order of the words below.
enum reason {
    REASON_SLOWER,
    REASON_MORE_WORK,
    REASON_DATA_LOADING,
    REASON_HOST,
    REASON_COPIES,
    REASON_COMMUNICATION,
    REASON_UNKNOWN,
    REASON_COUNT
};

static const char *const reason_words[REASON_COUNT] = {
    "compute_slower", "more_work", "data_loading", "host", "copies", "communication", "unknown",
};

// What a rank did between two collectives of a group.
struct segment {
    int64_t ns[BEFORE_COUNT]; // communication without that of the collective before
    int64_t kernels;
    int64_t waited_ns; // exposed, in other collectives
};

#define SEGMENT_FIELDS (BEFORE_COUNT + 2)

struct rank_blame {
    int64_t calls, late_calls, lateness_ns, caused_ns;
    int64_t excess_ns[BEFORE_COUNT];
    double reason_ns[REASON_COUNT];
    uint32_t group; // in which it caused most
    int64_t group_ns;
};

// Whose fault the begin of a match was: `share` of it that of the match `cause`, in which the last
// rank was kept waiting; the rest its own.
struct match_blame {
    uint32_t cause; // RUN_NONE: nobody else's
    float share;
    int64_t caused_ns; // 0 unless the match counts
};

// The late rank of a group's match before, and what made it late then.
struct carried {
    uint32_t rank;
    int64_t lateness_ns;
    double reason_ns[REASON_COUNT];
};

struct blame {
    const struct run_comm *comm;
    struct rank_blame *ranks;
    struct match_blame *matches;
    int64_t **waited; // per rank and event: exposed waits of the events before it
    uint32_t *before; // per rank: its event in the match of the group before, RUN_NONE without
    int64_t *caused;  // per rank: in the group at hand
    int64_t *values;  // room for one per rank, twice
    struct carried carried;
};

static const struct comm_event *event_of(const struct run_comm *comm, struct comm_member member)
{
    return &comm->ranks[member.rank].events[member.event];
}

static int64_t exposed_wait(const struct comm_event *event)
{
    return event->exposed_ns < event->wait_ns ? event->exposed_ns : event->wait_ns;
}

// --- segments -----------------------------------------------------------------------------------

static struct segment segment_of(const struct blame *blame, struct comm_member member)
{
    const struct comm_event *events = blame->comm->ranks[member.rank].events;
    uint32_t from = blame->before[member.rank], to = member.event;
    struct segment segment = {
        .kernels = (int64_t)events[to].kernels - events[from].kernels,
        .waited_ns = blame->waited[member.rank][to] - blame->waited[member.rank][from] -
                     exposed_wait(&events[from]),
    };
    for (int i = 0; i < BEFORE_COUNT; i++)
        segment.ns[i] = events[to].before_ns[i] - events[from].before_ns[i];
    segment.ns[BEFORE_COMM] -= events[from].exposed_ns;
    return segment;
}

static int64_t *field(struct segment *segment, int index)
{
    return index < BEFORE_COUNT    ? &segment->ns[index]
           : index == BEFORE_COUNT ? &segment->kernels
                                   : &segment->waited_ns;
}

// Medians of what the others did, part by part; false when nobody can be compared with.
static bool others_did(const struct blame *blame, const struct comm_match *match,
                       struct segment *median)
{
    struct segment others[SAMPLE_MAX];
    uint32_t count = 0, stride = 1 + (match->count - 1) / SAMPLE_MAX;
    for (uint32_t i = 0; i < match->count && count < SAMPLE_MAX; i += stride) {
        struct comm_member member = blame->comm->members[match->first + i];
        if (member.rank != match->latest_rank && blame->before[member.rank] != RUN_NONE)
            others[count++] = segment_of(blame, member);
    }
    for (int f = 0; f < SEGMENT_FIELDS; f++) {
        int64_t values[SAMPLE_MAX], scratch[SAMPLE_MAX];
        for (uint32_t i = 0; i < count; i++)
            values[i] = *field(&others[i], f);
        *field(median, f) = run_median(values, scratch, count);
    }
    return count > 0;
}

// What the last rank did more than the others; nothing when it cannot be told.
static struct segment excess_of(const struct blame *blame, const struct comm_match *match,
                                struct comm_member late)
{
    struct segment median = {0}, excess = {0};
    if (blame->before[late.rank] == RUN_NONE || !others_did(blame, match, &median))
        return excess;
    excess = segment_of(blame, late);
    for (int f = 0; f < SEGMENT_FIELDS; f++)
        *field(&excess, f) -= *field(&median, f);
    return excess;
}

// --- reasons ------------------------------------------------------------------------------------

static double positive(int64_t value)
{
    return value > 0 ? (double)value : 0;
}

static void reasons_of(const struct segment *excess, double reason_ns[REASON_COUNT])
{
    bool more = excess->kernels > 0;
    reason_ns[REASON_SLOWER] = more ? 0 : positive(excess->ns[BEFORE_COMPUTE]);
    reason_ns[REASON_MORE_WORK] = more ? positive(excess->ns[BEFORE_COMPUTE]) : 0;
    reason_ns[REASON_DATA_LOADING] = positive(excess->ns[BEFORE_DATA_LOADING]);
    reason_ns[REASON_HOST] = positive(excess->ns[BEFORE_HOST]);
    reason_ns[REASON_COPIES] = positive(excess->ns[BEFORE_MEMORY]);
    reason_ns[REASON_COMMUNICATION] = positive(excess->ns[BEFORE_COMM]);
    reason_ns[REASON_UNKNOWN] = positive(excess->ns[BEFORE_IDLE]);
}

// What the segment does not explain has the reasons of the lateness before, as far as the same rank
// was late then: collectives that overlap compute do not let the others' lead go.
static void carry(struct blame *blame, uint32_t rank, int64_t lateness_ns,
                  double reason_ns[REASON_COUNT])
{
    struct carried *carried = &blame->carried;
    double explained_ns = 0;
    for (int i = 0; i < REASON_COUNT; i++)
        explained_ns += reason_ns[i];
    double rest_ns = (double)lateness_ns - explained_ns;
    bool same = carried->rank == rank && carried->lateness_ns > 0 && rest_ns > 0;
    double share = same ? rest_ns / (double)carried->lateness_ns : 0;
    for (int i = 0; i < REASON_COUNT; i++) {
        reason_ns[i] += (share < 1 ? share : 1) * (same ? carried->reason_ns[i] : 0);
        carried->reason_ns[i] = reason_ns[i];
    }
    carried->rank = rank;
    carried->lateness_ns = lateness_ns;
}

// The collective in which the rank waited longest since the one before of this group.
static uint32_t longest_wait(const struct blame *blame, struct comm_member late)
{
    const struct comm_event *events = blame->comm->ranks[late.rank].events;
    uint32_t best = RUN_NONE;
    int64_t best_ns = 0;
    for (uint32_t i = blame->before[late.rank] + 1; i < late.event; i++)
        if (exposed_wait(&events[i]) > best_ns) {
            best_ns = exposed_wait(&events[i]);
            best = events[i].match;
        }
    return best;
}

// --- one match ----------------------------------------------------------------------------------

static struct comm_member late_member(const struct run_comm *comm, const struct comm_match *match)
{
    uint32_t i = 0;
    while (comm->members[match->first + i].rank != match->latest_rank)
        i++;
    return comm->members[match->first + i];
}

// Waits of the others, and how much later than their median begin the last one came.
static int64_t caused_of(const struct blame *blame, const struct comm_match *match,
                         int64_t *lateness_ns)
{
    const struct run_comm *comm = blame->comm;
    int64_t caused_ns = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < match->count; i++) {
        struct comm_member member = comm->members[match->first + i];
        const struct comm_event *event = event_of(comm, member);
        if (member.rank == match->latest_rank)
            continue;
        caused_ns += event->wait_ns;
        blame->values[count++] = run_comm_begin(&comm->ranks[member.rank], event);
    }
    *lateness_ns =
        match->latest_ns - run_median(blame->values, blame->values + comm->rank_count, count);
    return caused_ns;
}

static void count_late(struct blame *blame, uint32_t m, struct comm_member late,
                       int64_t lateness_ns, const struct segment *excess)
{
    struct rank_blame *rank = &blame->ranks[late.rank];
    double reason_ns[REASON_COUNT];
    reasons_of(excess, reason_ns);
    carry(blame, late.rank, lateness_ns, reason_ns);
    if (!run_match_is_steady(blame->comm, &blame->comm->matches[m]))
        return;
    rank->late_calls++;
    rank->lateness_ns += lateness_ns;
    for (int i = 0; i < BEFORE_COUNT; i++)
        rank->excess_ns[i] += excess->ns[i];
    for (int i = 0; i < REASON_COUNT; i++)
        rank->reason_ns[i] += reason_ns[i];
}

// In a send the receiver's own doing tells nothing of the sender's: any wait of the last one
// counts.
static void judge_match(struct blame *blame, uint32_t m)
{
    const struct run_comm *comm = blame->comm;
    const struct comm_match *match = &comm->matches[m];
    struct match_blame *fault = &blame->matches[m];
    fault->cause = RUN_NONE;
    if (match->latest_rank == RUN_NONE)
        return;
    bool p2p = run_comm_is_p2p(comm->ops[match->op].kind);
    struct comm_member late = late_member(comm, match);
    int64_t lateness_ns;
    int64_t caused_ns = caused_of(blame, match, &lateness_ns);
    struct segment excess = {0};
    if (p2p && blame->before[late.rank] != RUN_NONE)
        excess.waited_ns = segment_of(blame, late).waited_ns;
    if (!p2p) {
        excess = excess_of(blame, match, late);
        fault->caused_ns = run_match_is_steady(comm, match) ? caused_ns : 0;
        count_late(blame, m, late, lateness_ns, &excess);
    }
    if (excess.waited_ns > 0 && lateness_ns > 0) {
        double share = (double)excess.waited_ns / (double)lateness_ns;
        fault->share = (float)(share < 1 ? share : 1);
        fault->cause = longest_wait(blame, late);
    }
}

// --- all matches --------------------------------------------------------------------------------

static void forget_before(struct blame *blame, uint32_t group)
{
    const struct comm_group *about = &blame->comm->groups[group];
    for (uint32_t i = 0; i < about->rank_count; i++)
        blame->before[about->ranks[i]] = RUN_NONE;
    blame->carried = (struct carried){.rank = RUN_NONE};
}

// Whether a match belongs to other calls than the one before it: see run_comm.matches.
static bool begins_channel(const struct run_comm *comm, uint32_t m)
{
    if (m == 0)
        return true;
    const struct comm_match *match = &comm->matches[m], *before = &comm->matches[m - 1];
    const struct comm_op *op = &comm->ops[match->op], *op_before = &comm->ops[before->op];
    bool p2p = run_comm_is_p2p(op->kind);
    return op->group != op_before->group || p2p != run_comm_is_p2p(op_before->kind) ||
           (p2p && (comm->members[match->first].rank != comm->members[before->first].rank ||
                    comm->members[match->first + 1].rank != comm->members[before->first + 1].rank));
}

static void judge_all(struct blame *blame)
{
    const struct run_comm *comm = blame->comm;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct comm_match *match = &comm->matches[m];
        const struct comm_op *op = &comm->ops[match->op];
        if (begins_channel(comm, m))
            forget_before(blame, op->group);
        judge_match(blame, m);
        bool counts = !run_comm_is_p2p(op->kind) && run_match_is_steady(comm, match);
        for (uint32_t i = 0; i < match->count; i++) {
            struct comm_member member = comm->members[match->first + i];
            blame->before[member.rank] = member.event;
            blame->ranks[member.rank].calls += counts;
        }
    }
}

// The rank at the begin of the chain of waits that led to a match.
static uint32_t root_of(const struct blame *blame, uint32_t m)
{
    for (int i = 0; i < CHAIN_MAX; i++) {
        const struct match_blame *fault = &blame->matches[m];
        if (fault->cause == RUN_NONE || fault->share < PASS_SHARE)
            break;
        m = fault->cause;
    }
    return blame->comm->matches[m].latest_rank;
}

static void settle_group(struct blame *blame, uint32_t group)
{
    for (uint32_t r = 0; r < blame->comm->rank_count; r++) {
        if (blame->caused[r] > blame->ranks[r].group_ns) {
            blame->ranks[r].group_ns = blame->caused[r];
            blame->ranks[r].group = group;
        }
        blame->ranks[r].caused_ns += blame->caused[r];
        blame->caused[r] = 0;
    }
}

// Gives each rank the waits that it caused, directly or by keeping the last one waiting.
static void share_out(struct blame *blame)
{
    const struct run_comm *comm = blame->comm;
    for (uint32_t m = 0; m < comm->match_count; m++) {
        const struct match_blame *fault = &blame->matches[m];
        uint32_t group = comm->ops[comm->matches[m].op].group;
        if (fault->caused_ns > 0) {
            uint32_t root = fault->cause == RUN_NONE ? RUN_NONE : root_of(blame, fault->cause);
            int64_t passed_ns =
                root == RUN_NONE ? 0 : (int64_t)(fault->share * (double)fault->caused_ns);
            blame->caused[comm->matches[m].latest_rank] += fault->caused_ns - passed_ns;
            if (passed_ns)
                blame->caused[root] += passed_ns;
        }
        if (m + 1 == comm->match_count || comm->ops[comm->matches[m + 1].op].group != group)
            settle_group(blame, group);
    }
}

static bool add_up_waits(struct blame *blame, struct arena *scratch, struct err *err)
{
    const struct run_comm *comm = blame->comm;
    for (uint32_t r = 0; r < comm->rank_count; r++) {
        const struct comm_rank *rank = &comm->ranks[r];
        int64_t *waited = arena_room(scratch, rank->count, sizeof *waited, err), sum_ns = 0;
        if (!waited)
            return false;
        for (uint32_t i = 0; i < rank->count; i++) {
            waited[i] = sum_ns;
            sum_ns += exposed_wait(&rank->events[i]);
        }
        blame->waited[r] = waited;
    }
    return true;
}

static bool make_blame(struct blame *blame, struct arena *scratch, struct err *err)
{
    size_t ranks = blame->comm->rank_count;
    blame->ranks = arena_array(scratch, ranks, sizeof *blame->ranks, err);
    blame->matches = arena_array(scratch, blame->comm->match_count, sizeof *blame->matches, err);
    blame->waited = arena_array(scratch, ranks, sizeof *blame->waited, err);
    blame->before = arena_array(scratch, ranks, sizeof *blame->before, err);
    blame->caused = arena_array(scratch, ranks, sizeof *blame->caused, err);
    blame->values = arena_room(scratch, 2 * ranks, sizeof *blame->values, err);
    if (!blame->ranks || !blame->matches || !blame->waited || !blame->before || !blame->caused ||
        !blame->values || !add_up_waits(blame, scratch, err))
        return false;
    for (size_t r = 0; r < ranks; r++)
        blame->ranks[r].group = RUN_NONE;
    judge_all(blame);
    share_out(blame);
    return true;
}

// --- the table ----------------------------------------------------------------------------------

static enum reason reason_of(const struct rank_blame *rank, int64_t error_ns)
{
    enum reason best = REASON_UNKNOWN;
    for (int i = 0; i < REASON_COUNT; i++)
        if (rank->reason_ns[i] > rank->reason_ns[best])
            best = (enum reason)i;
    int64_t noise_ns = MEANING_TIMES * (error_ns > NOISE_NS ? error_ns : NOISE_NS);
    bool means = rank->reason_ns[best] >= REASON_SHARE * (double)rank->lateness_ns &&
                 rank->lateness_ns > rank->late_calls * noise_ns;
    return means ? best : REASON_UNKNOWN;
}

static void add_reason(struct row *row, const struct rank_blame *rank, int64_t error_ns)
{
    if (rank->late_calls == 0) {
        row_null(row);
        row_null(row);
        return;
    }
    enum reason reason = reason_of(rank, error_ns);
    double share = rank->reason_ns[reason] / (double)rank->lateness_ns;
    row_word(row, reason_words[reason]);
    row_f64_if(row, rank->lateness_ns > 0 && reason != REASON_UNKNOWN, share < 1 ? share : 1);
}

static bool add_row(const struct blame *blame, uint32_t index, struct report *report,
                    struct err *err)
{
    static const enum comm_before order[] = {BEFORE_COMPUTE, BEFORE_DATA_LOADING, BEFORE_HOST,
                                             BEFORE_MEMORY,  BEFORE_COMM,         BEFORE_IDLE};
    const struct rank_blame *rank = &blame->ranks[index];
    bool grouped = rank->group != RUN_NONE;
    struct row row = {0};
    row_i64(&row, blame->comm->ranks[index].rank);
    row_i64(&row, rank->calls);
    row_i64(&row, rank->late_calls);
    row_i64(&row, rank->lateness_ns);
    row_i64(&row, rank->caused_ns);
    row_text_if(&row, grouped, grouped ? blame->comm->groups[rank->group].name : STR(""));
    add_reason(&row, rank, blame->comm->ranks[index].error_ns);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        row_i64(&row, rank->excess_ns[order[i]]);
    return row_end(&row, &table_run_lateness, report, err);
}

static bool add_rows(const struct blame *blame, struct arena *scratch, struct report *report,
                     struct err *err)
{
    uint32_t count = blame->comm->rank_count;
    struct ranked *order = arena_room(scratch, count, sizeof *order, err);
    if (!order)
        return false;
    for (uint32_t r = 0; r < count; r++)
        order[r] = (struct ranked){blame->ranks[r].caused_ns, {NULL, 0}, r};
    ranked_sort(order, count);
    for (uint32_t i = 0; i < count; i++)
        if (!add_row(blame, order[i].index, report, err))
            return false;
    return true;
}

bool run_lateness_add(const struct run_comm *comm, struct report *report, struct err *err)
{
    struct arena scratch;
    arena_init(&scratch, comm->budget);
    struct blame blame = {.comm = comm};
    bool ok = make_blame(&blame, &scratch, err) && add_rows(&blame, &scratch, report, err);
    arena_free(&scratch);
    return ok;
}
