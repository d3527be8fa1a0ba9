// SPDX-License-Identifier: Apache-2.0
#include "analysis/hangs/hang_tables.h"

#include "analysis/hangs/hang_words.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "ingest/base/clock.h"

enum { MOST_GROUPS = 1000, MOST_PROGRESS = 50000 };

// Texts of one row, which are copied when it ends.
enum { ROW_TEXTS = 8 };
struct texts {
    struct buf at[ROW_TEXTS];
    unsigned used;
};

static struct buf *next_text(struct texts *texts)
{
    return &texts->at[texts->used++];
}

static bool end_row(struct row *row, struct texts *texts, struct report *report, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; i < texts->used; i++)
        ok = ok && buf_ok(&texts->at[i], err);
    ok = ok && row_end(row, report, err);
    for (unsigned i = 0; i < texts->used; i++)
        buf_free(&texts->at[i]);
    return ok;
}

static void put(struct row *row, unsigned column, const struct buf *text)
{
    row_text_if(row, column, text->len, (struct str){text->at, text->len});
}

// --- verdict ------------------------------------------------------------------------------------

static void put_call(struct row *row, const struct hang_finding *finding)
{
    const struct flight *flight = finding->flight;
    const struct flight_entry *call = finding->call;
    if (!call)
        return;
    str_id frames = call->frames;
    row_text(row, HANG_VERDICT_PROCESS_GROUP, hang_text(flight, flight->groups[call->group].desc));
    row_i64(row, HANG_VERDICT_SEQUENCE, call->collective_seq);
    row_text(row, HANG_VERDICT_OPERATION, hang_text(flight, call->op));
    row_text_if(row, HANG_VERDICT_FRAMES, frames, hang_text(flight, frames));
}

static bool add_finding(const struct hang_finding *finding, struct report *report, struct err *err)
{
    static const char *const kinds[HANG_KINDS] = {"mismatch", "host",     "device",    "no_dump",
                                                  "pipeline", "together", "undecided", "none"};
    static const char *const confidences[] = {"high", "medium", "low"};
    struct row row = {.desc = &table_hang_verdict};
    struct texts texts = {0};
    struct buf *ranks = next_text(&texts);
    hang_add_ranks(ranks, finding->ranks, finding->rank_count);
    row_word(&row, HANG_VERDICT_KIND, kinds[finding->kind]);
    put(&row, HANG_VERDICT_RANKS, ranks);
    row_i64(&row, HANG_VERDICT_SUSPECTS, (int64_t)finding->rank_count);
    row_word(&row, HANG_VERDICT_CONFIDENCE, confidences[finding->confidence]);
    row_word(&row, HANG_VERDICT_VERDICT, finding->verdict);
    row_word(&row, HANG_VERDICT_WHY, finding->why);
    put_call(&row, finding);
    return end_row(&row, &texts, report, err);
}

// --- groups -------------------------------------------------------------------------------------

enum state { MISMATCH, BEHIND, ABSENT, NO_DUMP, TOGETHER, STATES };

static enum state state_of(const struct hang_case *one)
{
    if (one->odd_count)
        return MISMATCH;
    if (one->counts[HANG_BEHIND])
        return BEHIND;
    if (one->counts[HANG_ABSENT])
        return ABSENT;
    return one->counts[HANG_UNDUMPED] ? NO_DUMP : TOGETHER;
}

static void put_members(struct row *row, unsigned column, struct texts *texts,
                        const struct hang_case *one, enum hang_role role)
{
    struct buf *out = next_text(texts);
    for (size_t i = 0, from = 0; i <= one->group->member_count; i++) {
        // Runs of members in the role, joined by commas.
        bool in = i < one->group->member_count && one->roles[i] == role;
        if (!in && from < i && out->len < 1024) {
            buf_puts(out, out->len ? "," : "");
            hang_add_ranks(out, one->group->members + from, i - from);
        }
        from = in ? from : i + 1;
    }
    put(row, column, out);
}

