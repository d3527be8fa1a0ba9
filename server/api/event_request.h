// SPDX-License-Identifier: Apache-2.0
// Which events of a run a request is about: its ranks, a window, and lanes.
#ifndef SERVER_EVENT_REQUEST_H
#define SERVER_EVENT_REQUEST_H

#include "server/exports/event_comm.h"
#include "server/exports/event_source.h"
#include "server/http/response.h"

struct run;
struct trace_row;

struct event_request {
    struct request *request;
    struct response *response;
    struct event_source source;
    struct event_comm comm;
    const struct trace_row *traces; // of the ranks
    size_t known;                   // traces of the run
    bool sizes_only; // sizes of one rank leave out its waits, which need all other ranks
};

// Must not move afterwards. Pair with event_request_end.
void event_request_start(struct event_request *asked, struct request *request,
                         struct response *response);
void event_request_end(struct event_request *asked);

// Reads from_ns, to_ns and lanes.
MUST_CHECK bool event_request_window(struct event_request *asked, struct err *err);

// Reads rank and ranks, without any the headline rank or all; finds their traces and measures them.
// Holds a turn of the caller.
MUST_CHECK bool event_request_ranks(struct event_request *asked, const struct run *run, bool all,
                                    struct err *err);

#endif
