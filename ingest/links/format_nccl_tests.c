// SPDX-License-Identifier: Apache-2.0
// What nccl-tests and rccl-tests print: a header, the devices, a table of sizes and a trailer. Runs
// may follow each other, or alternate if a launcher labels the lines of several.
#include "ingest/links/link_figures.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"
#include "ingest/source/lines.h"

#include <math.h>

// The parts of a run, in this order: what belongs before the current one starts the next run.
enum phase { PHASE_NONE, PHASE_VERSION, PHASE_SETUP, PHASE_RANKS, PHASE_TABLE, PHASE_END };

enum column {
    COLUMN_OTHER,
    COLUMN_SIZE,
    COLUMN_COUNT,
    COLUMN_TYPE,
    COLUMN_REDUCTION,
    COLUMN_ROOT,
    COLUMN_TIME, // the first of each mode
    COLUMN_ALGORITHM,
    COLUMN_BUS,
    COLUMN_WRONG,
    COLUMN_ERROR, // of old versions: the largest deviation
    COLUMN_LEAST,
    COLUMN_TAIL,
};

enum { MOST_STREAMS = 64 };

// Lines of one process: those with one launcher's label, or some of them.
struct stream {
    struct str tag;
    size_t next;           // of the processes with that label; 0 none
    int64_t group;         // of the first device
    uint64_t ranks;        // bits of those of the group that were listed
    int64_t bytes;         // of the last row since the header; -1 none
    bool apart;            // from others that ran at the same time
    size_t last_row;       // of the first with a label: 1 + whose the last row was; 0 none
    struct str collective; // of the next run, by its command line
    enum phase phase;
    uint32_t run;
    unsigned char columns[LINK_MOST_WORDS]; // enum column
    size_t column_count;
    double time_unit;
    bool in_place_only;         // by the line above the header
    struct str type, reduction; // of the last row
};

struct nccl_tests {
    const struct format_input *input;
    struct evidence *evidence;
    struct stream *streams;
    size_t stream_count;
    struct str tool, host, name; // of the last run and device
};

// One line, whose it is, and its words.
struct one {
    struct stream *first; // with its label
    struct stream *stream;
    struct str text;
    uint64_t pos;
    struct link_words words;
};

// --- runs ---------------------------------------------------------------------------------------

static struct link_run *run_of(const struct nccl_tests *tests, const struct stream *stream)
{
    struct link_run *runs = tests->evidence->links.parts[LINK_RUNS].items;
    return &runs[stream->run];
}

static bool start_run(struct nccl_tests *tests, struct stream *stream, uint64_t pos,
                      struct err *err)
{
    struct link_run run = link_empty_run("nccl-tests", pos);
    if (stream->collective.at)
        run.collective = stream->collective;
    stream->collective = (struct str){0};
    stream->column_count = 0;
    stream->bytes = -1;
    stream->ranks = 0;
    stream->apart = false;
    stream->run = (uint32_t)tests->evidence->links.parts[LINK_RUNS].count;
    return link_tests_add(tests->evidence, LINK_RUNS, &run, err);
}

// Enters a part of a run; if the current run is past it, a new run starts.
static bool enter(struct nccl_tests *tests, const struct one *one, enum phase most,
                  enum phase reaches, struct err *err)
{
    struct stream *stream = one->stream;
    bool starts = stream->phase == PHASE_NONE || stream->phase > most;
    stream->phase = starts || stream->phase < reaches ? reaches : stream->phase;
    return !starts || start_run(tests, stream, one->pos, err);
}

static bool name_run(struct nccl_tests *tests, struct str word, struct str *collective,
                     struct err *err)
{
    struct str name = link_test_name(word);
    return name.len == 0 || evidence_text(tests->evidence, name, collective, err);
}

// --- processes ----------------------------------------------------------------------------------

// Built without MPI, each process that a launcher starts is a test by itself, and their lines mix.

