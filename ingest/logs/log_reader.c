// SPDX-License-Identifier: Apache-2.0
// Looks for what marks a step, event or setting, and reads only the lines that have one.
#include "ingest/logs/log_reader.h"

#include "ingest/evidence/evidence.h"
#include "ingest/logs/log_dialects.h"
#include "ingest/logs/log_events.h"
#include "ingest/logs/log_marks.h"
#include "ingest/logs/log_mlperf.h"
#include "ingest/logs/log_refusals.h"
#include "ingest/logs/log_settings.h"
#include "ingest/logs/log_text.h"
#include "ingest/logs/log_timer.h"
#include "ingest/logs/log_validation.h"
#include "ingest/ncu/ncu_says.h"
#include "ingest/source/lines.h"

#include <math.h>

enum {
    MOST_EVENTS = 10000,
    MOST_ARGUMENTS = 4000, // lines after the heading of a block
    MOST_SETTING_LINES = 20000,
    MOST_BLOCK = 1000, // lines after the heading of a step
    FAR = 512,         // bytes around figures in which a progress bar is looked for
    SHOWN = 1024,      // bytes of a line that become an event or a setting
};

#define NO_POS UINT64_MAX

struct log_reader {
    struct evidence *evidence;
    struct log_marks marks;
    struct log_hints hints[LOG_MOST_DIALECTS];
    char room[LOG_LONGEST_LINE];
    bool minor;         // whether the last step was a minor one
    bool timed;         // some time was read
    uint64_t traceback; // position of a traceback whose exception is still to come; NO_POS
    unsigned char
        faults[LOG_MOST_EVENT_ROWS + 1]; // of each row since the last step, exceptions last
    uint64_t event_pos;                  // of the last line that was taken as an event
    size_t arguments;                    // lines of the block that may follow
    size_t setting_lines;
    const struct log_dialect *block; // whose lines may follow
    size_t block_lines;
    struct log_mlperf mlperf;
    struct log_timer timer;
    struct log_validation validation;
    int64_t bar_total;   // of the progress bar that counts steps; 0 not seen yet
    int64_t dicts[2];    // the numbers of the last two steps that a bar numbers; LOG_NO_STEP
    int64_t memory_step; // of the memory of a step that is still to come
    double memory;
    char tail[FAR]; // of the last block
    size_t tail_len;
};

// A line, and where in it the mark is.
struct found {
    struct log_written written;
    uint64_t pos;
    size_t at;
    struct str before, after; // what is around it, not far
};

#define MEMORY     "max reserved: "
#define ARGUMENTS  "-- arguments --"
#define TRACEBACK  "Traceback (most recent call last)"
#define VALIDATION "Validati" // on, or ng

// Beside those of steps, events and settings, after them.
enum other_mark { MARK_MEMORY, MARK_ARGUMENTS, MARK_TRACEBACK, MARK_VALIDATION, OTHER_MARKS };

static bool add_marks(struct log_reader *reader, struct budget *budget, struct err *err)
{
    static const char *const others[OTHER_MARKS] = {MEMORY, ARGUMENTS, TRACEBACK, VALIDATION};
    if (!log_marks_open(&reader->marks, budget, err))
        return false;
    for (size_t i = 0; i < log_dialect_count; i++)
        log_marks_add(&reader->marks, str_of(log_dialects[i].mark));
    for (size_t i = 0; i < log_event_row_count; i++)
        log_marks_add(&reader->marks, str_of(log_event_rows[i].mark));
    for (size_t i = 0; i < log_setting_row_count; i++)
        log_marks_add(&reader->marks, str_of(log_setting_rows[i].mark));
    for (size_t i = 0; i < OTHER_MARKS; i++)
        log_marks_add(&reader->marks, str_of(others[i]));
    return true;
}

