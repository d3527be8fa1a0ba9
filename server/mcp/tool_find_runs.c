// SPDX-License-Identifier: Apache-2.0
// find_runs: which runs there are; of a series also when its level changed.
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/store/server_tables.h"

enum { MOST_CHANGES = 6, MOST_ALERTS = 4, ENOUGH_RUNS = 8 };

static const char *const filters[] = {"q", "series", "project", "gpu", "status", "cursor", NULL};

static const char *status_word(size_t i)
{
    return i <= RUN_PARTIAL ? run_status_word((enum run_status)i) : NULL;
}

static bool list_runs(struct mcp_call *call, json_t *answer, size_t *count, struct err *err)
{
    struct mcp_question question = mcp_question(api_list_runs, NULL, NULL);
    mcp_with(&question, "fields",
             "id,name,status,gpu,world_size,received,step_median_ns,exposed_comm_share,findings,"
             "trust_severity,created");
    mcp_with_integer(call, &question, "limit", call->limit);
    mcp_with_arguments(call, &question, filters);
    json_t *reply = mcp_ask(call, &question, err);
    if (!reply)
        return false;
    *count = (size_t)json_integer_value(json_object_get(reply, "total"));
    json_object_set_new(answer, "runs", mcp_rows(reply));
    json_decref(reply);
    return true;
}

static bool tell_changes(struct mcp_call *call, json_t *answer, const char *series, size_t runs,
                         struct err *err)
{
    static const struct mcp_wanted changes = {
        .name = "level_changes",
        .handle = api_get_level_changes,
        .fields = "run_name,previous_run,reason,before_ns,after_ns,change_share,p_value,created",
        .sort = "-created",
        .most = MOST_CHANGES};
    struct mcp_wanted alerts = {
        .name = "alerts",
        .handle = api_list_alerts,
        .fields = "run_name,metric,kind,status,change_share,before_value,after_value,unit",
        .filter = "series",
        .value = series,
        .most = MOST_ALERTS};
    size_t change_count = 0, alert_count = 0;
    if (!mcp_set_rows(call, answer, &changes, series, &change_count, err) ||
        !mcp_set_rows(call, answer, &alerts, NULL, &alert_count, err))
        return false;
    if (change_count)
        json_object_set_new(answer, "next",
                            json_string("compare four or more runs before the change with as many "
                                        "after it, names joined by commas"));
    else if (runs < ENOUGH_RUNS)
        mcp_set_cannot(answer, "whether the level of the series changed",
                       "it has fewer than eight runs");
    return true;
}

static bool answer_find_runs(struct mcp_call *call, json_t *answer, struct err *err)
{
    const char *series = mcp_text_argument(call, "series");
    size_t count = 0;
    if (!list_runs(call, answer, &count, err))
        return false;
    if (!count)
        mcp_set_cannot(answer, "which runs match",
                       "no stored run has these properties; call find_runs without arguments");
    else if (series && !tell_changes(call, answer, series, count, err))
        return false;
    mcp_set_link(call, answer, series ? "/trends" : "/");
    return true;
}

const struct mcp_tool tool_find_runs = {
    .name = "find_runs",
    .title = "Find runs",
    .help = "Lists stored runs, newest first, with GPU, ranks, median step and worst doubt. With "
            "series it also says since when its steps have been slower or faster. Start here.",
    .rows = {15, 30},
    .arguments = {{.name = "q", .help = "Text that name, project, tags or note contain"},
                  {.name = "series", .help = "Name before '@' that repeats share"},
                  {.name = "project", .help = "Name of the project"},
                  {.name = "gpu", .help = "Text that the GPU's name contains"},
                  {.name = "status", .help = "State of the analysis", .word = status_word},
                  {.name = "cursor", .help = "next_cursor of the previous answer"}},
    .answer = answer_find_runs,
};
