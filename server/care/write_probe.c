// SPDX-License-Identifier: Apache-2.0
// One file per folder, one row, at most once a second.
#include "server/care/write_probe.h"

#include "ingest/base/clock.h"
#include "server/store/store_watch.h"

#define LASTS_NS INT64_C(1000000000)

void write_probe_init(struct write_probe *probe)
{
    *probe = (struct write_probe){0};
    pthread_mutex_init(&probe->lock, NULL);
}

void write_probe_destroy(struct write_probe *probe)
{
    pthread_mutex_destroy(&probe->lock);
}

bool write_probe_try(struct write_probe *probe, const struct intake *intake, struct err *err)
{
    pthread_mutex_lock(&probe->lock);
    int64_t now_ns = clock_mono_ns();
    if (probe->tried_ns == 0 || now_ns - probe->tried_ns > LASTS_NS) {
        probe->ok =
            blob_probe(intake->blobs, &probe->err) && store_probe(intake->store, &probe->err);
        probe->tried_ns = clock_mono_ns();
    }
    bool ok = probe->ok;
    if (!ok)
        *err = probe->err;
    pthread_mutex_unlock(&probe->lock);
    return ok;
}
