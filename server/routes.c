// SPDX-License-Identifier: Apache-2.0
// The table of endpoints, and matching addresses against it.
#include "server/routes.h"

#include "analysis/report/tables.h"
#include "ingest/base/log.h"
#include "server/access/access.h"
#include "server/access/audit.h"
#include "server/agents/agents.h"
#include "server/api/api.h"
#include "server/base/services.h"
#include "server/compare/compare_reply.h"
#include "server/report/report_reply.h"
#include "server/http/assets.h"
#include "server/http/connections.h"
#include "server/http/known_answers.h"
#include "server/http/problem.h"
#include "server/mcp/mcp.h"
#include "server/steps/live_steps.h"
#include "server/uploads/uploads.h"

#include <stdio.h>

#define RUN "/api/v1/runs/{run}"
#define TUS "/api/v1/tus"

const struct route routes[] = {
    {"GET", "/", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/news", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/v/{view}", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/upload", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/runs", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/runs/{page*}", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/compare", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/compare/timeline", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/trends", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/alerts", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/plan", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/login", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/login/oidc", SCOPE_OPEN, access_get_oidc, NULL},
    {"GET", OIDC_CALLBACK, SCOPE_OPEN, access_get_oidc_callback, NULL},
    {"GET", "/settings/{page*}", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/docs/api", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/docs/recording", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/docs/agents", SCOPE_OPEN, assets_get_page, NULL},
    {"GET", "/static/{tree}/{path*}", SCOPE_OPEN, assets_get_static, NULL},
    {"GET", "/standalone", SCOPE_OPEN, assets_get_standalone_home, NULL},
    {"GET", "/standalone/{path*?}", SCOPE_OPEN, assets_get_standalone, NULL},
    {"GET", "/client/{file}", SCOPE_OPEN, assets_get_client, NULL},
    {"GET", "/llms.txt", SCOPE_OPEN, assets_get_llms, NULL},

    {"GET", "/healthz", SCOPE_OPEN, api_get_health, NULL},
    {"GET", "/readyz", SCOPE_OPEN, api_get_ready, NULL},
    {"GET", "/metrics", SCOPE_READ, api_get_metrics, NULL},
    {"GET", "/metrics/runs", SCOPE_READ, api_get_run_metrics, NULL},
    {"GET", "/api/v1/storage", SCOPE_READ, api_get_storage, NULL},
    {"GET", "/api/v1/version", SCOPE_OPEN, api_get_version, NULL},
    {"GET", "/api/v1/openapi.json", SCOPE_OPEN, api_get_openapi, NULL},

    {"GET", "/api/v1/session", SCOPE_OPEN, api_get_session, NULL},
    {"POST", "/api/v1/session", SCOPE_OPEN, api_post_session, NULL},
    {"DELETE", "/api/v1/session", SCOPE_OPEN, api_delete_session, NULL},
    {"GET", "/api/v1/tokens", SCOPE_ADMIN, api_list_tokens, NULL},
    {"POST", "/api/v1/tokens", SCOPE_ADMIN, api_create_token, NULL},
    {"DELETE", "/api/v1/tokens/{token}", SCOPE_ADMIN, api_revoke_token, NULL},
    {"GET", "/api/v1/audit", SCOPE_ADMIN, api_list_audit, NULL},

    {"POST", "/upload", SCOPE_UPLOAD, upload_post, NULL},
    {"POST", "/api/v1/uploads", SCOPE_UPLOAD, upload_post, NULL},
    {"GET", "/api/v1/uploads/{upload}", SCOPE_READ | SCOPE_UPLOAD, api_get_upload, NULL},
    {"GET", RUN "/ranks/{rank}/trace", SCOPE_READ, api_get_trace, NULL},
    {"PUT", RUN "/ranks/{rank}/trace", SCOPE_UPLOAD, upload_put, NULL},
    {"GET", RUN "/inputs", SCOPE_READ, api_list_inputs, NULL},
    {"GET", "/api/v1/inputs/{input}/file", SCOPE_READ, api_get_input_file, NULL},

    {"OPTIONS", TUS, SCOPE_OPEN, tus_options, NULL},
    {"POST", TUS, SCOPE_UPLOAD, tus_post, NULL},
    {"OPTIONS", TUS "/{upload}", SCOPE_OPEN, tus_options, NULL},
    {"GET", TUS "/{upload}", SCOPE_UPLOAD, tus_get, NULL},
    {"PATCH", TUS "/{upload}", SCOPE_UPLOAD, tus_patch, NULL},
    {"DELETE", TUS "/{upload}", SCOPE_UPLOAD, tus_delete, NULL},
    {"POST", TUS "/{upload}", SCOPE_UPLOAD, tus_post_other, NULL},

    {"GET", "/api/v1/runs", SCOPE_READ, api_list_runs, NULL},
    {"POST", "/api/v1/runs", SCOPE_UPLOAD, api_create_run, NULL},
    {"GET", RUN, SCOPE_READ, api_get_run, NULL},
    {"PATCH", RUN, SCOPE_WRITE, api_patch_run, NULL},
    {"DELETE", RUN, SCOPE_ADMIN, api_delete_run, NULL},
    {"POST", RUN "/reanalyze", SCOPE_WRITE, api_reanalyze_run, NULL},
    {"POST", RUN "/cancel", SCOPE_WRITE, api_cancel_run, NULL},
    {"POST", RUN "/finalize", SCOPE_UPLOAD, api_finalize_run, NULL},
    {"GET", RUN "/dismissals", SCOPE_READ, api_list_dismissals, NULL},
    {"PUT", RUN "/dismissals/{finding}", SCOPE_WRITE, api_put_dismissal, NULL},
    {"DELETE", RUN "/dismissals/{finding}", SCOPE_WRITE, api_delete_dismissal, NULL},
    {"GET", RUN "/promises", SCOPE_READ, api_list_promises, NULL},
    {"POST", RUN "/promises", SCOPE_WRITE, api_post_promise, NULL},
    {"DELETE", RUN "/promises/{promise}", SCOPE_WRITE, api_delete_promise, NULL},
    {"GET", RUN "/comments", SCOPE_READ, api_list_comments, NULL},
    {"POST", RUN "/comments", SCOPE_WRITE, api_post_comment, NULL},
    {"DELETE", RUN "/comments/{comment}", SCOPE_WRITE, api_delete_comment, NULL},
    {"POST", "/api/v1/agents/poll", SCOPE_UPLOAD, agents_post_poll, NULL},
    {"GET", "/api/v1/agents", SCOPE_READ, agents_get, NULL},
    {"POST", "/api/v1/captures", SCOPE_WRITE, agents_post_capture, NULL},
    {"POST", "/api/v1/steps", SCOPE_UPLOAD, live_steps_post, NULL},
    {"GET", RUN "/live", SCOPE_READ, live_steps_get, NULL},
    {"GET", RUN "/summary", SCOPE_READ, api_get_summary, NULL},
    {"GET", RUN "/timeline", SCOPE_READ, api_get_timeline, NULL},
    {"GET", RUN "/timeline/ranks", SCOPE_READ, api_get_timeline_ranks, NULL},
    {"GET", RUN "/whatif", SCOPE_READ, api_get_whatif, NULL},
    {"GET", RUN "/whatif/graph", SCOPE_READ, api_get_whatif_graph, NULL},
    {"POST", RUN "/whatif", SCOPE_READ, api_post_whatif, NULL},
    {"GET", RUN "/calls", SCOPE_READ, api_get_calls, NULL},
    {"GET", RUN "/find", SCOPE_READ, api_find_event, NULL},
    {"GET", RUN "/event", SCOPE_READ, api_get_event, NULL},
    {"GET", RUN "/events", SCOPE_READ, api_get_events, NULL},
    {"GET", RUN "/events/sizes", SCOPE_READ, api_get_event_sizes, NULL},
    {"GET", RUN "/tables/sizes", SCOPE_READ, api_get_table_sizes, NULL},
    {"GET", RUN "/workbook", SCOPE_READ, api_get_workbook, NULL},

    {"GET", "/api/v1/bin", SCOPE_READ, api_list_bin, NULL},
    {"DELETE", "/api/v1/bin", SCOPE_ADMIN, api_empty_bin, NULL},
    {"DELETE", "/api/v1/bin/{run}", SCOPE_ADMIN, api_purge_run, NULL},
    {"POST", "/api/v1/bin/{run}/restore", SCOPE_ADMIN, api_restore_run, NULL},
    {"GET", "/api/v1/retention", SCOPE_ADMIN, api_get_retention, NULL},

    {"GET", "/api/v1/views", SCOPE_READ, api_list_views, NULL},
    {"POST", "/api/v1/views", SCOPE_WRITE, api_post_view, NULL},
    {"GET", "/api/v1/views/{view}", SCOPE_READ, api_get_view, NULL},
    {"DELETE", "/api/v1/views/{view}", SCOPE_WRITE, api_delete_view, NULL},

    {"GET", "/api/v1/baselines", SCOPE_READ, api_list_baselines, NULL},
    {"GET", "/api/v1/baselines/{baseline}", SCOPE_READ, api_get_baseline, NULL},
    {"PUT", "/api/v1/baselines/{baseline}", SCOPE_WRITE, api_put_baseline, NULL},
    {"DELETE", "/api/v1/baselines/{baseline}", SCOPE_WRITE, api_delete_baseline, NULL},
    {"GET", "/api/v1/series", SCOPE_READ, api_list_series, NULL},
    {"GET", "/api/v1/figures", SCOPE_READ, api_list_known_figures, NULL},
    {"GET", "/api/v1/series/{series}/points", SCOPE_READ, api_get_points, NULL},
    {"GET", "/api/v1/series/{series}/changes", SCOPE_READ, api_get_level_changes, NULL},
    {"GET", "/api/v1/alerts", SCOPE_READ, api_list_alerts, NULL},
    {"PATCH", "/api/v1/alerts/{alert}", SCOPE_WRITE, api_patch_alert, NULL},

    {"GET", RUN "/breakdown", SCOPE_READ, api_get_table, &table_run_breakdown},
    {"GET", RUN "/steps", SCOPE_READ, api_get_table, &table_run_steps},
    {"GET", RUN "/step_stats", SCOPE_READ, api_get_table, &table_run_step_stats},
    {"GET", RUN "/kernels", SCOPE_READ, api_get_table, &table_run_kernels},
    {"GET", RUN "/kernel_shapes", SCOPE_READ, api_get_table, &table_kernel_shapes},
    {"GET", RUN "/collectives", SCOPE_READ, api_get_table, &table_run_collectives},
    {"GET", RUN "/classes", SCOPE_READ, api_get_table, &table_run_classes},
    {"GET", RUN "/findings", SCOPE_READ, api_get_table, &table_run_findings},
    {"GET", RUN "/trust", SCOPE_READ, api_get_table, &table_run_trust},
    {"GET", RUN "/environment", SCOPE_READ, api_get_table, &table_run_environment},
    {"GET", RUN "/ranks", SCOPE_READ, api_get_table, &table_run_ranks},
    {"GET", RUN "/short_kernels", SCOPE_READ, api_get_table, &table_run_short_kernels},
    {"GET", RUN "/launches", SCOPE_READ, api_get_table, &table_run_launches},
    {"GET", RUN "/clocks", SCOPE_READ, api_get_table, &table_run_clocks},
    {"GET", RUN "/comm_waits", SCOPE_READ, api_get_table, &table_run_comm_waits},
    {"GET", RUN "/lateness", SCOPE_READ, api_get_table, &table_run_lateness},
    {"GET", RUN "/rank_steps", SCOPE_READ, api_get_table, &table_run_rank_steps},
    {"GET", RUN "/efficiency", SCOPE_READ, api_get_table, &table_run_efficiency},
    {"GET", RUN "/strategy", SCOPE_READ, api_get_table, &table_run_strategy},
    {"GET", RUN "/pipeline", SCOPE_READ, api_get_table, &table_run_pipeline},
    {"GET", RUN "/figures", SCOPE_READ, api_get_table, &table_run_figures},
    {"GET", RUN "/logs", SCOPE_READ, api_get_table, &table_logs},
    {"GET", RUN "/log_steps", SCOPE_READ, api_get_table, &table_log_steps},
    {"GET", RUN "/log_curve", SCOPE_READ, api_get_table, &table_log_curve},
    {"GET", RUN "/log_events", SCOPE_READ, api_get_table, &table_log_events},
    {"GET", RUN "/log_slow_steps", SCOPE_READ, api_get_table, &table_log_slow_steps},
    {"GET", RUN "/host_phases", SCOPE_READ, api_get_table, &table_host_phases},
    {"GET", RUN "/hang_verdict", SCOPE_READ, api_get_table, &table_hang_verdict},
    {"GET", RUN "/hang_groups", SCOPE_READ, api_get_table, &table_hang_groups},
    {"GET", RUN "/hang_ranks", SCOPE_READ, api_get_table, &table_hang_ranks},
    {"GET", RUN "/hang_progress", SCOPE_READ, api_get_table, &table_hang_progress},
    {"GET", RUN "/monitors", SCOPE_READ, api_get_table, &table_monitors},
    {"GET", RUN "/monitor_series", SCOPE_READ, api_get_table, &table_monitor_series},
    {"GET", RUN "/rank_monitors", SCOPE_READ, api_get_table, &table_run_rank_monitors},
    {"GET", RUN "/rank_monitor_series", SCOPE_READ, api_get_table, &table_run_rank_monitor_series},
    {"GET", RUN "/snapshots", SCOPE_READ, api_get_table, &table_snapshots},
    {"GET", RUN "/snapshot_series", SCOPE_READ, api_get_table, &table_snapshot_series},
    {"GET", RUN "/snapshot_holders", SCOPE_READ, api_get_table, &table_snapshot_holders},
    {"GET", RUN "/snapshot_growth", SCOPE_READ, api_get_table, &table_snapshot_growth},
    {"GET", RUN "/snapshot_ooms", SCOPE_READ, api_get_table, &table_snapshot_ooms},
    {"GET", RUN "/job_settings", SCOPE_READ, api_get_table, &table_job_settings},
    {"GET", RUN "/job_results", SCOPE_READ, api_get_table, &table_job_results},
    {"GET", RUN "/link_curves", SCOPE_READ, api_get_table, &table_run_link_curves},
    {"GET", RUN "/link_tests", SCOPE_READ, api_get_table, &table_link_tests},
    {"GET", RUN "/link_topology", SCOPE_READ, api_get_table, &table_link_topology},
    {"GET", RUN "/link_ports", SCOPE_READ, api_get_table, &table_link_ports},
    {"GET", RUN "/link_records", SCOPE_READ, api_get_table, &table_link_records},
    {"GET", RUN "/link_communicators", SCOPE_READ, api_get_table, &table_link_communicators},
    {"GET", RUN "/kernel_profiles", SCOPE_READ, api_get_table, &table_kernel_profiles},
    {"GET", RUN "/rank_ranges", SCOPE_READ, api_get_table, &table_run_rank_ranges},
    {"GET", RUN "/roles", SCOPE_READ, api_get_table, &table_run_roles},
    {"GET", RUN "/role_steps", SCOPE_READ, api_get_table, &table_run_role_steps},

    {"GET", RUN "/parts", SCOPE_READ, api_get_table, &table_parts},
    {"GET", RUN "/operators", SCOPE_READ, api_get_table, &table_operators},
    {"GET", RUN "/op_shapes", SCOPE_READ, api_get_table, &table_op_shapes},
    {"GET", RUN "/op_tree", SCOPE_READ, api_get_table, &table_op_tree},
    {"GET", RUN "/modules", SCOPE_READ, api_get_table, &table_modules},
    {"GET", RUN "/ranges", SCOPE_READ, api_get_table, &table_ranges},
    {"GET", RUN "/range_parts", SCOPE_READ, api_get_table, &table_range_parts},
    {"GET", RUN "/categories", SCOPE_READ, api_get_table, &table_categories},
    {"GET", RUN "/uncategorized", SCOPE_READ, api_get_table, &table_uncategorized},
    {"GET", RUN "/phases", SCOPE_READ, api_get_table, &table_phases},
    {"GET", RUN "/idle_causes", SCOPE_READ, api_get_table, &table_idle_causes},
    {"GET", RUN "/idle_gaps", SCOPE_READ, api_get_table, &table_idle_gaps},
    {"GET", RUN "/devices", SCOPE_READ, api_get_table, &table_devices},
    {"GET", RUN "/busy_series", SCOPE_READ, api_get_table, &table_busy_series},
    {"GET", RUN "/stream_idle", SCOPE_READ, api_get_table, &table_stream_idle},
    {"GET", RUN "/queues", SCOPE_READ, api_get_table, &table_queues},
    {"GET", RUN "/launch_delays", SCOPE_READ, api_get_table, &table_launch_delays},
    {"GET", RUN "/roofline", SCOPE_READ, api_get_table, &table_roofline},
    {"GET", RUN "/utilization", SCOPE_READ, api_get_table, &table_utilization},
    {"GET", RUN "/memory", SCOPE_READ, api_get_table, &table_memory},
    {"GET", RUN "/memory_timeline", SCOPE_READ, api_get_table, &table_memory_timeline},
    {"GET", RUN "/memory_peak", SCOPE_READ, api_get_table, &table_peak_allocations},
    {"GET", RUN "/counters", SCOPE_READ, api_get_table, &table_counters},
    {"GET", RUN "/counter_steps", SCOPE_READ, api_get_table, &table_counter_steps},
    {"GET", RUN "/counter_series", SCOPE_READ, api_get_table, &table_counter_series},
    {"GET", RUN "/copies", SCOPE_READ, api_get_table, &table_copies},
    {"GET", RUN "/process_groups", SCOPE_READ, api_get_table, &table_process_groups},
    {"GET", RUN "/comm_sizes", SCOPE_READ, api_get_table, &table_comm_sizes},
    {"GET", RUN "/comm_ops", SCOPE_READ, api_get_table, &table_comm_ops},
    {"GET", RUN "/comm_calls", SCOPE_READ, api_get_table, &table_comm_calls},
    {"GET", RUN "/passes", SCOPE_READ, api_get_table, &table_passes},
    {"GET", RUN "/recording", SCOPE_READ, api_get_table, &table_recording},
    {"GET", RUN "/critical_path", SCOPE_READ, api_get_table, &table_critical_path},
    {"GET", RUN "/ready_changes", SCOPE_READ, api_get_table, &table_ready_changes},

    {"POST", "/mcp", SCOPE_READ, mcp_post, NULL},
    {"GET", "/api/v1/report", SCOPE_READ, report_get, NULL},
    {"GET", "/api/v1/plan", SCOPE_READ, api_get_plan, NULL},
    {"GET", "/api/v1/plan/setups", SCOPE_READ, api_get_plan_setups, NULL},
    {"GET", "/api/v1/compare", SCOPE_READ, compare_get, NULL},
    {"GET", "/api/v1/compare/gate", SCOPE_READ, compare_get_gate, NULL},
    {"GET", "/api/v1/compare/workbook", SCOPE_READ, compare_get_workbook, NULL},
    {"GET", "/api/v1/compare/reasons", SCOPE_READ, compare_get_table, &table_compare_reasons},
    {"GET", "/api/v1/compare/runs", SCOPE_READ, compare_get_table, &table_compare_runs},
    {"GET", "/api/v1/compare/settings", SCOPE_READ, compare_get_table, &table_compare_settings},
    {"GET", "/api/v1/compare/waterfall", SCOPE_READ, compare_get_table, &table_compare_waterfall},
    {"GET", "/api/v1/compare/parity", SCOPE_READ, compare_get_table, &table_compare_parity},
    {"GET", "/api/v1/compare/modules", SCOPE_READ, compare_get_table, &table_compare_modules},
    {"GET", "/api/v1/compare/collectives", SCOPE_READ, compare_get_table,
     &table_compare_collectives},
    {"GET", "/api/v1/compare/ranks", SCOPE_READ, compare_get_table, &table_compare_ranks},
    {"GET", "/api/v1/compare/memory", SCOPE_READ, compare_get_table, &table_compare_memory},
    {"GET", "/api/v1/compare/findings", SCOPE_READ, compare_get_table, &table_compare_findings},
};
const size_t routes_count = sizeof(routes) / sizeof(*routes);

// --- matching -----------------------------------------------------------------------------------

// The segments of a path, one after another.
struct walk {
    struct str rest;
    bool ended; // no '/' came before rest
};

static bool next_segment(struct walk *walk, struct str *segment)
{
    if (walk->ended)
        return false;
    size_t end = str_find(walk->rest, STR("/"));
    walk->ended = end == SIZE_MAX;
    *segment = (struct str){walk->rest.at, walk->ended ? walk->rest.len : end};
    size_t used = segment->len + !walk->ended;
    walk->rest = (struct str){walk->rest.at + used, walk->rest.len - used};
    return true;
}

// Matches the path still encoded, so that an encoded '/' stays part of a name.
static bool matches(const char *pattern, struct str path, struct str *captures)
{
    struct walk want = {str_of(pattern), false}, have = {path, false};
    struct str expected, found;
    size_t count = 0;
    while (next_segment(&want, &expected)) {
        bool is_capture = expected.len && expected.at[0] == '{';
        if (is_capture && str_find(expected, STR("*")) != SIZE_MAX) {
            captures[count] = have.rest;
            return !have.ended && (have.rest.len > 0 || str_ends_with(expected, STR("?}")));
        }
        if (!next_segment(&have, &found) || (is_capture && found.len == 0) ||
            (!is_capture && !str_equal(expected, found)))
            return false;
        if (is_capture)
            captures[count++] = found;
    }
    return have.ended;
}

static bool serves(const struct route *route, struct str method)
{
    struct str own = str_of(route->method);
    return str_equal(own, method) || (str_equal(own, STR("GET")) && str_equal(method, STR("HEAD")));
}

static bool decode_captures(struct request *request, struct err *err)
{
    for (size_t i = 0; i < REQUEST_MAX_CAPTURES; i++)
        if (request->captures[i].at &&
            !query_decode(request->captures[i], false, request->arena, &request->captures[i], err))
            return false;
    return true;
}

// 405, listing the methods of all rows that match; OPTIONS gets the same with 204.
static bool refuse_method(struct request *request, struct response *response, struct err *err)
{
    char allow[64] = "OPTIONS";
    struct str ignored[REQUEST_MAX_CAPTURES];
    for (size_t i = 0; i < routes_count; i++) {
        if (strcmp(routes[i].method, "OPTIONS") == 0 ||
            !matches(routes[i].pattern, request->path, ignored))
            continue;
        size_t len = strlen(allow);
        bool get = strcmp(routes[i].method, "GET") == 0;
        snprintf(allow + len, sizeof(allow) - len, ", %s", get ? "GET, HEAD" : routes[i].method);
    }
    response_header(response, request->arena, "Allow", "%s", allow);
    if (str_equal(request->method, STR("OPTIONS"))) {
        response->status = 204;
        return true;
    }
    return response_refuse(
        response, err, (struct refusal){405, "method"}, "found method %.*s, expected one of: %s",
        (int)(request->method.len < 20 ? request->method.len : 20), request->method.at, allow);
}

// People end the address of a page with a slash; the page itself is at the one without.
static bool send_to_page(struct request *request, struct response *response)
{
    struct str ignored[REQUEST_MAX_CAPTURES], path = request->path, query = request->query_text;
    if (!str_ends_with(path, STR("/")) || str_ends_with(path, STR("//")))
        return false;
    path.len--;
    for (size_t i = 0; i < routes_count; i++) {
        if (routes[i].handle != assets_get_page || !serves(&routes[i], request->method) ||
            !matches(routes[i].pattern, path, ignored))
            continue;
        response->status = 308;
        response_header(response, request->arena, "Location", "%.*s%s%.*s", (int)path.len, path.at,
                        query.len ? "?" : "", (int)query.len, query.at);
        return true;
    }
    return false;
}

bool routes_find(struct request *request, struct response *response, struct err *err)
{
    bool known = false;
    for (size_t i = 0; i < routes_count; i++) {
        struct str captures[REQUEST_MAX_CAPTURES] = {{0}};
        if (!matches(routes[i].pattern, request->path, captures))
            continue;
        known = true;
        if (!serves(&routes[i], request->method))
            continue;
        request->route = &routes[i];
        memcpy(request->captures, captures, sizeof(captures));
        return decode_captures(request, err);
    }
    if (known)
        return refuse_method(request, response, err);
    if (send_to_page(request, response))
        return true;
    return err_set(err, ERR_NOT_FOUND, "no endpoint at %.*s",
                   (int)(request->path.len < 100 ? request->path.len : 100), request->path.at);
}

// --- answering ----------------------------------------------------------------------------------

// Keeps an address or a token from taking all threads.
static bool refuse_crowd(struct request *request, struct response *response, const char *whose,
                         struct err *err)
{
    response_retry_later(response, request);
    return response_refuse(response, err, (struct refusal){429, "too-many-requests"},
                           "too many concurrent requests of this %s; try again soon", whose);
}

static bool admit_client(struct request *request, struct response *response, struct err *err)
{
    return connections_admit(request->services->connections, request->connection, request->peer) ||
           refuse_crowd(request, response, "address", err);
}

static bool admit_token(struct request *request, struct response *response, struct err *err)
{
    return connections_admit_token(request->services->connections, request->connection,
                                   request->who.key) ||
           refuse_crowd(request, response, "token or user", err);
}

// A shared store must be asked for its version, so only where answers are known to last.
static uint64_t version_of_store(const struct request *request)
{
    struct store *store = request->services->intake->store;
    bool helps = request_is_safe(request) &&
                 (!store_is_shared(store) ||
                  known_answers_expect(request->services->known_answers, request));
    return helps ? store_version(store) : 0;
}

// Gives an earlier answer again if it still holds.
static bool handle(struct request *request, struct response *response, struct err *err)
{
    struct known_answers *known = request->services->known_answers;
    uint64_t version = version_of_store(request);
    if (known_answers_give(known, request, response, version))
        return true;
    if (!request->route->handle(request, response, err))
        return false;
    if (request_is_safe(request))
        known_answers_keep(known, request, response, version);
    return true;
}

static bool dispatch(struct request *request, struct response *response, struct err *err)
{
    if (!admit_client(request, response, err) || !routes_find(request, response, err))
        return false;
    if (!request->route)
        return true;
    if (!query_parse(request->query_text, request->arena, &request->query, err) ||
        !access_admit(request, response, err) || !admit_token(request, response, err))
        return false;
    return access_sends_to_login(request, response) || handle(request, response, err);
}

// A person who follows a dead link gets the dashboard, which says so; programs get the problem.
static bool show_missing_page(struct request *request, struct response *response)
{
    bool reads = str_equal(request->method, STR("GET")) || str_equal(request->method, STR("HEAD"));
    if (request->route || !reads || str_starts_with(request->path, STR("/api/")) ||
        !request_wants_page(request) || !assets_get_page(request, response, NULL))
        return false;
    response->status = 404;
    return true;
}

// Errors that may go away without the client changing anything.
static bool will_pass(const struct response *response, enum err_code code)
{
    return code == ERR_BUSY || response->status == 429 || response->status == 503 ||
           response->status == 507;
}

static void answer(struct request *request, struct response *response)
{
    struct err err = {.pos = ERR_NO_POS};
    if (dispatch(request, response, &err))
        return;
    if (err.code == ERR_NOT_FOUND && show_missing_page(request, response))
        return;
    problem_write(request, response, &err);
    if (will_pass(response, err.code))
        response_retry_later(response, request);
    if (response->status == 500 || err.code == ERR_IO)
        log_error("%.*s %.*s: %s (request %s)", (int)request->method.len, request->method.at,
                  (int)(request->path.len < 100 ? request->path.len : 100), request->path.at,
                  err.msg, request->id);
}

void routes_answer(struct request *request, struct response *response)
{
    access_find_peer(request);
    answer(request, response);
    audit_request(request, response);
}
