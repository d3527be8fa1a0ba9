// SPDX-License-Identifier: Apache-2.0
// What changes would bring to a run: its kept traces are replayed with them.
#include "server/api/api.h"

#include "analysis/analysis.h"
#include "analysis/replay/replay_pack.h"
#include "ingest/base/hash.h"
#include "ingest/trace/trace_file.h"
#include "server/api/api_parts.h"
#include "server/api/replays.h"
#include "server/http/connections.h"
#include "server/http/json_body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_CHANGES = 16, MOST_CHANGE_BYTES = 400, MOST_RANKS = 1024 };

// A change by itself, and with all before it.
struct asked_change {
    struct str text;
    const struct change_ready *ready; // NULL: not one of them
    struct change_list list;
    struct whatif_answer answer, staircase;
    struct path_sums path;
};

// A request while it is answered.
struct asking {
    struct request *request;
    struct response *response;
    struct run run;
    int64_t rank;           // -1: all
    struct str counterpart; // another run, "": none
    struct run other;
    const struct table *times; // its roofline
    struct rank_trace *ranks;
    size_t rank_count;
    bool of_all;  // none was named: each ready-made one
    bool by_gain; // the most useful first
    struct asked_change *changes;
    uint32_t change_count;
    struct change_list *controls; // of a graph for a page
    uint32_t control_count;
    const struct whatif_job *job;
    uint32_t shown; // the rank that stands for the job
    const char *refused;
    struct whatif_answer base, together;
    struct job_path base_path, path; // path: with all changes
};

// --- the request --------------------------------------------------------------------------------

static bool add_change(struct asking *asking, struct str text, struct err *err)
{
    uint32_t index = asking->change_count;
    if (index == MOST_CHANGES)
        return err_set(err, ERR_USAGE, "found more than %d changes", MOST_CHANGES);
    if (text.len > MOST_CHANGE_BYTES)
        return err_set(err, ERR_USAGE, "change %u: found %zu bytes, expected at most %d", index + 1,
                       text.len, MOST_CHANGE_BYTES);
    struct asked_change *change = &asking->changes[asking->change_count++];
    *change = (struct asked_change){.text = text, .ready = change_ready_find(text)};
    if (change_parse(text, &change->list, err))
        return true;
    asking->response->fix = str_of(change_syntax);
    return err_wrap(err, "change %u", index + 1);
}

static bool start_asking(struct asking *asking, struct err *err)
{
    asking->rank = -1;
    asking->changes =
        arena_array(asking->request->arena, MOST_CHANGES, sizeof *asking->changes, err);
    return asking->changes != NULL;
}

static bool read_order(struct asking *asking, struct str order, struct err *err)
{
    asking->by_gain = asking->of_all || str_equal(order, STR("gain"));
    return asking->by_gain || order.len == 0 ||
           err_set(err, ERR_USAGE, "order: found another word, expected gain");
}

static bool read_query(struct asking *asking, const char *const *known, struct err *err)
{
    const struct query *query = &asking->request->query;
    if (!start_asking(asking, err) || !query_allow(query, known, err) ||
        !query_get_int(query, (struct query_int){"rank", -1, 0, INT32_MAX}, &asking->rank, err))
        return false;
    for (size_t i = 0; i < query->count; i++)
        if (str_equal(query->params[i].name, STR("change")) &&
            !add_change(asking, query->params[i].value, err))
            return false;
    asking->counterpart = query_get(query, "counterpart");
    asking->of_all = asking->change_count == 0;
    return read_order(asking, query_get(query, "order"), err);
}

static bool add_control(struct asking *asking, struct str what, struct err *err)
{
    if (asking->control_count == REPLAY_PACK_CONTROLS)
        return err_set(err, ERR_USAGE, "found more than %d controls", REPLAY_PACK_CONTROLS);
    if (what.len > MOST_CHANGE_BYTES)
        return err_set(err, ERR_USAGE, "control: found %zu bytes, expected at most %d", what.len,
                       MOST_CHANGE_BYTES);
    const char *text =
        arena_printf(asking->request->arena, err, "scale=0:%.*s", (int)what.len, what.at);
    return (text && change_parse(str_of(text), &asking->controls[asking->control_count++], err)) ||
           err_wrap(err, "control %u", asking->control_count);
}

