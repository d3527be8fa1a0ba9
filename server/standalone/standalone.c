// SPDX-License-Identifier: Apache-2.0
// The service for a page without a server: files are opened once, then requests are answered by the
// handlers of server/api. What a page calls is exported; texts end with NUL.
#include "server/standalone/standalone.h"

#include "analysis/report/tables.h"
#include "ingest/base/clock.h"
#include "server/api/api.h"
#include "server/base/services.h"
#include "server/care/intake.h"
#include "server/http/problem.h"
#include "server/http/reply_room.h"
#include "server/http/route.h"
#include "server/standalone/store_of_files.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMORY_BYTES ((uint64_t)3 << 30) // of the 4 GiB that a module may have
#define API          "/api/v1/"
#define RUNS         "runs/"

struct standalone {
    struct store store;
    struct blobs blobs;
    struct intake intake;
    struct reply_room room;
    struct services services;
    struct cores cores;
    struct arena arena; // of the list of files
    struct standalone_answer answer;
    struct response response; // whose body the answer shows
};

// --- files --------------------------------------------------------------------------------------

static const char **split(char *names, size_t *count, struct arena *arena, struct err *err)
{
    *count = 0;
    for (const char *at = names; *at; at += strlen(at) + 1)
        (*count)++;
    const char **list = arena_array(arena, *count + 1, sizeof *list, err);
    for (size_t i = 0; list && i < *count; i++, names += strlen(names) + 1)
        list[i] = names;
    return list;
}

static bool read_files(struct standalone *page, char *names, struct err *err)
{
    size_t count;
    struct progress progress = {0};
    struct rank_files_options how = {.command = "analyze",
                                     .analysis = {.warmup_steps = -1},
                                     .job_memory_bytes = MEMORY_BYTES,
                                     .progress = &progress,
                                     .keeps = true};
    const char **list = split(names, &count, &page->arena, err);
    if (!list || !rank_files_read(&page->store.files, list, count, &how, err))
        return false;
    page->store.name = str_of(list[0]);
    return page->store.files.count > 0 ||
           err_set(err, ERR_FORMAT, "found no trace in what was chosen");
}

struct standalone *standalone_open(char *names)
{
    struct standalone *page = calloc(1, sizeof *page);
    struct err err = {.pos = ERR_NO_POS};
    if (!page)
        return NULL;
    arena_init(&page->arena, NULL);
    response_init(&page->response);
    reply_room_init(&page->room, UINT64_MAX, 1);
    page->store.created_ns = clock_wall_ns();
    page->blobs.store = &page->store;
    page->intake = (struct intake){.store = &page->store, .blobs = &page->blobs};
    page->services =
        (struct services){.intake = &page->intake, .room = &page->room, .public_url = ""};
    if (read_files(page, names, &err))
        return page;
    if (err.msg[0])
        fprintf(stderr, "%s\n", err.msg);
    standalone_close(page);
    return NULL;
}

void standalone_close(struct standalone *page)
{
    rank_files_free(&page->store.files);
    response_free(&page->response);
    reply_room_destroy(&page->room);
    arena_free(&page->arena);
    free(page);
}

// --- requests -----------------------------------------------------------------------------------

// Whoever has the file may read all of it; nothing can be changed.
static bool get_session(struct request *request, struct response *response, struct err *err)
{
    (void)request;
    buf_puts(&response->body, "{\"required\":false,\"kind\":\"local\",\"who\":null,\"scopes\":"
                              "[\"read\"],\"expires\":null,\"session\":false}");
    return api_finish_json(request, response, NULL, err);
}

// Resources of a run that are not tables. An empty word: the run itself.
static const struct route of_run[] = {
    {"GET", "", 0, api_get_run, NULL},
    {"GET", "summary", 0, api_get_summary, NULL},
    {"GET", "timeline", 0, api_get_timeline, NULL},
    {"GET", "calls", 0, api_get_calls, NULL},
    {"GET", "find", 0, api_find_event, NULL},
    {"GET", "event", 0, api_get_event, NULL},
    {"GET", "inputs", 0, api_list_inputs, NULL},
    {"GET", "dismissals", 0, api_list_dismissals, NULL},
};
static const struct route session_route = {"GET", "session", 0, get_session, NULL};
static const struct route runs_route = {"GET", "runs", 0, api_list_runs, NULL};

