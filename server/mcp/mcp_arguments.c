// SPDX-License-Identifier: Apache-2.0
// Arguments of tools: their JSON Schema, and checks against it.
#include "server/mcp/mcp_arguments.h"

#include <math.h>

// What every tool with a table takes.
static struct mcp_argument limit_argument(const struct mcp_tool *tool)
{
    return (struct mcp_argument){.name = "limit",
                                 .help = "Rows of the main table",
                                 .type = MCP_INTEGER,
                                 .least = 1,
                                 .most = tool->rows.most};
}

static bool find_argument(const struct mcp_tool *tool, const char *name, struct mcp_argument *found)
{
    for (const struct mcp_argument *one = tool->arguments; one->name; one++)
        if (strcmp(one->name, name) == 0) {
            *found = *one;
            return true;
        }
    *found = limit_argument(tool);
    return tool->rows.most > 0 && strcmp(name, "limit") == 0;
}

// --- the schema ---------------------------------------------------------------------------------

static json_t *words_json(const struct mcp_argument *argument)
{
    json_t *list = json_array();
    for (size_t i = 0; argument->word(i); i++)
        json_array_append_new(list, json_string(argument->word(i)));
    return list;
}

static json_t *number_json(double value, enum mcp_type type)
{
    return type == MCP_INTEGER ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *argument_json(const struct mcp_argument *argument)
{
    static const char *const types[] = {
        [MCP_TEXT] = "string",  [MCP_INTEGER] = "integer", [MCP_NUMBER] = "number",
        [MCP_FLAG] = "boolean", [MCP_NAMES] = "array",     [MCP_VALUES] = "object",
    };
    json_t *schema =
        json_pack("{s:s,s:s}", "type", types[argument->type], "description", argument->help);
    if (argument->word)
        json_object_set_new(schema, "enum", words_json(argument));
    else if (argument->type == MCP_TEXT)
        json_object_set_new(schema, "maxLength", json_integer(MCP_TEXT_MAX));
    if (argument->type == MCP_INTEGER || argument->type == MCP_NUMBER) {
        json_object_set_new(schema, "minimum", number_json(argument->least, argument->type));
        json_object_set_new(schema, "maximum", number_json(argument->most, argument->type));
    }
    if (argument->type == MCP_NAMES) {
        json_object_set_new(schema, "items", json_pack("{s:s}", "type", "string"));
        json_object_set_new(schema, "maxItems", json_integer(MCP_NAMES_MAX));
    }
    return schema;
}

json_t *mcp_arguments_schema(const struct mcp_tool *tool)
{
    json_t *properties = json_object(), *required = json_array();
    for (const struct mcp_argument *one = tool->arguments; one->name; one++) {
        json_object_set_new(properties, one->name, argument_json(one));
        if (one->required)
            json_array_append_new(required, json_string(one->name));
    }
    struct mcp_argument limit = limit_argument(tool);
    if (tool->rows.most) {
        json_t *schema = argument_json(&limit);
        json_object_set_new(schema, "default", json_integer(tool->rows.usual));
        json_object_set_new(properties, limit.name, schema);
    }
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

// --- checks -------------------------------------------------------------------------------------

static bool is_clean_text(json_t *value)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    for (size_t i = 0; text && i < len; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return false;
    return text && len <= MCP_TEXT_MAX;
}

static bool is_word(const struct mcp_argument *argument, const char *text)
{
    size_t i = 0;
    while (argument->word(i) && strcmp(argument->word(i), text) != 0)
        i++;
    return argument->word(i) != NULL;
}

static bool check_text(struct mcp_call *call, const struct mcp_argument *argument, json_t *value,
                       struct err *err)
{
    if (!is_clean_text(value))
        return err_set(err, ERR_USAGE,
                       "%s must be a text of at most %d bytes without control characters",
                       argument->name, MCP_TEXT_MAX);
    if (!argument->word || is_word(argument, json_string_value(value)))
        return true;
    struct buf list = {0};
    for (size_t i = 0; argument->word(i); i++)
        buf_printf(&list, "%s%s", i ? ", " : "expected one of ", argument->word(i));
    call->advice = list.failed ? NULL : arena_strdup(call->request->arena, str_of(list.at), NULL);
    buf_free(&list);
    return err_set(err, ERR_USAGE, "found %s '%.40s'", argument->name, json_string_value(value));
}

static bool check_number(const struct mcp_argument *argument, json_t *value, struct err *err)
{
    double number = json_number_value(value);
    bool fits = argument->type == MCP_INTEGER ? json_is_integer(value) : json_is_number(value);
    return (fits && isfinite(number) && number >= argument->least && number <= argument->most) ||
           err_set(err, ERR_USAGE, "%s must be %s from %g to %g", argument->name,
                   argument->type == MCP_INTEGER ? "an integer" : "a number", argument->least,
                   argument->most);
}

static bool check_names(const struct mcp_argument *argument, json_t *value, struct err *err)
{
    bool fits = json_is_array(value) && json_array_size(value) > 0 &&
                json_array_size(value) <= MCP_NAMES_MAX;
    for (size_t i = 0; fits && i < json_array_size(value); i++)
        fits = is_clean_text(json_array_get(value, i));
    return fits || err_set(err, ERR_USAGE, "%s must be a list of 1 to %d texts", argument->name,
                           MCP_NAMES_MAX);
}

static bool check_values(const struct mcp_argument *argument, json_t *value, struct err *err)
{
    const char *name = NULL;
    json_t *one = NULL;
    bool fits = json_is_object(value) && json_object_size(value) <= MCP_NAMES_MAX;
    json_object_foreach(value, name, one) fits =
        fits && (is_clean_text(one) || json_is_number(one) || json_is_boolean(one));
    return fits ||
           err_set(err, ERR_USAGE, "%s must be an object of at most %d texts, numbers or booleans",
                   argument->name, MCP_NAMES_MAX);
}

static bool check_value(struct mcp_call *call, const struct mcp_argument *argument, json_t *value,
                        struct err *err)
{
    switch (argument->type) {
    case MCP_TEXT: return check_text(call, argument, value, err);
    case MCP_INTEGER:
    case MCP_NUMBER: return check_number(argument, value, err);
    case MCP_NAMES: return check_names(argument, value, err);
    case MCP_VALUES: return check_values(argument, value, err);
    case MCP_FLAG: break;
    }
    return json_is_boolean(value) ||
           err_set(err, ERR_USAGE, "%s must be true or false", argument->name);
}

static const char *list_arguments(const struct mcp_call *call, const struct mcp_tool *tool)
{
    struct buf list = {0};
    buf_printf(&list, "%s takes", tool->name);
    for (const struct mcp_argument *one = tool->arguments; one->name; one++)
        buf_printf(&list, "%s %s%s", one == tool->arguments ? "" : ",", one->name,
                   one->required ? " (required)" : "");
    buf_puts(&list, tool->rows.most ? ", limit" : "");
    const char *kept =
        list.failed ? NULL : arena_strdup(call->request->arena, str_of(list.at), NULL);
    buf_free(&list);
    return kept;
}

static bool check_required(const struct mcp_call *call, const struct mcp_tool *tool,
                           struct err *err)
{
    for (const struct mcp_argument *one = tool->arguments; one->name; one++) {
        json_t *value = json_object_get(call->arguments, one->name);
        if (one->required && (!value || json_is_null(value)))
            return err_set(err, ERR_USAGE, "%s is missing", one->name);
    }
    return true;
}

bool mcp_arguments_check(struct mcp_call *call, const struct mcp_tool *tool, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    call->advice = list_arguments(call, tool);
    json_object_foreach(call->arguments, name, value)
    {
        struct mcp_argument argument;
        if (!find_argument(tool, name, &argument))
            return err_set(err, ERR_USAGE, "found an unknown argument '%.40s'", name);
        if (!json_is_null(value) && !check_value(call, &argument, value, err))
            return false;
    }
    if (!check_required(call, tool, err))
        return false;
    call->advice = NULL;
    return true;
}

const char *mcp_text_argument(const struct mcp_call *call, const char *name)
{
    return json_string_value(json_object_get(call->arguments, name));
}

int64_t mcp_integer_argument(const struct mcp_call *call, const char *name, int64_t fallback)
{
    json_t *value = json_object_get(call->arguments, name);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}
