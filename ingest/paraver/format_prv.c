// SPDX-License-Identifier: Apache-2.0
// Paraver traces (.prv): states of threads, as Extrae writes them, become ranges of the host;
// events on rows of devices, as nsys2prv writes them, device work, and events on other rows calls.
// Other events and messages are counted. The names of states and events (.pcf) and of rows (.row)
// may come before (file_sets).
#include "ingest/source/format.h"
#include "ingest/paraver/prv_rows.h"
#include "ingest/source/lines.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_STATES = 64, MOST_FIELDS = 16, LINES_BETWEEN = 1024 };

enum record { STATE = 1, EVENT = 2, MESSAGE = 3 };

struct prv {
    const struct format_input *input;
    struct trace_builder *builder;
    struct lines lines;
    int64_t unit_ns, end, applications;
    const char *unit;
    int64_t states, event_lines, event_pairs, messages, message_bytes, comments, communicators,
        other;
    int64_t state_time[MOST_STATES]; // in units
    str_id state_names[MOST_STATES]; // from before the header, else set when first used
    struct prv_rows rows;
    int64_t device_events;
    bool ends_broken; // whether the last line is no whole record
};

// The numbers of Paraver's own states.
static const char *const state_names[] = {"Idle",
                                          "Running",
                                          "Not created",
                                          "Waiting for a message",
                                          "Blocking send",
                                          "Synchronization",
                                          "Test/probe",
                                          "Scheduling and fork/join",
                                          "Wait",
                                          "Blocked",
                                          "Immediate send",
                                          "Immediate receive",
                                          "I/O",
                                          "Group communication",
                                          "Tracing disabled",
                                          "Others",
                                          "Send and receive",
                                          "Memory transfer",
                                          "Profiling",
                                          "On-line analysis",
                                          "Remote memory access",
                                          "Atomic memory operation",
                                          "Memory ordering",
                                          "Distributed locking",
                                          "Overhead",
                                          "One-sided operation",
                                          "Startup latency",
                                          "Waiting for links",
                                          "Data copy",
                                          "Round trip",
                                          "Allocating memory",
                                          "Freeing memory"};
enum { NAMED_STATES = sizeof state_names / sizeof *state_names, IDLE = 0, NOT_CREATED = 2 };

// --- fields -------------------------------------------------------------------------------------

// Takes the text before the next colon, or what is left.
static struct str next_field(struct str *rest)
{
    const char *colon = rest->len ? memchr(rest->at, ':', rest->len) : NULL;
    size_t len = colon ? (size_t)(colon - rest->at) : rest->len;
    struct str field = {rest->at, len};
    size_t used = len + (colon != NULL);
    *rest = (struct str){rest->at + used, rest->len - used};
    return field;
}

// Reads numbers up to the end of the line or the room for them. False if one is not a number.
static bool read_numbers(struct str rest, int64_t *numbers, size_t room, size_t *count)
{
    for (*count = 0; rest.len && *count < room; ++*count)
        if (!str_to_i64(next_field(&rest), &numbers[*count]))
            return false;
    return true;
}

// --- the header ---------------------------------------------------------------------------------

static void read_unit(struct prv *prv, struct str unit)
{
    bool ns = str_equal(unit, STR("_ns")), ms = str_equal(unit, STR("_ms"));
    prv->unit = ns ? "ns" : ms ? "ms" : "us";
    prv->unit_ns = ns ? 1 : ms ? 1000000 : 1000;
}

// The number of nodes, perhaps with their processors in parentheses, which may hold colons.
static void pass_nodes(struct str *rest)
{
    const char *open = rest->len ? memchr(rest->at, '(', rest->len) : NULL;
    const char *colon = rest->len ? memchr(rest->at, ':', rest->len) : NULL;
    if (open && colon && open < colon) {
        const char *close = memchr(open, ')', rest->len - (size_t)(open - rest->at));
        size_t used = close ? (size_t)(close - rest->at) : 0;
        *rest = (struct str){rest->at + used, rest->len - used};
    }
    (void)next_field(rest);
}

