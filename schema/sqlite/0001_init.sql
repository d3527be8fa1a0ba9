-- SPDX-License-Identifier: Apache-2.0
-- The first schema: runs, traces, uploads, jobs, and the tables of run reports.
-- Files are forward only: never edit one that was released, add the next number.

CREATE TABLE run (
    id TEXT PRIMARY KEY CHECK (id GLOB 'r_*'),
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    series TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT '',
    created_ns INTEGER NOT NULL,
    world_size INTEGER CHECK (world_size > 0),
    revision INTEGER NOT NULL DEFAULT 1,
    analysis_version INTEGER,
    error TEXT,
    UNIQUE (project, name)
) STRICT;
CREATE INDEX run_by_created ON run (created_ns);
CREATE INDEX run_by_name ON run (name);
CREATE INDEX run_by_series ON run (series, created_ns);

CREATE TABLE run_tag (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run_id, "key")
) STRICT, WITHOUT ROWID;
CREATE INDEX run_tag_by_value ON run_tag ("key", value);

CREATE TABLE blob (
    sha256 TEXT PRIMARY KEY CHECK (length(sha256) = 64),
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A trace is one file of one rank. Until its rank is known (rank_from 'pending') rank is null.
CREATE TABLE trace (
    id TEXT PRIMARY KEY CHECK (id GLOB 't_*'),
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    rank INTEGER CHECK (rank >= 0),
    rank_from TEXT NOT NULL
        CHECK (rank_from IN ('field', 'metadata', 'filename', 'next', 'pending')),
    replaces INTEGER NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)),
    sha256 TEXT NOT NULL REFERENCES blob (sha256),
    filename TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    uploaded_ns INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    error TEXT,
    warning TEXT,
    analysis_version INTEGER,
    world_size INTEGER,
    events INTEGER,
    text_bytes INTEGER,
    parse_ns INTEGER,
    analyse_ns INTEGER,
    CHECK ((rank IS NULL) = (rank_from = 'pending')),
    UNIQUE (run_id, rank)
) STRICT;
CREATE INDEX trace_by_run ON trace (run_id, state);
CREATE INDEX trace_by_blob ON trace (sha256);

CREATE TABLE trace_report (
    trace_id TEXT PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    report BLOB NOT NULL -- saved report, one zstd frame
) STRICT;

CREATE TABLE upload (
    id TEXT PRIMARY KEY CHECK (id GLOB 'u_*'),
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    created_ns INTEGER NOT NULL
) STRICT;
CREATE INDEX upload_by_run ON upload (run_id);

CREATE TABLE upload_trace (
    upload_id TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    trace_id TEXT NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    existing INTEGER NOT NULL CHECK (existing IN (0, 1)),
    PRIMARY KEY (upload_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX upload_trace_by_trace ON upload_trace (trace_id);

-- The queue. A trace job reads one file, a run job joins the ranks. AUTOINCREMENT: a worker may
-- still hold the number of a job that went with its trace, and no later job may come by it.
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('trace', 'run')),
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    trace_id TEXT REFERENCES trace (id) ON DELETE CASCADE,
    state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempts INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0, -- attempts in which the process fell over by itself
    error TEXT,
    created_ns INTEGER NOT NULL,
    started_ns INTEGER,
    finished_ns INTEGER,
    CHECK ((kind = 'trace') = (trace_id IS NOT NULL))
) STRICT;
-- In the order in which jobs are taken. Not a partial index: SQLite would not see that one state is
-- among several.
CREATE INDEX job_queue ON job (state, crashes, attempts, (kind = 'trace'), id);
CREATE INDEX job_by_run ON job (run_id, kind, state);
CREATE UNIQUE INDEX job_one_queued_per_trace ON job (trace_id)
    WHERE kind = 'trace' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_run ON job (run_id) WHERE kind = 'run' AND state = 'queued';
CREATE INDEX job_by_trace ON job (trace_id);

