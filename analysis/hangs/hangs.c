// SPDX-License-Identifier: Apache-2.0
// Concludes which ranks to look at from who waits for whom.
#include "analysis/hangs/hangs.h"

#include "analysis/hangs/hang_late.h"
#include "analysis/hangs/hang_order.h"
#include "analysis/hangs/hang_pairs.h"
#include "analysis/hangs/hang_tables.h"
#include "analysis/hangs/hang_words.h"

struct diagnosis {
    struct hang_job job;
    struct hang_cases cases;
    struct arena *arena;
    struct hangs *hangs;
};

// --- findings -----------------------------------------------------------------------------------

// Adds a finding with its sentence, which is taken over.
static bool add(struct diagnosis *d, struct hang_finding finding, struct buf *verdict,
                struct err *err)
{
    bool ok = buf_ok(verdict, err);
    finding.verdict =
        ok ? arena_strdup(d->arena, (struct str){verdict->at, verdict->len}, err) : NULL;
    buf_free(verdict);
    d->hangs->findings[d->hangs->finding_count++] = finding;
    return finding.verdict;
}

// Nobody stands out if most do.
static enum hang_confidence confidence_of(const struct diagnosis *d, size_t suspects,
                                          enum hang_confidence best)
{
    return 2 * suspects > d->job.dump_count && best == HANG_HIGH ? HANG_MEDIUM : best;
}

typedef bool is_suspect(const struct hang_dump *dump);

// The ranks of the dumps that are suspect, in the finding.
static bool pick(const struct diagnosis *d, is_suspect *suspect, struct hang_finding *finding,
                 struct err *err)
{
    int64_t *ranks = arena_room(d->arena, d->job.dump_count + 1, sizeof *ranks, err);
    finding->ranks = ranks;
    for (size_t i = 0; ranks && i < d->job.dump_count; i++)
        if (suspect(&d->job.dumps[i]))
            ranks[finding->rank_count++] = d->job.dumps[i].flight->rank;
    return ranks;
}

// The smallest case in which the rank has one of some roles: it says most about its neighbors.
// NULL: none.
static const struct hang_case *case_of(const struct diagnosis *d, int64_t rank, unsigned roles)
{
    const struct hang_case *best = NULL;
    for (size_t i = 0; i < d->cases.count; i++) {
        const struct hang_case *one = &d->cases.at[i];
        if (one->odd_count || (best && best->group->member_count <= one->group->member_count))
            continue;
        for (size_t k = 0; k < one->group->member_count; k++)
            if (one->group->members[k] == rank && roles & 1u << one->roles[k])
                best = one;
    }
    return best;
}

// "ranks 0-3 wait in all_reduce number 7 of tp"
static bool add_waiting(const struct diagnosis *d, const struct hang_case *one, struct buf *out,
                        struct err *err)
{
    size_t count;
    const int64_t *ranks =
        hang_members(one, 1u << HANG_WAITS | 1u << HANG_BEHIND, d->arena, &count, err);
    if (!ranks)
        return false;
    hang_add_named_ranks(out, ranks, count);
    buf_puts(out, count == 1 ? " waits in " : " wait in ");
    hang_add_place(out, one->group->op_flight, one->group->op);
    return true;
}

static void name_call(struct hang_finding *finding, const struct flight *flight,
                      const struct flight_entry *call)
{
    finding->flight = flight;
    finding->call = call;
}

static void name_case(struct hang_finding *finding, const struct hang_case *one)
{
    if (one)
        name_call(finding, one->group->op_flight, one->group->op);
}

// --- mismatch -----------------------------------------------------------------------------------

static const struct hang_case *worst_mismatch(const struct diagnosis *d)
{
    const struct hang_case *worst = NULL;
    for (size_t i = 0; i < d->cases.count; i++) {
        const struct hang_case *one = &d->cases.at[i];
        bool clearer =
            worst &&
            (worst->tie > one->tie ||
             (worst->tie == one->tie && one->group->member_count > worst->group->member_count));
        if (one->odd_count && (!worst || clearer))
            worst = one;
    }
    return worst;
}

