// SPDX-License-Identifier: Apache-2.0
// Where events are sent, from the operator's file: nobody else can name an address.
#ifndef SERVER_HOOK_TARGET_H
#define SERVER_HOOK_TARGET_H

#include "ingest/base/arena.h"

#include <jansson.h>

enum hook_format { HOOK_JSON, HOOK_SLACK };

struct hook_target {
    const char *url;
    const char *secret;  // NULL: not signed
    const char *project; // NULL: all
    enum hook_format format;
    const json_t *events; // of the file: words such as "alert", "gate.failed", "*"
    char id[17];          // a hash of the address, which names its deliveries
};

struct hook_targets {
    json_t *file;
    struct hook_target *at;
    size_t count;
};

// A JSON array of objects: url, format, secret or secret_env, project, events. ERR_FORMAT and
// ERR_USAGE say where it is wrong. Free it in any case.
MUST_CHECK bool hook_targets_read(struct hook_targets *targets, const char *path, struct err *err);
void hook_targets_free(struct hook_targets *targets);

// Whether a target wants an event of that type, "gate.failed", of a project.
bool hook_target_wants(const struct hook_target *target, const char *type, struct str project);

#endif
