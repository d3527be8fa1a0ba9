// SPDX-License-Identifier: Apache-2.0
// The service that a program on a node sends to: its address, a token, and patience.
#ifndef SERVER_REMOTE_HUB_H
#define SERVER_REMOTE_HUB_H

#include "ingest/base/buf.h"
#include "server/outbound/http_client.h"

struct stop_signal;

struct remote_hub {
    struct http_client *client;
    struct stop_signal *stop;  // ends waiting and sending
    struct http_answer answer; // of the last call
    struct buf base, bearer;   // "https://HOST", "Authorization: Bearer ..." or empty
    int64_t patience_s;        // how long without an answer before a call is given up; 0: for ever
};

// url and token as people give them; token may be NULL. ERR_USAGE. Close it in any case.
MUST_CHECK bool remote_hub_open(struct remote_hub *hub, const char *url, const char *token,
                                struct err *err);
void remote_hub_close(struct remote_hub *hub);

enum { REMOTE_HUB_MOST_HEADERS = 8 };

// A request to a path below the address, or to an address below it that the hub gave.
struct hub_call {
    const char *method, *path;
    const char *headers[REMOTE_HUB_MOST_HEADERS]; // up to the first NULL; one fewer than the array
    struct str body;
    int fd;
    uint64_t file_at, file_bytes;
    int64_t timeout_s;
};

// One try; any status is an answer. ERR_BUSY, ERR_CANCELLED, ERR_IO, ERR_LIMIT as http_client_call.
MUST_CHECK bool remote_hub_try(struct remote_hub *hub, const struct hub_call *call,
                               struct err *err);

// Whether trying again later can help, after a try that gave an answer or ERR_BUSY.
bool remote_hub_is_busy(const struct remote_hub *hub);

// How often in a row something failed, and since when.
struct hub_patience {
    int failures;
    int64_t since_ns;
};

// Waits before the next try, longer each time, or as long as the hub asks. ERR_BUSY with the reason
// once patience is over; ERR_CANCELLED.
MUST_CHECK bool remote_hub_wait(struct remote_hub *hub, struct hub_patience *patience,
                                struct err *why);

// Tries until there is an answer that waiting does not change. ERR_BUSY, ERR_CANCELLED.
MUST_CHECK bool remote_hub_ask(struct remote_hub *hub, const struct hub_call *call,
                               struct err *err);

// What the hub says is wrong: ERR_FORMAT if it will not have the file itself; ERR_USAGE and
// ERR_NOT_FOUND if it dislikes the request; ERR_DENIED for 401 and 403; ERR_BUSY if it may pass, as
// may any answer that is not a problem document of the hub. Returns false.
bool remote_hub_refused(const struct remote_hub *hub, struct err *err);

// Whether the answer is a problem of that type, "offset".
bool remote_hub_says(const struct remote_hub *hub, const char *type);

#endif
