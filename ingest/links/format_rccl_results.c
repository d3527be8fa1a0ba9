// SPDX-License-Identifier: Apache-2.0
// What rccl-tests writes to a file with -x, as -Z says: an object or a row for each size and mode.
#include "ingest/csv/csv.h"
#include "ingest/json/json_outline.h"
#include "ingest/links/link_figures.h"
#include "ingest/links/link_json.h"
#include "ingest/links/link_settle.h"
#include "ingest/links/link_text.h"
#include "ingest/source/source.h"

#include <math.h>

// One size in one mode.
struct one {
    struct link_run run;
    struct link_row row;
    int64_t gpus, in_place; // gpus: without MPI, in place of the ranks
    // Processes of a communicator, which the file calls those of a node, and the GPUs of each. What
    // it calls ranks are all processes, and nodes are communicators.
    int64_t processes, gpus_each;
};

struct results {
    const struct format_input *input;
    struct evidence *evidence;
    struct str collective, type, reduction; // of the last row of a table
    bool broken;                            // within an object
};

static struct one empty_one(uint64_t pos)
{
    return (struct one){.run = link_empty_run("rccl-tests", pos), .row = link_empty_row(0, pos)};
}

// --- rows ---------------------------------------------------------------------------------------

static struct link_run *last_run(const struct evidence *evidence)
{
    size_t count = evidence->links.parts[LINK_RUNS].count;
    return count ? (struct link_run *)evidence->links.parts[LINK_RUNS].items + count - 1 : NULL;
}

// Both modes of a size share a place.
static uint64_t place_of(const struct evidence *evidence, const struct link_row *row)
{
    size_t count = evidence->links.parts[LINK_ROWS].count;
    const struct link_row *rows = evidence->links.parts[LINK_ROWS].items;
    const struct link_row *last = count ? &rows[count - 1] : NULL;
    bool same = last && last->run == row->run && last->bytes == row->bytes && row->in_place &&
                !last->in_place && str_equal(last->type, row->type) &&
                str_equal(last->reduction, row->reduction);
    return same ? last->pos : row->pos;
}

static int64_t ranks_of(const struct one *one)
{
    int64_t ranks;
    if (one->processes > 0 && one->gpus_each > 0 &&
        !__builtin_mul_overflow(one->processes, one->gpus_each, &ranks))
        return ranks;
    return one->run.ranks > 0 ? one->run.ranks : one->gpus > 0 ? one->gpus : 0;
}

static bool add_one(struct results *results, struct one *one, struct err *err)
{
    struct evidence *evidence = results->evidence;
    const struct link_run *last = last_run(evidence);
    one->run.ranks = ranks_of(one);
    one->run.concluded = true; // it says no more
    if (one->row.bytes < 0) {
        link_tests_warn(evidence, LINK_BAD_ROW, one->row.pos);
        return true;
    }
    bool same =
        last && last->ranks == one->run.ranks && str_equal(last->collective, one->run.collective);
    if (!same && !link_tests_add(evidence, LINK_RUNS, &one->run, err))
        return false;
    one->row.run = (uint32_t)evidence->links.parts[LINK_RUNS].count - 1;
    one->row.in_place = one->in_place > 0;
    one->row.pos = place_of(evidence, &one->row);
    return link_add_row(evidence, &one->row, err);
}

// --- JSON ---------------------------------------------------------------------------------------

static const struct link_field json_fields[] = {
    LINK_FIELD("name", LINK_TEXT, one, run.collective, 0),
    LINK_FIELD("ranks", LINK_WHOLE, one, run.ranks, 0),
    LINK_FIELD("ranksPerNode", LINK_WHOLE, one, processes, 0),
    LINK_FIELD("gpusPerRank", LINK_WHOLE, one, gpus_each, 0),
    LINK_FIELD("gpus", LINK_WHOLE, one, gpus, 0),
    LINK_FIELD("size", LINK_WHOLE, one, row.bytes, 0),
    LINK_FIELD("type", LINK_TEXT, one, row.type, 0),
    LINK_FIELD("redop", LINK_TEXT, one, row.reduction, 0),
    LINK_FIELD("inPlace", LINK_WHOLE, one, in_place, 0),
    LINK_FIELD("time", LINK_REAL, one, row.time_ns, LINK_US),
    LINK_FIELD("algBw", LINK_REAL, one, row.algorithm_bps, LINK_GB),
    LINK_FIELD("busBw", LINK_REAL, one, row.bus_bps, LINK_GB),
    LINK_FIELD("wrong", LINK_WHOLE, one, row.wrong, 0),
    LINK_FIELD("#wrong", LINK_WHOLE, one, row.wrong, 0),
};
static const struct link_shape json_shape = LINK_SHAPE(json_fields, NULL);

