// SPDX-License-Identifier: Apache-2.0
// overview: where the step time of a run goes, and what costs most.
#include "analysis/report/tables.h"
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { MOST_NOTES = 4 };

static void set_members(json_t *to, json_t *from, const char *const *names)
{
    for (; *names; names++)
        mcp_set_member(to, from, *names);
}

static json_t *run_json(json_t *run)
{
    static const char *const names[] = {"id",  "name",     "project",    "series", "created",
                                        "gpu", "received", "world_size", "status", NULL};
    json_t *shown = json_object();
    set_members(shown, run, names);
    return shown;
}

static json_t *step_json(json_t *summary)
{
    static const char *const names[] = {"step_median_ns", "step_ci_low_ns",     "step_ci_high_ns",
                                        "steady_steps",   "step_count",         "busy_share",
                                        "idle_share",     "exposed_comm_share", "headline_rank",
                                        "slowest_rank",   "rank_spread_share",  NULL};
    json_t *shown = json_object();
    set_members(shown, summary, names);
    return shown;
}

static json_t *parts_json(json_t *parts)
{
    json_t *shown = json_object(), *value = NULL;
    const char *name = NULL;
    json_object_foreach(parts, name, value) mcp_set_member(shown, parts, name);
    return shown;
}

static void explain_lack(json_t *answer, json_t *run)
{
    const char *status = json_string_value(json_object_get(run, "status"));
    bool is_busy = status && (strcmp(status, "pending") == 0 || strcmp(status, "running") == 0);
    bool has_traces = json_integer_value(json_object_get(run, "received")) > 0;
    mcp_set_cannot(answer, "where step time goes",
                   is_busy      ? "the run is still being analyzed; ask again in a few seconds"
                   : has_traces ? "its traces have no steps with device events"
                                : "the run has no trace");
}

// What a reader of the figures alone would take for granted.
static void set_step_notes(json_t *answer, json_t *reply, json_t *parts)
{
    if (json_integer_value(json_object_get(parts, "unrecorded_ns")) > 0)
        json_object_set_new(answer, "shares",
                            json_string("of the step without unrecorded_ms, in which the device "
                                        "ran work that the recording lacks"));
    if (json_array_size(json_object_get(reply, "no_steps")) > 0)
        json_object_set_new(
            answer, "no_steps",
            json_string("no step is marked on some rank: its whole recording counts "
                        "as one step"));
}

static void set_figures(json_t *answer, json_t *reply)
{
    static const char *const rates[] = {"tokens_per_second_per_gpu", "reason", NULL};
    json_t *summary = json_object_get(reply, "summary"), *run = json_object_get(reply, "run");
    json_t *parts = json_object_get(run, "parts");
    if (json_is_object(summary) && json_is_object(parts)) {
        json_object_set_new(answer, "step", step_json(summary));
        json_object_set_new(answer, "parts_of_step", parts_json(parts));
        set_step_notes(answer, reply, parts);
        json_object_set_new(answer, "noise",
                            json_string("one run: its interval covers steps of this run, not "
                                        "differences between runs"));
    } else {
        explain_lack(answer, run);
    }
    if (json_is_object(json_object_get(reply, "throughput"))) {
        json_t *throughput = json_object();
        set_members(throughput, json_object_get(reply, "throughput"), rates);
        json_object_set_new(answer, "throughput", throughput);
    }
    if (json_is_object(json_object_get(reply, "partial")))
        json_object_set_new(answer, "incomplete",
                            json_string("not all ranks were uploaded: figures across ranks are of "
                                        "those that were"));
}

static bool set_tables(struct mcp_call *call, json_t *answer, const char *run, struct err *err)
{
    static const struct mcp_wanted tables[] = {
        {.name = "findings",
         .table = &table_run_findings,
         .fields = "id,title,severity,gain_ns,cost_ns,own_cost_ns,overlaps,confidence"},
        {.name = "hang",
         .table = &table_hang_verdict,
         .fields = "kind,ranks,confidence,verdict",
         .most = 2},
        {.name = "training_logs",
         .table = &table_logs,
         .fields = "file,framework,steps,step_median_ns,step_max_ns,restarts,last_loss",
         .most = 2},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        size_t count = 0;
        if (!mcp_set_rows(call, answer, &tables[i], run, &count, err))
            return false;
    }
    return mcp_set_trust(call, answer, run, MOST_NOTES, err);
}

static bool answer_overview(struct mcp_call *call, json_t *answer, struct err *err)
{
    struct mcp_question question =
        mcp_question(api_get_summary, NULL, mcp_text_argument(call, "run"));
    json_t *reply = mcp_ask(call, &question, err);
    if (!reply)
        return false;
    json_t *run = json_object_get(reply, "run");
    const char *id = json_string_value(json_object_get(run, "id"));
    json_object_set_new(answer, "run", run_json(run));
    set_figures(answer, reply);
    bool ok = set_tables(call, answer, id, err);
    mcp_set_link(call, answer, "/runs/%s", id);
    json_decref(reply);
    return ok;
}

const struct mcp_tool tool_overview = {
    .name = "overview",
    .title = "Overview of a run",
    .help =
        "Where the median step of a run goes (eight parts that sum to it), what costs most, and "
        "what limits trust in the recording. The first look at one run.",
    .rows = {5, 0},
    .arguments = {MCP_RUN_ARGUMENT},
    .answer = answer_overview,
};
