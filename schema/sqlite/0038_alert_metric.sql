-- SPDX-License-Identifier: Apache-2.0
-- Alerts about figures other than step time, with their values in the figure's unit.
CREATE TABLE alert_kept AS SELECT * FROM alert;
DROP TABLE alert;

-- At most one alert for a run and figure. Its project and series are those of the run.
CREATE TABLE alert (
    id TEXT PRIMARY KEY CHECK (id GLOB 'a_*'),
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    previous_id TEXT REFERENCES stored_run (id) ON DELETE SET NULL,
    project TEXT NOT NULL,
    series TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('outlier', 'change')),
    change_share REAL NOT NULL,
    status TEXT NOT NULL DEFAULT 'new'
        CHECK (status IN ('new', 'acknowledged', 'expected', 'noise', 'fixed')),
    comment TEXT NOT NULL DEFAULT '',
    handled INTEGER NOT NULL DEFAULT 0 CHECK (handled IN (0, 1)), -- someone looked at it
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL,
    metric TEXT NOT NULL,
    before_value REAL NOT NULL CHECK (before_value > 0),
    after_value REAL NOT NULL CHECK (after_value > 0),
    worse_share REAL NOT NULL, -- of figures of which more is better that of their inverse
    UNIQUE (run_id, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO alert
    SELECT id, run_id, previous_id, project, series, kind, change_share, status, comment, handled,
        created_ns, updated_ns, 'step_ns', before_ns, after_ns, change_share
    FROM alert_kept;
DROP TABLE alert_kept;
CREATE INDEX alert_by_created ON alert (created_ns DESC);
CREATE INDEX alert_by_status ON alert (status, created_ns DESC);
CREATE INDEX alert_by_series ON alert (project, series, status, created_ns DESC);
CREATE INDEX alert_by_previous ON alert (previous_id);
