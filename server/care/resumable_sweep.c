// SPDX-License-Identifier: Apache-2.0
// Rows go first: a file without a row is found again, a row without its file would be an empty
// promise.
#include "server/care/resumable_sweep.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "server/files/pieces.h"
#include "server/store/store_resumable.h"

struct sweep {
    const struct intake *intake;
    unsigned removed;
};

static bool sweep_file(void *ctx, const char *id, struct err *err)
{
    struct sweep *sweep = ctx;
    bool named;
    if (!store_names_resumable(sweep->intake->store, str_of(id), &named, err))
        return false;
    if (named)
        return true;
    sweep->removed++;
    return pieces_remove(sweep->intake->blobs, id, err);
}

static void tell(const struct sweep *sweep)
{
    if (sweep->removed)
        log_info("removed %u files of finished uploads", sweep->removed);
}

bool resumable_sweep_own(const struct intake *intake, struct err *err)
{
    struct sweep sweep = {.intake = intake};
    struct pieces_visitor visitor = {sweep_file, &sweep};
    bool ok = pieces_each(intake->blobs, &visitor, err);
    tell(&sweep);
    return ok;
}

bool resumable_sweep_files(const struct intake *intake, struct err *err)
{
    struct sweep sweep = {.intake = intake};
    struct pieces_visitor visitor = {sweep_file, &sweep};
    struct err why;
    if (!resumable_sweep_own(intake, err))
        return false;
    if (!pieces_each_shared(intake->blobs, &visitor, &why)) // the next time
        log_warn("pieces of finished uploads remain: %s", why.msg);
    tell(&sweep);
    return true;
}

bool resumable_sweep(const struct intake *intake, struct err *err)
{
    bool dropped = false;
    return store_drop_expired(intake->store, clock_wall_ns(), &dropped, err) &&
           (!dropped || resumable_sweep_files(intake, err));
}
