// SPDX-License-Identifier: Apache-2.0
// Opens an uploaded file, and makes sure that it is what was sent.
#include "server/jobs/job_input.h"

#include "server/files/scrub.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <stdio.h>

#define BELIEVED_NS ((int64_t)3600 * 1000000000) // how long a file that was hashed counts as sound

bool job_input_open(const struct jobs_config *config, const struct job *job, int *fd,
                    struct err *err)
{
    uint64_t bytes;
    return blob_open_read(config->blobs, job->sha256.at, fd, &bytes, err);
}

static bool goes_on(void *context, int64_t ns)
{
    const struct progress *progress = context;
    (void)ns;
    return !progress->cancel;
}

static bool hash(const struct jobs_config *config, const struct job *job, struct progress *progress,
                 struct err *err)
{
    struct scrub_pace pace = {.wait = goes_on, .context = progress};
    struct store_blob blob = {.bytes = job->bytes};
    char damage[STORE_DAMAGE_SIZE];
    struct err ignored;
    snprintf(blob.sha256, sizeof blob.sha256, "%s", job->sha256.at);
    if (!scrub_file(blob_stored(config->blobs), &blob, &pace, damage, err))
        return false;
    if (!store_note_scrub(config->store, blob.sha256, damage, &ignored))
        log_warn("job %lld: the state of its file was not noted: %s", (long long)job->id,
                 ignored.msg);
    return !damage[0] || err_set(err, ERR_FORMAT, "the stored file %s: upload it again", damage);
}

bool job_input_check(const struct jobs_config *config, const struct job *job, int fd,
                     struct progress *progress, struct err *err)
{
    int64_t sound_ns = 0;
    if (!store_blob_sound_ns(config->store, job->sha256, &sound_ns, err))
        return false;
    int64_t age_ns = clock_wall_ns() - sound_ns;
    bool is_fresh = fd >= 0 && age_ns >= 0 && age_ns < BELIEVED_NS;
    return is_fresh || hash(config, job, progress, err);
}
