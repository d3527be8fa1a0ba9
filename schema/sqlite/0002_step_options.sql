-- SPDX-License-Identifier: Apache-2.0
-- How the traces of a run are cut into steps, as the user chose: the annotation that marks one
-- (null: whatever is found) and how many steps to leave out first (null: by the rule of warm-up).
ALTER TABLE run ADD COLUMN step_pattern TEXT CHECK (step_pattern <> '');
ALTER TABLE run ADD COLUMN warmup_steps INTEGER CHECK (warmup_steps >= 0);

-- Views name their columns when they are made.
DROP VIEW run_listing;
DROP VIEW run_counts;

CREATE VIEW run_counts AS
SELECT
    run.*,
    (SELECT count(*) FROM trace WHERE run_id = run.id) AS received,
    (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'done') AS done,
    (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'failed') AS failed,
    (SELECT count(*) FROM trace WHERE run_id = run.id AND state = 'running') AS running,
    EXISTS (SELECT 1 FROM job WHERE run_id = run.id AND kind = 'run'
        AND state IN ('queued', 'running')) AS joining,
    (SELECT max(world_size) FROM trace WHERE run_id = run.id) AS traced_world_size,
    (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1) AS trace_error
FROM run;

CREATE VIEW run_listing AS
SELECT
    c.id AS id, c.name AS name, c.project AS project, c.series AS series, c.note AS note,
    c.created_ns AS created, c.revision AS revision,
    CASE
        WHEN c.received = 0 THEN 'empty'
        WHEN c.done + c.failed + c.running = 0 THEN 'pending'
        WHEN c.done + c.failed < c.received OR c.joining THEN 'running'
        WHEN c.done = 0 OR c.error IS NOT NULL THEN 'failed'
        WHEN c.failed > 0 THEN 'partial'
        ELSE 'done'
    END AS status,
    coalesce(c.world_size, c.traced_world_size) AS world_size,
    c.received AS received, c.done AS done, c.failed AS failed,
    coalesce(c.error, c.trace_error) AS error,
    s.gpu AS gpu, s.step_median_ns AS step_median_ns, s.busy_share AS busy_share,
    s.exposed_comm_share AS exposed_comm_share, s.findings AS findings,
    s.worst_quality AS worst_quality,
    b.steps AS steps, b.gemm_ns AS gemm_ns, b.attention_ns AS attention_ns,
    b.other_compute_ns AS other_compute_ns, b.exposed_comm_ns AS exposed_comm_ns,
    b.exposed_memory_ns AS exposed_memory_ns, b.idle_host_wait_ns AS idle_host_wait_ns,
    b.idle_other_ns AS idle_other_ns,
    c.step_pattern AS step_pattern, c.warmup_steps AS warmup_steps
FROM run_counts AS c
LEFT JOIN run_summary AS s ON s.run_id = c.id AND s."row" = 0
LEFT JOIN run_breakdown AS b ON b.run_id = c.id AND b.scope = 'run_median';
