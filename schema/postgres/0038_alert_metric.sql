-- SPDX-License-Identifier: Apache-2.0
-- Alerts about figures other than step time, with their values in the figure's unit.
ALTER TABLE alert
    ADD COLUMN metric TEXT COLLATE "C" NOT NULL DEFAULT 'step_ns',
    ADD COLUMN before_value DOUBLE PRECISION,
    ADD COLUMN after_value DOUBLE PRECISION,
    ADD COLUMN worse_share DOUBLE PRECISION;
UPDATE alert SET before_value = before_ns, after_value = after_ns, worse_share = change_share;
ALTER TABLE alert
    ALTER COLUMN metric DROP DEFAULT,
    ALTER COLUMN before_value SET NOT NULL,
    ALTER COLUMN after_value SET NOT NULL,
    ALTER COLUMN worse_share SET NOT NULL,
    ADD CHECK (before_value > 0),
    ADD CHECK (after_value > 0),
    DROP COLUMN before_ns,
    DROP COLUMN after_ns,
    DROP CONSTRAINT alert_run_id_key,
    ADD UNIQUE (run_id, metric);
