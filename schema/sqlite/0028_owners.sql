-- SPDX-License-Identifier: Apache-2.0
-- Several services may share a database: each recovers its own jobs when it starts, and those of
-- others once their leases have run out; one of them looks after what all share.

ALTER TABLE job ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- of the lease

CREATE TABLE leader (
    role TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    until_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
