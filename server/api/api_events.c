// SPDX-License-Identifier: Apache-2.0
// Events of a run's ranks in the formats of other tools, streamed.
#include "server/api/api.h"

#include "ingest/base/hash.h"
#include "server/exports/event_comm.h"
#include "server/exports/event_source.h"
#include "server/exports/export_spool.h"
#include "server/http/connections.h"
#include "server/http/file_range.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

#include <stdlib.h>

#define EVENTS_HELD_BYTES ((uint64_t)16 << 20) // blocks of a trace, a piece, and what packs it
#define MOST_RANGES       64

// Held while an answer is sent.
struct events_reply {
    struct request *request;
    struct response *response;
    const struct event_export *format;
    struct event_source source;
    struct event_comm comm;
    const struct trace_row *traces; // of the exported ranks
    void *state;                    // of the format
};

// --- which ranks --------------------------------------------------------------------------------

struct rank_range {
    int64_t first, last;
};

struct rank_ranges {
    struct rank_range at[MOST_RANGES];
    size_t count;
    int64_t shown; // the parameter rank, -1: none
};

static bool refuse_ranks(struct str text, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "found ranks=%.*s, expected all or at most %d ranges like 0-7,12",
                   (int)(text.len < 40 ? text.len : 40), text.at, MOST_RANGES);
}

static struct str cut_at(struct str *rest, struct str mark)
{
    size_t end = str_find(*rest, mark);
    struct str part = {rest->at, end == SIZE_MAX ? rest->len : end};
    size_t used = end == SIZE_MAX ? rest->len : end + mark.len;
    *rest = (struct str){rest->at + used, rest->len - used};
    return part;
}

static bool read_range(struct str text, struct rank_range *range)
{
    struct str rest = text, first = cut_at(&rest, STR("-"));
    bool is_one = first.len == text.len;
    if (!str_to_i64(first, &range->first) || range->first < 0)
        return false;
    range->last = range->first;
    return is_one || (str_to_i64(rest, &range->last) && range->last >= range->first);
}

// "all", "0-7,12"; without it the parameter rank, else the headline rank.
static bool read_ranks(const struct request *request, const struct run *run, bool all,
                       struct rank_ranges *ranges, struct err *err)
{
    struct str text = query_get(&request->query, "ranks"), rest = text;
    int64_t rank = ranges->shown;
    ranges->at[0] = (struct rank_range){0, INT64_MAX};
    ranges->count = 1;
    if (str_equal(text, STR("all")))
        return true;
    if (!text.at) {
        if (rank < 0 && !all && !api_headline_rank(request, run, &rank, err))
            return false;
        if (rank >= 0)
            ranges->at[0] = (struct rank_range){rank, rank};
        return true;
    }
    for (ranges->count = 0; rest.len; ranges->count++)
        if (ranges->count == MOST_RANGES ||
            !read_range(cut_at(&rest, STR(",")), &ranges->at[ranges->count]))
            return refuse_ranks(text, err);
    return ranges->count > 0 || refuse_ranks(text, err);
}

static bool is_asked(const struct rank_ranges *ranges, int64_t rank)
{
    for (size_t i = 0; i < ranges->count; i++)
        if (rank >= ranges->at[i].first && rank <= ranges->at[i].last)
            return true;
    return false;
}

// --- traces -------------------------------------------------------------------------------------

static struct trace_file *open_trace(void *context, size_t index, struct err *err)
{
    struct events_reply *reply = context;
    return api_open_trace(reply->request, reply->response, &reply->traces[index], err);
}

// Keeps the analyzed traces of a list, moved to its front.
static size_t keep_done(struct trace_row *traces, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (traces[i].state == TRACE_DONE && traces[i].rank >= 0)
            traces[kept++] = traces[i];
    return kept;
}

struct tables_of {
    struct store *store;
    const struct trace_row *traces;
};

