// SPDX-License-Identifier: Apache-2.0
// Reads from a request which runs to compare, and how.
#include "server/compare/compare_sides.h"

#include "ingest/base/hash.h"
#include "server/api/api_parts.h"
#include "server/store/store_tracking.h"

const char *const compare_sides_parameters[] = {
    "base", "cand", "only", "per", "rank", "alpha", "relevant_share", "relevant_ns", NULL};

// --- keys ---------------------------------------------------------------------------------------

static int shown_len(struct str text)
{
    return (int)(text.len < 100 ? text.len : 100);
}

static bool has_run(const struct compared_side *side, struct str id)
{
    for (size_t i = 0; i < side->count; i++)
        if (str_equal(side->runs[i].id, id))
            return true;
    return false;
}

static size_t count_runs(const struct compared *compared)
{
    size_t count = 0;
    for (size_t i = 0; i < compared->side_count; i++)
        count += compared->sides[i].count;
    return count;
}

// Adds a run to the current side, the last one. The same run twice would count one measurement as
// two.
static bool add_run(struct compared *compared, const struct run *run, struct err *err)
{
    struct compared_side *side = &compared->sides[compared->side_count - 1];
    if (has_run(side, run->id))
        return err_set(err, ERR_USAGE, "found run '%.*s' twice on one side, expected repeats",
                       shown_len(run->name), run->name.at);
    if (count_runs(compared) == COMPARE_MAX_RUNS)
        return err_set(err, ERR_USAGE, "found more than %d runs to compare", COMPARE_MAX_RUNS);
    side->runs[side->count++] = *run;
    return true;
}

// "project/series" or "series".
static struct run_query series_query(struct str key)
{
    struct run_query query = {.limit = COMPARE_SERIES_RUNS, .series = key};
    size_t slash = str_find(key, STR("/"));
    if (slash != SIZE_MAX) {
        query.project = (struct str){key.at, slash};
        query.series = (struct str){key.at + slash + 1, key.len - slash - 1};
    }
    return query;
}

// Runs that cannot yield results are not measurements; those in progress will yield some.
static bool is_measurement(const struct run *run)
{
    return run->status != RUN_EMPTY && run->status != RUN_FAILED;
}

// Adds the runs of NAME@*, oldest first.
static bool add_series(struct request *request, struct response *response, struct str key,
                       struct compared *compared, struct err *err)
{
    struct run_query query = series_query(key);
    struct run_list list;
    size_t before = count_runs(compared);
    if (query.series.len == 0)
        return err_set(err, ERR_USAGE, "found '%.*s@*', expected the name of a series before @*",
                       shown_len(key), key.at);
    if (!store_list_runs(request->services->intake->store, &query, request->arena, &list, err))
        return false;
    for (size_t i = list.count; i-- > 0;) {
        if (!str_equal(list.runs[i].project, list.runs[0].project))
            return err_set(err, ERR_CONFLICT,
                           "several projects have a series '%.*s': use project/series@*",
                           shown_len(key), key.at);
        if (is_measurement(&list.runs[i]) && !add_run(compared, &list.runs[i], err))
            return false;
    }
    if (count_runs(compared) > before)
        return true;
    response->fix = STR("GET /api/v1/runs lists the runs");
    return err_set(err, ERR_NOT_FOUND, "no run of series '%.*s'", shown_len(key), key.at);
}

static bool add_key(struct request *request, struct response *response, struct str key,
                    struct compared *compared, struct err *err)
{
    struct run run;
    if (str_ends_with(key, STR("@*")))
        return add_series(request, response, (struct str){key.at, key.len - 2}, compared, err);
    return api_find_run(request, response, key, &run, err) && add_run(compared, &run, err);
}

// Whether the whole value, including a comma, is a run's name.
static bool is_one_name(struct request *request, struct str value)
{
    struct err ignored;
    struct run run;
    return str_find(value, STR(",")) != SIZE_MAX &&
           store_find_run(request->services->intake->store, value, request->arena, &run, &ignored);
}

static bool add_keys(struct request *request, struct response *response, struct str value,
                     struct compared *compared, struct err *err)
{
    if (is_one_name(request, value))
        return add_key(request, response, value, compared, err);
    for (bool more = true; more;) {
        size_t end = str_find(value, STR(","));
        more = end != SIZE_MAX;
        struct str key = {value.at, more ? end : value.len};
        value = more ? (struct str){value.at + end + 1, value.len - end - 1} : STR("");
        if (!add_key(request, response, key, compared, err))
            return false;
    }
    return true;
}

// Starts a side and reads its runs.
static bool add_side(struct request *request, struct response *response, const char *name,
                     struct str value, struct compared *compared, struct err *err)
{
    struct compared_side *side = &compared->sides[compared->side_count];
    side->runs = arena_array(request->arena, COMPARE_MAX_RUNS, sizeof *side->runs, err);
    if (!side->runs)
        return false;
    compared->side_count++;
    return add_keys(request, response, value, compared, err) || err_wrap(err, "%s", name);
}

