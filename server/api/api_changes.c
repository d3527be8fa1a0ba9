// SPDX-License-Identifier: Apache-2.0
// Creating, changing and deleting runs.
#include "server/access/quota.h"
#include "server/api/api.h"
#include "server/care/retention_plan.h"
#include "server/http/json_body.h"

static const char *const no_parameters[] = {NULL};

// --- the body ------------------------------------------------------------------------------------

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
           err_set(err, ERR_USAGE, "found a world_size that is neither a number of ranks nor null");
}

// -1 for null or if missing.
static bool read_warmup(json_t *object, int64_t *steps, struct err *err)
{
    json_t *value = json_object_get(object, "warmup");
    *steps = -1;
    if (!value || json_is_null(value))
        return true;
    *steps = json_is_integer(value) ? (int64_t)json_integer_value(value) : -1;
    return (*steps >= 0 && *steps <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found a warmup that is neither a number of steps nor null");
}

// Tags or settings: {"key": "value", "gone": null} (RFC 7396). Borrows from the object.
struct pairs {
    struct run_tag *at;
    size_t count;
};

static bool read_pairs(json_t *object, const char *what, struct arena *arena, struct pairs *pairs,
                       struct err *err)
{
    json_t *changes = json_object_get(object, what);
    const char *name = NULL;
    json_t *value = NULL;
    *pairs = (struct pairs){0};
    if (!changes || json_is_null(changes))
        return true;
    if (!json_is_object(changes))
        return err_set(err, ERR_USAGE, "found %s that are not an object of strings", what);
    pairs->at = arena_array(arena, json_object_size(changes) + 1, sizeof(*pairs->at), err);
    if (!pairs->at)
        return false;
    json_object_foreach(changes, name, value)
    {
        if (!json_is_string(value) && !json_is_null(value))
            return err_set(err, ERR_USAGE, "found %s '%.40s' with a value that is not a string",
                           what, name);
        pairs->at[pairs->count++] =
            (struct run_tag){str_of(name), {json_string_value(value), json_string_length(value)}};
    }
    return true;
}

// --- which version the client saw ---------------------------------------------------------------

static bool refuse_changed(struct response *response, struct err *err)
{
    response->fix = STR("GET the run again, check what changed, and repeat with its new ETag");
    return response_refuse(response, err, (struct refusal){412, "changed-meanwhile"},
                           "the run no longer matches If-Match");
}

// Whether a change failed because another one came first, after the revision was checked.
static bool came_second(const struct request *request, const struct run *seen, int64_t expected,
                        const struct err *why)
{
    struct run now;
    struct err ignored;
    return why->code == ERR_CONFLICT && expected != STORE_ANY &&
           store_find_run(request->services->intake->store, seen->id, request->arena, &now,
                          &ignored) &&
           now.revision != expected;
}

// Whether a list of tags has one that starts with this. A weak tag (W/"...") must not be used for
// changes (RFC 9110, 13.1.1).
static bool lists_tag(struct str list, struct str begin)
{
    while (list.len) {
        if (str_starts_with(list, begin))
            return true;
        bool is_blank = *list.at == ' ' || *list.at == '\t' || *list.at == ',';
        size_t comma = str_find(list, STR(",")); // tags contain none
        size_t used = is_blank ? 1 : comma == SIZE_MAX ? list.len : comma;
        list = (struct str){list.at + used, list.len - used};
    }
    return false;
}

// The revision in If-Match: the tag from GET /runs/{run} is "id.revision.hash".
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

bool api_reply_run(struct request *request, struct response *response, struct str id,
                   struct err *err)
{
    struct run run;
    if (!store_find_run(request->services->intake->store, id, request->arena, &run, err) ||
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
    struct pairs tags, meta;
    int64_t warmup = -1;
    if (!json_body_allow(object, known_members, err) ||
        !json_body_text(object, "name", arena, &wanted.name, err) ||
        !json_body_text(object, "project", arena, &wanted.project, err) ||
        !json_body_text(object, "note", arena, &wanted.note, err) ||
        !read_world_size(object, &wanted.world_size, err) ||
        !json_body_text(object, "step", arena, &wanted.step_pattern, err) ||
        !read_warmup(object, &warmup, err) || !read_pairs(object, "tags", arena, &tags, err) ||
        !read_pairs(object, "meta", arena, &meta, err))
        return false;
    wanted.meta = meta.at;
    wanted.meta_count = meta.count;
    wanted.warmup_steps = &warmup;
    wanted.tags = tags.at;
    wanted.tag_count = tags.count;
    wanted.owner = request->who.key;
    return store_create_run(request->services->intake->store, &wanted, arena, run, err);
}

bool api_create_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    json_t *object = query_allow(&request->query, no_parameters, err)
                         ? json_body_read(request, response, err)
                         : NULL;
    bool ok = object && quota_spend(request, response, request->body->received, err) &&
              create(request, object, &run, err);
    json_decref(object);
    if (!ok && err->code == ERR_BUSY) {
        response->status = 429;
        response->word = "too-many-empty-runs";
        response->fix = STR("send traces to the existing runs, or delete some");
    }
    if (!ok)
        return false;
    response->status = 201;
    response_header(response, request->arena, "Location", "/api/v1/runs/%.*s", (int)run.id.len,
                    run.id.at);
    return api_reply_run(request, response, run.id, err);
}

static bool patch(struct request *request, json_t *object, const struct run *run, int64_t expected,
                  struct err *err)
{
    struct arena *arena = request->arena;
    struct str name, project, note, step;
    struct pairs tags, meta;
    int64_t world_size = STORE_ANY, warmup = -1;
    if (!json_body_allow(object, known_members, err) ||
        !json_body_text(object, "name", arena, &name, err) ||
        !json_body_text(object, "project", arena, &project, err) ||
        !json_body_text(object, "note", arena, &note, err) ||
        !read_world_size(object, &world_size, err) ||
        !json_body_text(object, "step", arena, &step, err) || !read_warmup(object, &warmup, err) ||
        !read_pairs(object, "tags", arena, &tags, err) ||
        !read_pairs(object, "meta", arena, &meta, err))
        return false;
    struct run_patch change = {
        .name = json_object_get(object, "name") ? &name : NULL,
        .project = json_object_get(object, "project") ? &project : NULL,
        .note = json_object_get(object, "note") ? &note : NULL,
        .tags = tags.at,
        .tag_count = tags.count,
        .forgets_tags = json_is_null(json_object_get(object, "tags")),
        .meta = meta.at,
        .meta_count = meta.count,
        .world_size = json_object_get(object, "world_size") ? &world_size : NULL,
        .step_pattern = json_object_get(object, "step") ? &step : NULL,
        .warmup_steps = json_object_get(object, "warmup") ? &warmup : NULL,
    };
    return store_patch_run(request->services->intake->store, run->id, &change, expected, err);
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
    if (ok && request->services->intake->jobs)
        jobs_wake(request->services->intake->jobs); // its traces are queued if the choice of steps
                                                    // changed
    return ok && api_reply_run(request, response, run.id, err);
}

// Without a bin. The run still passed through it, which refuses baselines; the service may have
// emptied the bin already.
static bool delete_for_good(struct request *request, struct response *response,
                            const struct run *run, struct err *err)
{
    if (!intake_delete_run(request->services->intake, run->id, STORE_ANY, err) &&
        err->code != ERR_NOT_FOUND)
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}

bool api_delete_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    int64_t expected = STORE_ANY;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !expected_revision(request, response, &run, &expected, err))
        return false;
    if (!intake_bin_run(request->services->intake, run.id, expected, request->who.name, err))
        return came_second(request, &run, expected, err) && refuse_changed(response, err);
    return request->services->retention->bin_days
               ? api_reply_deleted(request, response, run.id, err)
               : delete_for_good(request, response, &run, err);
}

