// SPDX-License-Identifier: Apache-2.0
// Quotas: what the store has counted, plus what uploads in progress will add.
#include "server/access/quota.h"

#include "server/base/services.h"
#include "server/store/store_access.h"

#include "ingest/base/clock.h"
#include "ingest/base/log.h"

#include <pthread.h>
#include <stdlib.h>

#define DAY_S     ((int64_t)86400)
#define MOST_OWED ((uint64_t)1 << 20)
#define OWED_NS   ((int64_t)60 * 1000000000)

// Someone's uploads in progress, and what else was received.
struct holder {
    char key[80];
    int64_t uploads;
    uint64_t bytes;       // received so far and not in the store yet
    uint64_t new_bytes;   // of these, those to be stored
    uint64_t owed;        // of these, those of no upload
    int64_t owed_ns;      // since when
    struct quota_use use; // last answer of the store
    bool knows_use;       // nothing of this holder's was counted since
    struct holder *next;
};

struct quota {
    struct store *store;
    struct quota_limits defaults;
    pthread_mutex_t lock;
    struct holder *holders; // those with uploads, or with bytes that are not in the store yet
};

struct quota *quota_new(struct store *store, const struct quota_limits *defaults, struct err *err)
{
    struct quota *quota = calloc(1, sizeof(*quota));
    if (!quota) {
        err_set(err, ERR_MEMORY, "out of memory for quotas");
        return NULL;
    }
    quota->store = store;
    quota->defaults = *defaults;
    pthread_mutex_init(&quota->lock, NULL);
    return quota;
}

static void charge(const struct quota *quota, struct str who, uint64_t bytes)
{
    struct err err = {0};
    if (bytes && !store_quota_charge(quota->store, who, store_today(), bytes, &err))
        log_error("received bytes were not counted: %s", err.msg);
}

void quota_free(struct quota *quota)
{
    while (quota && quota->holders) {
        struct holder *first = quota->holders;
        quota->holders = first->next;
        charge(quota, str_of(first->key), first->owed);
        free(first);
    }
    if (quota)
        pthread_mutex_destroy(&quota->lock);
    free(quota);
}

// --- uploads in progress ------------------------------------------------------------------------

static struct holder **find_holder(struct quota *quota, struct str key)
{
    struct holder **at = &quota->holders;
    while (*at && !str_equal(str_of((*at)->key), key))
        at = &(*at)->next;
    return at;
}

static struct holder *get_holder(struct quota *quota, struct str key, struct err *err)
{
    struct holder **at = find_holder(quota, key);
    if (*at)
        return *at;
    *at = calloc(1, sizeof(**at));
    if (*at)
        memcpy((*at)->key, key.at, key.len);
    else
        err_set(err, ERR_MEMORY, "out of memory for quotas");
    return *at;
}

static void drop_holder(struct quota *quota, struct str key)
{
    struct holder **at = find_holder(quota, key), *gone = *at;
    if (!gone || gone->uploads || gone->bytes)
        return;
    *at = gone->next;
    free(gone);
}

// --- limits -------------------------------------------------------------------------------------

static int64_t own_or(int64_t own, int64_t otherwise)
{
    return own >= 0 ? own : otherwise;
}

static struct quota_limits limits_of(const struct quota *quota, const struct principal *who)
{
    return (struct quota_limits){own_or(who->limits.day_bytes, quota->defaults.day_bytes),
                                 own_or(who->limits.stored_bytes, quota->defaults.stored_bytes),
                                 own_or(who->limits.in_flight, quota->defaults.in_flight)};
}

// What remains of a limit; INT64_MAX without one.
static int64_t left_of(int64_t limit, int64_t used, uint64_t reserved)
{
    if (limit == 0)
        return INT64_MAX;
    if (used >= limit || reserved >= (uint64_t)(limit - used))
        return 0;
    return limit - used - (int64_t)reserved;
}

static bool refuse_day(struct request *request, struct response *response, int64_t left,
                       struct err *err)
{
    int64_t wait_s = DAY_S - clock_wall_ns() / 1000000000 % DAY_S;
    response_header(response, request->arena, "Retry-After", "%lld", (long long)wait_s);
    return response_refuse(response, err, (struct refusal){429, "quota-day"},
                           "%.*s may upload %lld more bytes today, too few for this upload",
                           (int)request->who.name.len, request->who.name.at, (long long)left);
}