// One for each parameter of that name.
static bool add_sides(struct request *request, struct response *response, const char *name,
                      struct compared *compared, struct err *err)
{
    size_t most = 1 + COMPARE_MAX_CANDIDATES, first = compared->side_count;
    for (size_t i = 0; i < request->query.count; i++) {
        const struct query_param *param = &request->query.params[i];
        if (!str_equal(param->name, str_of(name)) || !param->value.len)
            continue;
        if (compared->side_count == most)
            return err_set(err, ERR_USAGE, "found more than %zu %s", most - first,
                           first ? "candidates" : "sides");
        if (!add_side(request, response, name, param->value, compared, err))
            return false;
    }
    return true;
}

static bool refuse_missing(const char *name, struct err *err)
{
    return err_set(err, ERR_USAGE, "found no %s=RUN, expected base=RUN and cand=RUN", name);
}

// The base is a single side: one of two would be ignored.
static bool is_given_once(const struct query *query, struct str name)
{
    size_t count = 0;
    for (size_t i = 0; i < query->count; i++)
        count += str_equal(query->params[i].name, name);
    return count <= 1;
}

static bool is_on_sides_from(const struct compared *compared, size_t first, struct str id)
{
    for (size_t i = first; i < compared->side_count; i++)
        if (has_run(&compared->sides[i], id))
            return true;
    return false;
}

// All runs of a series against one of them: the base is the others, as one measurement on both
// sides would hide a difference.
static void leave_candidates_out(struct compared *compared)
{
    struct compared_side *base = &compared->sides[0];
    size_t kept = 0;
    for (size_t i = 0; i < base->count; i++)
        kept += !is_on_sides_from(compared, 1, base->runs[i].id);
    if (kept == 0)
        return;
    kept = 0;
    for (size_t i = 0; i < base->count; i++)
        if (!is_on_sides_from(compared, 1, base->runs[i].id))
            base->runs[kept++] = base->runs[i];
    base->count = kept;
}

static bool find_runs(struct request *request, struct response *response, struct compared *compared,
                      struct err *err)
{
    struct str base = query_get(&request->query, "base");
    if (!base.len)
        return refuse_missing("base", err);
    if (!is_given_once(&request->query, STR("base")))
        return err_set(err, ERR_USAGE,
                       "found more than one base, expected repeats of it joined by commas");
    if (!add_side(request, response, "base", base, compared, err) ||
        !add_sides(request, response, "cand", compared, err))
        return false;
    if (str_find(base, STR("@*")) != SIZE_MAX)
        leave_candidates_out(compared);
    return compared->side_count > 1 || refuse_missing("cand", err);
}

// --- choices ------------------------------------------------------------------------------------

// *second: the second of two words was given; the first is the default.
static bool read_word(const struct query *query, const char *name, const char *const words[2],
                      bool *second, struct err *err)
{
    struct str word = query_get(query, name);
    *second = word.at && str_equal(word, str_of(words[1]));
    return !word.at || *second || str_equal(word, str_of(words[0])) ||
           err_set(err, ERR_USAGE, "found %s=%.*s, expected %s or %s", name, shown_len(word),
                   word.at, words[0], words[1]);
}

static bool read_limits(const struct query *query, struct verdict_limits *limits, struct err *err)
{
    struct verdict_limits usual = verdict_default_limits();
    return query_get_number(query, (struct query_number){"alpha", usual.alpha, 0, 0.5},
                            &limits->alpha, err) &&
           query_get_number(query,
                            (struct query_number){"relevant_share", usual.relevant_share, 0, 1},
                            &limits->relevant_share, err) &&
           query_get_number(query, (struct query_number){"relevant_ns", usual.relevant_ns, 0, 1e12},
                            &limits->relevant_ns, err) &&
           verdict_check_limits(limits, err);
}

static bool read_options(const struct query *query, struct compare_options *options,
                         struct err *err)
{
    static const char *const per[2] = {"step", "token"}, *const rank[2] = {"headline", "slowest"};
    return read_word(query, "per", per, &options->per_token, err) &&
           read_word(query, "rank", rank, &options->slowest, err) &&
           read_limits(query, &options->limits, err);
}

// --- history ------------------------------------------------------------------------------------

static const struct run *earliest(const struct compared_side *side)
{
    const struct run *first = &side->runs[0];
    for (size_t i = 1; i < side->count; i++)
        if (side->runs[i].created_ns < first->created_ns)
            first = &side->runs[i];
    return first;
}

