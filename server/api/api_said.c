// SPDX-License-Identifier: Apache-2.0
// Comments on runs and their rows, and pages saved under a short link.
#include "ingest/base/clock.h"
#include "server/api/api.h"
#include "server/api/api_parts.h"
#include "server/http/json_body.h"
#include "server/store/store_said.h"

static const char *const no_parameters[] = {NULL};

// The sender as people read it: "ci" of "token k_7q2k9d0x (ci)", "alice" of "user alice".
static struct str short_name(const struct principal *who)
{
    struct str name = who->name;
    size_t open = str_find(name, STR(" ("));
    if (who->kind == WHO_TOKEN && open != SIZE_MAX && name.len > open + 3)
        return (struct str){name.at + open + 2, name.len - open - 3};
    const struct str prefix = STR("user ");
    if (who->kind == WHO_USER && name.len > prefix.len)
        return (struct str){name.at + prefix.len, name.len - prefix.len};
    return name;
}

bool api_find_author(struct request *request, json_t *object, struct str *author, struct err *err)
{
    if (!json_body_text(object, "author", request->arena, author, err))
        return false;
    if (request->who.kind == WHO_LOCAL) {
        *author = author->len ? *author : STR("someone");
        return true;
    }
    if (author->len)
        return err_set(err, ERR_USAGE, "found author, expected none: the sender is known");
    *author = short_name(&request->who);
    return true;
}

static void put_text(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, "\"%s\":", name);
    buf_json(out, text);
    buf_puts(out, ",");
}

static void put_created(struct buf *out, int64_t created_ns)
{
    char created[CLOCK_RFC3339_SIZE];
    clock_rfc3339(created_ns, created);
    buf_printf(out, "\"created\":\"%s\"}", created);
}

// --- comments -----------------------------------------------------------------------------------

static void comment_json(const struct comment *comment, struct buf *out)
{
    buf_puts(out, "{");
    put_text(out, "id", comment->id);
    put_text(out, "place", comment->place);
    put_text(out, "author", comment->author);
    put_text(out, "text", comment->text);
    put_created(out, comment->created_ns);
}

static bool reply_comments(struct request *request, struct response *response,
                           const struct run *run, const char *tag, struct err *err)
{
    struct comment *comments;
    size_t count;
    if (!store_list_comments(request->services->intake->store, run->id, request->arena, &comments,
                             &count, err))
        return false;
    buf_puts(&response->body, "{\"items\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(&response->body, i ? "," : "");
        comment_json(&comments[i], &response->body);
    }
    buf_puts(&response->body, "]}");
    return api_finish_json(request, response, tag, err);
}

bool api_list_comments(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           reply_comments(request, response, &run, "comments", err);
}

static bool add_comment(struct request *request, json_t *object, const struct run *run,
                        struct err *err)
{
    static const char *const known[] = {"text", "place", "author", NULL};
    struct comment comment = {0};
    return json_body_allow(object, known, err) &&
           json_body_text(object, "text", request->arena, &comment.text, err) &&
           json_body_text(object, "place", request->arena, &comment.place, err) &&
           api_find_author(request, object, &comment.author, err) &&
           store_add_comment(request->services->intake->store, run->id, &comment, err);
}

bool api_post_comment(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !api_find_run(request, response, request->captures[0], &run, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && add_comment(request, object, &run, err);
    json_decref(object);
    return ok && reply_comments(request, response, &run, NULL, err);
}

bool api_delete_comment(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    return query_allow(&request->query, no_parameters, err) &&
           api_find_run(request, response, request->captures[0], &run, err) &&
           store_drop_comment(request->services->intake->store, run.id, request->captures[1],
                              err) &&
           reply_comments(request, response, &run, NULL, err);
}

// --- saved pages --------------------------------------------------------------------------------

static void view_json(const struct saved_view *view, struct buf *out)
{
    buf_puts(out, "{");
    put_text(out, "id", view->id);
    put_text(out, "name", view->name);
    put_text(out, "address", view->address);
    buf_printf(out, "\"url\":\"/v/%.*s\",", (int)view->id.len, view->id.at);
    put_text(out, "author", view->author);
    put_created(out, view->created_ns);
}

static bool reply_view(struct request *request, struct response *response,
                       const struct saved_view *view, const char *tag, struct err *err)
{
    view_json(view, &response->body);
    return api_finish_json(request, response, tag, err);
}

bool api_list_views(struct request *request, struct response *response, struct err *err)
{
    struct saved_view *views;
    size_t count;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_list_views(request->services->intake->store, request->arena, &views, &count, err))
        return false;
    buf_puts(&response->body, "{\"items\":[");
    for (size_t i = 0; i < count; i++) {
        buf_puts(&response->body, i ? "," : "");
        view_json(&views[i], &response->body);
    }
    buf_puts(&response->body, "]}");
    return api_finish_json(request, response, "views", err);
}

bool api_get_view(struct request *request, struct response *response, struct err *err)
{
    struct saved_view view;
    return query_allow(&request->query, no_parameters, err) &&
           store_find_view(request->services->intake->store, request->captures[0], request->arena,
                           &view, err) &&
           reply_view(request, response, &view, "view", err);
}

static bool save_view(struct request *request, json_t *object, struct saved_view *view,
                      struct err *err)
{
    static const char *const known[] = {"address", "name", "author", NULL};
    return json_body_allow(object, known, err) &&
           json_body_text(object, "address", request->arena, &view->address, err) &&
           json_body_text(object, "name", request->arena, &view->name, err) &&
           api_find_author(request, object, &view->author, err) &&
           store_save_view(request->services->intake->store, request->arena, view, err);
}

bool api_post_view(struct request *request, struct response *response, struct err *err)
{
    struct saved_view view = {0};
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    json_t *object = json_body_read(request, response, err);
    bool ok = object && save_view(request, object, &view, err);
    json_decref(object);
    return ok && reply_view(request, response, &view, NULL, err);
}

bool api_delete_view(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_drop_view(request->services->intake->store, request->captures[0], err))
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}