-- Files whose rows went; removed from disk after the commit, then from here.
CREATE TABLE garbage (
    kind TEXT NOT NULL CHECK (kind IN ('blob', 'trace_file')),
    name TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER trace_gone AFTER DELETE ON trace BEGIN
    INSERT OR IGNORE INTO garbage VALUES ('trace_file', old.id);
    DELETE FROM blob WHERE sha256 = old.sha256
        AND NOT EXISTS (SELECT 1 FROM trace WHERE trace.sha256 = old.sha256);
END;
CREATE TRIGGER blob_gone AFTER DELETE ON blob BEGIN
    INSERT OR IGNORE INTO garbage VALUES ('blob', old.sha256);
END;
CREATE TRIGGER blob_back AFTER INSERT ON blob BEGIN
    DELETE FROM garbage WHERE kind = 'blob' AND name = new.sha256;
END;

-- Tables of run reports: "row" is the order in which the analysis wrote them, the other columns are
-- those of the descriptors in analysis/.

CREATE TABLE run_summary (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "device_events" INTEGER, "linked_device_events" INTEGER, "step_count" INTEGER,
    "steady_steps" INTEGER, "step_median_ns" INTEGER, "step_ci_low_ns" INTEGER,
    "step_ci_high_ns" INTEGER, "busy_share" REAL, "exposed_comm_share" REAL, "idle_share" REAL,
    "gpu" TEXT, "devices" INTEGER, "world_size" INTEGER, "input_events" INTEGER,
    "text_bytes" INTEGER, "findings" INTEGER, "worst_quality" TEXT, "streams" INTEGER,
    "rank" INTEGER, "incomplete" INTEGER, "implausible" INTEGER, "clipped" INTEGER,
    "ranks" INTEGER, "headline_rank" INTEGER, "slowest_rank" INTEGER, "rank_spread_share" REAL,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_ranks (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "gpu" TEXT, "device_events" INTEGER, "linked_device_events" INTEGER,
    "step_count" INTEGER, "steady_steps" INTEGER, "step_median_ns" INTEGER, "step_p95_ns" INTEGER,
    "window_ns" INTEGER, "compute_ns" INTEGER, "exposed_comm_ns" INTEGER,
    "exposed_memory_ns" INTEGER, "idle_ns" INTEGER, "busy_ns" INTEGER, "total_comm_ns" INTEGER,
    "total_memory_ns" INTEGER, "overlap_share" REAL, "gemm_ns" INTEGER, "attention_ns" INTEGER,
    "other_compute_ns" INTEGER, "idle_host_wait_ns" INTEGER, "idle_other_ns" INTEGER,
    "worst_quality" TEXT, "headline" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_breakdown (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "scope" TEXT, "rank" INTEGER, "device" TEXT, "steps" INTEGER, "window_ns" INTEGER,
    "compute_ns" INTEGER, "exposed_comm_ns" INTEGER, "exposed_memory_ns" INTEGER,
    "idle_ns" INTEGER, "busy_ns" INTEGER, "total_comm_ns" INTEGER, "total_memory_ns" INTEGER,
    "overlap_share" REAL, "gemm_ns" INTEGER, "attention_ns" INTEGER, "other_compute_ns" INTEGER,
    "idle_host_wait_ns" INTEGER, "idle_other_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_steps (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "step" INTEGER, "name" TEXT, "begin_ns" INTEGER, "steady" INTEGER,
    "reason" TEXT, "window_ns" INTEGER, "compute_ns" INTEGER, "exposed_comm_ns" INTEGER,
    "exposed_memory_ns" INTEGER, "idle_ns" INTEGER, "busy_ns" INTEGER, "total_comm_ns" INTEGER,
    "total_memory_ns" INTEGER, "overlap_share" REAL, "gemm_ns" INTEGER, "attention_ns" INTEGER,
    "other_compute_ns" INTEGER, "idle_host_wait_ns" INTEGER, "idle_other_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_step_stats (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "metric" TEXT, "count" INTEGER, "min_ns" INTEGER, "mean_ns" REAL,
    "median_ns" INTEGER, "p95_ns" INTEGER, "p99_ns" INTEGER, "max_ns" INTEGER, "stddev_ns" REAL,
    "ci_low_ns" INTEGER, "ci_high_ns" INTEGER, "ci_note" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_classes (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "class" TEXT, "events" INTEGER, "sum_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_kernels (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "name" TEXT, "class" TEXT, "category" TEXT, "op" TEXT, "ranks" INTEGER, "calls" INTEGER,
    "calls_per_step" REAL, "total_ns" INTEGER, "owned_ns" INTEGER, "exposed_ns" INTEGER,
    "window_share" REAL, "busy_share" REAL, "per_step_ns" REAL, "min_ns" INTEGER, "mean_ns" REAL,
    "median_ns" INTEGER, "p95_ns" INTEGER, "p99_ns" INTEGER, "max_ns" INTEGER, "stddev_ns" REAL,
    "rank_min_ns" INTEGER, "rank_median_ns" INTEGER, "rank_max_ns" INTEGER, "rank_cv" REAL,
    "slowest_rank" INTEGER, "grid" TEXT, "block" TEXT, "registers" INTEGER,
    "shared_bytes" INTEGER, "occupancy_percent" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_ops (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "name" TEXT, "launching_calls" INTEGER, "total_ns" INTEGER, "ranks" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_parts (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "steps" INTEGER, "bar" TEXT, "category" TEXT, "op" TEXT, "kernel" TEXT,
    "calls" INTEGER, "owned_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_collectives (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "collective" TEXT, "kind" TEXT, "dtype" TEXT, "in_elems" INTEGER, "out_elems" INTEGER,
    "group_size" INTEGER, "process_group" TEXT, "calls" INTEGER, "total_ns" INTEGER,
    "min_ns" INTEGER, "median_ns" INTEGER, "p95_ns" INTEGER, "max_ns" INTEGER, "bytes" INTEGER,
    "algo_gbps" REAL, "bus_gbps" REAL, "exposed_ns" INTEGER, "exposed_share" REAL, "kernel" TEXT,
    "ranks" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_short_kernels (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "op" TEXT, "calls" INTEGER, "short_calls" INTEGER, "total_ns" INTEGER, "short_ns" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_launches (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "metric" TEXT, "value" INTEGER, "unit" TEXT, "help" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_quality (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "item" TEXT, "severity" TEXT, "count" INTEGER, "time_ns" INTEGER,
    "position" INTEGER, "detail" TEXT, "effect" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_findings (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "rank" INTEGER, "rule" TEXT, "title" TEXT, "severity" TEXT, "cost_ns" INTEGER,
    "cost_share" REAL, "confidence" TEXT, "evidence" TEXT, "why" TEXT, "advice" TEXT,
    "method" TEXT, "false_alarms" TEXT,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE TABLE run_environment (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "row" INTEGER NOT NULL,
    "key" TEXT, "value" TEXT, "ranks" INTEGER,
    PRIMARY KEY (run_id, "row")
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX run_breakdown_median ON run_breakdown (run_id) WHERE scope = 'run_median';

-- One row per run as lists and pages show it; the status follows from the traces and jobs.
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
    b.idle_other_ns AS idle_other_ns
FROM run_counts AS c
LEFT JOIN run_summary AS s ON s.run_id = c.id AND s."row" = 0
LEFT JOIN run_breakdown AS b ON b.run_id = c.id AND b.scope = 'run_median';