static bool load_tables(void *context, size_t index, const struct table_desc *const *known,
                        struct report *report, struct err *err)
{
    const struct tables_of *of = context;
    return store_load_trace_tables(of->store, of->traces[index].id, known, report, err);
}

// Matches the collectives of all ranks.
static bool load_comm(struct events_reply *reply, const struct trace_row *traces, size_t count,
                      struct err *err)
{
    struct tables_of of = {reply->request->services->intake->store, traces};
    int64_t *ranks = arena_array(reply->request->arena, count + 1, sizeof *ranks, err);
    if (!ranks)
        return false;
    for (size_t i = 0; i < count; i++)
        ranks[i] = traces[i].rank;
    struct rank_source source = {
        .ranks = ranks, .count = count, .context = &of, .load = load_tables};
    if (!event_comm_load(&reply->comm, &source, err))
        return false;
    if (reply->comm.known)
        reply->source.comm = &reply->comm.comm;
    else
        response_header(reply->response, reply->request->arena, "Stepscope-Left-Out",
                        "flows and waits of collectives, which are too many to match here");
    return true;
}

static bool choose_traces(struct events_reply *reply, const struct run *run,
                          const struct rank_ranges *ranges, struct err *err)
{
    struct arena *arena = reply->request->arena;
    struct trace_row *traces;
    size_t count, chosen = 0;
    if (!store_list_traces(reply->request->services->intake->store, run->id, arena, &traces, &count,
                           err))
        return false;
    count = keep_done(traces, count);
    struct trace_row *asked = arena_array(arena, count + 1, sizeof *asked, err);
    reply->source.ranks = arena_array(arena, count + 1, sizeof *reply->source.ranks, err);
    if (!asked || !reply->source.ranks || !load_comm(reply, traces, count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_asked(ranges, traces[i].rank))
            continue;
        if (traces[i].rank == ranges->shown)
            reply->source.base = chosen;
        reply->source.ranks[chosen].rank = traces[i].rank;
        asked[chosen++] = traces[i];
    }
    reply->traces = asked;
    reply->source.count = chosen;
    return chosen > 0 || err_set(err, ERR_NOT_FOUND, "found no analyzed trace of such a rank");
}

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

static bool read_window(const struct request *request, struct event_source *source, struct err *err)
{
    const struct query *query = &request->query;
    if (!query_get_int(query, (struct query_int){"from_ns", 0, 0, TRACE_MAX_NS}, &source->from_ns,
                       err) ||
        !query_get_int(query, (struct query_int){"to_ns", -1, 1, TRACE_MAX_NS}, &source->to_ns,
                       err))
        return false;
    return source->to_ns < 0 || source->from_ns < source->to_ns ||
           err_set(err, ERR_USAGE, "found from_ns=%lld, expected less than to_ns=%lld",
                   (long long)source->from_ns, (long long)source->to_ns);
}

static bool read_asked(struct events_reply *reply, struct err *err)
{
    static const char *const known[] = {"format", "rank",  "ranks", "from_ns",
                                        "to_ns",  "lanes", NULL};
    static const char *const whole[] = {"format", "rank", "ranks", NULL};
    const struct request *request = reply->request;
    return find_format(request, reply, err) &&
           query_allow(&request->query, reply->format->whole_run ? whole : known, err) &&
           api_read_lanes(request, &reply->source.device_only, err) &&
           read_window(request, &reply->source, err);
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
    event_comm_free(&reply->comm);
    free(reply);
}

// What is sent before all is read; until then errors have a status.
static bool begin(struct events_reply *reply, const struct run *run, struct err *err)
{
    struct rank_ranges ranges;
    struct query_int rank = {"rank", -1, 0, INT32_MAX};
    return query_get_int(&reply->request->query, rank, &ranges.shown, err) &&
           read_ranks(reply->request, run, reply->format->whole_run, &ranges, err) &&
           choose_traces(reply, run, &ranges, err) && event_source_measure(&reply->source, err);
}