static bool read_controls(struct asking *asking, struct err *err)
{
    const struct query *query = &asking->request->query;
    asking->controls =
        arena_array(asking->request->arena, REPLAY_PACK_CONTROLS, sizeof *asking->controls, err);
    if (!asking->controls)
        return false;
    for (size_t i = 0; i < query->count; i++)
        if (str_equal(query->params[i].name, STR("control")) &&
            !add_control(asking, query->params[i].value, err))
            return false;
    return true;
}

static bool read_changes(struct asking *asking, json_t *list, struct err *err)
{
    json_t *item = NULL;
    size_t i = 0;
    if (!json_is_array(list))
        return err_set(err, ERR_USAGE,
                       "found no list of changes, expected such as "
                       "{\"changes\": [\"host_free\"]}");
    json_array_foreach(list, i, item)
    {
        struct str text = {json_string_value(item), json_string_length(item)};
        if (!json_is_string(item))
            return err_set(err, ERR_USAGE, "change %zu: found no string", i + 1);
        text.at = arena_strdup(asking->request->arena, text, err);
        if (!text.at || !add_change(asking, text, err))
            return false;
    }
    return true;
}

static bool read_counterpart(struct asking *asking, json_t *object, struct err *err)
{
    json_t *run = json_object_get(object, "counterpart");
    struct str text = {json_string_value(run), json_string_length(run)};
    if (!run || json_is_null(run))
        return true;
    if (!json_is_string(run))
        return err_set(err, ERR_USAGE, "counterpart: found no string, expected a run");
    text.at = arena_strdup(asking->request->arena, text, err);
    asking->counterpart = text;
    return text.at != NULL;
}

static bool read_members(struct asking *asking, json_t *object, struct err *err)
{
    static const char *const known[] = {"changes", "rank", "counterpart", NULL};
    json_t *rank = json_object_get(object, "rank");
    if (!json_body_allow(object, known, err) || !read_counterpart(asking, object, err))
        return false;
    if (rank && !json_is_null(rank)) {
        asking->rank = json_integer_value(rank);
        if (!json_is_integer(rank) || asking->rank < 0 || asking->rank > INT32_MAX)
            return err_set(err, ERR_USAGE, "found an invalid rank, expected 0 to %d", INT32_MAX);
    }
    return read_changes(asking, json_object_get(object, "changes"), err);
}

static bool read_body(struct asking *asking, struct err *err)
{
    static const char *const no_parameters[] = {NULL};
    if (!start_asking(asking, err) || !query_allow(&asking->request->query, no_parameters, err))
        return false;
    json_t *object = json_body_read(asking->request, asking->response, err);
    bool ok = object && read_members(asking, object, err);
    json_decref(object);
    return ok;
}

static bool find_ranks(struct asking *asking, struct err *err)
{
    struct request *request = asking->request;
    struct store *store = request->services->intake->store;
    size_t kept = 0;
    if (!api_find_run(request, asking->response, request->captures[0], &asking->run, err) ||
        !store_done_ranks(store, asking->run.id, request->arena, &asking->ranks,
                          &asking->rank_count, err))
        return false;
    for (size_t i = 0; i < asking->rank_count; i++)
        if (asking->rank < 0 || asking->ranks[i].rank == asking->rank)
            asking->ranks[kept++] = asking->ranks[i];
    asking->rank_count = kept;
    if (kept > MOST_RANKS) {
        asking->response->fix = STR("ask for one rank: rank=0");
        return err_set(err, ERR_LIMIT, "found %zu ranks, expected at most %d", kept, MOST_RANKS);
    }
    if (kept > 0)
        return true;
    asking->response->fix = STR("wait until a trace of the run is analyzed");
    return asking->rank < 0 ? err_set(err, ERR_NOT_FOUND, "found no analyzed trace of the run")
                            : err_set(err, ERR_NOT_FOUND, "found no analyzed trace of rank %lld",
                                      (long long)asking->rank);
}

