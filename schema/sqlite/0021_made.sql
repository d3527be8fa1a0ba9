-- SPDX-License-Identifier: Apache-2.0
-- What analyses made of uploads counts as stored, beside the uploads.

-- Bytes of the trace's tables and of its kept trace; of a trace kept before this, of its tables.
ALTER TABLE trace_owner ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
DROP INDEX trace_owner_by_who;
CREATE INDEX trace_owner_by_who ON trace_owner (who, bytes, made);
UPDATE trace_owner SET made =
    (SELECT coalesce(sum(length(report)), 0) FROM trace_table
     WHERE trace_table.trace_id = trace_owner.trace_id) +
    (SELECT coalesce(sum(length(report)), 0) FROM trace_table_part
     WHERE trace_table_part.trace_id = trace_owner.trace_id);

-- Bytes of the run's tables; of those from before this, once they are made anew.
ALTER TABLE run ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
CREATE INDEX run_by_owner ON run (owner, made);
