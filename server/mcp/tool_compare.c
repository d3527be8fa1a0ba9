// SPDX-License-Identifier: Apache-2.0
// compare: how much slower or faster a candidate is than a base, where, and whether that is real.
#include "analysis/report/tables.h"
#include "server/compare/compare_reply.h"
#include "server/mcp/mcp_compare.h"
#include "server/mcp/mcp_rows.h"
#include "server/mcp/mcp_text.h"

#include <stdlib.h>

enum { MOST_SETTINGS = 8, SETTING_MAX = 40, WATERFALL_ROWS = 10000, VERDICT_MAX = 400 };

static const char *text_in(json_t *item, const char *name)
{
    return json_string_value(json_object_get(item, name));
}

// --- the verdict --------------------------------------------------------------------------------

static json_t *step_json(json_t *summary)
{
    static const char *const names[] = {"base_step_ns",  "cand_step_ns",    "delta_ns",
                                        "delta_share",   "shift_low_share", "shift_high_share",
                                        "p_value",       "base_runs",       "cand_runs",
                                        "matched_share", "same_work",       NULL};
    json_t *step = json_object();
    for (const char *const *name = names; *name; name++)
        mcp_set_member(step, summary, *name);
    return step;
}

// Where what is called a step is all that was recorded.
static void set_no_steps(json_t *answer, json_t *summary)
{
    bool base = json_is_true(json_object_get(summary, "base_no_steps"));
    bool cand = json_is_true(json_object_get(summary, "cand_no_steps"));
    if (!base && !cand)
        return;
    json_object_set_new(answer, "no_steps",
                        json_sprintf("no step of %s is marked: all that was recorded counts as one "
                                     "step",
                                     base && cand ? "either side"
                                     : base       ? "the base"
                                                  : "the candidate"));
}

static void set_verdict(json_t *answer, json_t *summary)
{
    const char *verdict = text_in(summary, "verdict");
    json_object_set_new(answer, "verdict", mcp_member(summary, "verdict"));
    json_object_set_new(answer, "says",
                        mcp_sentence(json_object_get(summary, "verdict_text"), VERDICT_MAX));
    json_object_set_new(answer, "step", step_json(summary));
    set_no_steps(answer, summary);
    if (verdict && strcmp(verdict, "noise unknown") == 0)
        mcp_set_cannot(answer, "whether the difference is real",
                       "there are too few repeats to know the noise between runs; gate says how "
                       "many are missing");
}

static json_t *setting_json(json_t *setting)
{
    return json_pack("[o,o,o]", mcp_sentence(json_object_get(setting, "key"), SETTING_MAX),
                     mcp_sentence(json_object_get(setting, "base"), SETTING_MAX),
                     mcp_sentence(json_object_get(setting, "cand_value"), SETTING_MAX));
}

static json_t *settings_json(json_t *settings)
{
    json_t *rows = json_array(), *setting = NULL;
    json_int_t total = 0;
    size_t i = 0;
    json_array_foreach(settings, i, setting)
    {
        bool differs = json_is_true(json_object_get(setting, "differs"));
        if (differs && json_array_size(rows) < MOST_SETTINGS)
            json_array_append_new(rows, setting_json(setting));
        total += differs;
    }
    return json_pack("{s:[s,s,s],s:o,s:I}", "columns", "setting", "base", "cand", "rows", rows,
                     "total", total);
}

// --- the waterfall ------------------------------------------------------------------------------

static json_int_t size_of_change(json_t *item)
{
    return llabs(json_integer_value(json_object_get(item, "delta_ns")));
}

static bool is_level(json_t *item, const char *level)
{
    const char *own = text_in(item, "level");
    return own && strcmp(own, level) == 0;
}

// Rows of a level, the largest change first, whatever its sign.
static json_t *sorted_rows(json_t *items, const char *level)
{
    json_t *rows = json_array(), *item = NULL;
    size_t i = 0;
    json_array_foreach(items, i, item)
    {
        size_t at = json_array_size(rows);
        if (!is_level(item, level))
            continue;
        while (at && size_of_change(json_array_get(rows, at - 1)) < size_of_change(item))
            at--;
        json_array_insert(rows, at, item);
    }
    return rows;
}