// "#Paraver (21/01/2022 at 16:37):1616378951_ns:1(20):2:8(1:1,...),12(1:1,...),14"
static bool read_header(struct prv *prv, const struct line *line, struct err *err)
{
    struct str rest = line->text, number;
    const char *close = rest.len ? memchr(rest.at, ')', rest.len) : NULL;
    if (close) {
        size_t used = (size_t)(close - rest.at) + 1;
        rest = (struct str){rest.at + used, rest.len - used};
        (void)next_field(&rest);
        number = next_field(&rest);
        size_t digits = str_digits_end(number, 0);
        read_unit(prv, (struct str){number.at + digits, number.len - digits});
        number.len = digits;
        pass_nodes(&rest);
    }
    bool good = close && str_to_i64(number, &prv->end) && prv->end >= 0 &&
                str_to_i64(next_field(&rest), &prv->applications) && prv->applications >= 0;
    return (good && prv_rows_layout(&prv->rows, rest, err)) ||
           (!good &&
            err_set_at(
                err, ERR_FORMAT, line->pos,
                "found a header of Paraver without an end time and a number of applications"));
}

// --- records ------------------------------------------------------------------------------------

static bool name_state(struct prv *prv, int64_t state, str_id *name, struct err *err)
{
    char text[32];
    bool known = state < NAMED_STATES;
    if (state < MOST_STATES && prv->state_names[state]) {
        *name = prv->state_names[state];
        return true;
    }
    snprintf(text, sizeof text, "State %" PRId64, state);
    if (!trace_builder_text(prv->builder, known ? str_of(state_names[state]) : str_of(text),
                            ERR_NO_POS, name, err))
        return false;
    if (state < MOST_STATES)
        prv->state_names[state] = *name;
    return true;
}

static int64_t to_ns(const struct prv *prv, int64_t time)
{
    int64_t ns;
    return __builtin_mul_overflow(time, prv->unit_ns, &ns) ? VALUE_ABSENT : ns;
}

// Processes are the tasks of an application.
static bool place(struct prv *prv, const int64_t *numbers, struct event_record *record,
                  struct err *err)
{
    enum { APPLICATION = 1, TASK, THREAD };
    char text[48];
    record->pid.number = numbers[TASK];
    record->tid.number = numbers[THREAD];
    if (prv->applications < 2)
        return true;
    snprintf(text, sizeof text, "application %" PRId64, numbers[APPLICATION]);
    return trace_builder_text(prv->builder, str_of(text), ERR_NO_POS, &record->pid.text, err);
}

// The states of a device say only when it works, its events what it does.
static bool is_of_device(const struct prv *prv, const int64_t *numbers)
{
    enum { APPLICATION = 1, TASK, THREAD };
    const struct prv_row *row =
        prv->rows.type_count
            ? prv_rows_find(&prv->rows, numbers[APPLICATION], numbers[TASK], numbers[THREAD])
            : NULL;
    return row && row->of_device;
}

// cpu:application:task:thread:start:end:state. A thread that does nothing has no range; an end of
// -1 is that of the trace.
static bool take_state(struct prv *prv, const int64_t *numbers, const struct line *line,
                       struct err *err)
{
    enum { START = 4, END, WHICH };
    int64_t state = numbers[WHICH], end = numbers[END] == -1 ? prv->end : numbers[END], length;
    struct event_record record = event_record_of(EVENT_ANNOTATION);
    prv->states++;
    if (state >= 0 && state < MOST_STATES && !__builtin_sub_overflow(end, numbers[START], &length))
        figures_sum(&prv->state_time[state], length);
    if (state == IDLE || state == NOT_CREATED || is_of_device(prv, numbers))
        return true;
    if (state < 0 || numbers[START] < 0 ||
        !event_record_times(prv->builder, &record, to_ns(prv, numbers[START]), to_ns(prv, end),
                            line->pos))
        return true;
    return place(prv, numbers, &record, err) && name_state(prv, state, &record.name, err) &&
           trace_builder_add(prv->builder, &record, err);
}

static int64_t count_colons(struct str text)
{
    int64_t count = 0;
    for (size_t i = 0; i < text.len; i++)
        count += text.at[i] == ':';
    return count;
}

