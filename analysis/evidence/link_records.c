// SPDX-License-Identifier: Apache-2.0
// What NCCL says about its own communicators: NCCL Inspector's records, summed up by operation and
// size, and the ranks that RAS knows.
#include "analysis/evidence/link_cells.h"
#include "analysis/evidence/link_tables.h"
#include "analysis/report/tables.h"
#include "analysis/stats/count.h"
#include "analysis/stats/rank_list.h"
#include "analysis/stats/sort.h"
#include "analysis/stats/stats.h"

#include <math.h>
#include <stdlib.h>

struct link_records {
    const struct link_tests *links;
    struct str file;
    struct report *report;
    struct arena scratch;
    int64_t *values, *room; // for the samples of a row
    size_t rows, left_out;
};

static bool has_room(struct link_records *all)
{
    bool room = all->rows < LINK_TABLE_ROWS;
    all->rows += room;
    all->left_out += !room;
    return room;
}

// --- Inspector ----------------------------------------------------------------------------------

static int by_operation(const void *left, const void *right)
{
    const struct link_record *const *first = left, *const *second = right;
    const struct link_record *a = *first, *b = *second;
    int comm = (a->comm > b->comm) - (a->comm < b->comm);
    int operation = str_compare(a->operation, b->operation);
    return comm ? comm : operation ? operation : (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static void row_times(struct link_records *all, const struct link_record *const *records,
                      size_t count, struct row *row)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i]->time_ns >= 0 && records[i]->time_ns < LINK_LONGEST_NS)
            all->values[known++] = (int64_t)(records[i]->time_ns + 0.5);
    struct quantiles times = stats_quantiles(all->values, all->room, known);
    row_i64_if(row, LINK_RECORDS_MEDIAN_NS, known, times.median);
    row_i64_if(row, LINK_RECORDS_P95_NS, known, times.p95);
}

// In whole bytes/s, which is finer than they are printed.
static void row_bandwidths(struct link_records *all, const struct link_record *const *records,
                           size_t count, struct row *row)
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (records[i]->bus_bps >= 0 && records[i]->bus_bps < LINK_LONGEST_NS)
            all->values[known++] = (int64_t)records[i]->bus_bps;
    struct quantiles rates = stats_quantiles(all->values, all->room, known);
    row_link_gbps(row, LINK_RECORDS_BUS_GBPS, known ? (double)rates.median : NAN);
    row_link_gbps(row, LINK_RECORDS_BEST_BUS_GBPS, known ? (double)rates.max : NAN);
}

static bool add_operation(struct link_records *all, const struct link_record *const *records,
                          size_t count, struct err *err)
{
    const struct link_record *first = records[0];
    const struct link_comm *comms = all->links->parts[LINK_COMMS].items;
    const struct link_comm *comm = &comms[first->comm];
    struct row row = {.desc = &table_link_records};
    if (!has_room(all))
        return true;
    row_text(&row, LINK_RECORDS_FILE, all->file);
    row_link_text(&row, LINK_RECORDS_COMMUNICATOR, comm->id);
    row_link_text(&row, LINK_RECORDS_NAME, comm->name);
    row_link_text(&row, LINK_RECORDS_OPERATION, first->operation);
    row_link_kind(&row, LINK_RECORDS_KIND, first->operation);
    row_i64_if(&row, LINK_RECORDS_RANKS, comm->ranks > 0, comm->ranks);
    row_i64_if(&row, LINK_RECORDS_NODES, comm->nodes > 0, comm->nodes);
    row_i64_if(&row, LINK_RECORDS_BYTES, first->bytes >= 0, first->bytes);
    row_i64(&row, LINK_RECORDS_CALLS, (int64_t)count);
    row_times(all, records, count, &row);
    row_bandwidths(all, records, count, &row);
    return row_end(&row, all->report, err);
}

static bool add_operations(struct link_records *all, struct err *err)
{
    const struct link_record *records = all->links->parts[LINK_RECORDS].items;
    size_t count = all->links->parts[LINK_RECORDS].count, end;
    const struct link_record **sorted = arena_room(&all->scratch, count + 1, sizeof *sorted, err);
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &records[i];
    qsort(sorted, count, sizeof *sorted, by_operation);
    for (size_t begin = 0; begin < count; begin = end) {
        for (end = begin + 1; end < count && !by_operation(&sorted[begin], &sorted[end]); end++)
            ;
        if (!add_operation(all, sorted + begin, end - begin, err))
            return false;
    }
    return true;
}

// --- RAS ----------------------------------------------------------------------------------------

// The ranks of a communicator.
struct ras_sums {
    int64_t missing, failed, aborted;
    int64_t least, most, behind; // COUNT_UNKNOWN
    size_t named;                // of the missing ones, in link_records.values
};