static bool refuse_stored(struct request *request, struct response *response, int64_t left,
                          struct err *err)
{
    response->fix = STR("delete runs that are not needed any more, or ask for a higher limit");
    return response_refuse(response, err, (struct refusal){507, "quota-stored"},
                           "%.*s may store %lld more bytes, too few for this upload",
                           (int)request->who.name.len, request->who.name.at, (long long)left);
}

static bool refuse_in_flight(struct request *request, struct response *response, int64_t most,
                             struct err *err)
{
    response_retry_later(response, request);
    return response_refuse(response, err, (struct refusal){429, "quota-in-flight"},
                           "%.*s has %lld uploads in progress, its limit",
                           (int)request->who.name.len, request->who.name.at, (long long)most);
}

// What remains of both limits after uploads in progress.
struct room {
    int64_t day, stored;
};

static struct room room_of(const struct quota *quota, const struct holder *holder,
                           const struct request *request)
{
    struct quota_limits limits = limits_of(quota, &request->who);
    return (struct room){
        left_of(limits.day_bytes, holder->use.day_bytes, holder->bytes),
        request->quota_stores_nothing
            ? INT64_MAX
            : left_of(limits.stored_bytes, holder->use.stored_bytes, holder->new_bytes)};
}

static bool fits(int64_t left, uint64_t bytes)
{
    return left > 0 && bytes <= (uint64_t)left;
}

// Whether this many more bytes may come; called with the lock. The store is asked before anything
// is refused, and otherwise only if something of this holder's was counted.
static bool check_room(struct quota *quota, struct holder *holder, struct request *request,
                       struct response *response, uint64_t bytes, struct err *err)
{
    struct room room = room_of(quota, holder, request);
    if (holder->knows_use && fits(room.day, bytes) && fits(room.stored, bytes))
        return true;
    if (!store_quota_use(quota->store, request->who.key, store_today(), &holder->use, err))
        return false;
    holder->knows_use = true;
    room = room_of(quota, holder, request);
    if (!fits(room.day, bytes))
        return refuse_day(request, response, room.day, err);
    return fits(room.stored, bytes) || refuse_stored(request, response, room.stored, err);
}

// Counts received bytes; called with the lock. Bytes leave these counts only once they are in the
// store.
static bool reserve(struct quota *quota, struct holder *holder, struct request *request,
                    struct response *response, uint64_t bytes, struct err *err)
{
    if (!check_room(quota, holder, request, response, bytes, err))
        return false;
    request->quota_bytes += bytes;
    holder->bytes += bytes;
    holder->new_bytes += request->quota_stores_nothing ? 0 : bytes;
    return true;
}

// Gives back reserved bytes; called with the lock.
static void give_back(struct holder *holder, struct request *request, uint64_t bytes)
{
    bytes = bytes < request->quota_bytes ? bytes : request->quota_bytes;
    request->quota_bytes -= bytes;
    holder->bytes -= bytes;
    holder->new_bytes -= request->quota_stores_nothing ? 0 : bytes;
    holder->knows_use = false;
}

// --- uploads ------------------------------------------------------------------------------------

bool quota_grow(struct request *request, struct response *response, struct err *err)
{
    struct quota *quota = request->services->quota;
    uint64_t received = request->body->received;
    if (!quota || request->who.key.len == 0 || received <= request->quota_bytes)
        return true;
    pthread_mutex_lock(&quota->lock);
    struct holder *holder = *find_holder(quota, request->who.key);
    bool ok = reserve(quota, holder, request, response, received - request->quota_bytes, err);
    pthread_mutex_unlock(&quota->lock);
    return ok;
}

static bool enter(struct quota *quota, struct request *request, struct response *response,
                  uint64_t bytes, struct err *err)
{
    int64_t most = limits_of(quota, &request->who).in_flight;
    struct holder *holder = get_holder(quota, request->who.key, err);
    if (!holder)
        return false;
    if (most && holder->uploads >= most)
        return refuse_in_flight(request, response, most, err);
    if (!check_room(quota, holder, request, response, bytes, err))
        return false;
    holder->uploads++;
    return true;
}

