// SPDX-License-Identifier: Apache-2.0
// Tables of the API as agents read them, and other parts that answers share.
#include "server/mcp/mcp_rows.h"

#include "analysis/report/tables.h"
#include "server/api/api.h"
#include "server/mcp/mcp_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { VALUE_DIGITS = 4, TRUST_ROWS = 10000 /* the API gives no more */ };

// --- values -------------------------------------------------------------------------------------

// The nearest number of few digits.
static double shorten(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", VALUE_DIGITS, value);
    return strtod(text, NULL);
}

// From one millisecond on, to the microsecond.
static json_t *milliseconds(double ns)
{
    double ms = ns / 1e6;
    return json_real(fabs(ms) >= 1 ? round(ms * 1000) / 1000 : shorten(ms));
}

json_t *mcp_value(json_t *value, const char *unit)
{
    if (json_is_string(value))
        return mcp_name(value);
    if (json_is_number(value) && strcmp(unit, "ns") == 0)
        return milliseconds(json_number_value(value));
    if (json_is_real(value))
        return json_real(shorten(json_real_value(value)));
    return value ? json_incref(value) : json_null();
}

static bool is_of_ns(const char *name)
{
    size_t len = strlen(name);
    return len > 3 && strcmp(name + len - 3, "_ns") == 0;
}

json_t *mcp_column_name(const char *name)
{
    return is_of_ns(name) ? json_sprintf("%.*sms", (int)strlen(name) - 2, name) : json_string(name);
}

json_t *mcp_member(json_t *object, const char *name)
{
    return mcp_value(json_object_get(object, name), is_of_ns(name) ? "ns" : "");
}

void mcp_set_member(json_t *answer, json_t *object, const char *name)
{
    json_t *shown = mcp_column_name(name);
    if (shown)
        json_object_set_new(answer, json_string_value(shown), mcp_member(object, name));
    json_decref(shown);
}

// --- tables -------------------------------------------------------------------------------------