// The times of the run whose kernels are asked about, of the rank that represents it.
static bool load_counterpart(struct asking *asking, struct err *err)
{
    struct request *request = asking->request;
    struct store *store = request->services->intake->store;
    static const struct table_desc *const wanted[] = {&table_roofline, NULL};
    struct report *report = arena_alloc(request->arena, sizeof *report, err);
    struct trace_row trace;
    int64_t rank;
    if (!report ||
        !api_find_other_run(request, asking->response, asking->counterpart, &asking->other, err) ||
        !api_headline_rank(request, &asking->other, &rank, err))
        return false;
    if (rank < 0)
        return err_set(err, ERR_NOT_FOUND, "found no analyzed trace of the counterpart");
    *report = (struct report){.arena = request->arena};
    if (!store_find_rank(store, asking->other.id, rank, request->arena, &trace, err) ||
        !store_load_trace_tables(store, trace.id, wanted, report, err))
        return false;
    asking->times = report_find(report, table_roofline.name);
    for (uint32_t i = 0; i < asking->change_count; i++)
        asking->changes[i].list.counterpart = asking->times;
    return true;
}

static bool find_counterpart(struct asking *asking, struct err *err)
{
    if (asking->counterpart.len)
        return load_counterpart(asking, err);
    for (uint32_t i = 0; i < asking->change_count; i++)
        if (change_needs_counterpart(&asking->changes[i].list)) {
            asking->response->fix = STR("name the run whose kernels are meant: counterpart=RUN");
            return err_set(err, ERR_USAGE, "change %u: takes the times of another run, found none",
                           i + 1);
        }
    return true;
}

// Nobody waits for the answer any more: its memory and its turn are for others.
static bool check_client(const struct asking *asking, struct err *err)
{
    const struct request *request = asking->request;
    int fd = connections_socket(request->services->connections, request->connection);
    return !connections_has_left(fd) || err_set(err, ERR_CANCELLED, "the client has left");
}

// --- reading the traces -------------------------------------------------------------------------

static struct trace *load_trace(const struct asking *asking, const struct rank_trace *rank,
                                struct budget *budget, struct err *err)
{
    char id[STORE_ID_SIZE];
    int fd;
    uint64_t bytes;
    snprintf(id, sizeof id, "%.*s", (int)rank->trace_id.len, rank->trace_id.at);
    struct trace *trace =
        blob_open_trace(asking->request->services->intake->blobs, id, &fd, &bytes, err)
            ? trace_file_load_fd(fd, id, budget, err)
            : NULL;
    if (!trace)
        api_explain_trace(asking->response, rank->rank, err);
    return trace;
}

static bool add_tables(const struct asking *asking, struct whatif_job *job, uint32_t rank,
                       struct budget *budget, struct err *err)
{
    struct arena arena;
    arena_init(&arena, budget);
    struct report report = {.arena = &arena};
    bool ok =
        store_load_trace_tables(asking->request->services->intake->store,
                                asking->ranks[rank].trace_id, whatif_job_tables, &report, err) &&
        whatif_job_add_tables(job, rank, &report, err);
    arena_free(&arena);
    return ok;
}

static bool join(const struct asking *asking, struct whatif_job *job, struct budget *budget,
                 struct err *err)
{
    if (!whatif_job_sort(job, err))
        return false;
    if (!whatif_job_is_joint(job))
        return true;
    for (uint32_t i = 0; i < job->count; i++)
        if (!add_tables(asking, job, i, budget, err))
            return false;
    return whatif_job_join(job, err);
}

static bool fill_job(void *context, struct whatif_job *job, struct budget *budget, struct err *err)
{
    const struct asking *asking = context;
    const struct run *run = &asking->run;
    struct analysis_options *options = arena_alloc(&job->arena, sizeof *options, err);
    char *pattern = options ? arena_strdup(&job->arena, run->step_pattern, err) : NULL;
    if (!pattern)
        return false;
    *options = (struct analysis_options){.step_pattern = *pattern ? pattern : NULL,
                                         .warmup_steps = (int)run->warmup_steps};
    for (size_t i = 0; i < asking->rank_count; i++) {
        const struct rank_trace *rank = &asking->ranks[i];
        if (!check_client(asking, err))
            return false;
        struct whatif_source source = {load_trace(asking, rank, budget, err), rank->rank, ""};
        if (!source.trace || !whatif_job_add(job, &source, options, err))
            return false;
    }
    return join(asking, job, budget, err);
}

// --- answers ------------------------------------------------------------------------------------

// Keeps the answer of the rank that is shown.
static void keep_answer(const struct asking *asking, const struct whatif_answer *answers,
                        struct whatif_answer *answer)
{
    *answer = answers[asking->shown];
    answer->steps = NULL;
    answer->refused = NULL;
    answer->touched_ns[0] = whatif_job_touched(asking->job, answers, 0);
}

