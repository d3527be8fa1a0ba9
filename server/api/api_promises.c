// SPDX-License-Identifier: Apache-2.0
// Answers of a replay that were kept as promises, and what the next run of the series says about
// them.
#include "analysis/replay/change.h"
#include "analysis/report/tables.h"
#include "ingest/base/clock.h"
#include "server/api/api.h"
#include "server/api/api_parts.h"
#include "server/http/json_body.h"
#include "server/store/store_promises.h"

#include <math.h>

static const char *const no_parameters[] = {NULL};

// --- what came ----------------------------------------------------------------------------------

// The run that came next in the series, and its mean steady step.
struct outcome {
    struct run run;
    int64_t step_ns; // 0: no run came yet, or it has no steady step
};

// Of the rank that represents the run, as in the replay's answers.
static bool mean_step(const struct request *request, const struct run *run, int64_t *step_ns,
                      struct err *err)
{
    int64_t rank;
    struct table_page page;
    *step_ns = 0;
    if (!api_headline_rank(request, run, &rank, err))
        return false;
    const char *value = arena_printf(request->arena, err, "%lld", (long long)rank);
    struct table_query query = {
        .filters = {{STR("rank"), str_of(value ? value : "")}, {STR("steady"), STR("true")}},
        .filter_count = 2,
        .limit = TABLE_QUERY_NO_LIMIT};
    if (!value || !api_read_run_table(request, run, &table_run_steps, &query, &page, err))
        return false;
    double sum_ns = 0;
    for (size_t row = 0; row < page.table.row_count; row++)
        sum_ns += (double)table_i64(&page.table, row, RUN_STEPS_WINDOW_NS, 0);
    if (page.table.row_count)
        *step_ns = llround(sum_ns / (double)page.table.row_count);
    return true;
}

static bool find_outcome(struct request *request, struct response *response, const struct run *run,
                         struct outcome *outcome, struct err *err)
{
    struct str id;
    *outcome = (struct outcome){.step_ns = 0};
    if (!store_next_point(request->services->intake->store, run, request->arena, &id, err))
        return false;
    return id.len == 0 || (api_find_other_run(request, response, id, &outcome->run, err) &&
                           mean_step(request, &outcome->run, &outcome->step_ns, err));
}

// --- the reply ----------------------------------------------------------------------------------

// Removes the counterpart from the lines of changes and returns it; "" if there is none.
static struct str take_counterpart(struct str *changes)
{
    struct str line = {changes->at, str_find(*changes, STR("\n"))};
    if (!str_starts_with(*changes, STR(STORE_COUNTERPART)) || line.len == SIZE_MAX)
        return STR("");
    *changes = (struct str){changes->at + line.len + 1, changes->len - line.len - 1};
    size_t name = strlen(STORE_COUNTERPART);
    return (struct str){line.at + name, line.len - name};
}

// Only the id if the run is gone.
static bool put_counterpart(const struct request *request, struct str id, struct buf *out,
                            struct err *err)
{
    struct run run;
    buf_puts(out, ",\"counterpart\":");
    if (id.len == 0) {
        buf_puts(out, "null");
        return true;
    }
    bool found = store_find_run(request->services->intake->store, id, request->arena, &run, err);
    if (!found && err->code != ERR_NOT_FOUND)
        return false;
    buf_puts(out, "{\"run\":");
    buf_json(out, id);
    buf_puts(out, ",\"name\":");
    buf_json(out, found ? run.name : id);
    buf_putc(out, '}');
    if (!found)
        *err = (struct err){.pos = ERR_NO_POS};
    return true;
}

static void put_changes(struct str changes, struct buf *out)
{
    buf_puts(out, "\"changes\":[");
    for (const char *comma = ""; changes.len; comma = ",") {
        size_t end = str_find(changes, STR("\n"));
        struct str line = {changes.at, end == SIZE_MAX ? changes.len : end};
        size_t taken = line.len < changes.len ? line.len + 1 : line.len;
        const struct change_ready *ready = change_ready_find(line);
        buf_printf(out, "%s{\"change\":", comma);
        buf_json(out, line);
        buf_puts(out, ",\"title\":");
        buf_json_or_null(out, ready ? ready->title : NULL);
        buf_putc(out, '}');
        changes = (struct str){changes.at + taken, changes.len - taken};
    }
    buf_putc(out, ']');
}

static void put_known(struct buf *out, const char *name, int64_t ns)
{
    buf_printf(out, ",\"%s\":", name);
    api_count_json(ns, out);
}

