// SPDX-License-Identifier: Apache-2.0
// The tables of two or three ranks, as they may come from processes that read untrusted files, join
// into a run without harm, whatever their cells contain. Besides the saved report, an input has
// edits of single cells, so that values at the edges of their types occur often.
#include "server/jobs/job_wire.h"

#include "analysis/analysis.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT ((uint64_t)256 << 20)

enum { EDIT_BYTES = 5, MAX_RANKS = 3, HEAD_BYTES = 3 };

static const int64_t edges[] = {INT64_MIN,           INT64_MIN + 1,    -1,        0, 1,
                                INT64_C(1) << 32,    INT64_C(1) << 62, INT64_MAX, 7, INT64_MAX - 1,
                                -(INT64_C(1) << 62), INT64_C(1) << 53};
static const double fractions[] = {-1.0, 0.0, 1e308, -1e308, 5e-324, 1.0 / 0.0};

static const char *const texts[] = {"", "0", "all_reduce", "[0, 1]", "[-1, 9223372036854775807]"};

// The cell gets a value at an edge of its type, the value of another row, or none.
static void edit_cell(struct table *table, struct cell *cell, unsigned column, unsigned kind)
{
    size_t other = kind / 16 * (size_t)7 % table->row_count;
    if (kind % 16 == 0) {
        *cell = cell_null();
        return;
    }
    cell->null = false;
    if (kind % 16 == 1)
        *cell = table->cells[other * table->desc->column_count + column];
    else if (table->desc->columns[column].type == COLUMN_TEXT)
        cell->s = str_of(texts[kind % (sizeof texts / sizeof *texts)]);
    else if (table->desc->columns[column].type == COLUMN_F64)
        cell->f = fractions[kind % (sizeof fractions / sizeof *fractions)];
    else if (table->desc->columns[column].type == COLUMN_BOOL)
        cell->i = kind % 2;
    else
        cell->i = edges[kind % (sizeof edges / sizeof *edges)];
}

// One edit: table and rank, row (two bytes), column, kind of value.
static void edit(struct report *reports, size_t count, const uint8_t *bytes)
{
    struct report *report = &reports[bytes[0] / 64 % count];
    if (report->table_count == 0)
        return;
    struct table *table = &report->tables[bytes[0] % 64 % report->table_count];
    if (table->row_count == 0)
        return;
    size_t row = (bytes[1] + (size_t)256 * bytes[2]) % table->row_count;
    unsigned column = bytes[3] % table->desc->column_count;
    edit_cell(table, &table->cells[row * table->desc->column_count + column], column, bytes[4]);
}

static void join(const struct report *reports, size_t count, unsigned spread, struct arena *arena)
{
    static const int64_t numbers[][MAX_RANKS] = {
        {0, 1, 2}, {0, 3, INT64_MAX}, {-1, 0, 1}, {5, 6, INT64_C(1) << 40}};
    struct report run = {.arena = arena};
    struct rank_report ranks[MAX_RANKS];
    struct buf json = {0};
    struct err err = {0};
    for (size_t i = 0; i < count; i++)
        ranks[i] = (struct rank_report){numbers[spread % 4][i], &reports[i]};
    if (analyze_reports(ranks, count, &run, &err)) {
        report_json(&run, &json);
    } else if (err.code == ERR_NONE) {
        abort();
    }
    buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct budget budget = {.limit = LIMIT};
    struct report reports[MAX_RANKS];
    struct arena arena;
    struct err err;
    if (size < HEAD_BYTES || size < HEAD_BYTES + (size_t)data[2] * EDIT_BYTES)
        return 0;
    size_t count = 1 + data[0] % MAX_RANKS, edited = (size_t)data[2] * EDIT_BYTES;
    struct str saved = {(const char *)data + HEAD_BYTES + edited, size - HEAD_BYTES - edited};
    arena_init(&arena, &budget);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        reports[i] = (struct report){.arena = &arena};
        ok = report_load(&reports[i], saved, trace_tables, &err);
    }
    for (size_t i = 0; ok && i < data[2]; i++)
        edit(reports, count, data + HEAD_BYTES + i * EDIT_BYTES);
    if (ok)
        join(reports, count, data[1], &arena);
    arena_free(&arena);
    if (budget.used)
        abort();
    return 0;
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

// Mostly mutates the edits: a mutated report is hardly ever still valid.
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    enum { MOST_BYTES = HEAD_BYTES + UINT8_MAX * EDIT_BYTES };
    uint8_t head[MOST_BYTES];
    size_t len = size < HEAD_BYTES ? 0 : HEAD_BYTES + (size_t)data[2] * EDIT_BYTES;
    if (len == 0 || len > size || max_size - size < MOST_BYTES || seed % 16 == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    memcpy(head, data, len);
    size_t edited = LLVMFuzzerMutate(head, len, MOST_BYTES);
    edited = edited < HEAD_BYTES ? HEAD_BYTES : edited;
    head[2] = (uint8_t)((edited - HEAD_BYTES) / EDIT_BYTES);
    edited = HEAD_BYTES + (size_t)head[2] * EDIT_BYTES;
    memmove(data + edited, data + len, size - len);
    memcpy(data, head, edited);
    return size - len + edited;
}

#endif