// Answers of all ranks live only until the next is asked for, and count as memory of the replays.
static bool ask(const struct asking *asking, const struct change_list *list,
                struct whatif_answer *answer, struct job_path *path, struct err *err)
{
    if (!check_client(asking, err))
        return false;
    struct arena arena;
    arena_init(&arena, asking->job->arena.budget);
    struct whatif_answer *answers = arena_array(&arena, asking->job->count, sizeof *answers, err);
    bool ok = answers && whatif_job_ask(asking->job, list, &arena, answers, path, err);
    if (ok)
        keep_answer(asking, answers, answer);
    arena_free(&arena);
    return ok;
}

// The first rank that cannot be replayed is the reason for all.
static bool find_refusal(struct asking *asking, const struct whatif_answer *answers,
                         struct err *err)
{
    struct arena *arena = asking->request->arena;
    const struct whatif_job *job = asking->job;
    uint32_t i = 0;
    while (i < job->count && !answers[i].refused)
        i++;
    if (i == job->count)
        return true;
    asking->refused = job->count == 1 || job->refused
                          ? arena_strdup(arena, str_of(answers[i].refused), err)
                          : arena_printf(arena, err, "rank %lld: %s",
                                         (long long)job->ranks[i]->number, answers[i].refused);
    return asking->refused != NULL;
}

// Which rank is shown, and whether there is an answer.
static bool ask_first(struct asking *asking, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct arena arena;
    arena_init(&arena, asking->job->arena.budget);
    struct whatif_answer *answers = arena_array(&arena, asking->job->count, sizeof *answers, err);
    bool ok = answers && whatif_job_ask(asking->job, &nothing, &arena, answers, NULL, err);
    if (ok) {
        asking->shown = whatif_job_headline(asking->job, answers);
        asking->base_path.rank = asking->path.rank = asking->shown;
        keep_answer(asking, answers, &asking->base);
        ok = find_refusal(asking, answers, err);
    }
    arena_free(&arena);
    return ok;
}

static bool ask_base(struct asking *asking, struct err *err)
{
    static const struct change_list nothing = {.count = 0};
    struct arena *arena = asking->request->arena;
    uint32_t count = asking->job->count;
    asking->base_path.ranks = arena_array(arena, count, sizeof(struct path_rank), err);
    asking->path.ranks = arena_array(arena, count, sizeof(struct path_rank), err);
    if (!asking->base_path.ranks || !asking->path.ranks || !ask_first(asking, err))
        return false;
    return asking->refused || ask(asking, &nothing, &asking->base, &asking->base_path, err);
}

static bool ask_alone(struct asking *asking, struct err *err)
{
    for (uint32_t i = 0; i < asking->change_count; i++) {
        struct asked_change *change = &asking->changes[i];
        if (!ask(asking, &change->list, &change->answer, &asking->path, err))
            return err_wrap(err, "change %u", i + 1);
        change->path = asking->path.sums;
    }
    return true;
}

static int by_candidate(const void *left, const void *right)
{
    const struct asked_change *a = left, *b = right;
    double apart = a->answer.candidate_ns - b->answer.candidate_ns;
    return apart < 0 ? -1 : apart > 0;
}

static void start_together(struct asking *asking)
{
    asking->together = asking->base;
    asking->path.sums = asking->base_path.sums;
    asking->path.joint_ns = asking->base_path.joint_ns;
    memcpy(asking->path.ranks, asking->base_path.ranks,
           asking->job->count * sizeof *asking->path.ranks);
}

// With each change on top of those before it. The first has nothing before it, so it keeps its
// answer. Only the path after the last is shown; with a single change that is the path read last.
static bool ask_together(struct asking *asking, struct err *err)
{
    struct change_list list = {.count = 0};
    if (asking->change_count == 0)
        start_together(asking);
    for (uint32_t i = 0; i < asking->change_count; i++) {
        struct asked_change *change = &asking->changes[i];
        struct job_path *path = i + 1 == asking->change_count ? &asking->path : NULL;
        if (!change_join(&list, &change->list, err))
            return false;
        if (i == 0)
            change->staircase = change->answer;
        else if (!ask(asking, &list, &change->staircase, path, err))
            return false;
        asking->together = change->staircase;
    }
    return true;
}

