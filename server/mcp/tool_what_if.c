// SPDX-License-Identifier: Apache-2.0
// what_if: how long a run's step would take after changes.
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { MOST_PATH_RANKS = 5 };

static const char *const columns[] = {"change", "step_ns", "gain_ns",      "gain_share",
                                      "low_ns", "high_ns", "staircase_ns", NULL};

static json_t *ask(struct mcp_call *call, const char *run, struct err *err)
{
    static const char *const plain[] = {"rank", NULL};
    struct mcp_question question = mcp_question(api_get_whatif, NULL, run);
    json_t *change = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(call->arguments, "changes"), i, change)
        mcp_with(&question, "change", json_string_value(change));
    mcp_with_arguments(call, &question, plain);
    return mcp_ask(call, &question, err);
}

// Each change by itself, in the order of the API.
static json_t *changes_json(const struct mcp_call *call, json_t *reply)
{
    json_t *names = json_array(), *rows = json_array(), *change = NULL;
    size_t i = 0;
    for (const char *const *name = columns; *name; name++)
        json_array_append_new(names, mcp_column_name(*name));
    json_array_foreach(json_object_get(reply, "changes"), i, change)
    {
        if (i == call->limit)
            break;
        json_t *row = json_array();
        for (const char *const *name = columns; *name; name++)
            json_array_append_new(row, mcp_member(change, *name));
        json_array_append_new(rows, row);
    }
    return json_pack("{s:o,s:o,s:i}", "columns", names, "rows", rows, "total",
                     (int)json_array_size(json_object_get(reply, "changes")));
}

// The parts of the critical path as shares of the steps: "compute_share".
static json_t *path_json(json_t *side)
{
    json_t *path = json_object_get(side, "critical_path"), *shares = json_object(), *value = NULL;
    const char *name = NULL;
    double steps_ns = json_number_value(json_object_get(path, "steps_ns"));
    json_object_foreach(path, name, value)
    {
        if (strcmp(name, "steps_ns") == 0 || json_integer_value(value) == 0)
            continue;
        json_t *part = json_sprintf("%.*sshare", (int)strlen(name) - 2, name);
        json_t *share = json_real(json_number_value(value) / steps_ns);
        if (part)
            json_object_set_new(shares, json_string_value(part), mcp_value(share, ""));
        json_decref(share);
        json_decref(part);
    }
    return shares;
}

// Ranks by the work they have on the path, most first.
static json_t *ranks_json(json_t *side)
{
    json_t *rows = json_array(), *given = json_object_get(side, "path_ranks"), *rank = NULL;
    size_t i = 0;
    double steps_ns =
        json_number_value(json_object_get(json_object_get(side, "critical_path"), "steps_ns"));
    json_array_foreach(given, i, rank)
    {
        double share = json_number_value(json_object_get(rank, "own_ns")) / steps_ns;
        size_t at = json_array_size(rows);
        while (at && json_real_value(json_array_get(json_array_get(rows, at - 1), 1)) < share)
            at--;
        if (at < MOST_PATH_RANKS)
            json_array_insert_new(rows, at,
                                  json_pack("[O,f]", json_object_get(rank, "rank"), share));
    }
    while (json_array_size(rows) > MOST_PATH_RANKS)
        json_array_remove(rows, json_array_size(rows) - 1);
    return json_pack("{s:[s,s],s:o,s:i}", "columns", "rank", "share_of_path", "rows", rows, "total",
                     (int)json_array_size(given));
}

static void set_side(json_t *answer, const char *name, json_t *side)
{
    static const char *const figures[] = {"step_ns", "error_share", "gain_ns",     "gain_share",
                                          "low_ns",  "high_ns",     "gain_low_ns", "gain_high_ns"};
    json_t *shown = json_object();
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (json_object_get(side, figures[i]))
            mcp_set_member(shown, side, figures[i]);
    json_object_set_new(shown, "critical_path", path_json(side));
    if (json_array_size(json_object_get(side, "path_ranks")))
        json_object_set_new(shown, "path_ranks", ranks_json(side));
    json_object_set_new(answer, name, shown);
}

static void set_answer(const struct mcp_call *call, json_t *answer, json_t *reply)
{
    json_t *refused = json_object_get(reply, "refused");
    json_object_set(answer, "rank", json_object_get(reply, "rank"));
    json_object_set_new(answer, "ranks_together",
                        json_integer((json_int_t)json_array_size(json_object_get(reply, "ranks"))));
    json_object_set(answer, "missing_ranks", json_object_get(reply, "missing_ranks"));
    if (json_integer_value(json_object_get(reply, "missing_ranks")) > 0)
        json_object_set_new(answer, "missing_ranks_note",
                            json_string("waits for them count as communication, so gains from "
                                        "changing it are upper bounds"));
    json_object_set(answer, "steps", json_object_get(reply, "steps"));
    if (json_is_string(refused)) {
        json_t *reason = mcp_sentence(refused, MCP_SENTENCE_MAX);
        mcp_set_cannot(answer, "what a change would bring", json_string_value(reason));
        json_decref(reason);
        return;
    }
    set_side(answer, "as_measured", json_object_get(reply, "base"));
    json_object_set_new(answer, "changes", changes_json(call, reply));
    set_side(answer, "together", json_object_get(reply, "together"));
    json_object_set_new(
        answer, "note",
        json_string("step_ms is a steady step with that change alone, low_ms and high_ms its "
                    "interval (null: one step only); gains do not add up, staircase_ms is the step "
                    "with the change and all above it; error_share is how far the unchanged replay "
                    "is off"));
}

static bool answer_what_if(struct mcp_call *call, json_t *answer, struct err *err)
{
    const char *run = mcp_run_id(call, mcp_text_argument(call, "run"), err);
    json_t *reply = run ? ask(call, run, err) : NULL;
    if (!reply)
        return false;
    set_answer(call, answer, reply);
    json_decref(reply);
    mcp_set_link(call, answer, "/runs/%s/whatif", run);
    return true;
}

const struct mcp_tool tool_what_if = {
    .name = "what_if",
    .title = "The step after a change",
    .help = "How long a step would take after changes, by replaying what waited for what; without "
            "changes the ready-made ones, the most useful first. Says so where a recording cannot "
            "tell.",
    .rows = {12, 16},
    .arguments = {MCP_RUN_ARGUMENT,
                  {.name = "changes",
                   .help = "Such as balanced (no straggler), balanced=5 (rank 5), host_free, "
                           "data_ready, network_x2, scale=0.5:category=GEMM, "
                           "remove:op=aten::copy_, set=12us:kernel=nvjet_*",
                   .type = MCP_NAMES},
                  {.name = "rank",
                   .help = "Replay this rank by itself; else all together",
                   .type = MCP_INTEGER,
                   .most = INT32_MAX}},
    .answer = answer_what_if,
};
