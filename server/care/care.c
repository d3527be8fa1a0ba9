// SPDX-License-Identifier: Apache-2.0
// The thread that looks after stored data: every few seconds it does what is due.
#include "server/care/care.h"

#include "server/access/audit.h"
#include "server/care/ballast.h"
#include "server/exports/export_spool.h"
#include "server/files/data_folder.h"
#include "server/care/write_probe.h"
#include "server/care/resumable_sweep.h"
#include "server/care/retention.h"
#include "server/files/scrub.h"
#include "server/care/stored_runs.h"
#include "server/base/cond.h"
#include "server/base/metrics.h"
#include "server/store/store_access.h"
#include "server/store/store_watch.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#define SECOND_NS ((int64_t)1000000000)
#define HOUR_NS   (3600 * SECOND_NS)
#define DAY_NS    (24 * HOUR_NS)

#define TICK_NS        (2 * SECOND_NS)
#define FULL_CHECK_NS  (7 * DAY_NS)
#define CHECK_AGAIN_NS (HOUR_NS / 6) // a check reads the whole database
#define SCRUB_NS       (6 * DAY_NS)  // so that every file is read within seven days
#define SCRUB_BYTES_PS ((uint64_t)32 << 20)
#define HISTORY_NS     (90 * DAY_NS) // ended jobs and received uploads are remembered
#define TRIM_NS        (60 * SECOND_NS)
#define SETTLE_NS      (30 * SECOND_NS) // each count that grew is a transaction
#define SWEEP_NS       (HOUR_NS / 6)    // at most: files that no row refers to
#define SWEEP_LEAST_NS (10 * SECOND_NS) // where looking at them takes next to nothing
enum { RUNS_AT_ONCE = 20, MAX_DAYS = 36500 };

struct care {
    struct care_config config;
    struct ballast ballast;
    struct write_probe probe;
    pthread_t thread;
    atomic_bool stop;
    atomic_bool has_damaged_database, has_damaged_files;

    pthread_mutex_t lock; // guards what follows
    pthread_cond_t changed;
    bool woken;
    struct care_status status;
    struct retention retention; // only the thread changes it

    // Used by the thread only.
    bool must_purge;  // deleted bytes may still be in the write-ahead log
    bool said_newer;  // that a newer program has changed the tables
    bool must_forget; // a run was deleted for good: copies from before a schema still hold it
    uint64_t seen_writes;
    // Monotonic: when each was last done.
    int64_t pruned_ns, trimmed_ns, settled_ns, looked_ns;
    int64_t expire_next_ns; // monotonic: when the rules are applied again
    int64_t sweep_next_ns;  // monotonic
    int64_t upload_next_ns; // monotonic: when uploads in parts are ended again
    int64_t steps_next_ns;  // monotonic: when stage times are measured again
    int64_t pieces_next_ns; // monotonic: while another service leads
    int64_t noted_clock_ns; // trusted time of day last stored, 0 none
    struct swept_folders swept;
};

// --- waiting ------------------------------------------------------------------------------------

static bool is_woken(const struct care *care)
{
    return care->woken || atomic_load(&care->stop);
}

// Waits this long, or, if interruptible, until someone wakes the thread. False if it must end.
static bool wait_for(struct care *care, int64_t ns, bool until_woken)
{
    int64_t end_ns = clock_mono_ns() + ns;
    bool waits = true;
    pthread_mutex_lock(&care->lock);
    while (waits && !atomic_load(&care->stop) && !(until_woken && is_woken(care)))
        waits = cond_wait_until(&care->changed, &care->lock, end_ns);
    if (until_woken) {
        care->must_purge = care->must_purge || care->woken;
        care->must_forget = care->must_forget || care->woken;
        care->woken = false;
    }
    pthread_mutex_unlock(&care->lock);
    return !atomic_load(&care->stop);
}

static bool rest(void *context, int64_t ns)
{
    return wait_for(context, ns, false);
}

// --- the database -------------------------------------------------------------------------------