static void say_mismatch(const struct diagnosis *d, const struct hang_case *one,
                         const struct hang_finding *finding, struct buf *out)
{
    const struct hang_seat *odd = one->odd_call, *most = one->most_call;
    buf_puts(out, "Look at the program of ");
    hang_add_named_ranks(out, finding->ranks, finding->rank_count);
    buf_printf(out, ": rank %lld called ", (long long)hang_rank(&d->job, odd));
    hang_add_call(out, d->job.dumps[odd->dump].flight, odd->here);
    buf_printf(out, " where rank %lld called ", (long long)hang_rank(&d->job, most));
    hang_add_call(out, d->job.dumps[most->dump].flight, most->here);
    buf_puts(out, ", as ");
    hang_add_place(out, d->job.dumps[most->dump].flight, most->here);
    buf_putc(out, '.');
}

static bool find_mismatch(struct diagnosis *d, struct err *err)
{
    const struct hang_case *one = worst_mismatch(d);
    if (!one)
        return true;
    struct hang_finding finding = {
        .kind = HANG_MISMATCH,
        .confidence = one->tie ? HANG_MEDIUM : HANG_HIGH,
        .why = "Members of a process group must call the same collectives with the same number "
               "of elements in the same order, and these did not; if half of them differ, either "
               "side may be "
               "wrong."};
    int64_t *ranks = arena_room(d->arena, one->group->member_count + 1, sizeof *ranks, err);
    if (!ranks)
        return false;
    for (size_t i = 0; i < one->group->member_count; i++)
        if (one->odd[i] || (one->tie && one->at[i] && one->at[i]->here))
            ranks[finding.rank_count++] = one->group->members[i];
    finding.ranks = ranks;
    name_call(&finding, d->job.dumps[one->odd_call->dump].flight, one->odd_call->here);
    struct buf out = {0};
    say_mismatch(d, one, &finding, &out);
    return add(d, finding, &out, err);
}

static bool find_order(struct diagnosis *d, struct err *err)
{
    struct hang_order order;
    if (d->hangs->finding_count)
        return true;
    if (!hang_order_find(&d->job, &d->cases, &order, err))
        return false;
    d->hangs->gave_up = order.gave_up;
    if (order.count == 0)
        return true;
    const struct hang_finding finding = {
        .kind = HANG_MISMATCH,
        .confidence = order.tie ? HANG_LOW : HANG_MEDIUM,
        .ranks = order.ranks,
        .rank_count = order.count,
        .flight = order.odd->flight,
        .call = order.odd->oldest,
        .why = "Each side waits in a collective that the other has queued behind its own. A rank "
               "that skipped a collective looks the same. Wrong if collectives of these groups "
               "may overtake each other, on their own streams."};
    struct buf out = {0};
    buf_puts(&out, "Look at the program of ");
    hang_add_named_ranks(&out, finding.ranks, finding.rank_count);
    buf_printf(&out, ": rank %lld entered ", (long long)order.odd->flight->rank);
    hang_add_place(&out, order.odd->flight, order.odd->oldest);
    buf_puts(&out, " before ");
    hang_add_place(&out, order.most->flight, order.most->oldest);
    buf_printf(&out, ", which rank %lld entered first.", (long long)order.most->flight->rank);
    return add(d, finding, &out, err);
}

// --- ranks with dumps ---------------------------------------------------------------------------

static bool is_idle(const struct hang_dump *dump)
{
    return dump->collectives == 0 && dump->p2p == 0;
}

static bool is_host_stuck(const struct hang_dump *dump)
{
    return dump->absent_in && is_idle(dump);
}

static bool is_device_stuck(const struct hang_dump *dump)
{
    return dump->behind_in;
}

static bool is_weakly_stuck(const struct hang_dump *dump)
{
    return dump->weakly_behind_in && !dump->waits_in;
}

static bool is_behind_at_all(const struct hang_dump *dump)
{
    return dump->weakly_behind_in;
}

static bool is_awaited(const struct hang_dump *dump)
{
    return dump->awaited && is_idle(dump);
}