static bool offer_all(struct asking *asking, struct err *err)
{
    for (const struct change_ready *ready = change_ready_made; ready->name; ready++)
        if ((!ready->of_ranks || asking->rank_count > 1) &&
            (!ready->of_pairs || asking->counterpart.len) &&
            !add_change(asking, str_of(ready->name), err))
            return false;
    for (uint32_t i = 0; i < asking->change_count; i++)
        asking->changes[i].list.counterpart = asking->times;
    return true;
}

static bool ask_all(struct asking *asking, struct err *err)
{
    if (!ask_base(asking, err) || asking->refused)
        return asking->refused != NULL;
    if (!ask_alone(asking, err))
        return false;
    if (asking->by_gain)
        qsort(asking->changes, asking->change_count, sizeof *asking->changes, by_candidate);
    return ask_together(asking, err);
}

// --- the reply ----------------------------------------------------------------------------------

static void put_text(struct buf *out, const char *name, const char *text)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json_or_null(out, text);
}

static void put_path(struct buf *out, const struct path_sums *path)
{
    int64_t sum_ns = 0;
    buf_puts(out, ",\"critical_path\":{");
    for (int part = 0; part < PATH_PARTS; part++) {
        sum_ns += path->ns[part];
        buf_printf(out, "\"%s_ns\":%lld,", path_part_word((enum path_part)part),
                   (long long)path->ns[part]);
    }
    buf_printf(out, "\"steps_ns\":%lld}", (long long)sum_ns);
}

// How long the step takes then.
static void put_step(struct buf *out, const struct whatif_answer *answer)
{
    buf_printf(out, "\"step_ns\":%.0f,\"gain_ns\":%.0f,\"gain_share\":%.6f", answer->candidate_ns,
               answer->measured_ns - answer->candidate_ns,
               (answer->measured_ns - answer->candidate_ns) / answer->measured_ns);
    if (answer->has_interval)
        buf_printf(out,
                   ",\"low_ns\":%.0f,\"high_ns\":%.0f,\"gain_low_ns\":%.0f,"
                   "\"gain_high_ns\":%.0f",
                   answer->low_ns, answer->high_ns, answer->gain_low_ns, answer->gain_high_ns);
    else
        buf_puts(out, ",\"low_ns\":null,\"high_ns\":null,\"gain_low_ns\":null,"
                      "\"gain_high_ns\":null");
}

static void put_change(struct buf *out, const struct asked_change *change)
{
    int64_t touched_ns = change->list.count ? change->answer.touched_ns[0] : -1;
    buf_puts(out, "{\"change\":");
    buf_json(out, change->text);
    put_text(out, "title", change->ready ? change->ready->title : NULL);
    put_text(out, "help", change->ready ? change->ready->help : NULL);
    buf_puts(out, ",\"touched_ns\":");
    api_count_json(touched_ns, out);
    buf_putc(out, ',');
    put_step(out, &change->answer);
    buf_printf(out, ",\"staircase_ns\":%.0f", change->staircase.candidate_ns);
    put_path(out, &change->path);
    buf_putc(out, '}');
}

static void put_ranks(struct buf *out, const struct asking *asking)
{
    buf_puts(out, ",\"ranks\":[");
    for (uint32_t i = 0; i < asking->job->count; i++)
        buf_printf(out, "%s%lld", i ? "," : "", (long long)asking->job->ranks[i]->number);
    buf_printf(out, "],\"joint_calls\":%u,\"missing_ranks\":%lld", asking->job->replay.join_count,
               (long long)whatif_job_missing(asking->job));
}

// Of several ranks, those that are on the path by themselves, and what they do together.
static void put_rank_path(struct buf *out, const struct asking *asking, const struct job_path *path)
{
    const char *comma = "";
    buf_puts(out, ",\"path_ranks\":[");
    for (uint32_t i = 0; asking->job->count > 1 && i < asking->job->count; i++) {
        const struct path_rank *own = &path->ranks[i];
        if (own->own_ns == 0 && own->delay_ns == 0)
            continue;
        buf_printf(out, "%s{\"rank\":%lld,\"own_ns\":%lld,\"delay_ns\":%lld}", comma,
                   (long long)asking->job->ranks[i]->number, (long long)own->own_ns,
                   (long long)own->delay_ns);
        comma = ",";
    }
    buf_printf(out, "],\"path_joint_ns\":%lld", (long long)path->joint_ns);
}