static void set_checking(struct care *care, bool is_checking)
{
    pthread_mutex_lock(&care->lock);
    care->status.is_checking = is_checking;
    pthread_mutex_unlock(&care->lock);
}

static void tell_check(struct care *care, const struct store_check *found)
{
    pthread_mutex_lock(&care->lock);
    care->status.check = *found;
    pthread_mutex_unlock(&care->lock);
    atomic_store(&care->has_damaged_database, found->damage[0] != '\0');
    metrics_set(care->config.metrics, METRIC_DATABASE_OK, found->damage[0] == '\0');
    if (!found->damage[0])
        return;
    metrics_add(care->config.metrics, METRIC_INTEGRITY_FAILURES, 1);
    log_error("the database is damaged, restore a backup: %s", found->damage);
}

static void check_database(struct care *care, bool full)
{
    struct store *store = care->config.intake.store;
    struct store_check found;
    struct err err = {.pos = ERR_NO_POS};
    care->looked_ns = clock_mono_ns();
    set_checking(care, true);
    bool ok = store_check_database(store, full, &care->stop, &found, &err);
    if (ok) {
        tell_check(care, &found);
        ok = store_note_check(store, full, &found, &err);
    }
    set_checking(care, false);
    if (!ok && err.code != ERR_CANCELLED)
        log_warn("the check of the database: %s", err.msg);
}

static bool is_full_check_due(struct care *care)
{
    struct store_check last;
    struct err err;
    if (!store_last_check(care->config.intake.store, true, &last, &err))
        return false;
    int64_t age_ns = clock_wall_ns() - last.checked_ns;
    return last.damage[0] || age_ns > FULL_CHECK_NS || age_ns < -DAY_NS; // the clock was set back
}

// A full check after a process that was killed, otherwise a quick one; a new database counts as
// checked.
static void check_at_start(struct care *care)
{
    struct store *store = care->config.intake.store;
    check_database(care, store_was_unclean(store) || is_full_check_due(care));
}

// Files replaced by a job are only gone from the rows.
static bool has_garbage(const struct care *care)
{
    struct arena arena;
    struct garbage *items;
    struct err err;
    size_t count = 0;
    arena_init(&arena, NULL);
    if (!store_list_garbage(care->config.intake.store, &arena, &items, &count, &err))
        count = 0; // the next look will show
    arena_free(&arena);
    return count > 0;
}

// Removes deleted data from files, copies and the log; after a while without writes the log goes,
// too.
static void tidy_up(struct care *care)
{
    const struct intake *intake = &care->config.intake;
    struct store_sizes sizes;
    struct err err;
    bool done = true;
    store_sizes(intake->store, &sizes);
    bool is_idle = sizes.writes == care->seen_writes && sizes.wal_bytes > 0;
    care->seen_writes = sizes.writes;
    care->must_purge = care->must_purge || has_garbage(care);
    if (!care->must_purge && !is_idle)
        return;
    // Files that an analysis replaced go as well, but only a deleted run is a reason to drop the
    // copies that lead back to an older version.
    bool ok = (!care->must_purge || intake_collect(intake, &err)) &&
              (!care->must_forget || store_drop_schema_copies(intake->store, &err)) &&
              store_empty_log(intake->store, &done, &err);
    if (!ok)
        log_warn("cleanup: %s", err.msg);
    care->must_forget = care->must_forget && !ok;
    care->must_purge = care->must_purge && !(ok && done);
}

// --- what is old --------------------------------------------------------------------------------

// The time trusted by earlier processes; nothing is too old for a new database.
static void recall_clock(struct care *care)
{
    struct err err;
    if (!store_believed_clock(care->config.intake.store, &care->noted_clock_ns, &err))
        log_warn("reading when the clock was right: %s", err.msg);
    int64_t believed_ns = care->noted_clock_ns ? care->noted_clock_ns : clock_wall_ns();
    pthread_mutex_lock(&care->lock);
    retention_init(&care->retention, believed_ns, clock_mono_ns());
    pthread_mutex_unlock(&care->lock);
}

