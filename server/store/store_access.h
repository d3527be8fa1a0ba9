// SPDX-License-Identifier: Apache-2.0
// What is stored about tokens, sessions, quotas and the audit log. As in store.h: any thread,
// durable once true is returned, strings in results live in the arena passed in.
#ifndef SERVER_STORE_ACCESS_H
#define SERVER_STORE_ACCESS_H

#include "server/base/principal.h"
#include "server/store/store.h"

#define STORE_TOKEN_MAX_SECONDS  ((int64_t)10 * 366 * 86400)
#define STORE_MAX_TOKENS         ((int64_t)1000) // live ones
#define STORE_SESSIONS_PER_TOKEN ((int64_t)50)   // beyond that, the longest unused ones end
#define STORE_SESSION_IDLE_NS    ((int64_t)12 * 3600 * 1000000000)
#define STORE_SESSIONS_PER_USER  ((int64_t)50) // beyond that, the oldest ones end

// --- tokens -------------------------------------------------------------------------------------

struct token {
    struct str id, name;
    unsigned scopes;             // as given, without the scopes they include
    int64_t expires_ns;          // 0: never
    int64_t revoked_ns, used_ns; // 0: not yet
    struct quota_limits limits;
};

struct token_request {
    struct str name; // a word: A-Z a-z 0-9 . _ -
    unsigned scopes;
    int64_t expires_ns; // 0: never
    struct quota_limits limits;
};

// Stores a token by its hash. ERR_USAGE for a bad name, ERR_CONFLICT if there are too many.
MUST_CHECK bool store_add_token(struct store *store, const struct token_request *request,
                                const char *hash, struct arena *arena, struct str *id,
                                struct err *err);

// The token with that hash, whether still valid or not; *found false if there is none.
MUST_CHECK bool store_find_token(struct store *store, const char *hash, struct arena *arena,
                                 struct token *token, bool *found, struct err *err);

// Records that it was used now, unless that was recorded within the last minute.
MUST_CHECK bool store_touch_token(struct store *store, const struct token *token, struct err *err);

// One token, by its id, or all; newest first. Rows of table_tokens.
MUST_CHECK bool store_list_tokens(struct store *store, struct str id, struct arena *arena,
                                  struct table *table, struct err *err);

// Revokes the token with that id, or the only valid one with that name, and ends its sessions.
// ERR_NOT_FOUND; ERR_CONFLICT if several have the name.
MUST_CHECK bool store_revoke_token(struct store *store, struct str key, struct arena *arena,
                                   struct str *id, struct err *err);

// Tokens that are neither revoked nor expired.
MUST_CHECK bool store_count_tokens(struct store *store, int64_t *count, struct err *err);

// --- wrong credentials --------------------------------------------------------------------------

struct store_login_limit {
    int64_t failures, window_ns;
};

// How long an address, given by a hash, has to wait for what all services noted: after so many
// failures within the window, until the first of them is older. 0: it need not.
MUST_CHECK bool store_login_wait(struct store *store, int64_t address,
                                 const struct store_login_limit *limit, int64_t *wait_ns,
                                 struct err *err);
MUST_CHECK bool store_note_login_failure(struct store *store, int64_t address,
                                         const struct store_login_limit *limit, struct err *err);

// --- sessions -----------------------------------------------------------------------------------

MUST_CHECK bool store_add_session(struct store *store, const char *hash, struct str token_id,
                                  struct err *err);

// The token that started the session with that hash; *found false if there is none, or it has
// ended. Records at most once a minute that it was used.
MUST_CHECK bool store_find_session(struct store *store, const char *hash, struct arena *arena,
                                   struct token *token, bool *found, struct err *err);

// A session of someone who signed in elsewhere, until then.
MUST_CHECK bool store_add_user_session(struct store *store, const char *hash, struct str user,
                                       int64_t expires_ns, struct err *err);
// *user is "" if there is no session with that hash, or it has expired.
MUST_CHECK bool store_find_user_session(struct store *store, const char *hash, struct arena *arena,
                                        struct str *user, int64_t *expires_ns, struct err *err);

// Ends a session of either kind.
MUST_CHECK bool store_end_session(struct store *store, const char *hash, struct err *err);

// --- quotas -------------------------------------------------------------------------------------

// The day, UTC, in days since 1970.
int64_t store_today(void);

struct quota_use {
    int64_t day_bytes;
    int64_t stored_bytes; // uploads, including resumable ones, and the results of their analyses
};
MUST_CHECK bool store_quota_use(struct store *store, struct str who, int64_t day,
                                struct quota_use *use, struct err *err);
MUST_CHECK bool store_quota_charge(struct store *store, struct str who, int64_t day, uint64_t bytes,
                                   struct err *err);

// --- audit --------------------------------------------------------------------------------------

struct audit_row {
    int64_t at_ns;
    struct str who, peer, action, object, request_id;
    int status;
};
// Returns the number of the new row; id may be NULL.
MUST_CHECK bool store_add_audit(struct store *store, const struct audit_row *row, int64_t *id,
                                struct err *err);

// Makes the row count this many refused requests, the last at last_ns. Both only grow.
MUST_CHECK bool store_sum_audit(struct store *store, int64_t id, uint64_t count, int64_t last_ns,
                                struct err *err);

// Deletes rows older than that, a limited number per call. The database refuses to delete any of
// the last STORE_AUDIT_LEAST_DAYS.
#define STORE_AUDIT_LEAST_DAYS 30
MUST_CHECK bool store_prune_audit(struct store *store, int64_t before_ns, uint64_t *pruned,
                                  struct err *err);

// The newest rows with an id below before, at most limit; rows of table_audit.
struct audit_query {
    struct str who; // "" all
    int64_t before, limit;
};
MUST_CHECK bool store_list_audit(struct store *store, const struct audit_query *query,
                                 struct arena *arena, struct table *table, struct err *err);

#endif