static const char *text_in(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

// Columns of sentences, which are longer than names.
static bool is_prose(const char *name)
{
    static const char *const names[] = {"title",   "help", "how",  "shows",  "evidence", "effect",
                                        "verdict", "why",  "text", "detail", "note"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static json_t *cell_json(json_t *column, json_t *item)
{
    const char *name = text_in(column, "name");
    json_t *value = json_object_get(item, name);
    return json_is_string(value) && is_prose(name) ? mcp_sentence(value, MCP_EFFECT_MAX)
                                                   : mcp_value(value, text_in(column, "unit"));
}

static json_t *row_json(json_t *columns, json_t *item)
{
    json_t *row = json_array(), *column = NULL;
    size_t i = 0;
    json_array_foreach(columns, i, column) json_array_append_new(row, cell_json(column, item));
    return row;
}

json_t *mcp_rows(json_t *reply)
{
    json_t *columns = json_object_get(reply, "columns"), *items = json_object_get(reply, "items");
    json_t *names = json_array(), *rows = json_array(), *one = NULL;
    json_t *cursor = json_object_get(reply, "next_cursor");
    size_t i = 0;
    json_array_foreach(columns, i, one)
        json_array_append_new(names, mcp_column_name(text_in(one, "name")));
    json_array_foreach(items, i, one) json_array_append_new(rows, row_json(columns, one));
    json_t *table = json_pack("{s:o,s:o,s:O}", "columns", names, "rows", rows, "total",
                              json_object_get(reply, "total"));
    if (json_is_true(json_object_get(reply, "total_is_least")))
        json_object_set_new(table, "total_is_least", json_true());
    if (json_is_string(cursor))
        json_object_set(table, "next_cursor", cursor);
    return table;
}

// Asks for them. NULL if it failed; without such a table in the run there are no rows.
static json_t *fetch_rows(struct mcp_call *call, const struct mcp_wanted *wanted, const char *run,
                          struct err *err)
{
    struct mcp_question question =
        mcp_question(wanted->handle ? wanted->handle : api_get_table, wanted->table, run);
    mcp_with_integer(call, &question, "limit", wanted->most ? wanted->most : call->limit);
    mcp_with(&question, "fields", wanted->fields);
    mcp_with(&question, "sort", wanted->sort);
    if (wanted->filter)
        mcp_with(&question, wanted->filter, wanted->value);
    return mcp_ask(call, &question, err);
}

bool mcp_set_rows(struct mcp_call *call, json_t *answer, const struct mcp_wanted *wanted,
                  const char *run, size_t *count, struct err *err)
{
    json_t *reply = fetch_rows(call, wanted, run, err);
    *count = (size_t)json_integer_value(json_object_get(reply, "total"));
    if (*count) {
        json_t *rows = mcp_rows(reply);
        json_object_del(rows, "next_cursor"); // the tool table goes on from here
        json_object_set_new(answer, wanted->name, rows);
    }
    json_decref(reply);
    return reply != NULL;
}

// --- trust --------------------------------------------------------------------------------------

static int rank_severity(const char *severity)
{
    static const char *const order[] = {"error", "warning", "info"};
    int i = 0;
    while (i < 3 && strcmp(order[i], severity) != 0)
        i++;
    return i;
}

// The note of the same kind, or NULL.
static json_t *find_note(json_t *notes, json_t *item)
{
    json_t *note = NULL;
    size_t i = 0;
    json_array_foreach(notes, i,
                       note) if (strcmp(text_in(note, "item"), text_in(item, "item")) == 0 &&
                                 strcmp(text_in(note, "severity"), text_in(item, "severity")) ==
                                     0) return note;
    return NULL;
}

// After those that are at least as severe.
static void add_note(json_t *notes, json_t *item)
{
    int severity = rank_severity(text_in(item, "severity"));
    size_t at = json_array_size(notes);
    while (at && rank_severity(text_in(json_array_get(notes, at - 1), "severity")) > severity)
        at--;
    json_array_insert_new(notes, at,
                          json_pack("{s:o,s:o,s:i,s:o}", "severity",
                                    mcp_name(json_object_get(item, "severity")), "item",
                                    mcp_name(json_object_get(item, "item")), "ranks", 1, "effect",
                                    mcp_sentence(json_object_get(item, "effect"), MCP_EFFECT_MAX)));
}

static json_t *group_notes(json_t *items)
{
    json_t *notes = json_array(), *item = NULL;
    size_t i = 0;
    json_array_foreach(items, i, item)
    {
        json_t *same = find_note(notes, item);
        json_int_t ranks = json_integer_value(json_object_get(same, "ranks"));
        if (same)
            json_object_set_new(same, "ranks", json_integer(ranks + 1));
        else
            add_note(notes, item);
    }
    return notes;
}

bool mcp_set_trust(struct mcp_call *call, json_t *answer, const char *run, size_t most,
                   struct err *err)
{
    static const struct mcp_wanted wanted = {.table = &table_run_trust,
                                             .fields = "severity,item,effect",
                                             .sort = "severity",
                                             .most = TRUST_ROWS};
    json_t *reply = fetch_rows(call, &wanted, run, err);
    if (!reply)
        return false;
    json_t *notes = group_notes(json_object_get(reply, "items"));
    size_t kinds = json_array_size(notes);
    const char *worst = kinds ? text_in(json_array_get(notes, 0), "severity") : "none";
    json_t *trust = json_pack("{s:s,s:i}", "worst", worst, "kinds", (int)kinds);
    while (json_array_size(notes) > most)
        json_array_remove(notes, json_array_size(notes) - 1);
    json_object_set_new(trust, "notes", notes);
    json_object_set_new(answer, "trust", trust);
    json_decref(reply);
    return true;
}

// --- the rest -----------------------------------------------------------------------------------

void mcp_set_link(struct mcp_call *call, json_t *answer, const char *fmt, ...)
{
    struct str base;
    const char *public_url = call->request->services->public_url;
    bool has_pages = (public_url && *public_url) || request_header(call->request, "Host").at;
    va_list args;
    va_start(args, fmt);
    json_t *path = json_vsprintf(fmt, args);
    va_end(args);
    if (path && has_pages && request_base_url(call->request, &base, NULL))
        json_object_set_new(
            answer, "links",
            json_pack("{s:o}", "page",
                      json_sprintf("%.*s%s", (int)base.len, base.at, json_string_value(path))));
    json_decref(path);
}

void mcp_set_cannot(json_t *answer, const char *what, const char *because)
{
    json_object_set_new(answer, "cannot_answer",
                        json_pack("{s:s,s:s}", "what", what, "because", because));
}

const char *mcp_run_id(struct mcp_call *call, const char *key, struct err *err)
{
    struct run run;
    struct response response;
    response_init(&response);
    bool found = api_find_run(call->request, &response, str_of(key), &run, err);
    if (!found)
        call->advice = "find_runs lists the runs";
    response_free(&response);
    return found ? arena_strdup(call->request->arena, run.id, err) : NULL;
}
