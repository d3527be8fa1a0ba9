// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's nvbandwidth prints, as text and with --json: per test a matrix of bandwidths, or of
// latencies, between a row's and a column's device. A test becomes a row with their mean, and one
// with the slowest pair.
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"

#include "ingest/json/json_outline.h"
#include "ingest/source/evidence_count.h"
#include "ingest/source/lines.h"

#include <stdio.h>

#define TOOL "nvbandwidth"
#define GB   1e9

enum { MOST_NAME = 128 };

struct matrix {
    char name[MOST_NAME]; // "host_to_device_memcpy_ce"; "" not known yet
    bool latency;         // ns, where less is better; else GB/s
    bool titled;          // what it holds was said
    bool total;           // of both directions, which the list has first
    size_t width;         // of a text's rows; 0: its header is still to come
    uint64_t pos;
    int64_t count, row; // values, and the number of the next row in JSON
    double sum, best, worst;
    int64_t worst_row, worst_column;
};

struct nvbandwidth {
    struct evidence *evidence;
    struct str version;
    struct matrix matrix;
};

// --- rows ---------------------------------------------------------------------------------------

static void set_name(struct matrix *matrix, struct str name)
{
    snprintf(matrix->name, sizeof matrix->name, "%.*s", (int)name.len, name.at);
}

// "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)". False if it says no unit that is read.
static bool set_title(struct matrix *matrix, struct str title)
{
    bool bandwidth = str_find(title, STR("(GB/s)")) != SIZE_MAX;
    matrix->latency = !bandwidth && str_find(title, STR("(ns)")) != SIZE_MAX;
    matrix->titled = bandwidth || matrix->latency;
    matrix->total = str_find(title, STR(" Total bandwidth")) != SIZE_MAX;
    return matrix->titled;
}

// "N/A" is that of a device to itself, or of a pair without a path.
static void take_value(struct matrix *matrix, struct str word, int64_t row, int64_t column)
{
    double value = link_number(word);
    if (!(value > 0))
        return;
    bool worse = matrix->latency ? value > matrix->worst : value < matrix->worst;
    bool better = matrix->latency ? value < matrix->best : value > matrix->best;
    if (!matrix->count || worse) {
        matrix->worst = value;
        matrix->worst_row = row;
        matrix->worst_column = column;
    }
    matrix->best = !matrix->count || better ? value : matrix->best;
    matrix->sum += value;
    matrix->count++;
}

static bool add_row(struct nvbandwidth *test, struct str name, double value, double best,
                    struct err *err)
{
    struct evidence *evidence = test->evidence;
    const struct matrix *matrix = &test->matrix;
    struct link_run run = link_empty_run(TOOL, matrix->pos);
    struct link_row row =
        link_empty_row((uint32_t)evidence->links.parts[LINK_RUNS].count, matrix->pos);
    run.version = test->version;
    run.concluded = true;
    if (matrix->latency) {
        row.time_ns = value;
        row.least_ns = best;
    } else {
        row.algorithm_bps = row.bus_bps = value * GB;
        row.peak_bps = best * GB;
    }
    return evidence_text(evidence, name, &run.collective, err) &&
           link_tests_add(evidence, LINK_RUNS, &run, err) && link_add_row(evidence, &row, err);
}

// What was collected of a test, whose name is known now.
static bool end_matrix(struct nvbandwidth *test, struct err *err)
{
    char slowest[MOST_NAME + 64];
    struct matrix *matrix = &test->matrix;
    bool ok =
        !matrix->count || !matrix->titled ||
        add_row(test, str_of(matrix->name), matrix->sum / (double)matrix->count, matrix->best, err);
    if (ok && matrix->count > 1 && matrix->titled) {
        snprintf(slowest, sizeof slowest, "%s, slowest: row %lld, column %lld", matrix->name,
                 (long long)matrix->worst_row, (long long)matrix->worst_column);
        ok = add_row(test, str_of(slowest), matrix->worst, matrix->worst, err);
    }
    struct matrix next = {.latency = matrix->latency, .titled = matrix->titled};
    memcpy(next.name, matrix->name, sizeof next.name);
    *matrix = next;
    return ok;
}

