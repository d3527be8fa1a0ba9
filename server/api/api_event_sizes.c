// SPDX-License-Identifier: Apache-2.0
// How large a run's events become in each format, before someone fetches them.
#include "server/api/api.h"
#include "server/api/event_request.h"

#include "ingest/base/hash.h"
#include "server/exports/event_size.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

// Formats of whole runs have no window.
static bool suits(const struct event_export *format, const struct event_source *source)
{
    return !format->whole_run ||
           (source->from_ns == 0 && source->to_ns < 0 && !source->device_only);
}

static bool sizes_json(const struct event_request *asked, struct buf *out, struct err *err)
{
    struct event_sample sample;
    const char *comma = "";
    bool is_whole = asked->source.count > 1 || asked->known == 1; // with waits
    if (!event_sample_choose(&sample, &asked->source, err))
        return false;
    buf_printf(out, "{\"events\":%llu,\"formats\":[",
               (unsigned long long)(sample.is_all ? sample.events : sample.expected));
    for (size_t i = 0; event_exports[i]; i++) {
        struct event_size size;
        if (!suits(event_exports[i], &asked->source))
            continue;
        if (!event_sample_size(&sample, event_exports[i], &size, err))
            return false;
        buf_printf(out, "%s{\"format\":\"%s\",\"bytes\":%llu,\"exact\":%s}", comma,
                   event_exports[i]->word, (unsigned long long)size.bytes,
                   size.is_exact && is_whole ? "true" : "false");
        comma = ",";
    }
    buf_puts(out, "]}\n");
    return buf_ok(out, err);
}

// Ranks without an analyzed trace have no exports yet, which is a valid answer.
static bool put_sizes(struct event_request *asked, const struct run *run, struct err *err)
{
    struct buf *out = &asked->response->body;
    if (event_request_ranks(asked, run, false, err))
        return sizes_json(asked, out, err);
    if (err->code != ERR_NOT_FOUND)
        return false;
    *err = (struct err){.pos = ERR_NO_POS};
    buf_puts(out, "{\"events\":0,\"formats\":[]}\n");
    return buf_ok(out, err);
}

static bool write_sizes(struct event_request *asked, const struct run *run, struct err *err)
{
    asked->response->type = "application/json";
    if (!api_take_turn(asked->request, asked->response, err))
        return false;
    bool ok = put_sizes(asked, run, err);
    reply_room_end(asked->request->services->room);
    return ok;
}

bool api_get_event_sizes(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"rank", "ranks", "from_ns", "to_ns", "lanes", NULL};
    struct event_request asked;
    struct run run;
    event_request_start(&asked, request, response);
    asked.sizes_only = true;
    bool ok = query_allow(&request->query, known, err) && event_request_window(&asked, err) &&
              api_find_run(request, response, request->captures[0], &run, err);
    if (ok) {
        asked.source.title = run.name;
        ok = api_run_unchanged(request, response, &run, "event-sizes", 0) ||
             write_sizes(&asked, &run, err);
    }
    event_request_end(&asked);
    return ok;
}