// The number after a word.
static int64_t number_after(const struct link_words *words, const char *name)
{
    for (size_t i = 0; i + 1 < words->count; i++)
        if (str_equal(words->at[i], str_of(name)))
            return link_whole(words->at[i + 1]);
    return -1;
}

static struct stream *next_process(const struct nccl_tests *tests, const struct stream *process)
{
    return process->next ? &tests->streams[process->next] : NULL;
}

// Whether the next line of a kind may be of a process.
typedef bool may_print(const struct nccl_tests *tests, const struct stream *process,
                       const struct one *one);

static bool may_start(const struct nccl_tests *tests, const struct stream *process,
                      const struct one *one)
{
    (void)tests, (void)one;
    return process->phase <= PHASE_VERSION;
}

static bool may_list(const struct nccl_tests *tests, const struct stream *process,
                     const struct one *one)
{
    (void)tests;
    int64_t rank = link_whole(link_word(&one->words, 1));
    bool known = rank >= 0 && rank < 64 && process->ranks & UINT64_C(1) << rank &&
                 number_after(&one->words, "Group") == process->group;
    return process->phase <= PHASE_RANKS && !known;
}

static bool may_head(const struct nccl_tests *tests, const struct stream *process,
                     const struct one *one)
{
    (void)tests, (void)one;
    return process->phase < PHASE_TABLE;
}

static bool may_sum_up(const struct nccl_tests *tests, const struct stream *process,
                       const struct one *one)
{
    (void)tests, (void)one;
    return process->phase == PHASE_TABLE;
}

static bool may_conclude(const struct nccl_tests *tests, const struct stream *process,
                         const struct one *one)
{
    (void)one;
    return process->phase >= PHASE_TABLE && !run_of(tests, process)->concluded;
}

// What comes again before the process has a row is of one that runs beside it.
static bool is_beside(const struct one *one, const struct stream *last)
{
    return last->phase < PHASE_END && (last->bytes < 0 || one->first->next);
}

// The name of a command line is of whoever starts next.
static void take_command(struct one *one)
{
    if (one->stream == one->first || !one->first->collective.at)
        return;
    one->stream->collective = one->first->collective;
    one->first->collective = (struct str){0};
}

static bool add_process(struct nccl_tests *tests, struct one *one, struct stream *last,
                        struct err *err)
{
    struct stream *process = &tests->streams[tests->stream_count];
    struct link_run run = *run_of(tests, last);
    *process = (struct stream){.tag = last->tag};
    last->next = tests->stream_count++;
    process->collective = run.collective;
    one->stream = process;
    take_command(one);
    if (!start_run(tests, process, one->pos, err))
        return false;
    process->phase = PHASE_VERSION;
    run_of(tests, process)->version = run.version;
    return true;
}

// Finds whose line it is; the newest process comes first, as one before it may have been ended.
static bool find_process(struct nccl_tests *tests, struct one *one, may_print *may, struct err *err)
{
    struct stream *last = one->first, *found = NULL;
    for (struct stream *at = one->first; at; at = next_process(tests, at)) {
        last = at;
        found = at->phase == PHASE_NONE || may(tests, at, one) ? at : found;
    }
    one->stream = found ? found : last;
    take_command(one);
    bool adds = !found && is_beside(one, last) && tests->stream_count < MOST_STREAMS &&
                may != may_sum_up && may != may_conclude;
    return !adds || add_process(tests, one, last, err);
}

// Rows that alternate are of processes that ran beside each other.
static void note_apart(struct nccl_tests *tests, struct stream *process)
{
    if (!process->apart)
        link_tests_warn(tests->evidence, LINK_APART, run_of(tests, process)->pos);
    process->apart = true;
}

