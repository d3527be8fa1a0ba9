// SPDX-License-Identifier: Apache-2.0
// The calls of one kernel or operator: their distribution, by step, the longest, and by rank.
#include "server/api/api.h"

#include "analysis/report/tables.h"
#include "analysis/stats/stats.h"
#include "ingest/base/hash.h"
#include "server/api/name_calls.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

#define MOST_RANKS      256                // whose tables are read
#define MOST_READ_BYTES ((size_t)64 << 20) // of these tables together, not counting the last one

struct asked {
    int64_t rank;
    enum call_kind kind;
    struct str name;
};

// An answer being built.
struct calls_reply {
    struct request *request;
    struct response *response;
    struct asked asked;
    struct run run;
    struct trace_row trace; // of the asked rank
    const struct table *steps;
    struct name_calls calls;
};

// --- JSON ---------------------------------------------------------------------------------------

static void put_times(const struct call_times *times, struct buf *out)
{
    const int64_t *ns = times->ns;
    size_t count = times->count;
    buf_printf(out, "{\"calls\":%zu,\"total_ns\":%lld", count, (long long)times->total_ns);
    if (count)
        buf_printf(out,
                   ",\"min_ns\":%lld,\"p10_ns\":%lld,\"median_ns\":%lld,\"p90_ns\":%lld,"
                   "\"p99_ns\":%lld,\"max_ns\":%lld",
                   (long long)ns[0], (long long)stats_percentile(ns, count, 10),
                   (long long)stats_median(ns, count), (long long)stats_percentile(ns, count, 90),
                   (long long)stats_percentile(ns, count, 99), (long long)ns[count - 1]);
    struct call_bins bins = call_bins_of(times);
    buf_puts(out, ",\"histogram\":[");
    for (unsigned i = 0; i < bins.count; i++)
        buf_printf(out, "%s{\"from_ns\":%lld,\"to_ns\":%lld,\"calls\":%lld}", i ? "," : "",
                   (long long)bins.edges[i], (long long)bins.edges[i + 1],
                   (long long)bins.counts[i]);
    buf_puts(out, "]}");
}

static void put_steps(const struct calls_reply *reply, struct buf *out)
{
    buf_puts(out, ",\"steps\":[");
    for (size_t i = 0; i < reply->calls.step_count; i++) {
        const struct call_step *step = &reply->calls.steps[i];
        buf_printf(out,
                   "%s{\"step\":%lld,\"steady\":%s,\"calls\":%lld,\"total_ns\":%lld,"
                   "\"max_ns\":%lld}",
                   i ? "," : "", (long long)table_i64(reply->steps, i, STEPS_STEP, 0),
                   table_cell(reply->steps, i, STEPS_STEADY)->i ? "true" : "false",
                   (long long)step->calls, (long long)step->total_ns, (long long)step->max_ns);
    }
    buf_putc(out, ']');
}

static void put_longest(const struct name_calls *calls, int64_t zero_ns, struct buf *out)
{
    buf_puts(out, ",\"longest\":[");
    for (unsigned i = 0; i < calls->longest_count; i++)
        buf_printf(out, "%s{\"begin_ns\":%lld,\"dur_ns\":%lld}", i ? "," : "",
                   (long long)(calls->longest[i].begin_ns - zero_ns),
                   (long long)calls->longest[i].dur_ns);
    buf_putc(out, ']');
}

// --- other ranks, by their tables ---------------------------------------------------------------

// The columns of either table, the name first.
struct rank_columns {
    const struct table_desc *desc;
    unsigned name, calls, total_ns, owned_ns, median_ns, p95_ns;
};
static const struct rank_columns columns_of[] = {
    [CALLS_OF_KERNEL] = {&table_kernels, KERNELS_NAME, KERNELS_CALLS, KERNELS_TOTAL_NS,
                         KERNELS_OWNED_NS, KERNELS_MEDIAN_NS, KERNELS_P95_NS},
    [CALLS_OF_OPERATOR] = {&table_operators, OPERATORS_NAME, OPERATORS_CALLS, OPERATORS_TOTAL_NS,
                           OPERATORS_OWNED_NS, OPERATORS_MEDIAN_NS, OPERATORS_P95_NS},
};

