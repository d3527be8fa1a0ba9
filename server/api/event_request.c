// SPDX-License-Identifier: Apache-2.0
#include "server/api/event_request.h"

#include "server/api/api.h"
#include "server/store/store.h"

#define MOST_RANGES 64

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
    struct event_request *asked = context;
    return api_open_trace(asked->request, asked->response, &asked->traces[index], err);
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
static bool load_comm(struct event_request *asked, const struct trace_row *traces, size_t count,
                      struct err *err)
{
    struct tables_of of = {asked->request->services->intake->store, traces};
    int64_t *ranks = arena_array(asked->request->arena, count + 1, sizeof *ranks, err);
    if (!ranks)
        return false;
    for (size_t i = 0; i < count; i++)
        ranks[i] = traces[i].rank;
    struct rank_source source = {
        .ranks = ranks, .count = count, .context = &of, .load = load_tables};
    if (!event_comm_load(&asked->comm, &source, err))
        return false;
    if (asked->comm.known)
        asked->source.comm = &asked->comm.comm;
    else
        response_header(asked->response, asked->request->arena, "Stepscope-Left-Out",
                        "flows and waits of collectives, which are too many to match here");
    return true;
}

static bool choose_traces(struct event_request *asked, const struct run *run,
                          const struct rank_ranges *ranges, struct err *err)
{
    struct arena *arena = asked->request->arena;
    struct trace_row *traces;
    size_t count, chosen = 0;
    if (!store_list_traces(asked->request->services->intake->store, run->id, arena, &traces, &count,
                           err))
        return false;
    count = keep_done(traces, count);
    struct trace_row *kept = arena_array(arena, count + 1, sizeof *kept, err);
    asked->source.ranks = arena_array(arena, count + 1, sizeof *asked->source.ranks, err);
    if (!kept || !asked->source.ranks)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_asked(ranges, traces[i].rank))
            continue;
        if (traces[i].rank == ranges->shown)
            asked->source.base = chosen;
        asked->source.ranks[chosen].rank = traces[i].rank;
        kept[chosen++] = traces[i];
    }
    asked->traces = kept;
    asked->source.count = chosen;
    asked->known = count;
    if (chosen == 0)
        return err_set(err, ERR_NOT_FOUND, "found no analyzed trace of such a rank");
    return (asked->sizes_only && chosen == 1) || load_comm(asked, traces, count, err);
}

// --- both ---------------------------------------------------------------------------------------

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

bool event_request_window(struct event_request *asked, struct err *err)
{
    return api_read_lanes(asked->request, &asked->source.device_only, err) &&
           read_window(asked->request, &asked->source, err);
}

bool event_request_ranks(struct event_request *asked, const struct run *run, bool all,
                         struct err *err)
{
    struct rank_ranges ranges;
    struct query_int rank = {"rank", -1, 0, INT32_MAX};
    return query_get_int(&asked->request->query, rank, &ranges.shown, err) &&
           read_ranks(asked->request, run, all, &ranges, err) &&
           choose_traces(asked, run, &ranges, err) && event_source_measure(&asked->source, err);
}

void event_request_start(struct event_request *asked, struct request *request,
                         struct response *response)
{
    *asked =
        (struct event_request){.request = request,
                               .response = response,
                               .source = {.open = open_trace,
                                          .context = asked,
                                          .min_free_bytes = request->services->min_free_bytes}};
}

void event_request_end(struct event_request *asked)
{
    event_comm_free(&asked->comm);
}
