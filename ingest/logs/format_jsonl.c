// SPDX-License-Identifier: Apache-2.0
// Metrics as lines of JSON, an object per step: torchtitan, Automodel, histories of W&B.
#include "ingest/json/json_outline.h"
#include "ingest/logs/json_line.h"
#include "ingest/logs/log_text.h"
#include "ingest/logs/metric_tags.h"
#include "ingest/source/evidence_count.h"
#include "ingest/source/lines.h"

#include <math.h>

enum { LINES_BETWEEN = 1024, MOST_DEPTH = 4, MOST_NAME = 256 };

// ms-swift's logging.jsonl has "1/94" for a step, and steps per second since the job began.
#define SWIFT_STEP "global_step/max_steps"
#define SWIFT_RATE "train_speed(iter/s)"

// LLaMA-Factory's trainer_log.jsonl has the time since the start as "0:01:10". Its "throughput" is
// all tokens divided by that, so too high in a job that began from a checkpoint.
#define LLAMA_FACTORY_STEP "current_steps"

// W&B counts calls as "_step", which are steps only where nothing else numbers them.
static const char *const step_keys[] = {
    "train/global_step", "trainer/global_step", "step", "global_step", "_step", "iteration",
    SWIFT_STEP,          LLAMA_FACTORY_STEP};
static const char *const time_keys[] = {"_timestamp", "timestamp", "wall_time"};

#define COUNT_OF(names)      (sizeof(names) / sizeof *(names))
#define PLACE_IN(key, names) str_place(key, names, COUNT_OF(names))

// Seconds since 1970, or a date.
static int64_t time_of(const struct json_line_value *value)
{
    double seconds;
    struct str rest;
    if (value->kind == JSON_LINE_TEXT)
        return log_prefix_of(value->text).time_ns;
    bool is = log_number(value->text, &seconds, &rest) == LOG_NUMBER && fabs(seconds) < 9e9;
    return is ? (int64_t)llround(seconds * 1e9) : LOG_NO_TIME;
}

// What a line says about itself.
struct about {
    int64_t step, time_ns;
    size_t step_key;    // of step_keys
    bool of_job;        // "tps" is
    bool timed, trains; // "time" is that of a step, of which a part is "data_time"; not of a test
    bool texts;         // the step is a number in quotes, as others are then
    int64_t elapsed_s;  // -1 unknown
    bool whole;         // it ends as an object does
    bool sums_up;       // the trainer's last line, whose loss is the mean of the job
    bool has_loss;
};

// Of the latest line that has an elapsed time.
struct elapsed {
    int64_t step, seconds;
};

// "0:01:10", "1 day, 2:03:04"
static int64_t seconds_of(struct str text)
{
    int64_t days = 0, part, seconds = 0;
    struct str rest = text;
    size_t comma = str_find(text, STR(", "));
    if (comma < text.len && log_count(text, &days, &rest))
        text = log_from(text, comma + 2);
    for (int i = 0; i < 3; i++) {
        if (!log_count(text, &part, &rest) || part > INT32_MAX || days > INT32_MAX ||
            (i < 2 && (rest.len == 0 || *rest.at != ':')))
            return -1;
        seconds = seconds * 60 + part;
        text = log_from(rest, 1);
    }
    return days * 86400 + seconds;
}

// "12", or "12/94".
static bool is_step(const struct json_line_value *value, int64_t *step)
{
    struct str rest;
    return value->kind != JSON_LINE_OTHER && log_count(value->text, step, &rest) &&
           (rest.len == 0 || value->kind == JSON_LINE_SCALAR || *rest.at == '/');
}

static void note_about(struct about *about, struct str key, const struct json_line_value *value)
{
    int64_t step;
    size_t place = PLACE_IN(key, step_keys);
    if (place < about->step_key && is_step(value, &step)) {
        about->step = step;
        about->step_key = place;
        about->texts =
            value->kind == JSON_LINE_TEXT && !memchr(value->text.at, '/', value->text.len);
    }
    if (PLACE_IN(key, time_keys) < COUNT_OF(time_keys) && about->time_ns == LOG_NO_TIME)
        about->time_ns = time_of(value);
    if (str_equal(key, STR("elapsed_time")) && value->kind == JSON_LINE_TEXT)
        about->elapsed_s = seconds_of(value->text);
    about->of_job = about->of_job || str_equal(key, STR(METRIC_COPY_TOKENS));
    about->timed = about->timed || str_equal(key, STR("data_time"));
    about->trains = about->trains || str_equal(key, STR("lr"));
    about->has_loss = about->has_loss || str_equal(key, STR("loss"));
    about->sums_up = about->sums_up || str_equal(key, STR("train_runtime"));
}

