// SPDX-License-Identifier: Apache-2.0
// Who is connected: each connection holds a thread, so those that say nothing are closed when
// threads run short, and no address and no token has more than its part of them. Any thread.
#ifndef SERVER_CONNECTIONS_H
#define SERVER_CONNECTIONS_H

#include "ingest/base/err.h"
#include "ingest/base/hash.h"
#include "ingest/base/str.h"

struct connections;
struct connection;

struct connections_config {
    unsigned threads;    // connections that can be served at a time; a 16th is kept free
    unsigned per_client; // connections of one address, and requests of one address or token
    int64_t patience_ns; // so long a connection may say nothing while its address has too many
    struct hash_key key; // random, so that nobody can choose addresses that count together
};

MUST_CHECK struct connections *connections_new(const struct connections_config *config,
                                               struct err *err);
void connections_free(struct connections *connections); // NULL is allowed

// The port of ours that they come to. Before it is known nothing is done.
void connections_listen(struct connections *connections, unsigned port);

// A thread got a connection, of which is not known yet which: looks for new ones, and makes room.
// When few threads are left the connection goes that has been silent longest, of the address that
// has the most; when an address has too many, one of these.
void connections_arrive(struct connections *connections);

// The connection of that peer; NULL when it is not known.
struct connection *connections_find(struct connections *connections, const char *peer_address,
                                    int peer_port);

// Before its socket is closed. NULL is allowed.
void connections_leave(struct connections *connections, struct connection *connection);

// Its socket, -1 unknown. NULL is allowed.
int connections_socket(const struct connections *connections, const struct connection *connection);

// A request begins. NULL is allowed here and below, and then nothing is counted.
void connections_begin(struct connections *connections, struct connection *connection);

// Whose request it is: the address that sends it, as trusted proxies say. False when that has too
// many under way.
MUST_CHECK bool connections_admit(struct connections *connections, struct connection *connection,
                                  struct str client);

// The same for whose token it is, once that is known.
MUST_CHECK bool connections_admit_token(struct connections *connections,
                                        struct connection *connection, struct str who);

// The request was answered: the connection waits for the next one.
void connections_end(struct connections *connections, struct connection *connection);

// The service stops: closes all that wait for a request.
void connections_close_silent(struct connections *connections);

// Connections that are served at a time; 0 for NULL.
unsigned connections_limit(const struct connections *connections);

// Connections at the moment, and those that were closed for being silent.
void connections_count(struct connections *connections, uint64_t *open, uint64_t *closed);

#endif
