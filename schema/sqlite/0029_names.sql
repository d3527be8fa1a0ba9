-- SPDX-License-Identifier: Apache-2.0
-- One name and one spelling for each thing.
ALTER TABLE trace RENAME COLUMN analyse_ns TO analyze_ns;
DROP VIEW run_listing;
ALTER TABLE stored_run RENAME COLUMN worst_quality TO trust_severity;
CREATE VIEW run_listing AS
SELECT
    id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(error, (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner
FROM run;