static void note_zone(struct log_reader *reader, int64_t time_ns, bool utc)
{
    struct log_book *book = &reader->evidence->log;
    if (time_ns == LOG_NO_TIME)
        return;
    book->utc = utc && (book->utc || !reader->timed);
    reader->timed = true;
}

// --- steps --------------------------------------------------------------------------------------

static struct log_step *last_step(const struct log_reader *reader)
{
    const struct log_book *book = &reader->evidence->log;
    return book->step_count ? &book->steps[book->step_count - 1] : NULL;
}

static bool may_be_same_rank(const struct log_step *last, const struct log_step *step)
{
    return last->rank == step->rank || last->rank < 0 || step->rank < 0;
}

// Two parts of a framework may each print a line of a step, as DeepSpeed and Megatron-LM do, the
// first perhaps without its number, as Megatron-Bridge. DeepSpeed's may be that of a dict without a
// bar around it.
static bool completes(const struct log_reader *reader, const struct log_step *last,
                      const struct log_step *step)
{
    if (last->writer == step->writer || !may_be_same_rank(last, step))
        return false;
    if (step->step == LOG_NO_STEP)
        return !last->more && last->step != LOG_NO_STEP && log_step_has(step, LOG_LOSS) &&
               !log_step_has(last, LOG_LOSS);
    return last->step == step->step || (reader->minor && last->step == LOG_NO_STEP);
}

static bool same_value(const struct log_step *a, const struct log_step *b, enum log_value value)
{
    double x = a->values[value], y = b->values[value];
    return log_step_has(a, value) && log_step_has(b, value) && (x == y || (isnan(x) && isnan(y)));
}

static void take_memory(struct log_reader *reader, struct log_step *step)
{
    double before = log_step_has(step, LOG_MEMORY_BYTES) ? step->values[LOG_MEMORY_BYTES] : 0;
    if (step->step != LOG_NO_STEP && step->step == reader->memory_step)
        log_step_set(step, LOG_MEMORY_BYTES, fmax(before, reader->memory));
}

// The next step, if it is as far from the last as that was from the one before; LOG_NO_STEP
// unknown. Only steps that a bar numbers count: other parts of a job print lines between.
static int64_t next_step(const struct log_reader *reader)
{
    int64_t last = reader->dicts[1], before = reader->dicts[0];
    if (before < 0 || last < 0 || last > INT32_MAX || before > last)
        return LOG_NO_STEP;
    return last + (last - before);
}

// What follows the last dict in a text.
static struct str after_dict(struct str text)
{
    const char *dict = text.len ? memrchr(text.at, '}', text.len) : NULL;
    return dict ? log_from(text, (size_t)(dict - text.at) + 1) : text;
}

// What follows figures up to the next, or to the end of a line of another kind: a bar behind that
// was written later.
static struct str before_others(struct str text)
{
    size_t len = 0;
    bool blank = true;
    for (; len < text.len && text.at[len] != '{' && (blank || text.at[len] != '\n'); len++)
        blank = blank && memchr(" \t\r\n", text.at[len], 4);
    return (struct str){text.at, len};
}

// The bar of figures that were printed over it. Mostly it is written again after them, else that of
// the next step follows; before them it may be a little old. On the figures' own line it was not
// cleared, so it is not written again.
static bool find_own_bar(const struct found *found, int64_t expected, struct log_bar *bar)
{
    struct log_bar next = {0};
    struct str line = {found->written.text.at, found->at};
    struct str after = before_others(found->after);
    if (log_bar_of(line, false, bar))
        return true;
    bool is_before = log_bar_of(after_dict(found->before), false, bar);
    bool is_after = log_bar_of(after, true, &next);
    bool is_next = is_before && next.step == bar->step + 1 && next.step != expected;
    if (is_after && !is_next)
        *bar = next;
    else if (is_before && bar->step + 1 == expected)
        bar->step = expected; // the end of the file comes before the next
    return is_before || is_after;
}

