// SPDX-License-Identifier: Apache-2.0
// Shared by several handlers: finding runs and finishing answers.
#include "server/api/api.h"

#include "ingest/base/hash.h"
#include "server/care/care.h"
#include "server/http/reply_room.h"

bool api_find_other_run(const struct request *request, struct response *response, struct str key,
                        struct run *run, struct err *err)
{
    if (store_find_run(request->services->intake->store, key, request->arena, run, err))
        return true;
    if (err->code == ERR_NOT_FOUND)
        response->fix = STR("GET /api/v1/runs lists the runs");
    return false;
}

bool api_find_run(struct request *request, struct response *response, struct str key,
                  struct run *run, struct err *err)
{
    if (!api_find_other_run(request, response, key, run, err))
        return false;
    char *object = arena_printf(request->arena, NULL, "run %.*s", (int)run->id.len, run->id.at);
    request->object = str_of(object);
    return true;
}

bool api_page_lacks_run(const struct request *request)
{
    const struct str pages = STR("/runs/");
    struct str key = request->path, page = {NULL, 0};
    struct run run;
    struct err err;
    if (!str_starts_with(key, pages))
        return false;
    key = (struct str){key.at + pages.len, key.len - pages.len};
    const char *end = key.len ? memchr(key.at, '/', key.len) : NULL;
    if (end) {
        page = (struct str){end, key.len - (size_t)(end - key.at)};
        key.len -= page.len;
    }
    if (!query_decode(key, false, request->arena, &key, &err) ||
        !store_find_run(request->services->intake->store, key, request->arena, &run, &err))
        return true;
    return run.received == 0 && !str_starts_with(page, STR("/training"));
}

void api_locate_run(struct request *request, struct response *response, const struct run *run,
                    const char *rest)
{
    response_header(response, request->arena, "Content-Location", "/api/v1/runs/%.*s%s",
                    (int)run->id.len, run->id.at, rest);
}

bool api_run_unchanged(const struct request *request, struct response *response,
                       const struct run *run, const char *what, uint64_t form)
{
    form += hash_bytes(request->query_text.at, request->query_text.len);
    return response_data_unchanged(request, response, "%.*s.%lld-%d-%s-%016llx", (int)run->id.len,
                                   run->id.at, (long long)run->revision, ANALYSIS_VERSION, what,
                                   (unsigned long long)form);
}

void api_tell_storage(struct request *request, struct response *response)
{
    response_header(response, request->arena, "Stepscope-Storage", "%s",
                    care_storage_word(request->services->intake->care));
}

bool api_take_turn(const struct request *request, struct response *response, struct err *err)
{
    if (reply_room_begin(request->services->room, err))
        return true;
    response->word = "too-many-answers";
    return false;
}

bool api_finish_json(struct request *request, struct response *response, const char *prefix,
                     struct err *err)
{
    buf_putc(&response->body, '\n');
    if (!buf_ok(&response->body, err))
        return false;
    response->type = "application/json";
    if (!prefix) {
        response->cache = CACHE_NEVER;
        return true;
    }
    uint64_t hash = hash_bytes(response->body.at, response->body.len);
    (void)response_unchanged(request, response, "%s.%016llx", prefix, (unsigned long long)hash);
    return true;
}

bool api_parse_pair(const char *what, struct str text, struct run_tag *tag, struct err *err)
{
    size_t equals = str_find(text, STR("="));
    if (equals == 0 || equals == SIZE_MAX)
        return err_set(err, ERR_USAGE, "found %s '%.*s', expected key=value", what,
                       (int)(text.len < 60 ? text.len : 60), text.at);
    tag->key = (struct str){text.at, equals};
    tag->value = (struct str){text.at + equals + 1, text.len - equals - 1};
    return true;
}

bool api_read_tags(const struct request *request, struct run_tag **tags, size_t *count,
                   struct err *err)
{
    *count = 0;
    *tags = arena_array(request->arena, request->query.count + 1, sizeof(**tags), err);
    if (!*tags)
        return false;
    for (size_t i = 0; i < request->query.count; i++) {
        const struct query_param *param = &request->query.params[i];
        if (!str_equal(param->name, STR("tag")))
            continue;
        struct run_tag *tag = &(*tags)[(*count)++];
        if (str_find(param->value, STR("=")) == SIZE_MAX)
            *tag = (struct run_tag){param->value, STR("")};
        else if (!api_parse_pair("tag", param->value, tag, err))
            return false;
    }
    return true;
}
