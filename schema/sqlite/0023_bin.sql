-- SPDX-License-Identifier: Apache-2.0
-- The bin: a deleted run stays for a while, and nothing but the bin sees it. So that no statement
-- can forget that, the table has another name, and run is a view of what is not deleted. Whatever
-- reads runs goes on to say run; writing to it fails, so writers say stored_run.
ALTER TABLE run ADD COLUMN deleted_ns INTEGER; -- null: it is not in the bin
ALTER TABLE run ADD COLUMN deleted_by TEXT NOT NULL DEFAULT '';
-- What it was called. In the bin its name is its id, so that another run may take the name.
ALTER TABLE run ADD COLUMN deleted_name TEXT;
ALTER TABLE run ADD COLUMN restored_ns INTEGER; -- retention counts its age from then
CREATE INDEX run_deleted ON run (deleted_ns) WHERE deleted_ns IS NOT NULL;

DROP VIEW run_listing;
DROP TRIGGER run_joins_series;
DROP TRIGGER run_leaves_series;
DROP TRIGGER run_moves;
ALTER TABLE run RENAME TO stored_run;
CREATE VIEW run AS SELECT * FROM stored_run WHERE deleted_ns IS NULL;

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

-- A series counts what is not in the bin, so moving there and back is leaving and joining. What is
-- known of a series follows from its points once it is judged again; what people said of an alert
-- waits in no project.
CREATE TRIGGER run_joins_series AFTER INSERT ON stored_run BEGIN
    INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
        VALUES (new.project, new.series, 1, new.created_ns, new.created_ns, new.created_ns,
            new.created_ns)
        ON CONFLICT DO UPDATE SET runs = runs + 1, first_ns = min(first_ns, excluded.first_ns),
            last_ns = max(last_ns, excluded.last_ns);
END;
CREATE TRIGGER run_leaves_series AFTER DELETE ON stored_run WHEN old.deleted_ns IS NULL BEGIN
    DELETE FROM series WHERE project = old.project AND series = old.series AND runs = 1;
    UPDATE series SET runs = runs - 1, changed = changed + (old.point_ns IS NOT NULL),
        first_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns LIMIT 1),
        last_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns DESC LIMIT 1)
        WHERE project = old.project AND series = old.series;
END;
CREATE TRIGGER run_moves AFTER UPDATE OF project, series ON stored_run
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
CREATE TRIGGER run_is_deleted AFTER UPDATE OF deleted_ns ON stored_run
    WHEN old.deleted_ns IS NULL AND new.deleted_ns IS NOT NULL BEGIN
    DELETE FROM series WHERE project = old.project AND series = old.series AND runs = 1;
    UPDATE series SET runs = runs - 1, changed = changed + (old.point_ns IS NOT NULL),
        first_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns LIMIT 1),
        last_ns = (SELECT created_ns FROM run WHERE project = old.project
            AND series = old.series ORDER BY created_ns DESC LIMIT 1)
        WHERE project = old.project AND series = old.series;
    UPDATE alert SET project = '' WHERE run_id = new.id;
    UPDATE alert SET previous_id = NULL WHERE previous_id = new.id;
    UPDATE level_change SET previous_id = NULL WHERE previous_id = new.id;
    DELETE FROM level_change WHERE run_id = new.id;
    DELETE FROM job WHERE run_id = new.id AND state IN ('queued', 'running');
    DELETE FROM upload WHERE run_id = new.id; -- with it goes its Idempotency-Key
END;
CREATE TRIGGER run_is_restored AFTER UPDATE OF deleted_ns ON stored_run
    WHEN old.deleted_ns IS NOT NULL AND new.deleted_ns IS NULL BEGIN
    INSERT INTO series (project, series, runs, first_ns, last_ns, changed, judged)
        VALUES (new.project, new.series, 1, new.created_ns, new.created_ns,
            new.created_ns + (new.point_ns IS NOT NULL), new.created_ns)
        ON CONFLICT DO UPDATE SET runs = runs + 1, first_ns = min(first_ns, excluded.first_ns),
            last_ns = max(last_ns, excluded.last_ns),
            changed = changed + (new.point_ns IS NOT NULL);
    UPDATE alert SET project = new.project WHERE run_id = new.id;
END;

-- Nobody works for the bin; who restores a run queues what it lacks.
CREATE TRIGGER job_of_deleted_run BEFORE INSERT ON job WHEN EXISTS
    (SELECT 1 FROM stored_run WHERE id = new.run_id AND deleted_ns IS NOT NULL) BEGIN
    SELECT RAISE(IGNORE);
END;
