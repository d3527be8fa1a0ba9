// SPDX-License-Identifier: Apache-2.0
// Fills a data directory with many runs of many ranks, using the store's own functions: one trace
// is analyzed, then its report is varied for each rank and its kernels are multiplied.
#include "server/base/pipeline.h"
#include "server/store/store_tracking.h"
#include "tests/bench/queries_more.h"

#include "analysis/report/report_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// Flushing took most of the time. Who loses the machine fills the store again.
int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

struct plan {
    struct store *store;
    struct report model; // of the only trace
    int64_t runs, ranks, kernels;
    int64_t more; // runs without tables
};

// How a run ends. One in twenty each is partial, failed or empty; the others are done.
enum fate { FATE_DONE, FATE_PARTIAL, FATE_FAILED, FATE_EMPTY };

static enum fate fate_of(int64_t run)
{
    switch (run % 20) {
    case 3: return FATE_PARTIAL;
    case 7: return FATE_FAILED;
    case 11: return FATE_EMPTY;
    default: return FATE_DONE;
    }
}

// Every other run belongs to a long series, which becomes slower at some point.
static bool is_nightly(int64_t run)
{
    return run % 2 == 0;
}

// The factor in thousandths between a rank's times and the model's: 900 to 1099, and more once the
// long series is slower.
static int64_t factor_of(int64_t run, int64_t rank)
{
    int64_t slower = is_nightly(run) && run >= 600 ? 200 : 0;
    return 900 + slower + (run * 7919 + rank * 104729) % 200;
}

static bool is_time(const struct column *column)
{
    size_t len = strlen(column->name);
    return column->type == COLUMN_I64 && len > 3 && strcmp(column->name + len - 3, "_ns") == 0;
}

static void vary_row(const struct table_desc *desc, int64_t factor, struct cell *row)
{
    for (unsigned c = 0; c < desc->column_count; c++) {
        if (row[c].null)
            continue;
        if (is_time(&desc->columns[c]))
            row[c].i = row[c].i / 1000 * factor;
        else if (desc->columns[c].type == COLUMN_F64)
            row[c].f *= (double)factor / 1000;
    }
}

// Columns that distinguish the copies of a row; NULL for tables that do not grow. Kernels repeat
// under other names, like autotuned variants, and parts in more layers with these.
static const char *const *names_of(const struct table_desc *desc)
{
    static const char *const of_kernels[] = {"name", NULL};
    static const char *const of_parts[] = {"module", "kernel", NULL};
    if (strcmp(desc->name, "kernels") == 0)
        return of_kernels;
    return strcmp(desc->name, "parts") == 0 ? of_parts : NULL;
}

static bool rename_row(const struct table_desc *desc, size_t copy, struct arena *arena,
                       struct cell *row, struct err *err)
{
    for (const char *const *name = names_of(desc); copy > 0 && *name; name++) {
        struct cell *cell = &row[table_column(desc, str_of(*name))];
        struct str text = cell->null ? STR("Layer") : cell->s;
        char *renamed = arena_printf(arena, err, "%.*s_%zu", (int)text.len, text.at, copy);
        if (!renamed)
            return false;
        *cell = cell_text(str_of(renamed));
    }
    return true;
}

// Parts sum to bars, so the copies of one share its time and calls.
static void share_out(const struct table_desc *desc, size_t copies, struct cell *row)
{
    static const char *const shared[] = {"owned_ns", "calls"};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        row[table_column(desc, str_of(shared[i]))].i /= (int64_t)copies;
}

static bool vary_table(const struct table *from, int64_t factor, int64_t kernels,
                       struct report *report, struct err *err)
{
    bool grows = names_of(from->desc) && from->row_count;
    size_t rows = grows && from->row_count < (size_t)kernels ? (size_t)kernels : from->row_count;
    unsigned width = from->desc->column_count;
    for (size_t i = 0; i < rows; i++) {
        struct cell row[TABLE_MAX_COLUMNS];
        memcpy(row, &from->cells[i % from->row_count * width], width * sizeof *row);
        vary_row(from->desc, factor, row);
        if (strcmp(from->desc->name, "parts") == 0)
            share_out(from->desc,
                      rows / from->row_count + (i % from->row_count < rows % from->row_count), row);
        if (grows && !rename_row(from->desc, i / from->row_count, report->arena, row, err))
            return false;
        if (!report_add(report, from->desc, row, err))
            return false;
    }
    return true;
}

