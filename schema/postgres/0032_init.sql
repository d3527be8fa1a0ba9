-- SPDX-License-Identifier: Apache-2.0
-- The schema of ../sqlite up to this number, as PostgreSQL says it. Texts sort by their bytes.

-- What SQLite's functions of these names do.
CREATE FUNCTION max(a BIGINT, b BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN a > b THEN a WHEN a <= b THEN b END;
CREATE FUNCTION min(a BIGINT, b BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN a < b THEN a WHEN a >= b THEN b END;
CREATE FUNCTION instr(within TEXT, part TEXT) RETURNS INTEGER LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN strpos(within, part);
CREATE FUNCTION quote(value TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN quote_nullable(value);
CREATE FUNCTION quote(value BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN coalesce(CAST(value AS TEXT), 'NULL');
CREATE FUNCTION group_concat_next(so_far TEXT, value TEXT) RETURNS TEXT
    LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN coalesce(so_far || ',' || value, so_far, value);
CREATE AGGREGATE group_concat(TEXT) (SFUNC = group_concat_next, STYPE = TEXT);

CREATE TABLE stored_run (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'r_')),
    project TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    series TEXT COLLATE "C" NOT NULL,
    note TEXT COLLATE "C" NOT NULL DEFAULT '',
    created_ns BIGINT NOT NULL,
    world_size BIGINT CHECK (world_size > 0),
    revision BIGINT NOT NULL DEFAULT 1,
    analysis_version BIGINT,
    error TEXT COLLATE "C",
    step_pattern TEXT COLLATE "C" CHECK (step_pattern <> ''),
    warmup_steps BIGINT CHECK (warmup_steps >= 0),
    received BIGINT NOT NULL DEFAULT 0,
    done BIGINT NOT NULL DEFAULT 0,
    failed BIGINT NOT NULL DEFAULT 0,
    running BIGINT NOT NULL DEFAULT 0,
    joining BIGINT NOT NULL DEFAULT 0,
    traced_world_size BIGINT,
    gpu TEXT COLLATE "C",
    trust_severity TEXT COLLATE "C",
    finalized_ns BIGINT,
    joined BIGINT NOT NULL DEFAULT 0,
    point_ns BIGINT,
    outlier BIGINT NOT NULL DEFAULT 0,
    owner TEXT COLLATE "C" NOT NULL DEFAULT '',
    made BIGINT NOT NULL DEFAULT 0,
    deleted_ns BIGINT,
    deleted_by TEXT COLLATE "C" NOT NULL DEFAULT '',
    deleted_name TEXT COLLATE "C",
    restored_ns BIGINT,
    unpacking BIGINT NOT NULL DEFAULT 0,
    evidence BIGINT NOT NULL DEFAULT 0,
    status TEXT COLLATE "C" GENERATED ALWAYS AS (CASE
        WHEN received + evidence = 0 AND unpacking > 0 THEN 'pending'
        WHEN received + evidence = 0 AND error IS NOT NULL THEN 'failed'
        WHEN received + evidence = 0 THEN 'empty'
        WHEN received > 0 AND done + failed + running = 0 THEN 'pending'
        WHEN done + failed < received OR joining > 0 OR unpacking > 0 THEN 'running'
        WHEN done + evidence = 0 OR error IS NOT NULL THEN 'failed'
        WHEN failed > 0 THEN 'partial'
        ELSE 'done'
        END) STORED,
    UNIQUE (project, name)
);

CREATE TABLE blob (
    sha256 TEXT COLLATE "C" PRIMARY KEY CHECK (length(sha256) = 64),
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    created_ns BIGINT NOT NULL,
    checked_ns BIGINT NOT NULL DEFAULT 0,
    damage TEXT COLLATE "C" NOT NULL DEFAULT ''
);

CREATE TABLE trace (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 't_')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    rank BIGINT CHECK (rank >= 0),
    rank_from TEXT COLLATE "C" NOT NULL
        CHECK (rank_from IN ('field', 'metadata', 'filename', 'next', 'pending')),
    replaces BIGINT NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)),
    sha256 TEXT COLLATE "C" NOT NULL REFERENCES blob (sha256),
    filename TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    uploaded_ns BIGINT NOT NULL,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    error TEXT COLLATE "C",
    warning TEXT COLLATE "C",
    analysis_version BIGINT,
    world_size BIGINT,
    events BIGINT,
    text_bytes BIGINT,
    parse_ns BIGINT,
    analyze_ns BIGINT,
    secrets BIGINT,
    join_bytes BIGINT,
    process BIGINT NOT NULL DEFAULT 0,
    CHECK ((rank IS NULL) = (rank_from = 'pending')),
    UNIQUE (run_id, rank)
);

