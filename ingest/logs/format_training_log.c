// SPDX-License-Identifier: Apache-2.0
// Logs of training jobs: steps as frameworks print them (log_dialects.c), what happened between
// them (log_events.c), and the arguments that Megatron lists at its start.
#include "ingest/format.h"
#include "ingest/json/json_outline.h"
#include "ingest/logs/log_dialects.h"
#include "ingest/logs/log_events.h"
#include "ingest/logs/log_figures.h"
#include "ingest/logs/log_needles.h"
#include "ingest/logs/log_text.h"
#include "ingest/source/lines.h"

enum { PLAIN_BYTES = 8192, MOST_EVENTS = 100000 };

// Numbers of needles: dialects, phrases, then these.
enum {
    NEEDLE_PHRASE = LOG_DIALECT_COUNT,
    NEEDLE_ARGUMENTS = NEEDLE_PHRASE + LOG_PHRASE_COUNT,
    NEEDLE_ARGUMENTS_END,
    NEEDLE_RUNTIME,
};

struct reading {
    const struct format_input *input;
    struct evidence *evidence;
    struct log_needles needles;
    bool in_arguments;
    int64_t last_step;
    const struct log_phrase *last_fault; // since the last step
    char plain[PLAIN_BYTES];
};

static void add_needles(struct log_needles *needles)
{
    for (size_t i = 0; i < LOG_DIALECT_COUNT; i++)
        log_needles_add(needles, log_dialects[i].needle);
    for (size_t i = 0; i < LOG_PHRASE_COUNT; i++)
        log_needles_add(needles, log_phrases[i].needle);
    log_needles_add(needles, STR("---- arguments ----"));
    log_needles_add(needles, STR("---- end of arguments ----"));
    log_needles_add(needles, STR("'train_runtime': "));
}

// --- what a line says ---------------------------------------------------------------------------

static bool take_step(struct reading *reading, const struct log_dialect *dialect, struct str line,
                      uint64_t pos, struct err *err)
{
    size_t at = str_find(line, dialect->needle), start;
    struct log_step step = {.pos = pos, .writer = dialect->name};
    if (at == SIZE_MAX || !log_dialect_read(dialect, line, at, &start, &step))
        return true;
    struct str before = {line.at, start};
    step.rank = log_rank(before);
    step.time_ns = log_time(before);
    reading->last_step = step.step;
    reading->last_fault = NULL;
    if (!reading->evidence->source.len)
        reading->evidence->source = str_of(dialect->name);
    return log_book_add(reading->evidence, &step, err);
}

// Every rank reports a fault: the first one counts.
static bool take_event(struct reading *reading, const struct log_phrase *phrase, struct str line,
                       uint64_t pos, struct err *err)
{
    struct log_event event = {.pos = pos, .after_step = reading->last_step, .text = log_trim(line)};
    if (reading->evidence->log.event_count >= MOST_EVENTS ||
        (phrase->kind == LOG_FAULT && reading->last_fault == phrase))
        return true;
    struct str before = {line.at, str_find(line, phrase->needle)};
    reading->last_fault = phrase->kind == LOG_FAULT ? phrase : reading->last_fault;
    event.rank = log_rank(before);
    event.time_ns = log_time(before);
    log_phrase_read(phrase, line, &event);
    return log_book_note(reading->evidence, &event, err);
}

// "  seq_length ........................... 4096"
static bool take_argument(struct reading *reading, struct str line, struct err *err)
{
    size_t dots = str_find(line, STR(" ..."));
    if (dots == SIZE_MAX)
        return true;
    struct str name = log_trim((struct str){line.at, dots});
    const char *blank = memrchr(name.at, ' ', name.len);
    name = blank ? log_from(name, (size_t)(blank - name.at) + 1) : name;
    struct str value = log_from(line, dots + 1);
    while (value.len && *value.at == '.')
        value = log_from(value, 1);
    value = log_trim(value);
    return !name.len || !value.len || evidence_set(reading->evidence, name, value, err);
}

// A member of a dict that was printed, without quotes.
static struct str member_of(struct str line, const char *name)
{
    size_t at = str_find(line, str_of(name));
    struct str value = log_from(line, at == SIZE_MAX ? line.len : at + strlen(name));
    size_t len = 0;
    while (len < value.len && !memchr(",}", value.at[len], 2))
        len++;
    value = log_trim((struct str){value.at, len});
    bool quoted = value.len >= 2 && *value.at == '\'';
    return quoted ? (struct str){value.at + 1, value.len - 2} : value;
}

// What Hugging Face's Trainer says at the end.
static bool take_runtime(struct reading *reading, struct str line, struct err *err)
{
    static const struct {
        const char *member;
        struct str name;
    } said[] = {{"'train_runtime': ", {"train_runtime", 13}},
                {"'train_steps_per_second': ", {"train_steps_per_second", 22}},
                {"'train_samples_per_second': ", {"train_samples_per_second", 24}},
                {"'train_loss': ", {"train_loss", 10}}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct str value = member_of(line, said[i].member);
        if (value.len && !evidence_set(reading->evidence, said[i].name, value, err))
            return false;
    }
    return true;
}