static void put_mismatch(struct row *row, struct texts *texts, const struct hang_job *job,
                         const struct hang_case *one)
{
    struct buf *out = next_text(texts);
    if (one->odd_count) {
        buf_printf(out, "rank %lld called ", (long long)hang_rank(job, one->odd_call));
        hang_add_call(out, job->dumps[one->odd_call->dump].flight, one->odd_call->here);
        buf_printf(out, ", rank %lld ", (long long)hang_rank(job, one->most_call));
        hang_add_call(out, job->dumps[one->most_call->dump].flight, one->most_call->here);
    }
    put(row, HANG_GROUPS_MISMATCH, out);
}

static bool add_group(const struct hang_job *job, const struct hang_case *one,
                      struct report *report, struct err *err)
{
    static const char *const words[STATES] = {"mismatch", "behind", "absent", "no_dump",
                                              "together"};
    static const struct {
        unsigned column;
        enum hang_role role;
    } roles[] = {{HANG_GROUPS_WAITING, HANG_WAITS},
                 {HANG_GROUPS_BEHIND, HANG_BEHIND},
                 {HANG_GROUPS_ABSENT, HANG_ABSENT},
                 {HANG_GROUPS_NO_DUMP, HANG_UNDUMPED}};
    const struct hang_group *group = one->group;
    struct row row = {.desc = &table_hang_groups};
    struct texts texts = {0};
    struct buf *ranks = next_text(&texts);
    hang_add_ranks(ranks, group->members, group->member_count);
    row_text(&row, HANG_GROUPS_PROCESS_GROUP, group->desc);
    put(&row, HANG_GROUPS_RANKS, ranks);
    row_i64(&row, HANG_GROUPS_GROUP_SIZE, (int64_t)group->member_count);
    row_word(&row, HANG_GROUPS_STATE, words[state_of(one)]);
    row_i64(&row, HANG_GROUPS_SEQUENCE, group->lowest);
    row_text(&row, HANG_GROUPS_OPERATION, hang_text(group->op_flight, group->op->op));
    row_text(&row, HANG_GROUPS_SIZES, hang_text(group->op_flight, group->op->input.sizes));
    row_text(&row, HANG_GROUPS_DTYPES, hang_text(group->op_flight, group->op->input.dtypes));
    row_text_if(&row, HANG_GROUPS_FRAMES, group->op->frames,
                hang_text(group->op_flight, group->op->frames));
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        put_members(&row, roles[i].column, &texts, one, roles[i].role);
    put_mismatch(&row, &texts, job, one);
    return end_row(&row, &texts, report, err);
}

// The most telling first.
static bool add_groups(const struct hang_job *job, const struct hang_cases *cases,
                       struct report *report, struct err *err)
{
    size_t added = 0;
    for (enum state state = 0; state < STATES; state++)
        for (size_t i = 0; i < cases->count; i++)
            if (state_of(&cases->at[i]) == state && added++ < MOST_GROUPS &&
                !add_group(job, &cases->at[i], report, err))
                return false;
    return true;
}

// --- progress ---------------------------------------------------------------------------------

static const char *progress_word(const struct hang_case *one, size_t member)
{
    static const char *const words[HANG_ROLES] = {"waits",   "behind", "absent",
                                                  "no_dump", "past",   "unknown"};
    return one->odd[member] ? "mismatch" : words[one->roles[member]];
}

static bool add_member(const struct hang_job *job, const struct hang_case *one, size_t member,
                       struct report *report, struct err *err)
{
    const struct hang_seat *seat = one->at[member];
    struct row row = {.desc = &table_hang_progress};
    struct texts texts = {0};
    struct buf *ranks = next_text(&texts);
    hang_add_ranks(ranks, one->group->members, one->group->member_count);
    row_text(&row, HANG_PROGRESS_PROCESS_GROUP, one->group->desc);
    put(&row, HANG_PROGRESS_RANKS, ranks);
    row_i64(&row, HANG_PROGRESS_RANK, one->group->members[member]);
    row_word(&row, HANG_PROGRESS_STATE, progress_word(one, member));
    if (seat) {
        row_i64_if(&row, HANG_PROGRESS_ENTERED, seat->entered >= 0, seat->entered);
        row_i64_if(&row, HANG_PROGRESS_UNFINISHED, seat->first, seat->unfinished);
    }
    if (seat && seat->first)
        row_text(&row, HANG_PROGRESS_OPERATION,
                 hang_text(job->dumps[seat->dump].flight, seat->first->op));
    return end_row(&row, &texts, report, err);
}