static void name_it(struct events_reply *reply)
{
    reply->response->type = reply->format->type;
    response_download(reply->response, reply->request->arena, reply->source.title,
                      reply->format->suffix);
}

static bool send_stream(struct events_reply *reply, struct err *err)
{
    struct response *response = reply->response;
    bool more = true;
    if (!reply->format->open(&reply->source, &reply->state, err) ||
        !next_piece(reply, &response->body, &more, err))
        return false;
    name_it(reply);
    if (reply->request->services->spool)
        response_header(response, reply->request->arena, "Accept-Ranges", "bytes");
    response->stream = (struct response_stream){
        .next = more ? next_piece : NULL,
        .end = end_reply,
        .context = reply,
        .held_bytes = EVENTS_HELD_BYTES + reply->format->held_bytes + reply->comm.budget.used};
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
    const struct request *request = reply->request;
    struct connections *connections = request->services->connections;
    return !connections || !request->connection ||
           !connections_has_left(connections_socket(connections, request->connection));
}

static bool write_spooled(struct events_reply *reply, uint64_t held_bytes, struct spooled *found,
                          struct err *err)
{
    struct reply_room *room = reply->request->services->room;
    struct spool_source source = {reply->response->etag, next_piece, is_waiting, reply};
    if (!reply_room_enter(room, held_bytes)) // it is streamed when there is room
        return true;
    bool ok = reply->format->open(&reply->source, &reply->state, err) &&
              export_spool_write(reply->request->services->spool, &source, found, err);
    reply_room_leave(room, held_bytes);
    if (reply->state)
        reply->format->close(reply->state);
    reply->state = NULL;
    return ok;
}

static bool send_file(struct events_reply *reply, struct spooled found, struct err *err)
{
    name_it(reply);
    reply->response->fd = found.fd;
    reply->response->file_bytes = found.bytes;
    return file_range_apply(reply->request, reply->response, err);
}

// --- the answer ---------------------------------------------------------------------------------

static bool answer(struct events_reply *reply, const struct run *run, struct err *err)
{
    const struct services *services = reply->request->services;
    struct spooled found = export_spool_find(services->spool, reply->response->etag);
    if (found.fd >= 0)
        return send_file(reply, found, err);
    if (!api_take_turn(reply->request, reply->response, err))
        return false;
    bool ok = begin(reply, run, err), by_parts = asks_for_part(reply->request);
    if (ok && !by_parts)
        ok = send_stream(reply, err);
    reply_room_end(services->room);
    if (!ok || !by_parts)
        return ok;
    uint64_t held_bytes = EVENTS_HELD_BYTES + reply->format->held_bytes + reply->comm.budget.used;
    return write_spooled(reply, held_bytes, &found, err) &&
           (found.fd >= 0 ? send_file(reply, found, err) : send_stream(reply, err));
}

bool api_get_events(struct request *request, struct response *response, struct err *err)
{
    struct run run;
    struct events_reply *reply = calloc(1, sizeof *reply);
    if (!reply)
        return err_set(err, ERR_MEMORY, "out of memory");
    *reply = (struct events_reply){.request = request,
                                   .response = response,
                                   .source = {.open = open_trace,
                                              .context = reply,
                                              .min_free_bytes = request->services->min_free_bytes}};
    bool ok =
        read_asked(reply, err) && api_find_run(request, response, request->captures[0], &run, err);
    if (ok) {
        api_locate_run(request, response, &run, "/events");
        reply->source.title = run.name;
        uint64_t form = hash_bytes(request->query_text.at, request->query_text.len) ^
                        hash_bytes(reply->format->word, strlen(reply->format->word));
        ok = response_unchanged(request, response, "%.*s.%lld-%d-events-%016llx", (int)run.id.len,
                                run.id.at, (long long)run.revision, ANALYSIS_VERSION,
                                (unsigned long long)form) ||
             answer(reply, &run, err);
    }
    if (!response->stream.next) {
        response->stream = (struct response_stream){0};
        end_reply(reply);
    }
    return ok;
}