// A job that was started again in the same log.
static bool starts_again(const struct log_step *last, const struct log_step *step)
{
    return last && log_step_has(last, LOG_EPOCH) && log_step_has(step, LOG_EPOCH) &&
           step->values[LOG_EPOCH] < last->values[LOG_EPOCH];
}

// Where the figures do not say their step, the bar counts the steps. Other bars, as of an
// evaluation, have another end.
static void number_by_bar(struct log_reader *reader, const struct found *found,
                          struct log_step *step)
{
    struct log_bar bar = {0};
    int64_t expected = next_step(reader), last = reader->dicts[1];
    reader->dicts[0] = last;
    reader->dicts[1] = LOG_NO_STEP;
    if (!find_own_bar(found, expected, &bar) ||
        (reader->bar_total && bar.total != reader->bar_total) ||
        (last != LOG_NO_STEP && bar.step <= last && !starts_again(last_step(reader), step)))
        return;
    reader->bar_total = bar.total;
    step->step = reader->dicts[1] = bar.step;
    // Its rate follows slowly.
    if (bar.seconds > 0 && !log_step_has(step, LOG_STEP_S) && !log_step_has(step, LOG_RUN_S))
        log_step_set(step, LOG_STEP_S, bar.seconds);
}

static void number_dict(struct log_reader *reader, const struct found *found, struct log_step *step)
{
    struct log_step by_bar = *step;
    by_bar.step = LOG_NO_STEP;
    number_by_bar(reader, found, &by_bar);
    if (step->step == LOG_NO_STEP || step->step == by_bar.step)
        *step = by_bar;
}

// LLaMA-Factory prints its own figures of a step before those of the trainer, which has others in
// addition, and no bar between.
static bool is_dict_again(const struct found *found, const struct log_step *last,
                          const struct log_step *step)
{
    struct log_bar bar;
    struct str line = {found->written.text.at, found->at};
    return last && last->writer == step->writer && last->has != step->has &&
           found->pos - last->pos < LOG_LONGEST_LINE && may_be_same_rank(last, step) &&
           same_value(last, step, LOG_LOSS) && same_value(last, step, LOG_EPOCH) &&
           !log_bar_of(line, true, &bar) && !log_bar_of(after_dict(found->before), true, &bar);
}

// A line of a minor part of a framework and one with the number of the step become one; what the
// latter says is more exact.
static void complete_minor(struct log_reader *reader, struct log_step *last,
                           const struct log_step *step)
{
    struct log_step both = reader->minor ? *step : *last;
    log_step_fill(&both, reader->minor ? last : step);
    both.pos = last->pos;
    both.step = step->step;
    *last = both;
    reader->minor = false;
}

// The number and the rank that the lines of a step have in common. The part with the loss is the
// job's framework.
static void join_lines(struct log_reader *reader, const struct log_dialect *dialect,
                       struct log_step *last, struct log_step *step)
{
    step->more = true;
    step->step = step->step == LOG_NO_STEP ? last->step : step->step;
    step->rank = step->rank < 0 ? last->rank : step->rank;
    last->rank = last->rank < 0 ? step->rank : last->rank;
    if (log_step_has(step, LOG_LOSS) && !log_step_has(last, LOG_LOSS))
        reader->evidence->source = str_of(dialect->source);
}

// A bar is written again with newer figures of its step.
static bool is_bar_again(const struct log_dialect *dialect, const struct log_step *last,
                         const struct log_step *step)
{
    return dialect->bar && last && last->writer == step->writer && step->step != LOG_NO_STEP &&
           last->step == step->step && may_be_same_rank(last, step);
}

// Its figures are then newer, but its clock may have gone on through an evaluation.
static void renew(struct log_step *last, const struct log_step *step)
{
    struct log_step newer = *step;
    if (newer.bar_time && log_step_has(last, LOG_STEP_S))
        log_step_set(&newer, LOG_STEP_S, last->values[LOG_STEP_S]);
    log_step_fill(&newer, last);
    newer.pos = last->pos;
    newer.more = last->more;
    *last = newer;
}

