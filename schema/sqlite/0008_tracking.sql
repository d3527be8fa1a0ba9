-- SPDX-License-Identifier: Apache-2.0
-- Runs over time: what people say of them, runs that others are held against, series with their
-- levels, and alerts.

-- Settings that a trace may not tell, such as batch_size or commit.
CREATE TABLE metadata (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    "key" TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run_id, "key")
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    set_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX baseline_by_run ON baseline (run_id, name);

-- A run is a point of its series once its analysis ended well, and stays one with its old figure
-- while it is analysed again. Null: it is none.
ALTER TABLE run ADD COLUMN point_ns INTEGER;
ALTER TABLE run ADD COLUMN outlier INTEGER NOT NULL DEFAULT 0; -- as its series was judged last
UPDATE run SET point_ns = step_median_ns WHERE status IN ('done', 'partial');
CREATE INDEX run_points ON run (project, series, created_ns DESC, id) WHERE point_ns IS NOT NULL;
CREATE INDEX run_by_place ON run (project, series, created_ns DESC, id);

-- Kept by triggers. What follows from the points is worked out afterwards, of the series whose
-- points changed since they were judged.
CREATE TABLE series (
    project TEXT NOT NULL,
    series TEXT NOT NULL,
    runs INTEGER NOT NULL,
    first_ns INTEGER,
    last_ns INTEGER,
    changed INTEGER NOT NULL, -- grows with every change of its points, from when it was made
    judged INTEGER NOT NULL,  -- value of changed that was judged last
    points INTEGER NOT NULL DEFAULT 0,
    last_point TEXT,        -- the newest run with a step time
    step_median_ns INTEGER, -- of that run
    change_share REAL,      -- of that run against the median of up to 8 before
    PRIMARY KEY (project, series)
) STRICT, WITHOUT ROWID;
CREATE INDEX series_by_last ON series (last_ns DESC, project, series);
CREATE INDEX series_by_project ON series (project, last_ns DESC, series);
CREATE INDEX series_by_name ON series (series, project);
CREATE INDEX series_to_judge ON series (project, series) WHERE judged < changed;

INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
    SELECT project, series, count(*), min(created_ns), max(created_ns), max(point_ns IS NOT NULL), 0
    FROM run GROUP BY project, series;

CREATE TRIGGER run_joins_series AFTER INSERT ON run BEGIN
    INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
        VALUES (new.project, new.series, 1, new.created_ns, new.created_ns, new.created_ns,
            new.created_ns)
        ON CONFLICT DO UPDATE SET runs = runs + 1, first_ns = min(first_ns, excluded.first_ns),
            last_ns = max(last_ns, excluded.last_ns);
END;
CREATE TRIGGER run_leaves_series AFTER DELETE ON run BEGIN
    DELETE FROM series WHERE project = old.project AND series = old.series AND runs = 1;
    UPDATE series SET runs = runs - 1, changed = changed + (old.point_ns IS NOT NULL),
        first_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns LIMIT 1),
        last_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns DESC LIMIT 1)
        WHERE project = old.project AND series = old.series;
END;
CREATE TRIGGER run_moves AFTER UPDATE OF project, series ON run
    WHEN old.project <> new.project OR old.series <> new.series BEGIN
    DELETE FROM series WHERE project = old.project AND series = old.series AND runs = 1;
    UPDATE series SET runs = runs - 1, changed = changed + (old.point_ns IS NOT NULL),
        first_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns LIMIT 1),
        last_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns DESC LIMIT 1)
        WHERE project = old.project AND series = old.series;
    INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
        VALUES (new.project, new.series, 1, new.created_ns, new.created_ns,
            new.created_ns + (new.point_ns IS NOT NULL), new.created_ns)
        ON CONFLICT DO UPDATE SET runs = runs + 1, first_ns = min(first_ns, excluded.first_ns),
            last_ns = max(last_ns, excluded.last_ns),
            changed = changed + (new.point_ns IS NOT NULL);
    UPDATE alert SET project = new.project, series = new.series WHERE run_id = new.id;
END;
CREATE TRIGGER run_is_point AFTER UPDATE OF point_ns, gpu, world_size, traced_world_size ON run
    WHEN old.point_ns IS NOT new.point_ns OR (new.point_ns IS NOT NULL
        AND (old.gpu IS NOT new.gpu OR old.world_size IS NOT new.world_size
        OR old.traced_world_size IS NOT new.traced_world_size)) BEGIN
    UPDATE series SET changed = changed + 1 WHERE project = new.project AND series = new.series;
END;

-- Runs with which a new level begins.
CREATE TABLE level_change (
    run_id TEXT PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    previous_id TEXT REFERENCES run (id) ON DELETE SET NULL,
    reason TEXT NOT NULL CHECK (reason IN ('step_time', 'gpu', 'ranks')),
    before_ns INTEGER,
    after_ns INTEGER,
    p_value REAL
) STRICT, WITHOUT ROWID;
CREATE INDEX level_change_by_previous ON level_change (previous_id);

-- At most one alert of a run. Its project and series are those of the run.
CREATE TABLE alert (
    id TEXT PRIMARY KEY CHECK (id GLOB 'a_*'),
    run_id TEXT NOT NULL UNIQUE REFERENCES run (id) ON DELETE CASCADE,
    previous_id TEXT REFERENCES run (id) ON DELETE SET NULL,
    project TEXT NOT NULL,
    series TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('outlier', 'change')),
    before_ns INTEGER NOT NULL CHECK (before_ns > 0),
    after_ns INTEGER NOT NULL CHECK (after_ns > 0),
    change_share REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'acknowledged', 'expected', 'noise', 'fixed')),
    comment TEXT NOT NULL DEFAULT '',
    handled INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)), -- someone looked at it
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_by_created ON alert (created_ns DESC);
CREATE INDEX alert_by_status ON alert (status, created_ns DESC);
CREATE INDEX alert_by_series ON alert (project, series, status, created_ns DESC);
CREATE INDEX alert_by_previous ON alert (previous_id);
