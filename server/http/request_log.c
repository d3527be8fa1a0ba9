// SPDX-License-Identifier: Apache-2.0
// The access log. Queries, headers and bodies are left out: they may contain secrets.
#include "server/http/request_log.h"

#include "ingest/base/log.h"

static bool is_quiet(struct str path)
{
    static const char *const paths[] = {"/healthz", "/readyz", "/metrics"};
    return str_is_one_of(path, paths, sizeof paths / sizeof *paths) ||
           str_starts_with(path, STR("/static/"));
}

static struct str or_dash(struct str text)
{
    return text.len ? text : STR("-");
}

void request_log(const struct request *request, const struct response *response,
                 struct request_cost cost)
{
    if (response->status < 400 && is_quiet(request->path))
        return;
    const struct log_field fields[] = {
        {"method", or_dash(request->method), 0},
        {"path", or_dash(request->path), 0},
        {"status", {NULL, 0}, response->status},
        {"sent_bytes", {NULL, 0}, (int64_t)cost.sent_bytes},
        {"received_bytes", {NULL, 0}, request->body ? (int64_t)request->body->received : 0},
        {"ms", {NULL, 0}, cost.ns / 1000000},
        {"peer", or_dash(request->peer), 0},
        {"who", or_dash(request->who.name), 0},
        {"request_id", str_of(request->id), 0},
    };
    log_event(response->status == 500 ? LOG_ERROR : LOG_INFO, "request", fields,
              sizeof fields / sizeof *fields);
}
