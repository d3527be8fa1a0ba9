// SPDX-License-Identifier: Apache-2.0
// One event of a rank: what was recorded about it, and what it is linked with.
#include "server/api/api.h"

#include "ingest/base/hash.h"
#include "server/api/event_args.h"
#include "server/api/event_links.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

struct asked {
    int64_t rank, lane, begin_ns, dur_ns; // begin_ns since the trace's first event
};

// An answer being written.
struct answer {
    const struct trace_file *file;
    struct trace_texts texts;
    struct buf *out;
};

static bool read_asked(const struct request *request, struct asked *asked, struct err *err)
{
    static const char *const known[] = {"rank", "lane", "begin_ns", "dur_ns", NULL};
    const struct query *query = &request->query;
    if (!query_allow(query, known, err) ||
        !query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asked->rank, err) ||
        !query_get_int(query, (struct query_int){"lane", -1, 0, INT32_MAX}, &asked->lane, err) ||
        !query_get_int(query, (struct query_int){"begin_ns", -1, 0, TRACE_MAX_NS}, &asked->begin_ns,
                       err) ||
        !query_get_int(query, (struct query_int){"dur_ns", -1, 0, TRACE_MAX_NS}, &asked->dur_ns,
                       err))
        return false;
    return (asked->lane >= 0 && asked->begin_ns >= 0) ||
           err_set(err, ERR_USAGE, "found no %s, expected lane and begin_ns of an event",
                   asked->lane < 0 ? "lane" : "begin_ns");
}

// --- JSON ---------------------------------------------------------------------------------------

static bool put_event(struct answer *answer, const struct placed_event *at, struct err *err)
{
    struct buf *out = answer->out;
    struct str name;
    if (!trace_texts_get(&answer->texts, at->event.name, &name, err))
        return false;
    buf_printf(out, "{\"begin_ns\":%lld,\"dur_ns\":%lld,\"lane\":%zu,\"row\":",
               (long long)(at->event.begin_ns - trace_file_header(answer->file)->begin_ns),
               (long long)(at->event.end_ns - at->event.begin_ns), at->lane);
    if (at->row == EVENT_ROW_NONE)
        buf_puts(out, "null");
    else
        buf_i64(out, at->row);
    buf_printf(out, ",\"kind\":\"%s\",\"name\":", event_kind_word(at->event.kind));
    buf_json(out, name);
    buf_putc(out, '}');
    return true;
}

// An event, or null.
static bool put_maybe(struct answer *answer, const char *name, const struct placed_event *at,
                      struct err *err)
{
    buf_printf(answer->out, ",\"%s\":", name);
    if (at)
        return put_event(answer, at, err);
    buf_puts(answer->out, "null");
    return true;
}

static bool put_stack(struct answer *answer, const struct event_links *links, struct err *err)
{
    buf_puts(answer->out, ",\"stack\":[");
    for (unsigned i = 0; i < links->stack_count; i++) {
        if (i)
            buf_putc(answer->out, ',');
        if (!put_event(answer, &links->stack[i], err))
            return false;
    }
    buf_putc(answer->out, ']');
    return true;
}

static bool put_work(struct answer *answer, const struct launched_work *work, struct err *err)
{
    struct buf *out = answer->out;
    if (!work->count) {
        buf_puts(out, ",\"launched\":null");
        return true;
    }
    int64_t zero_ns = trace_file_header(answer->file)->begin_ns;
    buf_printf(out,
               ",\"launched\":{\"count\":%llu,\"busy_ns\":%lld,\"begin_ns\":%lld,\"end_ns\":%lld",
               (unsigned long long)work->count, (long long)work->busy_ns,
               (long long)(work->begin_ns - zero_ns), (long long)(work->end_ns - zero_ns));
    buf_printf(out, ",\"complete\":%s", work->complete ? "true" : "false");
    bool ok = put_maybe(answer, "first", &work->first, err);
    buf_putc(out, '}');
    return ok;
}

static bool put_wait(struct answer *answer, const struct event_links *links, struct err *err)
{
    static const char *const reasons[] = {
        [WAIT_STREAM] = "stream", [WAIT_OTHER_STREAM] = "other_stream", [WAIT_DEVICE] = "device"};
    if (links->wait == WAIT_NONE) {
        buf_puts(answer->out, ",\"waited\":null");
        return true;
    }
    buf_printf(answer->out, ",\"waited\":{\"reason\":\"%s\"", reasons[links->wait]);
    bool ok = put_maybe(answer, "for", &links->waited_for, err);
    buf_putc(answer->out, '}');
    return ok;
}

static bool put_all(struct answer *answer, int64_t rank, const struct event_links *links,
                    struct err *err)
{
    buf_printf(answer->out, "{\"rank\":%lld", (long long)rank);
    if (!put_maybe(answer, "event", &links->event, err))
        return false;
    buf_puts(answer->out, ",\"args\":");
    if (!event_args_json(answer->file, links, answer->out, err) ||
        !put_maybe(answer, "launch", links->has_launch ? &links->launch : NULL, err) ||
        !put_stack(answer, links, err) || !put_work(answer, &links->work, err) ||
        !put_wait(answer, links, err))
        return false;
    buf_putc(answer->out, '}');
    return buf_ok(answer->out, err);
}

// --- the request --------------------------------------------------------------------------------

static bool answer_from(const struct trace_file *file, const struct asked *asked, struct buf *out,
                        struct err *err)
{
    struct event_links links;
    struct event_place place = {(size_t)asked->lane,
                                trace_file_header(file)->begin_ns + asked->begin_ns, asked->dur_ns};
    bool found;
    if (!event_links_read(file, &place, &links, &found, err))
        return false;
    if (!found)
        return err_set(err, ERR_NOT_FOUND, "found no event of rank %lld on track %lld at %lld ns",
                       (long long)asked->rank, (long long)asked->lane, (long long)asked->begin_ns);
    struct answer answer = {file, trace_texts_of(file), out};
    bool ok = put_all(&answer, asked->rank, &links, err);
    trace_texts_close(&answer.texts);
    return ok;
}

static bool answer_in_turn(struct request *request, struct response *response,
                           const struct asked *asked, const struct trace_row *trace,
                           struct err *err)
{
    struct trace_file *file = api_open_trace(request, response, trace, err);
    bool ok = file && answer_from(file, asked, &response->body, err);
    trace_file_close(file);
    return ok;
}

bool api_get_event(struct request *request, struct response *response, struct err *err)
{
    struct asked asked;
    struct run run;
    struct trace_row trace;
    if (!read_asked(request, &asked, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        (asked.rank < 0 && !api_headline_rank(request, &run, &asked.rank, err)) ||
        !store_find_rank(request->services->intake->store, run.id, asked.rank, request->arena,
                         &trace, err))
        return false;
    api_locate_run(request, response, &run, "/event");
    if (api_run_unchanged(request, response, &run, "event", 0))
        return true;
    response->type = "application/json";
    if (!api_take_turn(request, response, err))
        return false;
    bool ok = answer_in_turn(request, response, &asked, &trace, err);
    reply_room_end(request->services->room);
    return ok;
}