// Whether the numbers of the timer are no steps: its figures are then of the line before.
static bool take_timer(struct log_reader *reader, const struct log_dialect *dialect,
                       const struct log_step *step)
{
    struct log_book *book = &reader->evidence->log;
    if (dialect->timer)
        log_timer_counts(&reader->timer, book, step);
    else
        log_timer_others(&reader->timer, book, step);
    if (!dialect->timer || !reader->timer.differs)
        return false;
    struct log_step *last = last_step(reader);
    if (last && may_be_same_rank(last, step)) {
        log_step_fill(last, step);
        reader->minor = false;
    }
    return true;
}

static bool add_step(struct log_reader *reader, const struct log_dialect *dialect,
                     const struct found *found, struct log_step *step, struct err *err)
{
    struct log_step *last = last_step(reader);
    memset(reader->faults, 0, sizeof reader->faults);
    if (dialect->validates)
        log_validation_number(&reader->validation, found->written.text, last, step);
    if (is_bar_again(dialect, last, step)) {
        renew(last, step);
        return true;
    }
    bool dict = dialect->style == LOG_DICT && !dialect->steps[0];
    bool again = dict && is_dict_again(found, last, step);
    if (dict && !again)
        number_dict(reader, found, step);
    if (take_timer(reader, dialect, step))
        return true;
    last = last_step(reader);
    take_memory(reader, step);
    if (!last || !last->has)
        reader->evidence->source = str_of(dialect->source);
    if (last && (again || completes(reader, last, step))) {
        if (dialect->minor || reader->minor) {
            complete_minor(reader, last, step);
            return true;
        }
        join_lines(reader, dialect, last, step);
    }
    reader->minor = dialect->minor;
    return log_book_add(reader->evidence, step, err);
}

static bool take_step(struct log_reader *reader, size_t number, const struct found *found,
                      struct err *err)
{
    bool utc;
    struct log_step step;
    const struct log_dialect *dialect = &log_dialects[number];
    struct log_written plain = found->written;
    if (plain.text.len > LOG_LONGEST_LINE)
        return true;
    plain.text = log_uncolored(plain.text, reader->room, sizeof reader->room);
    if (!log_dialect_read(dialect, &plain, &reader->hints[number], &step, &utc))
        return true;
    step.pos = found->pos;
    step.writer = dialect->name;
    note_zone(reader, step.time_ns, utc);
    struct log_step *last = last_step(reader);
    reader->block = dialect->block ? dialect : NULL;
    reader->block_lines = MOST_BLOCK;
    if (!dialect->below)
        return add_step(reader, dialect, found, &step, err);
    if (last && last->writer == step.writer)
        log_step_fill(last, &step);
    return true;
}

// A line below the heading of a step, which ends where none has a figure.
static void take_below(struct log_reader *reader, const struct found *line)
{
    struct log_step step, *last = last_step(reader);
    struct log_written plain = line->written;
    bool is = plain.text.len <= LOG_LONGEST_LINE && reader->block_lines-- > 0 && last &&
              last->writer == reader->block->name;
    if (is)
        plain.text = log_uncolored(plain.text, reader->room, sizeof reader->room);
    if (is && log_dialect_below(reader->block, &plain, &step))
        log_step_fill(last, &step);
    else
        reader->block = NULL;
}

