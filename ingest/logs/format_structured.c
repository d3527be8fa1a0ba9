// SPDX-License-Identifier: Apache-2.0
// torchtitan's structured logs: what the host of a rank did over the whole run, as the start and
// the end of spans, with times in UTC.
#include "ingest/json/json_outline.h"
#include "ingest/logs/json_line.h"
#include "ingest/logs/log_text.h"
#include "ingest/logs/metric_tags.h"
#include "ingest/source/evidence_count.h"
#include "ingest/source/lines.h"

#include <math.h>

// torchtitan has some twenty names, and a few threads that nest spans.
enum { LINES_BETWEEN = 1024, MOST_OPEN = 256, MOST_NAMES = 256, MOST_ERRORS = 10000 };

#define WRITER "torchtitan"

struct open_span {
    struct str name, task; // stored
    int64_t step, begin_ns;
};

struct structured {
    const struct format_input *input;
    struct evidence *evidence;
    struct open_span *open;
    size_t open_count;
    struct str *names; // stored
    size_t name_count;
    int64_t last_step;
};

struct record {
    struct str kind, name, event, task, message; // log_type, log_type_name, ...
    int64_t step, rank, time_us;
    double value;
    uint64_t pos;
};

// --- records ------------------------------------------------------------------------------------

static void take_member(struct record *record, struct str key, const struct json_line_value *value)
{
    const struct {
        const char *key;
        struct str *text;
        int64_t *count;
    } members[] = {{"log_type", &record->kind, NULL},    {"log_type_name", &record->name, NULL},
                   {"event_name", &record->event, NULL}, {"task_name", &record->task, NULL},
                   {"message", &record->message, NULL},  {"step", NULL, &record->step},
                   {"rank", NULL, &record->rank},        {"global_rank", NULL, &record->rank},
                   {"time_us", NULL, &record->time_us}};
    struct str rest;
    int64_t count;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!str_equal(key, str_of(members[i].key)))
            continue;
        if (members[i].text && value->kind == JSON_LINE_TEXT)
            *members[i].text = value->text;
        if (members[i].count && value->kind == JSON_LINE_SCALAR &&
            log_count(value->text, &count, &rest))
            *members[i].count = count;
    }
    if (str_equal(key, STR("value")) && value->kind == JSON_LINE_SCALAR)
        (void)log_number(value->text, &record->value, &rest);
}

static bool read_record(const struct line *line, struct record *record)
{
    struct json_line object;
    struct json_line_value value;
    struct str key, none = STR("");
    *record = (struct record){none, none, none, none, none, LOG_NO_STEP, -1, -1, NAN, line->pos};
    if (!json_line_open(&object, line->text))
        return false;
    while (json_line_next(&object, &key, &value))
        take_member(record, key, &value);
    return record->name.len && record->time_us >= 0 && record->time_us < INT64_MAX / 1000;
}

// --- spans --------------------------------------------------------------------------------------

static bool store_name(struct structured *log, struct str raw, struct str *name, struct err *err)
{
    for (size_t i = 0; i < log->name_count; i++)
        if (str_equal(log->names[i], raw)) {
            *name = log->names[i];
            return true;
        }
    *name = STR("other");
    if (log->name_count == MOST_NAMES)
        return true;
    if (!evidence_text(log->evidence, raw, name, err))
        return false;
    log->names[log->name_count++] = *name;
    return true;
}

static bool start_span(struct structured *log, const struct record *record, struct str name,
                       struct err *err)
{
    struct open_span span = {.step = record->step, .begin_ns = record->time_us * 1000};
    if (log->open_count == MOST_OPEN)
        return true;
    if (!store_name(log, name, &span.name, err) || !store_name(log, record->task, &span.task, err))
        return false;
    log->open[log->open_count++] = span;
    return true;
}

// The innermost open span of a task.
static struct open_span *innermost(const struct structured *log, struct str task)
{
    for (size_t i = log->open_count; i > 0; i--)
        if (str_equal(log->open[i - 1].task, task))
            return &log->open[i - 1];
    return NULL;
}

static bool add_step(struct structured *log, const struct metric_span *span, uint64_t pos,
                     struct err *err)
{
    struct metric_scalar scalar = {.name = STR("iteration-time"), // of this step alone
                                   .number = (double)span->dur_ns / 1e9,
                                   .step = span->step,
                                   .time_ns = span->begin_ns,
                                   .rank = log->evidence->metrics.rank,
                                   .pos = pos};
    return !str_equal(span->name, STR("step")) || span->step < 0 ||
           metric_take(log->evidence, &scalar, WRITER, err);
}

static bool end_span(struct structured *log, const struct record *record, struct str name,
                     struct err *err)
{
    struct open_span *open = innermost(log, record->task);
    if (!open || !str_equal(open->name, name)) {
        log->evidence->metrics.ends_without_start++;
        return true;
    }
    int64_t dur_ns = record->time_us * 1000 - open->begin_ns;
    struct metric_span span = {.name = open->name,
                               .step = open->step,
                               .begin_ns = open->begin_ns,
                               .dur_ns = dur_ns < 0 ? 0 : dur_ns};
    size_t at = (size_t)(open - log->open);
    log->open_count--;
    memmove(open, open + 1, (log->open_count - at) * sizeof *open);
    return metric_book_add_span(log->evidence, &span, err) &&
           add_step(log, &span, record->pos, err);
}

// Those that never ended: where the rank died or hangs.
static bool keep_open(struct structured *log, struct err *err)
{
    log->evidence->metrics.starts_without_end = (int64_t)log->open_count;
    for (size_t i = 0; i < log->open_count; i++) {
        const struct open_span *open = &log->open[i];
        struct metric_span span = {open->name, open->step, open->begin_ns, -1};
        if (!metric_book_add_span(log->evidence, &span, err))
            return false;
    }
    return true;
}