static void put_base(struct buf *out, const struct asking *asking)
{
    const struct whatif_answer *base = &asking->base;
    buf_printf(out, ",\"steps\":%u", base->step_count);
    if (asking->refused) {
        buf_puts(out, ",\"base\":null,\"changes\":[],\"together\":null");
        return;
    }
    buf_printf(out,
               ",\"base\":{\"step_ns\":%.0f,\"replayed_ns\":%.0f,\"error_share\":%.6f,"
               "\"worst_error_share\":%.6f,\"known_share\":%.6f,\"violated_edges\":%u",
               base->measured_ns, base->replayed_ns, base->error_share, base->worst_error_share,
               base->known_share, base->violated);
    put_path(out, &asking->base_path.sums);
    put_rank_path(out, asking, &asking->base_path);
    buf_puts(out, "},\"changes\":[");
    for (uint32_t i = 0; i < asking->change_count; i++) {
        buf_puts(out, i ? "," : "");
        put_change(out, &asking->changes[i]);
    }
    buf_puts(out, "],\"together\":{");
    put_step(out, &asking->together);
    put_path(out, &asking->path.sums);
    put_rank_path(out, asking, &asking->path);
    buf_putc(out, '}');
}

static void put_reply(struct asking *asking)
{
    struct buf *out = &asking->response->body;
    buf_puts(out, "{\"run\":");
    buf_json(out, asking->run.id);
    buf_printf(out, ",\"rank\":%lld", (long long)asking->job->ranks[asking->shown]->number);
    put_ranks(out, asking);
    put_text(out, "refused", asking->refused);
    put_base(out, asking);
    buf_putc(out, '}');
}

// What was promised, of all changes together.
static bool tell(const struct asking *asking, struct promise *promise, struct err *err)
{
    if (asking->refused)
        return err_set(err, ERR_CONFLICT, "found no answer to keep: %s", asking->refused);
    if (llround(asking->together.candidate_ns) < 1)
        return err_set(err, ERR_CONFLICT, "found no answer to keep: nothing is left of the step");
    struct buf lines = {.at = NULL};
    if (asking->counterpart.len)
        buf_printf(&lines, STORE_COUNTERPART "%.*s\n", (int)asking->other.id.len,
                   asking->other.id.at);
    for (uint32_t i = 0; i < asking->change_count; i++) {
        buf_puts(&lines, i ? "\n" : "");
        buf_add_str(&lines, asking->changes[i].text);
    }
    const struct whatif_answer *all = &asking->together;
    const char *text = buf_ok(&lines, err) ? arena_strdup(asking->request->arena,
                                                          (struct str){lines.at, lines.len}, err)
                                           : NULL;
    promise->changes = text ? str_of(text) : STR("");
    promise->base_ns = llround(all->measured_ns);
    promise->step_ns = llround(all->candidate_ns);
    promise->low_ns = all->has_interval ? llround(all->low_ns) : -1;
    promise->high_ns = all->has_interval ? llround(all->high_ns) : -1;
    buf_free(&lines);
    return text != NULL;
}

// The job with these ranks, for this request alone; pair with replays_leave when not NULL.
static const struct whatif_job *enter(struct asking *asking, struct err *err)
{
    const struct replay_source source = {{asking->run.id, asking->run.revision, asking->rank},
                                         (uint32_t)asking->rank_count,
                                         fill_job,
                                         asking};
    const struct whatif_job *job = replays_enter(asking->request->services->replays, &source, err);
    if (!job && err->code == ERR_LIMIT && asking->rank_count > 1)
        asking->response->fix = STR("ask for one rank: rank=0");
    return job;
}

// Tries again if the first try lacked memory that idle jobs can give up.
static bool with_room(struct asking *asking, bool (*ask_job)(struct asking *, struct err *),
                      struct err *err)
{
    if (ask_job(asking, err))
        return true;
    if (err->code != ERR_LIMIT || !replays_make_room(asking->request->services->replays))
        return false;
    *err = (struct err){.pos = ERR_NO_POS};
    return ask_job(asking, err);
}