// "[Rank 1] (after 20 iterations) memory (MB) | ... | max reserved: 30764.0", perhaps of several
// ranks. It may be before the line of the step.
static void take_rank_memory(struct log_reader *reader, const struct found *found)
{
    const char *after = NULL;
    struct str text = found->written.text, rest, before = {text.at, found->at};
    before = log_from(before, before.len > FAR ? before.len - FAR : 0);
    for (size_t next = 0; (next = str_find(before, STR("(after "))) != SIZE_MAX;) {
        before = log_from(before, next + 7);
        after = before.at;
    }
    double mib;
    int64_t step;
    struct str number = log_from(text, found->at + sizeof MEMORY - 1);
    if (!after || !log_count(before, &step, &rest) ||
        log_number(number, &mib, &rest) != LOG_NUMBER || !(mib >= 0))
        return;
    double bytes = mib * 1024 * 1024;
    reader->memory = reader->memory_step == step ? fmax(bytes, reader->memory) : bytes;
    reader->memory_step = step;
    if (last_step(reader))
        take_memory(reader, last_step(reader));
}

// --- events -------------------------------------------------------------------------------------

// What is shown of a line: without colors, and cut between words: half a secret does not look like
// one.
static struct str shown(struct log_reader *reader, struct str text)
{
    if (text.len > SHOWN) {
        const char *space = memrchr(text.at, ' ', SHOWN);
        text.len = space ? (size_t)(space - text.at) : 0;
    }
    return log_uncolored(text, reader->room, SHOWN);
}

static bool note(struct log_reader *reader, struct log_event *event, struct str text,
                 struct err *err)
{
    const struct log_book *book = &reader->evidence->log;
    const struct log_step *last = last_step(reader);
    event->after_step = last ? last->step : LOG_NO_STEP;
    event->text = log_trim(text);
    return book->event_count >= MOST_EVENTS || log_book_note(reader->evidence, event, err);
}

// The same words for every rank: only the first of a fault counts.
static bool is_again(struct log_reader *reader, const struct log_event_row *row)
{
    size_t at = row->mark ? (size_t)(row - log_event_rows) : LOG_MOST_EVENT_ROWS;
    unsigned char *faults = &reader->faults[at];
    if (row->kind != LOG_FAULT)
        return false;
    if (*faults >= (row->most ? row->most : 1))
        return true;
    ++*faults;
    return false;
}

// The message without what launchers and loggers print before it: time and rank are kept
// separately.
static struct str message_of(const struct log_event_row *row, struct str text)
{
    static const char *const ends[] = {"] ", "]: ", " - "};
    size_t mark = row->mark ? str_find(text, str_of(row->mark)) : SIZE_MAX, from = 0;
    if (mark == SIZE_MAX)
        return text;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct str end = str_of(ends[i]);
        for (size_t at = from; at + end.len <= mark; at++)
            if (str_starts_with(log_from(text, at), end))
                from = at + end.len;
    }
    return log_from(text, from);
}

static bool take_event(struct log_reader *reader, const struct log_event_row *row,
                       const struct found *found, struct err *err)
{
    bool utc;
    struct log_event event;
    struct str text = shown(reader, found->written.text);
    if (reader->event_pos == found->pos || !log_event_read(row, text, &event, &utc))
        return true;
    reader->event_pos = found->pos;
    if (is_again(reader, row))
        return true;
    event.pos = found->pos;
    note_zone(reader, event.time_ns, utc);
    struct log_event *first = row->ends ? log_event_begun(&reader->evidence->log, &event) : NULL;
    if (!first)
        return note(reader, &event, message_of(row, text), err);
    first->dur_ns = event.dur_ns;
    return true;
}

static bool names_exception(struct str text)
{
    static const char *const words[] = {"Error", "Exception", "Interrupt", "Exit"};
    size_t len = str_find(text, STR(":"));
    struct str name = {text.at, len < text.len ? len : text.len};
    bool is = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is = is || str_find(name, str_of(words[i])) != SIZE_MAX;
    return is && str_find(name, STR(" ")) == SIZE_MAX;
}

