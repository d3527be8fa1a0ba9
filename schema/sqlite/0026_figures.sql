-- SPDX-License-Identifier: Apache-2.0
-- What 0025 made needless.
DROP VIEW run_listing;

DROP TABLE run_summary;
DROP TABLE run_ranks;
DROP TABLE run_breakdown;
DROP TABLE run_steps;
DROP TABLE run_step_stats;
DROP TABLE run_classes;
DROP TABLE run_kernels;
DROP TABLE run_ops;
DROP TABLE run_collectives;
DROP TABLE run_short_kernels;
DROP TABLE run_launches;
DROP TABLE run_quality;
DROP TABLE run_findings;
DROP TABLE run_environment;
DROP TABLE run_clocks;
DROP TABLE run_comm_waits;
DROP TABLE run_lateness;
DROP TABLE run_rank_steps;
DROP TABLE run_efficiency;
DROP TABLE run_strategy;
DROP TABLE run_pipeline;

ALTER TABLE stored_run DROP COLUMN step_median_ns;
ALTER TABLE stored_run DROP COLUMN busy_share;
ALTER TABLE stored_run DROP COLUMN exposed_comm_share;
ALTER TABLE stored_run DROP COLUMN findings;

-- One row per run as lists and pages show it, without its figures.
CREATE VIEW run_listing AS
SELECT
    id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(error, (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, worst_quality, step_pattern, warmup_steps, finalized_ns, owner
FROM run;