CREATE TABLE alert (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'a_')),
    run_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES stored_run (id) ON DELETE CASCADE,
    previous_id TEXT COLLATE "C" REFERENCES stored_run (id) ON DELETE SET NULL,
    project TEXT COLLATE "C" NOT NULL,
    series TEXT COLLATE "C" NOT NULL,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('outlier', 'change')),
    before_ns BIGINT NOT NULL CHECK (before_ns > 0),
    after_ns BIGINT NOT NULL CHECK (after_ns > 0),
    change_share DOUBLE PRECISION NOT NULL,
    status TEXT COLLATE "C" NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'acknowledged', 'expected', 'noise', 'fixed')),
    comment TEXT COLLATE "C" NOT NULL DEFAULT '',
    handled BIGINT NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)),
    created_ns BIGINT NOT NULL,
    updated_ns BIGINT NOT NULL
);

CREATE TABLE audit (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at_ns BIGINT NOT NULL,
    who TEXT COLLATE "C" NOT NULL,
    peer TEXT COLLATE "C" NOT NULL,
    action TEXT COLLATE "C" NOT NULL,
    object TEXT COLLATE "C" NOT NULL,
    status BIGINT NOT NULL,
    request_id TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL DEFAULT 1,
    last_ns BIGINT
);

CREATE TABLE baseline (
    name TEXT COLLATE "C" PRIMARY KEY,
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    set_ns BIGINT NOT NULL
);

CREATE TABLE believed_clock (
    only_row BIGINT PRIMARY KEY CHECK (only_row = 1),
    at_ns BIGINT NOT NULL
);

CREATE TABLE database_check (
    kind TEXT COLLATE "C" PRIMARY KEY CHECK (kind IN ('quick', 'full')),
    checked_ns BIGINT NOT NULL,
    damage TEXT COLLATE "C" NOT NULL
);

CREATE TABLE figure (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    metric TEXT COLLATE "C" NOT NULL,
    value DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (run_id, metric)
);

CREATE TABLE finding_dismissal (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    finding TEXT COLLATE "C" NOT NULL,
    reason TEXT COLLATE "C" NOT NULL,
    created_ns BIGINT NOT NULL,
    PRIMARY KEY (run_id, finding)
);

CREATE TABLE garbage (
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('blob', 'trace_file')),
    name TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, name)
);

CREATE TABLE input (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'i_')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    parent TEXT COLLATE "C" REFERENCES input (id) ON DELETE SET NULL,
    position BIGINT NOT NULL CHECK (position >= 0),
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('archive', 'trace', 'attachment', 'skipped')),
    format TEXT COLLATE "C" NOT NULL,
    filename TEXT COLLATE "C" NOT NULL,
    "window" TEXT COLLATE "C" NOT NULL DEFAULT '',
    sha256 TEXT COLLATE "C",
    blob TEXT COLLATE "C" REFERENCES blob (sha256),
    trace_id TEXT COLLATE "C" REFERENCES trace (id) ON DELETE SET NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    secrets BIGINT,
    state TEXT COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
    reason TEXT COLLATE "C",
    owner TEXT COLLATE "C" NOT NULL DEFAULT '',
    adds_only BIGINT NOT NULL DEFAULT 0 CHECK (adds_only IN (0, 1)),
    replaces BIGINT NOT NULL DEFAULT 0 CHECK (replaces IN (0, 1)),
    created_ns BIGINT NOT NULL,
    analysis_version BIGINT,
    join_bytes BIGINT,
    UNIQUE (parent, position)
);

CREATE TABLE input_table (
    input_id TEXT COLLATE "C" NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    report BYTEA NOT NULL,
    PRIMARY KEY (input_id, name)
);

CREATE TABLE input_table_part (
    input_id TEXT COLLATE "C" NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL CHECK (part > 0),
    report BYTEA NOT NULL,
    PRIMARY KEY (input_id, name, part)
);

