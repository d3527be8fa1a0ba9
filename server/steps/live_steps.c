// SPDX-License-Identifier: Apache-2.0
#include "server/steps/live_steps.h"

#include "server/access/quota.h"
#include "server/api/api_parts.h"
#include "server/http/json_body.h"
#include "server/steps/step_watch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define MOST_NS   ((json_int_t)3600 * 1000000000)
#define MOST_STEP ((json_int_t)1 << 40)
enum { LIVE_STEPS = 2048, MOST_POINTS = 512 };

static bool folder_of(const struct request *request, struct str run_id, char *path, size_t size,
                      struct err *err)
{
    const char *root = blob_root(request->services->intake->blobs);
    snprintf(path, size, "%s/steps", root);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return err_set_errno(err, "cannot make the folder of steps");
    snprintf(path, size, "%s/steps/%.*s", root, (int)run_id.len, run_id.at);
    return true;
}

// --- receiving ----------------------------------------------------------------------------------

// What a rank sends. Rows are read once the run's stages are known.
struct delivery {
    struct str run;
    json_int_t rank, first_step, job; // job: -1 unknown
    struct step_stages stages;
    const json_t *rows;
};

static bool read_stage(const json_t *value, struct step_stages *stages, struct err *err)
{
    const char *name = json_string_value(value);
    size_t len = json_string_length(value);
    bool ok = name && len > 0 && len <= STEP_MOST_NAME && stages->count < STEP_MOST_STAGES;
    for (size_t i = 0; ok && i < len; i++)
        ok = name[i] > ' ' && name[i] <= '~';
    if (!ok)
        return err_set(err, ERR_USAGE,
                       "found stages that are not 1 to %d names of up to %d visible characters",
                       STEP_MOST_STAGES, STEP_MOST_NAME);
    for (size_t i = 0; i < stages->count; i++)
        if (strcmp(stages->names[i], name) == 0)
            return err_set(err, ERR_USAGE, "found the stage '%s' twice", name);
    snprintf(stages->names[stages->count++], sizeof stages->names[0], "%s", name);
    return true;
}

static bool read_count(const json_t *object, const char *name, json_int_t most, json_int_t *count,
                       struct err *err)
{
    const json_t *value = json_object_get(object, name);
    *count = json_is_integer(value) ? json_integer_value(value) : -1;
    return (*count >= 0 && *count <= most) ||
           err_set(err, ERR_USAGE, "found no %s from 0 to %lld", name, (long long)most);
}

static bool read_delivery(struct request *request, json_t *body, struct delivery *delivery,
                          struct err *err)
{
    static const char *const known[] = {"run", "rank", "first_step", "stages", "rows", "job", NULL};
    const json_t *stages = json_object_get(body, "stages"), *stage;
    size_t i;
    *delivery = (struct delivery){.job = -1, .rows = json_object_get(body, "rows")};
    if (!json_body_allow(body, known, err) ||
        !json_body_text(body, "run", request->arena, &delivery->run, err) ||
        !read_count(body, "rank", STEP_MOST_RANKS - 1, &delivery->rank, err) ||
        !read_count(body, "first_step", MOST_STEP, &delivery->first_step, err) ||
        (json_object_get(body, "job") && !read_count(body, "job", INT64_MAX, &delivery->job, err)))
        return false;
    if (!json_is_array(stages) || json_array_size(stages) == 0)
        return err_set(err, ERR_USAGE, "found no stages, expected a list of names");
    json_array_foreach(stages, i,
                       stage) if (!read_stage(stage, &delivery->stages, err)) return false;
    size_t count = json_array_size(delivery->rows);
    return (count > 0 && count <= STEP_MOST_ROWS) ||
           err_set(err, ERR_USAGE, "found %zu rows, expected 1 to %d lists of nanoseconds", count,
                   STEP_MOST_ROWS);
}

static bool read_row(const json_t *row, const size_t *places, size_t stages, uint32_t *us,
                     struct err *err)
{
    size_t i;
    const json_t *value;
    if (json_array_size(row) != stages)
        return err_set(err, ERR_USAGE, "found a row of %zu times, expected %zu, one per stage",
                       json_array_size(row), stages);
    json_array_foreach(row, i, value)
    {
        json_int_t ns = json_is_integer(value) ? json_integer_value(value) : -1;
        if (ns < 0 || ns > MOST_NS)
            return err_set(err, ERR_USAGE,
                           "found a time that is not a number of nanoseconds up to an hour");
        us[places[i]] = (uint32_t)((ns + 500) / 1000);
    }
    return true;
}

