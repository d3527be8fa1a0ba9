-- SPDX-License-Identifier: Apache-2.0
-- The order of the queue. A trace is due a second after it came, and one more for each megabyte,
-- behind the traces of its run that wait already; what is due first is taken first. So a small file
-- passes a huge one, two runs take turns, and nothing waits for ever: a file that comes later than
-- another one is due never passes that one. Joining a run is due at once.
ALTER TABLE job ADD COLUMN due_ns INTEGER NOT NULL DEFAULT 0;
UPDATE job SET due_ns = created_ns WHERE kind = 'trace';

-- In the order in which jobs are taken. Not a partial index: SQLite would not see that one state is
-- among several.
DROP INDEX job_queue;
CREATE INDEX job_queue ON job (state, crashes, attempts, due_ns, id);
DROP INDEX job_by_run;
CREATE INDEX job_by_run ON job (run_id, kind, state, due_ns);

CREATE TRIGGER job_due AFTER INSERT ON job WHEN new.kind = 'trace' BEGIN
    UPDATE job SET due_ns = 1000000000
        + 1000 * (SELECT bytes FROM trace WHERE id = new.trace_id)
        + max(new.created_ns, (SELECT max(due_ns) FROM job
            WHERE run_id = new.run_id AND kind = 'trace' AND state = 'queued'))
        WHERE id = new.id;
END;
