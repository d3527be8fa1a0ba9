// SPDX-License-Identifier: Apache-2.0
// A window of all ranks of a run, ranks or groups of them as lanes.
#include "server/api/api.h"

#include "ingest/base/hash.h"
#include "ingest/base/log.h"
#include "ingest/trace/overview.h"
#include "server/http/reply_room.h"
#include "server/http/route.h"

#include <stdio.h>

// The request; times are relative to the first event of rank.
struct asked {
    int64_t rank, from_ns, to_ns, px, lanes, first, last; // to_ns -1: to the end
};

struct drawing {
    const struct overview *overview;
    struct asked asked;
    int64_t zero_ns; // the first event of rank, by the common clock
    struct overview_window window;
};

static const char *const figure_names[] = {
    [OVERVIEW_COMPUTE] = "compute",
    [OVERVIEW_COMMUNICATION] = "communication",
    [OVERVIEW_COPY] = "copy",
    [OVERVIEW_IDLE] = "idle",
    [OVERVIEW_COMPUTE_LEAST] = "compute_least",
    [OVERVIEW_COMPUTE_MOST] = "compute_most",
    [OVERVIEW_COMMUNICATION_LEAST] = "communication_least",
    [OVERVIEW_COMMUNICATION_MOST] = "communication_most",
    [OVERVIEW_IDLE_LEAST] = "idle_least",
    [OVERVIEW_IDLE_MOST] = "idle_most",
};

// --- JSON ---------------------------------------------------------------------------------------

static bool is_known(const struct overview_lane *lane, uint32_t piece)
{
    return lane->share[OVERVIEW_COMPUTE][piece] + lane->share[OVERVIEW_COMMUNICATION][piece] <=
           (int)OVERVIEW_WHOLE;
}

static void put_shares(const struct drawing *drawing, const struct overview_lane *lane,
                       enum overview_figure figure, struct buf *out)
{
    buf_printf(out, ",\"%s\":[", figure_names[figure]);
    for (uint32_t i = 0; i < drawing->window.piece_count; i++) {
        if (i > 0)
            buf_putc(out, ',');
        if (is_known(lane, i))
            buf_i64(out, lane->share[figure][i]);
        else
            buf_puts(out, "null");
    }
    buf_putc(out, ']');
}

static void put_ranks(const struct drawing *drawing, const struct overview_lane *lane,
                      const char *name, const uint32_t *indices, struct buf *out)
{
    const struct overview_rank *ranks = overview_ranks(drawing->overview) + lane->first_rank;
    buf_printf(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < drawing->window.piece_count; i++) {
        if (i > 0)
            buf_putc(out, ',');
        if (indices[i] == OVERVIEW_NOBODY)
            buf_puts(out, "null");
        else
            buf_i64(out, ranks[indices[i]].rank);
    }
    buf_putc(out, ']');
}

static void put_lane(const struct drawing *drawing, const struct overview_lane *lane,
                     struct buf *out)
{
    const struct overview_rank *ranks = overview_ranks(drawing->overview) + lane->first_rank;
    buf_printf(out, "{\"first_rank\":%lld,\"last_rank\":%lld,\"ranks\":%u",
               (long long)ranks[0].rank, (long long)ranks[lane->rank_count - 1].rank,
               lane->rank_count);
    for (uint32_t figure = 0; figure < OVERVIEW_FIGURES; figure++)
        if (lane->share[figure])
            put_shares(drawing, lane, (enum overview_figure)figure, out);
    if (lane->idlest) {
        put_ranks(drawing, lane, "idlest", lane->idlest, out);
        put_ranks(drawing, lane, "slowest", lane->slowest, out);
    }
    buf_putc(out, '}');
}

static void put_extent(const struct drawing *drawing, struct buf *out)
{
    const struct overview_header *header = overview_header(drawing->overview);
    const struct overview_rank *ranks = overview_ranks(drawing->overview);
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    uint64_t events = 0;
    for (uint32_t i = 0; i < header->rank_count; i++) {
        if (ranks[i].events == 0)
            continue;
        begin_ns = ranks[i].begin_ns < begin_ns ? ranks[i].begin_ns : begin_ns;
        end_ns = ranks[i].end_ns > end_ns ? ranks[i].end_ns : end_ns;
        events += ranks[i].events;
    }
    buf_printf(out, "\"begin_ns\":%lld,\"end_ns\":%lld,\"ranks\":%u,\"events\":%llu",
               (long long)(begin_ns - drawing->zero_ns), (long long)(end_ns - drawing->zero_ns),
               header->rank_count, (unsigned long long)events);
}

static void put_reply(const struct drawing *drawing, struct buf *out)
{
    const struct overview_window *window = &drawing->window;
    buf_printf(out, "{\"rank\":%lld,", (long long)drawing->asked.rank);
    put_extent(drawing, out);
    buf_printf(
        out,
        ",\"first_ns\":%lld,\"piece_ns\":%lld,\"pieces\":%u,\"whole\":%u,\"ranks_a_lane\":%u,"
        "\"lanes\":[",
        (long long)(window->begin_ns - drawing->zero_ns), (long long)window->piece_ns,
        window->piece_count, OVERVIEW_WHOLE, 1u << window->fan * OVERVIEW_FAN_BITS);
    for (uint32_t i = 0; i < window->lane_count; i++) {
        if (i > 0)
            buf_putc(out, ',');
        put_lane(drawing, &window->lanes[i], out);
    }
    buf_puts(out, "]}\n");
}

// --- the window ---------------------------------------------------------------------------------

