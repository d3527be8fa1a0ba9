// SPDX-License-Identifier: Apache-2.0
// Fills a data directory with one run of many ranks whose run job is still waiting: one trace is
// analyzed, its report is varied for each rank, and its collectives are regenerated with clocks
// that differ. Afterwards prints how long the job took and how well the clocks were found.
#include "analysis/report/report_parts.h"
#include "analysis/report/tables.h"
#include "server/base/pipeline.h"
#include "server/store/store.h"
#include "tests/named_cell.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NODE = 8,           // ranks per machine, and per tensor-parallel group
    TENSOR_CALLS = 150, // per step; the others are data-parallel
    JITTER_NS = 200000,
    TRANSFER_NS = 100000,
    SKEW_NS = 50000000, // clocks differ by up to this much either way
};

struct plan {
    struct store *store;
    struct report model; // of the only trace
    int64_t ranks, calls;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t z = a * 0x9E3779B97F4A7C15u + b * 0xBF58476D1CE4E5B9u + 1;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int64_t skew_of(int64_t rank)
{
    return rank ? (int64_t)(mix(77, (uint64_t)rank) % (2 * SKEW_NS)) - SKEW_NS : 0;
}

// --- tables of a rank ---------------------------------------------------------------------------

static bool is_generated(const struct table_desc *desc)
{
    return desc == &table_comm_ops || desc == &table_comm_calls || desc == &table_process_groups;
}

// All tables of the model, with kernels slightly slower or faster.
static bool vary(const struct plan *plan, int64_t rank, struct report *report, struct err *err)
{
    int64_t factor = 900 + rank * 7919 % 200;
    for (unsigned t = 0; t < plan->model.table_count; t++) {
        const struct table *from = &plan->model.tables[t];
        unsigned width = from->desc->column_count;
        for (size_t i = 0; i < from->row_count && !is_generated(from->desc); i++) {
            struct cell row[TABLE_MAX_COLUMNS];
            memcpy(row, &from->cells[i * width], width * sizeof *row);
            int total = table_column(from->desc, STR("total_ns"));
            if (total >= 0 && !row[total].null)
                row[total].i = row[total].i / 1000 * factor;
            if (from->desc == &table_summary)
                row[table_column(from->desc, STR("window_begin_ns"))] =
                    cell_i64(1700000000000000000 + skew_of(rank));
            if (!report_add(report, from->desc, row, err))
                return false;
        }
    }
    return true;
}

// The first rank of a call's group, the distance between its ranks, and their number.
struct group {
    int64_t first, stride, count;
};

static struct group group_of(const struct plan *plan, int64_t rank, int64_t call)
{
    if (call < TENSOR_CALLS)
        return (struct group){rank / NODE * NODE, 1, NODE};
    return (struct group){rank % NODE, NODE, plan->ranks / NODE};
}

static bool add_op(const struct plan *plan, int64_t rank, int64_t call, struct report *report,
                   struct err *err)
{
    struct group group = group_of(plan, rank, call);
    struct buf list = {0};
    char name[32];
    snprintf(name, sizeof name, "%s%lld", call < TENSOR_CALLS ? "tp" : "dp",
             (long long)(call < TENSOR_CALLS ? rank / NODE : rank % NODE));
    for (int64_t i = 0; i < group.count; i++)
        buf_printf(&list, "%s%lld", i ? ", " : "[", (long long)(group.first + i * group.stride));
    buf_puts(&list, "]");
    const struct cell row[] = {cell_text(str_of(name)),
                               cell_text((struct str){list.at, list.len}),
                               cell_i64(group.count),
                               cell_text(STR("all_reduce")),
                               cell_text(STR("BFloat16")),
                               cell_i64(call < TENSOR_CALLS ? 1 << 24 : 1 << 26),
                               cell_null(),
                               cell_text(STR("backward")),
                               cell_null()};
    _Static_assert(sizeof row / sizeof *row == COMM_OPS_KERNEL - COMM_OPS_PROCESS_GROUP + 1,
                   "one per column");
    bool ok = buf_ok(&list, err) && report_add(report, &table_comm_ops, row, err);
    buf_free(&list);
    return ok;
}

static int64_t begin_of(int64_t rank, int64_t step, int64_t call)
{
    return (int64_t)(mix((uint64_t)(step * 1000 + call), (uint64_t)rank) % JITTER_NS);
}

// Duration of a call that ends once its last rank has arrived and all data is transferred.
static int64_t duration_of(const struct plan *plan, int64_t rank, int64_t step, int64_t call)
{
    struct group group = group_of(plan, rank, call);
    int64_t latest_ns = 0;
    for (int64_t i = 0; i < group.count; i++) {
        int64_t begin_ns = begin_of(group.first + i * group.stride, step, call);
        latest_ns = begin_ns > latest_ns ? begin_ns : latest_ns;
    }
    return latest_ns + TRANSFER_NS - begin_of(rank, step, call);
}

static bool add_call(const struct plan *plan, int64_t rank, int64_t step, int64_t call,
                     struct report *report, struct err *err)
{
    const struct table *steps = report_find(report, "steps");
    size_t row_index = (size_t)step;
    int64_t room_ns = named_cell(steps, row_index, "window_ns")->i / plan->calls;
    int64_t at_ns = named_cell(steps, row_index, "begin_ns")->i + room_ns * call;
    int64_t begin_ns = at_ns + begin_of(rank, step, call);
    int64_t duration_ns = duration_of(plan, rank, step, call);
    int64_t comm_ns = begin_ns / 4, host_ns = begin_ns / 50;
    char pieces[80];
    snprintf(pieces, sizeof pieces, "0+%" PRId64 " %" PRId64 "+%" PRId64, duration_ns / 4,
             duration_ns / 2, duration_ns / 2 - duration_ns / 4);
    const struct cell row[] = {
        cell_i64(call >= TENSOR_CALLS),
        cell_null(),
        cell_null(),
        *named_cell(steps, row_index, "step"),
        cell_i64(begin_ns),
        cell_i64(duration_ns),
        cell_i64(duration_ns / 2),
        cell_i64(begin_ns - 20000),
        cell_i64(begin_ns - comm_ns - host_ns),
        cell_i64(step * 4000 + call * 20),
        cell_i64(0),
        cell_i64(comm_ns),
        cell_i64(0),
        cell_i64(host_ns),
        cell_i64(0),
        cell_i64(0),
        cell_i64(0), // part
        cell_text(str_of(pieces)),
        cell_null(),
    };
    _Static_assert(sizeof row / sizeof *row == COMM_CALLS_BLOCKED_NS - COMM_CALLS_OP + 1,
                   "one per column");
    return report_add(report, &table_comm_calls, row, err);
}

static bool make_rank(const struct plan *plan, int64_t rank, struct report *report, struct err *err)
{
    if (!vary(plan, rank, report, err) || !add_op(plan, rank, 0, report, err) ||
        !add_op(plan, rank, TENSOR_CALLS, report, err))
        return false;
    const struct table *steps = report_find(report, "steps");
    for (size_t step = 0; steps && step < steps->row_count; step++)
        for (int64_t call = 0; call < plan->calls; call++)
            if (!add_call(plan, rank, (int64_t)step, call, report, err))
                return false;
    return steps || err_set(err, ERR_USAGE, "found a trace without steps, expected some");
}

// --- the run ------------------------------------------------------------------------------------

static bool finish_rank(const struct plan *plan, const struct job *job, int64_t rank,
                        struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    struct trace_result result = {
        .rank = rank, .world_size = plan->ranks, .events = 100000, .text_bytes = 1 << 24};
    bool ok = make_rank(plan, rank, &report, err);
    result.join_bytes = (int64_t)report_bytes(&report);
    result.tables = ok ? report_parts_hold(&report, trace_tables, err) : -1;
    ok = result.tables >= 0 && store_finish_trace(plan->store, job, &result, err);
    if (result.tables >= 0)
        close(result.tables);
    arena_free(&arena);
    return ok;
}

// The ranks one after another. Jobs that would join some of them before all are there do nothing.
static bool finish_ranks(const struct plan *plan, struct err *err)
{
    struct arena arena;
    arena_init(&arena, NULL);
    int none = report_parts_hold(&(struct report){.arena = &arena}, run_tables, err);
    bool ok = none >= 0;
    for (int64_t rank = 0; ok && rank < plan->ranks;) {
        struct job job;
        bool found = false;
        ok = store_claim_job(plan->store, &arena, &job, &found, err) &&
             (found || err_set(err, ERR_INTERNAL, "found no job, expected one"));
        if (ok && job.kind == JOB_RUN)
            ok = store_finish_run(plan->store, &job, none, err);
        else if (ok)
            ok = finish_rank(plan, &job, rank++, err);
    }
    if (none >= 0)
        close(none);
    arena_free(&arena);
    return ok;
}

static bool upload(const struct plan *plan, struct arena *arena, struct err *err)
{
    struct upload_request request = {.run = {.name = STR("many-ranks"), .world_size = STORE_ANY}};
    struct trace_part *parts = arena_array(arena, (size_t)plan->ranks, sizeof *parts, err);
    struct upload done;
    for (int64_t rank = 0; parts && rank < plan->ranks; rank++) {
        char *sha256 = arena_printf(arena, err, "%064llx", (unsigned long long)rank);
        char *name = arena_printf(arena, err, "rank%lld.json.zst", (long long)rank);
        if (!sha256 || !name)
            return false;
        parts[rank] = (struct trace_part){
            .sha256 = sha256, .bytes = 1 << 20, .filename = str_of(name), .rank = rank};
    }
    request.parts = parts;
    request.count = (size_t)plan->ranks;
    return parts && store_add_upload(plan->store, &request, arena, &done, err);
}

static bool fill(struct plan *plan, const char *trace, struct arena *arena, struct err *err)
{
    struct pipeline_job job = {.options = {.warmup_steps = -1}};
    struct pipeline_result result;
    return pipeline_file(trace, &job, &plan->model, &result, err) && upload(plan, arena, err) &&
           finish_ranks(plan, err);
}

static bool make(const char *folder, const char *trace, int64_t ranks, int64_t calls,
                 struct err *err)
{
    char path[4096];
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "making %s", folder);
    snprintf(path, sizeof path, "%s/stepscope.db", folder);
    struct budget budget = {0};
    struct arena arena;
    arena_init(&arena, &budget);
    struct plan plan = {
        .store = store_open(path, err), .model = {.arena = &arena}, .ranks = ranks, .calls = calls};
    bool ok = plan.store && fill(&plan, trace, &arena, err);
    store_close(plan.store);
    arena_free(&arena);
    return ok;
}

