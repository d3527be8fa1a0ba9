// SPDX-License-Identifier: Apache-2.0
#include "analysis/evidence/log_tables.h"

#include "analysis/evidence/log_curve.h"
#include "analysis/evidence/log_once.h"
#include "analysis/evidence/log_sequence.h"
#include "analysis/evidence/log_slow.h"
#include "analysis/evidence/log_values.h"
#include "analysis/evidence/loss_spikes.h"
#include "analysis/report/row.h"
#include "analysis/report/tables.h"
#include "analysis/stats/ordered.h"
#include "analysis/stats/stats.h"
#include "analysis/report/trust.h"
#include "ingest/base/clock.h"
#include "ingest/base/figures.h"

#include <math.h>

enum { MOST_RESTARTS = 10000 };

struct log_tables {
    const struct evidence *evidence;
    const struct log_book *book;
    struct str file;
    struct log_sequence sequence;
    struct report *report;
    struct arena scratch;
};

// --- values -------------------------------------------------------------------------------------

static void row_time(const struct log_tables *tables, struct row *row, unsigned column,
                     int64_t time_ns)
{
    int64_t ns = 0;
    bool known = log_sequence_since(&tables->sequence, time_ns, &ns);
    row_i64_if(row, column, known, ns);
}

// --- steps --------------------------------------------------------------------------------------

static const struct {
    unsigned column;
    enum log_value value;
} numbers[] =
    {
        {LOG_STEPS_LOSS, LOG_LOSS},
        {LOG_STEPS_GRAD_NORM, LOG_GRAD_NORM},
        {LOG_STEPS_LEARNING_RATE, LOG_LEARNING_RATE},
        {LOG_STEPS_TOKENS_PER_S, LOG_TOKENS_PER_S},
        {LOG_STEPS_TFLOPS, LOG_TFLOPS},
        {LOG_STEPS_MFU_SHARE, LOG_MFU},
        {LOG_STEPS_POWER_W, LOG_POWER_W},
        {LOG_STEPS_ENERGY_J, LOG_ENERGY_J},
},
  wholes[] = {
      {LOG_STEPS_GLOBAL_BATCH, LOG_GLOBAL_BATCH},
      {LOG_STEPS_CONSUMED_SAMPLES, LOG_CONSUMED_SAMPLES},
      {LOG_STEPS_CONSUMED_TOKENS, LOG_CONSUMED_TOKENS},
      {LOG_STEPS_MEMORY_BYTES, LOG_MEMORY_BYTES},
      {LOG_STEPS_SKIPPED, LOG_SKIPPED},
      {LOG_STEPS_NAN, LOG_NAN},
};

static bool add_step(struct log_tables *tables, const struct log_line *line, struct err *err)
{
    const struct log_step *printed = line->printed;
    struct row row = {.desc = &table_log_steps};
    row_text(&row, LOG_STEPS_FILE, tables->file);
    row_i64(&row, LOG_STEPS_SEGMENT, line->segment);
    row_i64(&row, LOG_STEPS_STEP, line->step);
    row_i64_if(&row, LOG_STEPS_TIME_NS, line->since_ns >= 0, line->since_ns);
    row_i64_if(&row, LOG_STEPS_STEP_NS, line->step_ns >= 0, line->step_ns);
    row_bool(&row, LOG_STEPS_STEADY, line->steady);
    row_f64(&row, LOG_STEPS_SAMPLES_PER_S, line->samples_per_s);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        row_f64_if(&row, numbers[i].column, log_has_number(printed, numbers[i].value),
                   printed->values[numbers[i].value]);
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        row_i64_if(&row, wholes[i].column, log_has_whole(printed, wholes[i].value),
                   log_whole(printed, wholes[i].value));
    return row_end(&row, tables->report, err);
}

