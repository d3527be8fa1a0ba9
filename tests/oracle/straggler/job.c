// SPDX-License-Identifier: Apache-2.0
// Rows are read twice: once for what there is, once for its times.
#include "tests/oracle/straggler/job.h"

#include "ingest/csv/csv.h"
#include "ingest/source/source.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STAGES = 4096, MOST_RANKS = 65536, MOST_SEQ = 1 << 20 };
#define MOST_ROWS (64u << 20)

const char *const op_type_name[OP_TYPES] = {
    [OP_FORWARD] = "forward-compute",
    [OP_BACKWARD] = "backward-compute",
    [OP_FORWARD_SEND] = "forward-send",
    [OP_FORWARD_RECV] = "forward-recv",
    [OP_BACKWARD_SEND] = "backward-send",
    [OP_BACKWARD_RECV] = "backward-recv",
    [OP_PARAMS_GATHER] = "params-all-gather",
    [OP_GRADS_SCATTER] = "grads-reduce-scatter",
    [OP_SEPARATE_REDUCE] = "separate-grads-all-reduce",
    [OP_LAYERNORM_REDUCE] = "layernorm-grads-all-reduce",
    [OP_EMBEDDING_REDUCE] = "embedding-grads-all-reduce",
    [OP_CLIP] = "optimizer-clip-main-grad",
    [OP_OPTIMIZER] = "optimizer",
    [OP_GC] = "gc",
};

// --- rows ---------------------------------------------------------------------------------------

enum column {
    DATA_RANK,
    STAGE,
    RANK,
    STEP,
    TYPE,
    BEGIN,
    DURATION,
    SEQ,
    CHUNK,
    WHOLE_CHUNK,
    COLUMNS
};

static const char *const column_name[COLUMNS] = {"dp_rank",  "stage",    "rank",   "step", "optype",
                                                 "start_ts", "duration", "seq_id", "mc",   "gmc"};

struct row {
    int64_t step, rank, chunk, whole_chunk;
    uint32_t data_rank, stage, type, seq;
    double begin_s, dur_s;
};

struct rows {
    bool is_single; // no time has more digits than a float
    struct row *at;
    size_t count, cap;
};

static bool index_of(double value, uint32_t most, uint32_t *index)
{
    if (!(value >= 0 && value < most) || value != floor(value))
        return false;
    *index = (uint32_t)value;
    return true;
}

static bool whole(double value)
{
    return fabs(value) < 1e15 && value == floor(value);
}

static uint32_t type_of(struct str text)
{
    uint32_t type = 0;
    while (type < OP_TYPES && !str_equal(text, str_of(op_type_name[type])))
        type++;
    return type;
}

// Nine digits name every float.
static bool is_single(struct str text)
{
    size_t digits = 0;
    for (size_t i = 0; i < text.len && text.at[i] != 'e'; i++)
        digits += text.at[i] >= '0' && text.at[i] <= '9' && (digits || text.at[i] != '0');
    return digits <= 9;
}

static bool take_row(const struct csv_row *cells, const size_t *columns, struct row *row,
                     struct err *err)
{
    double value[COLUMNS] = {0};
    bool ok = true;
    for (int c = 0; c < COLUMNS && ok; c++)
        ok = c == TYPE || str_to_f64(csv_cell(cells, columns[c]), &value[c]);
    row->type = type_of(csv_cell(cells, columns[TYPE]));
    ok = ok && row->type < OP_TYPES && index_of(value[DATA_RANK], MOST_RANKS, &row->data_rank) &&
         index_of(value[STAGE], MOST_STAGES, &row->stage) &&
         index_of(value[SEQ], MOST_SEQ, &row->seq) && fabs(value[BEGIN]) < 1e6 &&
         fabs(value[DURATION]) < 1e6 && whole(value[STEP]) && whole(value[RANK]) &&
         whole(value[CHUNK]) && whole(value[WHOLE_CHUNK]);
    if (!ok)
        return err_set_at(err, ERR_FORMAT, cells->pos, "found a row that is no operation");
    row->step = (int64_t)value[STEP];
    row->rank = (int64_t)value[RANK];
    row->chunk = (int64_t)value[CHUNK];
    row->whole_chunk = (int64_t)value[WHOLE_CHUNK];
    row->begin_s = value[BEGIN];
    row->dur_s = value[DURATION];
    return true;
}