static void note_clock(struct care *care)
{
    struct err err;
    int64_t believed_ns = care->retention.believed_ns;
    int64_t since_ns = believed_ns - care->noted_clock_ns;
    if (since_ns >= 0 && since_ns < HOUR_NS)
        return;
    // Even if storing fails, as on a full disk: an hour is often enough.
    care->noted_clock_ns = believed_ns;
    if (!store_believe_clock(care->config.intake.store, believed_ns, &err))
        log_warn("noting which time is believed: %s", err.msg);
}

static bool is_clock_believed(struct care *care)
{
    pthread_mutex_lock(&care->lock);
    bool is_believed = retention_may_delete(&care->retention, clock_wall_ns(), clock_mono_ns());
    pthread_mutex_unlock(&care->lock);
    note_clock(care);
    return is_believed;
}

static void note_deletion(const struct care *care, struct str action, const struct stored_run *run,
                          const char *why)
{
    struct audit_entry entry = {.who = STR("retention"),
                                .peer = STR(""),
                                .action = action,
                                .object = run->id,
                                .request_id = STR(""),
                                .status = 204};
    log_info("%s %s: %s", action.at, run->id.at, why);
    audit_write(care->config.audit, &entry);
}

static const char *why_to_bin(enum retention_fate fate)
{
    return fate == GOES_FOR_AGE ? "it is older than --retain-days"
                                : "the stored runs exceed --retain-size";
}

// A run that has changed meanwhile is looked at again next time.
static bool move_to_bin(struct care *care, const struct stored_list *list,
                        const struct retention_plan *plan, struct err *err)
{
    const struct intake *intake = &care->config.intake;
    for (size_t i = 0; i < list->count && !atomic_load(&care->stop); i++) {
        const struct stored_run *run = &list->runs[i];
        if (plan->fates[i] != GOES_FOR_AGE && plan->fates[i] != GOES_FOR_SIZE)
            continue;
        if (intake_bin_run(intake, run->id, run->revision, STR("retention"), err))
            note_deletion(care, STR("delete run"), run, why_to_bin(plan->fates[i]));
        else if (err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND)
            return false;
    }
    return true;
}

static void tell_plan(const struct retention_plan *plan)
{
    if (plan->over_bytes)
        log_warn("stored runs exceed --retain-size by %llu bytes: only baselines, runs under "
                 "analysis and the newest of each series are left",
                 (unsigned long long)plan->over_bytes);
}

// A rule for sizes wants those of all.
static bool list_candidates(const struct care *care, int64_t now_ns, struct arena *arena,
                            struct stored_list *list, struct err *err)
{
    const struct intake *intake = &care->config.intake;
    const struct retention_rules *rules = &care->config.retention;
    return rules->size_bytes
               ? stored_runs_list(intake->store, blob_stored(intake->blobs), STORED_ALL, arena,
                                  list, err)
               : store_list_old(intake->store, now_ns - rules->days * DAY_NS, arena, list, err);
}

static bool apply_rules(struct care *care, struct arena *arena, struct err *err)
{
    struct stored_list list;
    struct retention_plan plan;
    int64_t now_ns = clock_wall_ns();
    if (!list_candidates(care, now_ns, arena, &list, err) ||
        !retention_plan(&care->config.retention, &list, now_ns, arena, &plan, err))
        return false;
    tell_plan(&plan);
    return move_to_bin(care, &list, &plan, err);
}

// Listing everything stored takes a while, and days do not pass in minutes.
static void expire_runs(struct care *care)
{
    const struct retention_rules *rules = &care->config.retention;
    struct arena arena;
    struct err err;
    int64_t began_ns = clock_mono_ns();
    if ((rules->days == 0 && rules->size_bytes == 0) || began_ns < care->expire_next_ns)
        return;
    arena_init(&arena, NULL);
    if (!apply_rules(care, &arena, &err))
        log_warn("deleting runs by the rules: %s", err.msg);
    arena_free(&arena);
    int64_t ended_ns = clock_mono_ns();
    care->expire_next_ns = ended_ns + retention_pause_ns(ended_ns - began_ns);
}