static bool find_host(struct diagnosis *d, struct err *err)
{
    struct hang_finding finding = {
        .kind = HANG_HOST,
        .why = "They have nothing unfinished themselves, so nothing holds them but the host: a "
               "lock, data loading, a checkpoint, an exception, or the end of the loop. Wrong if "
               "their dumps were taken well before the others."};
    if (!pick(d, is_host_stuck, &finding, err) || finding.rank_count == 0)
        return finding.ranks;
    const struct hang_case *one = case_of(d, finding.ranks[0], 1u << HANG_ABSENT);
    name_case(&finding, one);
    struct buf out = {0};
    buf_puts(&out, "Look at the host of ");
    hang_add_named_ranks(&out, finding.ranks, finding.rank_count);
    buf_puts(&out, ": nothing is queued there, while ");
    if (one && !add_waiting(d, one, &out, err)) {
        buf_free(&out);
        return false;
    }
    buf_puts(&out, one ? "." : "others wait.");
    finding.confidence = confidence_of(d, finding.rank_count, HANG_HIGH);
    return add(d, finding, &out, err);
}

// Names the collective by which the first rank of the finding is behind: one it has not finished.
static void name_behind(const struct diagnosis *d, struct hang_finding *finding)
{
    const struct hang_dump *dump = hang_find_dump(&d->job, finding->ranks[0]);
    const struct hang_case *one = case_of(d, finding->ranks[0], 1u << HANG_BEHIND);
    for (size_t i = 0; one && i < one->group->member_count; i++)
        if (one->group->members[i] == finding->ranks[0])
            name_call(finding, dump->flight, one->at[i]->first);
}

static void say_behind(const struct diagnosis *d, const struct hang_finding *finding,
                       struct buf *out)
{
    const struct hang_dump *dump = hang_find_dump(&d->job, finding->ranks[0]);
    long long groups = dump->behind_in + dump->weakly_behind_in;
    buf_puts(out, "Look at the GPU of ");
    hang_add_named_ranks(out, finding->ranks, finding->rank_count);
    buf_printf(out, ": rank %lld has not finished ", (long long)finding->ranks[0]);
    if (finding->call)
        hang_add_place(out, finding->flight, finding->call);
    buf_printf(out, ", which other members have, and is behind in %lld process group%s.", groups,
               groups == 1 ? "" : "s");
}

static bool find_behind(struct diagnosis *d, is_suspect *suspect, struct hang_finding finding,
                        struct err *err)
{
    if (!pick(d, suspect, &finding, err) || finding.rank_count == 0)
        return finding.ranks;
    struct buf out = {0};
    finding.kind = HANG_DEVICE;
    finding.confidence = confidence_of(d, finding.rank_count, finding.confidence);
    name_behind(d, &finding);
    say_behind(d, &finding, &out);
    return add(d, finding, &out, err);
}

static bool find_device(struct diagnosis *d, struct err *err)
{
    return find_behind(d, is_device_stuck,
                       (struct hang_finding){
                           .confidence = HANG_HIGH,
                           .why = "Nobody can finish such a collective before all have entered it, "
                                  "so its GPU or its link stopped in it while the others went on. "
                                  "Wrong if the dumps were taken while the job still ran."},
                       err);
}

// Only where nothing stronger is found.
static bool find_weak_device(struct diagnosis *d, struct err *err)
{
    static const char why[] =
        "Other members are further, but in a broadcast, reduction, gather or scatter some finish "
        "before others: this may be a rank that waits for one whose dump does not show it.";
    const struct hang_finding finding = {.confidence = HANG_LOW, .why = why};
    unsigned before = d->hangs->finding_count;
    return (before || find_behind(d, is_weakly_stuck, finding, err)) &&
           (d->hangs->finding_count || find_behind(d, is_behind_at_all, finding, err));
}

static bool find_awaited(struct diagnosis *d, struct err *err)
{
    struct hang_finding finding = {
        .kind = HANG_PIPELINE,
        .confidence = HANG_MEDIUM,
        .why = "It has nothing unfinished while the oldest send or receive of another rank is "
               "with it. Sends and receives are matched by peer only, so this is weaker than a "
               "collective that a rank did not enter."};
    if (d->hangs->finding_count)
        return true;
    if (!pick(d, is_awaited, &finding, err) || finding.rank_count == 0)
        return finding.ranks;
    struct buf out = {0};
    buf_puts(&out, "Look at the host of ");
    hang_add_named_ranks(&out, finding.ranks, finding.rank_count);
    buf_puts(&out, ": nothing is queued there, while others wait to send to it or to receive "
                   "from it.");
    return add(d, finding, &out, err);
}

