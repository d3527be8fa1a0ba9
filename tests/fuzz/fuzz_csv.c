// SPDX-License-Identifier: Apache-2.0
// Any bytes as CSV: the same rows in pieces as in one, and as a trace of AMD's profilers no harm.
#include <stdlib.h>

#include "ingest/base/buf.h"
#include "ingest/csv/csv.h"
#include "ingest/ingest.h"
#include "ingest/source/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Cells with their sizes, so that what they hold cannot look like an end.
static struct buf rows_of(const uint8_t *data, size_t size, size_t step)
{
    struct err err = {0};
    struct budget budget = {0};
    struct buf out = {0};
    struct csv_row row;
    bool end;
    struct source *source = source_mem_open(data, size, step, &err);
    struct csv *csv = source ? csv_open(source, &budget, &err) : NULL;
    while (csv && csv_next(csv, &row, &end, &err)) {
        buf_printf(&out, "%llu:%d\n", (unsigned long long)row.pos, row.cut);
        for (size_t i = 0; i < row.count; i++) {
            buf_printf(&out, "%zu,", row.cells[i].len);
            buf_add_str(&out, row.cells[i]);
        }
    }
    csv_close(csv);
    source_close(source);
    return out;
}

static void read_trace(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct source *source = source_mem_open(data, size, 0, &err);
    struct trace *trace = source ? ingest_source(source, &budget, NULL, &err) : NULL;
    if (!trace && err.code == ERR_NONE)
        abort();
    if (trace)
        trace_free(trace);
}

static void count_records(const uint8_t *data, size_t size)
{
    struct err err = {0};
    struct arena arena;
    struct budget budget = {.limit = (uint64_t)64 << 20};
    struct str head = {(const char *)data, size < FORMAT_HEAD_BYTES ? size : FORMAT_HEAD_BYTES};
    const struct format *format = format_find(head, STR(""));
    arena_init(&arena, NULL);
    struct figures figures = {.arena = &arena};
    struct format_input input = {.budget = &budget, .figures = &figures};
    input.source = source_mem_open(data, size, 0, &err);
    if (format && format->count && input.source && !format->count(&input, &err) &&
        err.code == ERR_NONE)
        abort();
    source_close(input.source);
    if (budget.used)
        abort();
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct buf whole = rows_of(data + 1, size - 1, 0);
    struct buf pieces = rows_of(data + 1, size - 1, (size_t)data[0] + 1);
    if (whole.len != pieces.len || (whole.len && memcmp(whole.at, pieces.at, whole.len) != 0))
        abort();
    buf_free(&whole);
    buf_free(&pieces);
    read_trace(data + 1, size - 1);
    count_records(data + 1, size - 1);
    return 0;
}
