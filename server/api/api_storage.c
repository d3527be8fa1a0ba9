// SPDX-License-Identifier: Apache-2.0
// Whether stored data is intact: the result of the last database check, and damaged files.
#include "server/api/api.h"
#include "server/care/care.h"

#include "ingest/base/clock.h"

static void add_check(struct buf *out, const struct care_status *status)
{
    char time[CLOCK_RFC3339_SIZE];
    buf_puts(out, "{\"database\":{\"checked\":");
    if (status->check.checked_ns) {
        clock_rfc3339(status->check.checked_ns, time);
        buf_json(out, str_of(time));
    } else {
        buf_puts(out, "null");
    }
    buf_printf(out, ",\"checking\":%s,\"damage\":", status->is_checking ? "true" : "false");
    buf_json(out, str_of(status->check.damage));
    buf_puts(out, "},\"disk_fault\":");
}

static void add_damaged(struct buf *out, const struct damaged_blob *blob)
{
    buf_puts(out, "{\"sha256\":");
    buf_json(out, blob->sha256);
    buf_puts(out, ",\"damage\":");
    buf_json(out, blob->damage);
    buf_puts(out, ",\"run\":");
    buf_json(out, blob->run_id);
    buf_puts(out, ",\"filename\":");
    buf_json(out, blob->filename);
    buf_puts(out, "}");
}

bool api_get_storage(struct request *request, struct response *response, struct err *err)
{
    static const char *const no_parameters[] = {NULL};
    const struct intake *intake = request->services->intake;
    struct care_status status = {0};
    struct damaged_blob *blobs;
    struct err fault = {0};
    size_t count;
    if (!query_allow(&request->query, no_parameters, err) ||
        !store_list_damaged(intake->store, request->arena, &blobs, &count, err))
        return false;
    if (intake->care)
        care_status(intake->care, &status);
    struct buf *out = &response->body;
    add_check(out, &status);
    buf_json(out, str_of(blob_check_writable(intake->blobs, &fault) ? "" : fault.msg));
    buf_printf(out, ",\"ballast\":%s,\"damaged_files\":[", status.has_ballast ? "true" : "false");
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i ? "," : "");
        add_damaged(out, &blobs[i]);
    }
    buf_puts(out, "]}");
    return api_finish_json(request, response, NULL, err);
}
