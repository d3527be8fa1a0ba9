// SPDX-License-Identifier: Apache-2.0
// Slows down who guesses tokens: after ten failures within a minute those of an address wait.
#ifndef SERVER_LOGIN_GUARD_H
#define SERVER_LOGIN_GUARD_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define LOGIN_GUARD_FAILURES  10
#define LOGIN_GUARD_WINDOW_NS ((int64_t)60 * 1000000000)

struct login_guard;

MUST_CHECK struct login_guard *login_guard_new(struct err *err);
void login_guard_free(struct login_guard *guard); // NULL is allowed

// Seconds that the address has to wait at the time mono_ns, 0: none.
unsigned login_guard_wait_s(struct login_guard *guard, struct str address, int64_t mono_ns);

// Notes a failure. The table holds a few thousand addresses; others push out those that failed
// longest ago.
void login_guard_fail(struct login_guard *guard, struct str address, int64_t mono_ns);

#endif
