// SPDX-License-Identifier: Apache-2.0
// What perftest's programs print (ib_write_bw, ib_send_lat, ...): a title, the settings, and a
// table between dashed lines whose columns depend on the kind of test and its options.
#include "ingest/links/link_figures.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"
#include "ingest/source/lines.h"

#include <math.h>

enum column {
    COLUMN_OTHER,
    COLUMN_BYTES,
    COLUMN_COUNT,
    COLUMN_PEAK,
    COLUMN_AVERAGE,
    COLUMN_LEAST,
    COLUMN_TYPICAL,
    COLUMN_TIME,
    COLUMN_TAIL
};

struct perftest {
    const struct format_input *input;
    struct link_run run; // the next one
    bool titled;
    uint32_t index; // of the current one
    unsigned char columns[LINK_MOST_WORDS];
    double units[LINK_MOST_WORDS];
    size_t column_count;
};

// --- the header ---------------------------------------------------------------------------------

// Bytes/s or ns; 0 for anything else.
static double unit_of(struct str word)
{
    static const struct {
        const char *name;
        double unit;
    } units[] = {
        {"[MB/sec]", 1 << 20}, // of 2^20 bytes, as newer versions say
        {"[MiB/sec]", 1 << 20},
        {"[Gb/sec]", 1e9 / 8},
        {"[usec]", 1e3},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_find(word, str_of(units[i].name)) != SIZE_MAX)
            return units[i].unit;
    return 0;
}

// Words of column names: the one with a column identifies it, the others are ignored.
static const struct {
    const char *start;
    bool is_column;
    enum column column;
} words_of_header[] = {
    {"#bytes", true, COLUMN_BYTES},   {"#iterations", true, COLUMN_COUNT},
    {"BW_peak[", true, COLUMN_PEAK},  {"BW_average[", true, COLUMN_AVERAGE},
    {"peak[", true, COLUMN_PEAK},     {"average[", true, COLUMN_AVERAGE},
    {"MsgRate[", true, COLUMN_OTHER}, {"MsgRate", false, COLUMN_OTHER}, // of a port
    {"t_min[", true, COLUMN_LEAST},   {"t_typical[", true, COLUMN_TYPICAL},
    {"t_avg[", true, COLUMN_TIME},    {"99%", true, COLUMN_TAIL},
    {"BW", false, COLUMN_OTHER},      {"percentile[", false, COLUMN_OTHER},
    {"average", false, COLUMN_OTHER},
};

static void add_column(struct perftest *test, struct str word)
{
    enum column column = COLUMN_OTHER;
    for (size_t i = 0; i < sizeof words_of_header / sizeof *words_of_header; i++) {
        if (!str_starts_with(word, str_of(words_of_header[i].start)))
            continue;
        if (!words_of_header[i].is_column)
            return;
        column = words_of_header[i].column;
        break;
    }
    // the unit of a percentile follows it
    test->units[test->column_count] = column == COLUMN_TAIL ? LINK_US : unit_of(word);
    test->columns[test->column_count++] = (unsigned char)column;
}

static bool is_header(const struct link_words *words)
{
    bool levels = str_equal(link_word(words, 1), STR("#sl")); // of service, each with its rows
    return str_equal(link_word(words, 0), STR("#bytes")) &&
           str_equal(link_word(words, 1 + levels), STR("#iterations"));
}

static bool take_header(struct perftest *test, const struct link_words *words, struct err *err)
{
    struct evidence *evidence = test->input->evidence;
    test->column_count = 0;
    for (size_t i = 0; i < words->count; i++)
        add_column(test, words->at[i]);
    test->index = (uint32_t)evidence->links.parts[LINK_RUNS].count;
    struct link_run run = test->run;
    if (!test->titled)
        run.collective = STR("");
    test->titled = false;
    return link_tests_add(evidence, LINK_RUNS, &run, err);
}

// "RDMA_Write BW" of "    RDMA_Write BW Test"; "" if it is no title.
static struct str title_of(struct str line)
{
    struct str text = link_after(line, 0);
    while (text.len && memchr(" \t", text.at[text.len - 1], 2))
        text.len--;
    size_t bandwidth = str_find(text, STR(" BW Test")),
           latency = str_find(text, STR(" Latency Test"));
    size_t end = bandwidth < latency ? bandwidth + 3 : latency == SIZE_MAX ? 0 : latency + 8;
    bool ends = end && end + sizeof " Test" - 1 == text.len;
    return ends && text.at != line.at ? (struct str){text.at, end} : STR("");
}

