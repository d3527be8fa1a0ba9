-- SPDX-License-Identifier: Apache-2.0
-- Time of work that a recording lacks is a bar of its own, neither idle nor busy.
ALTER TABLE run_breakdown ADD COLUMN "unrecorded_ns" INTEGER;
ALTER TABLE run_steps ADD COLUMN "unrecorded_ns" INTEGER;

-- In the middle of the columns, where tables are read by position.
CREATE TABLE new_run_ranks (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "gpu" TEXT, "device_events" INTEGER, "linked_device_events" INTEGER,
    "step_count" INTEGER, "steady_steps" INTEGER, "step_median_ns" INTEGER, "step_p95_ns" INTEGER,
    "window_ns" INTEGER, "compute_ns" INTEGER, "exposed_comm_ns" INTEGER,
    "exposed_memory_ns" INTEGER, "idle_ns" INTEGER, "busy_ns" INTEGER, "total_comm_ns" INTEGER,
    "total_memory_ns" INTEGER, "overlap_share" REAL, "gemm_ns" INTEGER, "attention_ns" INTEGER,
    "other_compute_ns" INTEGER, "idle_host_wait_ns" INTEGER, "idle_other_ns" INTEGER,
    "unrecorded_ns" INTEGER, "worst_quality" TEXT, "headline" INTEGER, "node" TEXT,
    "local_rank" INTEGER, "exposed_wait_ns" INTEGER, "exposed_transfer_ns" INTEGER,
    "wait_ns" INTEGER, "lateness_ns" INTEGER, "clock_offset_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;
INSERT INTO new_run_ranks (run_id, "row",
    "rank", "gpu", "device_events", "linked_device_events", "step_count", "steady_steps",
    "step_median_ns", "step_p95_ns", "window_ns", "compute_ns", "exposed_comm_ns",
    "exposed_memory_ns", "idle_ns", "busy_ns", "total_comm_ns", "total_memory_ns",
    "overlap_share", "gemm_ns", "attention_ns", "other_compute_ns", "idle_host_wait_ns",
    "idle_other_ns", "worst_quality", "headline", "node", "local_rank", "exposed_wait_ns",
    "exposed_transfer_ns", "wait_ns", "lateness_ns", "clock_offset_ns")
SELECT run_id, "row",
    "rank", "gpu", "device_events", "linked_device_events", "step_count", "steady_steps",
    "step_median_ns", "step_p95_ns", "window_ns", "compute_ns", "exposed_comm_ns",
    "exposed_memory_ns", "idle_ns", "busy_ns", "total_comm_ns", "total_memory_ns",
    "overlap_share", "gemm_ns", "attention_ns", "other_compute_ns", "idle_host_wait_ns",
    "idle_other_ns", "worst_quality", "headline", "node", "local_rank", "exposed_wait_ns",
    "exposed_transfer_ns", "wait_ns", "lateness_ns", "clock_offset_ns"
FROM run_ranks;
DROP TABLE run_ranks;
ALTER TABLE new_run_ranks RENAME TO run_ranks;

DROP VIEW run_listing;

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
    b.idle_other_ns AS idle_other_ns, b.unrecorded_ns AS unrecorded_ns, step_pattern, warmup_steps
FROM run LEFT JOIN run_breakdown AS b ON b.run_id = run.id AND b.scope = 'run_median';
