// SPDX-License-Identifier: Apache-2.0
// The SQLite export of Nsight Systems, schemas 2.9 to 3.25 and newer ones as far as columns allow.
#include "ingest/nsys/nsys_nccl.h"

#include <stdlib.h>

bool nsys_is_own(const struct nsys *nsys, int64_t global)
{
    return global == VALUE_ABSENT || nsys->process == FORMAT_WHOLE ||
           (global & NSYS_PROCESS_BITS) == nsys->process;
}

bool nsys_times(struct nsys *nsys, const struct rows *rows, struct event_record *record)
{
    return event_record_times(nsys->builder, record, rows_i64_or(rows, 0, VALUE_ABSENT),
                              rows_i64_or(rows, 1, VALUE_ABSENT), ERR_NO_POS);
}

static bool read_tables(struct nsys *nsys, struct err *err)
{
    const struct format_input *input = nsys->tables.input;
    trace_builder_recorder(nsys->builder, RECORDER_NSYS);
    nsys->waits.budget = input->budget;
    if (!text_table_load(&nsys->texts, input->budget, nsys->tables.database, "StringIds",
                         "id value", err) ||
        !(nsys->nccl = nccl_new(nsys, err)) || !nsys_read_device(nsys, err))
        return false;
    figures_add(input->figures, nsys->is_timed, "processes_with_gpu_work");
    return nsys_read_calls(nsys, err) && nsys_read_ranges(nsys, err) &&
           nccl_finish(nsys->nccl, err) && nsys_read_facts(nsys, err) &&
           nsys_read_counters(nsys, err) &&
           table_reader_finish(&nsys->tables,
                               "record with --trace cuda,nvtx and the right to profile GPUs", err);
}

// In a file with many processes, most rows belong to others.
static void read_own(struct nsys *nsys)
{
    int64_t from = nsys->process, to = from | ~NSYS_PROCESS_BITS;
    if (from == FORMAT_WHOLE)
        return;
    nsys->own[0] = (struct rows_only){"globalPid", from, to};
    nsys->own[1] = (struct rows_only){"globalTid", from, to};
    database_only(nsys->tables.database, nsys->own);
}

static bool nsys_read(const struct format_input *input, struct err *err)
{
    struct nsys nsys = {.builder = input->builder, .process = input->part};
    bool ok = table_reader_open(&nsys.tables, input, err);
    if (ok)
        read_own(&nsys);
    ok = ok && read_tables(&nsys, err);
    nccl_free(nsys.nccl);
    free(nsys.users);
    id_table_free(&nsys.waits);
    text_table_free(&nsys.texts);
    table_reader_close(&nsys.tables);
    return ok;
}

const struct format format_nsys = {
    .name = "nsys-sqlite",
    .what = "an SQLite export of Nsight Systems",
    .kind = FORMAT_TRACE,
    .access = FORMAT_SEEK,
    .ending = ".sqlite",
    .tables = "META_DATA_EXPORT EXPORT_META_DATA CUPTI_ACTIVITY_KIND_KERNEL StringIds",
    .read = nsys_read,
    .parts = nsys_parts,
    .count = nsys_count,
};
