// SPDX-License-Identifier: Apache-2.0
// Columns of tokens and of the audit log.
#include "server/store/access_tables.h"

#include "analysis/report/table_columns.h"

static const struct column columns_tokens[] = {
    TEXT("id", "Identifier; not a secret."),
    TEXT("name", "Name of the token."),
    TEXT("scopes", "Scopes: read, upload, write, admin, joined by commas."),
    TEXT("state", "active, expired or revoked."),
    TEXT("created", "When it was created, UTC, RFC 3339."),
    TEXT("expires", "When it expires, UTC, RFC 3339; empty: never."),
    TEXT("used", "Last use, to the minute, UTC, RFC 3339; empty: never."),
    TEXT("revoked", "When it was revoked, UTC, RFC 3339; empty when not revoked."),
    I64("day_bytes", "bytes",
        "Maximum bytes uploaded per day; empty: the service's limit, 0: no limit."),
    I64("stored_bytes", "bytes", "Maximum bytes stored; empty: the service's limit, 0: no limit."),
    I64("in_flight", "count",
        "Maximum concurrent uploads; empty: the service's limit, 0: no limit."),
};

static const struct column columns_audit[] = {
    I64("id", "", "Number of the entry; ascending and never reused."),
    TEXT("at", "When, UTC, RFC 3339."),
    TEXT("who", "The token, the user named by a proxy, or local."),
    TEXT("peer", "Client address of the request."),
    TEXT("action", "Method and route, or the command-line action."),
    TEXT("object", "Object of the action."),
    I64("status", "", "HTTP status of the answer; 0 on the command line."),
    TEXT("request_id", "Identifier of the request, as in the log."),
    I64("count", "count", "Number of requests: equal refusals within an hour share an entry."),
    TEXT("last_at", "Time of the last of several requests, UTC, RFC 3339; empty for a single one."),
};

const struct table_desc table_tokens = TABLE("tokens", tokens, "Access tokens, newest first.");
const struct table_desc table_audit = TABLE("audit", audit, "Audit log of changes, newest first.");

const struct table_desc *const access_tables[] = {&table_tokens, &table_audit, NULL};
