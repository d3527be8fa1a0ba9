// SPDX-License-Identifier: Apache-2.0
// Whether the service is alive and able to work, its version, and its own description.
#include "server/api/api.h"

#include "server/api/openapi_data.h"
#include "server/care/care.h"
#include "server/store/store_watch.h"

static const char *const no_parameters[] = {NULL};

bool api_get_health(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    buf_puts(&response->body, "{\"status\":\"ok\"}");
    return api_finish_json(request, response, NULL, err);
}

bool api_get_ready(struct request *request, struct response *response, struct err *err)
{
    const struct intake *intake = request->services->intake;
    uint64_t free_bytes = 0, min_free_bytes = request->services->min_free_bytes;
    struct queue_state queue;
    if (atomic_load(request->services->draining))
        return response_stopping(response, request, "", err);
    if (!query_allow(&request->query, no_parameters, err) || !care_check(intake->care, err) ||
        !store_queue_state(intake->store, &queue, err) ||
        !blob_free_bytes(intake->blobs, &free_bytes, err))
        return false;
    if (free_bytes < min_free_bytes)
        return err_set(err, ERR_SPACE, "found %llu bytes free for uploads, expected %llu",
                       (unsigned long long)free_bytes, (unsigned long long)min_free_bytes);
    if (!care_probe(intake->care, err))
        return false;
    buf_printf(&response->body,
               "{\"status\":\"ready\",\"database\":\"ok\",\"open_jobs\":%llu,"
               "\"oldest_job_seconds\":",
               (unsigned long long)(queue.queued + queue.running));
    buf_f64(&response->body, store_queue_age_s(&queue));
    buf_printf(&response->body, ",\"free_bytes\":%llu,\"min_free_bytes\":%llu}",
               (unsigned long long)free_bytes, (unsigned long long)min_free_bytes);
    return api_finish_json(request, response, NULL, err);
}

bool api_get_version(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    buf_printf(&response->body, "{\"version\":\"%s\",\"analysis_version\":%d}", STEPSCOPE_VERSION,
               ANALYSIS_VERSION);
    return api_finish_json(request, response, "v", err);
}

bool api_get_openapi(struct request *request, struct response *response, struct err *err)
{
    if (!query_allow(&request->query, no_parameters, err))
        return false;
    response->type = "application/json";
    if (!response_unchanged(request, response, "%s", openapi_etag))
        response->borrowed = (struct str){(const char *)openapi_json, openapi_size};
    return true;
}