static struct about about_line(struct str text)
{
    struct about about = {.step = LOG_NO_STEP,
                          .time_ns = LOG_NO_TIME,
                          .step_key = COUNT_OF(step_keys),
                          .elapsed_s = -1};
    struct json_line line;
    struct json_line_value value;
    struct str key;
    if (json_line_open(&line, text))
        while (json_line_next(&line, &key, &value))
            note_about(&about, key, &value);
    struct str rest = log_trim(line.rest);
    about.whole = rest.len && *rest.at == '}';
    about.sums_up = about.sums_up && !about.has_loss;
    return about;
}

static bool is_llama_factory(const struct about *about)
{
    return about->step_key < COUNT_OF(step_keys) &&
           str_equal(str_of(step_keys[about->step_key]), STR(LLAMA_FACTORY_STEP));
}

static bool take_number(const struct format_input *input, const struct about *about,
                        struct metric_scalar *scalar, struct err *err)
{
    struct metric_value value = {scalar->name, "simple_value", about->step, scalar->number};
    if (about->sums_up)
        return metric_book_add(input->evidence, &value, err);
    if (about->of_job && str_equal(scalar->name, STR("tps")))
        scalar->name = STR(METRIC_JOB_TOKENS);
    if (about->timed && about->trains && str_equal(scalar->name, STR("time")))
        scalar->name = STR("iteration-time");
    if (str_equal(scalar->name, STR(SWIFT_RATE)) && scalar->number > 0) {
        scalar->name = STR("train_runtime");
        scalar->number = (double)about->step / scalar->number;
    }
    if (is_llama_factory(about) && str_equal(scalar->name, STR("total_tokens")))
        scalar->name = STR("num_input_tokens_seen");
    return metric_book_add(input->evidence, &value, err) &&
           metric_take(input->evidence, scalar, "jsonl", err);
}

struct object {
    const struct about *about;
    struct str text, name; // name: "" of the line
    uint64_t pos;
    int depth;
};

static bool is_about(struct str key)
{
    return PLACE_IN(key, step_keys) < COUNT_OF(step_keys) ||
           PLACE_IN(key, time_keys) < COUNT_OF(time_keys);
}

static bool has_type(struct str text)
{
    struct json_line members;
    struct json_line_value value;
    struct str key;
    if (json_line_open(&members, text))
        while (json_line_next(&members, &key, &value))
            if (str_equal(key, STR("_type")))
                return true;
    return false;
}

// "" if it is longer than a name may be.
static struct str name_in(const struct object *object, struct str key, char room[MOST_NAME])
{
    struct str outer = object->name;
    if (!object->depth)
        return key;
    if (outer.len + 1 + key.len > MOST_NAME || !outer.len)
        return STR("");
    memcpy(room, outer.at, outer.len);
    room[outer.len] = '.';
    memcpy(room + outer.len + 1, key.at, key.len);
    return (struct str){room, outer.len + 1 + key.len};
}

// A step takes the time between two lines, divided by their steps.
static bool take_elapsed(const struct format_input *input, const struct about *about,
                         struct elapsed *last, uint64_t pos, struct err *err)
{
    struct elapsed now = {about->step, about->elapsed_s}, before = *last;
    if (now.seconds < 0 || !is_llama_factory(about))
        return true;
    *last = now;
    if (before.seconds < 0 || now.step <= before.step || now.seconds <= before.seconds)
        return true;
    double each = (double)(now.seconds - before.seconds) / (double)(now.step - before.step);
    struct metric_scalar scalar = {STR("iteration-time"), each, about->step, LOG_NO_TIME, -1, pos};
    return metric_take(input->evidence, &scalar, "jsonl", err);
}