// Deletes for good the run that was in the bin longest, if it came there before a given time.
static bool purge_one(struct care *care, int64_t before_ns, const char *why, bool *more,
                      struct err *err)
{
    const struct intake *intake = &care->config.intake;
    struct arena arena;
    struct stored_run run;
    arena_init(&arena, NULL);
    bool ok = store_next_in_bin(intake->store, before_ns, &arena, &run, more, err) &&
              (!*more || intake_delete_run(intake, run.id, run.revision, err));
    if (ok && *more)
        note_deletion(care, STR("delete run for good"), &run, why);
    arena_free(&arena);
    return ok;
}

static void purge_old(struct care *care)
{
    int64_t before_ns = clock_wall_ns() - care->config.retention.bin_days * DAY_NS;
    struct err err;
    bool more = true;
    for (int i = 0; more && i < RUNS_AT_ONCE && !atomic_load(&care->stop); i++) {
        if (!purge_one(care, before_ns, "its time in the bin is over", &more, &err)) {
            log_warn("emptying the bin: %s", err.msg);
            return;
        }
        care->must_purge = care->must_purge || more;
        care->must_forget = care->must_forget || more;
    }
}

static bool is_disk_short(const struct care *care)
{
    uint64_t free_bytes, least_bytes = care->config.min_free_bytes;
    struct err err;
    return blob_free_bytes(care->config.intake.blobs, &free_bytes, &err) &&
           free_bytes < least_bytes + least_bytes / 4;
}

// Restorable runs give way before uploads are refused.
static void purge_for_room(struct care *care)
{
    struct err err;
    bool more = true;
    // While a backup holds removed files, deleting more frees nothing.
    while (more && !has_garbage(care) && is_disk_short(care) && !atomic_load(&care->stop)) {
        if (!purge_one(care, INT64_MAX, "the disk is running low", &more, &err)) {
            log_warn("emptying the bin: %s", err.msg);
            return;
        }
        care->must_purge = care->must_purge || more;
        care->must_forget = care->must_forget || more;
    }
}

static void give_up_uploads(struct care *care)
{
    struct err err;
    if (!resumable_sweep(&care->config.intake, &err))
        log_warn("removing expired resumable uploads: %s", err.msg);
}

static bool prune_audit(struct care *care, uint64_t *pruned, struct err *err)
{
    int64_t days = care->config.audit_days;
    *pruned = 0;
    if (days <= 0 || days >= MAX_DAYS)
        return true;
    days = days > STORE_AUDIT_LEAST_DAYS ? days : STORE_AUDIT_LEAST_DAYS;
    int64_t now_s = clock_wall_ns() / SECOND_NS; // the database also compares whole seconds
    return store_prune_audit(care->config.intake.store, now_s * SECOND_NS - days * DAY_NS, pruned,
                             err);
}

static void forget_history(struct care *care)
{
    int64_t now_ns = clock_mono_ns();
    uint64_t pruned = 0, entries = 0;
    struct err err;
    if (care->pruned_ns && now_ns - care->pruned_ns < HOUR_NS)
        return;
    bool ok = store_prune(care->config.intake.store, clock_wall_ns() - HISTORY_NS, &pruned, &err) &&
              prune_audit(care, &entries, &err);
    if (!ok)
        log_warn("deleting old jobs and audit log entries: %s", err.msg);
    // Continues at once while there is more, unless the disk is full.
    care->pruned_ns = ok && (pruned || entries) ? 0 : now_ns;
}

// --- files --------------------------------------------------------------------------------------

static void tell_damage(struct care *care, const struct store_blob *blob, const char *damage)
{
    metrics_add(care->config.metrics, METRIC_SCRUB_BLOBS, 1);
    if (!damage[0])
        return;
    metrics_add(care->config.metrics, METRIC_SCRUB_DAMAGED, 1);
    log_error("the stored file %s %s: upload it again", blob->sha256, damage);
}

