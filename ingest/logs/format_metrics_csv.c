// SPDX-License-Identifier: Apache-2.0
// Metrics as CSV with a column of steps: metrics.csv of Lightning, histories of W&B. Cells may be
// empty, as values of a step come in their own rows.
#include "ingest/csv/csv.h"
#include "ingest/logs/log_text.h"
#include "ingest/logs/metric_tags.h"
#include "ingest/source/evidence_count.h"
#include "ingest/source/source.h"

#include <math.h>

enum { ROWS_BETWEEN = 1024, MOST_COLUMNS = 256, MOST_NAME = 96 };

// W&B counts calls as "_step", which are steps only where nothing else numbers them.
static const char *const step_names[] = {
    "train/global_step", "trainer/global_step", "step", "global_step", "_step", "Step",
    "iteration"};
static const char *const time_names[] = {"_timestamp", "timestamp", "wall_time", "created_at"};
enum {
    STEP_NAMES = sizeof step_names / sizeof *step_names,
    TIME_NAMES = sizeof time_names / sizeof *time_names
};

// Names are copied, as cells live until the next row.
struct header {
    char names[MOST_COLUMNS][MOST_NAME];
    size_t lens[MOST_COLUMNS]; // 0: not read
    size_t count, step, time;  // time: count without one
    bool of_job;               // "tps" is
};

static size_t place_of(const struct csv_row *row, const char *const *names, size_t count)
{
    for (size_t n = 0; n < count; n++)
        for (size_t i = 0; i < row->count; i++)
            if (str_equal(row->cells[i], str_of(names[n])))
                return i;
    return SIZE_MAX;
}

static bool take_header(const struct csv_row *row, struct header *header, struct err *err)
{
    header->step = place_of(row, step_names, STEP_NAMES);
    header->time = place_of(row, time_names, TIME_NAMES);
    header->count = row->count < MOST_COLUMNS ? row->count : MOST_COLUMNS;
    if (header->step == SIZE_MAX)
        return err_set(err, ERR_FORMAT, "found no column of steps, expected step or global_step");
    for (size_t i = 0; i < header->count; i++) {
        struct str name = row->cells[i];
        bool read = i != header->step && i != header->time && name.len <= MOST_NAME;
        header->lens[i] = read ? name.len : 0;
        header->of_job = header->of_job || str_equal(name, STR(METRIC_COPY_TOKENS));
        if (read)
            memcpy(header->names[i], name.at, name.len);
    }
    return true;
}

// Whole, also as "9.0".
static int64_t step_of(struct str cell)
{
    double number;
    bool is = log_is_number(cell, &number) && number >= 0 && number < 0x1p53;
    return is && floor(number) == number ? (int64_t)number : LOG_NO_STEP;
}

static int64_t time_of(struct str cell)
{
    double seconds;
    if (!log_is_number(cell, &seconds))
        return log_prefix_of(cell).time_ns;
    return fabs(seconds) < 9e9 ? (int64_t)llround(seconds * 1e9) : LOG_NO_TIME;
}

static bool take_row(const struct format_input *input, const struct header *header,
                     const struct csv_row *row, struct err *err)
{
    int64_t step = step_of(csv_cell(row, header->step));
    int64_t time_ns = header->time < row->count ? time_of(row->cells[header->time]) : LOG_NO_TIME;
    input->evidence->metrics.records++;
    for (size_t i = 0; step != LOG_NO_STEP && i < header->count && i < row->count; i++) {
        double number;
        struct str name = {header->names[i], header->lens[i]};
        if (!name.len || !log_is_number(row->cells[i], &number))
            continue;
        const struct metric_value value = {name, "simple_value", step, number};
        if (header->of_job && str_equal(name, STR("tps")))
            name = STR(METRIC_JOB_TOKENS);
        const struct metric_scalar scalar = {name, number, step, time_ns, -1, row->pos};
        if (!metric_book_add(input->evidence, &value, err) ||
            !metric_take(input->evidence, &scalar, "csv", err))
            return false;
    }
    return true;
}

static bool take_rows(const struct format_input *input, struct csv *csv, struct header *header,
                      struct err *err)
{
    struct csv_row row;
    bool end = false;
    for (size_t count = 0; csv_next(csv, &row, &end, err); count++)
        if (!(count ? take_row(input, header, &row, err) : take_header(&row, header, err)) ||
            (count % ROWS_BETWEEN == 0 &&
             !progress_report(input->progress, source_consumed(input->source), err)))
            return false;
    return end;
}

static bool gather_csv(const struct format_input *input, struct err *err)
{
    struct header *header = budget_zalloc(input->budget, sizeof *header, err);
    struct csv *csv = header ? csv_open(input->source, input->budget, err) : NULL;
    input->evidence->source = STR("csv");
    input->evidence->log.utc = true;
    bool ok = csv && take_rows(input, csv, header, err);
    csv_close(csv);
    budget_free(input->budget, header, sizeof *header);
    return ok && (input->evidence->metrics.series_count ||
                  err_set(err, ERR_FORMAT, "found CSV without a figure of a step"));
}

static void report_csv(const struct evidence *evidence, struct figures *figures)
{
    figures_add(figures, evidence->metrics.records, "records");
    figures_add(figures, (int64_t)evidence->log.step_count, "steps");
    figures_add(figures, (int64_t)evidence->metrics.series_count, "names");
}

static bool count_csv(const struct format_input *input, struct err *err)
{
    static const struct evidence_count how = {gather_csv, report_csv};
    return evidence_count(&how, input, err);
}

// A header with a step, and a loss or an epoch.
static enum format_likeness probe_csv(const struct format_sample *sample)
{
    static const char *const others[] = {
        "epoch", "loss", "train_loss", "train/loss", "train_loss_step", "reduced_train_loss"};
    bool step = false, other = false;
    for (size_t i = 0; i < STEP_NAMES; i++)
        step = step || csv_head_has(sample->head, step_names[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        other = other || csv_head_has(sample->head, others[i]);
    return step && other ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_metrics_csv = {
    .name = "metrics-csv",
    .what = "metrics as CSV",
    .kind = FORMAT_RECORDS,
    .probe = probe_csv,
    .count = count_csv,
    .gather = gather_csv,
};
