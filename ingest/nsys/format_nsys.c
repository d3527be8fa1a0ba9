// SPDX-License-Identifier: Apache-2.0
// The SQLite export of Nsight Systems, schemas 2.9 to 3.25 and newer ones as far as columns allow.
#include "ingest/nsys/nsys_nccl.h"

#define ROWS_BETWEEN 1024 // reports of progress

bool nsys_is_own(const struct nsys *nsys, int64_t global)
{
    return global == VALUE_ABSENT || nsys->process == FORMAT_WHOLE ||
           (global & NSYS_PROCESS_BITS) == nsys->process;
}

bool nsys_go_on(struct nsys *nsys, struct err *err)
{
    struct progress *progress = nsys->input->progress;
    if (++nsys->rows % ROWS_BETWEEN || !progress)
        return true;
    progress->done_bytes = database_taken(nsys->database);
    return !progress->cancel || err_set(err, ERR_CANCELLED, "cancelled while reading");
}

static void note_state(struct nsys *nsys)
{
    struct database_state state = database_state(nsys->database);
    if (state.cut)
        trace_builder_repair(nsys->builder, REPAIR_TRUNCATED, ERR_NO_POS);
    if (state.has_log)
        trace_builder_repair(nsys->builder, REPAIR_LOG, ERR_NO_POS);
}

static bool read_tables(struct nsys *nsys, struct err *err)
{
    uint64_t size = 0;
    trace_builder_recorder(nsys->builder, RECORDER_NSYS);
    if (!text_table_load(&nsys->texts, nsys->builder, nsys->database, "StringIds", "id value",
                         err) ||
        !(nsys->nccl = nccl_new(nsys, err)) || !nsys_read_device(nsys, err) ||
        !nsys_read_calls(nsys, err) || !nsys_read_ranges(nsys, err) ||
        !nccl_finish(nsys->nccl, err) || !nsys_read_facts(nsys, err) ||
        !nsys_read_counters(nsys, err))
        return false;
    note_state(nsys);
    figures_add(nsys->input->figures, 1, "processes_with_gpu_work");
    (void)source_size(nsys->input->source, &size);
    trace_builder_count_input(nsys->builder, nsys->rows, size);
    if (!nsys->rows)
        return err_set(err, ERR_FORMAT,
                       "found an export of Nsight Systems without any event: record with "
                       "--trace cuda,nvtx and the right to profile GPUs");
    return nsys_count(nsys, err);
}

static bool nsys_read(const struct format_input *input, struct err *err)
{
    struct nsys nsys = {.input = input, .builder = input->builder, .process = input->part};
    nsys.database =
        database_open(input->source, input->progress ? &input->progress->cancel : NULL, err);
    bool ok = nsys.database && read_tables(&nsys, err);
    nccl_free(nsys.nccl);
    text_table_free(&nsys.texts);
    database_close(nsys.database);
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
};