static bool add_case(const struct hang_job *job, const struct hang_case *one, size_t *left,
                     struct report *report, struct err *err)
{
    size_t count = one->group->member_count;
    bool ok = true;
    if (count > *left)
        return true;
    *left -= count;
    for (size_t i = 0; ok && i < count; i++)
        ok = add_member(job, one, i, report, err);
    return ok;
}

static bool add_progress(const struct hang_job *job, const struct hang_cases *cases,
                         struct report *report, struct err *err)
{
    size_t left = MOST_PROGRESS;
    for (enum state state = 0; state < STATES; state++)
        for (size_t i = 0; i < cases->count; i++)
            if (state_of(&cases->at[i]) == state &&
                !add_case(job, &cases->at[i], &left, report, err))
                return false;
    return true;
}

// --- ranks --------------------------------------------------------------------------------------

static void put_place(struct row *row, unsigned column, struct texts *texts,
                      const struct hang_dump *dump, const struct flight_entry *entry)
{
    struct buf *out = next_text(texts);
    if (entry)
        hang_add_place(out, dump->flight, entry);
    put(row, column, out);
}

static bool add_rank(const struct hang_dump *dump, struct report *report, struct err *err)
{
    const struct flight_entry *oldest = dump->oldest ? dump->oldest : dump->oldest_p2p;
    struct row row = {.desc = &table_hang_ranks};
    struct texts texts = {0};
    char since[CLOCK_RFC3339_SIZE] = "";
    row_i64(&row, HANG_RANKS_RANK, dump->flight->rank);
    row_i64(&row, HANG_RANKS_ENTRIES,
            (int64_t)dump->flight->entry_count + dump->flight->left.entries);
    row_i64(&row, HANG_RANKS_UNFINISHED, dump->collectives);
    row_i64(&row, HANG_RANKS_UNFINISHED_P2P, dump->p2p);
    row_i64(&row, HANG_RANKS_BEHIND_IN, dump->behind_in + dump->weakly_behind_in);
    row_i64(&row, HANG_RANKS_ABSENT_IN, dump->absent_in);
    row_i64(&row, HANG_RANKS_WAITS_IN, dump->waits_in);
    put_place(&row, HANG_RANKS_LAST_COMPLETED, &texts, dump, dump->last_finish);
    put_place(&row, HANG_RANKS_FIRST_UNFINISHED, &texts, dump, oldest);
    if (oldest && oldest->created_ns != FLIGHT_UNKNOWN)
        clock_rfc3339(oldest->created_ns, since);
    row_text_if(&row, HANG_RANKS_SINCE, *since, str_of(since));
    int64_t timeout_ns = oldest ? hang_timeout_ns(oldest) : -1;
    row_i64_if(&row, HANG_RANKS_TIMEOUT_NS, timeout_ns >= 0, timeout_ns);
    return end_row(&row, &texts, report, err);
}

bool hang_tables_add(const struct hang_job *job, const struct hang_cases *cases,
                     const struct hangs *hangs, struct report *report, struct err *err)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < hangs->finding_count; i++)
        ok = add_finding(&hangs->findings[i], report, err);
    ok = ok && add_groups(job, cases, report, err);
    ok = ok && add_progress(job, cases, report, err);
    for (size_t i = 0; ok && i < job->dump_count; i++)
        ok = add_rank(&job->dumps[i], report, err);
    return ok;
}