static const struct table_desc *table_named(const struct table_desc *const *tables, struct str name)
{
    while (*tables && !str_equal(str_of((*tables)->name), name))
        tables++;
    return *tables;
}

// A resource of the run: a route of the list, or else a table, whose route goes to *of_table.
static const struct route *route_in_run(struct str word, struct route *of_table)
{
    for (size_t i = 0; i < sizeof of_run / sizeof *of_run; i++)
        if (str_equal(str_of(of_run[i].pattern), word))
            return &of_run[i];
    const struct table_desc *desc = table_named(run_tables, word);
    desc = desc ? desc : table_named(trace_tables, word);
    *of_table = (struct route){"GET", "", 0, api_get_table, desc};
    return desc ? of_table : NULL;
}

static const struct route *find_route(struct request *request, struct route *of_table)
{
    struct str path = request->path;
    if (!str_starts_with(path, STR(API)))
        return NULL;
    path = (struct str){path.at + strlen(API), path.len - strlen(API)};
    if (str_equal(path, STR("session")))
        return &session_route;
    if (str_equal(path, STR("runs")))
        return &runs_route;
    if (!str_starts_with(path, STR(RUNS)))
        return NULL;
    struct str key = {path.at + strlen(RUNS), path.len - strlen(RUNS)};
    size_t end = str_find(key, STR("/"));
    struct str word = end == SIZE_MAX ? STR("") : (struct str){key.at + end + 1, key.len - end - 1};
    request->captures[0] = (struct str){key.at, end == SIZE_MAX ? key.len : end};
    return route_in_run(word, of_table);
}

static bool handle(struct request *request, struct response *response, struct err *err)
{
    struct route of_table;
    request->route = find_route(request, &of_table);
    if (!request->route)
        return err_set(err, ERR_NOT_FOUND, "a page without a server has no %.*s",
                       (int)(request->path.len < 100 ? request->path.len : 100), request->path.at);
    return query_decode(request->captures[0], false, request->arena, &request->captures[0], err) &&
           query_parse(request->query_text, request->arena, &request->query, err) &&
           request->route->handle(request, response, err);
}

// What a service would send piece by piece.
static bool finish(struct response *response, struct err *err)
{
    struct response_stream *stream = &response->stream;
    bool more = stream->next != NULL;
    while (more)
        if (!stream->next(stream->context, &response->body, &more, err))
            return false;
    return buf_ok(&response->body, err);
}

// What it keeps goes with the request's arena.
static void end_stream(struct response *response)
{
    if (response->stream.end)
        response->stream.end(response->stream.context);
    response->stream = (struct response_stream){0};
}

static void show(struct standalone *page)
{
    const struct response *response = &page->response;
    page->answer = (struct standalone_answer){
        .status = response->status ? (uint32_t)response->status : 200,
        .type = response->type ? response->type : "application/json",
        .body = response->borrowed.at ? response->borrowed.at : response->body.at,
        .size = (uint32_t)(response->borrowed.at ? response->borrowed.len : response->body.len)};
}

const struct standalone_answer *standalone_answer(struct standalone *page, const char *target)
{
    struct err err = {.pos = ERR_NO_POS};
    struct arena arena;
    struct str all = str_of(target);
    size_t mark = str_find(all, STR("?"));
    arena_init(&arena, NULL);
    struct request request = {.services = &page->services,
                              .arena = &arena,
                              .method = STR("GET"),
                              .path = {all.at, mark == SIZE_MAX ? all.len : mark},
                              .query_text = STR("")};
    if (mark != SIZE_MAX)
        request.query_text = (struct str){all.at + mark + 1, all.len - mark - 1};
    response_free(&page->response);
    response_init(&page->response);
    if (!handle(&request, &page->response, &err) || !finish(&page->response, &err))
        problem_write(&request, &page->response, &err);
    end_stream(&page->response);
    show(page);
    arena_free(&arena);
    return &page->answer;
}