static void take_object(struct link_json *json, void *context)
{
    struct err err;
    struct one one = empty_one(json_cursor_pos(&json->cursor));
    link_json_object(json, &json_shape, &one);
    struct results *results = context;
    results->broken = json->cursor.stop;
    if (!json->cursor.stop)
        link_json_check(json, add_one(results, &one, &err), &err);
}

// A list, or an object a line: json_cursor_item gives both.
static bool read_json(struct results *results, struct err *err)
{
    struct json_value root;
    struct link_json json = {.evidence = results->evidence};
    bool ok =
        json_cursor_open(&json.cursor, results->input->source, results->input->budget, &root, err);
    if (ok && root.type == JSON_OBJECT && !json.cursor.stop)
        take_object(&json, results);
    if (ok)
        link_json_objects(&json, take_object, results);
    bool early = results->broken || (ok && root.type == JSON_ARRAY && json.cursor.stop);
    if (early && json.cursor.stop != JSON_FAILED)
        link_tests_warn(results->evidence, LINK_CUT, json_cursor_pos(&json.cursor));
    if (ok && json.cursor.stop == JSON_FAILED) {
        *err = json.cursor.err;
        ok = false;
    }
    ok = ok && buf_ok(&json.text, err);
    link_json_close(&json);
    return ok;
}

static bool gather_with(const struct format_input *input,
                        bool (*read)(struct results *results, struct err *err), struct err *err)
{
    struct results results = {.input = input, .evidence = input->evidence};
    input->evidence->source = STR("rccl-tests");
    return read(&results, err) && link_settle(input->evidence, err);
}

static bool gather_json(const struct format_input *input, struct err *err)
{
    return gather_with(input, read_json, err);
}

static bool count_json(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_json, link_report_tests}, input, err);
}