CREATE TABLE job (
    id BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('trace', 'run', 'unpack', 'evidence')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    trace_id TEXT COLLATE "C" REFERENCES trace (id) ON DELETE CASCADE,
    input_id TEXT COLLATE "C" REFERENCES input (id) ON DELETE CASCADE,
    state TEXT COLLATE "C" NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'running', 'done', 'failed')),
    attempts BIGINT NOT NULL DEFAULT 0,
    crashes BIGINT NOT NULL DEFAULT 0,
    strikes BIGINT NOT NULL DEFAULT 0,
    error TEXT COLLATE "C",
    created_ns BIGINT NOT NULL,
    started_ns BIGINT,
    finished_ns BIGINT,
    due_ns BIGINT NOT NULL DEFAULT 0,
    lease_until_ns BIGINT,
    owner TEXT COLLATE "C" NOT NULL DEFAULT '',
    CHECK ((kind = 'trace') = (trace_id IS NOT NULL)),
    CHECK ((kind IN ('unpack', 'evidence')) = (input_id IS NOT NULL))
);

CREATE TABLE leader (
    role TEXT COLLATE "C" PRIMARY KEY,
    owner TEXT COLLATE "C" NOT NULL,
    until_ns BIGINT NOT NULL
);

CREATE TABLE level_change (
    run_id TEXT COLLATE "C" PRIMARY KEY REFERENCES stored_run (id) ON DELETE CASCADE,
    previous_id TEXT COLLATE "C" REFERENCES stored_run (id) ON DELETE SET NULL,
    reason TEXT COLLATE "C" NOT NULL CHECK (reason IN ('step_time', 'gpu', 'ranks')),
    before_ns BIGINT,
    after_ns BIGINT,
    p_value DOUBLE PRECISION
);

CREATE TABLE metadata (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    "key" TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, "key")
);

CREATE TABLE probe (
    at_ns BIGINT NOT NULL
);

CREATE TABLE quota_day (
    who TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    bytes BIGINT NOT NULL,
    PRIMARY KEY (who, day)
);

CREATE TABLE upload (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'u_')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    created_ns BIGINT NOT NULL
);

CREATE TABLE resumable (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'p_')),
    owner TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C",
    bytes BIGINT NOT NULL CHECK (bytes > 0),
    flushed BIGINT NOT NULL DEFAULT 0 CHECK (flushed BETWEEN 0 AND bytes),
    metadata TEXT COLLATE "C" NOT NULL,
    created_ns BIGINT NOT NULL,
    expires_ns BIGINT NOT NULL,
    upload_id TEXT COLLATE "C" REFERENCES upload (id) ON DELETE CASCADE,
    refused TEXT COLLATE "C",
    request BIGINT,
    CHECK (upload_id IS NULL OR refused IS NULL)
);

CREATE TABLE run_table (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    report BYTEA NOT NULL,
    PRIMARY KEY (run_id, name)
);

CREATE TABLE run_table_part (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL CHECK (part > 0),
    report BYTEA NOT NULL,
    PRIMARY KEY (run_id, name, part)
);

CREATE TABLE run_tag (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    "key" TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, "key")
);

CREATE TABLE series (
    project TEXT COLLATE "C" NOT NULL,
    series TEXT COLLATE "C" NOT NULL,
    runs BIGINT NOT NULL,
    first_ns BIGINT,
    last_ns BIGINT,
    changed BIGINT NOT NULL,
    judged BIGINT NOT NULL,
    points BIGINT NOT NULL DEFAULT 0,
    last_point TEXT COLLATE "C",
    step_median_ns BIGINT,
    change_share DOUBLE PRECISION,
    PRIMARY KEY (project, series)
);

CREATE TABLE token (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'k_')),
    name TEXT COLLATE "C" NOT NULL,
    prefix TEXT COLLATE "C" NOT NULL CHECK (length(prefix) = 8),
    hash TEXT COLLATE "C" NOT NULL CHECK (length(hash) = 64),
    scopes BIGINT NOT NULL CHECK (scopes BETWEEN 1 AND 15),
    created_ns BIGINT NOT NULL,
    expires_ns BIGINT,
    revoked_ns BIGINT,
    used_ns BIGINT,
    day_bytes BIGINT,
    stored_bytes BIGINT,
    in_flight BIGINT
);