// --- afterwards ---------------------------------------------------------------------------------

static sqlite3_stmt *select_rows(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        fprintf(stderr, "%s\n", sqlite3_errmsg(db));
    return stmt;
}

// The largest difference between a clock found and the one generated.
static int64_t worst_clock(sqlite3 *db, int64_t *clocks)
{
    sqlite3_stmt *stmt = select_rows(db, "SELECT rank, offset_ns FROM run_clocks");
    int64_t worst_ns = 0;
    for (*clocks = 0; sqlite3_step(stmt) == SQLITE_ROW; ++*clocks) {
        int64_t error_ns = sqlite3_column_int64(stmt, 1) + skew_of(sqlite3_column_int64(stmt, 0));
        worst_ns = llabs(error_ns) > worst_ns ? llabs(error_ns) : worst_ns;
    }
    sqlite3_finalize(stmt);
    return worst_ns;
}

// Prints "pending", or milliseconds of the job, its state, the clocks and their worst error in ns.
static bool tell(const char *folder, struct err *err)
{
    char path[4096];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/stepscope.db", folder);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return err_set(err, ERR_IO, "cannot open %s", path);
    sqlite3_stmt *stmt = select_rows(db, "SELECT (finished_ns - started_ns) / 1e6, state FROM job "
                                         "WHERE kind = 'run' ORDER BY id DESC LIMIT 1");
    if (sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_type(stmt, 0) != SQLITE_NULL) {
        int64_t clocks, worst_ns = worst_clock(db, &clocks);
        printf("%.0f %s %" PRId64 " %" PRId64 "\n", sqlite3_column_double(stmt, 0),
               (const char *)sqlite3_column_text(stmt, 1), clocks, worst_ns);
    } else {
        puts("pending");
    }
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return true;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    bool makes = argc == 6 && strcmp(argv[1], "make") == 0;
    bool tells = argc == 3 && strcmp(argv[1], "tell") == 0;
    if (!makes && !tells) {
        fputs("usage: run_job_store make DIR TRACE RANKS CALLS_PER_STEP\n"
              "       run_job_store tell DIR\n",
              stderr);
        return 2;
    }
    bool ok =
        makes ? make(argv[2], argv[3], atoll(argv[4]), atoll(argv[5]), &err) : tell(argv[2], &err);
    if (!ok)
        fprintf(stderr, "run_job_store: %s\n", err.msg);
    return ok ? 0 : 1;
}
