// SPDX-License-Identifier: Apache-2.0
// The caller's identity, and browser sessions.
#include "server/access/access.h"
#include "server/api/api.h"
#include "server/base/token.h"
#include "server/http/json_body.h"

#include "ingest/base/clock.h"

static const char *const no_parameters[] = {NULL};

static void write_scopes(unsigned scopes, struct buf *out)
{
    char words[TOKEN_SCOPES_SIZE];
    token_write_scopes(scopes, words);
    buf_puts(out, ",\"scopes\":[");
    struct str rest = str_of(words);
    while (rest.len) {
        size_t comma = str_find(rest, STR(","));
        struct str word = {rest.at, comma == SIZE_MAX ? rest.len : comma};
        buf_json(out, word);
        size_t used = word.len + (comma != SIZE_MAX);
        rest = (struct str){rest.at + used, rest.len - used};
        if (rest.len)
            buf_putc(out, ',');
    }
    buf_putc(out, ']');
}

static bool reply_who(struct request *request, struct response *response, struct err *err)
{
    static const char *const kinds[] = {"nobody", "local", "token", "user"};
    const struct principal *who = &request->who;
    struct buf *out = &response->body;
    char until[CLOCK_RFC3339_SIZE];
    buf_printf(out, "{\"required\":%s,\"kind\":\"%s\",\"who\":",
               access_is_required(request->services->access) ? "true" : "false", kinds[who->kind]);
    api_text_json(who->kind == WHO_NOBODY ? STR("") : who->name, out);
    write_scopes(who->scopes, out);
    buf_puts(out, ",\"expires\":");
    if (who->until_ns)
        clock_rfc3339(who->until_ns, until);
    api_text_json(who->until_ns ? str_of(until) : STR(""), out);
    buf_printf(out, ",\"session\":%s,\"provider\":", who->by_session ? "true" : "false");
    api_text_json(access_provider(request->services->access), out);
    buf_printf(out, ",\"standalone\":%s}", request->services->standalone_dir ? "true" : "false");
    response->cache = CACHE_NEVER;
    api_tell_storage(request, response);
    return api_finish_json(request, response, NULL, err);
}

// Pages ask before they know whether anyone is signed in: that nobody is, is a valid answer.
bool api_get_session(struct request *request, struct response *response, struct err *err)
{
    return query_allow(&request->query, no_parameters, err) &&
           access_identify(request, response, err) && reply_who(request, response, err);
}

static bool read_token(json_t *object, struct arena *arena, struct str *token, struct err *err)
{
    if (json_object_size(object) != 1 || !json_is_string(json_object_get(object, "token")))
        return err_set(err, ERR_USAGE, "expected {\"token\": \"TOKEN\"}");
    return json_body_text(object, "token", arena, token, err);
}

bool api_post_session(struct request *request, struct response *response, struct err *err)
{
    struct str token;
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    if (!access_is_required(request->services->access))
        return err_set(err, ERR_CONFLICT,
                       "this service does not use authentication: there is nothing to sign in to");
    json_t *object = json_body_read(request, response, err);
    bool ok = object && read_token(object, request->arena, &token, err) &&
              access_begin_session(request, response, token, err) &&
              reply_who(request, response, err);
    if (!ok && response->status == 401)
        response->fix = STR(
            "copy the whole token, ss_ and 43 characters; ask an administrator for one if needed");
    json_decref(object);
    return ok;
}

bool api_delete_session(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err) ||
        !access_identify(request, response, err))
        return false;
    if (access_is_required(request->services->access) &&
        !access_end_session(request, response, err))
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}
