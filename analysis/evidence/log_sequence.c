// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_sequence.h"

#include "analysis/evidence/log_interval.h"
#include "analysis/evidence/log_values.h"
#include "analysis/stats/stats.h"

enum { MOST_RANKS = 1024, MOST_WARM_UP = 10 };

// --- whose lines --------------------------------------------------------------------------------

struct rank_lines {
    int64_t rank;
    size_t lines, losses;
};

static struct rank_lines *find_rank(struct rank_lines *ranks, size_t count, int64_t rank)
{
    for (size_t i = 0; i < count; i++)
        if (ranks[i].rank == rank)
            return &ranks[i];
    return NULL;
}

// Of a pipeline only the last stage may know the loss.
static bool printed_more(const struct rank_lines *a, const struct rank_lines *b)
{
    return a->lines > b->lines || (a->lines == b->lines && a->losses > b->losses);
}

// The rank that printed the most steps, of several the one with the most losses, else the first.
static bool main_rank(const struct log_book *book, struct arena *arena, int64_t *rank,
                      struct err *err)
{
    struct rank_lines *ranks = arena_array(arena, MOST_RANKS, sizeof *ranks, err);
    size_t count = 0;
    for (size_t i = 0; ranks && i < book->step_count; i++) {
        struct rank_lines *found = find_rank(ranks, count, book->steps[i].rank);
        if (!found && count < MOST_RANKS) {
            found = &ranks[count++];
            found->rank = book->steps[i].rank;
        }
        if (found) {
            found->lines++;
            found->losses += log_step_has(&book->steps[i], LOG_LOSS);
        }
    }
    size_t most = 0;
    for (size_t i = 1; i < count; i++)
        most = printed_more(&ranks[i], &ranks[most]) ? i : most;
    *rank = count ? ranks[most].rank : -1;
    return ranks;
}

// --- the sequence -------------------------------------------------------------------------------

static bool same_loss(const struct log_step *a, const struct log_step *b)
{
    bool both = log_step_has(a, LOG_LOSS) && log_step_has(b, LOG_LOSS);
    double x = a->values[LOG_LOSS], y = b->values[LOG_LOSS];
    return !both || x == y || (isnan(x) && isnan(y));
}

static int64_t number_of(const struct log_step *printed, const struct log_line *before)
{
    if (printed->step != LOG_NO_STEP)
        return printed->step;
    return before && before->step < INT64_MAX ? before->step + 1 : 1;
}

// A step that was printed twice, as by ranks that share a terminal without saying who they are.
static bool repeats(const struct log_step *printed, int64_t step, const struct log_line *before)
{
    return before && step == before->step && same_loss(printed, before->printed);
}

// What another part of the job printed of the same step.
static bool add_more(struct log_line *line, const struct log_step *printed, struct arena *arena,
                     struct err *err)
{
    struct log_step *both = arena_array(arena, 1, sizeof *both, err);
    if (!both)
        return false;
    *both = *line->printed;
    log_step_fill(both, printed);
    line->printed = both;
    return true;
}

static bool add_lines(const struct log_book *book, struct arena *arena,
                      struct log_sequence *sequence, struct err *err)
{
    int64_t rank = sequence->rank;
    struct log_line *before = NULL;
    for (size_t i = 0; i < book->step_count; i++) {
        const struct log_step *printed = &book->steps[i];
        int64_t step = number_of(printed, before);
        bool more = printed->more && before && printed->rank == rank;
        if (more && !add_more(before, printed, arena, err))
            return false;
        if (more || printed->rank != rank || repeats(printed, step, before))
            continue;
        sequence->restarts += before && step <= before->step;
        struct log_line *line = &sequence->lines[sequence->count++];
        *line = (struct log_line){.printed = printed,
                                  .segment = sequence->restarts,
                                  .step = step,
                                  .step_ns = -1,
                                  .since_ns = -1};
        before = line;
    }
    return true;
}

static void find_begin(struct log_sequence *sequence)
{
    sequence->begin_ns = LOG_NO_TIME;
    for (size_t i = 0; i < sequence->count && sequence->begin_ns == LOG_NO_TIME; i++)
        sequence->begin_ns = sequence->lines[i].printed->time_ns;
}

// --- how long steps took ------------------------------------------------------------------------

#define MOST_STEP_S 1e8 // three years; times of steps can be added up without overflow

// Since the job began, or since 1970.
static int64_t clock_of(const struct log_step *printed, bool runs)
{
    return runs ? (int64_t)llround(printed->values[LOG_RUN_S] * 1e9) : printed->time_ns;
}

static bool has_run(const struct log_step *printed)
{
    return log_step_has(printed, LOG_RUN_S) && printed->values[LOG_RUN_S] >= 0 &&
           printed->values[LOG_RUN_S] < MOST_STEP_S;
}

static int64_t ns_between(const struct log_line *before, const struct log_line *line)
{
    bool runs = has_run(before->printed) && has_run(line->printed);
    int64_t from = clock_of(before->printed, runs), to = clock_of(line->printed, runs), ns, steps;
    if (before->segment != line->segment || from == LOG_NO_TIME || to == LOG_NO_TIME ||
        __builtin_sub_overflow(to, from, &ns) ||
        __builtin_sub_overflow(line->step, before->step, &steps) || ns <= 0 || steps <= 0)
        return -1;
    return ns / steps < (int64_t)(MOST_STEP_S * 1e9) ? ns / steps : -1;
}

