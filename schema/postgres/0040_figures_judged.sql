-- SPDX-License-Identifier: Apache-2.0
-- Alerts about figures other than step time are judged from the runs since the last update that
-- changed how figures are computed: figures_version is the analysis version of the latest
-- judgement.
ALTER TABLE series
    ADD COLUMN figures_version BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN figures_from_ns BIGINT NOT NULL DEFAULT 0;
