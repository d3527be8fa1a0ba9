// SPDX-License-Identifier: Apache-2.0
// A socket between a store and its PostgreSQL server, which counts the messages that the store
// sends, and loses what a test says.
#ifndef TESTS_UNIT_POSTGRES_RELAY_H
#define TESTS_UNIT_POSTGRES_RELAY_H

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { RELAY_MOST = 64, RELAY_BYTES = 65536 };
enum relay_loss { RELAY_LOSES_NOTHING, RELAY_LOSES_MESSAGE, RELAY_LOSES_ANSWER };

// One way of a connection.
struct relay_way {
    int to;           // a descriptor; bytes come from that of the same index in polled
    bool is_counted;  // from the store
    bool has_started; // the first message has no type
    unsigned char head[5];
    size_t head_len, left; // of the message that is being passed on
};

struct postgres_relay {
    char server[108], path[108]; // of the sockets
    pthread_t thread;
    atomic_int types[256]; // messages so far
    atomic_int loses;      // enum relay_loss: what comes next
    atomic_int waits;      // the store's connection whose message was lost, 0: none yet
    int count;
    struct pollfd polled[RELAY_MOST]; // the first is listened on
    struct relay_way ways[RELAY_MOST];
};

static inline int relay_socket(const char *path, bool listens)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    const struct sockaddr *at = (const struct sockaddr *)(const void *)&address;
    bool ok = fd >= 0 && (listens ? bind(fd, at, sizeof address) == 0 && listen(fd, 16) == 0
                                  : connect(fd, at, sizeof address) == 0);
    return ok ? fd : -1;
}

static inline void relay_begin_message(struct postgres_relay *relay, struct relay_way *way)
{
    const unsigned char *length = way->head + way->has_started;
    way->left = ((size_t)length[0] << 24 | (size_t)length[1] << 16 | (size_t)length[2] << 8 |
                 (size_t)length[3]) -
                4;
    if (way->has_started)
        atomic_fetch_add(&relay->types[way->head[0]], 1);
    way->has_started = true;
    way->head_len = 0;
}

static inline void relay_count(struct postgres_relay *relay, struct relay_way *way,
                               const unsigned char *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t part = way->left < len - at ? way->left : len - at;
        way->left -= part;
        at += part;
        if (part == 0)
            way->head[way->head_len++] = bytes[at++];
        if (way->head_len == 4u + way->has_started)
            relay_begin_message(relay, way);
    }
}

static inline void relay_add(struct postgres_relay *relay, int from, int to, bool is_counted)
{
    relay->polled[relay->count] = (struct pollfd){.fd = from, .events = POLLIN};
    relay->ways[relay->count++] = (struct relay_way){.to = to, .is_counted = is_counted};
}

static inline void relay_accept(struct postgres_relay *relay)
{
    int client = accept(relay->polled[0].fd, NULL, NULL);
    int server = relay_socket(relay->server, false);
    if (relay->count + 2 > RELAY_MOST || client < 0 || server < 0)
        return;
    relay_add(relay, client, server, true);
    relay_add(relay, server, client, false);
}

// One side has closed: the other one learns it, and closes, too.
static inline void relay_end(struct postgres_relay *relay, int at)
{
    shutdown(relay->ways[at].to, SHUT_WR);
    relay->polled[at].fd = -1;
}

// The store waits on, whatever becomes of the server, until relay_cut. Without an answer its
// connection has ended. Each connection to the server follows the one from the store.
static inline bool relay_loses(struct postgres_relay *relay, int at)
{
    const struct relay_way *way = &relay->ways[at];
    int loses = atomic_load(&relay->loses);
    if (loses == RELAY_LOSES_MESSAGE && way->is_counted) {
        relay->polled[at + 1].fd = -1;
        atomic_store(&relay->waits, relay->polled[at].fd);
        return true;
    }
    if (loses != RELAY_LOSES_ANSWER || way->is_counted)
        return false;
    atomic_store(&relay->loses, RELAY_LOSES_NOTHING);
    shutdown(way->to, SHUT_RDWR);
    relay->polled[at].fd = -1;
    return true;
}

static inline void relay_pass(struct postgres_relay *relay, int at)
{
    unsigned char bytes[RELAY_BYTES];
    struct relay_way *way = &relay->ways[at];
    ssize_t len = read(relay->polled[at].fd, bytes, sizeof bytes);
    if (len > 0 && relay_loses(relay, at))
        return;
    if (len > 0 && way->is_counted)
        relay_count(relay, way, bytes, (size_t)len);
    if (len <= 0 || write(way->to, bytes, (size_t)len) != len)
        relay_end(relay, at);
}

// Until what is listened on is shut down.
static inline void *relay_run(void *context)
{
    struct postgres_relay *relay = context;
    while (poll(relay->polled, (nfds_t)relay->count, -1) > 0 &&
           !(relay->polled[0].revents & POLLHUP)) {
        for (int i = 1; i < relay->count; i++)
            if (relay->polled[i].fd >= 0 && relay->polled[i].revents)
                relay_pass(relay, i);
        if (relay->polled[0].revents)
            relay_accept(relay);
    }
    return NULL;
}

// Between the sockets of two folders.
static inline bool relay_start(struct postgres_relay *relay, const char *server, const char *folder)
{
    *relay = (struct postgres_relay){0};
    snprintf(relay->server, sizeof relay->server, "%.80s/.s.PGSQL.5432", server);
    snprintf(relay->path, sizeof relay->path, "%.80s/.s.PGSQL.5432", folder);
    int fd = relay_socket(relay->path, true);
    relay_add(relay, fd, -1, false);
    return fd >= 0 && pthread_create(&relay->thread, NULL, relay_run, relay) == 0;
}

// What is lost: the next message of a connection that waits, or the answer to it.
static inline void relay_lose(struct postgres_relay *relay, enum relay_loss what)
{
    atomic_store(&relay->loses, what);
}

static inline bool relay_await_loss(const struct postgres_relay *relay)
{
    enum { TRIES = 1000, WAIT_NS = 10000000 };
    for (int i = 0; i < TRIES && !atomic_load(&relay->waits); i++)
        nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
    return atomic_load(&relay->waits) != 0;
}

// Ends the connection whose message was lost.
static inline void relay_cut(struct postgres_relay *relay)
{
    relay_lose(relay, RELAY_LOSES_NOTHING);
    shutdown(atomic_exchange(&relay->waits, 0), SHUT_RDWR);
}

// After its connections were closed.
static inline void relay_stop(struct postgres_relay *relay)
{
    shutdown(relay->polled[0].fd, SHUT_RDWR);
    pthread_join(relay->thread, NULL);
    close(relay->polled[0].fd);
    for (int i = 1; i < relay->count; i++)
        close(relay->ways[i].to);
    unlink(relay->path);
}

// Messages after which the store waits for an answer, and statements.
static inline int relay_trips(const struct postgres_relay *relay)
{
    return atomic_load(&relay->types['S']) + atomic_load(&relay->types['Q']);
}

static inline int relay_statements(const struct postgres_relay *relay)
{
    return atomic_load(&relay->types['E']) + atomic_load(&relay->types['Q']);
}

#endif
