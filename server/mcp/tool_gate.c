// SPDX-License-Identifier: Apache-2.0
// gate: whether a candidate stays within a limit, and what is missing to say so.
#include "server/compare/compare_reply.h"
#include "server/mcp/mcp_compare.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { LINE_MAX = 400 };

static json_t *lines_json(json_t *lines)
{
    json_t *shown = json_array(), *line = NULL;
    size_t i = 0;
    json_array_foreach(lines, i, line) json_array_append_new(shown, mcp_sentence(line, LINE_MAX));
    return shown;
}

static void set_gate(json_t *answer, json_t *reply)
{
    static const char *const names[] = {"base_ns",      "cand_ns",      "shift_share", "low_share",
                                        "high_share",   "p_value",      "base_runs",   "cand_runs",
                                        "base_missing", "cand_missing", NULL};
    json_t *judged = json_object_get(reply, "judgement"), *figures = json_object();
    const char *result = json_string_value(json_object_get(reply, "result"));
    json_object_set_new(answer, "result", mcp_member(reply, "result"));
    json_object_set_new(answer, "verdict", mcp_member(judged, "verdict"));
    json_object_set(answer, "max_regression", json_object_get(reply, "max_regression"));
    json_object_set_new(answer, "says", lines_json(json_object_get(reply, "lines")));
    for (const char *const *name = names; *name; name++)
        mcp_set_member(figures, judged, *name);
    json_object_set_new(answer, "figures", figures);
    if (result && strcmp(result, "undecided") == 0)
        mcp_set_cannot(answer, "whether the candidate stays within the limit",
                       "the evidence decides neither way; the last line of says tells what is "
                       "missing");
}

static bool answer_gate(struct mcp_call *call, json_t *answer, struct err *err)
{
    static const char *const limits[] = {"max_regression", "sequential", NULL};
    struct mcp_question question = mcp_question(compare_get_gate, NULL, NULL);
    mcp_with_arguments(call, &question, mcp_compare_names);
    mcp_with_arguments(call, &question, limits);
    json_t *reply = mcp_ask(call, &question, err);
    if (!reply)
        return false;
    set_gate(answer, reply);
    const char *url = json_string_value(json_object_get(reply, "url"));
    const char *path = url ? strstr(url, "/compare?") : NULL;
    if (path)
        mcp_set_link(call, answer, "%s", path);
    json_decref(reply);
    return true;
}

const struct mcp_tool tool_gate = {
    .name = "gate",
    .title = "Gate a change",
    .help =
        "Whether a candidate's step is at most max_regression longer than the base's: pass, fail "
        "or undecided, why, and how many repeats are missing. With fewer than four runs a side "
        "the noise is usually unknown.",
    .rows = {1, 0},
    .arguments = {MCP_COMPARE_SIDES,
                  {.name = "max_regression",
                   .help = "Largest share by which the step may be longer, 0.03 without it",
                   .type = MCP_NUMBER,
                   .least = -0.99,
                   .most = 10},
                  {.name = "sequential",
                   .help = "Whether runs are added until the gate decides",
                   .type = MCP_FLAG},
                  MCP_COMPARE_CHOICES},
    .answer = answer_gate,
};
