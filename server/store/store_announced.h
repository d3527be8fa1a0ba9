// SPDX-License-Identifier: Apache-2.0
// Which events services that share a store have already sent, so that the service that takes over
// webhooks does not send them again. Kept for two days.
#ifndef SERVER_STORE_ANNOUNCED_H
#define SERVER_STORE_ANNOUNCED_H

#include "server/store/store.h"

MUST_CHECK bool store_note_announced(struct store *store, const char *key, struct err *err);
MUST_CHECK bool store_was_announced(struct store *store, const char *key, bool *was,
                                    struct err *err);

#endif
