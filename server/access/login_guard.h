// SPDX-License-Identifier: Apache-2.0
// Slows down token guessing: after ten failures within a minute an address has to wait.
#ifndef SERVER_LOGIN_GUARD_H
#define SERVER_LOGIN_GUARD_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

#define LOGIN_GUARD_FAILURES  10
#define LOGIN_GUARD_WINDOW_NS ((int64_t)60 * 1000000000)

struct login_guard;
struct store;

// shared: where other services count, too; NULL: there are none.
MUST_CHECK struct login_guard *login_guard_new(struct store *shared, struct err *err);
void login_guard_free(struct login_guard *guard); // NULL is allowed

// Seconds the address has to wait at time mono_ns, 0: none.
unsigned login_guard_wait_s(struct login_guard *guard, struct str address, int64_t mono_ns);

// Records a failure. The table has room for a few thousand addresses; new ones replace those whose
// last failure is oldest.
void login_guard_fail(struct login_guard *guard, struct str address, int64_t mono_ns);

#endif
