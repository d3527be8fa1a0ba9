-- SPDX-License-Identifier: Apache-2.0
-- What was uploaded besides single traces: archives, and what became of each of their members.

-- An archive's members are inputs, too. A member that is a trace is read as every other one; its
-- bytes and its state are the trace's.
CREATE TABLE input (
    id TEXT PRIMARY KEY CHECK (id GLOB 'i_*'),
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    parent TEXT REFERENCES input (id) ON DELETE SET NULL, -- the archive; null: it was uploaded
    position INTEGER NOT NULL CHECK (position >= 0),      -- in the archive
    kind TEXT NOT NULL CHECK (kind IN ('archive', 'trace', 'attachment', 'skipped')),
    format TEXT NOT NULL, -- its word, '' unknown
    filename TEXT NOT NULL,
    "window" TEXT NOT NULL DEFAULT '', -- of a member that went to a run of its own for it
    sha256 TEXT, -- of an archive
    blob TEXT REFERENCES blob (sha256), -- the bytes of an archive until its members are stored, and
                                        -- of an attachment
    trace_id TEXT REFERENCES trace (id) ON DELETE SET NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    secrets INTEGER, -- texts in an attachment that look like secrets
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    reason TEXT, -- why it failed, was skipped, or is no trace
    owner TEXT NOT NULL DEFAULT '', -- who uploaded it
    adds_only INTEGER NOT NULL DEFAULT 0 CHECK (adds_only IN (0, 1)),
    replaces INTEGER NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)),
    created_ns INTEGER NOT NULL,
    UNIQUE (parent, position)
) STRICT;
CREATE INDEX input_by_run ON input (run_id, sha256);
CREATE INDEX input_by_window ON input (parent, "window") WHERE "window" <> '';
CREATE INDEX input_by_blob ON input (blob) WHERE blob IS NOT NULL;
CREATE INDEX input_by_trace ON input (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX input_by_owner ON input (owner, bytes) WHERE blob IS NOT NULL;

CREATE TABLE upload_input (
    upload_id TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    input_id TEXT NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    existing INTEGER NOT NULL CHECK (existing IN (0, 1)),
    PRIMARY KEY (upload_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_input_by_input ON upload_input (input_id);

-- A file stays as long as a trace or an input has it.
DROP TRIGGER trace_gone;
CREATE TRIGGER trace_gone AFTER DELETE ON trace BEGIN
    INSERT OR IGNORE INTO garbage VALUES ('trace_file', old.id);
    DELETE FROM blob WHERE sha256 = old.sha256
        AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = old.sha256)
        AND NOT EXISTS (SELECT 1 FROM input WHERE input.blob = old.sha256);
END;
CREATE TRIGGER input_gone AFTER DELETE ON input WHEN old.blob IS NOT NULL BEGIN
    DELETE FROM blob WHERE sha256 = old.blob
        AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = old.blob)
        AND NOT EXISTS (SELECT 1 FROM input WHERE input.blob = old.blob);
END;
CREATE TRIGGER input_unpacked AFTER UPDATE OF blob ON input
    WHEN old.blob IS NOT NULL AND new.blob IS NULL BEGIN
    DELETE FROM blob WHERE sha256 = old.blob
        AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = old.blob)
        AND NOT EXISTS (SELECT 1 FROM input WHERE input.blob = old.blob);
END;

-- --- the queue ---

-- A third kind of job takes an archive apart. SQLite changes no CHECK, so the table is made anew.
CREATE TABLE job_before AS SELECT * FROM job;
DROP TABLE job;
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('trace', 'run', 'unpack')),
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    trace_id TEXT REFERENCES trace (id) ON DELETE CASCADE,
    input_id TEXT REFERENCES input (id) ON DELETE CASCADE,
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0, -- attempts in which the service crashed by itself
    strikes INTEGER NOT NULL DEFAULT 0, -- in which the job's own process died, or was stopped
    error TEXT,
    created_ns INTEGER NOT NULL,
    started_ns INTEGER,
    finished_ns INTEGER,
    due_ns INTEGER NOT NULL DEFAULT 0,
    lease_until_ns INTEGER, -- a running job belongs to its worker until then
    CHECK ((kind = 'trace') = (trace_id IS NOT NULL)),
    CHECK ((kind = 'unpack') = (input_id IS NOT NULL))
) STRICT;
INSERT INTO job (id, kind, run_id, trace_id, state, attempts, crashes, strikes, error, created_ns,
        started_ns, finished_ns, due_ns, lease_until_ns)
    SELECT id, kind, run_id, trace_id, state, attempts, crashes, strikes, error, created_ns,
        started_ns, finished_ns, due_ns, lease_until_ns FROM job_before;
