-- SPDX-License-Identifier: Apache-2.0
-- What is written most has as few indexes as possible. Counts of a run and states of a trace change
-- often: no index depends on them.
DROP INDEX run_empty_by_owner;
CREATE INDEX run_by_owner_status ON stored_run (owner, status);
-- Traces of a run are found by its ranks.
DROP INDEX trace_by_world_size;
DROP INDEX trace_by_run;
DROP INDEX trace_by_analysis;
CREATE INDEX trace_by_analysis ON trace (analysis_version) WHERE analysis_version IS NOT NULL;
CREATE INDEX trace_failed ON trace (run_id) WHERE error IS NOT NULL;
DROP VIEW run_listing;
CREATE VIEW run_listing AS
SELECT
    id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(error, (SELECT error FROM trace WHERE run_id = run.id AND error IS NOT NULL
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner, evidence
FROM run;