static bool add_steps(struct log_tables *tables, struct err *err)
{
    size_t count = tables->sequence.count;
    if (count && !report_room(tables->report, &table_log_steps, count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_step(tables, &tables->sequence.lines[i], err))
            return false;
    return true;
}

// --- events -------------------------------------------------------------------------------------

static bool add_event(struct log_tables *tables, const struct log_event *event, struct err *err)
{
    struct row row = {.desc = &table_log_events};
    row_text(&row, LOG_EVENTS_FILE, tables->file);
    row_i64(&row, LOG_EVENTS_SEGMENT, log_sequence_segment(&tables->sequence, event->pos));
    row_word(&row, LOG_EVENTS_KIND, log_event_word(event->kind));
    row_i64_if(&row, LOG_EVENTS_AFTER_STEP, event->after_step != LOG_NO_STEP, event->after_step);
    row_time(tables, &row, LOG_EVENTS_TIME_NS, event->time_ns);
    row_i64_if(&row, LOG_EVENTS_DUR_NS, event->dur_ns >= 0, event->dur_ns);
    row_f64_if(&row, LOG_EVENTS_LOSS, isfinite(event->loss), event->loss);
    row_text(&row, LOG_EVENTS_TEXT, event->text);
    return row_end(&row, tables->report, err);
}

static bool add_restart(struct log_tables *tables, const struct log_line *line, struct err *err)
{
    struct row row = {.desc = &table_log_events};
    row_text(&row, LOG_EVENTS_FILE, tables->file);
    row_i64(&row, LOG_EVENTS_SEGMENT, line->segment);
    row_word(&row, LOG_EVENTS_KIND, "restart");
    row_i64(&row, LOG_EVENTS_AFTER_STEP, line[-1].step);
    row_i64_if(&row, LOG_EVENTS_TIME_NS, line->since_ns >= 0, line->since_ns);
    return row_end(&row, tables->report, err);
}

static bool add_restarts(struct log_tables *tables, struct err *err)
{
    const struct log_sequence *sequence = &tables->sequence;
    size_t left = MOST_RESTARTS;
    for (size_t i = 1; left && i < sequence->count; i++) {
        const struct log_line *line = &sequence->lines[i];
        if (line->segment == line[-1].segment)
            continue;
        left--;
        if (!add_restart(tables, line, err))
            return false;
    }
    return true;
}

static bool add_events(struct log_tables *tables, struct err *err)
{
    for (size_t i = 0; i < tables->book->event_count; i++)
        if (!add_event(tables, &tables->book->events[i], err))
            return false;
    return add_restarts(tables, err);
}

// --- the log ------------------------------------------------------------------------------------

struct log_sums {
    double first_loss, last_loss, lowest_loss;
    int64_t first_step, last_step, spikes, nan, skipped;
    struct loss_window window;
};

static void add_loss(struct log_sums *sums, const struct log_step *printed)
{
    if (!log_has_number(printed, LOG_LOSS)) {
        // Logs that count such steps may leave the loss out.
        bool counted = log_has_whole(printed, LOG_NAN) && log_whole(printed, LOG_NAN) > 0;
        sums->nan += log_step_has(printed, LOG_LOSS) && !counted;
        return;
    }
    double loss = printed->values[LOG_LOSS];
    sums->first_loss = isnan(sums->first_loss) ? loss : sums->first_loss;
    sums->last_loss = loss;
    sums->lowest_loss = fmin(loss, sums->lowest_loss);
    sums->spikes += loss_spikes(&sums->window, loss);
}

// Megatron-LM of 2026 also prints the first step of a job, and counts what was skipped in it again
// in the next line, which is less far than the lines after it are from each other.
static bool comes_again(const struct log_sequence *sequence, size_t at)
{
    const struct log_line *line = &sequence->lines[at];
    const char *writer = line->printed->writer;
    if (!writer || strcmp(writer, "megatron") != 0 || at + 2 >= sequence->count ||
        (at > 0 && line[-1].segment == line->segment) || line[2].segment != line->segment)
        return false;
    return line[1].step - line->step < line[2].step - line[1].step;
}

static struct log_sums sums_of(const struct log_sequence *sequence)
{
    struct log_sums sums = {.first_loss = NAN,
                            .last_loss = NAN,
                            .lowest_loss = NAN,
                            .first_step = INT64_MAX,
                            .last_step = INT64_MIN};
    for (size_t i = 0; i < sequence->count; i++) {
        const struct log_line *line = &sequence->lines[i];
        if (i > 0 && line->segment != line[-1].segment)
            sums.window = (struct loss_window){0};
        sums.first_step = line->step < sums.first_step ? line->step : sums.first_step;
        sums.last_step = line->step > sums.last_step ? line->step : sums.last_step;
        add_loss(&sums, line->printed);
        if (!comes_again(sequence, i)) {
            figures_sum(&sums.nan, log_whole(line->printed, LOG_NAN));
            figures_sum(&sums.skipped, log_whole(line->printed, LOG_SKIPPED));
        }
        int64_t since_start = log_whole(line->printed, LOG_ALL_SKIPPED);
        sums.skipped = since_start > sums.skipped ? since_start : sums.skipped;
    }
    return sums;
}

static void row_sums(const struct log_sequence *sequence, struct row *row)
{
    struct log_sums sums = sums_of(sequence);
    row_i64_if(row, LOGS_FIRST_STEP, sequence->count, sums.first_step);
    row_i64_if(row, LOGS_LAST_STEP, sequence->count, sums.last_step);
    row_f64(row, LOGS_FIRST_LOSS, sums.first_loss);
    row_f64(row, LOGS_LAST_LOSS, sums.last_loss);
    row_f64(row, LOGS_LOWEST_LOSS, sums.lowest_loss);
    row_i64(row, LOGS_LOSS_SPIKES, sums.spikes);
    row_i64(row, LOGS_NAN_STEPS, sums.nan);
    row_i64(row, LOGS_SKIPPED_STEPS, sums.skipped);
}

// The memory of any rank that printed it: the one whose steps count need not have the most.
static void row_memory(const struct log_sequence *sequence, const struct log_book *book,
                       struct row *row)
{
    int64_t most = -1;
    size_t count = sequence->corrected ? sequence->count : book->step_count;
    for (size_t i = 0; i < count; i++) {
        const struct log_step *step =
            sequence->corrected ? sequence->lines[i].printed : &book->steps[i];
        if (log_has_whole(step, LOG_MEMORY_BYTES) && log_whole(step, LOG_MEMORY_BYTES) > most)
            most = log_whole(step, LOG_MEMORY_BYTES);
    }
    row_i64_if(row, LOGS_MEMORY_BYTES, most >= 0, most);
}

struct samples {
    int64_t *values, *scratch;
    size_t count;
};

static void take_values(const struct log_sequence *sequence, enum log_value value,
                        struct samples *samples)
{
    samples->count = 0;
    for (size_t i = 0; i < sequence->count; i++)
        if (sequence->lines[i].steady && log_has_number(sequence->lines[i].printed, value))
            samples->values[samples->count++] =
                ordered_of(sequence->lines[i].printed->values[value]);
}

static void row_medians(const struct log_sequence *sequence, struct samples *samples,
                        struct row *row)
{
    static const struct {
        unsigned column;
        enum log_value value;
    } medians[] = {{LOGS_TOKENS_PER_S, LOG_TOKENS_PER_S},
                   {LOGS_JOB_TOKENS_PER_S, LOG_JOB_TOKENS_PER_S},
                   {LOGS_TFLOPS, LOG_TFLOPS},
                   {LOGS_MFU_SHARE, LOG_MFU},
                   {LOGS_POWER_W, LOG_POWER_W}};
    for (size_t i = 0; i < sizeof medians / sizeof *medians; i++) {
        take_values(sequence, medians[i].value, samples);
        struct quantiles found = stats_quantiles(samples->values, samples->scratch, samples->count);
        row_f64_if(row, medians[i].column, samples->count, ordered_double(found.median));
    }
}

// What only older versions of DeepSpeed print, for the whole job.
static double mean_samples(const struct log_sequence *sequence)
{
    for (size_t i = sequence->count; i > 0; i--)
        if (log_has_number(sequence->lines[i - 1].printed, LOG_MEAN_SAMPLES_PER_S))
            return sequence->lines[i - 1].printed->values[LOG_MEAN_SAMPLES_PER_S];
    return (double)NAN;
}

static void row_samples(const struct log_sequence *sequence, struct samples *samples,
                        struct row *row)
{
    samples->count = 0;
    for (size_t i = 0; i < sequence->count; i++)
        if (sequence->lines[i].steady && !isnan(sequence->lines[i].samples_per_s))
            samples->values[samples->count++] = ordered_of(sequence->lines[i].samples_per_s);
    struct quantiles found = stats_quantiles(samples->values, samples->scratch, samples->count);
    row_f64(row, LOGS_SAMPLES_PER_S,
            samples->count ? ordered_double(found.median) : mean_samples(sequence));
}

static void row_step_times(const struct log_sequence *sequence, struct samples *samples,
                           struct row *row)
{
    samples->count = 0;
    for (size_t i = 0; i < sequence->count; i++)
        if (sequence->lines[i].steady && sequence->lines[i].step_ns >= 0)
            samples->values[samples->count++] = sequence->lines[i].step_ns;
    struct quantiles found = stats_quantiles(samples->values, samples->scratch, samples->count);
    row_i64_if(row, LOGS_STEP_MEDIAN_NS, samples->count, found.median);
    row_i64_if(row, LOGS_STEP_P95_NS, samples->count, found.p95);
    row_i64_if(row, LOGS_STEP_MAX_NS, samples->count, found.max);
}

// When it started, by its own clock: with a Z only if that is known to be UTC.
static void row_clock(const struct log_tables *tables, struct row *row,
                      char text[CLOCK_RFC3339_SIZE])
{
    const struct log_sequence *sequence = &tables->sequence;
    if (sequence->begin_ns == LOG_NO_TIME)
        return;
    int64_t end = -1;
    clock_rfc3339(sequence->begin_ns, text);
    size_t len = strlen(text);
    row_text(row, LOGS_BEGIN, (struct str){text, tables->book->utc || !len ? len : len - 1});
    for (size_t i = sequence->count; i > 0 && end <= 0; i--)
        end = sequence->lines[i - 1].since_ns;
    row_i64_if(row, LOGS_DURATION_NS, end > 0, end);
}

static int64_t count_events(const struct log_book *book, enum log_event_kind kind)
{
    int64_t count = 0;
    for (size_t i = 0; i < book->event_count; i++)
        count += book->events[i].kind == kind;
    return count;
}

static void row_batch(const struct log_sequence *sequence, struct row *row)
{
    for (size_t i = sequence->count; i > 0; i--)
        if (log_has_whole(sequence->lines[i - 1].printed, LOG_GLOBAL_BATCH)) {
            row_i64(row, LOGS_GLOBAL_BATCH,
                    log_whole(sequence->lines[i - 1].printed, LOG_GLOBAL_BATCH));
            return;
        }
}

static bool add_log(struct log_tables *tables, struct err *err)
{
    const struct log_sequence *sequence = &tables->sequence;
    size_t room = sequence->count + 1;
    struct samples samples = {arena_array(&tables->scratch, room, sizeof(int64_t), err),
                              arena_array(&tables->scratch, room, sizeof(int64_t), err), 0};
    struct row row = {.desc = &table_logs};
    char begin[CLOCK_RFC3339_SIZE];
    if (!samples.values || !samples.scratch)
        return false;
    row_text(&row, LOGS_FILE, tables->file);
    row_text_if(&row, LOGS_FRAMEWORK, tables->evidence->source.len, tables->evidence->source);
    row_i64(&row, LOGS_STEPS, (int64_t)sequence->count);
    row_i64(&row, LOGS_RESTARTS, sequence->restarts);
    row_clock(tables, &row, begin);
    row_step_times(sequence, &samples, &row);
    row_medians(sequence, &samples, &row);
    row_samples(sequence, &samples, &row);
    row_batch(sequence, &row);
    row_sums(sequence, &row);
    row_memory(sequence, tables->book, &row);
    row_i64(&row, LOGS_CHECKPOINTS, count_events(tables->book, LOG_CHECKPOINT));
    row_i64(&row, LOGS_EVALUATIONS, count_events(tables->book, LOG_EVALUATION));
    row_i64(&row, LOGS_FAULTS, count_events(tables->book, LOG_FAULT));
    return row_end(&row, tables->report, err);
}

static bool doubt_holes(const struct log_tables *tables, struct err *err)
{
    if (!tables->book->nul_bytes)
        return true;
    const char *detail = arena_printf(tables->report->arena, err, "%.*s has holes of NUL bytes",
                                      (int)tables->file.len, tables->file.at);
    return detail &&
           doubt_add(tables->report,
                     &(struct doubt){.item = "log_holes",
                                     .severity = "warning",
                                     .count = (int64_t)tables->book->nul_bytes,
                                     .detail = detail,
                                     .effect = "what was written there is missing: it was "
                                               "emptied while the job wrote on, or a node "
                                               "crashed"},
                     err);
}

bool log_tables_add(const struct evidence *evidence, struct str file, struct report *report,
                    struct err *err)
{
    const struct log_book *book = &evidence->log;
    struct log_book once;
    struct log_tables tables = {
        .evidence = evidence, .book = &once, .file = file, .report = report};
    if (book->step_count == 0 && book->event_count == 0)
        return true;
    arena_init(&tables.scratch, report->arena->budget);
    bool ok = log_sequence_of(book, &tables.scratch, &tables.sequence, err) &&
              log_once(book, tables.sequence.rank, &tables.scratch, &once, err) &&
              add_log(&tables, err) && add_steps(&tables, err) &&
              log_curve_add(&tables.sequence, file, report, err) && add_events(&tables, err) &&
              log_slow_add(&once, &tables.sequence, file, report, err) && doubt_holes(&tables, err);
    arena_free(&tables.scratch);
    return ok;
}
