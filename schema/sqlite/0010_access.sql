-- SPDX-License-Identifier: Apache-2.0
-- Tokens, sessions of browsers, what tokens have used up, and the audit log.

-- Secrets are kept as SHA-256; the first digits find a row, the rest is compared in constant time.
CREATE TABLE token (
    id TEXT PRIMARY KEY CHECK (id GLOB 'k_*'),
    name TEXT NOT NULL,
    prefix TEXT NOT NULL CHECK (length(prefix) = 8),
    hash TEXT NOT NULL CHECK (length(hash) = 64),
    scopes INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 15),
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER, -- null: never
    revoked_ns INTEGER,
    used_ns INTEGER, -- to the minute
    day_bytes INTEGER, -- limits of its own; null: as the service says, 0: none
    stored_bytes INTEGER,
    in_flight INTEGER
) STRICT;
CREATE INDEX token_by_prefix ON token (prefix);
CREATE INDEX token_by_name ON token (name);

CREATE TABLE session (
    hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
    prefix TEXT NOT NULL CHECK (length(prefix) = 8),
    token_id TEXT NOT NULL REFERENCES token (id) ON DELETE CASCADE,
    created_ns INTEGER NOT NULL,
    used_ns INTEGER NOT NULL -- to the minute
) STRICT;
CREATE INDEX session_by_prefix ON session (prefix);
CREATE INDEX session_by_token ON session (token_id, used_ns);

-- Who brought a trace, and how much of the disk it took then.
CREATE TABLE trace_owner (
    trace_id TEXT PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
    who TEXT NOT NULL,
    bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trace_owner_by_who ON trace_owner (who, bytes);

CREATE TABLE quota_day (
    who TEXT NOT NULL,
    day INTEGER NOT NULL, -- since 1970, UTC
    bytes INTEGER NOT NULL,
    PRIMARY KEY (who, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ns INTEGER NOT NULL,
    who TEXT NOT NULL,
    peer TEXT NOT NULL,
    action TEXT NOT NULL, -- method and pattern of the route
    object TEXT NOT NULL,
    status INTEGER NOT NULL,
    request_id TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_who ON audit (who, id);
CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_keeps_words BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
