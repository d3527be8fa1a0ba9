// SPDX-License-Identifier: Apache-2.0
// Webhooks: notifications of finished runs, alerts and gates, sent by a thread, at least once.
#ifndef SERVER_HOOKS_H
#define SERVER_HOOKS_H

#include "server/hooks/hook_body.h"
#include "server/store/store.h"

struct hooks;

struct hooks_config {
    struct store *store; // must outlive the hooks
    const char *targets_path;
    const char *data_dir;
    const char *base_url; // of links
};

// Starts the thread. ERR_FORMAT and ERR_USAGE for the file of targets, ERR_UNSUPPORTED without
// libcurl.
MUST_CHECK struct hooks *hooks_open(const struct hooks_config *config, struct err *err);
void hooks_close(struct hooks *hooks); // NULL is allowed

// From any thread, with NULL for none:

// A run was analyzed: the thread looks for what is new.
void hooks_look(struct hooks *hooks);

// Something happened. False when it could not be kept, which is logged.
bool hooks_post(struct hooks *hooks, const struct hook_event *event);

#endif
