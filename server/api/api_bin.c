// SPDX-License-Identifier: Apache-2.0
// The bin of deleted runs, and which runs retention deletes.
#include "server/api/api.h"

#include "ingest/base/clock.h"
#include "server/access/audit.h"
#include "server/care/care.h"
#include "server/care/stored_runs.h"

#include <stdlib.h>

#define DAY_NS INT64_C(86400000000000)

static const char *const no_parameters[] = {NULL};

static void add_text(struct buf *out, const char *name, struct str text)
{
    buf_printf(out, ",\"%s\":", name);
    api_text_json(text, out);
}

static void add_time(struct buf *out, const char *name, int64_t at_ns)
{
    char time[CLOCK_RFC3339_SIZE];
    clock_rfc3339(at_ns, time);
    add_text(out, name, str_of(time));
}

// A run without the closing brace.
static void add_run(const struct stored_run *run, struct buf *out)
{
    buf_puts(out, "{\"id\":");
    buf_json(out, run->id);
    add_text(out, "name", run->name);
    add_text(out, "project", run->project);
    add_text(out, "series", run->series);
    add_time(out, "created", run->created_ns);
}

static int64_t bin_ns(const struct request *request)
{
    return request->services->retention->bin_days * DAY_NS;
}

static void add_deletion(const struct request *request, const struct stored_run *run,
                         struct buf *out)
{
    add_time(out, "deleted", run->deleted_ns);
    add_text(out, "deleted_by", run->deleted_by);
    add_time(out, "goes", run->deleted_ns + bin_ns(request));
}

static bool list_stored(const struct request *request, enum stored_which which,
                        struct stored_list *list, struct err *err)
{
    const struct intake *intake = request->services->intake;
    return stored_runs_list(intake->store, blob_stored(intake->blobs), which, request->arena, list,
                            err);
}

static bool find_in_bin(struct request *request, struct response *response, struct str id,
                        struct stored_run *run, struct err *err)
{
    if (store_find_in_bin(request->services->intake->store, id, request->arena, run, err)) {
        request->object =
            str_of(arena_printf(request->arena, NULL, "run %.*s", (int)run->id.len, run->id.at));
        return true;
    }
    if (err->code == ERR_NOT_FOUND)
        response->fix = STR("GET /api/v1/bin lists the runs in it");
    return false;
}

// --- the bin ------------------------------------------------------------------------------------

bool api_reply_deleted(struct request *request, struct response *response, struct str id,
                       struct err *err)
{
    struct stored_run run;
    if (!find_in_bin(request, response, id, &run, err))
        return false;
    add_run(&run, &response->body);
    add_deletion(request, &run, &response->body);
    buf_puts(&response->body, "}");
    response->cache = CACHE_NEVER;
    return api_finish_json(request, response, NULL, err);
}

bool api_list_bin(struct request *request, struct response *response, struct err *err)
{
    struct stored_list list;
    struct buf *out = &response->body;
    if (!query_allow(&request->query, no_parameters, err) ||
        !list_stored(request, STORED_IN_BIN, &list, err))
        return false;
    buf_printf(out, "{\"days\":%lld,\"runs\":%zu,\"bytes\":%llu,\"items\":[",
               (long long)request->services->retention->bin_days, list.count,
               (unsigned long long)stored_runs_bytes(&list));
    for (size_t i = list.count; i-- > 0;) { // newest deletion first
        add_run(&list.runs[i], out);
        add_deletion(request, &list.runs[i], out);
        buf_printf(out, ",\"traces\":%lld,\"bytes\":%llu}%s", (long long)list.runs[i].traces,
                   (unsigned long long)list.runs[i].bytes, i ? "," : "");
    }
    buf_puts(out, "]}");
    return api_finish_json(request, response, "bin", err);
}

bool api_restore_run(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = request->services->intake;
    struct stored_run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !find_in_bin(request, response, request->captures[0], &run, err) ||
        !store_restore_run(intake->store, run.id, err))
        return false;
    if (intake->jobs)
        jobs_wake(intake->jobs);
    return api_reply_run(request, response, run.id, err);
}

bool api_purge_run(struct request *request, struct response *response, struct err *err)
{
    struct stored_run run;
    if (!query_allow(&request->query, no_parameters, err) ||
        !find_in_bin(request, response, request->captures[0], &run, err) ||
        !intake_delete_run(request->services->intake, run.id, run.revision, err))
        return false;
    response->status = 204;
    response->cache = CACHE_NEVER;
    return true;
}