static void say_pair(const struct hang_pair *pair, struct buf *out)
{
    buf_printf(out,
               "Look at the program of ranks %lld,%lld: ", (long long)pair->ends[0]->flight->rank,
               (long long)pair->ends[1]->flight->rank);
    for (int i = 0; i < 2; i++) {
        const struct hang_dump *end = pair->ends[i];
        buf_printf(out, "%srank %lld is in ", i ? ", while " : "", (long long)end->flight->rank);
        hang_add_call(out, end->flight, end->oldest_p2p);
    }
    buf_puts(out,
             pair->same_way ? ", so that neither meets the other." : ", which is of another size.");
}

// Weaker than collectives, as pairs in a hanging pipeline are mostly victims.
static bool find_pair(struct diagnosis *d, struct err *err)
{
    if (d->hangs->finding_count)
        return true;
    const struct hang_pair pair = hang_pair_find(&d->job);
    if (!pair.ends[0])
        return true;
    struct hang_finding finding = {
        .kind = HANG_MISMATCH,
        .confidence = HANG_MEDIUM,
        .rank_count = 2,
        .flight = pair.ends[0]->flight,
        .call = pair.ends[0]->oldest_p2p,
        .why = pair.same_way ? "Both start with a send, or both with a receive, and what would "
                               "match it is queued behind it or missing: one must start with the "
                               "other, or both must issue them as one batch."
                             : "A send and its receive must be of the same size; either may be "
                               "wrong."};
    int64_t *ranks = arena_room(d->arena, 2, sizeof *ranks, err);
    if (!ranks)
        return false;
    for (int i = 0; i < 2; i++)
        ranks[i] = pair.ends[i]->flight->rank;
    finding.ranks = ranks;
    struct buf out = {0};
    say_pair(&pair, &out);
    return add(d, finding, &out, err);
}

// --- ranks without dumps ------------------------------------------------------------------------

// Whether members without a dump may be why the others wait.
static bool blames_undumped(const struct hang_case *one)
{
    bool entered_by_all = one->synchronizes && (one->counts[HANG_BEHIND] || one->counts[HANG_PAST]);
    return one->counts[HANG_UNDUMPED] && !one->counts[HANG_ABSENT] && !one->odd_count &&
           !entered_by_all;
}

static bool pick_undumped(const struct diagnosis *d, struct hang_finding *finding,
                          const struct hang_case **largest, struct err *err)
{
    size_t most = 0, found = 0;
    for (size_t i = 0; i < d->cases.count; i++)
        most += blames_undumped(&d->cases.at[i]) ? d->cases.at[i].counts[HANG_UNDUMPED] : 0;
    int64_t *ranks = arena_room(d->arena, most + 1, sizeof *ranks, err);
    finding->ranks = ranks;
    for (size_t i = 0; ranks && i < d->cases.count; i++) {
        const struct hang_case *one = &d->cases.at[i];
        if (!blames_undumped(one))
            continue;
        for (size_t k = 0; k < one->group->member_count; k++)
            if (one->roles[k] == HANG_UNDUMPED)
                ranks[found++] = one->group->members[k];
        if (!*largest || one->group->member_count > (*largest)->group->member_count)
            *largest = one;
    }
    finding->rank_count = hang_sort_ranks(ranks, found);
    return ranks;
}

static bool find_undumped(struct diagnosis *d, struct err *err)
{
    const struct hang_case *one = NULL;
    struct hang_finding finding = {
        .kind = HANG_NO_DUMP,
        .confidence = d->hangs->finding_count ? HANG_LOW : HANG_MEDIUM,
        .why = "A process that hangs or is gone writes no dump. Wrong if the dump was merely not "
               "collected."};
    if (!pick_undumped(d, &finding, &one, err) || finding.rank_count == 0)
        return finding.ranks;
    name_case(&finding, one);
    bool few = finding.rank_count >= d->job.dump_count;
    struct buf out = {0};
    buf_puts(&out,
             few ? "Collect more dumps: most are missing, those of " : "Look at the process of ");
    hang_add_named_ranks(&out, finding.ranks, finding.rank_count);
    buf_puts(&out, few ? " among them, while " : ": no dump of it was found, while ");
    if (!add_waiting(d, one, &out, err)) {
        buf_free(&out);
        return false;
    }
    buf_putc(&out, '.');
    if (few) {
        finding.kind = HANG_UNDECIDED;
        finding.confidence = HANG_LOW;
        finding.rank_count = 0;
    }
    return add(d, finding, &out, err);
}