static bool take_hit(struct reading *reading, unsigned needle, struct str line, uint64_t pos,
                     struct err *err)
{
    if (needle < NEEDLE_PHRASE)
        return take_step(reading, &log_dialects[needle], line, pos, err);
    if (needle < NEEDLE_ARGUMENTS)
        return take_event(reading, &log_phrases[needle - NEEDLE_PHRASE], line, pos, err);
    if (needle == NEEDLE_RUNTIME)
        return take_runtime(reading, line, err);
    reading->in_arguments = needle == NEEDLE_ARGUMENTS;
    return true;
}

// --- lines --------------------------------------------------------------------------------------

// The piece of a line around a place: progress bars write over a line by returning to its start.
static struct str piece_at(struct str line, size_t at)
{
    const char *begin = memrchr(line.at, '\r', at);
    struct str piece = log_from(line, begin ? (size_t)(begin - line.at) + 1 : 0);
    const char *end = memchr(line.at + at, '\r', line.len - at);
    piece.len -= end ? (size_t)(line.at + line.len - end) : 0;
    return piece;
}

static bool take_line(struct reading *reading, const struct line *line, struct err *err)
{
    size_t at, from = 0;
    unsigned needle;
    if (reading->in_arguments && !take_argument(reading, line->text, err))
        return false;
    while (log_needles_find(&reading->needles, line->text, from, &at, &needle)) {
        struct str piece = piece_at(line->text, at);
        struct str plain = log_plain(piece, reading->plain, sizeof reading->plain);
        if (!take_hit(reading, needle, plain, line->pos + (uint64_t)(piece.at - line->text.at),
                      err))
            return false;
        // One step or event a piece, and what follows the needle in others.
        from = (size_t)(piece.at - line->text.at) + piece.len;
    }
    return true;
}

static bool take_lines(struct reading *reading, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    size_t count = 0;
    bool ok = lines_open(&lines, reading->input->source, reading->input->budget, err);
    while (ok && lines_next(&lines, &line, err)) {
        ok = take_line(reading, &line, err);
        if (ok && ++count % 4096 == 0)
            ok = progress_report(reading->input->progress, source_consumed(reading->input->source),
                                 err);
    }
    lines_close(&lines);
    return ok && err->code == ERR_NONE;
}

static bool gather(const struct format_input *input, struct err *err)
{
    struct reading *reading = budget_zalloc(input->budget, sizeof *reading, err);
    if (!reading)
        return false;
    reading->input = input;
    reading->evidence = input->evidence;
    reading->last_step = LOG_NO_STEP;
    add_needles(&reading->needles);
    struct log_book *log = &input->evidence->log;
    bool ok = take_lines(reading, err);
    budget_free(input->budget, reading, sizeof *reading);
    return ok && (log->step_count || log->event_count ||
                  err_set(err, ERR_FORMAT,
                          "found text without a training step in it, expected the log of a "
                          "training job; /docs/recording lists those that are read"));
}

static bool count(const struct format_input *input, struct err *err)
{
    struct evidence evidence;
    struct format_input own = *input;
    own.evidence = &evidence;
    evidence_init(&evidence, input->budget);
    figures_list(input->figures, "lines_by_kind" IN);
    bool ok = gather(&own, err) && log_figures_add(&evidence, input->figures, err);
    evidence_free(&evidence);
    return ok;
}

// --- what it looks like -------------------------------------------------------------------------

static bool has_step(struct str head)
{
    struct log_needles needles = {0};
    size_t at;
    unsigned ignored;
    add_needles(&needles);
    return log_needles_find(&needles, head, 0, &at, &ignored);
}

static bool is_named_like_one(struct str name)
{
    static const char *const words[] = {".log", ".out", ".err", ".txt", "stdout", "stderr"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_contains_nocase(name, str_of(words[i])))
            return true;
    return false;
}

static bool is_text(struct str head)
{
    for (size_t i = 0; i < head.len; i++)
        if ((unsigned char)head.at[i] < ' ' && !memchr("\t\n\r\f\b\x1b", head.at[i], 6))
            return false;
    return head.len > 0;
}

// Text with a word of a log at its start, or with a name like one: the first step may come late.
static enum format_likeness probe(struct str head, struct str filename)
{
    struct json_outline outline = json_outline_of(head);
    bool prefixed = outline.root == '[' && outline.ended && outline.after; // "[1,0]<stdout>: ..."
    if (!is_text(head) || (outline.json && !prefixed))
        return FORMAT_UNLIKE;
    if (has_step(head))
        return FORMAT_SURE;
    return is_named_like_one(filename) ? FORMAT_PERHAPS : FORMAT_UNLIKE;
}

const struct format format_training_log = {
    .name = "training-log",
    .what = "the log of a training job",
    .kind = FORMAT_TEXT,
    .probe = probe,
    .gather = gather,
    .count = count,
};