static bool end_file(struct nvbandwidth *test, struct err *err)
{
    test->evidence->source = STR(TOOL);
    return test->evidence->links.parts[LINK_ROWS].count ||
           err_set(err, ERR_FORMAT, "found output of nvbandwidth without a single result");
}

// --- text ---------------------------------------------------------------------------------------

static bool take_numbers(struct nvbandwidth *test, const struct link_words *words, uint64_t pos)
{
    struct matrix *matrix = &test->matrix;
    int64_t row = link_whole(link_word(words, 0));
    if (!matrix->width) {
        matrix->width = words->count;
        matrix->pos = pos;
        return true;
    }
    if (words->count != matrix->width + 1 || row < 0)
        return false;
    for (size_t i = 1; i < words->count; i++)
        take_value(matrix, words->at[i], row, (int64_t)i - 1);
    return true;
}

// "SUM host_to_device_memcpy_ce 178.40": of the matrices of a bidirectional test each has its name.
static bool take_sum(struct nvbandwidth *test, const struct link_words *words, struct err *err)
{
    set_name(&test->matrix, link_word(words, 1));
    return end_matrix(test, err);
}

// "Running host_to_device_memcpy_ce."
static bool start_test(struct nvbandwidth *test, struct str name, struct err *err)
{
    if (!end_matrix(test, err))
        return false;
    name.len -= name.at[name.len - 1] == '.';
    test->matrix = (struct matrix){.titled = false};
    set_name(&test->matrix, name);
    return true;
}

static bool take_line(struct nvbandwidth *test, const struct line *line, struct err *err)
{
    static const struct str version = {"nvbandwidth Version: ", 21};
    struct link_words words;
    struct str tag, text = link_unprefixed(line->text, &tag);
    link_split(text, &words);
    struct str first = link_word(&words, 0);
    if (str_starts_with(text, version))
        return link_keep(test->evidence, link_after(text, version.len), &test->version, err);
    if (str_equal(first, STR("Running")) && words.count == 2)
        return start_test(test, words.at[1], err);
    if (str_equal(first, STR("SUM")) && words.count == 3)
        return take_sum(test, &words, err);
    if (str_find(text, STR("(row)")) != SIZE_MAX && !set_title(&test->matrix, text)) {
        link_tests_warn(test->evidence, LINK_BAD_ROW, line->pos);
    } else if (str_starts_with(text, STR("ERROR")) || str_starts_with(text, STR("Error:"))) {
        link_tests_warn(test->evidence, LINK_FAILED, line->pos);
    } else if (test->matrix.titled && link_whole(first) >= 0 &&
               !take_numbers(test, &words, line->pos)) {
        link_tests_warn(test->evidence, LINK_BAD_ROW, line->pos);
    }
    return true;
}

static bool gather_text(const struct format_input *input, struct err *err)
{
    struct nvbandwidth test = {.evidence = input->evidence, .version = STR("")};
    struct lines lines;
    struct line line = {0};
    bool ok = lines_open(&lines, input->source, input->budget, err);
    while (ok && lines_next(&lines, &line, err))
        ok = take_line(&test, &line, err) &&
             progress_report(input->progress, source_consumed(input->source), err);
    ok = ok && err->code == ERR_NONE;
    if (ok && (test.matrix.count || lines.damage.code))
        link_tests_warn(input->evidence, LINK_CUT, lines.pos);
    lines_close(&lines);
    return ok && end_matrix(&test, err) && end_file(&test, err);
}

static bool says_version(struct str line)
{
    struct str tag;
    return str_starts_with(link_unprefixed(line, &tag), STR("nvbandwidth Version: "));
}

static enum format_likeness probe_text(const struct format_sample *sample)
{
    return link_any_line(sample->head, "nvbandwidth Version: ", says_version) ? FORMAT_SURE
                                                                              : FORMAT_UNLIKE;
}

