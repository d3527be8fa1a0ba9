// SPDX-License-Identifier: Apache-2.0
// Who is connected: each connection holds a thread, so silent ones are closed when threads run
// short, and no address and no token gets more than its share. Thread-safe.
#ifndef SERVER_CONNECTIONS_H
#define SERVER_CONNECTIONS_H

#include "ingest/base/err.h"
#include "ingest/base/hash.h"
#include "ingest/base/str.h"

struct connections;
struct connection;

struct connections_config {
    unsigned threads;    // concurrent connections; a 16th is kept free
    unsigned per_client; // connections per address, and requests per address or token
    int64_t patience_ns; // how long a connection may be silent while its address has too many
    struct hash_key key; // random, so that nobody can choose colliding addresses
};

MUST_CHECK struct connections *connections_new(const struct connections_config *config,
                                               struct err *err);
void connections_free(struct connections *connections); // NULL is allowed

// Our port. Nothing is done before it is known.
void connections_listen(struct connections *connections, unsigned port);

// A thread got a new connection, not yet known which: looks for new ones, and makes room. When few
// threads are left, closes the connection that has been silent longest, of the address with the
// most; if an address has too many, one of that address.
void connections_arrive(struct connections *connections);

// The connection of that peer; NULL if unknown.
struct connection *connections_find(struct connections *connections, const char *peer_address,
                                    int peer_port);

// Before its socket is closed. NULL is allowed.
void connections_leave(struct connections *connections, struct connection *connection);

// Its socket, -1 if unknown. NULL is allowed.
int connections_socket(const struct connections *connections, const struct connection *connection);

// Whether the client has gone; false for -1.
bool connections_has_left(int socket);

// A request starts. NULL is allowed here and below, and then nothing is counted.
void connections_begin(struct connections *connections, struct connection *connection);

// Whose request it is: the sending address, as reported by trusted proxies. False if it has too
// many in progress.
MUST_CHECK bool connections_admit(struct connections *connections, struct connection *connection,
                                  struct str client);

// Same for the token's owner, once known.
MUST_CHECK bool connections_admit_token(struct connections *connections,
                                        struct connection *connection, struct str who);

// The request was answered: the connection waits for the next one.
void connections_end(struct connections *connections, struct connection *connection);

// The service stops: closes connections that wait for a request, except, unless patience_ns is 0,
// those that have sent something, or are newer and had no request yet. Whether there are such.
bool connections_close_silent(struct connections *connections, int64_t patience_ns);

// Concurrent connections; 0 for NULL.
unsigned connections_limit(const struct connections *connections);

// Current connections, and how many were closed for being silent.
void connections_count(struct connections *connections, uint64_t *open, uint64_t *closed);

#endif