static bool scrub_one(struct care *care, bool *more, struct err *err)
{
    const struct intake *intake = &care->config.intake;
    struct scrub_pace pace = {rest, care, SCRUB_BYTES_PS, true};
    struct store_blob blob;
    char damage[STORE_DAMAGE_SIZE];
    if (!store_next_to_scrub(intake->store, clock_wall_ns() - SCRUB_NS, &blob, more, err))
        return false;
    if (!*more)
        return true;
    if (!scrub_file(blob_stored(intake->blobs), &blob, &pace, damage, err) ||
        !store_note_scrub(intake->store, blob.sha256, damage, err))
        return false;
    tell_damage(care, &blob, damage);
    return true;
}

static void count_damaged(struct care *care)
{
    struct arena arena;
    struct damaged_blob *blobs;
    struct err err;
    size_t count;
    arena_init(&arena, NULL);
    if (store_list_damaged(care->config.intake.store, &arena, &blobs, &count, &err)) {
        atomic_store(&care->has_damaged_files, count > 0);
        metrics_set(care->config.metrics, METRIC_DAMAGED_BLOBS, count);
    }
    arena_free(&arena);
}

// Reads files while any is due, with other duties in between.
static void scrub(struct care *care)
{
    int64_t end_ns = clock_mono_ns() + TICK_NS;
    struct err err = {.pos = ERR_NO_POS};
    bool more = true;
    while (more && clock_mono_ns() < end_ns && !atomic_load(&care->stop)) {
        if (!scrub_one(care, &more, &err)) {
            if (err.code != ERR_CANCELLED)
                log_warn("checking stored files: %s", err.msg);
            return;
        }
    }
    count_damaged(care);
}

static void tell_sizes(const struct care *care)
{
    struct metrics *metrics = care->config.metrics;
    uint64_t files, bytes;
    swept_count(&care->swept, BLOB_UPLOAD, &files, &bytes);
    metrics_set(metrics, METRIC_BLOB_FILES, files);
    metrics_set(metrics, METRIC_BLOB_BYTES, bytes);
    swept_count(&care->swept, BLOB_TRACE, &files, &bytes);
    metrics_set(metrics, METRIC_TRACE_FILES, files);
    metrics_set(metrics, METRIC_TRACE_BYTES, bytes);
}

// Only the service that looks after all files knows them.
static void forget_sizes(const struct care *care)
{
    for (enum metric_gauge gauge = METRIC_BLOB_BYTES; gauge <= METRIC_TRACE_FILES; gauge++)
        metrics_unset(care->config.metrics, gauge);
}

// At most 1 % of the time, so sizes are current where there is little to look at. S3 charges for
// each listing.
static int64_t sweep_pause_ns(const struct care *care, int64_t took_ns)
{
    if (!care->config.has_files || took_ns > SWEEP_NS / 100)
        return SWEEP_NS;
    return 100 * took_ns > SWEEP_LEAST_NS ? 100 * took_ns : SWEEP_LEAST_NS;
}

static void end_uploads(struct care *care)
{
    struct err err;
    if (clock_mono_ns() < care->upload_next_ns)
        return;
    bool ok = blob_store_end_uploads(blob_stored(care->config.intake.blobs), &err);
    if (!ok)
        log_warn("uploads in parts of interrupted writers remain: %s", err.msg);
    care->upload_next_ns = clock_mono_ns() + (ok ? DAY_NS : SWEEP_NS);
}

// What a process that was killed or a failed removal left, and what this service received of an
// upload that ended at another one.
static void sweep_files(struct care *care)
{
    struct err err;
    int64_t begun_ns = clock_mono_ns();
    if (begun_ns < care->sweep_next_ns)
        return;
    if (intake_sweep_unnamed(&care->config.intake, &care->swept, &err))
        tell_sizes(care);
    else
        log_warn("looking for unreferenced files: %s", err.msg);
    if (!resumable_sweep_files(&care->config.intake, &err))
        log_warn("looking for files of finished uploads: %s", err.msg);
    care->sweep_next_ns = clock_mono_ns() + sweep_pause_ns(care, clock_mono_ns() - begun_ns);
}