static bool read_rows(struct request *request, const struct delivery *delivery, const char *folder,
                      struct step_rows *rows, struct err *err)
{
    struct step_stages all;
    size_t places[STEP_MOST_STAGES], i;
    const json_t *row;
    if (!step_log_stages(folder, &delivery->stages, &all, places, err))
        return false;
    size_t count = json_array_size(delivery->rows);
    uint32_t *us = arena_array(request->arena, count * all.count, sizeof *us, err);
    if (!us)
        return false;
    json_array_foreach(delivery->rows, i, row) if (!read_row(row, places, delivery->stages.count,
                                                             us + i * all.count, err)) return false;
    *rows = (struct step_rows){.rank = (uint32_t)delivery->rank,
                               .first_step = (uint64_t)delivery->first_step,
                               .count = count,
                               .stages = all.count,
                               .us = us};
    return true;
}

// Stage times come too often for the audit log; a run created for them is logged.
static bool make_run(struct request *request, struct response *response,
                     const struct run_request *wanted, struct run *run, struct err *err)
{
    if (!quota_spend(request, response, request->body->received, err) ||
        !store_create_run(request->services->intake->store, wanted, request->arena, run, err))
        return false;
    request->changes_nothing = false;
    request->object =
        str_of(arena_printf(request->arena, NULL, "run %.*s", (int)run->id.len, run->id.at));
    return true;
}

// The run of that name, made if there is none. A token that may only upload adds to its own runs.
static bool find_run(struct request *request, struct response *response, struct str name,
                     struct run *run, struct err *err)
{
    struct store *store = request->services->intake->store;
    const struct run_request wanted = {
        .name = name, .world_size = STORE_ANY, .owner = request->who.key};
    if (!name.len)
        return err_set(err, ERR_USAGE, "found no run, expected its name");
    if (!store_find_run(store, name, request->arena, run, err)) {
        if (err->code != ERR_NOT_FOUND)
            return false;
        *err = (struct err){.pos = ERR_NO_POS};
        if (!make_run(request, response, &wanted, run, err) &&
            (err->code != ERR_CONFLICT ||
             !store_find_run(store, name, request->arena, run, err))) // by another rank meanwhile
            return false;
    }
    return (request->who.scopes & SCOPE_WRITE) || str_equal(run->owner, request->who.key) ||
           err_set(err, ERR_DENIED, "this run was created by someone else");
}

static bool has_room(const struct request *request, struct err *err)
{
    uint64_t free_bytes;
    return blob_free_bytes(request->services->intake->blobs, &free_bytes, err) &&
           (free_bytes >= request->services->min_free_bytes ||
            err_set(err, ERR_SPACE, "the disk has too little free space for steps"));
}

// With a token that may only upload, only its own agents record: POST captures needs `write`.
static void watch_steps(struct request *request, const struct run *run, const char *folder,
                        const struct delivery *delivery)
{
    char owner[80] = "";
    if (!(request->who.scopes & SCOPE_WRITE))
        snprintf(owner, sizeof owner, "%.*s", (int)request->who.key.len, request->who.key.at);
    const struct step_watch watch = {.agents = request->services->agents,
                                     .folder = folder,
                                     .run = run->name,
                                     .job = delivery->job,
                                     .owner = owner};
    if (delivery->job > 0) // without a job id, the processes could be any job's
        step_watch(&watch, request->arena);
}

bool live_steps_post(struct request *request, struct response *response, struct err *err)
{
    struct delivery delivery;
    struct run run;
    struct step_rows rows;
    char folder[512];
    request->changes_nothing = true; // unless it makes a run
    json_t *body = json_body_read(request, response, err);
    bool ok = body && has_room(request, err) && read_delivery(request, body, &delivery, err) &&
              find_run(request, response, delivery.run, &run, err) &&
              folder_of(request, run.id, folder, sizeof folder, err) &&
              read_rows(request, &delivery, folder, &rows, err) &&
              quota_spend(request, response, step_log_bytes(&rows), err) &&
              step_log_append(folder, &rows, err);
    if (ok) {
        watch_steps(request, &run, folder, &delivery);
        response->status = 202;
        response->type = "application/json";
        buf_puts(&response->body, "{\"run\":");
        buf_json(&response->body, run.id);
        buf_printf(&response->body, ",\"accepted\":%zu}", json_array_size(delivery.rows));
    }
    json_decref(body);
    return ok && buf_ok(&response->body, err);
}

// --- reading ------------------------------------------------------------------------------------

struct live {
    struct step_stages stages;
    struct step_window window;
    struct step_judgement judgement;
    uint64_t watched_step;
    char watched_run[256]; // "": no change was recorded
};

static int64_t ns_of(double us)
{
    return (int64_t)(us * 1000 + (us < 0 ? -0.5 : 0.5));
}

