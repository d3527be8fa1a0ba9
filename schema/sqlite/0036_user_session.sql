-- SPDX-License-Identifier: Apache-2.0
-- Sessions of people that a provider of OpenID Connect has named; those of tokens are in "session".
CREATE TABLE user_session (
    hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
    prefix TEXT NOT NULL CHECK (length(prefix) = 8),
    user_name TEXT NOT NULL,
    expires_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX user_session_by_prefix ON user_session (prefix);
CREATE INDEX user_session_by_user ON user_session (user_name, expires_ns);
CREATE INDEX user_session_by_end ON user_session (expires_ns);
