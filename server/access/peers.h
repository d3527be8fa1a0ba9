// SPDX-License-Identifier: Apache-2.0
// Lists of network addresses, e.g. of trusted proxies.
#ifndef SERVER_PEERS_H
#define SERVER_PEERS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define PEERS_MAX 32

struct peers {
    struct peer_range {
        unsigned char address[16]; // IPv4 ones are ::ffff:a.b.c.d
        unsigned bits;             // significant bits of 128
    } ranges[PEERS_MAX];
    size_t count;
};

// "127.0.0.1,10.0.0.0/8,fd00::/8"; "" matches nobody. ERR_USAGE.
MUST_CHECK bool peers_parse(struct str text, struct peers *peers, struct err *err);

// Whether the address is in the list; false if it is not an address.
bool peers_hold(const struct peers *peers, struct str address);

bool peers_is_address(struct str text);

#endif