static bool vary(const struct plan *plan, int64_t factor, struct report *report, struct err *err)
{
    for (unsigned i = 0; i < plan->model.table_count; i++)
        if (!vary_table(&plan->model.tables[i], factor, plan->kernels, report, err))
            return false;
    return true;
}

// --- one run ------------------------------------------------------------------------------------

struct labels {
    struct run_tag tags[3], meta[3];
};

static struct run_request request_of(int64_t run, struct labels *labels, struct arena *arena)
{
    static const char *const projects[] = {"llama", "mixtral", "resnet", "vit", "gpt"};
    static const char *const branches[] = {"main", "fused-adam", "compile", "overlap"};
    *labels = (struct labels){{{STR("branch"), str_of(branches[run % 4])},
                               {STR("tokens_per_step"), STR("131072")},
                               {STR("tables"), STR("all")}},
                              {{STR("commit"), STR("8c1f0e2")},
                               {STR("batch_size"), STR("64")},
                               {STR("tokens_per_step"), STR("131072")}}};
    const char *name = is_nightly(run) ? arena_printf(arena, NULL, "nightly@%lld", (long long)run)
                                       : arena_printf(arena, NULL, "train-%lld@%lld",
                                                      (long long)(run / 4), (long long)(run % 4));
    return (struct run_request){.name = str_of(name ? name : ""),
                                .project = str_of(projects[is_nightly(run) ? 0 : run % 5]),
                                .meta = labels->meta,
                                .meta_count = 3,
                                .note = STR("a run of the benchmark of queries"),
                                .tags = labels->tags,
                                .tag_count = 3,
                                .world_size = STORE_ANY};
}

static bool upload(const struct plan *plan, int64_t run, struct arena *arena, struct err *err)
{
    struct labels labels;
    struct upload_request request = {.run = request_of(run, &labels, arena)};
    struct trace_part *parts = arena_array(arena, (size_t)plan->ranks, sizeof *parts, err);
    struct run made;
    struct upload done;
    if (!parts)
        return false;
    if (fate_of(run) == FATE_EMPTY)
        return store_create_run(plan->store, &request.run, arena, &made, err);
    for (int64_t rank = 0; rank < plan->ranks; rank++) {
        char *sha256 =
            arena_printf(arena, err, "%064llx", (unsigned long long)(run * plan->ranks + rank));
        char *name = arena_printf(arena, err, "rank%lld.json.zst", (long long)rank);
        if (!sha256 || !name)
            return false;
        parts[rank] = (struct trace_part){
            .sha256 = sha256, .bytes = 1 << 20, .filename = str_of(name), .rank = rank};
    }
    request.parts = parts;
    request.count = (size_t)plan->ranks;
    if (!store_add_upload(plan->store, &request, arena, &done, err))
        return false;
    printf("%s\n", done.id.at); // for callers that want to look it up
    return true;
}

// The ranks of a run that have been read so far.
struct joining {
    struct report *reports;
    struct rank_report *ranks;
    size_t count;
};

static bool finish_rank(const struct plan *plan, const struct job *job, int64_t run, int64_t rank,
                        struct joining *joining, struct err *err)
{
    struct report *report = &joining->reports[joining->count];
    enum fate fate = fate_of(run);
    if (fate == FATE_FAILED || (fate == FATE_PARTIAL && rank == 1))
        return store_fail_job(plan->store, job, "found the end of the file at byte 1048576", err);
    struct trace_result result = {
        .rank = rank, .world_size = plan->ranks, .events = 1000000, .text_bytes = 1 << 28};
    if (!vary(plan, factor_of(run, rank), report, err))
        return false;
    joining->ranks[joining->count++] = (struct rank_report){rank, report};
    result.tables = report_parts_hold(report, trace_tables, err);
    if (result.tables < 0)
        return false;
    bool ok = store_finish_trace(plan->store, job, &result, err);
    close(result.tables);
    return ok;
}

