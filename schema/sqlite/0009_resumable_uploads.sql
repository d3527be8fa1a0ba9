-- SPDX-License-Identifier: Apache-2.0
-- Uploads that come in pieces, and keys by which clients say that they repeat an upload.

-- The bytes lie in pieces/<id>.part until the upload is accepted.
CREATE TABLE resumable (
    id TEXT PRIMARY KEY CHECK (id GLOB 'p_*'),
    owner TEXT NOT NULL, -- who began it; nobody else may go on with it
    "key" TEXT, -- of the request that began it
    bytes INTEGER NOT NULL CHECK (bytes > 0),
    flushed INTEGER NOT NULL DEFAULT 0 CHECK (flushed BETWEEN 0 AND bytes), -- on disk for good
    metadata TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    expires_ns INTEGER NOT NULL,
    upload_id TEXT REFERENCES upload (id) ON DELETE CASCADE, -- once it was accepted
    refused TEXT, -- why it never will be
    CHECK (upload_id IS NULL OR refused IS NULL)
) STRICT;
CREATE INDEX resumable_by_expiry ON resumable (expires_ns);
CREATE INDEX resumable_by_upload ON resumable (upload_id);
CREATE INDEX resumable_by_owner ON resumable (owner) WHERE upload_id IS NULL AND refused IS NULL;
CREATE UNIQUE INDEX resumable_by_key ON resumable (owner, "key") WHERE "key" IS NOT NULL;

CREATE TABLE upload_key (
    owner TEXT NOT NULL,
    "key" TEXT NOT NULL,
    upload_id TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    created_ns INTEGER NOT NULL,
    PRIMARY KEY (owner, "key")
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_key_by_upload ON upload_key (upload_id);
CREATE INDEX upload_key_by_age ON upload_key (created_ns);