// --- nobody in particular -----------------------------------------------------------------------

// The oldest collective that all members are in.
static const struct hang_case *oldest_together(const struct diagnosis *d)
{
    const struct hang_case *oldest = NULL;
    for (size_t i = 0; i < d->cases.count; i++) {
        const struct hang_case *one = &d->cases.at[i];
        bool together =
            one->counts[HANG_WAITS] == one->group->member_count && one->group->member_count > 1;
        if (together && (!oldest || one->group->op->created_ns < oldest->group->op->created_ns))
            oldest = one;
    }
    return oldest;
}

static bool find_late(struct diagnosis *d, struct err *err)
{
    struct hang_late late = {0};
    const struct hang_case *one = d->hangs->finding_count ? NULL : oldest_together(d);
    if (one && !hang_late_find(&d->job, one, &late, err))
        return false;
    if (late.count == 0)
        return true;
    struct hang_finding finding = {
        .kind = HANG_HOST,
        .confidence = HANG_MEDIUM,
        .ranks = late.ranks,
        .rank_count = late.count,
        .why =
            "Measured by its own clock since its previous call, so nothing held it but the host: "
            "a lock, data loading, a checkpoint. All members are in the collective by now, but "
            "the others had given up."};
    name_case(&finding, one);
    struct buf out = {0};
    buf_puts(&out, "Look at the host of ");
    hang_add_named_ranks(&out, late.ranks, late.count);
    buf_puts(&out, late.count == 1 ? ": it entered " : ": they entered ");
    hang_add_place(&out, one->group->op_flight, one->group->op);
    buf_printf(&out, " %s%.1f s after %s previous call, longer than the timeout of %.1f s.",
               late.count == 1 ? "" : "up to ", (double)late.away_ns / 1e9,
               late.count == 1 ? "its" : "their", (double)late.timeout_ns / 1e9);
    return add(d, finding, &out, err);
}

// Only with timing does a dump say what the GPU has started.
static bool is_unstarted(const struct flight *flight, const struct flight_entry *call)
{
    return call->state == FLIGHT_SCHEDULED && flight->groups[call->group].started >= 0;
}

// The members of a group whose GPU has not started what the others are in.
static bool pick_unstarted(const struct diagnosis *d, const struct hang_case *one,
                           struct hang_finding *finding, struct err *err)
{
    size_t started = 0;
    int64_t *ranks = arena_room(d->arena, one->group->member_count + 1, sizeof *ranks, err);
    finding->ranks = ranks;
    for (size_t i = 0; ranks && i < one->group->member_count; i++) {
        const struct hang_seat *seat = one->at[i];
        started += seat->first->state == FLIGHT_STARTED;
        if (is_unstarted(d->job.dumps[seat->dump].flight, seat->first))
            ranks[finding->rank_count++] = one->group->members[i];
    }
    finding->rank_count = started >= finding->rank_count ? finding->rank_count : 0;
    return ranks;
}

static bool find_unstarted(struct diagnosis *d, struct err *err)
{
    const struct hang_case *one = d->hangs->finding_count ? NULL : oldest_together(d);
    struct hang_finding finding = {
        .kind = HANG_DEVICE,
        .confidence = HANG_MEDIUM,
        .why = "Its host has queued the collective, but the GPU has not started it: something on "
               "the same stream goes first, a kernel, a copy or a wait for another stream. Wrong "
               "if the dumps were taken while the job still ran."};
    if (!one)
        return true;
    if (!pick_unstarted(d, one, &finding, err) || finding.rank_count == 0)
        return finding.ranks;
    name_case(&finding, one);
    struct buf out = {0};
    buf_puts(&out, "Look at the GPU of ");
    hang_add_named_ranks(&out, finding.ranks, finding.rank_count);
    buf_puts(&out, finding.rank_count == 1 ? ": it has not started " : ": they have not started ");
    hang_add_place(&out, one->group->op_flight, one->group->op);
    buf_puts(&out, ", which the other members are in.");
    return add(d, finding, &out, err);
}