// Only this service can remove what it received of uploads that ended at others.
static void sweep_pieces(struct care *care)
{
    struct err err;
    if (clock_mono_ns() < care->pieces_next_ns)
        return;
    if (!resumable_sweep_own(&care->config.intake, &err))
        log_warn("looking for files of finished uploads: %s", err.msg);
    care->pieces_next_ns = clock_mono_ns() + SWEEP_NS;
}

// At most 1 % of the time.
static void measure_steps(struct care *care)
{
    int64_t begun_ns = clock_mono_ns();
    if (begun_ns < care->steps_next_ns)
        return;
    metrics_set(care->config.metrics, METRIC_STEPS_BYTES,
                data_folder_bytes(blob_root(care->config.intake.blobs), "steps"));
    care->steps_next_ns = begun_ns + 100 * (clock_mono_ns() - begun_ns);
}

static void keep_ballast(struct care *care)
{
    uint64_t free_bytes;
    struct err err;
    if (!blob_free_bytes(care->config.intake.blobs, &free_bytes, &err) ||
        !ballast_make(&care->ballast, free_bytes, &err))
        log_warn("making the ballast: %s", err.msg);
    pthread_mutex_lock(&care->lock);
    care->status.has_ballast = atomic_load(&care->ballast.is_there);
    pthread_mutex_unlock(&care->lock);
}

// Large comparisons leave freed memory in the allocator's arenas.
static void give_memory_back(struct care *care)
{
    int64_t now_ns = clock_mono_ns();
    if (now_ns - care->trimmed_ns < TRIM_NS)
        return;
    malloc_trim(0);
    care->trimmed_ns = now_ns;
}

// A reader of the log gets counts that are up to date.
static void settle_audit(struct care *care)
{
    int64_t now_ns = clock_mono_ns();
    if (now_ns - care->settled_ns < SETTLE_NS)
        return;
    audit_settle(care->config.audit);
    care->settled_ns = now_ns;
}

// --- the thread ---------------------------------------------------------------------------------

// Whether this service looks after what all services share.
static bool leads(struct care *care)
{
    struct store *store = care->config.intake.store;
    struct err err;
    bool leads = true;
    if (store_is_shared(store) && !store_take_role(store, "care", &leads, &err))
        log_warn("deciding who looks after the data: %s", err.msg);
    return leads;
}

// So that no other service that keeps files on its own disk joins.
static void keep_files(const struct care *care)
{
    struct store *store = care->config.intake.store;
    struct err err;
    bool is_only;
    if (care->config.has_files && store_is_shared(store) &&
        !store_take_role(store, CARE_FILES_ROLE, &is_only, &err))
        log_warn("keeping the role of the files: %s", err.msg);
}

// Where services share a database, one of a newer version may have come.
static bool knows_tables(struct care *care)
{
    struct err err = {.pos = ERR_NO_POS};
    bool is_newer = !store_check_schema(care->config.intake.store, &err);
    if (is_newer && err.code != ERR_UNSUPPORTED) // the database does not answer
        return !care->said_newer;
    if (is_newer && !care->said_newer)
        log_error("nothing is stored any more: %s", err.msg);
    care->said_newer = is_newer;
    return !is_newer;
}

static void do_duties(struct care *care)
{
    struct disk_fault *fault = blob_fault(care->config.intake.blobs);
    bool can_write = disk_fault_check(fault, NULL) && knows_tables(care);
    metrics_set(care->config.metrics, METRIC_WRITES_OK, can_write);
    give_memory_back(care);
    export_spool_expire(care->config.spool);
    measure_steps(care);
    if (!can_write) // a restart is needed, or an update
        return;
    keep_ballast(care);
    settle_audit(care);
    keep_files(care);
    if (!leads(care)) {
        forget_sizes(care);
        sweep_pieces(care);
        return;
    }
    if (care->config.has_files) // else runs take no room here
        purge_for_room(care);
    if (is_clock_believed(care)) {
        expire_runs(care);
        purge_old(care);
        forget_history(care);
        give_up_uploads(care);
    }
    tidy_up(care);
    end_uploads(care);
    sweep_files(care);
    scrub(care);
    if (clock_mono_ns() - care->looked_ns > CHECK_AGAIN_NS && is_full_check_due(care))
        check_database(care, true);
}