static enum format_likeness probe_json(const struct format_sample *sample)
{
    bool names = str_find(sample->head, STR("\"algBw\"")) != SIZE_MAX &&
                 str_find(sample->head, STR("\"busBw\"")) != SIZE_MAX &&
                 str_find(sample->head, STR("\"inPlace\"")) != SIZE_MAX;
    return names && sample->outline->json ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_rccl_json = {
    .name = "rccl-tests-json",
    .what = "results of rccl-tests in JSON",
    .kind = FORMAT_RECORDS,
    .probe = probe_json,
    .count = count_json,
    .gather = gather_json,
};

// --- CSV ----------------------------------------------------------------------------------------

enum column {
    COLLECTIVE,
    NODES,
    RANKS,
    PROCESSES,
    GPUS_EACH,
    GPUS,
    SIZE,
    TYPE,
    REDUCTION,
    IN_PLACE,
    TIME,
    ALGORITHM,
    BUS,
    WRONG,
    COLUMNS
};

static const char *const names[COLUMNS] = {
    "collective", "nodes", "ranks",   "rankspernode", "gpusperrank", "gpus",  "size",
    "type",       "redop", "inplace", "time",         "algbw",       "busbw", "#wrong"};

struct table {
    size_t at[COLUMNS], count; // SIZE_MAX: not there
};

static void take_names(const struct csv_row *row, struct table *table)
{
    table->count = row->count;
    for (size_t c = 0; c < COLUMNS; c++) {
        table->at[c] = SIZE_MAX;
        for (size_t i = row->count; i-- > 0;)
            if (str_equal_nocase(row->cells[i], str_of(names[c])))
                table->at[c] = i;
    }
}

// Versions with MPI forget a name: rows have a cell more, the nodes, behind the collective.
static struct str cell_of(const struct csv_row *row, const struct table *table, enum column column)
{
    bool forgot = row->count == table->count + 1 && table->at[NODES] == SIZE_MAX;
    size_t at = table->at[column];
    if (forgot && at != SIZE_MAX && at > table->at[COLLECTIVE])
        at++;
    return csv_cell(row, at);
}

static struct one one_of(const struct csv_row *row, const struct table *table)
{
    struct one one = empty_one(row->pos);
    one.run.ranks = link_whole(cell_of(row, table, RANKS));
    one.processes = link_whole(cell_of(row, table, PROCESSES));
    one.gpus_each = link_whole(cell_of(row, table, GPUS_EACH));
    one.gpus = link_whole(cell_of(row, table, GPUS));
    one.in_place = link_whole(cell_of(row, table, IN_PLACE));
    one.row.bytes = link_whole(cell_of(row, table, SIZE));
    one.row.time_ns = link_number(cell_of(row, table, TIME)) * LINK_US;
    one.row.algorithm_bps = link_number(cell_of(row, table, ALGORITHM)) * LINK_GB;
    one.row.bus_bps = link_number(cell_of(row, table, BUS)) * LINK_GB;
    one.row.wrong = link_whole(cell_of(row, table, WRONG));
    return one;
}

static bool take_row(struct results *results, const struct csv_row *row, const struct table *table,
                     struct err *err)
{
    struct one one = one_of(row, table);
    struct evidence *evidence = results->evidence;
    if (row->cut || (row->half && row->count < table->count)) {
        link_tests_warn(evidence, LINK_CUT, row->pos);
        return true;
    }
    bool ok = link_keep(evidence, cell_of(row, table, COLLECTIVE), &results->collective, err) &&
              link_keep(evidence, cell_of(row, table, TYPE), &results->type, err) &&
              link_keep(evidence, cell_of(row, table, REDUCTION), &results->reduction, err);
    one.run.collective = results->collective;
    one.row.type = results->type;
    one.row.reduction = results->reduction;
    return ok && add_one(results, &one, err);
}

static bool read_rows(struct results *results, struct csv *csv, struct err *err)
{
    enum { ROWS_BETWEEN = 1024 }; // reports of progress
    struct csv_row row;
    struct table table = {.count = 0};
    bool end = false;
    const struct format_input *input = results->input;
    for (size_t i = 0; csv_next(csv, &row, &end, err); i++) {
        bool header = i == 0 || str_equal_nocase(csv_cell(&row, 0), STR("numCycle"));
        if (header)
            take_names(&row, &table);
        else if (!take_row(results, &row, &table, err))
            return false;
        if (i % ROWS_BETWEEN == 0 &&
            !progress_report(input->progress, source_consumed(input->source), err))
            return false;
    }
    return end;
}

static bool read_csv(struct results *results, struct err *err)
{
    struct csv *csv = csv_open(results->input->source, results->input->budget, err);
    bool ok = csv && read_rows(results, csv, err);
    csv_close(csv);
    return ok;
}

static bool gather_csv(const struct format_input *input, struct err *err)
{
    return gather_with(input, read_csv, err);
}

static bool count_csv(const struct format_input *input, struct err *err)
{
    return evidence_count(&(struct evidence_count){gather_csv, link_report_tests}, input, err);
}

static enum format_likeness probe_csv(const struct format_sample *sample)
{
    bool names_it = csv_head_has(sample->head, "collective") &&
                    csv_head_has(sample->head, "inplace") && csv_head_has(sample->head, "busbw");
    return names_it ? FORMAT_SURE : FORMAT_UNLIKE;
}

const struct format format_rccl_csv = {
    .name = "rccl-tests-csv",
    .what = "results of rccl-tests as CSV",
    .kind = FORMAT_RECORDS,
    .probe = probe_csv,
    .count = count_csv,
    .gather = gather_csv,
};
