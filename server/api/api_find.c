// SPDX-License-Identifier: Apache-2.0
// The next or previous event of a rank whose name has a text.
#include "server/api/api.h"

#include "ingest/base/hash.h"
#include "ingest/trace/trace_blocks.h"
#include "server/api/name_find.h"
#include "server/http/reply_room.h"
#include "server/store/store.h"

#define MOST_TEXT 200

struct asked {
    int64_t rank, at_ns, at_lane; // at_ns since the trace's first event; -1: before all
    struct name_find find;
};

// Part of a name as q, or all of it as name.
static bool read_text(struct request *request, struct name_find *find, struct err *err)
{
    struct str q = query_get(&request->query, "q"), name = query_get(&request->query, "name");
    find->exact = name.len;
    find->text = name;
    if (name.len && !q.len)
        return true;
    if (!q.len || q.len > MOST_TEXT)
        return err_set(err, ERR_USAGE, "found q of %zu bytes, expected 1 to %d, or name", q.len,
                       MOST_TEXT);
    find->exact = false;
    char *lower = arena_room(request->arena, q.len, 1, err);
    for (size_t i = 0; lower && i < q.len; i++)
        lower[i] = q.at[i] >= 'A' && q.at[i] <= 'Z' ? (char)(q.at[i] + 32) : q.at[i];
    find->text = (struct str){lower, q.len};
    return lower != NULL;
}

static bool read_asked(struct request *request, struct asked *asked, struct err *err)
{
    static const char *const known[] = {"rank",    "q",   "name",  "at_ns",
                                        "at_lane", "dir", "lanes", NULL};
    const struct query *query = &request->query;
    struct str dir = query_get(query, "dir");
    asked->find.backward = str_equal(dir, STR("previous"));
    if (!query_allow(query, known, err) || !read_text(request, &asked->find, err) ||
        !query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asked->rank, err) ||
        !query_get_int(query, (struct query_int){"at_ns", -1, -1, TRACE_MAX_NS}, &asked->at_ns,
                       err) ||
        !query_get_int(query, (struct query_int){"at_lane", 0, 0, INT32_MAX}, &asked->at_lane,
                       err) ||
        !api_read_lanes(request, &asked->find.device_only, err))
        return false;
    return !dir.at || asked->find.backward || str_equal(dir, STR("next")) ||
           err_set(err, ERR_USAGE, "found dir=%.*s, expected next or previous",
                   (int)(dir.len < 20 ? dir.len : 20), dir.at);
}

static bool put_found(const struct trace_file *file, const struct asked *asked,
                      const struct name_found *found, struct buf *out, struct err *err)
{
    struct trace_texts texts = trace_texts_of(file);
    struct str name = STR("");
    bool ok = true;
    buf_printf(out, "{\"rank\":%lld,\"count\":%llu,\"found\":", (long long)asked->rank,
               (unsigned long long)found->count);
    if (found->count) {
        ok = trace_texts_get(&texts, found->event.name, &name, err);
        buf_printf(out,
                   "{\"index\":%llu,\"begin_ns\":%lld,\"dur_ns\":%lld,\"lane\":%llu,"
                   "\"kind\":\"%s\",\"name\":",
                   (unsigned long long)found->index,
                   (long long)(found->event.begin_ns - trace_file_header(file)->begin_ns),
                   (long long)(found->event.end_ns - found->event.begin_ns),
                   (unsigned long long)found->lane, event_kind_word(found->event.kind));
        buf_json(out, name);
        buf_putc(out, '}');
    } else {
        buf_puts(out, "null");
    }
    buf_putc(out, '}');
    trace_texts_close(&texts);
    return ok && buf_ok(out, err);
}

static bool answer_in_turn(struct request *request, struct response *response, struct asked *asked,
                           const struct trace_row *trace, struct err *err)
{
    struct name_found found;
    struct trace_file *file = api_open_trace(request, response, trace, err);
    if (!file)
        return false;
    asked->find.from = (struct find_key){
        asked->at_ns < 0 ? INT64_MIN : trace_file_header(file)->begin_ns + asked->at_ns,
        (uint64_t)asked->at_lane};
    bool ok = name_find(file, &asked->find, &found, err) &&
              put_found(file, asked, &found, &response->body, err);
    trace_file_close(file);
    return ok;
}

bool api_find_event(struct request *request, struct response *response, struct err *err)
{
    struct asked asked = {0};
    struct run run;
    struct trace_row trace;
    if (!read_asked(request, &asked, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        (asked.rank < 0 && !api_headline_rank(request, &run, &asked.rank, err)) ||
        !store_find_rank(request->services->intake->store, run.id, asked.rank, request->arena,
                         &trace, err))
        return false;
    api_locate_run(request, response, &run, "/find");
    if (api_run_unchanged(request, response, &run, "find", 0))
        return true;
    response->type = "application/json";
    if (!api_take_turn(request, response, err))
        return false;
    bool ok = answer_in_turn(request, response, &asked, &trace, err);
    reply_room_end(request->services->room);
    return ok;
}