static void put_cell(const char *name, const struct cell *cell, struct buf *out)
{
    buf_printf(out, ",\"%s\":", name);
    if (cell->null)
        buf_puts(out, "null");
    else
        buf_i64(out, cell->i);
}

static void put_rank(const struct table *table, size_t row, const struct rank_columns *columns,
                     struct buf *out)
{
    put_cell("calls", table_cell(table, row, columns->calls), out);
    put_cell("total_ns", table_cell(table, row, columns->total_ns), out);
    put_cell("owned_ns", table_cell(table, row, columns->owned_ns), out);
    put_cell("median_ns", table_cell(table, row, columns->median_ns), out);
    put_cell("p95_ns", table_cell(table, row, columns->p95_ns), out);
    buf_putc(out, '}');
}

static bool put_rank_of(const struct calls_reply *reply, const struct trace_row *trace,
                        struct buf *out, size_t *read_bytes, struct err *err)
{
    const struct rank_columns *columns = &columns_of[reply->asked.kind];
    const struct table_desc *const only[] = {columns->desc, NULL};
    struct arena arena;
    arena_init(&arena, NULL);
    struct report report = {.arena = &arena};
    bool ok = store_load_trace_tables(reply->request->services->intake->store, trace->id, only,
                                      &report, err);
    const struct table *table = ok ? report_find(&report, columns->desc->name) : NULL;
    for (size_t row = 0; table && row < table->row_count; row++) {
        if (!str_equal(table_text(table, row, columns->name), reply->asked.name))
            continue;
        buf_printf(out, "%s{\"rank\":%lld", out->at[out->len - 1] == '}' ? "," : "",
                   (long long)trace->rank);
        put_rank(table, row, columns, out);
        break;
    }
    *read_bytes += arena_bytes(&arena);
    arena_free(&arena);
    return ok;
}

static bool put_ranks(const struct calls_reply *reply, struct buf *out, struct err *err)
{
    struct trace_row *traces;
    size_t count, left_out = 0, done = 0, read_bytes = 0;
    if (!store_list_traces(reply->request->services->intake->store, reply->run.id,
                           reply->request->arena, &traces, &count, err))
        return false;
    buf_puts(out, ",\"ranks\":[");
    for (size_t i = 0; i < count; i++) {
        if (traces[i].state != TRACE_DONE || traces[i].rank < 0)
            continue;
        if (done++ >= MOST_RANKS || read_bytes >= MOST_READ_BYTES)
            left_out++;
        else if (!put_rank_of(reply, &traces[i], out, &read_bytes, err))
            return false;
    }
    buf_printf(out, "],\"ranks_left_out\":%zu}", left_out);
    return true;
}

// --- the request --------------------------------------------------------------------------------

static bool read_asked(const struct request *request, struct asked *asked, struct err *err)
{
    static const char *const known[] = {"name", "of", "rank", NULL};
    const struct query *query = &request->query;
    struct str of = query_get(query, "of");
    asked->name = query_get(query, "name");
    asked->kind = str_equal(of, STR("operator")) ? CALLS_OF_OPERATOR : CALLS_OF_KERNEL;
    if (!query_allow(query, known, err) ||
        !query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asked->rank, err))
        return false;
    if (of.at && asked->kind == CALLS_OF_KERNEL && !str_equal(of, STR("kernel")))
        return err_set(err, ERR_USAGE, "found of=%.*s, expected kernel or operator",
                       (int)(of.len < 20 ? of.len : 20), of.at);
    return asked->name.len > 0 ||
           err_set(err, ERR_USAGE,
                   "found no name, expected name= the full name of a kernel or "
                   "operator, as in the table");
}