static void note_purge(const struct request *request, const struct stored_run *run)
{
    struct audit_entry entry = {.who = request->who.name,
                                .peer = request->peer,
                                .action = STR("delete run for good"),
                                .object = str_of(arena_printf(request->arena, NULL, "run %.*s",
                                                              (int)run->id.len, run->id.at)),
                                .request_id = str_of(request->id),
                                .status = 204};
    audit_write(request->services->audit, &entry);
}

// Runs restored meanwhile stay.
bool api_empty_bin(struct request *request, struct response *response, struct err *err)
{
    struct stored_list list;
    struct err failure = {.code = ERR_NONE};
    size_t count = 0;
    if (!query_allow(&request->query, no_parameters, err) ||
        !list_stored(request, STORED_IN_BIN, &list, err))
        return false;
    for (size_t i = 0; i < list.count; i++) {
        const struct stored_run *run = &list.runs[i];
        if (intake_delete_run(request->services->intake, run->id, run->revision, &failure)) {
            note_purge(request, run);
            count++;
        } else if (failure.code != ERR_CONFLICT && failure.code != ERR_NOT_FOUND) {
            *err = failure;
            return false;
        }
    }
    buf_printf(&response->body, "{\"runs\":%zu}", count);
    response->cache = CACHE_NEVER;
    return api_finish_json(request, response, NULL, err);
}

// --- retention ----------------------------------------------------------------------------------

// The service's rules, overridden by those in the request.
static bool read_rules(const struct request *request, struct retention_rules *rules,
                       struct err *err)
{
    const struct query *query = &request->query;
    int64_t size = 0;
    *rules = *request->services->retention;
    struct query_int days = {"days", rules->days, 0, RETENTION_MAX_DAYS};
    struct query_int newest = {"newest", rules->newest, 0, INT64_MAX};
    struct query_int every = {"every", rules->every_days, 0, RETENTION_MAX_DAYS};
    struct query_int bytes = {"size", (int64_t)(rules->size_bytes & INT64_MAX), 0, INT64_MAX};
    if (!query_get_int(query, days, &rules->days, err) ||
        !query_get_int(query, newest, &rules->newest, err) ||
        !query_get_int(query, every, &rules->every_days, err) ||
        !query_get_int(query, bytes, &size, err))
        return false;
    rules->size_bytes = (uint64_t)size;
    return true;
}

static void add_rules(const struct retention_rules *rules, struct buf *out)
{
    buf_printf(out,
               "{\"rules\":{\"days\":%lld,\"size\":%llu,\"newest\":%lld,\"every\":%lld,"
               "\"bin\":%lld}",
               (long long)rules->days, (unsigned long long)rules->size_bytes,
               (long long)rules->newest, (long long)rules->every_days, (long long)rules->bin_days);
}

static void add_fates(const struct stored_list *list, const struct retention_plan *plan,
                      struct buf *out)
{
    const char *comma = "";
    buf_puts(out, ",\"items\":[");
    for (size_t i = 0; i < list->count; i++) {
        if (!retention_goes(plan->fates[i]))
            continue;
        buf_puts(out, comma);
        add_run(&list->runs[i], out);
        buf_printf(out, ",\"bytes\":%llu,\"to\":\"%s\",\"reason\":\"%s\"}",
                   (unsigned long long)list->runs[i].bytes,
                   plan->fates[i] == GOES_FOR_GOOD ? "nothing" : "bin",
                   retention_reason(plan->fates[i]));
        comma = ",";
    }
    buf_puts(out, "]}");
}

bool api_get_retention(struct request *request, struct response *response, struct err *err)
{
    static const char *const known[] = {"days", "size", "newest", "every", NULL};
    struct retention_rules rules;
    struct retention_plan plan;
    struct stored_list list;
    struct buf *out = &response->body;
    if (!query_allow(&request->query, known, err) || !read_rules(request, &rules, err) ||
        !list_stored(request, STORED_ALL, &list, err) ||
        !retention_plan(&rules, &list, care_clock_ns(request->services->intake->care),
                        request->arena, &plan, err))
        return false;
    add_rules(&rules, out);
    buf_printf(out,
               ",\"stored_bytes\":%llu,\"to_bin_bytes\":%llu,\"freed_bytes\":%llu,"
               "\"over_bytes\":%llu",
               (unsigned long long)stored_runs_bytes(&list), (unsigned long long)plan.bin_bytes,
               (unsigned long long)plan.free_bytes, (unsigned long long)plan.over_bytes);
    add_fates(&list, &plan, out);
    return api_finish_json(request, response, NULL, err);
}
