// SPDX-License-Identifier: Apache-2.0
// The lock is held to look a job up, never while one is read or asked: those are marked as busy.
// All jobs and answers share one budget.
#include "server/api/replays.h"

#include "ingest/base/clock.h"
#include "server/base/cond.h"
#include "server/store/store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_KEPT = 8, MOST_BUSY = 3, MOST_WAITING = 8, WAIT_SECONDS = 10 };
#define USUAL_BYTES ((uint64_t)1 << 30)

struct kept {
    char run_id[STORE_ID_SIZE]; // "" none
    int64_t revision, rank;
    uint64_t used;  // when it was asked for
    bool busy;      // one caller reads or asks it
    bool too_large; // and so is not read again
    struct whatif_job job;
};

struct replays {
    pthread_mutex_t lock; // guards everything but jobs that are busy
    pthread_cond_t changed;
    struct budget budget;
    uint64_t uses;
    unsigned busy, waiting;
    bool reading;
    struct kept kept[MOST_KEPT];
};

struct replays *replays_open(uint64_t job_memory_bytes, struct err *err)
{
    struct replays *replays = calloc(1, sizeof *replays);
    if (!replays) {
        err_set(err, ERR_MEMORY, "out of memory for replays");
        return NULL;
    }
    cond_init(&replays->changed);
    pthread_mutex_init(&replays->lock, NULL);
    replays->budget.limit = job_memory_bytes ? job_memory_bytes / 4 : USUAL_BYTES;
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
    if (replays) {
        pthread_cond_destroy(&replays->changed);
        pthread_mutex_destroy(&replays->lock);
    }
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

static struct kept *find(struct replays *replays, const struct replay_key *key)
{
    for (int i = 0; i < MOST_KEPT; i++)
        if (is_of(&replays->kept[i], key))
            return &replays->kept[i];
    return NULL;
}

// --- turns --------------------------------------------------------------------------------------

static void begin(struct replays *replays, struct kept *kept)
{
    kept->busy = true;
    kept->used = ++replays->uses;
    replays->busy++;
}

static void end(struct replays *replays, struct kept *kept)
{
    kept->busy = false;
    replays->busy--;
    pthread_cond_broadcast(&replays->changed);
}

// Whether a caller can go on: with this job (NULL: none is kept), or to read it.
static bool is_free(const struct replays *replays, const struct kept *kept)
{
    if (kept)
        return !kept->busy && replays->busy < MOST_BUSY;
    return !replays->reading && replays->busy < MOST_BUSY;
}

static bool wait_until_free(struct replays *replays, const struct replay_key *key, struct err *err)
{
    int64_t end_ns = clock_mono_ns() + (int64_t)WAIT_SECONDS * 1000000000;
    bool waits = is_free(replays, find(replays, key)) || replays->waiting < MOST_WAITING;
    replays->waiting++;
    while (waits && !is_free(replays, find(replays, key)))
        waits = cond_wait_until(&replays->changed, &replays->lock, end_ns);
    replays->waiting--;
    return waits ||
           err_set(err, ERR_BUSY, "other runs are being replayed; try again in some seconds");
}

// --- reading ------------------------------------------------------------------------------------

// The place that was asked for longest ago, of those that are not busy.
static struct kept *oldest(struct replays *replays)
{
    struct kept *oldest = NULL;
    for (int i = 0; i < MOST_KEPT; i++) {
        struct kept *kept = &replays->kept[i];
        if (!kept->busy && (!oldest || kept->used < oldest->used))
            oldest = kept;
    }
    return oldest;
}

// Drops all that are not busy; whether there were any.
static bool drop_idle(struct replays *replays)
{
    bool any = false;
    for (int i = 0; i < MOST_KEPT; i++) {
        struct kept *kept = &replays->kept[i];
        if (kept->busy || !kept->run_id[0] || kept->too_large)
            continue;
        drop(kept);
        any = true;
    }
    return any;
}

// Without the lock.
static bool fill(struct replays *replays, struct kept *kept, const struct replay_source *source,
                 struct err *err)
{
    pthread_mutex_unlock(&replays->lock);
    bool ok = whatif_job_open(&kept->job, source->ranks, &replays->budget, err) &&
              source->fill(source->context, &kept->job, &replays->budget, err);
    if (!ok)
        whatif_job_close(&kept->job);
    pthread_mutex_lock(&replays->lock);
    return ok;
}

// Remembers that a job is too large, so that asking again costs nothing.
static bool refuse(struct replays *replays, struct kept *kept, struct err *err)
{
    kept->too_large = true;
    return err_set(err, ERR_LIMIT, "replaying these ranks takes more than %llu MiB of memory",
                   (unsigned long long)(replays->budget.limit >> 20));
}

// First beside the others, then in place of those that nobody asks now.
static bool read_job(struct replays *replays, struct kept *kept, const struct replay_source *source,
                     struct err *err)
{
    if (fill(replays, kept, source, err))
        return true;
    bool beside_others = replays->busy > 1;
    if (err->code == ERR_LIMIT && drop_idle(replays)) {
        *err = (struct err){.pos = ERR_NO_POS};
        if (fill(replays, kept, source, err))
            return true;
        beside_others = beside_others || replays->busy > 1;
    }
    if (err->code == ERR_LIMIT && !beside_others)
        return refuse(replays, kept, err);
    kept->run_id[0] = '\0';
    if (err->code == ERR_LIMIT)
        return err_set(err, ERR_BUSY, "other replays hold the memory; try again in some seconds");
    return false;
}

static struct kept *start_reading(struct replays *replays, const struct replay_source *source,
                                  struct err *err)
{
    struct kept *kept = oldest(replays);
    drop(kept);
    name(kept, &source->key);
    begin(replays, kept);
    replays->reading = true;
    bool ok = read_job(replays, kept, source, err);
    replays->reading = false;
    if (ok) {
        pthread_cond_broadcast(&replays->changed);
        return kept;
    }
    end(replays, kept);
    return NULL;
}

// --- use ----------------------------------------------------------------------------------------

static struct kept *enter(struct replays *replays, const struct replay_source *source,
                          struct err *err)
{
    if (!wait_until_free(replays, &source->key, err))
        return NULL;
    struct kept *kept = find(replays, &source->key);
    if (!kept)
        return start_reading(replays, source, err);
    if (!kept->too_large) {
        begin(replays, kept);
        return kept;
    }
    kept->used = ++replays->uses;
    (void)refuse(replays, kept, err);
    return NULL;
}

const struct whatif_job *replays_enter(struct replays *replays, const struct replay_source *source,
                                       struct err *err)
{
    pthread_mutex_lock(&replays->lock);
    struct kept *kept = enter(replays, source, err);
    atomic_store(&replays->budget.refused, false); // for replays_make_room
    pthread_mutex_unlock(&replays->lock);
    return kept ? &kept->job : NULL;
}

void replays_leave(struct replays *replays, const struct whatif_job *job)
{
    pthread_mutex_lock(&replays->lock);
    for (int i = 0; i < MOST_KEPT; i++)
        if (&replays->kept[i].job == job)
            end(replays, &replays->kept[i]);
    pthread_mutex_unlock(&replays->lock);
}

bool replays_make_room(struct replays *replays)
{
    pthread_mutex_lock(&replays->lock);
    bool lacked = atomic_exchange(&replays->budget.refused, false);
    bool dropped = lacked && drop_idle(replays);
    pthread_mutex_unlock(&replays->lock);
    return dropped;
}