static void find_times(struct log_sequence *sequence)
{
    for (size_t i = 0; i < sequence->count; i++) {
        struct log_line *line = &sequence->lines[i];
        double s = log_step_has(line->printed, LOG_STEP_S) ? line->printed->values[LOG_STEP_S] : -1;
        if (s > 0 && s < MOST_STEP_S)
            line->step_ns = (int64_t)llround(s * 1e9);
        else if (i > 0)
            line->step_ns = ns_between(&sequence->lines[i - 1], line);
    }
}

// For a log without a clock: the sum of the times of its steps. Steps that it leaves out took as
// long as those that it prints.
static void add_up_times(struct log_sequence *sequence)
{
    int64_t since_ns = 0;
    for (size_t i = 0; i < sequence->count && sequence->median_ns > 0; i++) {
        struct log_line *line = &sequence->lines[i];
        int64_t steps = 1, took_ns;
        if (i > 0 && line->segment == line[-1].segment)
            steps = line->step - line[-1].step;
        if (__builtin_mul_overflow(line->step_ns >= 0 ? line->step_ns : sequence->median_ns, steps,
                                   &took_ns) ||
            __builtin_add_overflow(since_ns, i > 0 ? took_ns : 0, &since_ns))
            return;
        line->since_ns = since_ns;
    }
}

static void find_since(struct log_sequence *sequence)
{
    if (sequence->begin_ns == LOG_NO_TIME) {
        add_up_times(sequence);
        return;
    }
    for (size_t i = 0; i < sequence->count; i++) {
        struct log_line *line = &sequence->lines[i];
        int64_t ns;
        if (log_sequence_since(sequence, line->printed->time_ns, &ns) && ns >= 0)
            line->since_ns = ns;
    }
}

static void find_rates(struct log_sequence *sequence)
{
    for (size_t i = 0; i < sequence->count; i++) {
        struct log_line *line = &sequence->lines[i];
        const struct log_step *printed = line->printed;
        line->samples_per_s = (double)NAN;
        if (log_has_number(printed, LOG_SAMPLES_PER_S))
            line->samples_per_s = printed->values[LOG_SAMPLES_PER_S];
        else if (log_has_whole(printed, LOG_GLOBAL_BATCH) && line->step_ns > 0)
            line->samples_per_s = printed->values[LOG_GLOBAL_BATCH] * 1e9 / (double)line->step_ns;
    }
}

static bool find_median(struct log_sequence *sequence, struct arena *arena, struct err *err)
{
    int64_t *values = arena_array(arena, sequence->count + 1, sizeof *values, err);
    int64_t *scratch = arena_array(arena, sequence->count + 1, sizeof *scratch, err);
    size_t count = 0;
    if (!values || !scratch)
        return false;
    for (size_t i = 0; i < sequence->count; i++)
        if (sequence->lines[i].step_ns >= 0)
            values[count++] = sequence->lines[i].step_ns;
    sequence->median_ns = stats_quantiles(values, scratch, count).median;
    return true;
}

// Compilation, autotuning and first connections make the first steps after a start slow.
static void mark_steady(struct log_sequence *sequence)
{
    int64_t slow_ns = sequence->median_ns + sequence->median_ns / 2;
    bool warms_up = true;
    size_t begin = 0;
    for (size_t i = 0; i < sequence->count; i++) {
        struct log_line *line = &sequence->lines[i];
        if (i == 0 || line->segment != line[-1].segment) {
            begin = i;
            warms_up = true;
        }
        bool slow = i == begin || line->step_ns > slow_ns;
        warms_up = warms_up && slow && i - begin < MOST_WARM_UP;
        line->steady = !warms_up;
    }
}

bool log_sequence_of(const struct log_book *book, struct arena *arena,
                     struct log_sequence *sequence, struct err *err)
{
    *sequence = (struct log_sequence){
        .lines = arena_array(arena, book->step_count + 1, sizeof *sequence->lines, err)};
    if (!sequence->lines || !main_rank(book, arena, &sequence->rank, err) ||
        !add_lines(book, arena, sequence, err) || !log_interval_correct(sequence, arena, err))
        return false;
    find_begin(sequence);
    find_times(sequence);
    find_rates(sequence);
    if (!find_median(sequence, arena, err))
        return false;
    find_since(sequence);
    mark_steady(sequence);
    return true;
}

bool log_sequence_since(const struct log_sequence *sequence, int64_t time_ns, int64_t *ns)
{
    return time_ns != LOG_NO_TIME && sequence->begin_ns != LOG_NO_TIME &&
           !__builtin_sub_overflow(time_ns, sequence->begin_ns, ns);
}

int64_t log_sequence_segment(const struct log_sequence *sequence, uint64_t pos)
{
    size_t low = 0, high = sequence->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sequence->lines[middle].printed->pos <= pos)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? sequence->lines[low - 1].segment : 0;
}