// Sizes ascend: a row is of the process that is closest behind it.
static struct stream *process_of_row(const struct nccl_tests *tests, const struct one *one)
{
    struct stream *found = NULL, *furthest = one->first;
    int64_t bytes = link_whole(link_word(&one->words, 0));
    for (struct stream *at = one->first; at && one->first->next; at = next_process(tests, at)) {
        if (at->phase != PHASE_TABLE)
            continue;
        if (at->bytes < bytes && (!found || at->bytes >= found->bytes))
            found = at;
        furthest = furthest->phase != PHASE_TABLE || at->bytes > furthest->bytes ? at : furthest;
    }
    return found ? found : furthest;
}

static void find_row(struct nccl_tests *tests, struct one *one)
{
    size_t last = one->first->last_row;
    one->stream = process_of_row(tests, one);
    if (!one->first->next || one->stream->phase != PHASE_TABLE)
        return;
    one->first->last_row = 1 + (size_t)(one->stream - tests->streams);
    if (!last || last == one->first->last_row || tests->streams[last - 1].phase != PHASE_TABLE)
        return;
    note_apart(tests, &tests->streams[last - 1]);
    note_apart(tests, one->stream);
}

// --- before the table ---------------------------------------------------------------------------

// "nccl-tests version 2.17.1 nccl-headers=22807 nccl-library=22807"
static bool take_version(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    return enter(tests, one, PHASE_VERSION, PHASE_VERSION, err) &&
           evidence_text(tests->evidence, link_word(&one->words, 2),
                         &run_of(tests, one->stream)->version, err);
}

// "rccl-tests: Version develop:83d38d9", between the settings and the devices
static bool take_rccl(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    if (!enter(tests, one, PHASE_RANKS, PHASE_VERSION, err))
        return false;
    run_of(tests, one->stream)->tool = STR("rccl-tests");
    return evidence_text(tests->evidence, link_word(&one->words, 2),
                         &run_of(tests, one->stream)->version, err);
}

static bool take_starting(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    return enter(tests, one, PHASE_VERSION, PHASE_VERSION, err) &&
           name_run(tests, link_word(&one->words, 3), &run_of(tests, one->stream)->collective, err);
}

static bool take_setup(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    return enter(tests, one, PHASE_VERSION, PHASE_SETUP, err);
}

// "on HOST device  0 [0000:05:00] NAME"
static bool take_device_names(struct nccl_tests *tests, const struct one *one,
                              struct link_device *device, struct err *err)
{
    const struct link_words *words = &one->words;
    struct str host = STR(""), bus = STR(""), name = STR("");
    for (size_t i = 0; i + 1 < words->count; i++) {
        if (host.len == 0 && str_equal(words->at[i], STR("on")))
            host = words->at[i + 1];
        if (bus.len || words->at[i].at[0] != '[' || words->at[i].len < 2)
            continue;
        bus = (struct str){words->at[i].at + 1, words->at[i].len - 2};
        name = link_after(one->text, (size_t)(words->at[i + 1].at - one->text.at));
    }
    while (name.len && memchr(" \t", name.at[name.len - 1], 2))
        name.len--;
    if (!link_keep(tests->evidence, host, &tests->host, err) ||
        !link_keep(tests->evidence, name, &tests->name, err))
        return false;
    device->host = tests->host;
    device->name = tests->name;
    return evidence_text(tests->evidence, bus, &device->bus_id, err);
}

static bool take_device(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    const struct link_words *words = &one->words;
    if (link_whole(link_word(words, 1)) < 0)
        return true;
    if (!enter(tests, one, PHASE_RANKS, PHASE_RANKS, err))
        return false;
    struct link_device device = {
        .run = one->stream->run,
        .rank = link_whole(words->at[1]),
        .group = number_after(words, "Group"),
        .pid = number_after(words, "Pid"),
        .device = number_after(words, "device"),
    };
    one->stream->group = one->stream->ranks ? one->stream->group : device.group;
    if (device.rank < 64 && device.group == one->stream->group)
        one->stream->ranks |= UINT64_C(1) << device.rank;
    return take_device_names(tests, one, &device, err) &&
           link_tests_add(tests->evidence, LINK_DEVICES, &device, err);
}

// --- the header ---------------------------------------------------------------------------------

