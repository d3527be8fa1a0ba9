// SPDX-License-Identifier: Apache-2.0
// Reads from a request which runs to compare, and how.
#include "server/compare/compare_sides.h"

#include "ingest/base/hash.h"
#include "server/api/api_parts.h"
#include "server/compare/contributors.h"
#include "server/compare/same_files.h"

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
        return err_set(err, ERR_USAGE,
                       "found run '%.*s' twice on one side, expected different runs",
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

static bool note_base_series(struct compared *compared, const struct run *run, struct arena *arena,
                             struct err *err)
{
    size_t count = compared->base_series_count;
    compared->base_series =
        arena_more(arena, compared->base_series, count, sizeof *compared->base_series, err);
    if (compared->base_series)
        compared->base_series[compared->base_series_count++] =
            (struct series_key){run->project, run->series};
    return compared->base_series;
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
    if (compared->side_count == 1 && list.count &&
        !note_base_series(compared, list.runs, request->arena, err))
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

static bool is_in_candidate(const struct compared *compared, struct str id)
{
    for (size_t i = 1; i < compared->side_count; i++)
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
        kept += !is_in_candidate(compared, base->runs[i].id);
    if (kept == 0)
        return;
    kept = 0;
    for (size_t i = 0; i < base->count; i++)
        if (!is_in_candidate(compared, base->runs[i].id))
            base->runs[kept++] = base->runs[i];
    base->count = kept;
}

// --- the base's level ---------------------------------------------------------------------------

// The ids of all candidates.
static bool list_candidates(const struct compared *compared, struct arena *arena,
                            struct level_query *query, struct err *err)
{
    struct str *ids = arena_array(arena, COMPARE_MAX_RUNS, sizeof *ids, err);
    for (size_t side = 1; ids && side < compared->side_count; side++)
        for (size_t i = 0; i < compared->sides[side].count; i++)
            ids[query->without_count++] = compared->sides[side].runs[i].id;
    query->without = ids;
    return ids;
}

// Which of a base's runs count, and why others do not.
struct level_cut {
    const struct series_key *key;
    const struct series_state *judged;
    const struct series_point *newest; // whose level it is
    struct str since;                  // the first of them
    size_t kept, earlier, unlike;
};

// Steps are compared by traces: runs without a GPU, which have only a log, come second.
static const struct series_point *newest_point(const struct series_state *judged, bool is_step)
{
    for (size_t i = judged->point_count; is_step && i-- > 0;)
        if (judged->points[i].gpu.len)
            return &judged->points[i];
    return &judged->points[judged->point_count - 1];
}

// Runs without the figure have no level: those since the newest one began are kept.
static bool is_of_level(const struct run *run, struct level_cut *cut)
{
    const struct series_point *points = cut->judged->points;
    const struct series_point *newest = cut->newest;
    for (size_t i = 0; i < cut->judged->point_count; i++) {
        if (!str_equal(points[i].run_id, run->id))
            continue;
        cut->unlike += !series_is_alike(&points[i], newest);
        cut->earlier += series_is_alike(&points[i], newest) && points[i].level != newest->level;
        return points[i].level == newest->level;
    }
    return run->created_ns >= points[newest->level].created_ns;
}

static void cut_base(struct compared_side *base, struct level_cut *cut)
{
    size_t kept = 0;
    for (size_t i = 0; i < base->count; i++) {
        const struct run run = base->runs[i];
        bool is_of_series =
            str_equal(run.project, cut->key->project) && str_equal(run.series, cut->key->series);
        if (is_of_series && !is_of_level(&run, cut))
            continue;
        if (is_of_series && cut->kept++ == 0)
            cut->since = run.name;
        base->runs[kept++] = run;
    }
    base->count = kept ? kept : base->count;
}

static void put_left_out(size_t count, const char *why, const char *before, struct buf *out)
{
    if (count)
        buf_printf(out, "%s%zu %s %s", before, count, count == 1 ? "is" : "are", why);
}

// "of main@* the 4 runs since main@29 count: 28 are of an earlier level, 2 are on other hardware or
// measured otherwise"
static bool say_level(struct compared *compared, const struct level_cut *cut, struct arena *arena,
                      struct err *err)
{
    struct buf out = {0};
    buf_printf(&out, "%s%sof ", compared->base_note ? compared->base_note : "",
               compared->base_note ? "; " : "");
    buf_puts(&out, contributors_clean(cut->key->series, 60, arena));
    buf_printf(&out, "@* the %zu run%s since ", cut->kept, cut->kept == 1 ? "" : "s");
    buf_puts(&out, contributors_clean(cut->since, 60, arena));
    buf_puts(&out, cut->kept == 1 ? " counts: " : " count: ");
    put_left_out(cut->earlier, "of an earlier level", "", &out);
    put_left_out(cut->unlike, "on other hardware or measured otherwise", cut->earlier ? ", " : "",
                 &out);
    bool ok = buf_ok(&out, err);
    compared->base_note = ok ? arena_strdup(arena, (struct str){out.at, out.len}, err) : NULL;
    buf_free(&out);
    return compared->base_note;
}

// A base that spans changes of level, or several kinds of GPU, has no repeats of one measurement:
// of a series it is the runs that are like its newest one, since its level began. Candidates do not
// count among them.
static bool keep_level(struct request *request, struct compared *compared,
                       const struct series_key *key, struct err *err)
{
    struct level_query query = {.key = *key, .metric = query_get(&request->query, "metric")};
    struct series_state judged;
    struct level_cut cut = {.key = key, .judged = &judged};
    if (!list_candidates(compared, request->arena, &query, err) ||
        !store_judge_levels(request->services->intake->store, &query, request->arena, &judged, err))
        return false;
    if (judged.point_count == 0)
        return true;
    cut.newest = newest_point(&judged, !query.metric.len);
    cut_base(&compared->sides[0], &cut);
    return cut.earlier + cut.unlike == 0 || say_level(compared, &cut, request->arena, err);
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
    if (compared->base_series_count)
        leave_candidates_out(compared);
    for (size_t i = 0; i < compared->base_series_count; i++)
        if (!keep_level(request, compared, &compared->base_series[i], err))
            return false;
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

static const struct run *latest(const struct compared_side *side)
{
    const struct run *last = &side->runs[0];
    for (size_t i = 1; i < side->count; i++)
        if (side->runs[i].created_ns > last->created_ns)
            last = &side->runs[i];
    return last;
}

// Whether an earlier run's measurement shows the noise of this one: on the same device, with as
// many ranks, and of steps as well, or of recordings without any.
static bool is_history(const struct run *earlier, const struct run *run)
{
    bool same_gpu = earlier->gpu.null == run->gpu.null &&
                    (run->gpu.null || str_equal(earlier->gpu.s, run->gpu.s));
    return !earlier->step_median_ns.null && earlier->no_steps.null == run->no_steps.null &&
           same_gpu && earlier->received == run->received;
}

// What the series of the base's last run measured before it, and, as several runs show their noise
// themselves, what they measured. Runs store the figure of their headline rank only.
static bool find_history(struct request *request, struct compared *compared, struct err *err)
{
    const struct run *last = latest(&compared->sides[0]);
    struct run_query query = {.project = last->project,
                              .series = last->series,
                              .before_ns = last->created_ns + (compared->sides[0].count > 1),
                              .limit = COMPARE_SERIES_RUNS};
    struct run_list list;
    if (compared->options.slowest)
        return true;
    if (!store_list_runs(request->services->intake->store, &query, request->arena, &list, err))
        return false;
    compared->history = arena_array(request->arena, list.count + 1, sizeof *compared->history, err);
    for (size_t i = list.count; compared->history && i-- > 0;)
        if (is_history(&list.runs[i], last) && !is_in_candidate(compared, list.runs[i].id))
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
           find_runs(request, response, compared, err) &&
           same_files_leave_out(request, compared, err) && find_history(request, compared, err) &&
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
    hash = add_hash(hash, compared->base_note ? str_of(compared->base_note) : STR(""));
    for (size_t i = 0; i < compared->history_count; i++)
        hash = hash_u64(hash ^ (uint64_t)compared->history[i]);
    for (size_t i = 1; i < compared->side_count; i++)
        hash = add_evidence(hash, &compared->series[i]);
    return hash;
}
