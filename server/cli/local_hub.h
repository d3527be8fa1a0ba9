// SPDX-License-Identifier: Apache-2.0
// A service for a few files and this process alone: a temporary data folder and jobs, no socket.
#ifndef SERVER_LOCAL_HUB_H
#define SERVER_LOCAL_HUB_H

#include "server/base/services.h"
#include "server/care/intake.h"

#include <uv.h>

#define LOCAL_HUB_MAX_UPLOADS 1100

struct local_hub;

// Pair with local_hub_close.
MUST_CHECK struct local_hub *local_hub_open(uint64_t job_memory_bytes, struct err *err);

// Copies files and queues them as ranks of a run. Before local_hub_run.
MUST_CHECK bool local_hub_add(struct local_hub *hub, const char *run, const char *const *paths,
                              size_t count, struct err *err);

// Analyzes in the background while another thread serves; returns when that has returned. At
// SIGINT and SIGTERM stop_fd becomes readable, and serve must return.
MUST_CHECK bool local_hub_run(struct local_hub *hub, void (*serve)(void *context, int stop_fd),
                              void *context, struct err *err);

// From the serving thread: waits until all files were analyzed, for at most timeout_ms.
void local_hub_wait(struct local_hub *hub, uint64_t timeout_ms);

// For requests to handlers.
const struct services *local_hub_services(const struct local_hub *hub);

// Removes the folder. NULL is allowed.
void local_hub_close(struct local_hub *hub);

#endif