// cpu:application:task:thread:time:type:value[:type:value]...
static bool take_event(struct prv *prv, const int64_t *numbers, struct str line, struct err *err)
{
    enum { APPLICATION = 1, TASK, THREAD, TIME, BEFORE_PAIRS = 6 };
    int64_t pair[2], time_ns = to_ns(prv, numbers[TIME]);
    struct prv_row *row =
        prv_rows_find(&prv->rows, numbers[APPLICATION], numbers[TASK], numbers[THREAD]);
    int64_t fields = count_colons(line) + 1 - BEFORE_PAIRS;
    prv->event_lines++;
    prv->event_pairs += fields / 2;
    prv->ends_broken = fields % 2 != 0;
    bool is_read = row && (row->of_device || prv->applications < 2);
    if (!is_read || time_ns == VALUE_ABSENT || numbers[TIME] < 0)
        return true;
    prv->device_events += row->of_device;
    for (int field = 0; field < BEFORE_PAIRS; field++)
        (void)next_field(&line);
    while (str_to_i64(next_field(&line), &pair[0]) && str_to_i64(next_field(&line), &pair[1]))
        if (!prv_rows_event(&prv->rows, row, time_ns, pair, err))
            return false;
    return true;
}

// "1:5:1:5:1:0:147421126:1"
static bool take_record(struct prv *prv, const struct line *line, struct err *err)
{
    enum { STATE_FIELDS = 7, EVENT_FIELDS = 5, MESSAGE_FIELDS = 14, SIZE = 12 };
    struct str rest = line->text;
    int64_t kind = 0, numbers[MOST_FIELDS];
    size_t count = 0;
    bool good = str_to_i64(next_field(&rest), &kind) &&
                read_numbers(rest, numbers, kind == EVENT ? EVENT_FIELDS : MOST_FIELDS, &count);
    prv->ends_broken = false;
    if (good && kind == STATE && count == STATE_FIELDS)
        return take_state(prv, numbers, line, err);
    if (good && kind == EVENT && count == EVENT_FIELDS)
        return take_event(prv, numbers, line->text, err);
    if (good && kind == MESSAGE && count == MESSAGE_FIELDS) {
        prv->messages++;
        figures_sum(&prv->message_bytes, numbers[SIZE]);
        return true;
    }
    prv->other++;
    prv->ends_broken = true;
    if (kind == STATE || kind == EVENT || kind == MESSAGE)
        trace_builder_repair(prv->builder, REPAIR_INCOMPLETE_OTHER, line->pos);
    return true;
}

static bool is_blank(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] != ' ' && text.at[i] != '\t')
            return false;
    return true;
}

static bool take_line(struct prv *prv, const struct line *line, struct err *err)
{
    if (is_blank(line->text))
        return true;
    switch (*line->text.at) {
    case '#': prv->comments++; return true;
    case 'c':
    case 'C':
    case 'i':
    case 'I': prv->communicators++; return true;
    default: return take_record(prv, line, err);
    }
}

// --- names --------------------------------------------------------------------------------------

static bool is_header(struct str text)
{
    return str_starts_with(text, STR("#Paraver")) || str_starts_with(text, STR("#PARAVER"));
}

// "12    I/O"
static bool name_of_state(struct prv *prv, const struct line *line, struct err *err)
{
    struct str text = str_trim(line->text, PRV_BLANKS);
    size_t digits = str_digits_end(text, 0);
    int64_t state;
    struct str name = str_trim((struct str){text.at + digits, text.len - digits}, PRV_BLANKS);
    if (!str_to_i64((struct str){text.at, digits}, &state) || state >= MOST_STATES || !name.len)
        return true;
    return trace_builder_text(prv->builder, name, line->pos, &prv->state_names[state], err);
}

// What comes before the header: a .pcf, whose sections start with a word and end with a blank line,
// and a .row. *line becomes the header.
static bool read_names(struct prv *prv, struct line *line, struct err *err)
{
    bool states = false, ok = lines_next(&prv->lines, line, err);
    for (; ok && !is_header(line->text); ok = lines_next(&prv->lines, line, err)) {
        if (!prv_rows_name(&prv->rows, line->text, err))
            return false;
        struct str text = str_trim(line->text, PRV_BLANKS);
        if (!text.len || !str_is_digit(text.at[0]))
            states = str_equal(text, STR("STATES"));
        else if (states && !name_of_state(prv, line, err))
            return false;
    }
    return ok || (err->code == ERR_NONE &&
                  err_set(err, ERR_FORMAT,
                          "found Paraver's names without a trace: send the .prv of the same name "
                          "in one request"));
}

// --- the file -----------------------------------------------------------------------------------

