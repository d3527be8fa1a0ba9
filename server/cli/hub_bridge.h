// SPDX-License-Identifier: Apache-2.0
// Passes messages on to a service's /mcp and its answers back.
#ifndef SERVER_HUB_BRIDGE_H
#define SERVER_HUB_BRIDGE_H

#include "ingest/base/buf.h"
#include "ingest/base/err.h"

struct hub_bridge;

// The address of a service, "https://traces.example", and a token, NULL or "": none. ERR_USAGE.
MUST_CHECK struct hub_bridge *hub_bridge_open(const char *url, const char *token, struct err *err);
void hub_bridge_close(struct hub_bridge *bridge); // NULL is allowed

// Appends the answer to a line as a line; nothing for notifications. What is wrong with the service
// or the way there becomes a JSON-RPC error.
void hub_bridge_answer(struct hub_bridge *bridge, struct str line, struct buf *out);

#endif
