// SPDX-License-Identifier: Apache-2.0
// findings: what to fix first, with evidence.
#include "analysis/report/tables.h"
#include "server/api/api.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

enum { MOST_FACTS = 4, FACT_MAX = 160, MOST_NOTES = 3 };

static const char *text_in(json_t *item, const char *name)
{
    return json_string_value(json_object_get(item, name));
}

// The facts, without their links to pages.
static json_t *facts_json(const char *evidence)
{
    json_t *facts = json_array(), *fact = NULL;
    json_t *given = json_loads(evidence ? evidence : "[]", JSON_ALLOW_NUL, NULL);
    size_t i = 0;
    json_array_foreach(given, i, fact)
    {
        if (i < MOST_FACTS)
            json_array_append_new(facts, mcp_sentence(json_object_get(fact, "fact"), FACT_MAX));
    }
    json_decref(given);
    return facts;
}

static void set_sentence(json_t *shown, json_t *item, const char *name)
{
    json_t *text = json_object_get(item, name);
    if (json_is_string(text))
        json_object_set_new(shown, name, mcp_sentence(text, MCP_SENTENCE_MAX));
}

static json_t *finding_json(json_t *item, bool in_full)
{
    static const char *const figures[] = {"cost_ns",    "own_cost_ns", "cost_share", "severity",
                                          "confidence", "ranks",       "overlaps",   "gain_ns"};
    json_t *shown = json_object();
    json_object_set_new(shown, "id", mcp_name(json_object_get(item, "id")));
    set_sentence(shown, item, "title");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        if (!json_is_null(json_object_get(item, figures[i])))
            mcp_set_member(shown, item, figures[i]);
    json_object_set_new(shown, "evidence", facts_json(text_in(item, "evidence")));
    set_sentence(shown, item, "advice");
    set_sentence(shown, item, "false_alarms");
    if (in_full) {
        set_sentence(shown, item, "why");
        set_sentence(shown, item, "method");
    }
    return shown;
}

// Findings that someone dismissed for this run.
static bool set_dismissed(struct mcp_call *call, json_t *answer, const char *run, struct err *err)
{
    struct mcp_question question = mcp_question(api_list_dismissals, NULL, run);
    json_t *reply = mcp_ask(call, &question, err), *dismissed = json_array(), *item = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(reply, "items"), i, item) if (i < call->limit)
        json_array_append_new(
            dismissed, json_pack("{s:o,s:o}", "id", mcp_name(json_object_get(item, "finding")),
                                 "reason", mcp_name(json_object_get(item, "reason"))));
    if (json_array_size(dismissed))
        json_object_set(answer, "dismissed_by_people", dismissed);
    json_decref(dismissed);
    json_decref(reply);
    return reply != NULL;
}

static void set_findings(json_t *answer, json_t *reply, bool in_full)
{
    json_t *shown = json_array(), *item = NULL;
    json_t *cursor = json_object_get(reply, "next_cursor");
    size_t i = 0;
    json_array_foreach(json_object_get(reply, "items"), i, item)
        json_array_append_new(shown, finding_json(item, in_full));
    if (!i)
        mcp_set_cannot(answer, "what to fix first",
                       "no rule found anything; explain with the topic recording says what the "
                       "recording lacks");
    json_object_set_new(answer, "findings", shown);
    json_object_set(answer, "total", json_object_get(reply, "total"));
    if (json_is_string(cursor))
        json_object_set(answer, "next_cursor", cursor);
    json_object_set_new(answer, "note",
                        json_string("a cost is an upper bound per steady step and overlaps with "
                                    "others; only own_cost_ms may be added; gain_ms is "
                                    "simulated, see what_if"));
}

static bool answer_findings(struct mcp_call *call, json_t *answer, struct err *err)
{
    static const char *const filters[] = {"id", "rule", "cursor", NULL};
    const char *run = mcp_run_id(call, mcp_text_argument(call, "run"), err);
    if (!run)
        return false;
    struct mcp_question question = mcp_question(api_get_table, &table_run_findings, run);
    mcp_with_integer(call, &question, "limit", call->limit);
    mcp_with_arguments(call, &question, filters);
    json_t *reply = mcp_ask(call, &question, err);
    if (!reply)
        return false;
    set_findings(answer, reply, mcp_text_argument(call, "id") != NULL);
    json_decref(reply);
    mcp_set_link(call, answer, "/runs/%s/findings", run);
    return set_dismissed(call, answer, run, err) &&
           mcp_set_trust(call, answer, run, MOST_NOTES, err);
}

const struct mcp_tool tool_findings = {
    .name = "findings",
    .title = "Findings of a run",
    .help = "What to fix first: the most it can cost per step, evidence, advice, and when it would "
            "be a false alarm. With id one finding in full.",
    .rows = {4, 8},
    .arguments = {MCP_RUN_ARGUMENT,
                  {.name = "id", .help = "Id of a finding, such as straggler:5"},
                  {.name = "rule", .help = "Name of a rule, such as straggler"},
                  {.name = "cursor", .help = "next_cursor of the previous answer"}},
    .answer = answer_findings,
};