static bool find_columns(const struct csv_row *head, size_t *columns, struct err *err)
{
    for (int c = 0; c < COLUMNS; c++) {
        columns[c] = 0;
        while (columns[c] < head->count &&
               !str_equal(head->cells[columns[c]], str_of(column_name[c])))
            columns[c]++;
        if (columns[c] == head->count)
            return err_set(err, ERR_FORMAT, "found no column %s", column_name[c]);
    }
    return true;
}

static bool add_row(struct rows *rows, const struct row *row, struct arena *arena, struct err *err)
{
    if (rows->count == MOST_ROWS)
        return err_set(err, ERR_LIMIT, "more than %u operations", MOST_ROWS);
    if (rows->count == rows->cap) {
        size_t cap = rows->cap ? 2 * rows->cap : 4096;
        void *at = arena_grow(arena, rows->at, rows->cap * sizeof *row, cap * sizeof *row, err);
        if (!at)
            return false;
        rows->at = at;
        rows->cap = cap;
    }
    rows->at[rows->count++] = *row;
    return true;
}

static bool read_csv(struct csv *csv, struct arena *arena, struct rows *rows, struct err *err)
{
    struct csv_row cells;
    struct row row = {0};
    size_t columns[COLUMNS];
    bool end = false;
    if (!csv_next(csv, &cells, &end, err))
        return end && err_set(err, ERR_FORMAT, "found no rows");
    if (!find_columns(&cells, columns, err))
        return false;
    rows->is_single = true;
    while (csv_next(csv, &cells, &end, err)) {
        if (!take_row(&cells, columns, &row, err) || !add_row(rows, &row, arena, err))
            return false;
        rows->is_single = rows->is_single && is_single(csv_cell(&cells, columns[BEGIN])) &&
                          is_single(csv_cell(&cells, columns[DURATION]));
    }
    return end;
}

static bool read_rows(const char *path, struct arena *arena, struct rows *rows, struct err *err)
{
    size_t length = strlen(path);
    struct source *source = source_file_open(path, err);
    if (source && length > 4 && strcmp(path + length - 4, ".zst") == 0)
        source = source_zstd_open(source, err);
    struct budget budget = {0};
    struct csv *csv = source ? csv_open(source, &budget, err) : NULL;
    bool ok = csv && read_csv(csv, arena, rows, err);
    csv_close(csv);
    source_close(source);
    if (ok && rows->count == 0)
        return err_set(err, ERR_FORMAT, "found no operations in %s", path);
    return ok || err_wrap(err, "%s", path);
}

// --- what there is ------------------------------------------------------------------------------

