// SPDX-License-Identifier: Apache-2.0
// A table of connections by descriptor. The library reports a new one without saying which it is,
// so new ones are searched for among the unknown descriptors.
#include "server/http/connections.h"

#include "ingest/base/clock.h"
#include "server/http/pace.h"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { BUCKETS = 4096, RESERVED_SHARE = 16, SPARE_DESCRIPTORS = 4096, LOOK_AHEAD = 64 };

struct connection {
    bool known, busy;
    bool has_asked;       // it had a request
    bool left;            // its socket may stay open a while longer
    bool closed;          // shut down here; its thread will release it
    int port;             // of the peer
    uint64_t address;     // a hash of the peer's
    uint64_t client, who; // hashes, of the current request; 0 none
    int64_t since_ns;     // waiting since then
};

struct connections {
    struct connections_config config;
    pthread_mutex_t lock; // guards all below
    unsigned port;
    uint64_t open, closing, shut; // closing: shut down, not released yet
    unsigned counts[BUCKETS];     // of addresses, by hash: collisions count together
    size_t top, size;             // of table: descriptors below top were once connections
    struct connection table[];
};

struct connections *connections_new(const struct connections_config *config, struct err *err)
{
    size_t size = config->threads + SPARE_DESCRIPTORS;
    struct connections *made = calloc(1, sizeof *made + size * sizeof *made->table);
    if (!made) {
        err_set(err, ERR_MEMORY, "out of memory for connections");
        return NULL;
    }
    made->config = *config;
    made->size = size;
    pthread_mutex_init(&made->lock, NULL);
    return made;
}

void connections_free(struct connections *connections)
{
    if (connections)
        pthread_mutex_destroy(&connections->lock);
    free(connections);
}

void connections_listen(struct connections *connections, unsigned port)
{
    pthread_mutex_lock(&connections->lock);
    connections->port = port;
    pthread_mutex_unlock(&connections->lock);
}

static uint64_t hash_of(const struct connections *c, struct str text)
{
    return hash_keyed(c->config.key, text.at, text.len) | 1;
}

static unsigned *count_of(struct connections *c, const struct connection *one)
{
    return &c->counts[(one->address >> 8) % BUCKETS];
}

// --- new ones -----------------------------------------------------------------------------------

static void note(struct connections *c, size_t fd, int64_t now_ns)
{
    struct connection *one = &c->table[fd];
    char text[NI_MAXHOST];
    int port = 0;
    if (!pace_peer((int)fd, c->port, text, &port))
        return;
    uint64_t address = hash_of(c, str_of(text));
    if (one->left && one->port == port && one->address == address)
        return; // its thread is about to close it
    *one = (struct connection){.known = true, .port = port, .address = address, .since_ns = now_ns};
    c->open++;
    ++*count_of(c, one);
    c->top = fd < c->top ? c->top : fd + 1;
}

// New connections get the lowest free descriptors, and unknown descriptors are few.
static void look_for_new(struct connections *c, int64_t now_ns)
{
    size_t end = c->top + LOOK_AHEAD < c->size ? c->top + LOOK_AHEAD : c->size;
    for (size_t fd = 0; fd < end; fd++)
        if (!c->table[fd].known)
            note(c, fd, now_ns);
}

// --- silent ones --------------------------------------------------------------------------------

// A connection with unread bytes is not silent.
static bool is_silent(const struct connections *c, const struct connection *one)
{
    int waiting = 0;
    return ioctl(connections_socket(c, one), FIONREAD, &waiting) != 0 || waiting == 0;
}

static bool goes_before(struct connections *c, const struct connection *one,
                        const struct connection *other)
{
    unsigned own = *count_of(c, one), others = *count_of(c, other);
    return own != others ? own > others : one->since_ns < other->since_ns;
}

// Which connection to close: among addresses with at least this many connections waiting since
// before a moment, the one silent longest of the address with the most.
static struct connection *find_silent(struct connections *c, unsigned least, int64_t before_ns)
{
    struct connection *found = NULL;
    for (size_t fd = 0; fd < c->top; fd++) {
        struct connection *one = &c->table[fd];
        bool may_go = one->known && !one->busy && !one->closed && one->since_ns < before_ns &&
                      *count_of(c, one) >= least;
        if (may_go && (!found || goes_before(c, one, found)) && is_silent(c, one))
            found = one;
    }
    return found;
}

// Its thread wakes up, sees the end and releases it. False if there is none.
static bool shut(struct connections *c, struct connection *one)
{
    if (!one)
        return false;
    one->closed = true;
    c->closing++;
    c->shut++;
    shutdown(connections_socket(c, one), SHUT_RDWR);
    return true;
}

static bool is_short_of_threads(const struct connections *c)
{
    return c->open - c->closing + c->config.threads / RESERVED_SHARE + 1 > c->config.threads;
}

