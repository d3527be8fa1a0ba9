// SPDX-License-Identifier: Apache-2.0
// LISTEN and NOTIFY. Notices are folded and committed on this connection alone: NOTIFY takes a lock
// of the whole PostgreSQL instance, for which no transaction of the store should wait.
#include "server/db/db_notice.h"

#include "ingest/base/log.h"
#include "server/db/db_postgres.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

// One channel per schema, so that several stores in one database do not wake each other.
#define TELL   "SELECT pg_notify('stepscope ' || current_schema(), '')"
#define LISTEN "DO $$ BEGIN EXECUTE format('LISTEN %I', 'stepscope ' || current_schema()); END $$"

enum { RETRY_MS = 5000, QUIET_MS = 10 };

struct db_notice {
    struct db *db;
    void (*heard)(void *context);
    void *context;
    pthread_t thread;
    int wake_fd;
    atomic_bool stop;
    bool is_listening;
};

static bool run_text(struct db_postgres *pg, const char *text, struct err *err)
{
    PGresult *result = pg->pq.execute(pg->conn, text);
    int status = result ? pg->pq.result_status(result) : -1;
    bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!ok)
        postgres_fail(pg, result, err);
    pg->pq.clear(result);
    return ok;
}

// What others said meanwhile is lost, so the caller is asked to look.
static bool listen_again(struct db_notice *notice, struct err *err)
{
    struct db_postgres *pg = db_postgres_of(notice->db);
    if (notice->is_listening)
        return true;
    if (!postgres_revive(pg, err) || !run_text(pg, LISTEN, err))
        return false;
    notice->is_listening = true;
    notice->heard(notice->context);
    return true;
}

// Our own notices come back, too.
static void take_notices(struct db_notice *notice)
{
    struct db_postgres *pg = db_postgres_of(notice->db);
    bool is_new = false;
    if (!pg->pq.consume(pg->conn)) {
        pg->is_lost = true;
        notice->is_listening = false;
    }
    for (struct pg_notify *one; (one = pg->pq.notified(pg->conn));) {
        is_new = is_new || one->process != pg->pq.process(pg->conn);
        pg->pq.free(one);
    }
    if (is_new)
        notice->heard(notice->context);
}

static void tell_others(struct db_notice *notice, struct err *err)
{
    struct db_postgres *pg = db_postgres_of(notice->db);
    if (!run_text(pg, TELL, err))
        notice->is_listening = !pg->is_lost && notice->is_listening;
}

// Waits until this service or another has something to say.
static void wait_for_words(struct db_notice *notice, bool *ours)
{
    uint64_t count;
    struct db_postgres *pg = db_postgres_of(notice->db);
    struct pollfd ends[2] = {
        {.fd = notice->wake_fd, .events = POLLIN},
        {.fd = notice->is_listening ? pg->pq.socket(pg->conn) : -1, .events = POLLIN}};
    int found = poll(ends, 2, notice->is_listening ? -1 : RETRY_MS);
    *ours = found > 0 && ends[0].revents && read(notice->wake_fd, &count, sizeof count) > 0;
}

static void *work(void *context)
{
    struct db_notice *notice = context;
    bool ours = false;
    while (!atomic_load(&notice->stop)) {
        struct err err = {.pos = ERR_NO_POS};
        if (!listen_again(notice, &err)) {
            log_warn("listening to other services: %s", err.msg);
        } else {
            if (ours)
                tell_others(notice, &err);
            take_notices(notice);
            ours = false;
            if (!notice->is_listening) // the connection was just lost
                continue;
        }
        wait_for_words(notice, &ours);
        if (ours) // a burst of uploads is one notice
            poll(NULL, 0, QUIET_MS);
    }
    return NULL;
}

static void release(struct db_notice *notice)
{
    db_close(notice->db, true);
    if (notice->wake_fd >= 0)
        close(notice->wake_fd);
    free(notice);
}

struct db_notice *db_notice_open(const char *place, void (*heard)(void *context), void *context,
                                 struct err *err)
{
    struct db_notice *notice = calloc(1, sizeof *notice);
    if (!notice) {
        err_set(err, ERR_MEMORY, "out of memory");
        return NULL;
    }
    notice->heard = heard;
    notice->context = context;
    notice->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bool ok = notice->wake_fd >= 0 || err_set_errno(err, "eventfd");
    ok = ok && (db_postgres.is_place(place) ||
                err_set(err, ERR_UNSUPPORTED, "no other service shares this database"));
    notice->db = ok ? db_open(place, DB_READ, NULL, err) : NULL;
    if (notice->db && pthread_create(&notice->thread, NULL, work, notice) == 0)
        return notice;
    if (notice->db)
        err_set(err, ERR_LIMIT, "cannot start a thread");
    release(notice);
    return NULL;
}

static void wake(struct db_notice *notice)
{
    uint64_t one = 1;
    while (write(notice->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
        continue;
}

void db_notice_tell(struct db_notice *notice)
{
    if (notice)
        wake(notice);
}

void db_notice_close(struct db_notice *notice)
{
    if (!notice)
        return;
    atomic_store(&notice->stop, true);
    wake(notice);
    pthread_join(notice->thread, NULL);
    release(notice);
}