static bool read_lines(struct prv *prv, struct err *err)
{
    struct line line = {0};
    uint64_t count = 0;
    if (!read_names(prv, &line, err) || !read_header(prv, &line, err))
        return false;
    while (lines_next(&prv->lines, &line, err))
        if (!take_line(prv, &line, err) ||
            (++count % LINES_BETWEEN == 0 &&
             !progress_report(prv->input->progress, source_consumed(prv->input->source), err)))
            return false;
    trace_builder_count_input(
        prv->builder, (uint64_t)(prv->states + prv->event_lines + prv->messages), prv->lines.pos);
    return err->code == ERR_NONE;
}

// Of a file that is cut the last line mostly is no whole record; one that was not written to its
// end has zeros there. The header's end says nothing: a whole trace may have no record near it.
static bool is_cut(const struct prv *prv)
{
    return prv->ends_broken || prv->lines.nul_bytes;
}

static void report(const struct prv *prv)
{
    struct figures *figures = prv->input->figures;
    figures_add(figures, prv->end, "end");
    figures_text(figures, str_of(prv->unit), "unit");
    figures_add(figures, prv->applications, "applications");
    figures_add(figures, prv->communicators, "communicators");
    figures_add(figures, prv->comments, "comments");
    figures_add(figures, prv->states, "states");
    figures_add(figures, prv->event_lines, "event_lines");
    figures_add(figures, prv->event_pairs, "event_pairs");
    figures_add(figures, prv->messages, "comms");
    figures_add(figures, prv->message_bytes, "comm_bytes");
    figures_add(figures, prv->other, "other");
    figures_add(figures, 0, "state_time" IN);
    for (int state = 0; state < MOST_STATES; state++)
        if (prv->state_time[state])
            figures_add(figures, prv->state_time[state], "state_time" IN "%d", state);
}

static bool read_all(struct prv *prv, struct err *err)
{
    trace_builder_base(prv->builder, VALUE_ABSENT);
    trace_builder_recorder(prv->builder, RECORDER_EXTRAE);
    if (!lines_open(&prv->lines, prv->input->source, prv->input->budget, err) ||
        !read_lines(prv, err))
        return false;
    if (prv->lines.damage.code != ERR_NONE)
        trace_builder_repair(prv->builder, REPAIR_COMPRESSION, prv->lines.pos);
    if (is_cut(prv))
        trace_builder_repair(prv->builder, REPAIR_TRUNCATED, prv->lines.pos);
    report(prv);
    if (prv->states || prv->device_events)
        return true;
    bool empty = !prv->event_lines && !prv->messages;
    return err_set(err, ERR_FORMAT, "found a Paraver trace without %s",
                   empty ? "any record"
                   : prv->rows.labels
                       ? "states, and without device work that its .pcf and .row name"
                       : "states and rows of devices: send its .pcf and .row with "
                         "it in one request");
}

static bool prv_read(const struct format_input *input, struct err *err)
{
    struct prv prv = {.input = input, .builder = input->builder};
    prv.rows.budget = input->budget;
    prv.rows.builder = input->builder;
    bool ok = read_all(&prv, err);
    prv_rows_free(&prv.rows);
    lines_close(&prv.lines);
    return ok;
}

// "LEVEL THREAD SIZE 8"
static bool starts_row_file(struct str head)
{
    const char *end = memchr(head.at, '\n', head.len);
    struct str line = {head.at, end ? (size_t)(end - head.at) : head.len};
    return str_starts_with(line, STR("LEVEL ")) && str_find(line, STR(" SIZE ")) != SIZE_MAX;
}

// nsys2prv starts a .pcf with an empty line, and indents its settings.
static bool starts_pcf(struct str head)
{
    static const struct str first = {"DEFAULT_OPTIONS", sizeof "DEFAULT_OPTIONS" - 1};
    while (head.len && memchr(" \t\r\n", head.at[0], 4))
        head = (struct str){head.at + 1, head.len - 1};
    return str_starts_with(head, first) &&
           (head.len == first.len || memchr(" \t\r\n", head.at[first.len], 4));
}

static enum format_likeness prv_probe(const struct format_sample *sample)
{
    bool is = is_header(sample->head) || str_starts_with(sample->head, STR("new format\n#P")) ||
              starts_pcf(sample->head) || starts_row_file(sample->head);
    return is ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_prv = {
    .name = "prv",
    .what = "a Paraver trace",
    .kind = FORMAT_TRACE,
    .ending = ".prv",
    .probe = prv_probe,
    .read = prv_read,
};