static int compare_u32(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_ops(const void *left, const void *right)
{
    const struct op *a = left, *b = right;
    int by_stage = compare_u32(a->stage, b->stage), by_type = compare_u32(a->type, b->type);
    return by_stage ? by_stage : by_type ? by_type : compare_u32(a->seq, b->seq);
}

static int compare_steps(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

static int compare_workers(const void *left, const void *right)
{
    const struct worker *a = left, *b = right;
    int by_rank = a->rank < b->rank ? -1 : a->rank > b->rank;
    int by_stage = compare_u32(a->stage, b->stage);
    return by_rank ? by_rank : by_stage ? by_stage : compare_u32(a->data_rank, b->data_rank);
}

// Sorts and keeps one of each; returns how many those are.
static uint32_t distinct(void *items, size_t count, size_t size,
                         int (*compare)(const void *, const void *))
{
    char *at = items;
    size_t kept = 0;
    qsort(items, count, size, compare);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || compare(at + (kept - 1) * size, at + i * size) != 0)
            memmove(at + kept++ * size, at + i * size, size);
    return (uint32_t)kept;
}

uint32_t job_find(const struct job *job, enum op_type type, uint32_t seq, uint32_t stage)
{
    struct op key = {.stage = stage, .type = type, .seq = seq};
    const struct op *found = bsearch(&key, job->ops, job->op_count, sizeof key, compare_ops);
    return found ? (uint32_t)(found - job->ops) : JOB_NONE;
}

static uint32_t step_of(const struct job *job, int64_t number)
{
    const int64_t *found =
        bsearch(&number, job->steps, job->step_count, sizeof number, compare_steps);
    return (uint32_t)(found - job->steps);
}

static bool list(struct job *job, const struct rows *rows, struct err *err)
{
    job->steps = arena_room(job->arena, rows->count, sizeof *job->steps, err);
    job->ops = arena_room(job->arena, rows->count, sizeof *job->ops, err);
    job->workers = arena_room(job->arena, rows->count, sizeof *job->workers, err);
    if (!job->steps || !job->ops || !job->workers)
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        job->steps[i] = row->step;
        job->ops[i] = (struct op){row->stage, row->type,        row->seq,
                                  row->chunk, row->whole_chunk, .first = {0}};
        job->workers[i] = (struct worker){row->data_rank, row->stage, row->rank};
        job->data_ranks = row->data_rank >= job->data_ranks ? row->data_rank + 1 : job->data_ranks;
        job->stages = row->stage >= job->stages ? row->stage + 1 : job->stages;
    }
    job->step_count = distinct(job->steps, rows->count, sizeof *job->steps, compare_steps);
    job->op_count = distinct(job->ops, rows->count, sizeof *job->ops, compare_ops);
    job->worker_count = distinct(job->workers, rows->count, sizeof *job->workers, compare_workers);
    return true;
}

static struct op_time time_of(const struct row *row, bool is_single)
{
    double begin_s = row->begin_s, end_s = row->begin_s + row->dur_s;
    if (is_single) {
        begin_s = (double)(float)begin_s;
        end_s = (double)((float)begin_s + (float)row->dur_s);
    }
    return (struct op_time){begin_s, end_s, (float)row->dur_s, 0, true};
}

// Every worker must have done everything, once, in every step.
static bool fill(struct job *job, const struct rows *rows, struct err *err)
{
    size_t all = (size_t)job->step_count * job->data_ranks * job->op_count;
    if (all != rows->count)
        return err_set(err, ERR_FORMAT,
                       "found %zu operations, expected %zu (%u steps of %u data ranks and %u each)",
                       rows->count, all, job->step_count, job->data_ranks, job->op_count);
    job->is_single = rows->is_single;
    job->times = arena_array(job->arena, all, sizeof *job->times, err);
    if (!job->times)
        return false;
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->at[i];
        uint32_t op = job_find(job, row->type, row->seq, row->stage);
        struct op_time *time = job_time(job, step_of(job, row->step), row->data_rank, op);
        if (time->known)
            return err_set(err, ERR_FORMAT, "found %s %u of stage %u twice in step %" PRId64,
                           op_type_name[row->type], row->seq, row->stage, row->step);
        *time = time_of(row, rows->is_single);
        if (row->step == job->steps[0] && row->data_rank == 0) {
            job->ops[op].chunk = row->chunk;
            job->ops[op].whole_chunk = row->whole_chunk;
            job->ops[op].first = *time;
        }
    }
    return true;
}

// --- metadata -----------------------------------------------------------------------------------

static bool read_meta(const char *path, struct job *job, struct err *err)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return err_set_errno(err, "%s", path);
    char line[256];
    job->sequence_size = 1;
    bool ok = true;
    while (ok && fgets(line, sizeof line, file)) {
        struct str text = {line, strcspn(line, "\r\n")};
        if (!str_starts_with(text, STR("dsp_size: ")))
            continue;
        struct str value = {line + 10, text.len - 10};
        ok = str_to_i64(value, &job->sequence_size) && job->sequence_size > 0;
    }
    fclose(file);
    return ok || err_set(err, ERR_FORMAT, "%s: dsp_size is no positive number", path);
}

bool job_read(const char *csv_path, const char *meta_path, struct arena *arena, struct job *job,
              struct err *err)
{
    struct rows rows = {0};
    *job = (struct job){.arena = arena};
    return read_meta(meta_path, job, err) && read_rows(csv_path, arena, &rows, err) &&
           list(job, &rows, err) && (fill(job, &rows, err) || err_wrap(err, "%s", csv_path));
}