static void make_room(struct connections *c, int64_t now_ns)
{
    while (is_short_of_threads(c) && shut(c, find_silent(c, 1, now_ns)))
        ;
    shut(c, find_silent(c, c->config.per_client + 1, now_ns - c->config.patience_ns));
}

void connections_arrive(struct connections *connections)
{
    int64_t now_ns = clock_mono_ns();
    pthread_mutex_lock(&connections->lock);
    if (connections->port) {
        look_for_new(connections, now_ns);
        make_room(connections, now_ns);
    }
    pthread_mutex_unlock(&connections->lock);
}

// Something was sent that no thread has read yet, or a first request may be on its way.
static bool is_expected(const struct connections *c, const struct connection *one,
                        int64_t before_ns)
{
    return !is_silent(c, one) || (!one->has_asked && one->since_ns >= before_ns);
}

bool connections_close_silent(struct connections *connections, int64_t patience_ns)
{
    bool spared = false;
    int64_t now_ns = clock_mono_ns();
    pthread_mutex_lock(&connections->lock);
    if (patience_ns && connections->port)
        look_for_new(connections, now_ns);
    for (size_t fd = 0; fd < connections->top; fd++) {
        struct connection *one = &connections->table[fd];
        bool may_go = one->known && !one->busy && !one->closed;
        bool is_spared =
            may_go && patience_ns && is_expected(connections, one, now_ns - patience_ns);
        if (may_go && !is_spared)
            shut(connections, one);
        spared = spared || is_spared;
    }
    pthread_mutex_unlock(&connections->lock);
    return spared;
}

// --- known ones ---------------------------------------------------------------------------------

static struct connection *find(struct connections *c, uint64_t address, int port)
{
    for (size_t fd = 0; fd < c->top; fd++)
        if (c->table[fd].known && c->table[fd].port == port && c->table[fd].address == address)
            return &c->table[fd];
    return NULL;
}

struct connection *connections_find(struct connections *connections, const char *peer_address,
                                    int peer_port)
{
    uint64_t address = hash_of(connections, str_of(peer_address));
    pthread_mutex_lock(&connections->lock);
    struct connection *found = find(connections, address, peer_port);
    pthread_mutex_unlock(&connections->lock);
    return found;
}

void connections_leave(struct connections *connections, struct connection *connection)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connections->lock);
    connections->open--;
    connections->closing -= connection->closed;
    --*count_of(connections, connection);
    *connection =
        (struct connection){.left = true, .port = connection->port, .address = connection->address};
    pthread_mutex_unlock(&connections->lock);
}

int connections_socket(const struct connections *connections, const struct connection *connection)
{
    return connection ? (int)(connection - connections->table) : -1;
}

bool connections_has_left(int socket)
{
    struct pollfd wait = {.fd = socket, .events = POLLRDHUP};
    return poll(&wait, 1, 0) > 0;
}

unsigned connections_limit(const struct connections *connections)
{
    return connections ? connections->config.threads : 0;
}

void connections_count(struct connections *connections, uint64_t *open, uint64_t *closed)
{
    pthread_mutex_lock(&connections->lock);
    *open = connections->open;
    *closed = connections->shut;
    pthread_mutex_unlock(&connections->lock);
}

// --- requests -----------------------------------------------------------------------------------

void connections_begin(struct connections *connections, struct connection *connection)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connections->lock);
    connection->busy = connection->has_asked = true;
    connection->client = connection->who = 0;
    pthread_mutex_unlock(&connections->lock);
}

void connections_end(struct connections *connections, struct connection *connection)
{
    if (!connection)
        return;
    pthread_mutex_lock(&connections->lock);
    connection->busy = false;
    connection->since_ns = clock_mono_ns();
    pthread_mutex_unlock(&connections->lock);
}

static bool is_within(const struct connections *c, uint64_t client, uint64_t who)
{
    unsigned count = 0;
    for (size_t fd = 0; fd < c->top; fd++) {
        const struct connection *one = &c->table[fd];
        count += one->busy && ((client && one->client == client) || (who && one->who == who));
    }
    return count <= c->config.per_client;
}

bool connections_admit(struct connections *connections, struct connection *connection,
                       struct str client)
{
    if (!connection)
        return true;
    pthread_mutex_lock(&connections->lock);
    connection->client = hash_of(connections, client);
    bool ok = is_within(connections, connection->client, 0);
    pthread_mutex_unlock(&connections->lock);
    return ok;
}

bool connections_admit_token(struct connections *connections, struct connection *connection,
                             struct str who)
{
    if (!connection || who.len == 0)
        return true;
    pthread_mutex_lock(&connections->lock);
    connection->who = hash_of(connections, who);
    bool ok = is_within(connections, 0, connection->who);
    pthread_mutex_unlock(&connections->lock);
    return ok;
}