// The line of a traceback that names the exception: the first that is not indented.
static bool take_exception(struct log_reader *reader, const struct found *line, struct err *err)
{
    enum { MOST_PREFIX = 64 };
    static const struct log_event_row row = {.kind = LOG_FAULT};
    struct str text = shown(reader, line->written.text);
    struct str message = log_from(text, log_stamp_length(text));
    size_t prefix = str_find(message, STR("]: "));
    message = prefix < MOST_PREFIX ? log_from(message, prefix + 3) : message;
    if (line->pos == reader->traceback || message.len == 0 || *message.at == ' ')
        return true;
    reader->traceback = NO_POS;
    return !names_exception(message) || take_event(reader, &row, line, err);
}

// --- settings -----------------------------------------------------------------------------------

static bool take_setting(struct log_reader *reader, const struct log_setting_row *row,
                         const struct found *found, struct err *err)
{
    struct str text = shown(reader, found->written.text);
    size_t at = str_find(text, str_of(row->mark));
    if (at == SIZE_MAX || reader->setting_lines++ >= MOST_SETTING_LINES)
        return true;
    return log_setting_read(row, text, at, reader->evidence, err);
}

static bool take_argument(struct log_reader *reader, const struct found *line, struct err *err)
{
    bool is;
    struct str text = shown(reader, line->written.text);
    reader->arguments--;
    if (str_find(text, STR("end of arguments")) != SIZE_MAX)
        reader->arguments = 0;
    return reader->setting_lines++ >= MOST_SETTING_LINES ||
           log_argument_read(text, reader->evidence, &is, err);
}

// --- lines --------------------------------------------------------------------------------------

static bool take_other(struct log_reader *reader, enum other_mark mark, const struct found *found,
                       struct err *err)
{
    (void)err;
    switch (mark) {
    case MARK_MEMORY: take_rank_memory(reader, found); break;
    case MARK_ARGUMENTS: reader->arguments = MOST_ARGUMENTS; break;
    case MARK_TRACEBACK: reader->traceback = found->pos; break;
    case MARK_VALIDATION:
        log_validation_bar(&reader->validation, log_from(found->written.text, found->at));
        break;
    case OTHER_MARKS: break;
    }
    return true;
}

// Its time is in UTC, and a step that the framework prints as well has its figures.
static bool take_mlperf(struct log_reader *reader, const struct log_dialect *dialect,
                        const struct found *found, struct err *err)
{
    struct log_mlperf_record record;
    struct str text = found->written.text, json = log_from(text, found->at + strlen(dialect->mark));
    int64_t rank = log_prefix_of(text).rank;
    switch (log_mlperf_read(&reader->mlperf, json, &record)) {
    case MLPERF_NOTHING: break;
    case MLPERF_STEP:
        record.step.rank = rank;
        record.step.pos = found->pos;
        record.step.writer = dialect->name;
        note_zone(reader, record.step.time_ns, true);
        return add_step(reader, dialect, found, &record.step, err);
    case MLPERF_EVENT:
        record.event.rank = rank;
        record.event.pos = found->pos;
        note_zone(reader, record.event.time_ns, true);
        return note(reader, &record.event, record.event.text, err);
    case MLPERF_SETTING:
        return reader->setting_lines++ >= MOST_SETTING_LINES ||
               evidence_set(reader->evidence, record.name, record.value, err);
    }
    return true;
}

static bool take_mark(struct log_reader *reader, size_t mark, const struct found *found,
                      struct err *err)
{
    if (mark < log_dialect_count && log_dialects[mark].records)
        return take_mlperf(reader, &log_dialects[mark], found, err);
    if (mark < log_dialect_count)
        return take_step(reader, mark, found, err);
    mark -= log_dialect_count;
    if (mark < log_event_row_count)
        return take_event(reader, &log_event_rows[mark], found, err);
    mark -= log_event_row_count;
    if (mark < log_setting_row_count)
        return take_setting(reader, &log_setting_rows[mark], found, err);
    return take_other(reader, (enum other_mark)(mark - log_setting_row_count), found, err);
}

// --- blocks -------------------------------------------------------------------------------------