static bool finish_run(const struct plan *plan, const struct job *job,
                       const struct joining *joining, struct arena *arena, struct err *err)
{
    struct report report = {.arena = arena};
    if (joining->count && !analyze_reports(joining->ranks, joining->count, &report, err))
        return false;
    int tables = report_parts_hold(&report, run_tables, err);
    bool ok = tables >= 0 && store_finish_run(plan->store, job, tables, err);
    if (tables >= 0)
        close(tables);
    return ok;
}

// Does what jobs.c does for a run until none of its jobs is waiting.
static bool work(const struct plan *plan, int64_t run, struct arena *arena, struct err *err)
{
    struct joining joining = {
        .reports = arena_array(arena, (size_t)plan->ranks, sizeof *joining.reports, err),
        .ranks = arena_array(arena, (size_t)plan->ranks, sizeof *joining.ranks, err)};
    if (!joining.reports || !joining.ranks)
        return false;
    for (int64_t i = 0; i < plan->ranks; i++)
        joining.reports[i] = (struct report){.arena = arena};
    for (int64_t rank = 0;; rank++) {
        struct job job;
        bool found;
        if (!store_claim_job(plan->store, arena, &job, &found, err))
            return false;
        if (!found)
            return true;
        bool ok = job.kind == JOB_RUN ? finish_run(plan, &job, &joining, arena, err)
                                      : finish_rank(plan, &job, run, rank, &joining, err);
        if (!ok)
            return false;
    }
}

// What people and the service add to existing runs.
static bool track(const struct plan *plan, struct err *err)
{
    struct arena arena;
    struct run run;
    arena_init(&arena, NULL);
    bool ok = store_find_run(plan->store, STR("nightly~latest"), &arena, &run, err) &&
              store_set_baseline(plan->store, STR("main"), run.id, err) &&
              store_judge_series(plan->store, err);
    arena_free(&arena);
    return ok;
}

static bool fill(const struct plan *plan, struct err *err)
{
    for (int64_t run = 0; run < plan->runs; run++) {
        struct arena arena;
        arena_init(&arena, NULL);
        bool ok = upload(plan, run, &arena, err) && work(plan, run, &arena, err);
        arena_free(&arena);
        if (!ok)
            return false;
        if (run % 50 == 49)
            fprintf(stderr, "%lld of %lld runs\n", (long long)run + 1, (long long)plan->runs);
    }
    return true;
}

static bool make(struct plan *plan, const char *folder, const char *trace, struct err *err)
{
    char path[4096];
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "making %s", folder);
    snprintf(path, sizeof path, "%s/stepscope.db", folder);
    struct pipeline_job job = {.options = {.warmup_steps = -1}};
    struct pipeline_result result;
    if (!pipeline_file(trace, &job, &plan->model, &result, err))
        return false;
    plan->store = store_open(path, err);
    if (!plan->store || !fill(plan, err) || !track(plan, err))
        return false;
    store_close(plan->store);
    plan->store = NULL;
    return plan->more == 0 || queries_more(path, plan->more, err);
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct budget budget = {0};
    struct err err;
    if (argc != 7) {
        fprintf(stderr, "usage: queries_store FOLDER TRACE RUNS RANKS KERNELS MORE_RUNS\n");
        return 2;
    }
    arena_init(&arena, &budget);
    struct plan plan = {.model = {.arena = &arena},
                        .runs = atoll(argv[3]),
                        .ranks = atoll(argv[4]),
                        .kernels = atoll(argv[5]),
                        .more = atoll(argv[6])};
    bool ok = make(&plan, argv[1], argv[2], &err);
    if (!ok)
        fprintf(stderr, "queries_store: %s\n", err.msg);
    store_close(plan.store);
    arena_free(&arena);
    return ok ? 0 : 1;
}