// promise: filled instead of a reply; NULL: nobody keeps it.
static bool answer(struct asking *asking, struct promise *promise, struct err *err)
{
    if (asking->of_all && !offer_all(asking, err))
        return false;
    asking->job = enter(asking, err);
    if (!asking->job)
        return false;
    bool ok = with_room(asking, ask_all, err);
    if (ok && promise)
        ok = tell(asking, promise, err);
    else if (ok)
        put_reply(asking);
    replays_leave(asking->request->services->replays, asking->job);
    return ok;
}

static bool is_unchanged(const struct asking *asking, const char *what)
{
    return api_run_unchanged(asking->request, asking->response, &asking->run, what,
                             hash_u64((uint64_t)asking->other.revision));
}

bool api_get_whatif(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"change", "rank", "counterpart", "order", NULL};
    struct asking asking = {.request = request, .response = response};
    if (!read_query(&asking, known, err) || !find_ranks(&asking, err) ||
        !find_counterpart(&asking, err))
        return false;
    api_locate_run(request, response, &asking.run, "/whatif");
    if (is_unchanged(&asking, "whatif"))
        return true;
    if (!answer(&asking, NULL, err))
        return false;
    buf_putc(&response->body, '\n');
    response->type = "application/json";
    return buf_ok(&response->body, err);
}

static bool pack_graph(struct asking *asking, struct err *err)
{
    struct change_list list = {.count = 0};
    struct arena arena;
    if (!ask_first(asking, err))
        return false;
    if (asking->refused)
        return err_set(err, ERR_CONFLICT, "found no graph to replay: %s", asking->refused);
    for (uint32_t i = 0; i < asking->change_count; i++)
        if (!change_join(&list, &asking->changes[i].list, err))
            return false;
    arena_init(&arena, asking->job->arena.budget);
    const struct replay_pack pack = {asking->job, asking->shown,    &asking->base,
                                     &list,       asking->controls, asking->control_count};
    bool ok = replay_pack_write(&pack, &arena, &asking->response->body, err);
    arena_free(&arena);
    return ok;
}

bool api_get_whatif_graph(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"change", "control", "rank", "counterpart", NULL};
    struct asking asking = {.request = request, .response = response};
    if (!read_query(&asking, known, err) || !read_controls(&asking, err) ||
        !find_ranks(&asking, err) || !find_counterpart(&asking, err))
        return false;
    api_locate_run(request, response, &asking.run, "/whatif/graph");
    if (is_unchanged(&asking, "graph"))
        return true;
    asking.job = enter(&asking, err);
    if (!asking.job)
        return false;
    bool ok = with_room(&asking, pack_graph, err);
    replays_leave(request->services->replays, asking.job);
    response->type = "application/octet-stream";
    return ok;
}

bool api_post_whatif(struct request *request, struct response *response, struct err *err)
{
    struct asking asking = {.request = request, .response = response};
    request->changes_nothing = true;
    if (!read_body(&asking, err) || !find_ranks(&asking, err) || !find_counterpart(&asking, err))
        return false;
    api_locate_run(request, response, &asking.run, "/whatif");
    return answer(&asking, NULL, err) && api_finish_json(request, response, NULL, err);
}

// The receipt is of a run, not of one of its ranks; changes are kept one a line.
static bool can_be_kept(const struct asking *asking, struct err *err)
{
    if (asking->change_count == 0)
        return err_set(err, ERR_USAGE, "found no change, expected one at least");
    if (asking->rank >= 0)
        return err_set(err, ERR_USAGE, "found a rank, expected none: a promise is of the run");
    for (uint32_t i = 0; i < asking->change_count; i++)
        if (str_find(asking->changes[i].text, STR("\n")) != SIZE_MAX)
            return err_set(err, ERR_USAGE, "change %u: found a line break", i + 1);
    return true;
}

bool api_ask_promise(struct request *request, struct response *response, json_t *object,
                     struct promise *promise, struct err *err)
{
    static const char *const no_parameters[] = {NULL};
    struct asking asking = {.request = request, .response = response};
    if (!start_asking(&asking, err) || !query_allow(&request->query, no_parameters, err) ||
        !read_members(&asking, object, err))
        return false;
    return can_be_kept(&asking, err) && find_ranks(&asking, err) &&
           find_counterpart(&asking, err) && answer(&asking, promise, err);
}