CREATE TABLE session (
    hash TEXT COLLATE "C" PRIMARY KEY CHECK (length(hash) = 64),
    prefix TEXT COLLATE "C" NOT NULL CHECK (length(prefix) = 8),
    token_id TEXT COLLATE "C" NOT NULL REFERENCES token (id) ON DELETE CASCADE,
    created_ns BIGINT NOT NULL,
    used_ns BIGINT NOT NULL
);

CREATE TABLE trace_owner (
    trace_id TEXT COLLATE "C" PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
    who TEXT COLLATE "C" NOT NULL,
    bytes BIGINT NOT NULL,
    made BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE trace_report (
    trace_id TEXT COLLATE "C" PRIMARY KEY REFERENCES trace (id) ON DELETE CASCADE,
    version BIGINT NOT NULL,
    report BYTEA NOT NULL
);

CREATE TABLE trace_table (
    trace_id TEXT COLLATE "C" NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    report BYTEA NOT NULL,
    PRIMARY KEY (trace_id, name)
);

CREATE TABLE trace_table_part (
    trace_id TEXT COLLATE "C" NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    part BIGINT NOT NULL CHECK (part > 0),
    report BYTEA NOT NULL,
    PRIMARY KEY (trace_id, name, part)
);

CREATE TABLE upload_input (
    upload_id TEXT COLLATE "C" NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    input_id TEXT COLLATE "C" NOT NULL REFERENCES input (id) ON DELETE CASCADE,
    existing BIGINT NOT NULL CHECK (existing IN (0, 1)),
    PRIMARY KEY (upload_id, position)
);

CREATE TABLE upload_key (
    owner TEXT COLLATE "C" NOT NULL,
    "key" TEXT COLLATE "C" NOT NULL,
    upload_id TEXT COLLATE "C" NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    created_ns BIGINT NOT NULL,
    request BIGINT,
    PRIMARY KEY (owner, "key")
);

CREATE TABLE upload_trace (
    upload_id TEXT COLLATE "C" NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
    position BIGINT NOT NULL,
    trace_id TEXT COLLATE "C" NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    existing BIGINT NOT NULL CHECK (existing IN (0, 1)),
    PRIMARY KEY (upload_id, position)
);

CREATE INDEX alert_by_created ON alert (created_ns DESC);
CREATE INDEX alert_by_previous ON alert (previous_id);
CREATE INDEX alert_by_series ON alert (project, series, status, created_ns DESC);
CREATE INDEX alert_by_status ON alert (status, created_ns DESC);
CREATE INDEX audit_by_age ON audit (at_ns);
CREATE INDEX audit_by_who ON audit (who, id);
CREATE INDEX baseline_by_run ON baseline (run_id, name);
CREATE INDEX blob_by_checked ON blob (checked_ns);
CREATE INDEX blob_damaged ON blob (sha256) WHERE damage <> '';
CREATE INDEX input_by_blob ON input (blob) WHERE blob IS NOT NULL;
CREATE INDEX input_by_name ON input (run_id, filename, format) WHERE analysis_version IS NOT NULL;
CREATE INDEX input_by_owner ON input (owner, bytes) WHERE blob IS NOT NULL;
CREATE INDEX input_by_run ON input (run_id, sha256);
CREATE INDEX input_by_trace ON input (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX input_by_version ON input (analysis_version) WHERE analysis_version IS NOT NULL;
CREATE INDEX input_by_window ON input (parent, "window") WHERE "window" <> '';
CREATE INDEX job_by_end ON job (finished_ns) WHERE finished_ns IS NOT NULL;
CREATE INDEX job_by_input ON job (input_id) WHERE input_id IS NOT NULL;
CREATE INDEX job_by_run ON job (run_id, kind, state, attempts, due_ns);
CREATE INDEX job_by_trace ON job (trace_id);
CREATE UNIQUE INDEX job_one_queued_per_input ON job (input_id, kind)
    WHERE state = 'queued' AND input_id IS NOT NULL;
CREATE UNIQUE INDEX job_one_queued_per_run ON job (run_id) WHERE kind = 'run' AND state = 'queued';
CREATE UNIQUE INDEX job_one_queued_per_trace ON job (trace_id)
    WHERE kind = 'trace' AND state = 'queued';
CREATE INDEX job_queue ON job (state, due_ns, id);
CREATE INDEX level_change_by_previous ON level_change (previous_id);
CREATE INDEX resumable_by_expiry ON resumable (expires_ns);
CREATE UNIQUE INDEX resumable_by_key ON resumable (owner, "key") WHERE "key" IS NOT NULL;
CREATE INDEX resumable_by_owner ON resumable (owner) WHERE upload_id IS NULL AND refused IS NULL;
CREATE INDEX resumable_by_upload ON resumable (upload_id);
CREATE INDEX run_tag_by_value ON run_tag ("key", value);
CREATE INDEX series_by_last ON series (last_ns DESC, project, series);
CREATE INDEX series_by_name ON series (series, project);
CREATE INDEX series_by_project ON series (project, last_ns DESC, series);
CREATE INDEX series_to_judge ON series (project, series) WHERE judged < changed;
CREATE INDEX session_by_prefix ON session (prefix);
CREATE INDEX session_by_token ON session (token_id, used_ns);
CREATE INDEX run_by_created ON stored_run (created_ns DESC, id);
CREATE INDEX run_by_name ON stored_run (name);
CREATE INDEX run_by_owner ON stored_run (owner, made);
CREATE INDEX run_by_place ON stored_run (project, series, created_ns DESC, id);
CREATE INDEX run_by_project ON stored_run (project, created_ns DESC, id);
CREATE INDEX run_by_series ON stored_run (series, created_ns DESC, id);
CREATE INDEX run_by_status ON stored_run (status, created_ns DESC, id);
CREATE INDEX run_deleted ON stored_run (deleted_ns) WHERE deleted_ns IS NOT NULL;
CREATE INDEX run_empty_by_owner ON stored_run (owner) WHERE received = 0;
CREATE INDEX run_points ON stored_run (project, series, created_ns DESC, id)
    WHERE point_ns IS NOT NULL;
CREATE INDEX token_by_name ON token (name);
CREATE INDEX token_by_prefix ON token (prefix);
CREATE INDEX trace_by_blob ON trace (sha256);
CREATE INDEX trace_by_run ON trace (run_id, state);
CREATE INDEX trace_by_world_size ON trace (run_id, world_size);
CREATE INDEX trace_owner_by_who ON trace_owner (who, bytes, made);
CREATE INDEX upload_by_created ON upload (created_ns);
CREATE INDEX upload_by_run ON upload (run_id);
CREATE INDEX upload_input_by_input ON upload_input (input_id);
CREATE INDEX upload_key_by_age ON upload_key (created_ns);
CREATE INDEX upload_key_by_upload ON upload_key (upload_id);
CREATE INDEX upload_trace_by_trace ON upload_trace (trace_id);

CREATE VIEW run AS SELECT * FROM stored_run WHERE deleted_ns IS NULL;

CREATE VIEW run_listing AS
SELECT
    id, name, project, series, note, created_ns AS created, revision, status,
    coalesce(world_size, traced_world_size) AS world_size, received, done, failed,
    coalesce(error, (SELECT error FROM trace WHERE run_id = run.id AND state = 'failed'
        ORDER BY rank IS NULL, rank, id LIMIT 1)) AS error,
    gpu, trust_severity, step_pattern, warmup_steps, finalized_ns, owner, evidence
FROM run;

-- The audit log is append-only; counts of refusals may grow, and old rows go.
CREATE FUNCTION audit_keeps_rows() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER audit_keeps_rows BEFORE DELETE ON audit FOR EACH ROW
    WHEN (old.at_ns > (extract(epoch FROM now())::bigint - 30 * 86400) * 1000000000)
    EXECUTE FUNCTION audit_keeps_rows();
CREATE TRIGGER audit_keeps_words BEFORE UPDATE ON audit FOR EACH ROW
    WHEN (old.status < 400 OR new.count <= old.count OR new.last_ns < old.at_ns OR new.id <> old.id
        OR new.at_ns <> old.at_ns OR new.who <> old.who OR new.peer <> old.peer
        OR new.action <> old.action OR new.object <> old.object OR new.status <> old.status
        OR new.request_id <> old.request_id)
    EXECUTE FUNCTION audit_keeps_rows();
