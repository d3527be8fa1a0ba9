-- SPDX-License-Identifier: Apache-2.0
-- Attachments whose format says something of the run (a training log, say) are read, and their
-- tables stored as those of traces are.
CREATE TABLE input_table (
    input_id TEXT NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    report BLOB NOT NULL,
    PRIMARY KEY (input_id, name)
) STRICT;
CREATE TABLE input_table_part (
    input_id TEXT NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    part INTEGER NOT NULL CHECK (part > 0),
    report BLOB NOT NULL,
    PRIMARY KEY (input_id, name, part)
) STRICT;
ALTER TABLE input ADD COLUMN analysis_version INTEGER; -- of its tables; null: it has none
ALTER TABLE input ADD COLUMN join_bytes INTEGER;       -- their unpacked size
CREATE INDEX input_by_version ON input (analysis_version) WHERE analysis_version IS NOT NULL;
CREATE INDEX input_by_name ON input (run_id, filename, format) WHERE analysis_version IS NOT NULL;

-- A fourth kind of job reads them. SQLite changes no CHECK, so the table is replaced; the ids of
-- jobs go on where they were.
CREATE TABLE job_last AS SELECT seq FROM sqlite_sequence WHERE name = 'job';
CREATE TABLE job_before AS SELECT * FROM job;
DROP TABLE job;
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('trace', 'run', 'unpack', 'evidence')),
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
    owner TEXT NOT NULL DEFAULT '', -- of the lease
    CHECK ((kind = 'trace') = (trace_id IS NOT NULL)),
    CHECK ((kind IN ('unpack', 'evidence')) = (input_id IS NOT NULL))
) STRICT;
INSERT INTO job SELECT id, kind, run_id, trace_id, input_id, state, attempts, crashes, strikes,
    error, created_ns, started_ns, finished_ns, due_ns, lease_until_ns, owner FROM job_before;
DROP TABLE job_before;
DELETE FROM sqlite_sequence WHERE name = 'job';
INSERT INTO sqlite_sequence (name, seq) SELECT 'job', seq FROM job_last;
DROP TABLE job_last;
CREATE INDEX job_queue ON job (state, due_ns, id);
CREATE INDEX job_by_run ON job (run_id, kind, state, attempts, due_ns);
CREATE INDEX job_by_trace ON job (trace_id);
CREATE INDEX job_by_input ON job (input_id) WHERE input_id IS NOT NULL;
CREATE INDEX job_by_end ON job (finished_ns) WHERE finished_ns IS NOT NULL;
CREATE UNIQUE INDEX job_one_queued_per_trace ON job (trace_id)
    WHERE kind = 'trace' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_run ON job (run_id) WHERE kind = 'run' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_input ON job (input_id, kind) WHERE state = 'queued'
    AND input_id IS NOT NULL;

-- A run may have files that say something of it and no trace.
ALTER TABLE stored_run ADD COLUMN evidence INTEGER NOT NULL DEFAULT 0; -- attachments with tables
DROP VIEW run_listing;
DROP INDEX run_by_status;
ALTER TABLE stored_run DROP COLUMN status;
ALTER TABLE stored_run ADD COLUMN status TEXT AS (CASE
    WHEN received + evidence = 0 AND unpacking > 0 THEN 'pending'
    WHEN received + evidence = 0 AND error IS NOT NULL THEN 'failed'
    WHEN received + evidence = 0 THEN 'empty'
    WHEN received > 0 AND done + failed + running = 0 THEN 'pending'
    WHEN done + failed < received OR joining > 0 OR unpacking > 0 THEN 'running'
    WHEN done + evidence = 0 OR error IS NOT NULL THEN 'failed'
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
    gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner, evidence
FROM run;
