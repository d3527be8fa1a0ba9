// SPDX-License-Identifier: Apache-2.0
// Tokens over HTTP: create, list, revoke.
#include "server/api/api.h"
#include "server/api/table_reply.h"
#include "server/base/token.h"
#include "server/http/json_body.h"
#include "server/store/server_tables.h"
#include "server/store/store_access.h"

#include "ingest/base/clock.h"

static const char *const no_parameters[] = {NULL};

bool api_list_tokens(struct request *request, struct response *response, struct err *err)
{
    struct table_request asked;
    struct table table;
    return table_request_parse(request, &table_tokens, NULL, &asked, err) &&
           store_list_tokens(request->services->intake->store, STR(""), request->arena, &table,
                             err) &&
           table_reply_rows(request, response, &asked, &table, err);
}

// --- creating one -------------------------------------------------------------------------------

static const char *const known_members[] = {"name",         "scopes",    "expires_in", "day_bytes",
                                            "stored_bytes", "in_flight", NULL};

// ["read", "upload"].
static bool read_scopes(json_t *object, unsigned *scopes, struct err *err)
{
    json_t *list = json_object_get(object, "scopes"), *item = NULL;
    size_t i = 0;
    *scopes = 0;
    json_array_foreach(list, i, item)
    {
        unsigned one = 0;
        struct str word = {json_string_value(item), json_string_length(item)};
        if (!word.at)
            return err_set(err, ERR_USAGE, "found a scope that is not a string");
        if (!token_parse_scopes(word, &one, err))
            return false;
        *scopes |= one;
    }
    return *scopes != 0 || err_set(err, ERR_USAGE,
                                   "found no scopes, expected a list of some of read, upload, "
                                   "write, admin");
}

static bool read_limit(json_t *object, const char *name, int64_t *limit, struct err *err)
{
    json_t *value = json_object_get(object, name);
    *limit = -1;
    if (!value || json_is_null(value))
        return true;
    *limit = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
    return *limit >= 0 ||
           err_set(err, ERR_USAGE, "found %s that is neither an integer nor null", name);
}

// "90d" from now.
static bool read_expiry(json_t *object, struct arena *arena, int64_t *expires_ns, struct err *err)
{
    struct str text;
    int64_t seconds = 0;
    *expires_ns = 0;
    if (!json_body_text(object, "expires_in", arena, &text, err))
        return false;
    if (text.len == 0)
        return true;
    if (!query_duration(text, &seconds, err))
        return err_wrap(err, "expires_in");
    if (seconds < 1 || seconds > STORE_TOKEN_MAX_SECONDS)
        return err_set(err, ERR_USAGE, "found expires_in of %lld s, expected 1 s to 10 years",
                       (long long)seconds);
    *expires_ns = clock_wall_ns() + seconds * 1000000000;
    return true;
}

static bool read_request(json_t *object, struct arena *arena, struct token_request *wanted,
                         struct err *err)
{
    return json_body_allow(object, known_members, err) &&
           json_body_text(object, "name", arena, &wanted->name, err) &&
           read_scopes(object, &wanted->scopes, err) &&
           read_expiry(object, arena, &wanted->expires_ns, err) &&
           read_limit(object, "day_bytes", &wanted->limits.day_bytes, err) &&
           read_limit(object, "stored_bytes", &wanted->limits.stored_bytes, err) &&
           read_limit(object, "in_flight", &wanted->limits.in_flight, err);
}

static bool name_object(struct request *request, struct str id, struct err *err)
{
    char *text = arena_printf(request->arena, err, "token %.*s", (int)id.len, id.at);
    request->object = str_of(text);
    return text != NULL;
}

// The row together with the secret, which is never shown again.
static bool reply_new(struct request *request, struct response *response, struct str id,
                      const char *secret, struct err *err)
{
    struct table table;
    if (!store_list_tokens(request->services->intake->store, id, request->arena, &table, err))
        return false;
    response->status = 201;
    response->cache = CACHE_NEVER;
    response_header(response, request->arena, "Location", "/api/v1/tokens/%.*s", (int)id.len,
                    id.at);
    report_row_json(&table, 0, &response->body);
    if (response->body.len && response->body.at[response->body.len - 1] == '}')
        response->body.len--;
    buf_printf(&response->body, ",\"token\":\"%s\"}", secret);
    return api_finish_json(request, response, NULL, err);
}

static bool make(struct request *request, struct response *response,
                 const struct token_request *wanted, struct err *err)
{
    char secret[TOKEN_SIZE], hash[TOKEN_HASH_SIZE];
    struct str id;
    return token_make(TOKEN_PREFIX, secret, err) && token_hash(str_of(secret), hash, err) &&
           store_add_token(request->services->intake->store, wanted, hash, request->arena, &id,
                           err) &&
           name_object(request, id, err) && reply_new(request, response, id, secret, err);
}

bool api_create_token(struct request *request, struct response *response, struct err *err)
{
    struct token_request wanted;
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && read_request(object, request->arena, &wanted, err) &&
              make(request, response, &wanted, err);
    json_decref(object);
    return ok;
}

bool api_revoke_token(struct request *request, struct response *response, struct err *err)
{
    struct str id;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_revoke_token(request->services->intake->store, request->captures[0], request->arena,
                            &id, err) ||
        !name_object(request, id, err))
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}