// The index of the first rank that is at least this one; the count if there is none.
static uint32_t index_of(const struct overview *overview, int64_t rank)
{
    const struct overview_rank *ranks = overview_ranks(overview);
    uint32_t low = 0, high = overview_header(overview)->rank_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ranks[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool read_window(struct drawing *drawing, struct arena *arena, struct err *err)
{
    const struct overview *overview = drawing->overview;
    const struct asked *asked = &drawing->asked;
    uint32_t base = index_of(overview, asked->rank), first = index_of(overview, asked->first),
             end = index_of(overview, asked->last + 1);
    if (base == overview_header(overview)->rank_count ||
        overview_ranks(overview)[base].rank != asked->rank ||
        overview_ranks(overview)[base].events == 0)
        return err_set(err, ERR_NOT_FOUND, "found no analyzed trace of rank %lld",
                       (long long)asked->rank);
    if (first >= end)
        return err_set(err, ERR_NOT_FOUND, "found no analyzed trace of ranks %lld to %lld",
                       (long long)asked->first, (long long)asked->last);
    drawing->zero_ns = overview_ranks(overview)[base].begin_ns;
    struct overview_query query = {.from_ns = drawing->zero_ns + asked->from_ns,
                                   .to_ns = asked->to_ns < 0 ? INT64_MAX
                                                             : drawing->zero_ns + asked->to_ns,
                                   .px = (uint32_t)asked->px,
                                   .first_rank = first,
                                   .rank_count = end - first,
                                   .lanes = (uint32_t)asked->lanes};
    if (asked->from_ns < 0)
        query.from_ns = INT64_MIN;
    return overview_read(overview, &query, arena, &drawing->window, err);
}

static struct overview *open_overview(const struct request *request, struct response *response,
                                      const struct run *run, struct err *err)
{
    int fd;
    uint64_t bytes;
    char id[STORE_ID_SIZE];
    snprintf(id, sizeof id, "%.*s", (int)run->id.len, run->id.at);
    struct overview *overview = NULL;
    if (blob_open_trace(request->services->intake->blobs, id, &fd, &bytes, err))
        overview = overview_open_fd(fd, err);
    if (overview ||
        (err->code != ERR_NOT_FOUND && err->code != ERR_UNSUPPORTED && err->code != ERR_FORMAT))
        return overview;
    if (err->code == ERR_FORMAT)
        log_warn("run %s: %s", id, err->msg);
    response->fix = STR("runs of two or more ranks get one when their ranks are joined; analyze "
                        "an older run again: POST /api/v1/runs/{run}/reanalyze");
    err_set(err, ERR_NOT_FOUND, "found no overview of the run's ranks");
    return NULL;
}

static bool draw(struct request *request, struct response *response, const struct run *run,
                 struct drawing *drawing, struct err *err)
{
    struct overview *overview = open_overview(request, response, run, err);
    drawing->overview = overview;
    bool ok = overview && read_window(drawing, request->arena, err);
    if (ok)
        put_reply(drawing, &response->body);
    overview_close(overview);
    return ok && buf_ok(&response->body, err);
}

// --- the request --------------------------------------------------------------------------------

// "0-63" or "7"; without it all.
static bool read_ranks(const struct query *query, struct asked *asked, struct err *err)
{
    struct str text = query_get(query, "ranks");
    size_t dash = str_find(text, STR("-"));
    bool is_one = dash == SIZE_MAX;
    asked->first = 0;
    asked->last = INT32_MAX;
    if (!text.at)
        return true;
    struct str first = {text.at, is_one ? text.len : dash};
    struct str last = is_one ? first : (struct str){text.at + dash + 1, text.len - dash - 1};
    return (str_to_i64(first, &asked->first) && str_to_i64(last, &asked->last) &&
            asked->first >= 0 && asked->last >= asked->first && asked->last <= INT32_MAX) ||
           err_set(err, ERR_USAGE, "found ranks=%.*s, expected a range like 0-63",
                   (int)(text.len < 40 ? text.len : 40), text.at);
}

static bool read_asked(const struct query *query, struct asked *asked, struct err *err)
{
    static const char *const known[] = {"rank", "from_ns", "to_ns", "px", "lanes", "ranks", NULL};
    if (!query_allow(query, known, err) || !read_ranks(query, asked, err) ||
        !query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asked->rank, err) ||
        !query_get_int(query, (struct query_int){"from_ns", -1, 0, TRACE_MAX_NS}, &asked->from_ns,
                       err) ||
        !query_get_int(query, (struct query_int){"to_ns", -1, 1, TRACE_MAX_NS}, &asked->to_ns,
                       err) ||
        !query_get_int(query, (struct query_int){"px", 600, OVERVIEW_MIN_PX, OVERVIEW_MAX_PX},
                       &asked->px, err) ||
        !query_get_int(query, (struct query_int){"lanes", 16, 1, OVERVIEW_MAX_LANES}, &asked->lanes,
                       err))
        return false;
    return asked->to_ns < 0 || asked->from_ns < asked->to_ns ||
           err_set(err, ERR_USAGE, "found from_ns=%lld, expected less than to_ns=%lld",
                   (long long)asked->from_ns, (long long)asked->to_ns);
}

bool api_get_timeline_ranks(struct request *request, struct response *response, struct err *err)
{
    struct drawing drawing = {0};
    struct asked *asked = &drawing.asked;
    struct run run;
    if (!read_asked(&request->query, asked, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        (asked->rank < 0 && !api_headline_rank(request, &run, &asked->rank, err)))
        return false;
    api_locate_run(request, response, &run, "/timeline/ranks");
    if (api_run_unchanged(request, response, &run, "ranks", 0))
        return true;
    response->type = "application/json";
    if (!api_take_turn(request, response, err))
        return false;
    bool ok = draw(request, response, &run, &drawing, err);
    reply_room_end(request->services->room);
    return ok;
}