static bool take_title(struct perftest *test, struct str title, uint64_t pos, struct err *err)
{
    test->column_count = 0;
    test->titled = true;
    test->run = link_empty_run("perftest", pos);
    test->run.ranks = 2; // client and server
    return evidence_text(test->input->evidence, title, &test->run.collective, err);
}

// --- rows ---------------------------------------------------------------------------------------

static void set_figure(struct link_row *row, enum column column, struct str word, double unit)
{
    double number = link_number(word) * unit;
    switch (column) {
    case COLUMN_BYTES: row->bytes = link_whole(word); break;
    case COLUMN_COUNT: row->count = link_whole(word); break;
    case COLUMN_PEAK: row->peak_bps = number > 0 ? number : NAN; break; // 0: not measured
    case COLUMN_AVERAGE: row->algorithm_bps = row->bus_bps = number; break;
    case COLUMN_LEAST: row->least_ns = number; break;
    case COLUMN_TYPICAL: row->time_ns = number; break;
    case COLUMN_TIME: row->time_ns = number; break; // after the typical one, where there are both
    case COLUMN_TAIL: row->tail_ns = number; break;
    case COLUMN_OTHER: break;
    }
}

static bool is_row(const struct link_words *words)
{
    struct str first = link_word(words, 0);
    for (size_t i = 0; i < first.len; i++)
        if (first.at[i] < '0' || first.at[i] > '9')
            return false;
    return first.len > 0;
}

static bool take_row(struct perftest *test, const struct link_words *words, uint64_t pos,
                     struct err *err)
{
    struct link_row row = link_empty_row(test->index, pos);
    if (words->count != test->column_count || link_whole(words->at[0]) < 0) {
        link_tests_warn(test->input->evidence, LINK_BAD_ROW, pos);
        return true;
    }
    for (size_t i = 0; i < words->count; i++)
        set_figure(&row, (enum column)test->columns[i], words->at[i], test->units[i]);
    return link_add_row(test->input->evidence, &row, err);
}

// --- the file -----------------------------------------------------------------------------------

static bool take_line(struct perftest *test, const struct line *line, struct err *err)
{
    struct link_words words;
    struct str tag, text = link_unprefixed(line->text, &tag), title = title_of(text);
    if (title.len)
        return take_title(test, title, line->pos, err);
    link_split(text, &words);
    if (is_header(&words))
        return take_header(test, &words, err);
    if (test->column_count && is_row(&words))
        return take_row(test, &words, line->pos, err);
    if (str_starts_with(link_word(&words, 0), STR("-----")))
        test->column_count = 0;
    return true;
}

static bool take_lines(struct perftest *test, struct err *err)
{
    struct lines lines;
    struct line line = {0};
    const struct format_input *input = test->input;
    bool ok = lines_open(&lines, input->source, input->budget, err);
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(test, &line, err) &&
             progress_report(input->progress, source_consumed(input->source), err);
    if (ok && (test->column_count || lines.damage.code))
        link_tests_warn(input->evidence, LINK_CUT, lines.pos);
    lines_close(&lines);
    return ok && err->code == ERR_NONE;
}

static bool gather_perftest(const struct format_input *input, struct err *err)
{
    struct perftest test = {.input = input, .run = link_empty_run("perftest", 0)};
    test.run.ranks = 2;
    input->evidence->source = STR("perftest");
    if (!take_lines(&test, err))
        return false;
    return input->evidence->links.parts[LINK_ROWS].count ||
           err_set(err, ERR_FORMAT, "found a test of perftest without a single result");
}

static bool count_perftest(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_perftest, link_report_tests}, input, err);
}

static bool says_perftest(struct str line)
{
    struct link_words words;
    link_split(line, &words);
    return is_header(&words);
}

static enum format_likeness probe_perftest(const struct format_sample *sample)
{
    return link_any_line(sample->head, "#bytes", says_perftest) ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_perftest = {
    .name = "perftest",
    .what = "results of perftest",
    .kind = FORMAT_RECORDS,
    .probe = probe_perftest,
    .count = count_perftest,
    .gather = gather_perftest,
};
