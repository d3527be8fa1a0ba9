// SPDX-License-Identifier: Apache-2.0
// Making, changing and deleting runs.
#include "server/api/api.h"
#include "server/http/json_body.h"

static const char *const no_parameters[] = {NULL};

// --- what was sent ------------------------------------------------------------------------------

static const char *const known_members[] = {"name", "project", "note", "tags", "world_size",
                                            "step", "warmup",  "meta", NULL};

static bool read_world_size(json_t *object, int64_t *world_size, struct err *err)
{
    json_t *value = json_object_get(object, "world_size");
    *world_size = STORE_ANY;
    if (!value || json_is_null(value))
        return true;
    *world_size = json_is_integer(value) ? (int64_t)json_integer_value(value) : 0;
    return (*world_size >= 1 && *world_size <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found a world_size that is not a number of ranks, or null");
}

// -1 for null, and when it is not there.
static bool read_warmup(json_t *object, int64_t *steps, struct err *err)
{
    json_t *value = json_object_get(object, "warmup");
    *steps = -1;
    if (!value || json_is_null(value))
        return true;
    *steps = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
    return (*steps >= 0 && *steps <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found a warmup that is not a number of steps, or null");
}

// All tags of a run after a change; from the run as it was.
struct tags {
    struct run_tag *at;
    size_t count, cap;
};

static void set_tag(struct tags *tags, struct run_tag tag, bool remove)
{
    size_t i = 0;
    while (i < tags->count && !str_equal(tags->at[i].key, tag.key))
        i++;
    if (remove && i < tags->count)
        tags->at[i] = tags->at[--tags->count];
    else if (!remove && (i < tags->count || tags->count < tags->cap))
        tags->at[i] = tag;
    if (!remove && i == tags->count && i < tags->cap)
        tags->count++;
}

// Merges {"key": "value", "gone": null} into the tags (RFC 7396). The object has to live on.
static bool merge_tags(json_t *changes, struct tags *tags, struct arena *arena, struct err *err)
{
    const char *name = NULL;
    json_t *value = NULL;
    if (!json_is_object(changes))
        return err_set(err, ERR_USAGE, "found tags that are not an object of texts");
    json_object_foreach(changes, name, value)
    {
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(err, ERR_USAGE, "found tag '%.40s' with a value that is not a text",
                           name);
        struct str text = {json_string_value(value), json_string_length(value)};
        struct run_tag tag = {str_of(arena_strdup(arena, str_of(name), err)), STR("")};
        tag.value.at = text.at ? arena_strdup(arena, text, err) : "";
        tag.value.len = text.len;
        if (!tag.key.at || !tag.value.at)
            return false;
        set_tag(tags, tag, json_is_null(value));
    }
    return true;
}

static bool read_tags(json_t *object, const struct run *run, struct arena *arena, struct tags *tags,
                      struct err *err)
{
    json_t *changes = json_object_get(object, "tags");
    size_t before = run ? run->tag_count : 0;
    tags->cap = before + json_object_size(changes);
    tags->at = arena_array(arena, tags->cap + 1, sizeof(*tags->at), err);
    if (!tags->at)
        return false;
    if (before && !json_is_null(changes)) {
        memcpy(tags->at, run->tags, before * sizeof(*tags->at));
        tags->count = before;
    }
    return !changes || json_is_null(changes) || merge_tags(changes, tags, arena, err);
}

// Changes of metadata: {"key": "value", "gone": null}. The object has to live on.
struct settings {
    struct run_tag *at;
    size_t count;
};

static bool read_meta(json_t *object, struct arena *arena, struct settings *meta, struct err *err)
{
    json_t *changes = json_object_get(object, "meta");
    const char *name = NULL;
    json_t *value = NULL;
    if (!changes || json_is_null(changes))
        return true;
    if (!json_is_object(changes))
        return err_set(err, ERR_USAGE, "found meta that is not an object of texts");
    meta->at = arena_array(arena, json_object_size(changes) + 1, sizeof(*meta->at), err);
    if (!meta->at)
        return false;
    json_object_foreach(changes, name, value)
    {
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(err, ERR_USAGE, "found meta '%.40s' with a value that is not a text",
                           name);
        meta->at[meta->count++] =
            (struct run_tag){str_of(name), {json_string_value(value), json_string_length(value)}};
    }
    return true;
}

// --- which version the client saw ---------------------------------------------------------------

static bool refuse_changed(struct response *response, struct err *err)
{
    response->fix = STR("GET the run again, look at what changed, and repeat with its new ETag");
    return response_refuse(response, err, (struct refusal){412, "changed-meanwhile"},
                           "the run is not the one that If-Match names any more");
}

// Whether a change failed because another came first, after the revision was looked at.
static bool came_second(const struct request *request, const struct run *seen, int64_t expected,
                        const struct err *why)
{
    struct run now;
    struct err ignored;
    return why->code == ERR_CONFLICT && expected != STORE_ANY &&
           store_find_run(request->services->intake.store, seen->id, request->arena, &now,
                          &ignored) &&
           now.revision != expected;
}

// Whether a list of tags has one that begins so. A weak one (W/"...") is none that a change may
// rest on (RFC 9110, 13.1.1).
static bool lists_tag(struct str list, struct str begin)
{
    while (list.len) {
        if (str_starts_with(list, begin))
            return true;
        bool is_blank = *list.at == ' ' || *list.at == '\t' || *list.at == ',';
        size_t comma = str_find(list, STR(",")); // tags hold none
        size_t used = is_blank ? 1 : comma == SIZE_MAX ? list.len : comma;
        list = (struct str){list.at + used, list.len - used};
    }
    return false;
}

// The revision in If-Match: the tag that GET /runs/{run} gave is "id.revision.hash".
static bool expected_revision(struct request *request, struct response *response,
                              const struct run *run, int64_t *revision, struct err *err)
{
    struct str list = request_header(request, "If-Match");
    *revision = STORE_ANY;
    if (!list.at)
        return response_refuse(response, err, (struct refusal){428, "precondition-required"},
                               "expected If-Match with the ETag of this run, or *");
    if (str_equal(list, STR("*")))
        return true;
    char *prefix = arena_printf(request->arena, err, "\"%.*s.%lld.", (int)run->id.len, run->id.at,
                                (long long)run->revision);
    if (!prefix)
        return false;
    *revision = run->revision;
    return lists_tag(list, str_of(prefix)) || refuse_changed(response, err);
}

// --- handlers -----------------------------------------------------------------------------------

static bool reply_run(struct request *request, struct response *response, struct str id,
                      struct err *err)
{
    struct run run;
    if (!store_find_run(request->services->intake.store, id, request->arena, &run, err) ||
        !api_run_json(request, &run, &response->body, err))
        return false;
    buf_putc(&response->body, '}');
    api_locate_run(request, response, &run, "");
    return api_finish_json(request, response, NULL, err);
}

static bool create(struct request *request, json_t *object, struct run *run, struct err *err)
{
    struct arena *arena = request->arena;
    struct run_request wanted = {.world_size = STORE_ANY};
    struct tags tags = {0};
    struct settings meta = {0};
    int64_t warmup = -1;
    if (!json_body_allow(object, known_members, err) ||
        !json_body_text(object, "name", arena, &wanted.name, err) ||
        !json_body_text(object, "project", arena, &wanted.project, err) ||
        !json_body_text(object, "note", arena, &wanted.note, err) ||
        !read_world_size(object, &wanted.world_size, err) ||
        !json_body_text(object, "step", arena, &wanted.step_pattern, err) ||
        !read_warmup(object, &warmup, err) || !read_tags(object, NULL, arena, &tags, err) ||
        !read_meta(object, arena, &meta, err))
        return false;
    wanted.meta = meta.at;
    wanted.meta_count = meta.count;
    wanted.warmup_steps = &warmup;
    wanted.tags = tags.at;
    wanted.tag_count = tags.count;
    return store_create_run(request->services->intake.store, &wanted, arena, run, err);
}

bool api_create_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    json_t *object = query_allow(&request->query, no_parameters, err)
                         ? json_body_read(request, response, err)
                         : NULL;
    bool ok = object && create(request, object, &run, err);
    json_decref(object);
    if (!ok)
        return false;
    response->status = 201;
    response_header(response, request->arena, "Location", "/api/v1/runs/%.*s", (int)run.id.len,
                    run.id.at);
    return reply_run(request, response, run.id, err);
}

static bool patch(struct request *request, json_t *object, const struct run *run, int64_t expected,
                  struct err *err)
{
    struct arena *arena = request->arena;
    struct str name, project, note, step;
    struct tags tags = {0};
    struct settings meta = {0};
    int64_t world_size = STORE_ANY, warmup = -1;
    if (!json_body_allow(object, known_members, err) ||
        !json_body_text(object, "name", arena, &name, err) ||
        !json_body_text(object, "project", arena, &project, err) ||
        !json_body_text(object, "note", arena, &note, err) ||
        !read_world_size(object, &world_size, err) ||
        !json_body_text(object, "step", arena, &step, err) || !read_warmup(object, &warmup, err) ||
        !read_tags(object, run, arena, &tags, err) || !read_meta(object, arena, &meta, err))
        return false;
    struct run_patch change = {
        .name = json_object_get(object, "name") ? &name : NULL,
        .project = json_object_get(object, "project") ? &project : NULL,
        .note = json_object_get(object, "note") ? &note : NULL,
        .tags = json_object_get(object, "tags") ? tags.at : NULL,
        .tag_count = tags.count,
        .meta = meta.at,
        .meta_count = meta.count,
        .world_size = json_object_get(object, "world_size") ? &world_size : NULL,
        .step_pattern = json_object_get(object, "step") ? &step : NULL,
        .warmup_steps = json_object_get(object, "warmup") ? &warmup : NULL,
    };
    return store_patch_run(request->services->intake.store, run->id, &change, expected, err);
}

bool api_patch_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    int64_t expected = STORE_ANY;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !expected_revision(request, response, &run, &expected, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && patch(request, object, &run, expected, err);
    json_decref(object);
    if (!ok && came_second(request, &run, expected, err))
        return refuse_changed(response, err);
    if (ok && request->services->intake.jobs)
        jobs_wake(request->services->intake.jobs); // new choices of steps queue its traces
    return ok && reply_run(request, response, run.id, err);
}

bool api_delete_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    int64_t expected = STORE_ANY;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !expected_revision(request, response, &run, &expected, err))
        return false;
    if (!intake_delete_run(&request->services->intake, run.id, expected, err))
        return came_second(request, &run, expected, err) && refuse_changed(response, err);
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}

// Does something to the run that makes work, and tells those who do it.
static bool make_work(struct request *request, struct response *response,
                      bool (*change)(struct store *, struct str, struct err *), struct err *err)
{
    const struct intake *intake = &request->services->intake;
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !change(intake->store, run.id, err))
        return false;
    if (intake->jobs)
        jobs_wake(intake->jobs);
    return reply_run(request, response, run.id, err);
}

bool api_reanalyse_run(struct request *request, struct response *response, struct err *err)
{
    if (!make_work(request, response, store_reanalyse_run, err))
        return false;
    response->status = 202;
    return true;
}

bool api_cancel_run(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = &request->services->intake;
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    bool ok = intake->jobs ? jobs_cancel_run(intake->jobs, run.id, err)
                           : store_cancel_run(intake->store, run.id, err);
    return ok && reply_run(request, response, run.id, err);
}

bool api_finalize_run(struct request *request, struct response *response, struct err *err)
{
    return make_work(request, response, store_finalize_run, err);
}
