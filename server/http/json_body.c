// SPDX-License-Identifier: Apache-2.0
// JSON in the body of a request.
#include "server/http/json_body.h"

#include "ingest/json/json_memory.h"

#include <stdio.h>

#define BODY_MAX_BYTES ((uint64_t)256 * 1024)
#define BODY_MAX_DEPTH 16

// The JSON library recurses for each level, and connection threads have small stacks.
static bool check_depth(struct str text, struct err *err)
{
    unsigned depth = 0;
    bool is_quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (is_quoted && c == '\\')
            i++;
        else if (c == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted && (c == '[' || c == '{') && ++depth > BODY_MAX_DEPTH)
            return err_set_at(err, ERR_USAGE, i, "the body's JSON is deeper than %d levels",
                              BODY_MAX_DEPTH);
        else if (!is_quoted && (c == ']' || c == '}') && depth > 0)
            depth--;
    }
    return true;
}

// The JSON library takes a NUL for the end of what it reads there, and continues after it.
static bool check_nul(struct str text, struct err *err)
{
    const char *nul = text.len ? memchr(text.at, '\0', text.len) : NULL;
    return !nul || err_set_at(err, ERR_USAGE, (uint64_t)(nul - text.at),
                              "the body is not JSON: found a NUL byte");
}

json_t *json_body_parse(struct str text, struct err *err)
{
    json_error_t error;
    if (!check_nul(text, err) || !check_depth(text, err))
        return NULL;
    json_memory_forget();
    json_t *object = json_loadb(text.at ? text.at : "", text.len, JSON_REJECT_DUPLICATES, &error);
    if (!object && json_memory_check(err))
        err_set_at(err, ERR_USAGE, (uint64_t)error.position, "the body is not JSON: %s",
                   error.text);
    else if (object && !json_is_object(object))
        err_set(err, ERR_USAGE, "found JSON that is not an object");
    if (json_is_object(object))
        return object;
    json_decref(object);
    return NULL;
}

json_t *json_body_read(struct request *request, struct response *response, struct err *err)
{
    struct buf text = {0};
    json_t *object = NULL;
    if (!request_has_type(request, "application/json") &&
        !request_has_type(request, "application/merge-patch+json")) {
        response_refuse(response, err, (struct refusal){415, "media-type"},
                        "found a different Content-Type, expected application/json");
        return NULL;
    }
    if (body_read_all(request->body, BODY_MAX_BYTES, &text, err))
        object = json_body_parse((struct str){text.at, text.len}, err);
    buf_free(&text);
    return object;
}

bool json_body_text(json_t *object, const char *name, struct arena *arena, struct str *text,
                    struct err *err)
{
    json_t *value = json_object_get(object, name);
    *text = STR("");
    if (!value || json_is_null(value))
        return true;
    if (!json_is_string(value))
        return err_set(err, ERR_USAGE, "found a %s that is not a string", name);
    *text = (struct str){json_string_value(value), json_string_length(value)};
    text->at = arena_strdup(arena, *text, err);
    return text->at != NULL;
}

static bool refuse_member(const char *name, const char *const *known, struct err *err)
{
    char expected[160] = "";
    size_t len = 0;
    for (size_t i = 0; known[i] && len < sizeof(expected); i++)
        len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s%s", i ? ", " : "",
                                known[i]);
    return err_set(err, ERR_USAGE, "found member '%.40s', expected some of %s", name, expected);
}

bool json_body_allow(json_t *object, const char *const *known, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value)
    {
        if (!str_is_listed(str_of(name), known))
            return refuse_member(name, known, err);
    }
    return true;
}