// With upload scope one may only finalize one's own runs. A complete run stays as it is.
static bool check_own(const struct request *request, struct response *response,
                      const struct run *run, struct err *err)
{
    bool own = request->who.key.len && str_equal(request->who.key, run->owner);
    if (request->who.scopes & SCOPE_WRITE || (own && run->baseline_count == 0))
        return true;
    return response_refuse(
        response, err, (struct refusal){403, "scope"},
        "this run was created by someone else or is a baseline: changing it needs the scope write");
}

// Changes the run in a way that creates jobs, and wakes the workers.
static bool make_work(struct request *request, struct response *response,
                      bool (*change)(struct store *, struct str, struct err *), struct err *err)
{
    const struct intake *intake = request->services->intake;
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !change(intake->store, run.id, err))
        return false;
    if (intake->jobs)
        jobs_wake(intake->jobs);
    return api_reply_run(request, response, run.id, err);
}

bool api_reanalyze_run(struct request *request, struct response *response, struct err *err)
{
    if (!make_work(request, response, store_reanalyze_run, err))
        return false;
    response->status = 202;
    return true;
}

bool api_cancel_run(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = request->services->intake;
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    bool ok = intake->jobs ? jobs_cancel_run(intake->jobs, run.id, err)
                           : store_cancel_run(intake->store, run.id, err);
    return ok && api_reply_run(request, response, run.id, err);
}

bool api_finalize_run(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    if (!api_find_run(request, response, request->captures[0], &run, err) ||
        !check_own(request, response, &run, err))
        return false;
    if (run.finalized && !(request->who.scopes & SCOPE_WRITE))
        return api_reply_run(request, response, run.id, err);
    return make_work(request, response, store_finalize_run, err);
}
