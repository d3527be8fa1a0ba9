// SPDX-License-Identifier: Apache-2.0
// What a recording says about one event: launch shape, bytes, collective, inputs of its operator.
#ifndef SERVER_EVENT_ARGS_H
#define SERVER_EVENT_ARGS_H

#include "ingest/base/buf.h"
#include "server/api/event_links.h"

// Adds a JSON object; what was not recorded is null. ERR_FORMAT.
MUST_CHECK bool event_args_json(const struct trace_file *file, const struct event_links *links,
                                struct buf *out, struct err *err);

#endif