static json_t *part_json(json_t *items, const char *level, const char *const *names, size_t most)
{
    json_t *sorted = sorted_rows(items, level), *columns = json_array(), *rows = json_array();
    for (const char *const *name = names; *name; name++)
        json_array_append_new(columns, mcp_column_name(*name));
    for (size_t i = 0; i < json_array_size(sorted) && i < most; i++) {
        json_t *row = json_array();
        for (const char *const *name = names; *name; name++)
            json_array_append_new(row, mcp_member(json_array_get(sorted, i), *name));
        json_array_append_new(rows, row);
    }
    json_t *part = json_pack("{s:o,s:o,s:i}", "columns", columns, "rows", rows, "total",
                             (int)json_array_size(sorted));
    json_decref(sorted);
    return part;
}

static void set_parts(struct mcp_call *call, json_t *answer, json_t *items)
{
    static const char *const bars[] = {"bar", "base_ns", "cand_ns", "delta_ns", "verdict", NULL};
    static const char *const parts[] = {"bar",     "category", "op",         "base_ns",
                                        "cand_ns", "delta_ns", "base_calls", "cand_calls",
                                        "verdict", NULL};
    enum { ALL_BARS = 8 };
    json_object_set_new(answer, "bars", part_json(items, "bar", bars, ALL_BARS));
    json_object_set_new(answer, "largest_parts", part_json(items, "op", parts, call->limit));
    json_object_set_new(answer, "note",
                        json_string("bars and parts are of the mean step, the verdict is of the "
                                    "median; delta is cand minus base, negative is faster"));
}

static bool ask_parts(struct mcp_call *call, json_t *answer, struct err *err)
{
    struct mcp_question question = mcp_question(compare_get_table, &table_compare_waterfall, NULL);
    mcp_with(&question, "fields",
             "level,bar,category,op,base_ns,cand_ns,delta_ns,base_calls,cand_calls,verdict");
    mcp_with(&question, "level", "bar");
    mcp_with(&question, "level", "op");
    mcp_with_integer(call, &question, "limit", WATERFALL_ROWS);
    mcp_with_arguments(call, &question, mcp_compare_names);
    json_t *reply = mcp_ask(call, &question, err);
    if (reply)
        set_parts(call, answer, json_object_get(reply, "items"));
    json_decref(reply);
    return reply != NULL;
}

static bool answer_compare(struct mcp_call *call, json_t *answer, struct err *err)
{
    struct mcp_question question = mcp_question(compare_get, NULL, NULL);
    mcp_with_arguments(call, &question, mcp_compare_names);
    json_t *reply = mcp_ask(call, &question, err);
    json_t *candidate = json_array_get(json_object_get(reply, "candidates"), 0);
    if (!reply)
        return false;
    set_verdict(answer, json_object_get(candidate, "summary"));
    json_object_set_new(answer, "settings_that_differ",
                        settings_json(json_object_get(candidate, "settings")));
    bool ok = ask_parts(call, answer, err);
    // Kernels of one side against graphs of the other that hide theirs are no parts.
    if (json_is_null(json_object_get(json_object_get(candidate, "summary"), "same_work")))
        json_object_del(answer, "largest_parts");
    mcp_compare_link(call, answer, json_object_get(reply, "base"), candidate);
    json_decref(reply);
    return ok;
}

const struct mcp_tool tool_compare = {
    .name = "compare",
    .title = "Compare runs",
    .help =
        "Median step of a candidate against a base, a verdict that separates change from noise, "
        "the parts of the difference (largest first), and settings that differ. Repeats are "
        "joined by commas; NAME@* is all runs of a series.",
    .rows = {8, 12},
    .arguments = {MCP_COMPARE_SIDES, MCP_COMPARE_CHOICES},
    .answer = answer_compare,
};