static enum column column_named(struct str word)
{
    static const struct {
        const char *name;
        enum column column;
    } columns[] = {
        {"size", COLUMN_SIZE},       {"count", COLUMN_COUNT},     {"type", COLUMN_TYPE},
        {"redop", COLUMN_REDUCTION}, {"root", COLUMN_ROOT},       {"time", COLUMN_TIME},
        {"cputime", COLUMN_TIME},    {"algbw", COLUMN_ALGORITHM}, {"busbw", COLUMN_BUS},
        {"#wrong", COLUMN_WRONG},    {"error", COLUMN_ERROR},     {"i_min", COLUMN_LEAST},
        {"i_p99", COLUMN_TAIL},      {"bytes", COLUMN_SIZE},      {"N", COLUMN_COUNT},
        {"op", COLUMN_REDUCTION},    {"res", COLUMN_ERROR},
    };
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (str_equal(word, str_of(columns[i].name)))
            return columns[i].column;
    return COLUMN_OTHER;
}

static bool is_header(const struct link_words *words)
{
    unsigned found = 0;
    for (size_t i = 0; i < words->count; i++)
        found |= 1u << column_named(words->at[i]);
    const unsigned needed = 1u << COLUMN_SIZE | 1u << COLUMN_TIME | 1u << COLUMN_BUS;
    return (found & needed) == needed && !words->more;
}

static bool take_header(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    struct stream *stream = one->stream;
    if (!enter(tests, one, PHASE_RANKS, PHASE_TABLE, err))
        return false;
    stream->column_count = 0;
    stream->bytes = -1;
    stream->in_place_only = one->first->in_place_only;
    // tests of NCCL 1, and nccl-tests before 2019, give milliseconds
    stream->time_unit = str_equal(link_word(&one->words, 0), STR("bytes")) ? 1e6 : LINK_US;
    stream->type = stream->reduction = STR("");
    for (size_t i = 0; i < one->words.count; i++) {
        enum column column = column_named(one->words.at[i]);
        stream->columns[stream->column_count++] = (unsigned char)column;
        // a date and a time of day
        if (str_equal(one->words.at[i], STR("timestamp")) && stream->column_count < LINK_MOST_WORDS)
            stream->columns[stream->column_count++] = COLUMN_OTHER;
    }
    return true;
}

// --- rows ---------------------------------------------------------------------------------------

static size_t find_column(const struct stream *stream, enum column column)
{
    for (size_t i = 0; i < stream->column_count; i++)
        if (stream->columns[i] == column)
            return i;
    return SIZE_MAX;
}

// Columns of the first mode; 0 if there is only one mode.
static size_t columns_of_mode(const struct stream *stream)
{
    size_t first = find_column(stream, COLUMN_TIME), i = first + 1;
    while (i < stream->column_count && stream->columns[i] != COLUMN_TIME)
        i++;
    return i < stream->column_count ? i - first : 0;
}

// Which columns a row lacks: some old versions leave the reduction blank, and a replay leaves out
// the first mode.
struct lack {
    size_t from, count;
};

static bool find_lack(const struct stream *stream, const struct link_words *row, struct lack *lack)
{
    size_t words = row->count, reduction = find_column(stream, COLUMN_REDUCTION);
    size_t mode = columns_of_mode(stream);
    *lack = (struct lack){0};
    if (words == stream->column_count)
        return true;
    if (words + 1 == stream->column_count && reduction < words &&
        memchr("-0123456789", row->at[reduction].at[0], 11))
        *lack = (struct lack){reduction, 1};
    else if (mode && words + mode == stream->column_count)
        *lack = (struct lack){find_column(stream, COLUMN_TIME), mode};
    return lack->count;
}

static double scaled(struct str word, double unit)
{
    return link_number(word) * unit;
}

// A deviation may be rounding: only 0 is conclusive.
static int64_t wrong_of(struct str word, bool deviation)
{
    double number = link_number(word);
    if (isnan(number) || number > 1e18)
        return -1;
    return deviation && number > 0 ? -1 : (int64_t)number;
}