// --- instants -----------------------------------------------------------------------------------

static bool take_metric(struct structured *log, const struct record *record, struct err *err)
{
    struct metric_value value = {record->event, "simple_value", record->step, record->value};
    struct metric_scalar scalar = {.name = record->event,
                                   .number = record->value,
                                   .step = record->step,
                                   .time_ns = record->time_us * 1000,
                                   .rank = log->evidence->metrics.rank,
                                   .pos = record->pos};
    return metric_book_add(log->evidence, &value, err) &&
           metric_take(log->evidence, &scalar, WRITER, err);
}

static bool note_error(struct structured *log, const struct record *record, struct err *err)
{
    struct log_event event = {.kind = LOG_FAULT,
                              .after_step = record->step,
                              .time_ns = record->time_us * 1000,
                              .rank = log->evidence->metrics.rank,
                              .dur_ns = -1,
                              .pos = record->pos,
                              .loss = NAN,
                              .text = record->message.len ? record->message : record->name};
    return log->evidence->log.event_count >= MOST_ERRORS ||
           log_book_note(log->evidence, &event, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool ends_with(struct str text, const char *ending, struct str *before)
{
    struct str end = str_of(ending);
    if (text.len < end.len || !str_equal(log_from(text, text.len - end.len), end))
        return false;
    *before = (struct str){text.at, text.len - end.len};
    return true;
}

static void note_step(struct structured *log, const struct record *record)
{
    if (record->step <= log->last_step)
        return;
    log->last_step = record->step;
    log->evidence->metrics.numbered_steps++;
}

// An instant may be called "training_start".
static bool take_record(struct structured *log, const struct record *record, struct err *err)
{
    struct str name;
    struct metric_book *metrics = &log->evidence->metrics;
    metrics->records++;
    metrics->rank = metrics->rank < 0 ? record->rank : metrics->rank;
    note_step(log, record);
    if (str_equal(record->name, STR("metric_value")) && record->event.len)
        return take_metric(log, record, err);
    if (str_equal(record->kind, STR("instant")))
        return true;
    if (ends_with(record->name, "_error", &name))
        return note_error(log, record, err);
    if (ends_with(record->name, "_start", &name))
        return start_span(log, record, name, err);
    return !ends_with(record->name, "_end", &name) || end_span(log, record, name, err);
}

static bool take_lines(struct structured *log, struct lines *lines, struct err *err)
{
    struct line line = {0};
    struct record record;
    size_t count = 0;
    while (lines_next(lines, &line, err))
        if ((read_record(&line, &record) && !take_record(log, &record, err)) ||
            (++count % LINES_BETWEEN == 0 &&
             !progress_report(log->input->progress, source_consumed(log->input->source), err)))
            return false;
    return err->code == ERR_NONE;
}

static bool read_all(struct structured *log, struct err *err)
{
    struct lines lines;
    log->evidence->source = STR(WRITER);
    log->evidence->log.utc = true;
    bool ok = lines_open(&lines, log->input->source, log->input->budget, err) &&
              take_lines(log, &lines, err) && keep_open(log, err);
    lines_close(&lines);
    return ok && (log->evidence->metrics.records ||
                  err_set(err, ERR_FORMAT, "found no record of torchtitan's structured log"));
}

static bool gather_structured(const struct format_input *input, struct err *err)
{
    size_t open_bytes = MOST_OPEN * sizeof(struct open_span);
    size_t name_bytes = MOST_NAMES * sizeof(struct str);
    struct structured log = {.input = input, .evidence = input->evidence, .last_step = LOG_NO_STEP};
    log.open = budget_alloc(input->budget, open_bytes, err);
    log.names = log.open ? budget_alloc(input->budget, name_bytes, err) : NULL;
    bool ok = log.names && read_all(&log, err);
    budget_free(input->budget, log.open, log.open ? open_bytes : 0);
    budget_free(input->budget, log.names, log.names ? name_bytes : 0);
    return ok;
}

static void report_structured(const struct evidence *evidence, struct figures *figures)
{
    const struct metric_book *metrics = &evidence->metrics;
    figures_add(figures, metrics->rank, "rank");
    figures_add(figures, metrics->records, "records");
    figures_add(figures, metrics->numbered_steps, "steps");
    figures_add(figures, metrics->starts_without_end, "starts_without_end");
    figures_add(figures, metrics->ends_without_start, "ends_without_start");
    figures_add(figures, 0, "spans" IN);
    for (size_t i = 0; i < metrics->span_count; i++) {
        const struct metric_span *span = &metrics->spans[i];
        if (span->dur_ns < 0)
            continue;
        int len = (int)span->name.len;
        figures_add(figures, 1, "spans" IN "%.*s" IN "count", len, span->name.at);
        figures_add(figures, span->dur_ns / 1000, "spans" IN "%.*s" IN "us", len, span->name.at);
    }
}

static bool count_structured(const struct format_input *input, struct err *err)
{
    static const struct evidence_count how = {gather_structured, report_structured};
    return evidence_count(&how, input, err);
}

static enum format_likeness probe_structured(const struct format_sample *sample)
{
    bool is = sample->outline->root == '{' && json_outline_has(sample->outline, "time_us") &&
              str_find(sample->head, STR("\"log_type_name\"")) != SIZE_MAX;
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_torchtitan_structured = {
    .name = "torchtitan-structured",
    .what = "a structured log of torchtitan",
    .kind = FORMAT_RECORDS,
    .probe = probe_structured,
    .count = count_structured,
    .gather = gather_structured,
};
