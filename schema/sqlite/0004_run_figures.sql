-- SPDX-License-Identifier: Apache-2.0
-- Lists of runs are filtered and sorted by what follows from traces, jobs and results. That is
-- worked out when it changes, not for every run of every list: counts by triggers, the status from
-- the counts. And the tables of a trace's report are kept one by one, so that a page that shows one
-- reads one.
ALTER TABLE run ADD COLUMN received INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN done INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN failed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN running INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN joining INTEGER NOT NULL DEFAULT 0; -- jobs of kind 'run' not ended
ALTER TABLE run ADD COLUMN traced_world_size INTEGER;
ALTER TABLE run ADD COLUMN status TEXT AS (CASE
    WHEN received = 0 THEN 'empty'
    WHEN done + failed + running = 0 THEN 'pending'
    WHEN done + failed < received OR joining > 0 THEN 'running'
    WHEN done = 0 OR error IS NOT NULL THEN 'failed'
    WHEN failed > 0 THEN 'partial'
    ELSE 'done'
END) VIRTUAL;

-- Of the first row of run_summary.
ALTER TABLE run ADD COLUMN gpu TEXT;
ALTER TABLE run ADD COLUMN step_median_ns INTEGER;
ALTER TABLE run ADD COLUMN busy_share REAL;
ALTER TABLE run ADD COLUMN exposed_comm_share REAL;
ALTER TABLE run ADD COLUMN findings INTEGER;
ALTER TABLE run ADD COLUMN worst_quality TEXT;

CREATE INDEX trace_by_world_size ON trace (run_id, world_size);

UPDATE run SET
    received = (SELECT count(*) FROM trace WHERE run_id = run.id),
    done = (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'done'),
    failed = (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'failed'),
    running = (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'running'),
    joining = (SELECT count(*) FROM job WHERE run_id = run.id AND kind = 'run'
        AND state IN ('queued', 'running')),
    traced_world_size = (SELECT max(world_size) FROM trace WHERE run_id = run.id);
UPDATE run SET (gpu, step_median_ns, busy_share, exposed_comm_share, findings, worst_quality) =
    (SELECT gpu, step_median_ns, busy_share, exposed_comm_share, findings, worst_quality
        FROM run_summary WHERE run_id = run.id AND "row" = 0);

CREATE TRIGGER trace_counted AFTER INSERT ON trace BEGIN
    UPDATE run SET received = received + 1, done = done + (new.state = 'done'),
        failed = failed + (new.state = 'failed'), running = running + (new.state = 'running')
        WHERE id = new.run_id;
END;
CREATE TRIGGER trace_counted_again AFTER UPDATE OF state ON trace WHEN old.state <> new.state BEGIN
    UPDATE run SET done = done + (new.state = 'done') - (old.state = 'done'),
        failed = failed + (new.state = 'failed') - (old.state = 'failed'),
        running = running + (new.state = 'running') - (old.state = 'running')
        WHERE id = new.run_id;
END;
CREATE TRIGGER trace_world_size_known AFTER UPDATE OF world_size ON trace
    WHEN old.world_size IS NOT new.world_size BEGIN
    UPDATE run SET traced_world_size =
        (SELECT max(world_size) FROM trace WHERE run_id = new.run_id) WHERE id = new.run_id;
END;
CREATE TRIGGER trace_uncounted AFTER DELETE ON trace BEGIN
    UPDATE run SET received = received - 1, done = done - (old.state = 'done'),
        failed = failed - (old.state = 'failed'), running = running - (old.state = 'running'),
        traced_world_size = (SELECT max(world_size) FROM trace WHERE run_id = old.run_id)
        WHERE id = old.run_id;
END;
CREATE TRIGGER job_counted AFTER INSERT ON job
    WHEN new.kind = 'run' AND new.state IN ('queued', 'running') BEGIN
    UPDATE run SET joining = joining + 1 WHERE id = new.run_id;
END;
CREATE TRIGGER job_counted_again AFTER UPDATE OF state ON job WHEN new.kind = 'run' BEGIN
    UPDATE run SET joining = joining + (new.state IN ('queued', 'running'))
        - (old.state IN ('queued', 'running')) WHERE id = new.run_id;
END;
CREATE TRIGGER job_uncounted AFTER DELETE ON job
    WHEN old.kind = 'run' AND old.state IN ('queued', 'running') BEGIN
    UPDATE run SET joining = joining - 1 WHERE id = old.run_id;
END;
CREATE TRIGGER summary_known AFTER INSERT ON run_summary WHEN new."row" = 0 BEGIN
    UPDATE run SET gpu = new.gpu, step_median_ns = new.step_median_ns,
        busy_share = new.busy_share, exposed_comm_share = new.exposed_comm_share,
        findings = new.findings, worst_quality = new.worst_quality WHERE id = new.run_id;
END;
CREATE TRIGGER summary_gone AFTER DELETE ON run_summary WHEN old."row" = 0 BEGIN
    UPDATE run SET gpu = NULL, step_median_ns = NULL, busy_share = NULL,
        exposed_comm_share = NULL, findings = NULL, worst_quality = NULL WHERE id = old.run_id;
END;

-- Each filter of the list in the list's own order, newest first.
DROP INDEX run_by_created;
CREATE INDEX run_by_created ON run (created_ns DESC, id);
DROP INDEX run_by_series;
CREATE INDEX run_by_series ON run (series, created_ns DESC, id);
CREATE INDEX run_by_project ON run (project, created_ns DESC, id);
CREATE INDEX run_by_status ON run (status, created_ns DESC, id);

DROP VIEW run_listing;
DROP VIEW run_counts;

-- One row per run as lists and pages show it.
CREATE VIEW run_listing AS
SELECT
    run.id AS id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(run.world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(run.error, (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, step_median_ns, busy_share, exposed_comm_share, findings, worst_quality,
    b.steps AS steps, b.gemm_ns AS gemm_ns, b.attention_ns AS attention_ns,
    b.other_compute_ns AS other_compute_ns, b.exposed_comm_ns AS exposed_comm_ns,
    b.exposed_memory_ns AS exposed_memory_ns, b.idle_host_wait_ns AS idle_host_wait_ns,
    b.idle_other_ns AS idle_other_ns, step_pattern, warmup_steps
FROM run LEFT JOIN run_breakdown AS b ON b.run_id = run.id AND b.scope = 'run_median';

-- What one rank takes of the tables that hold rows of all.
CREATE INDEX run_steps_by_rank ON run_steps (run_id, rank);
CREATE INDEX run_parts_by_rank ON run_parts (run_id, rank);

-- A saved report with one table, one zstd frame. Reports of older programs stay whole in
-- trace_report until their trace is analysed again.
CREATE TABLE trace_table (
    trace_id TEXT NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    report BLOB NOT NULL,
    PRIMARY KEY (trace_id, name)
) STRICT;