// Steps as the table has them, in times of the file.
static bool find_steps(struct calls_reply *reply, const struct trace_file_header *header,
                       struct err *err)
{
    struct arena *arena = reply->request->arena;
    struct report *report = arena_alloc(arena, sizeof *report, err);
    const struct table_desc *const only[] = {&table_steps, NULL};
    if (!report)
        return false;
    *report = (struct report){.arena = arena};
    if (!store_load_trace_tables(reply->request->services->intake->store, reply->trace.id, only,
                                 report, err))
        return false;
    reply->steps = report_find(report, table_steps.name);
    size_t count = reply->steps ? reply->steps->row_count : 0;
    struct call_step *steps = arena_array(arena, count + 1, sizeof *steps, err);
    for (size_t i = 0; steps && i < count; i++) {
        steps[i].begin_ns = header->device_begin_ns + table_i64(reply->steps, i, STEPS_BEGIN_NS, 0);
        steps[i].end_ns = steps[i].begin_ns + table_i64(reply->steps, i, STEPS_WINDOW_NS, 0);
    }
    reply->calls.steps = steps;
    reply->calls.step_count = count;
    return steps != NULL;
}

static bool refuse_unknown(const struct calls_reply *reply, struct err *err)
{
    bool of_kernel = reply->asked.kind == CALLS_OF_KERNEL;
    reply->response->fix =
        of_kernel ? STR("take a name from the table: GET /api/v1/runs/{run}/kernels")
                  : STR("take a name from the table: GET /api/v1/runs/{run}/operators");
    return err_set(err, ERR_NOT_FOUND, "found no call of such %s on rank %lld",
                   of_kernel ? "a kernel" : "an operator", (long long)reply->asked.rank);
}

static bool put_reply(const struct calls_reply *reply, const struct trace_file_header *header,
                      struct err *err)
{
    struct buf *out = &reply->response->body;
    bool of_kernel = reply->asked.kind == CALLS_OF_KERNEL;
    buf_printf(out, "{\"rank\":%lld,\"of\":\"%s\",\"name\":", (long long)reply->asked.rank,
               of_kernel ? "kernel" : "operator");
    buf_json(out, reply->asked.name);
    buf_puts(out, ",\"times\":");
    put_times(&reply->calls.calls, out);
    buf_puts(out, ",\"launched\":");
    if (of_kernel)
        buf_puts(out, "null");
    else
        put_times(&reply->calls.device, out);
    put_steps(reply, out);
    put_longest(&reply->calls, header->begin_ns, out);
    return put_ranks(reply, out, err) && buf_ok(out, err);
}

static bool answer_in_turn(struct calls_reply *reply, struct err *err)
{
    struct trace_file *file = api_open_trace(reply->request, reply->response, &reply->trace, err);
    if (!file)
        return false;
    const struct trace_file_header *header = trace_file_header(file);
    bool ok = find_steps(reply, header, err) &&
              name_calls_read(file, reply->asked.kind, reply->asked.name, &reply->calls, err) &&
              (reply->calls.calls.count || refuse_unknown(reply, err)) &&
              put_reply(reply, header, err);
    name_calls_free(&reply->calls);
    trace_file_close(file);
    return ok;
}

static bool answer(struct calls_reply *reply, struct err *err)
{
    if (!api_take_turn(reply->request, reply->response, err))
        return false;
    bool ok = answer_in_turn(reply, err);
    reply_room_end(reply->request->services->room);
    return ok;
}

bool api_get_calls(struct request *request, struct response *response, struct err *err)
{
    struct calls_reply reply = {.request = request, .response = response};
    if (!read_asked(request, &reply.asked, err) ||
        !api_find_run(request, response, request->captures[0], &reply.run, err) ||
        (reply.asked.rank < 0 && !api_headline_rank(request, &reply.run, &reply.asked.rank, err)))
        return false;
    if (!store_find_rank(request->services->intake->store, reply.run.id, reply.asked.rank,
                         request->arena, &reply.trace, err))
        return false;
    api_locate_run(request, response, &reply.run, "/calls");
    if (api_run_unchanged(request, response, &reply.run, "calls", 0))
        return true;
    response->type = "application/json";
    return answer(&reply, err);
}