// Whether an earlier run's measurement shows the noise of this one: on the same device, with as
// many ranks.
static bool is_history(const struct run *earlier, const struct run *run)
{
    bool same_gpu = earlier->gpu.null == run->gpu.null &&
                    (run->gpu.null || str_equal(earlier->gpu.s, run->gpu.s));
    return !earlier->step_median_ns.null && same_gpu && earlier->received == run->received;
}

// What the series of the base's first run measured before it. Runs store the figure of their
// headline rank only.
static bool find_history(struct request *request, struct compared *compared, struct err *err)
{
    const struct run *first = earliest(&compared->sides[0]);
    struct run_query query = {.project = first->project,
                              .series = first->series,
                              .before_ns = first->created_ns,
                              .limit = COMPARE_SERIES_RUNS};
    struct run_list list;
    if (compared->options.slowest)
        return true;
    if (!store_list_runs(request->services->intake->store, &query, request->arena, &list, err))
        return false;
    compared->history = arena_array(request->arena, list.count + 1, sizeof *compared->history, err);
    for (size_t i = list.count; compared->history && i-- > 0;)
        if (is_history(&list.runs[i], first) && !is_on_sides_from(compared, 0, list.runs[i].id))
            compared->history[compared->history_count++] = list.runs[i].step_median_ns.i;
    return compared->history != NULL;
}

// Two single runs of one series are judged like its alerts.
static bool find_series(struct request *request, struct compared *compared, struct err *err)
{
    const struct run *base = &compared->sides[0].runs[0];
    bool is_alone = compared->sides[0].count == 1;
    const struct series_key key = {base->project, base->series};
    for (size_t i = 1; is_alone && i < compared->side_count; i++) {
        const struct run *cand = &compared->sides[i].runs[0];
        if (compared->sides[i].count == 1 && str_equal(base->project, cand->project) &&
            str_equal(base->series, cand->series) &&
            !store_judge_pair(request->services->intake->store, &key,
                              (const struct str[]){base->id, cand->id}, request->arena,
                              &compared->series[i], err))
            return false;
    }
    return true;
}

// --- all together -------------------------------------------------------------------------------

bool compare_sides_find(struct request *request, struct response *response,
                        struct compared *compared, struct err *err)
{
    *compared = (struct compared){0};
    return read_options(&request->query, &compared->options, err) &&
           find_runs(request, response, compared, err) && find_history(request, compared, err) &&
           (compared->options.slowest || compared->options.per_token ||
            find_series(request, compared, err));
}

bool compare_sides_read(struct request *request, struct response *response, const char *name,
                        struct compared *compared, struct err *err)
{
    *compared = (struct compared){.options.limits = verdict_default_limits()};
    return add_sides(request, response, name, compared, err) &&
           (compared->side_count > 0 ||
            err_set(err, ERR_USAGE, "found no %s=RUN, expected at least one", name));
}

bool compare_sides_judge(struct request *request, struct compared *compared, struct err *err)
{
    return find_history(request, compared, err) && find_series(request, compared, err);
}

static bool all_have_traces(const struct compared *compared)
{
    for (size_t side = 0; side < compared->side_count; side++)
        for (size_t i = 0; i < compared->sides[side].count; i++)
            if (compared->sides[side].runs[i].received == 0)
                return false;
    return true;
}

bool compare_sides_lack_traces(struct request *request)
{
    struct compared compared = {0};
    struct response ignored;
    struct err err;
    if (!query_get(&request->query, "base").len || !query_get(&request->query, "cand").len)
        return false;
    response_init(&ignored);
    bool lack = !find_runs(request, &ignored, &compared, &err) || !all_have_traces(&compared);
    response_free(&ignored);
    return lack;
}

static uint64_t add_hash(uint64_t hash, struct str text)
{
    return hash_u64(hash ^ hash_bytes(text.at, text.len));
}

static uint64_t add_evidence(uint64_t hash, const struct series_evidence *evidence)
{
    const double figures[2] = {evidence->p_value, evidence->fence_share};
    hash = hash_u64(hash ^ (uint64_t)evidence->known << 1 ^ (uint64_t)evidence->changed);
    return add_hash(hash, (struct str){(const char *)figures, sizeof figures});
}

uint64_t compare_sides_hash(const struct request *request, const struct compared *compared)
{
    uint64_t hash = add_hash(compared->side_count, request->query_text);
    for (size_t side = 0; side < compared->side_count; side++)
        for (size_t i = 0; i < compared->sides[side].count; i++) {
            const struct run *run = &compared->sides[side].runs[i];
            hash = add_hash(hash_u64(hash ^ side) + (uint64_t)run->revision, run->id);
        }
    for (size_t i = 0; i < compared->history_count; i++)
        hash = hash_u64(hash ^ (uint64_t)compared->history[i]);
    for (size_t i = 1; i < compared->side_count; i++)
        hash = add_evidence(hash, &compared->series[i]);
    return hash;
}