static void put_receipt(const struct promise *promise, const struct outcome *outcome,
                        struct buf *out)
{
    buf_puts(out, ",\"receipt\":");
    if (outcome->step_ns == 0) {
        buf_puts(out, "null}");
        return;
    }
    buf_puts(out, "{\"run\":");
    buf_json(out, outcome->run.id);
    buf_puts(out, ",\"name\":");
    buf_json(out, outcome->run.name);
    buf_printf(out, ",\"step_ns\":%lld,\"off_share\":%.6f,\"held\":", (long long)outcome->step_ns,
               (double)outcome->step_ns / (double)promise->step_ns - 1);
    bool held = outcome->step_ns >= promise->low_ns && outcome->step_ns <= promise->high_ns;
    buf_puts(out, promise->low_ns < 0 ? "null" : held ? "true" : "false");
    buf_puts(out, "}}");
}

static bool put_promise(const struct request *request, const struct promise *promise,
                        const struct outcome *outcome, struct buf *out, struct err *err)
{
    char created[CLOCK_RFC3339_SIZE];
    struct str changes = promise->changes, counterpart = take_counterpart(&changes);
    clock_rfc3339(promise->created_ns, created);
    buf_puts(out, "{\"id\":");
    buf_json(out, promise->id);
    buf_putc(out, ',');
    put_changes(changes, out);
    if (!put_counterpart(request, counterpart, out, err))
        return false;
    buf_printf(out, ",\"base_ns\":%lld,\"step_ns\":%lld", (long long)promise->base_ns,
               (long long)promise->step_ns);
    put_known(out, "low_ns", promise->low_ns);
    put_known(out, "high_ns", promise->high_ns);
    buf_puts(out, ",\"author\":");
    buf_json(out, promise->author);
    buf_printf(out, ",\"created\":\"%s\"", created);
    put_receipt(promise, outcome, out);
    return true;
}

static bool put_promises(struct request *request, struct response *response, const struct run *of,
                         const struct outcome *outcome, struct err *err)
{
    struct promise *promises;
    size_t count;
    if (!store_list_promises(request->services->intake->store, of->id, request->arena, &promises,
                             &count, err))
        return false;
    buf_putc(&response->body, '[');
    for (size_t i = 0; i < count; i++) {
        buf_puts(&response->body, i ? "," : "");
        if (!put_promise(request, &promises[i], outcome, &response->body, err))
            return false;
    }
    buf_putc(&response->body, ']');
    return true;
}

// What was promised with the previous run, of which this one is the outcome.
static bool put_due(struct request *request, struct response *response, const struct run *run,
                    struct err *err)
{
    struct outcome own = {.run = *run};
    struct str id;
    struct run before;
    buf_puts(&response->body, ",\"due\":");
    if (!store_previous_point(request->services->intake->store, run, request->arena, &id, err))
        return false;
    if (!id.len) {
        buf_puts(&response->body, "null}");
        return true;
    }
    if (!api_find_other_run(request, response, id, &before, err) ||
        !mean_step(request, run, &own.step_ns, err))
        return false;
    buf_puts(&response->body, "{\"run\":");
    buf_json(&response->body, before.id);
    buf_puts(&response->body, ",\"name\":");
    buf_json(&response->body, before.name);
    buf_puts(&response->body, ",\"items\":");
    bool ok = put_promises(request, response, &before, &own, err);
    buf_puts(&response->body, "}}");
    return ok;
}

static bool reply_promises(struct request *request, struct response *response,
                           const struct run *run, const char *tag, struct err *err)
{
    struct outcome outcome;
    if (!find_outcome(request, response, run, &outcome, err))
        return false;
    buf_puts(&response->body, "{\"items\":");
    return put_promises(request, response, run, &outcome, err) &&
           put_due(request, response, run, err) && api_finish_json(request, response, tag, err);
}

// --- requests -----------------------------------------------------------------------------------

bool api_list_promises(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           reply_promises(request, response, &run, "promises", err);
}

static bool keep(struct request *request, struct response *response, json_t *object,
                 const struct run *run, struct err *err)
{
    struct promise promise = {.base_ns = 0};
    if (!api_find_author(request, object, &promise.author, err))
        return false;
    json_object_del(object, "author");
    return api_ask_promise(request, response, object, &promise, err) &&
           store_add_promise(request->services->intake->store, run->id, &promise, err);
}

bool api_post_promise(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && keep(request, response, object, &run, err);
    json_decref(object);
    return ok && reply_promises(request, response, &run, NULL, err);
}

bool api_delete_promise(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           store_drop_promise(request->services->intake->store, run.id, request->captures[1],
                              err) &&
           reply_promises(request, response, &run, NULL, err);
}