static void put_parts(const struct live *live, struct buf *out)
{
    for (size_t i = 0; i < live->stages.count; i++) {
        const struct step_part *part = &live->judgement.parts[i];
        buf_printf(out, "%s{\"stage\":", i ? "," : "");
        buf_json(out, str_of(live->stages.names[i]));
        buf_printf(out, ",\"mean_ns\":%lld,\"rank\":%u,\"rank_share\":%.4f}",
                   (long long)ns_of(part->us), live->window.ranks[part->rank], part->rank_share);
    }
}

static void put_suspects(const struct live *live, const struct step_change *change, struct buf *out)
{
    bool first = true;
    for (size_t i = 0; i < STEP_SUSPECTS; i++) {
        const struct step_suspect *suspect = &change->suspects[i];
        if (!(suspect->gain_us > -1e15 && suspect->gain_us < 1e15))
            continue;
        buf_printf(out, "%s{\"stage\":", first ? "" : ",");
        buf_json(out, str_of(live->stages.names[suspect->stage]));
        if (suspect->rank == STEP_ALL_RANKS)
            buf_puts(out, ",\"rank\":null");
        else
            buf_printf(out, ",\"rank\":%u", live->window.ranks[suspect->rank]);
        buf_printf(out, ",\"gain_ns\":%lld}", (long long)ns_of(suspect->gain_us));
        first = false;
    }
}

static void put_changes(const struct live *live, struct buf *out)
{
    for (size_t i = 0; i < live->judgement.change_count; i++) {
        const struct step_change *change = &live->judgement.changes[i];
        buf_printf(out, "%s{\"step\":%llu,\"before_ns\":%lld,\"after_ns\":%lld,\"suspects\":[",
                   i ? "," : "", (unsigned long long)(live->window.first_step + change->at),
                   (long long)ns_of(change->before_us), (long long)ns_of(change->after_us));
        put_suspects(live, change, out);
        buf_puts(out, "],\"recorded\":");
        bool is_recorded =
            live->watched_run[0] &&
            step_watch_is_same(live->watched_step, live->window.first_step + change->at);
        if (is_recorded)
            buf_json(out, str_of(live->watched_run));
        buf_puts(out, is_recorded ? "}" : "null}");
    }
}

// The longest step of each group of steps, so that none is hidden.
static void put_points(const struct live *live, struct buf *out)
{
    const struct step_judgement *judgement = &live->judgement;
    size_t group = judgement->used / MOST_POINTS + 1;
    for (size_t i = 0; i < judgement->used; i += group) {
        size_t longest = i;
        for (size_t j = i; j < i + group && j < judgement->used; j++)
            longest = judgement->total_us[j] > judgement->total_us[longest] ? j : longest;
        buf_printf(out, "%s[%llu,%lld]", i ? "," : "",
                   (unsigned long long)(live->window.first_step + judgement->index[longest]),
                   (long long)ns_of(judgement->total_us[longest]));
    }
}

static void put_live(const struct run *run, const struct live *live, struct buf *out)
{
    const struct step_window *window = &live->window;
    bool any = window->matrix.steps > 0;
    buf_puts(out, "{\"run\":");
    buf_json(out, run->id);
    buf_printf(out, ",\"ranks\":%zu,\"steps\":%zu,\"first_step\":", window->matrix.ranks,
               live->judgement.used);
    if (any)
        buf_printf(out, "%llu,\"last_step\":%llu", (unsigned long long)window->first_step,
                   (unsigned long long)(window->first_step + window->matrix.steps - 1));
    else
        buf_puts(out, "null,\"last_step\":null");
    buf_printf(out, ",\"step_median_ns\":%lld,\"stages\":[",
               (long long)ns_of(live->judgement.median_us));
    if (any)
        put_parts(live, out);
    buf_puts(out, "],\"changes\":[");
    put_changes(live, out);
    buf_puts(out, "],\"points\":[");
    put_points(live, out);
    buf_puts(out, "]}");
}

bool live_steps_get(struct request *request, struct response *response, struct err *err)
{
    static const char *const none[] = {NULL};
    struct run run;
    struct live live;
    char folder[512];
    if (!query_allow(&request->query, none, err) ||
        !api_find_run(request, response, request->captures[0], &run, err) ||
        !folder_of(request, run.id, folder, sizeof folder, err) ||
        !step_log_read_stages(folder, &live.stages, err) ||
        !step_log_read(folder, live.stages.count, LIVE_STEPS, request->arena, &live.window, err) ||
        !step_judge(&live.window.matrix, request->arena, &live.judgement, err))
        return false;
    if (!step_watch_last(folder, &live.watched_step, live.watched_run))
        live.watched_run[0] = '\0';
    response->type = "application/json";
    response->cache = CACHE_NEVER;
    put_live(&run, &live, &response->body);
    return buf_ok(&response->body, err);
}