static bool find_together(struct diagnosis *d, struct err *err)
{
    const struct hang_case *one = d->hangs->finding_count ? NULL : oldest_together(d);
    struct hang_finding finding = {
        .kind = HANG_TOGETHER,
        .confidence = HANG_LOW,
        .why = "Every member has entered it and none is further. If unfinished sends and receives "
               "were queued before, the collective waits for them, and for ranks whose dumps are "
               "not here."};
    if (!one)
        return true;
    name_case(&finding, one);
    struct buf out = {0};
    buf_puts(&out, "No rank stands out: all ");
    if (!add_waiting(d, one, &out, err)) {
        buf_free(&out);
        return false;
    }
    buf_puts(&out, " and none is behind; look at the links between them, or at what is queued "
                   "before it.");
    return add(d, finding, &out, err);
}

static bool find_rest(struct diagnosis *d, struct err *err)
{
    int64_t waiting = 0;
    struct hang_finding quiet = {.kind = HANG_QUIET,
                                 .confidence = HANG_HIGH,
                                 .why = "Each operation in the dumps is finished."};
    struct hang_finding undecided = {
        .kind = HANG_UNDECIDED,
        .confidence = HANG_LOW,
        .why = "Unfinished sends and receives show who waits, not who is late, and the dumps do "
               "not show a collective that some have entered and others not."};
    if (d->hangs->finding_count)
        return true;
    for (size_t i = 0; i < d->job.dump_count; i++)
        waiting += !is_idle(&d->job.dumps[i]);
    struct buf out = {0};
    if (waiting)
        buf_printf(&out, "No rank stands out: %lld of %zu wait, but not for one of them.",
                   (long long)waiting, d->job.dump_count);
    else
        buf_puts(&out, "Nothing is unfinished: the dumps show no hang.");
    return add(d, waiting ? undecided : quiet, &out, err);
}

// --- all ----------------------------------------------------------------------------------------

// Findings that rest on more than an absent dump count together.
static bool add_suspects(struct hangs *hangs, struct arena *arena, struct err *err)
{
    size_t count = 0;
    for (unsigned i = 0; i < hangs->finding_count; i++)
        count += hangs->findings[i].rank_count;
    int64_t *ranks = arena_room(arena, count + 1, sizeof *ranks, err);
    count = 0;
    for (unsigned i = 0; ranks && i < hangs->finding_count; i++) {
        const struct hang_finding *finding = &hangs->findings[i];
        if ((i && finding->kind == HANG_NO_DUMP) || finding->rank_count == 0)
            continue;
        memcpy(ranks + count, finding->ranks, finding->rank_count * sizeof *ranks);
        count += finding->rank_count;
    }
    hangs->suspects = ranks;
    hangs->suspect_count = hang_sort_ranks(ranks, count);
    return ranks;
}

static bool list_dumps(struct diagnosis *d, struct err *err)
{
    struct hangs *hangs = d->hangs;
    hangs->used = d->job.used;
    hangs->dumps = arena_array(d->arena, d->job.dump_count + 1, sizeof(void *), err);
    for (size_t i = 0; hangs->dumps && i < d->job.dump_count; i++)
        hangs->dumps[hangs->dump_count++] = d->job.dumps[i].flight;
    return hangs->dumps;
}

bool hangs_find(const struct flight *const *dumps, size_t count, struct report *report,
                struct hangs *hangs, struct err *err)
{
    struct diagnosis d = {.arena = report->arena, .hangs = hangs};
    *hangs = (struct hangs){0};
    return hang_job_make(dumps, count, report->arena, &d.job, err) &&
           hang_judge(&d.job, &d.cases, err) && find_mismatch(&d, err) && find_host(&d, err) &&
           find_device(&d, err) && find_undumped(&d, err) && find_weak_device(&d, err) &&
           find_awaited(&d, err) && find_order(&d, err) && find_pair(&d, err) &&
           find_late(&d, err) && find_unstarted(&d, err) && find_together(&d, err) &&
           find_rest(&d, err) && add_suspects(hangs, report->arena, err) && list_dumps(&d, err) &&
           hang_tables_add(&d.job, &d.cases, hangs, report, err);
}
