// SPDX-License-Identifier: Apache-2.0
// One lock for all: an answer takes milliseconds, and a job that is read may use all the memory.
#include "server/api/replays.h"

#include "server/store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_KEPT = 8 };
#define USUAL_BYTES ((uint64_t)1 << 30)

struct kept {
    char run_id[STORE_ID_SIZE]; // "" none
    int64_t revision, rank;
    uint64_t used; // when it was asked for
    bool too_large;
    struct budget budget;
    struct whatif_job job;
};

struct replays {
    pthread_mutex_t lock;
    uint64_t limit_bytes, uses;
    struct kept kept[MOST_KEPT];
};

struct replays *replays_open(uint64_t job_memory_bytes, struct err *err)
{
    struct replays *replays = calloc(1, sizeof *replays);
    if (!replays) {
        err_set(err, ERR_MEMORY, "out of memory for replays");
        return NULL;
    }
    pthread_mutex_init(&replays->lock, NULL);
    replays->limit_bytes = job_memory_bytes ? job_memory_bytes / 4 : USUAL_BYTES;
    return replays;
}

static void drop(struct kept *kept)
{
    if (kept->run_id[0] && !kept->too_large)
        whatif_job_close(&kept->job);
    *kept = (struct kept){.used = 0};
}

void replays_close(struct replays *replays)
{
    for (int i = 0; replays && i < MOST_KEPT; i++)
        drop(&replays->kept[i]);
    if (replays)
        pthread_mutex_destroy(&replays->lock);
    free(replays);
}

static void name(struct kept *kept, const struct replay_key *key)
{
    snprintf(kept->run_id, sizeof kept->run_id, "%.*s", (int)key->run_id.len, key->run_id.at);
    kept->revision = key->revision;
    kept->rank = key->rank;
}

static bool is_of(const struct kept *kept, const struct replay_key *key)
{
    return str_equal(str_of(kept->run_id), key->run_id) && kept->revision == key->revision &&
           kept->rank == key->rank;
}

// The place that was asked for longest ago.
static struct kept *oldest(struct replays *replays)
{
    struct kept *oldest = &replays->kept[0];
    for (int i = 1; i < MOST_KEPT; i++)
        oldest = replays->kept[i].used < oldest->used ? &replays->kept[i] : oldest;
    return oldest;
}

static uint64_t bytes_left(const struct replays *replays)
{
    uint64_t held = 0;
    for (int i = 0; i < MOST_KEPT; i++)
        held += replays->kept[i].budget.used;
    return held < replays->limit_bytes ? replays->limit_bytes - held : 1; // 0 is no limit
}

static bool fill(struct kept *kept, const struct replay_source *source, uint64_t limit_bytes,
                 struct err *err)
{
    kept->budget.limit = limit_bytes;
    bool ok = whatif_job_open(&kept->job, source->ranks, &kept->budget, err) &&
              source->fill(source->context, &kept->job, &kept->budget, err);
    if (!ok) {
        whatif_job_close(&kept->job);
        *kept = (struct kept){.used = 0};
        return false;
    }
    name(kept, &source->key);
    return true;
}

// Remembers that a job is too large, so that asking again costs nothing.
static bool refuse(struct replays *replays, struct kept *kept, const struct replay_key *key,
                   struct err *err)
{
    kept->too_large = true;
    name(kept, key);
    return err_set(err, ERR_LIMIT, "replaying these ranks takes more than %llu MiB of memory",
                   (unsigned long long)(replays->limit_bytes >> 20));
}

// First beside the others, then in place of all of them.
static struct kept *read_job(struct replays *replays, const struct replay_source *source,
                             struct err *err)
{
    struct kept *kept = oldest(replays);
    drop(kept);
    uint64_t left = bytes_left(replays);
    if (fill(kept, source, left, err))
        return kept;
    if (err->code == ERR_LIMIT && left < replays->limit_bytes) {
        for (int i = 0; i < MOST_KEPT; i++)
            drop(&replays->kept[i]);
        *err = (struct err){.pos = ERR_NO_POS};
        if (fill(kept, source, replays->limit_bytes, err))
            return kept;
    }
    if (err->code == ERR_LIMIT)
        (void)refuse(replays, kept, &source->key, err);
    return NULL;
}

static struct kept *find(struct replays *replays, const struct replay_source *source,
                         struct err *err)
{
    for (int i = 0; i < MOST_KEPT; i++) {
        struct kept *kept = &replays->kept[i];
        if (!is_of(kept, &source->key))
            continue;
        if (!kept->too_large)
            return kept;
        kept->used = ++replays->uses;
        (void)refuse(replays, kept, &source->key, err);
        return NULL;
    }
    return read_job(replays, source, err);
}

const struct whatif_job *replays_enter(struct replays *replays, const struct replay_source *source,
                                       struct err *err)
{
    pthread_mutex_lock(&replays->lock);
    struct kept *kept = find(replays, source, err);
    if (kept) {
        kept->used = ++replays->uses;
        return &kept->job;
    }
    pthread_mutex_unlock(&replays->lock);
    return NULL;
}

void replays_leave(struct replays *replays)
{
    pthread_mutex_unlock(&replays->lock);
}
