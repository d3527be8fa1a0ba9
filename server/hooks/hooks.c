// SPDX-License-Identifier: Apache-2.0
#include "server/hooks/hooks.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"
#include "server/base/cond.h"
#include "server/hooks/hook_news.h"
#include "server/outbound/http_client.h"
#include "server/store/store_announced.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS     1000000000LL
#define LONGEST_NS    (3600 * SECOND_NS)  // between two tries
#define GIVE_UP_NS    (86400 * SECOND_NS) // after the event
#define LOOK_NS       (3600 * SECOND_NS)  // without a sign that something is new
#define QUIET_LOOK_NS (10 * SECOND_NS)
enum { ANSWER_SECONDS = 15, FIRST_WAIT_S = 5 };

struct hooks {
    struct hook_targets targets;
    struct http_client *client;
    struct http_answer answer;
    struct hook_news news;
    char base_url[512];
    pthread_t thread;

    pthread_mutex_t lock; // guards the members below
    pthread_cond_t changed;
    struct hook_queue queue;
    bool look, stop;
};

static bool is_stopping(void *context)
{
    struct hooks *hooks = context;
    pthread_mutex_lock(&hooks->lock);
    bool stop = hooks->stop;
    pthread_mutex_unlock(&hooks->lock);
    return stop;
}

// --- one delivery -------------------------------------------------------------------------------

static bool sign(const struct hook_delivery *delivery, long long seconds, struct buf *header,
                 struct err *err)
{
    struct buf text = {0};
    buf_printf(&text, "%s.%lld.%s", delivery->key, seconds, delivery->body);
    buf_puts(header, "webhook-signature: ");
    bool ok = buf_ok(&text, err) &&
              hook_sign(delivery->target->secret, (struct str){text.at, text.len}, header, err);
    buf_free(&text);
    return ok;
}

static bool send_delivery(struct hooks *hooks, const struct hook_delivery *delivery,
                          struct err *err)
{
    char id[256], at[64];
    struct buf signature = {0};
    long long seconds = clock_wall_ns() / SECOND_NS;
    snprintf(id, sizeof id, "webhook-id: %s", delivery->key);
    snprintf(at, sizeof at, "webhook-timestamp: %lld", seconds);
    bool ok = !delivery->target->secret || sign(delivery, seconds, &signature, err);
    const char *headers[] = {"Content-Type: application/json", id, at, signature.at};
    const struct http_call call = {.method = "POST",
                                   .url = delivery->target->url,
                                   .headers = headers,
                                   .header_count = signature.len ? 4 : 3,
                                   .body = str_of(delivery->body),
                                   .timeout_s = ANSWER_SECONDS,
                                   .stop = is_stopping,
                                   .context = hooks};
    ok = ok && http_client_call(hooks->client, &call, &hooks->answer, err);
    buf_free(&signature);
    return ok;
}

// Whether a later try may succeed.
static bool may_pass(long status)
{
    return status == 0 || status == 408 || status == 425 || status == 429 || status >= 500;
}

static int64_t next_wait_ns(const struct hooks *hooks, int attempts)
{
    int64_t asked = http_answer_retry_s(&hooks->answer, LONGEST_NS / SECOND_NS);
    int64_t wait_ns = attempts < 12 ? (FIRST_WAIT_S * SECOND_NS) << attempts : LONGEST_NS;
    wait_ns = wait_ns < LONGEST_NS ? wait_ns : LONGEST_NS;
    return asked * SECOND_NS > wait_ns ? asked * SECOND_NS : wait_ns;
}

// Records it in the store, so that no other service sends it later. Called with the lock held,
// which is released meanwhile.
static void end_delivery(struct hooks *hooks, struct hook_delivery *delivery)
{
    char key[256];
    struct err err;
    struct store *store = hooks->news.store;
    snprintf(key, sizeof key, "%s", delivery->key);
    hook_queue_remove(&hooks->queue, delivery);
    if (!store_is_shared(store) || hook_queue_waits(&hooks->queue, key))
        return;
    pthread_mutex_unlock(&hooks->lock);
    if (!store_note_announced(store, key, &err))
        log_warn("webhook %s may go out twice: %s", key, err.msg);
    pthread_mutex_lock(&hooks->lock);
}

// Called with the lock held, which is released while sending.
static void try_delivery(struct hooks *hooks, struct hook_delivery *delivery)
{
    struct err why = {.pos = ERR_NO_POS};
    pthread_mutex_unlock(&hooks->lock);
    bool answered = send_delivery(hooks, delivery, &why);
    pthread_mutex_lock(&hooks->lock);
    long status = answered ? hooks->answer.status : 0;
    if (status / 100 == 2) {
        end_delivery(hooks, delivery);
        return;
    }
    if (why.code == ERR_CANCELLED)
        return;
    bool gives_up = !may_pass(status) || clock_wall_ns() - delivery->at_ns > GIVE_UP_NS;
    if (delivery->attempts == 0 || gives_up) // not the address, which may be a secret
        log_warn("webhook %s to target %s: %s (status %ld)%s", delivery->key, delivery->target->id,
                 answered ? "refused" : why.msg, status, gives_up ? ", given up" : "");
    if (gives_up) {
        end_delivery(hooks, delivery);
        return;
    }
    delivery->due_ns = clock_mono_ns() + next_wait_ns(hooks, delivery->attempts++);
}

