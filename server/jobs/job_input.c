// SPDX-License-Identifier: Apache-2.0
// Opens an uploaded file, and makes sure that it is what was sent.
#include "server/jobs/job_input.h"

#include "server/files/scrub.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <errno.h>
#include <stdio.h>

#define BELIEVED_NS ((int64_t)3600 * 1000000000) // how long a file counts as sound that was hashed

// What is gone stays gone, but descriptors and memory come back.
static bool passes(int number)
{
    return number == EMFILE || number == ENFILE || number == ENOMEM;
}

bool job_input_open(const struct jobs_config *config, const struct job *job, int *fd,
                    struct err *err)
{
    uint64_t bytes;
    errno = 0;
    if (blob_open_read(config->blobs, job->sha256.at, fd, &bytes, err))
        return true;
    *fd = -1;
    if (passes(errno))
        err->code = ERR_BUSY;
    return false;
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
    char path[BLOB_PATH_SIZE], damage[STORE_DAMAGE_SIZE];
    struct err ignored;
    snprintf(blob.sha256, sizeof blob.sha256, "%s", job->sha256.at);
    blob_path(config->blobs, blob.sha256, path);
    if (!scrub_file(path, &blob, &pace, damage, err))
        return false;
    if (!store_note_scrub(config->store, blob.sha256, damage, &ignored))
        log_warn("job %lld: how its file is was not noted: %s", (long long)job->id, ignored.msg);
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
