-- SPDX-License-Identifier: Apache-2.0
-- Alerts of other figures than step time are of the runs since an update that changed what is
-- computed: figures_version is that of the analysis when they were judged last.
ALTER TABLE series ADD COLUMN figures_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE series ADD COLUMN figures_from_ns INTEGER NOT NULL DEFAULT 0;
