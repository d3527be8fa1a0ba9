// SPDX-License-Identifier: Apache-2.0
#include "server/jobs/job_overview.h"

#include "analysis/report/report_parts.h"
#include "analysis/report/tables.h"
#include "ingest/base/log.h"
#include "ingest/trace/overview.h"
#include "server/exports/event_source.h"

#include <stdio.h>
#include <unistd.h>

struct making {
    const struct overview_task *task;
    struct arena arena;
    struct piece_clock *clocks;
};

static int64_t within(int64_t ns)
{
    return ns > TRACE_MAX_NS ? TRACE_MAX_NS : ns < -TRACE_MAX_NS ? -TRACE_MAX_NS : ns;
}

// Opening a trace also tells where its clock starts.
static struct trace_file *open_rank(void *context, uint32_t index, struct err *err)
{
    struct making *making = context;
    const struct overview_task *task = making->task;
    struct piece_clock *clock = &making->clocks[index];
    char id[STORE_ID_SIZE];
    int fd;
    uint64_t bytes;
    snprintf(id, sizeof id, "%.*s", (int)task->traces[index].trace_id.len,
             task->traces[index].trace_id.at);
    if (task->progress->cancel) {
        err_set(err, ERR_CANCELLED, "cancelled while ranks were drawn");
        return NULL;
    }
    struct trace_file *file = blob_open_trace(task->site->config->blobs, id, &fd, &bytes, err)
                                  ? trace_file_open_fd(fd, id, err)
                                  : NULL;
    if (file) {
        clock->base_ns = event_source_base(file);
        clock->origin_ns = trace_file_header(file)->device_begin_ns;
    }
    return file;
}

// --- clocks -------------------------------------------------------------------------------------

static int64_t cell_or_zero(const struct table *table, size_t row, unsigned column)
{
    const struct cell *cell = table_cell(table, row, column);
    return cell->null ? 0 : within(cell->i);
}

// Traces and rows are both in the order of ranks, but a rank may have no row.
static void take_clocks(struct making *making, const struct table *table)
{
    const struct overview_task *task = making->task;
    size_t at = 0;
    for (size_t row = 0; table && row < table->row_count; row++) {
        int64_t rank = table_cell(table, row, RUN_CLOCKS_RANK)->i;
        while (at < task->count && task->traces[at].rank < rank)
            at++;
        if (at == task->count || task->traces[at].rank != rank)
            continue;
        const struct cell *drift = table_cell(table, row, RUN_CLOCKS_DRIFT_PPM);
        making->clocks[at] =
            (struct piece_clock){.offset_ns = cell_or_zero(table, row, RUN_CLOCKS_OFFSET_NS),
                                 .drift = drift->null ? 0 : -drift->f / 1e6,
                                 .jump_ns = -cell_or_zero(table, row, RUN_CLOCKS_JUMP_NS),
                                 .jump_after_ns = cell_or_zero(table, row, RUN_CLOCKS_JUMP_AT_NS)};
    }
}

static bool find_clocks(struct making *making, struct err *err)
{
    static const struct table_desc *const known[] = {&table_run_clocks, NULL};
    struct report report = {.arena = &making->arena};
    struct report_parts parts;
    bool found = true, ok = true;
    report_parts_open(&parts, making->task->tables, run_tables);
    while (ok && (ok = report_parts_next(&parts, &found, err)) && found)
        ok = !known[table_place(known, parts.part.desc)] ||
             report_part_load(&parts.part, &report, err);
    report_parts_close(&parts);
    if (ok)
        take_clocks(making, report_find(&report, table_run_clocks.name));
    return ok;
}

// --- the file -----------------------------------------------------------------------------------

static bool write_file(struct making *making, int fd, int scratch, struct err *err)
{
    const struct overview_task *task = making->task;
    struct overview_source source = {
        .count = (uint32_t)task->count, .context = making, .open = open_rank};
    int64_t *ranks = arena_array(&making->arena, task->count, sizeof *ranks, err);
    making->clocks = arena_array(&making->arena, task->count, sizeof *making->clocks, err);
    for (size_t i = 0; ranks && i < task->count; i++)
        ranks[i] = task->traces[i].rank;
    source.ranks = ranks;
    source.clocks = making->clocks;
    return ranks && making->clocks && find_clocks(making, err) &&
           overview_write(&source, fd, scratch, making->arena.budget, err);
}

static bool make(struct making *making, const char *id, struct err *err)
{
    const struct jobs_config *config = making->task->site->config;
    struct blob_part part;
    if (!job_room_check(config, "draw the ranks", err) ||
        !blob_part_open(config->blobs, &part, err))
        return false;
    int scratch = blob_scratch(config->blobs, err);
    bool ok = scratch >= 0 && write_file(making, part.fd, scratch, err) &&
              blob_keep_trace(config->blobs, id, &part, err);
    if (scratch >= 0)
        close(scratch);
    blob_part_close(&part);
    return ok;
}

// Says why there is none.
static void leave_out(const struct overview_task *task, const char *id, const struct err *why)
{
    struct err err = {.pos = ERR_NO_POS};
    if (why->code != ERR_NONE && why->code != ERR_NOT_FOUND)
        log_warn("run %s has no overview of its ranks: %s", id, why->msg);
    if (!blob_remove_trace(task->site->config->blobs, id, &err))
        log_warn("an old overview of the ranks of run %s remains: %s", id, err.msg);
}

bool job_overview_make(const struct overview_task *task, struct err *err)
{
    struct budget budget = {.limit = task->site->config->memory_bytes};
    struct making making = {.task = task};
    struct err why = {.pos = ERR_NO_POS};
    char id[STORE_ID_SIZE];
    bool has_many = task->count >= 2 && task->count <= OVERVIEW_RANKS;
    snprintf(id, sizeof id, "%.*s", (int)task->run_id.len, task->run_id.at);
    arena_init(&making.arena, &budget);
    bool made = has_many && make(&making, id, &why);
    arena_free(&making.arena);
    if (!made && why.code == ERR_CANCELLED)
        return err_set(err, ERR_CANCELLED, "%s", why.msg);
    if (!made)
        leave_out(task, id, &why);
    return true;
}