// --- JSON ---------------------------------------------------------------------------------------

static void start_values(struct matrix *matrix)
{
    matrix->count = 0;
    matrix->sum = 0;
}

// A bidirectional test lists three matrices as one: of one direction, of the other, and their sums,
// which count. They are square.
static void take_matrix(struct link_json *json, struct matrix *matrix)
{
    struct json_value item;
    int64_t row = 0, columns = 0;
    matrix->pos = json_cursor_pos(&json->cursor);
    while (json_cursor_item(&json->cursor, &item)) {
        int64_t column = 0;
        if (!json_cursor_enter(&json->cursor, &item, JSON_ARRAY))
            continue;
        if (matrix->total && row == columns) {
            start_values(matrix);
            row = 0;
        }
        for (; json_cursor_item(&json->cursor, &item); column++) {
            take_value(matrix, item.type == JSON_SCALAR ? item.text : link_json_text(json, &item),
                       row, column);
            json_cursor_pass(&json->cursor, &item);
        }
        columns = column;
        row++;
    }
}

// The sums of both directions are named as in the text.
static void name_case(struct matrix *matrix, struct str name)
{
    snprintf(matrix->name, sizeof matrix->name, "%.*s%s", (int)name.len, name.at,
             matrix->total ? "_total" : "");
}

// The writer sorts the members: the description with its unit comes before the matrix, the name
// after it.
static bool take_member(struct link_json *json, struct str key, const struct json_value *value,
                        void *target)
{
    struct nvbandwidth *test = target;
    struct str text = link_json_text(json, value);
    if (str_equal(key, STR("name")))
        name_case(&test->matrix, text);
    else if (str_equal(key, STR("bandwidth_description")))
        (void)set_title(&test->matrix, text);
    else if (str_equal(key, STR("error")) ||
             (str_equal(key, STR("status")) && str_equal(text, STR("Error"))))
        link_tests_warn(json->evidence, LINK_FAILED, json_cursor_pos(&json->cursor));
    if (!str_equal(key, STR("bandwidth_matrix")) || value->type != JSON_ARRAY)
        return false;
    take_matrix(json, &test->matrix);
    return true;
}

static const struct link_shape case_shape = {NULL, 0, take_member};

static void take_case(struct link_json *json, void *context)
{
    struct err err;
    struct nvbandwidth *test = context;
    test->matrix = (struct matrix){.titled = false};
    link_json_object(json, &case_shape, test);
    link_json_check(json, end_matrix(test, &err), &err);
}

static bool take_root(struct link_json *json, struct str key, const struct json_value *value,
                      void *target)
{
    static const struct link_field fields[] = {
        LINK_FIELD("version", LINK_TEXT, nvbandwidth, version, 0),
    };
    static const struct link_shape inner = LINK_SHAPE(fields, take_root);
    if (str_equal(key, STR(TOOL)) && value->type == JSON_OBJECT)
        link_json_object(json, &inner, target);
    else if (str_equal(key, STR("testcases")) && value->type == JSON_ARRAY)
        link_json_objects(json, take_case, target);
    else
        return false;
    return true;
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    static const struct link_shape root = {NULL, 0, take_root};
    struct nvbandwidth test = {.evidence = input->evidence, .version = STR("")};
    return link_json_read(input, &root, &test, err) && end_file(&test, err);
}

// --- the formats --------------------------------------------------------------------------------

static bool count_text(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_text, link_report_tests}, input, err);
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_json, link_report_tests}, input, err);
}

const struct format format_nvbandwidth = {
    .name = "nvbandwidth",
    .what = "results of nvbandwidth",
    .kind = FORMAT_RECORDS,
    .probe = probe_text,
    .count = count_text,
    .gather = gather_text,
};

const struct format format_nvbandwidth_json = {
    .name = "nvbandwidth-json",
    .what = "results of nvbandwidth in JSON",
    .kind = FORMAT_RECORDS,
    .member = TOOL,
    .count = count_json,
    .gather = gather_json,
};