static void set_figure(struct link_row *row, enum column column, struct str word, double time_unit)
{
    switch (column) {
    case COLUMN_SIZE: row->bytes = link_whole(word); break;
    case COLUMN_COUNT: row->count = link_whole(word); break;
    case COLUMN_ROOT: row->root = link_whole(word); break;
    case COLUMN_TIME: row->time_ns = scaled(word, time_unit); break;
    case COLUMN_ALGORITHM: row->algorithm_bps = scaled(word, LINK_GB); break;
    case COLUMN_BUS: row->bus_bps = scaled(word, LINK_GB); break;
    case COLUMN_LEAST: row->least_ns = scaled(word, LINK_US); break;
    case COLUMN_TAIL: row->tail_ns = scaled(word, LINK_US); break;
    case COLUMN_WRONG:
    case COLUMN_ERROR: row->wrong = wrong_of(word, column == COLUMN_ERROR); break;
    case COLUMN_OTHER:
    case COLUMN_TYPE:
    case COLUMN_REDUCTION: break;
    }
}

// Texts are kept at once: those of a line do not outlive it, wherever their column is.
static bool take_cell(struct nccl_tests *tests, const struct stream *stream, struct link_row *row,
                      enum column column, struct str text, struct err *err)
{
    struct str *kept = column == COLUMN_TYPE ? &row->type : &row->reduction;
    if (column == COLUMN_TYPE || column == COLUMN_REDUCTION)
        return link_keep(tests->evidence, text, kept, err);
    set_figure(row, column, text, stream->time_unit);
    return true;
}

// The figures that both modes share come first.
static bool take_modes(struct nccl_tests *tests, const struct one *one, const struct lack *lack,
                       struct err *err)
{
    struct stream *stream = one->stream;
    struct link_row row = link_empty_row(stream->run, one->pos), shared = row;
    bool started = false, ok = true;
    row.type = stream->type; // which mostly are the same
    row.reduction = stream->reduction;
    for (size_t i = 0, word = 0; ok && i < stream->column_count; i++) {
        enum column column = (enum column)stream->columns[i];
        bool lacks = i >= lack->from && i < lack->from + lack->count;
        struct str text = lacks ? STR("") : link_word(&one->words, word++);
        if (column == COLUMN_TIME) {
            ok = !started || link_add_row(tests->evidence, &row, err);
            shared = started ? shared : row;
            row = shared;
            row.in_place = started || stream->in_place_only;
            started = true;
        }
        ok = ok && take_cell(tests, stream, &row, column, text, err);
    }
    stream->type = row.type;
    stream->reduction = row.reduction;
    stream->bytes = row.bytes;
    return ok && link_add_row(tests->evidence, &row, err);
}

static bool is_row(const struct one *one)
{
    struct str size = link_word(&one->words, 0);
    for (size_t i = 0; i < size.len; i++)
        if (size.at[i] < '0' || size.at[i] > '9')
            return false;
    return size.len && one->words.count > 4 && one->stream->column_count;
}

static bool take_row(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    struct lack lack;
    if (!find_lack(one->stream, &one->words, &lack) || link_whole(one->words.at[0]) < 0) {
        link_tests_warn(tests->evidence, LINK_BAD_ROW, one->pos);
        return true;
    }
    return take_modes(tests, one, &lack, err);
}

// --- after the table ----------------------------------------------------------------------------

static struct str after_colon(const struct one *one, size_t *word)
{
    for (size_t i = 0; i < one->words.count; i++)
        if (str_equal(one->words.at[i], STR(":"))) {
            *word = i + 1;
            return link_word(&one->words, i + 1);
        }
    *word = one->words.count;
    return link_word(&one->words, one->words.count - 1);
}

static bool take_bounds(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    size_t at;
    if (!enter(tests, one, PHASE_TABLE, PHASE_END, err))
        return false;
    run_of(tests, one->stream)->out_of_bounds = link_whole(after_colon(one, &at));
    return true;
}

