// SPDX-License-Identifier: Apache-2.0
// Events of a run's ranks in the formats of other tools, streamed.
#include "server/api/api.h"
#include "server/api/event_request.h"

#include "ingest/base/hash.h"
#include "server/exports/export_spool.h"
#include "server/http/connections.h"
#include "server/http/file_range.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

#include <stdlib.h>

// A trace's blocks, a piece of output, and its compressor.
#define EVENTS_HELD_BYTES ((uint64_t)16 << 20)

// Held while an answer is sent.
struct events_reply {
    struct event_request asked;
    const struct event_export *format;
    void *state; // of the format
};

// --- the request --------------------------------------------------------------------------------

static bool find_format(const struct request *request, struct events_reply *reply, struct err *err)
{
    struct str word = query_get(&request->query, "format");
    reply->format = word.at ? event_export_find(word) : event_exports[0];
    for (size_t i = 0; !word.at && event_exports[i]; i++)
        if (event_exports[i]->accept &&
            request_accepts(request, "Accept", event_exports[i]->accept)) {
            reply->format = event_exports[i];
            break;
        }
    return reply->format || event_export_refuse(word, err);
}

static bool read_asked(struct events_reply *reply, struct err *err)
{
    static const char *const known[] = {"format", "rank",  "ranks", "from_ns",
                                        "to_ns",  "lanes", NULL};
    static const char *const whole[] = {"format", "rank", "ranks", NULL};
    const struct request *request = reply->asked.request;
    return find_format(request, reply, err) &&
           query_allow(&request->query, reply->format->whole_run ? whole : known, err) &&
           event_request_window(&reply->asked, err);
}

static bool next_piece(void *context, struct buf *out, bool *more, struct err *err)
{
    struct events_reply *reply = context;
    return reply->format->next(reply->state, out, more, err);
}

static void end_reply(void *context)
{
    struct events_reply *reply = context;
    if (reply->state)
        reply->format->close(reply->state);
    event_request_end(&reply->asked);
    free(reply);
}

static void name_it(struct events_reply *reply)
{
    reply->asked.response->type = reply->format->type;
    response_download(reply->asked.response, reply->asked.request->arena, reply->asked.source.title,
                      reply->format->suffix);
}

static bool send_stream(struct events_reply *reply, struct err *err)
{
    struct response *response = reply->asked.response;
    bool more = true;
    if (!reply->format->open(&reply->asked.source, &reply->state, err) ||
        !next_piece(reply, &response->body, &more, err))
        return false;
    name_it(reply);
    if (reply->asked.request->services->spool)
        response_header(response, reply->asked.request->arena, "Accept-Ranges", "bytes");
    response->stream =
        (struct response_stream){.next = more ? next_piece : NULL,
                                 .end = end_reply,
                                 .context = reply,
                                 .held_bytes = EVENTS_HELD_BYTES + reply->format->held_bytes +
                                               reply->asked.comm.budget.used};
    return true;
}

// --- by parts -----------------------------------------------------------------------------------

static bool asks_for_part(const struct request *request)
{
    return request->services->spool && str_equal(request->method, STR("GET")) &&
           str_starts_with(request_header(request, "Range"), STR("bytes="));
}

static bool is_waiting(void *context)
{
    const struct events_reply *reply = context;
    const struct request *request = reply->asked.request;
    struct connections *connections = request->services->connections;
    return !connections || !request->connection ||
           !connections_has_left(connections_socket(connections, request->connection));
}

static bool write_spooled(struct events_reply *reply, uint64_t held_bytes, struct spooled *found,
                          struct err *err)
{
    struct reply_room *room = reply->asked.request->services->room;
    struct spool_source source = {reply->asked.response->etag, next_piece, is_waiting, reply};
    if (!reply_room_enter(room, held_bytes)) // it is streamed when there is room
        return true;
    bool ok = reply->format->open(&reply->asked.source, &reply->state, err) &&
              export_spool_write(reply->asked.request->services->spool, &source, found, err);
    reply_room_leave(room, held_bytes);
    if (reply->state)
        reply->format->close(reply->state);
    reply->state = NULL;
    return ok;
}

static bool send_file(struct events_reply *reply, struct spooled found, struct err *err)
{
    name_it(reply);
    reply->asked.response->fd = found.fd;
    reply->asked.response->file_bytes = found.bytes;
    return file_range_apply(reply->asked.request, reply->asked.response, err);
}

// --- the answer ---------------------------------------------------------------------------------

static bool answer(struct events_reply *reply, const struct run *run, struct err *err)
{
    const struct services *services = reply->asked.request->services;
    struct spooled found = export_spool_find(services->spool, reply->asked.response->etag);
    if (found.fd >= 0)
        return send_file(reply, found, err);
    if (!api_take_turn(reply->asked.request, reply->asked.response, err))
        return false;
    bool ok = event_request_ranks(&reply->asked, run, reply->format->whole_run, err),
         by_parts = asks_for_part(reply->asked.request);
    if (ok && !by_parts)
        ok = send_stream(reply, err);
    reply_room_end(services->room);
    if (!ok || !by_parts)
        return ok;
    uint64_t held_bytes =
        EVENTS_HELD_BYTES + reply->format->held_bytes + reply->asked.comm.budget.used;
    return write_spooled(reply, held_bytes, &found, err) &&
           (found.fd >= 0 ? send_file(reply, found, err) : send_stream(reply, err));
}

bool api_get_events(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    struct events_reply *reply = calloc(1, sizeof *reply);
    if (!reply)
        return err_set(err, ERR_MEMORY, "out of memory");
    event_request_start(&reply->asked, request, response);
    bool ok =
        read_asked(reply, err) && api_find_run(request, response, request->captures[0], &run, err);
    if (ok) {
        api_locate_run(request, response, &run, "/events");
        reply->asked.source.title = run.name;
        uint64_t form = hash_bytes(reply->format->word, strlen(reply->format->word));
        ok = api_run_unchanged(request, response, &run, "events", form) || answer(reply, &run, err);
    }
    if (!response->stream.next) {
        response->stream = (struct response_stream){0};
        end_reply(reply);
    }
    return ok;
}
