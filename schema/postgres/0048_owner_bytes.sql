-- SPDX-License-Identifier: Apache-2.0
-- What each person has stored, as a sum: of files, of results and of archives. slot: one of 16, by
-- the connection that wrote it: what one has written and not committed keeps few others waiting.
CREATE TABLE owner_bytes (
    who TEXT COLLATE "C" NOT NULL,
    slot BIGINT NOT NULL DEFAULT pg_backend_pid() % 16,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (who, slot)
);
INSERT INTO owner_bytes (who, bytes)
SELECT who, sum(bytes) FROM (
    SELECT who, bytes + made AS bytes FROM trace_owner
    UNION ALL SELECT owner, made FROM stored_run
    UNION ALL SELECT owner, bytes FROM input WHERE blob IS NOT NULL
) AS owned WHERE who <> '' GROUP BY who;
DROP INDEX trace_owner_by_who;
DROP INDEX run_by_owner;
DROP INDEX input_by_owner;

CREATE TABLE quota_day_of_slot (
    who TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    slot BIGINT NOT NULL DEFAULT pg_backend_pid() % 16,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (who, day, slot)
);
INSERT INTO quota_day_of_slot (who, day, bytes) SELECT who, day, bytes FROM quota_day;
DROP TABLE quota_day;
ALTER TABLE quota_day_of_slot RENAME TO quota_day;
ALTER TABLE quota_day RENAME CONSTRAINT quota_day_of_slot_pkey TO quota_day_pkey;
