-- SPDX-License-Identifier: Apache-2.0
-- What is known once the collectives of all ranks are matched, and more of each finding.

CREATE TABLE run_clocks (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "component" INTEGER, "offset_ns" INTEGER, "error_ns" INTEGER,
    "collectives" INTEGER, "drift_ppm" REAL,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_comm_waits (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "process_group" TEXT, "dimension" TEXT, "ranks" TEXT, "group_size" INTEGER, "kind" TEXT,
    "dtype" TEXT, "bytes" INTEGER, "span" TEXT, "calls" INTEGER, "unmatched_calls" INTEGER,
    "total_ns" INTEGER, "wait_ns" INTEGER, "transfer_ns" INTEGER, "exposed_wait_ns" INTEGER,
    "exposed_transfer_ns" INTEGER, "transfer_median_ns" INTEGER, "transfer_p95_ns" INTEGER,
    "skew_median_ns" INTEGER, "skew_p95_ns" INTEGER, "algo_gbps" REAL, "bus_gbps" REAL,
    "latest_rank" INTEGER, "latest_share" REAL,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_lateness (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "calls" INTEGER, "late_calls" INTEGER, "lateness_ns" INTEGER,
    "caused_wait_ns" INTEGER, "process_group" TEXT, "reason" TEXT, "reason_share" REAL,
    "excess_compute_ns" INTEGER, "excess_data_loading_ns" INTEGER, "excess_host_ns" INTEGER,
    "excess_memory_ns" INTEGER, "excess_comm_ns" INTEGER, "excess_idle_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_rank_steps (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "step" INTEGER, "steady" INTEGER, "step_ns" INTEGER, "compute_ns" INTEGER,
    "exposed_comm_ns" INTEGER, "exposed_wait_ns" INTEGER, "exposed_transfer_ns" INTEGER,
    "wait_ns" INTEGER, "idle_ns" INTEGER, "lateness_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_efficiency (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "metric" TEXT, "value" REAL, "unit" TEXT, "help" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_strategy (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "dimension" TEXT, "variant" TEXT, "degree" INTEGER, "groups" INTEGER, "evidence" TEXT,
    "confidence" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_pipeline (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "stage" INTEGER, "ranks" TEXT, "steps" INTEGER, "micro_batches" INTEGER, "interval_ns" INTEGER,
    "compute_ns" INTEGER, "bubble_ns" INTEGER, "bubble_share" REAL, "ideal_share" REAL,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE INDEX run_rank_steps_by_rank ON run_rank_steps (run_id, rank);

ALTER TABLE run_ranks ADD COLUMN "node" TEXT;
ALTER TABLE run_ranks ADD COLUMN "local_rank" INTEGER;
ALTER TABLE run_ranks ADD COLUMN "exposed_wait_ns" INTEGER;
ALTER TABLE run_ranks ADD COLUMN "exposed_transfer_ns" INTEGER;
ALTER TABLE run_ranks ADD COLUMN "wait_ns" INTEGER;
ALTER TABLE run_ranks ADD COLUMN "lateness_ns" INTEGER;
ALTER TABLE run_ranks ADD COLUMN "clock_offset_ns" INTEGER;

ALTER TABLE run_findings ADD COLUMN "own_cost_ns" INTEGER;
ALTER TABLE run_findings ADD COLUMN "overlaps" TEXT;
ALTER TABLE run_findings ADD COLUMN "ranks" TEXT;
ALTER TABLE run_findings ADD COLUMN "steps" TEXT;
ALTER TABLE run_findings ADD COLUMN "id" TEXT;
