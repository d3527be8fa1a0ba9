// SPDX-License-Identifier: Apache-2.0
// Size, disk space, slots and queue length, in this order: what waiting cannot change comes first.
#include "server/uploads/upload_gate.h"

#include "server/access/quota.h"
#include "server/base/services.h"
#include "server/care/intake.h"

#define SPACE_STEP_BYTES ((uint64_t)16 << 20)

static bool check_size(struct request *request, uint64_t announced_bytes, struct err *err)
{
    uint64_t limit = request->services->max_upload_bytes;
    if (announced_bytes <= limit)
        return true;
    return err_set(err, ERR_LIMIT, "found an upload of %llu bytes, expected at most %llu",
                   (unsigned long long)announced_bytes, (unsigned long long)limit);
}

static bool check_space(const struct services *services, uint64_t announced_bytes, struct err *err)
{
    uint64_t free_bytes = 0;
    if (!blob_free_bytes(services->intake->blobs, &free_bytes, err))
        return false;
    return (free_bytes >= services->min_free_bytes &&
            free_bytes - services->min_free_bytes >= announced_bytes) ||
           err_set(err, ERR_SPACE,
                   "found %llu bytes free, expected %llu for the upload and %llu to stay free",
                   (unsigned long long)free_bytes, (unsigned long long)announced_bytes,
                   (unsigned long long)services->min_free_bytes);
}

// Files that arrive faster than they can be read would fill the disk and wait longest to be shown.
static bool check_queue(const struct services *services, struct response *response, struct err *err)
{
    uint64_t open = 0;
    if (services->queue_limit == 0)
        return true;
    if (!store_count_jobs(services->intake->store, &open, err))
        return false;
    if (open < services->queue_limit)
        return true;
    response->word = "queue-full";
    return err_set(err, ERR_BUSY, "%llu analyses are already queued; try again later",
                   (unsigned long long)open);
}

static bool check(struct request *request, struct response *response, uint64_t announced_bytes,
                  struct err *err)
{
    const struct services *services = request->services;
    return check_size(request, announced_bytes, err) &&
           blob_check_writable(services->intake->blobs, err) &&
           check_space(services, announced_bytes, err) && check_queue(services, response, err);
}

bool upload_gate_announce(struct request *request, struct response *response,
                          uint64_t announced_bytes, struct err *err)
{
    return check(request, response, announced_bytes, err) &&
           quota_admit(request, response, announced_bytes, err);
}

// Drops the reservation without counting bytes: each piece is counted when it arrives.
void upload_gate_forget(struct request *request)
{
    quota_leave(request);
}

// Uploads must not take all threads from the dashboard.
static bool take_place(struct request *request, struct response *response, struct err *err)
{
    const struct services *services = request->services;
    if (atomic_fetch_add(services->uploads, 1) < services->uploads_in_flight)
        return true;
    atomic_fetch_sub(services->uploads, 1);
    response->word = "too-many-uploads";
    return err_set(err, ERR_BUSY, "%u uploads are in flight already; try again soon",
                   services->uploads_in_flight);
}

// What a body is for.
enum purpose { NEW_UPLOAD, PIECE, REPEAT };

struct meter {
    struct request *request;
    struct response *response;
    enum purpose purpose;
    uint64_t steps; // for which there was space
};

// Space that was free before may be taken meanwhile. And for a body of unknown length it could not
// be checked before.
static bool count(void *ctx, struct err *err)
{
    struct meter *meter = ctx;
    uint64_t steps = meter->request->body->received / SPACE_STEP_BYTES;
    if (steps != meter->steps && meter->purpose != REPEAT &&
        !check_space(meter->request->services, 0, err))
        return false;
    meter->steps = steps;
    return quota_grow(meter->request, meter->response, err);
}

static bool count_body(struct request *request, struct response *response, enum purpose purpose,
                       struct err *err)
{
    struct meter *meter = arena_alloc(request->arena, sizeof(*meter), err);
    if (!meter)
        return false;
    *meter = (struct meter){.request = request, .response = response, .purpose = purpose};
    request->body->count = count;
    request->body->count_ctx = meter;
    return true;
}

static bool enter(struct request *request, struct response *response, enum purpose purpose,
                  struct err *err)
{
    if (!count_body(request, response, purpose, err) ||
        !blob_check_writable(request->services->intake->blobs, err) ||
        !take_place(request, response, err))
        return false;
    if (purpose == REPEAT ? quota_admit_repeat(request, response, err)
                          : quota_admit(request, response, request->body->length, err))
        return request->takes_place = true;
    atomic_fetch_sub(request->services->uploads, 1);
    return false;
}

bool upload_gate_enter_piece(struct request *request, struct response *response, struct err *err)
{
    uint64_t length = request->body->length;
    return check_space(request->services, length == BODY_UNKNOWN ? 0 : length, err) &&
           enter(request, response, PIECE, err);
}

static bool check_length(struct request *request, struct response *response, struct err *err)
{
    if (!request_header(request, "Content-Length").at && request->body->length != BODY_UNKNOWN)
        return response_refuse(response, err, (struct refusal){411, "length-required"},
                               "found no Content-Length, expected the length of the upload");
    return body_limit(request->body, request->services->max_upload_bytes, err);
}

bool upload_gate_enter(struct request *request, struct response *response, struct err *err)
{
    uint64_t length = request->body->length;
    return check_length(request, response, err) &&
           check(request, response, length == BODY_UNKNOWN ? 0 : length, err) &&
           enter(request, response, NEW_UPLOAD, err);
}

bool upload_gate_enter_repeat(struct request *request, struct response *response, struct err *err)
{
    return check_length(request, response, err) && enter(request, response, REPEAT, err);
}

void upload_gate_leave(struct request *request)
{
    if (!request->takes_place)
        return;
    request->takes_place = false;
    quota_leave(request);
    atomic_fetch_sub(request->services->uploads, 1);
}
