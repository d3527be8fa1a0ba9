// SPDX-License-Identifier: Apache-2.0
// Failures by address, in a table of fixed size; and in that of the store, where services share
// one.
#include "server/access/login_guard.h"

#include "server/store/store_access.h"

#include "ingest/base/hash.h"
#include "ingest/base/log.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 256, WAYS = 8 };

struct failures {
    uint64_t address; // its hash; 0 free
    int64_t at_ns[LOGIN_GUARD_FAILURES];
    unsigned next; // in at_ns: the oldest
};

struct login_guard {
    struct store *shared; // NULL: nobody else counts
    pthread_mutex_t lock;
    struct failures table[SETS][WAYS];
};

static const struct store_login_limit limit = {LOGIN_GUARD_FAILURES, LOGIN_GUARD_WINDOW_NS};

struct login_guard *login_guard_new(struct store *shared, struct err *err)
{
    struct login_guard *guard = calloc(1, sizeof(*guard));
    if (!guard) {
        err_set(err, ERR_MEMORY, "out of memory for the table of failures");
        return NULL;
    }
    guard->shared = shared;
    pthread_mutex_init(&guard->lock, NULL);
    return guard;
}

void login_guard_free(struct login_guard *guard)
{
    if (guard)
        pthread_mutex_destroy(&guard->lock);
    free(guard);
}

// Whoever has one IPv6 address usually has all 2^64 of its /64 network.
static uint64_t key_of(struct str address)
{
    char text[INET6_ADDRSTRLEN] = "";
    struct in6_addr v6;
    if (address.len < sizeof(text))
        memcpy(text, address.at, address.len);
    if (inet_pton(AF_INET6, text, &v6) == 1 && !IN6_IS_ADDR_V4MAPPED(&v6))
        return hash_bytes((const char *)&v6, sizeof(v6) / 2) | 1;
    return hash_bytes(address.at, address.len) | 1;
}

static struct failures *find(struct login_guard *guard, uint64_t key)
{
    struct failures *set = guard->table[(key >> 8) % SETS];
    for (int i = 0; i < WAYS; i++)
        if (set[i].address == key)
            return &set[i];
    return NULL;
}

static int64_t newest(const struct failures *failures)
{
    unsigned last = (failures->next + LOGIN_GUARD_FAILURES - 1) % LOGIN_GUARD_FAILURES;
    return failures->address ? failures->at_ns[last] : INT64_MIN;
}

static struct failures *push_out(struct login_guard *guard, uint64_t key)
{
    struct failures *set = guard->table[(key >> 8) % SETS], *oldest = &set[0];
    for (int i = 1; i < WAYS; i++)
        if (newest(&set[i]) < newest(oldest))
            oldest = &set[i];
    *oldest = (struct failures){.address = key};
    for (int i = 0; i < LOGIN_GUARD_FAILURES; i++)
        oldest->at_ns[i] = INT64_MIN / 2; // long ago
    return oldest;
}

static int64_t wait_here_ns(struct login_guard *guard, uint64_t key, int64_t mono_ns)
{
    pthread_mutex_lock(&guard->lock);
    const struct failures *failures = find(guard, key);
    int64_t free_ns =
        failures ? failures->at_ns[failures->next] + LOGIN_GUARD_WINDOW_NS : INT64_MIN;
    pthread_mutex_unlock(&guard->lock);
    return free_ns > mono_ns ? free_ns - mono_ns : 0;
}

// If the database does not answer, this service counts alone.
unsigned login_guard_wait_s(struct login_guard *guard, struct str address, int64_t mono_ns)
{
    uint64_t key = key_of(address);
    int64_t wait_ns = wait_here_ns(guard, key, mono_ns);
    struct err ignored;
    if (wait_ns == 0 && guard->shared &&
        !store_login_wait(guard->shared, (int64_t)key, &limit, &wait_ns, &ignored))
        wait_ns = 0;
    return wait_ns ? (unsigned)(wait_ns / 1000000000 + 1) : 0;
}

void login_guard_fail(struct login_guard *guard, struct str address, int64_t mono_ns)
{
    uint64_t key = key_of(address);
    pthread_mutex_lock(&guard->lock);
    struct failures *failures = find(guard, key);
    if (!failures)
        failures = push_out(guard, key);
    failures->at_ns[failures->next] = mono_ns;
    failures->next = (failures->next + 1) % LOGIN_GUARD_FAILURES;
    pthread_mutex_unlock(&guard->lock);
    struct err err;
    if (guard->shared && !store_note_login_failure(guard->shared, (int64_t)key, &limit, &err))
        log_warn("other services do not know of a wrong token: %s", err.msg);
}