// What is left to search of a block. LF ends a line, and CR a piece of it, as progress bars write
// them; a piece counts as a line.
struct search {
    const struct line *block;
    struct str tail;  // of the block before
    char around[FAR]; // it and the start of this one
    size_t at;
    size_t first, end, past;    // of the line at `at`: where it ends, and after its LF
    size_t next;                // the end of the current piece
    struct found line;          // that piece
    bool tried[LOG_MOST_MARKS]; // on it
};

static void find_line(struct search *search)
{
    struct str text = search->block->text;
    if (search->at < search->past)
        return;
    const char *before = memrchr(text.at + search->past, '\n', search->at - search->past);
    const char *to = memchr(text.at + search->at, '\n', text.len - search->at);
    search->first = before ? (size_t)(before - text.at) + 1 : search->past;
    search->end = to ? (size_t)(to - text.at) : text.len;
    search->past = search->end + (to != NULL);
}

static struct str before_line(struct search *search, size_t first)
{
    struct str text = search->block->text, tail = search->tail;
    if (first >= FAR)
        return (struct str){text.at + first - FAR, FAR};
    tail = log_from(tail, tail.len + first > FAR ? tail.len + first - FAR : 0);
    memcpy(search->around, tail.at, tail.len);
    memcpy(search->around + tail.len, text.at, first);
    return (struct str){search->around, tail.len + first};
}

static void enter_line(struct search *search)
{
    if (search->at < search->next)
        return;
    find_line(search);
    struct str text = search->block->text;
    size_t at = search->at;
    size_t first = search->next > search->first ? search->next : search->first;
    const char *back = memrchr(text.at + first, '\r', at - first);
    first = back ? (size_t)(back - text.at) + 1 : first;
    const char *to = memchr(text.at + at, '\r', search->end - at);
    size_t end = to ? (size_t)(to - text.at) : search->end;
    bool ended = to || search->past > search->end;
    search->next = end + ended;
    size_t left = text.len - search->next + search->block->after_bytes;
    search->line = (struct found){.written = {{text.at + first, end - first}, ended},
                                  .pos = search->block->pos + first,
                                  .at = at - first,
                                  .before = before_line(search, first),
                                  .after = {text.at + search->next, left}};
    if (search->line.after.len > FAR)
        search->line.after.len = FAR;
    _Static_assert(FAR <= LINES_AFTER_BYTES, "so it is the same however a file is cut into blocks");
    memset(search->tried, 0, sizeof search->tried);
}

static bool is_memory(size_t mark)
{
    return mark == log_dialect_count + log_event_row_count + log_setting_row_count + MARK_MEMORY;
}

// Takes what is next in the first `end` bytes.
static bool take_next(struct log_reader *reader, struct search *search, size_t end, struct err *err)
{
    struct str text = {search->block->text.at, end};
    int mark = log_marks_find(&reader->marks, text, &search->at);
    if (mark < 0) {
        search->at = end;
        return true;
    }
    enter_line(search);
    if (search->tried[mark] && !is_memory((size_t)mark)) {
        search->at += reader->marks.texts[mark].len;
        return true;
    }
    size_t steps = reader->evidence->log.step_count;
    search->tried[mark] = true;
    search->line.at = search->at - (size_t)(search->line.written.text.at - text.at);
    if (!take_mark(reader, (size_t)mark, &search->line, err))
        return false;
    bool is_step = steps != reader->evidence->log.step_count;
    search->at = is_step ? search->next : search->at + reader->marks.texts[mark].len;
    return true;
}

// In a block of arguments or figures and within a traceback every line counts.
static bool take_every(struct log_reader *reader, struct search *search, struct err *err)
{
    enter_line(search);
    if (reader->arguments) {
        search->at = search->next;
        return take_argument(reader, &search->line, err);
    }
    if (reader->block)
        take_below(reader, &search->line);
    if (reader->traceback != NO_POS && !take_exception(reader, &search->line, err))
        return false;
    return take_next(reader, search, search->next, err);
}