// --- the thread ---------------------------------------------------------------------------------

// Of the services that share a store, one looks for news, including what others analyzed. If it has
// not for a minute, another one takes over.
static bool look_as_leader(struct hooks *hooks, bool *again, struct err *err)
{
    struct store *store = hooks->news.store;
    bool is_shared = store_is_shared(store), leads = true;
    bool ok = (!is_shared || store_take_role(store, "hooks", &leads, err)) &&
              (!leads || hook_news_look(&hooks->news, &hooks->queue, again, err));
    *again = *again || is_shared;
    return ok;
}

// Returns when to look again. Called with the lock held, which is released while the store is read.
static int64_t look(struct hooks *hooks)
{
    struct err err = {.pos = ERR_NO_POS};
    bool again = false;
    hooks->look = false;
    pthread_mutex_unlock(&hooks->lock);
    bool ok = look_as_leader(hooks, &again, &err);
    pthread_mutex_lock(&hooks->lock);
    if (!ok)
        log_warn("webhooks: %s", err.msg);
    return clock_mono_ns() + (again || !ok ? QUIET_LOOK_NS : LOOK_NS);
}

static void *work(void *context)
{
    struct hooks *hooks = context;
    int64_t look_ns = 0;
    pthread_mutex_lock(&hooks->lock);
    while (!hooks->stop) {
        int64_t now = clock_mono_ns();
        if (hooks->look || now >= look_ns)
            look_ns = look(hooks);
        struct hook_delivery *next = hook_queue_next(&hooks->queue);
        if (next && next->due_ns <= clock_mono_ns())
            try_delivery(hooks, next);
        else if (!hooks->look && !hooks->stop)
            cond_wait_until(&hooks->changed, &hooks->lock,
                            next && next->due_ns < look_ns ? next->due_ns : look_ns);
    }
    pthread_mutex_unlock(&hooks->lock);
    return NULL;
}

// --- from outside -------------------------------------------------------------------------------

void hooks_look(struct hooks *hooks)
{
    if (!hooks)
        return;
    pthread_mutex_lock(&hooks->lock);
    hooks->look = true;
    pthread_cond_signal(&hooks->changed);
    pthread_mutex_unlock(&hooks->lock);
}

bool hooks_post(struct hooks *hooks, const struct hook_event *event)
{
    struct err err = {.pos = ERR_NO_POS};
    if (!hooks)
        return true;
    pthread_mutex_lock(&hooks->lock);
    bool ok = hook_queue_add(&hooks->queue, event, &err);
    pthread_cond_signal(&hooks->changed);
    pthread_mutex_unlock(&hooks->lock);
    if (!ok)
        log_warn("webhook %s: %s", event->key, err.msg);
    return ok;
}

static bool prepare(struct hooks *hooks, const struct hooks_config *config, struct err *err)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s/hooks", config->data_dir);
    snprintf(hooks->base_url, sizeof hooks->base_url, "%s", config->base_url);
    hooks->news.store = config->store;
    hooks->news.base_url = hooks->base_url;
    hooks->news.lock = &hooks->lock;
    hooks->queue.seen_fd = -1;
    if (!hook_targets_read(&hooks->targets, config->targets_path, err) ||
        !hook_queue_open(&hooks->queue, folder, &hooks->targets, err))
        return false;
    hooks->client = http_client_open(err);
    return hooks->client != NULL;
}

static void release(struct hooks *hooks)
{
    hook_queue_free(&hooks->queue);
    hook_targets_free(&hooks->targets);
    http_client_close(hooks->client);
    http_answer_free(&hooks->answer);
    pthread_mutex_destroy(&hooks->lock);
    pthread_cond_destroy(&hooks->changed);
    free(hooks);
}

struct hooks *hooks_open(const struct hooks_config *config, struct err *err)
{
    struct hooks *hooks = calloc(1, sizeof *hooks);
    if (!hooks) {
        err_set(err, ERR_MEMORY, "out of memory for webhooks");
        return NULL;
    }
    pthread_mutex_init(&hooks->lock, NULL);
    cond_init(&hooks->changed);
    if (prepare(hooks, config, err)) {
        if (pthread_create(&hooks->thread, NULL, work, hooks) == 0)
            return hooks;
        err_set(err, ERR_LIMIT, "cannot start the thread of webhooks");
    }
    release(hooks);
    return NULL;
}

void hooks_close(struct hooks *hooks)
{
    if (!hooks)
        return;
    pthread_mutex_lock(&hooks->lock);
    hooks->stop = true;
    pthread_cond_signal(&hooks->changed);
    pthread_mutex_unlock(&hooks->lock);
    pthread_join(hooks->thread, NULL);
    release(hooks);
}