DROP TABLE job_before;

CREATE INDEX job_queue ON job (state, due_ns, id);
CREATE INDEX job_by_run ON job (run_id, kind, state, attempts, due_ns);
CREATE INDEX job_by_trace ON job (trace_id);
CREATE INDEX job_by_input ON job (input_id) WHERE input_id IS NOT NULL;
CREATE INDEX job_by_end ON job (finished_ns) WHERE finished_ns IS NOT NULL;
CREATE UNIQUE INDEX job_one_queued_per_trace ON job (trace_id)
    WHERE kind = 'trace' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_run ON job (run_id) WHERE kind = 'run' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_input ON job (input_id)
    WHERE kind = 'unpack' AND state = 'queued';

CREATE TRIGGER job_of_deleted_run BEFORE INSERT ON job WHEN EXISTS
    (SELECT 1 FROM stored_run WHERE id = new.run_id AND deleted_ns IS NOT NULL) BEGIN
    SELECT RAISE(IGNORE);
END;
CREATE TRIGGER job_due AFTER INSERT ON job WHEN new.kind <> 'run' BEGIN
    UPDATE job SET due_ns = 1000000000
        + 1000 * coalesce((SELECT bytes FROM trace WHERE id = new.trace_id),
            (SELECT bytes FROM input WHERE id = new.input_id))
        + max(new.created_ns, (SELECT coalesce(max(due_ns), 0) FROM job
            WHERE run_id = new.run_id AND kind = new.kind AND state = 'queued' AND attempts = 0))
        WHERE id = new.id;
END;

-- --- the run's status ---

ALTER TABLE stored_run ADD COLUMN unpacking INTEGER NOT NULL DEFAULT 0; -- archives not done
DROP VIEW run_listing;
DROP INDEX run_by_status;
ALTER TABLE stored_run DROP COLUMN status;
ALTER TABLE stored_run ADD COLUMN status TEXT AS (CASE
    WHEN received = 0 AND unpacking > 0 THEN 'pending'
    WHEN received = 0 AND error IS NOT NULL THEN 'failed'
    WHEN received = 0 THEN 'empty'
    WHEN done + failed + running = 0 THEN 'pending'
    WHEN done + failed < received OR joining > 0 OR unpacking > 0 THEN 'running'
    WHEN done = 0 OR error IS NOT NULL THEN 'failed'
    WHEN failed > 0 THEN 'partial'
    ELSE 'done'
END) VIRTUAL;
CREATE INDEX run_by_status ON stored_run (status, created_ns DESC, id);
CREATE VIEW run_listing AS
SELECT
    id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(error, (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, worst_quality, step_pattern, warmup_steps, finalized_ns, owner
FROM run;

CREATE TRIGGER job_counted AFTER INSERT ON job
    WHEN new.kind <> 'trace' AND new.state IN ('queued', 'running') BEGIN
    UPDATE stored_run SET joining = joining + (new.kind = 'run'),
        unpacking = unpacking + (new.kind = 'unpack') WHERE id = new.run_id;
END;
CREATE TRIGGER job_counted_again AFTER UPDATE OF state ON job WHEN new.kind <> 'trace'
    AND (new.state IN ('queued', 'running')) <> (old.state IN ('queued', 'running')) BEGIN
    UPDATE stored_run SET
        joining = joining + (new.kind = 'run') * iif(new.state IN ('queued', 'running'), 1, -1),
        unpacking = unpacking
            + (new.kind = 'unpack') * iif(new.state IN ('queued', 'running'), 1, -1)
        WHERE id = new.run_id;
END;
CREATE TRIGGER job_uncounted AFTER DELETE ON job
    WHEN old.kind <> 'trace' AND old.state IN ('queued', 'running') BEGIN
    UPDATE stored_run SET joining = joining - (old.kind = 'run'),
        unpacking = unpacking - (old.kind = 'unpack') WHERE id = old.run_id;
END;
