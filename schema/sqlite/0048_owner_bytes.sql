-- SPDX-License-Identifier: Apache-2.0
-- What each person has stored, as a sum: of files, of results and of archives. slot: 0, or one of
-- 16 in what was copied from a database that services share (schema/postgres).
CREATE TABLE owner_bytes (
    who TEXT NOT NULL,
    slot INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (who, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO owner_bytes (who, bytes)
SELECT who, sum(bytes) FROM (
    SELECT who, bytes + made AS bytes FROM trace_owner
    UNION ALL SELECT owner, made FROM stored_run
    UNION ALL SELECT owner, bytes FROM input WHERE blob IS NOT NULL
) WHERE who <> '' GROUP BY who;
DROP INDEX trace_owner_by_who;
DROP INDEX run_by_owner;
DROP INDEX input_by_owner;

CREATE TABLE quota_day_of_slot (
    who TEXT NOT NULL,
    day INTEGER NOT NULL, -- since 1970, UTC
    slot INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (who, day, slot)
) STRICT, WITHOUT ROWID;
INSERT INTO quota_day_of_slot (who, day, bytes) SELECT who, day, bytes FROM quota_day;
DROP TABLE quota_day;
ALTER TABLE quota_day_of_slot RENAME TO quota_day;