// The figures of an object. Those of one inside have its name before theirs, as W&B shows them:
// {"train": {"loss": 1}} is train.loss. What has a _type is media or a histogram.
static bool take_object(const struct format_input *input, const struct object *object,
                        struct err *err)
{
    struct json_line members;
    struct json_line_value value;
    struct str key;
    char room[MOST_NAME];
    double number;
    bool ok = json_line_open(&members, object->text);
    while (ok && json_line_next(&members, &key, &value)) {
        struct str name = name_in(object, key, room);
        struct object inner = {object->about, value.text, name, object->pos, object->depth + 1};
        bool nested = value.kind == JSON_LINE_OTHER && inner.depth < MOST_DEPTH &&
                      str_starts_with(value.text, STR("{")) && !has_type(value.text);
        if (nested && !take_object(input, &inner, err))
            return false;
        bool quoted = value.kind == JSON_LINE_TEXT && object->about->texts;
        if ((value.kind != JSON_LINE_SCALAR && !quoted) || (!object->depth && is_about(key)) ||
            !name.len || !log_is_number(value.text, &number))
            continue;
        struct metric_scalar scalar = {
            name, number, object->about->step, object->about->time_ns, -1, object->pos};
        if (!take_number(input, object->about, &scalar, err))
            return false;
    }
    return true;
}

static bool take_line(const struct format_input *input, const struct line *line,
                      struct elapsed *last, struct err *err)
{
    bool mark = line->pos == 0 && str_starts_with(line->text, STR("\xEF\xBB\xBF"));
    struct str text = log_from(line->text, mark ? 3 : 0);
    struct about about = about_line(text);
    struct json_line members;
    struct object object = {&about, text, STR(""), line->pos, 0};
    if (!json_line_open(&members, text))
        return true;
    input->evidence->metrics.records += about.whole; // the last may be half of one
    if (about.step == LOG_NO_STEP)
        return true;
    if (!take_object(input, &object, err))
        return false;
    return take_elapsed(input, &about, last, line->pos, err);
}

static bool take_lines(const struct format_input *input, struct lines *lines, struct err *err)
{
    struct line line = {0};
    struct elapsed last = {0, -1};
    size_t count = 0;
    while (lines_next(lines, &line, err))
        if (!take_line(input, &line, &last, err) ||
            (++count % LINES_BETWEEN == 0 &&
             !progress_report(input->progress, source_consumed(input->source), err)))
            return false;
    return err->code == ERR_NONE;
}

static bool gather_jsonl(const struct format_input *input, struct err *err)
{
    struct lines lines;
    input->evidence->source = STR("jsonl");
    input->evidence->log.utc = true;
    bool ok =
        lines_open(&lines, input->source, input->budget, err) && take_lines(input, &lines, err);
    lines_close(&lines);
    return ok && (input->evidence->metrics.series_count ||
                  err_set(err, ERR_FORMAT, "found lines of JSON without a figure of a step"));
}

static void report_jsonl(const struct evidence *evidence, struct figures *figures)
{
    figures_add(figures, evidence->metrics.records, "records");
    figures_add(figures, (int64_t)evidence->log.step_count, "steps");
    figures_add(figures, (int64_t)evidence->metrics.series_count, "names");
}

static bool count_jsonl(const struct format_input *input, struct err *err)
{
    static const struct evidence_count how = {gather_jsonl, report_jsonl};
    return evidence_count(&how, input, err);
}

// Lines of objects, the first of which has the number of a step and more. A single object may be
// JSON of any other kind.
static enum format_likeness probe_jsonl(const struct format_sample *sample)
{
    size_t key = 0;
    while (key < COUNT_OF(step_keys) && !json_outline_has(sample->outline, step_keys[key]))
        key++;
    if (sample->outline->root != '{' || key == COUNT_OF(step_keys) ||
        sample->outline->key_count < 2 || !sample->outline->ended ||
        json_outline_has(sample->outline, "ph"))
        return FORMAT_UNLIKE;
    if (sample->outline->after == '{')
        return FORMAT_SURE;
    bool named = !sample->outline->after && str_contains_nocase(sample->filename, STR(".jsonl"));
    return named ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_jsonl = {
    .name = "jsonl",
    .what = "metrics as lines of JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_jsonl,
    .count = count_jsonl,
    .gather = gather_jsonl,
};