// How many collectives each member has started; COUNT_UNKNOWN: not counted.
static int64_t *count_started(struct link_records *all, struct err *err)
{
    const struct link_op_count *counts = all->links->parts[LINK_OP_COUNTS].items;
    size_t members = all->links->parts[LINK_MEMBERS].count;
    int64_t *started = arena_room(&all->scratch, members + 1, sizeof *started, err);
    for (size_t i = 0; started && i < members; i++)
        started[i] = COUNT_UNKNOWN;
    for (size_t i = 0; started && i < all->links->parts[LINK_OP_COUNTS].count; i++) {
        int64_t *sum = &started[counts[i].member];
        *sum = count_add(*sum < 0 ? 0 : *sum, counts[i].count);
    }
    return started;
}

static void note_started(struct ras_sums *sums, int64_t rank, int64_t started)
{
    if (started < 0)
        return;
    if (sums->least < 0 || started < sums->least ||
        (started == sums->least && rank < sums->behind)) {
        sums->least = started;
        sums->behind = rank;
    }
    sums->most = started > sums->most ? started : sums->most;
}

static void note_member(struct link_records *all, struct ras_sums *sums,
                        const struct link_member *member, int64_t started)
{
    if (member->missing) {
        if (member->rank >= 0)
            all->values[sums->named++] = member->rank;
        sums->missing++;
        return;
    }
    sums->failed += member->init_state > 0 || member->async_error > 0;
    sums->aborted += member->aborted;
    note_started(sums, member->rank, started);
}

static bool row_missing(struct link_records *all, const struct ras_sums *sums, struct row *row,
                        struct buf *text, struct err *err)
{
    sort_i64(all->values, all->room, sums->named);
    rank_list_add(text, all->values, sums->named);
    row_link_text(row, LINK_COMMUNICATORS_MISSING, (struct str){text->at, text->len});
    return buf_ok(text, err);
}

static bool add_communicator(struct link_records *all, const struct link_comm *comm,
                             const struct ras_sums *sums, struct err *err)
{
    struct row row = {.desc = &table_link_communicators};
    struct buf missing = {0};
    if (!has_room(all))
        return true;
    bool counted = sums->least >= 0;
    row_text(&row, LINK_COMMUNICATORS_FILE, all->file);
    row_link_text(&row, LINK_COMMUNICATORS_COMMUNICATOR, comm->id);
    row_i64_if(&row, LINK_COMMUNICATORS_RANKS, comm->ranks > 0, comm->ranks);
    row_i64(&row, LINK_COMMUNICATORS_MISSING_RANKS,
            comm->missing_ranks > sums->missing ? comm->missing_ranks : sums->missing);
    row_i64(&row, LINK_COMMUNICATORS_FAILED_RANKS, sums->failed);
    row_i64(&row, LINK_COMMUNICATORS_ABORTED_RANKS, sums->aborted);
    row_i64_if(&row, LINK_COMMUNICATORS_LEAST_COLLECTIVES, counted, sums->least);
    row_i64_if(&row, LINK_COMMUNICATORS_MOST_COLLECTIVES, counted, sums->most);
    row_i64_if(&row, LINK_COMMUNICATORS_BEHIND_RANK,
               counted && sums->least < sums->most && sums->behind >= 0, sums->behind);
    bool ok = row_missing(all, sums, &row, &missing, err) && row_end(&row, all->report, err);
    buf_free(&missing);
    return ok;
}

// Members follow each other by communicator. Inspector's communicators have none.
static bool add_communicators(struct link_records *all, struct err *err)
{
    const struct link_comm *comms = all->links->parts[LINK_COMMS].items;
    const struct link_member *members = all->links->parts[LINK_MEMBERS].items;
    size_t count = all->links->parts[LINK_MEMBERS].count, at = 0;
    const int64_t *started = count_started(all, err);
    bool ok = started != NULL;
    for (size_t i = 0; ok && i < all->links->parts[LINK_COMMS].count; i++) {
        struct ras_sums sums = {.least = COUNT_UNKNOWN, .most = COUNT_UNKNOWN, .behind = -1};
        for (; at < count && members[at].comm == i; at++)
            note_member(all, &sums, &members[at], started[at]);
        ok = add_communicator(all, &comms[i], &sums, err);
    }
    return ok;
}

bool link_records_add(const struct link_tests *links, struct str file, struct report *report,
                      size_t *left_out, struct err *err)
{
    struct link_records all = {.links = links, .file = file, .report = report};
    arena_init(&all.scratch, report->arena->budget);
    size_t recorded = links->parts[LINK_RECORDS].count;
    size_t samples = 1 + (recorded ? recorded : links->parts[LINK_MEMBERS].count);
    all.values = arena_room(&all.scratch, samples, sizeof *all.values, err);
    all.room = all.values ? arena_room(&all.scratch, samples, sizeof *all.room, err) : NULL;
    bool ok = all.room && (recorded ? add_operations(&all, err) : add_communicators(&all, err));
    *left_out += all.left_out;
    arena_free(&all.scratch);
    return ok;
}
