// SPDX-License-Identifier: Apache-2.0
// What is sent to a target, and its signature.
#ifndef SERVER_HOOK_BODY_H
#define SERVER_HOOK_BODY_H

#include "ingest/base/buf.h"
#include "server/hooks/hook_target.h"

// Something that happened. Texts may come from outside.
struct hook_event {
    const char *key;  // names the event, so that it is announced once: letters, digits, "-_."
    const char *type; // "alert.raised", "run.finished", "gate.failed"
    struct str project;
    struct str text; // one or more lines for people
    struct str url;  // of the page
    struct str data; // a JSON object
    int64_t at_ns;   // wall clock
};

// Appends the body for a target.
void hook_body(const struct hook_event *event, enum hook_format format, struct buf *out);

// Appends "v1,BASE64": HMAC-SHA256 of "ID.SECONDS.BODY", as Standard Webhooks has it. A secret
// "whsec_BASE64" stands for the bytes it encodes; any other is used as it is.
MUST_CHECK bool hook_sign(const char *secret, struct str signed_text, struct buf *out,
                          struct err *err);

#endif