static void *run(void *context)
{
    struct care *care = context;
    keep_ballast(care);
    check_at_start(care);
    do
        do_duties(care);
    while (wait_for(care, TICK_NS, true));
    return NULL;
}

struct care *care_open(const struct care_config *config, struct err *err)
{
    struct care *care = calloc(1, sizeof *care);
    if (!care) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    care->config = *config;
    care->trimmed_ns = clock_mono_ns();
    care->must_purge = true;             // deletions by the previous process
    care->must_forget = config->crashed; // which may have had no time to
    ballast_init(&care->ballast, blob_root(config->intake.blobs), config->ballast_bytes);
    store_on_full(config->intake.store, ballast_drop, &care->ballast);
    cond_init(&care->changed);
    pthread_mutex_init(&care->lock, NULL);
    write_probe_init(&care->probe);
    recall_clock(care);  // before a request needs it to decide what has expired
    count_damaged(care); // damage found earlier is known from the first request on
    if (config->retention.bin_days == 0)
        purge_old(care); // deletions interrupted when the last process died
    if (pthread_create(&care->thread, NULL, run, care) == 0)
        return care;
    err_set(err, ERR_LIMIT, "cannot start the thread that looks after the data");
    store_on_full(config->intake.store, NULL, NULL);
    free(care);
    return NULL;
}

void care_close(struct care *care)
{
    if (!care)
        return;
    atomic_store(&care->stop, true);
    pthread_mutex_lock(&care->lock);
    pthread_cond_broadcast(&care->changed);
    pthread_mutex_unlock(&care->lock);
    pthread_join(care->thread, NULL);
    store_on_full(care->config.intake.store, NULL, NULL);
    pthread_cond_destroy(&care->changed);
    pthread_mutex_destroy(&care->lock);
    write_probe_destroy(&care->probe);
    free(care);
}

void care_wake(struct care *care)
{
    if (!care)
        return;
    pthread_mutex_lock(&care->lock);
    care->woken = true;
    pthread_cond_broadcast(&care->changed);
    pthread_mutex_unlock(&care->lock);
}

void care_status(struct care *care, struct care_status *status)
{
    pthread_mutex_lock(&care->lock);
    *status = care->status;
    pthread_mutex_unlock(&care->lock);
}

int64_t care_clock_ns(struct care *care)
{
    int64_t wall_ns = clock_wall_ns();
    if (!care)
        return wall_ns;
    pthread_mutex_lock(&care->lock);
    int64_t clock_ns = retention_clock_ns(&care->retention, wall_ns, clock_mono_ns());
    pthread_mutex_unlock(&care->lock);
    return clock_ns;
}

bool care_probe(struct care *care, struct err *err)
{
    return !care || write_probe_try(&care->probe, &care->config.intake, err);
}

const char *care_storage_word(struct care *care)
{
    if (!care)
        return "sound";
    if (!blob_check_writable(care->config.intake.blobs, NULL))
        return "disk";
    if (atomic_load(&care->has_damaged_database))
        return "database";
    return atomic_load(&care->has_damaged_files) ? "files" : "sound";
}

bool care_check(struct care *care, struct err *err)
{
    struct care_status status;
    if (!care)
        return true;
    care_status(care, &status);
    return blob_check_writable(care->config.intake.blobs, err) &&
           (!status.check.damage[0] ||
            err_set(err, ERR_BUSY, "the database is damaged, restore a backup: %.150s",
                    status.check.damage));
}
