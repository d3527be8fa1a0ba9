// SPDX-License-Identifier: Apache-2.0
#include "server/agents/agents.h"

#include "ingest/base/clock.h"
#include "server/agents/known_agents.h"
#include "server/base/services.h"
#include "server/http/json_body.h"
#include "server/store/store.h"

#include <stdio.h>
#include <stdlib.h>

static bool check(const struct request *request, struct err *err)
{
    return request->services->agents ||
           err_set(err, ERR_UNSUPPORTED, "this service takes no agents");
}

// A member, or its default if it is missing.
static bool read_number(const json_t *object, const char *name, const int64_t range[3],
                        int64_t *number, struct err *err)
{
    const json_t *value = json_object_get(object, name);
    *number = json_is_integer(value) ? json_integer_value(value) : range[2];
    return ((!value || json_is_integer(value)) && *number >= range[0] && *number <= range[1]) ||
           err_set(err, ERR_USAGE, "found no %s from %lld to %lld", name, (long long)range[0],
                   (long long)range[1]);
}

static bool read_process(const json_t *value, struct known_process *process, struct err *err)
{
    static const int64_t pids[] = {0, INT32_MAX, -1}, jobs[] = {INT64_MIN, INT64_MAX, 0},
                         ranks[] = {-1, INT32_MAX, -1};
    process->is_busy = json_is_true(json_object_get(value, "busy"));
    return read_number(value, "pid", pids, &process->pid, err) &&
           read_number(value, "job", jobs, &process->job, err) &&
           read_number(value, "rank", ranks, &process->rank, err);
}

static bool read_node(struct request *request, json_t *body, struct known_node *node,
                      struct err *err)
{
    static const char *const known[] = {"node", "processes", NULL};
    const json_t *processes = json_object_get(body, "processes"), *value;
    struct str name;
    size_t i;
    if (!json_body_allow(body, known, err) ||
        !json_body_text(body, "node", request->arena, &name, err))
        return false;
    if (!name.len || name.len >= sizeof node->name)
        return err_set(err, ERR_USAGE, "found no node, expected a name of up to %zu bytes",
                       sizeof node->name - 1);
    if (!json_is_array(processes) || json_array_size(processes) > AGENTS_MOST_PROCESSES)
        return err_set(err, ERR_USAGE, "found no processes, expected a list of up to %d",
                       AGENTS_MOST_PROCESSES);
    snprintf(node->name, sizeof node->name, "%.*s", (int)name.len, name.at);
    snprintf(node->owner, sizeof node->owner, "%.*s", (int)request->who.key.len,
             request->who.key.at);
    node->seen_ns = clock_wall_ns();
    json_array_foreach(
        processes, i,
        value) if (!read_process(value, &node->processes[node->process_count++], err)) return false;
    return true;
}

static bool take_poll(struct request *request, struct response *response,
                      const struct known_node *node, struct err *err)
{
    if (known_agents_poll(request->services->agents, node, &response->body, err))
        return true;
    response_retry_later(response, request);
    return response_refuse(response, err, (struct refusal){429, "too-many-nodes"},
                           "found more than %d nodes with agents", AGENTS_MOST_NODES);
}

bool agents_post_poll(struct request *request, struct response *response, struct err *err)
{
    request->changes_nothing = true; // too many for the audit log
    if (!check(request, err))
        return false;
    struct known_node *node = arena_alloc(request->arena, sizeof *node, err);
    json_t *body = node ? json_body_read(request, response, err) : NULL;
    struct buf *out = &response->body;
    buf_printf(out, "{\"poll_s\":%d,\"captures\":", AGENTS_POLL_SECONDS);
    bool ok =
        body && read_node(request, body, node, err) && take_poll(request, response, node, err);
    buf_putc(out, '}');
    response->type = "application/json";
    json_decref(body);
    return ok && buf_ok(out, err);
}

bool agents_get(struct request *request, struct response *response, struct err *err)
{
    static const char *const none[] = {NULL};
    if (!query_allow(&request->query, none, err) || !check(request, err))
        return false;
    response->type = "application/json";
    response->cache = CACHE_NEVER;
    buf_puts(&response->body, "{\"nodes\":");
    known_agents_nodes(request->services->agents, &response->body);
    buf_puts(&response->body, ",\"captures\":");
    known_agents_captures(request->services->agents, &response->body);
    buf_putc(&response->body, '}');
    return buf_ok(&response->body, err);
}

// --- captures -----------------------------------------------------------------------------------

static bool read_ranks(const json_t *list, struct wanted_capture *capture, struct err *err)
{
    const json_t *value;
    size_t i;
    bool ok = !list || (json_is_array(list) && json_array_size(list) <= AGENTS_MOST_RANKS);
    json_array_foreach(list, i, value)
    {
        int64_t rank = json_is_integer(value) ? json_integer_value(value) : -1;
        ok = ok && rank >= 0 && rank <= INT32_MAX;
        if (ok)
            capture->ranks[capture->rank_count++] = rank;
    }
    return ok || err_set(err, ERR_USAGE, "found ranks that are not a list of up to %d ranks",
                         AGENTS_MOST_RANKS);
}

static bool read_capture(struct request *request, json_t *body, struct wanted_capture *capture,
                         struct err *err)
{
    static const char *const known[] = {"run", "job", "steps", "warmup", "roundup", "ranks", NULL};
    static const int64_t steps[] = {1, 100, 4}, warmup[] = {0, 100, 1},
                         roundup[] = {1, 1000000, 100};
    struct str run, job;
    int64_t number;
    if (!json_body_allow(body, known, err) ||
        !json_body_text(body, "run", request->arena, &run, err) ||
        !json_body_text(body, "job", request->arena, &job, err) ||
        !read_number(body, "steps", steps, &capture->steps, err) ||
        !read_number(body, "warmup", warmup, &capture->warmup, err) ||
        !read_number(body, "roundup", roundup, &capture->roundup, err) ||
        !read_ranks(json_object_get(body, "ranks"), capture, err))
        return false;
    const struct run_request wanted = {.name = run, .world_size = STORE_ANY};
    if (!run.len || run.len >= sizeof capture->run || !store_check_run(&wanted, err))
        return err_set(err, ERR_USAGE, "found no run, expected the name that the traces get");
    if (job.len && (job.len >= sizeof capture->job || !str_to_i64(job, &number)))
        return err_set(err, ERR_USAGE, "found a job that is not the number of a Slurm job");
    snprintf(capture->run, sizeof capture->run, "%.*s", (int)run.len, run.at);
    snprintf(capture->job, sizeof capture->job, "%.*s", (int)job.len, job.at);
    return true;
}

bool agents_post_capture(struct request *request, struct response *response, struct err *err)
{
    size_t nodes = 0;
    if (!check(request, err))
        return false;
    struct wanted_capture *capture = arena_alloc(request->arena, sizeof *capture, err);
    json_t *body = capture ? json_body_read(request, response, err) : NULL;
    bool ok = body && read_capture(request, body, capture, err) &&
              known_agents_want(request->services->agents, capture, &nodes, err);
    json_decref(body);
    if (!ok)
        return false;
    response->status = 202;
    response->type = "application/json";
    buf_printf(&response->body, "{\"id\":\"%s\",\"nodes\":%zu}", capture->id, nodes);
    return buf_ok(&response->body, err);
}
