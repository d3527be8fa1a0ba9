-- SPDX-License-Identifier: Apache-2.0
-- What became of jobs: leases, blame, secrets that were found.

-- --- care of what is stored ---

-- When the bytes of a file last gave its hash, and what the last look found wrong with them.
ALTER TABLE blob ADD COLUMN checked_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blob ADD COLUMN damage TEXT NOT NULL DEFAULT '';
CREATE INDEX blob_by_checked ON blob (checked_ns);
CREATE INDEX blob_damaged ON blob (sha256) WHERE damage <> '';

-- What is old enough to go.
CREATE INDEX job_by_end ON job (finished_ns) WHERE finished_ns IS NOT NULL;
CREATE INDEX upload_by_created ON upload (created_ns);

-- When the database itself was looked through, and what was wrong with it ('' nothing).
CREATE TABLE database_check (
    kind TEXT PRIMARY KEY CHECK (kind IN ('quick', 'full')),
    checked_ns INTEGER NOT NULL,
    damage TEXT NOT NULL
) STRICT, WITHOUT ROWID;
