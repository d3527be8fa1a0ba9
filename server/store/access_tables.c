// SPDX-License-Identifier: Apache-2.0
// Columns of tokens and of the audit log.
#include "server/store/access_tables.h"

#include "analysis/report/table_columns.h"

static const struct column columns_tokens[] = {
    TEXT("id", "Identifier; it is no secret."),
    TEXT("name", "What it is for."),
    TEXT("scopes", "What it may do: read, upload, write, admin, joined by commas."),
    TEXT("state", "active, expired or revoked."),
    TEXT("created", "When it was made, UTC, RFC 3339."),
    TEXT("expires", "When it expires, UTC, RFC 3339; empty: never."),
    TEXT("used", "When it was used last, to the minute, UTC, RFC 3339; empty: never."),
    TEXT("revoked", "When it was revoked, UTC, RFC 3339; empty: it was not."),
    I64("day_bytes", "bytes", "Most it may upload a day; empty: as the service says, 0: no limit."),
    I64("stored_bytes", "bytes", "Most it may have stored; empty: as the service says, 0: none."),
    I64("in_flight", "count", "Most uploads at a time; empty: as the service says, 0: no limit."),
};

static const struct column columns_audit[] = {
    I64("id", "", "Number of the entry; they rise without being used twice."),
    TEXT("at", "When, UTC, RFC 3339."),
    TEXT("who", "The token, the person that a proxy named, or local."),
    TEXT("peer", "Address that the request came from."),
    TEXT("action", "Method and route, or what was done on the command line."),
    TEXT("object", "What it was about."),
    I64("status", "", "HTTP status of the answer; 0 on the command line."),
    TEXT("request_id", "Identifier of the request, as in the log."),
    I64("count", "count",
        "Requests that the entry stands for: those refused alike within an hour have one."),
    TEXT("last_at", "When the last of them was, UTC, RFC 3339; empty: it is one."),
};

const struct table_desc table_tokens =
    TABLE("tokens", tokens, "Tokens by which programs and people are known, newest first.");
const struct table_desc table_audit =
    TABLE("audit", audit, "Who changed what, and when, newest first.");

const struct table_desc *const access_tables[] = {&table_tokens, &table_audit, NULL};