static bool take_average(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    size_t at;
    if (!enter(tests, one, PHASE_END, PHASE_END, err))
        return false;
    run_of(tests, one->stream)->average_bus_bps = scaled(after_colon(one, &at), LINK_GB);
    run_of(tests, one->stream)->concluded = true;
    return true;
}

static bool take_concluded(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    return enter(tests, one, PHASE_END, PHASE_END, err) &&
           name_run(tests, link_word(&one->words, 3), &run_of(tests, one->stream)->collective, err);
}

static bool take_error(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    (void)err;
    link_tests_warn(tests->evidence, LINK_FAILED, one->pos);
    return true;
}

// --- lines --------------------------------------------------------------------------------------

typedef bool take_line(struct nccl_tests *tests, const struct one *one, struct err *err);

// After the "#".
struct known {
    const char *start;
    take_line *take;
    may_print *may;
};
static const struct known known[] = {
    {"nccl-tests version ", take_version, may_start},
    {"rccl-tests version ", take_rccl, may_start},
    {"Collective test starting: ", take_starting, may_start},
    {"nThread ", take_setup, may_start},
    {"Rank ", take_device, may_list},
    {"Out of bounds values", take_bounds, may_sum_up},
    {"Avg bus bandwidth", take_average, may_conclude},
    {"Collective test concluded: ", take_concluded, may_conclude},
    {"error: ", take_error, may_conclude},
};

static const struct known *known_of(struct str text)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_starts_with(text, str_of(known[i].start)))
            return &known[i];
    return NULL;
}

static bool is_dots(struct str text)
{
    while (text.len && memchr(" \t", text.at[text.len - 1], 2))
        text.len--;
    return str_equal(text, STR("...")) || str_equal(text, STR("[...]"));
}

static void note_gap(struct nccl_tests *tests, const struct one *one)
{
    if (one->stream->phase == PHASE_NONE)
        return;
    if (one->stream->phase <= PHASE_RANKS)
        run_of(tests, one->stream)->devices_cut = true;
    link_tests_warn(tests->evidence, LINK_LEFT_OUT, one->pos);
}

static bool says(const struct one *one, const char *text)
{
    return str_find(one->text, str_of(text)) != SIZE_MAX;
}

static bool take_comment(struct nccl_tests *tests, struct one *one, struct err *err)
{
    bool out = says(one, "out-of-place"), in = says(one, "in-place");
    const struct known *line = known_of(one->text);
    if (line)
        return find_process(tests, one, line->may, err) && line->take(tests, one, err);
    if (is_header(&one->words))
        return find_process(tests, one, may_head, err) && take_header(tests, one, err);
    if (in || out)
        one->first->in_place_only = !out;
    return true;
}

// A command line, as `set -x` or a prompt shows it, or a failure.
static bool take_other(struct nccl_tests *tests, const struct one *one, struct err *err)
{
    if (says(one, "Test NCCL failure") || says(one, "Test CUDA failure"))
        return take_error(tests, one, err);
    if (!says(one, "_perf") || says(one, "NCCL INFO"))
        return true;
    for (size_t i = 0; i < one->words.count; i++)
        if (!name_run(tests, one->words.at[i], &one->first->collective, err))
            return false;
    return true;
}

// Versions before 2019 print some lines without a "#".
static bool is_bare(struct str text)
{
    return str_starts_with(text, STR("nThread ")) ||
           str_starts_with(text, STR("Out of bounds values")) ||
           str_starts_with(text, STR("Avg bus bandwidth"));
}

static bool take_text(struct nccl_tests *tests, struct one *one, struct err *err)
{
    bool marked = one->text.len && *one->text.at == '#';
    if (is_dots(one->text)) {
        note_gap(tests, one);
        return true;
    }
    one->text = link_after(one->text, marked);
    link_split(one->text, &one->words);
    if (marked || is_bare(one->text))
        return take_comment(tests, one, err);
    if (str_starts_with(one->text, STR("rccl-tests: Version ")))
        return find_process(tests, one, may_head, err) && take_rccl(tests, one, err);
    find_row(tests, one);
    return is_row(one) ? take_row(tests, one, err) : take_other(tests, one, err);
}