static bool admit(struct request *request, struct response *response, uint64_t announced_bytes,
                  struct err *err)
{
    struct quota *quota = request->services->quota;
    bool is_known = announced_bytes != BODY_UNKNOWN;
    if (!quota || request->who.key.len == 0)
        return true;
    pthread_mutex_lock(&quota->lock);
    bool ok = enter(quota, request, response, is_known ? announced_bytes : 0, err);
    drop_holder(quota, request->who.key);
    pthread_mutex_unlock(&quota->lock);
    return ok;
}

bool quota_admit(struct request *request, struct response *response, uint64_t announced_bytes,
                 struct err *err)
{
    request->quota_stores_nothing = false;
    return admit(request, response, announced_bytes, err);
}

bool quota_admit_repeat(struct request *request, struct response *response, struct err *err)
{
    request->quota_stores_nothing = true;
    return admit(request, response, request->body->length, err);
}

void quota_settle(struct request *request, uint64_t counted_bytes)
{
    struct quota *quota = request->services->quota;
    if (!quota || request->who.key.len == 0)
        return;
    request->quota_counted += counted_bytes;
    pthread_mutex_lock(&quota->lock);
    struct holder *holder = *find_holder(quota, request->who.key);
    if (holder)
        give_back(holder, request, counted_bytes);
    pthread_mutex_unlock(&quota->lock);
}

// Bytes of failed uploads are counted before the reservation goes, so that nothing slips in
// between.
static void charge_rest(const struct quota *quota, const struct request *request)
{
    uint64_t received = request->body->received, counted = request->quota_counted;
    charge(quota, request->who.key, received > counted ? received - counted : 0);
}

void quota_leave(struct request *request)
{
    struct quota *quota = request->services->quota;
    if (!quota || request->who.key.len == 0)
        return;
    charge_rest(quota, request);
    pthread_mutex_lock(&quota->lock);
    struct holder *holder = *find_holder(quota, request->who.key);
    if (holder && holder->uploads) {
        give_back(holder, request, request->quota_bytes);
        holder->uploads--;
    }
    drop_holder(quota, request->who.key);
    pthread_mutex_unlock(&quota->lock);
}

// --- what is no upload --------------------------------------------------------------------------

// Takes what the store is to hear of now: all once it is much, or old. Called with the lock.
static uint64_t take_owed(struct holder *holder)
{
    uint64_t owed = holder->owed;
    if (owed < MOST_OWED && clock_mono_ns() - holder->owed_ns < OWED_NS)
        return 0;
    holder->owed = 0;
    return owed;
}

static bool owe(struct quota *quota, struct request *request, struct response *response,
                uint64_t bytes, uint64_t *due, struct err *err)
{
    struct holder *holder = get_holder(quota, request->who.key, err);
    request->quota_stores_nothing = true;
    if (!holder || !check_room(quota, holder, request, response, bytes, err))
        return false;
    if (!holder->owed)
        holder->owed_ns = clock_mono_ns();
    holder->owed += bytes;
    holder->bytes += bytes;
    *due = take_owed(holder);
    return true;
}

// As with uploads, bytes leave these counts only once they are in the store.
static void forget_owed(struct quota *quota, struct str key, uint64_t bytes)
{
    pthread_mutex_lock(&quota->lock);
    struct holder *holder = *find_holder(quota, key);
    holder->bytes -= bytes; // which kept it
    holder->knows_use = false;
    drop_holder(quota, key);
    pthread_mutex_unlock(&quota->lock);
}

bool quota_spend(struct request *request, struct response *response, uint64_t bytes,
                 struct err *err)
{
    struct quota *quota = request->services->quota;
    uint64_t due = 0;
    if (!quota || request->who.key.len == 0)
        return true;
    pthread_mutex_lock(&quota->lock);
    bool ok = owe(quota, request, response, bytes, &due, err);
    drop_holder(quota, request->who.key);
    pthread_mutex_unlock(&quota->lock);
    charge(quota, request->who.key, due);
    if (due)
        forget_owed(quota, request->who.key, due);
    return ok;
}
