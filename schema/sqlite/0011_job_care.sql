-- SPDX-License-Identifier: Apache-2.0
-- What became of jobs: leases, blame, secrets that were found.

-- --- jobs that did not end ---

-- Until when a running job belongs to its worker, unless he renews that.
ALTER TABLE job ADD COLUMN lease_until_ns INTEGER;
-- Attempts in which the job's own process died, or was stopped for its time.
ALTER TABLE job ADD COLUMN strikes INTEGER NOT NULL DEFAULT 0;

-- In the order in which jobs are taken: what did not end waits by its due_ns, not behind others.
DROP INDEX job_queue;
CREATE INDEX job_queue ON job (state, due_ns, id);
-- New files of a run come behind those that wait, but not behind one that waits for another try.
DROP INDEX job_by_run;
CREATE INDEX job_by_run ON job (run_id, kind, state, attempts, due_ns);
DROP TRIGGER job_due;
CREATE TRIGGER job_due AFTER INSERT ON job WHEN new.kind = 'trace' BEGIN
    UPDATE job SET due_ns = 1000000000
        + 1000 * (SELECT bytes FROM trace WHERE id = new.trace_id)
        + max(new.created_ns, (SELECT coalesce(max(due_ns), 0) FROM job
            WHERE run_id = new.run_id AND kind = 'trace' AND state = 'queued' AND attempts = 0))
        WHERE id = new.id;
END;

-- Texts of the file that look like secrets; NULL until it was read.
ALTER TABLE trace ADD COLUMN secrets INTEGER;

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