// The last bytes so far, also where a block is shorter.
static void keep_tail(struct log_reader *reader, struct str text)
{
    size_t added = text.len < FAR ? text.len : FAR;
    size_t kept = reader->tail_len < FAR - added ? reader->tail_len : FAR - added;
    memmove(reader->tail, reader->tail + reader->tail_len - kept, kept);
    memcpy(reader->tail + kept, text.at + text.len - added, added);
    reader->tail_len = kept + added;
}

static bool take_block(struct log_reader *reader, const struct line *block, struct err *err)
{
    struct search search = {.block = block, .tail = {reader->tail, reader->tail_len}};
    while (search.at < block->text.len) {
        bool every = reader->arguments || reader->block || reader->traceback != NO_POS;
        if (!(every ? take_every(reader, &search, err)
                    : take_next(reader, &search, block->text.len, err)))
            return false;
    }
    keep_tail(reader, block->text);
    return true;
}

// --- the file -----------------------------------------------------------------------------------

static bool take_blocks(struct log_reader *reader, const struct format_input *input,
                        struct lines *lines, struct err *err)
{
    struct line block = {0};
    while (lines_next_many(lines, &block, err))
        if (!take_block(reader, &block, err) ||
            !progress_report(input->progress, source_consumed(input->source), err))
            return false;
    return err->code == ERR_NONE;
}

static bool read_all(struct log_reader *reader, const struct format_input *input, struct err *err)
{
    struct lines lines;
    bool ok = add_marks(reader, input->budget, err) &&
              lines_open(&lines, input->source, input->budget, err);
    if (ok) {
        ok = take_blocks(reader, input, &lines, err);
        reader->evidence->log.nul_bytes = lines.nul_bytes;
        lines_close(&lines);
    }
    log_marks_close(&reader->marks);
    return ok;
}

// Headings without a figure below them.
static void drop_empty(struct log_book *book)
{
    size_t kept = 0;
    for (size_t i = 0; i < book->step_count; i++)
        if (book->steps[i].has)
            book->steps[kept++] = book->steps[i];
    book->step_count = kept;
}

// A job that ended before its first step says why, and one may only evaluate. Source code that
// prints evaluations has neither a result nor a time.
static bool has_news(const struct log_book *book)
{
    for (size_t i = 0; i < book->event_count; i++) {
        const struct log_event *event = &book->events[i];
        bool found = !isnan(event->loss) || event->time_ns != LOG_NO_TIME;
        if (event->kind == LOG_FAULT || (event->kind == LOG_EVALUATION && found))
            return true;
    }
    return false;
}

// What the text is: by the table of formats that are not read, or by what else is known.
static bool refuse(const struct format *printed, const char *otherwise, struct err *err)
{
    if (printed && printed->words)
        return err_set(err, ERR_FORMAT, "found %s: %s", printed->what, printed->advice);
    return err_set(err, ERR_FORMAT, "%s", otherwise);
}

bool log_read(const struct format_input *input, struct err *err)
{
    struct log_reader reader = {.evidence = input->evidence,
                                .traceback = NO_POS,
                                .event_pos = NO_POS,
                                .memory_step = LOG_NO_STEP,
                                .mlperf = {.eval_ns = LOG_NO_TIME},
                                .timer = {LOG_NO_STEP, LOG_NO_STEP, false},
                                .validation = {.epoch = -1},
                                .dicts = {LOG_NO_STEP, LOG_NO_STEP}};
    const char *of_ncu = ncu_refusal_of(input->head); // which reading may overwrite
    const char *refusal = of_ncu ? of_ncu : log_refusal_of(input->head);
    const struct format *printed =
        input->head.len ? format_find_unread(input->head, STR("")) : NULL;
    if (!read_all(&reader, input, err))
        return false;
    drop_empty(&input->evidence->log);
    return input->evidence->log.step_count || has_news(&input->evidence->log) ||
           refuse(printed, refusal, err);
}