// --- the file -----------------------------------------------------------------------------------

// Past the most, labels share the last stream.
static struct stream *stream_of(struct nccl_tests *tests, struct str tag, struct err *err)
{
    for (size_t i = 0; i < tests->stream_count; i++)
        if (str_equal(tests->streams[i].tag, tag))
            return &tests->streams[i];
    if (tests->stream_count == MOST_STREAMS)
        return &tests->streams[MOST_STREAMS - 1];
    const char *copy = arena_strdup(&tests->evidence->arena, tag, err);
    if (!copy)
        return NULL;
    tests->streams[tests->stream_count].tag = (struct str){copy, tag.len};
    return &tests->streams[tests->stream_count++];
}

static bool take_lines(struct nccl_tests *tests, struct lines *lines, struct err *err)
{
    struct line line = {0};
    bool ok = true;
    while (ok && lines_next(lines, &line, err)) {
        struct str tag, text = link_unprefixed(line.text, &tag);
        struct one one = {.text = link_after(text, 0), .pos = line.pos};
        one.first = one.stream = stream_of(tests, tag, err);
        ok = one.first && take_text(tests, &one, err) &&
             progress_report(tests->input->progress, source_consumed(lines->source), err);
    }
    return ok && err->code == ERR_NONE;
}

static void note_end(struct nccl_tests *tests, const struct lines *lines)
{
    bool open = false;
    for (size_t i = 0; i < tests->stream_count; i++) {
        const struct stream *stream = &tests->streams[i];
        // one that ended before its first row is followed by another
        open = open || (stream->phase == PHASE_TABLE && (stream->bytes >= 0 || !stream->next));
    }
    if (open || lines->damage.code)
        link_tests_warn(tests->evidence, LINK_CUT, lines->pos);
}

static bool gather_nccl_tests(const struct format_input *input, struct err *err)
{
    struct lines lines;
    struct nccl_tests tests = {.input = input, .evidence = input->evidence};
    size_t bytes = MOST_STREAMS * sizeof *tests.streams;
    tests.streams = budget_zalloc(input->budget, bytes, err);
    bool ok = tests.streams && lines_open(&lines, input->source, input->budget, err);
    if (ok) {
        input->evidence->source = STR("nccl-tests");
        ok = take_lines(&tests, &lines, err);
        note_end(&tests, &lines);
        lines_close(&lines);
    }
    budget_free(input->budget, tests.streams, bytes);
    return ok && link_settle(input->evidence, err);
}

static bool count_nccl_tests(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_nccl_tests, link_report_tests}, input,
                          err);
}

// --- recognizing --------------------------------------------------------------------------------

static bool says_test(struct str line)
{
    struct str text = link_after(line, 0);
    if (text.len == 0 || *text.at != '#')
        return false;
    struct link_words words;
    text = link_after(text, 1);
    link_split(text, &words);
    bool setup = str_starts_with(text, STR("nThread ")) &&
                 str_find(text, STR(" nGpus ")) != SIZE_MAX &&
                 str_find(text, STR(" minBytes ")) != SIZE_MAX;
    return setup || str_starts_with(text, STR("nccl-tests version ")) || is_header(&words) ||
           str_starts_with(text, STR("Avg bus bandwidth "));
}

static enum format_likeness probe_nccl_tests(const struct format_sample *sample)
{
    return link_any_line(sample->head, "#", says_test) ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_nccl_tests = {
    .name = "nccl-tests",
    .what = "results of nccl-tests or rccl-tests",
    .kind = FORMAT_RECORDS,
    .probe = probe_nccl_tests,
    .count = count_nccl_tests,
    .gather = gather_nccl_tests,
};
