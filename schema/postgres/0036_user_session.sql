-- SPDX-License-Identifier: Apache-2.0
-- Sessions of people that a provider of OpenID Connect has named; those of tokens are in "session".
CREATE TABLE user_session (
    hash TEXT COLLATE "C" PRIMARY KEY CHECK (length(hash) = 64),
    prefix TEXT COLLATE "C" NOT NULL CHECK (length(prefix) = 8),
    user_name TEXT COLLATE "C" NOT NULL,
    expires_ns BIGINT NOT NULL
);
CREATE INDEX user_session_by_prefix ON user_session (prefix);
CREATE INDEX user_session_by_user ON user_session (user_name, expires_ns);
CREATE INDEX user_session_by_end ON user_session (expires_ns);
