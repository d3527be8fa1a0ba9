-- SPDX-License-Identifier: Apache-2.0
-- Findings that someone put aside, and runs of which no more ranks will come.
CREATE TABLE finding_dismissal (
    run_id TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    finding TEXT NOT NULL, -- its id in run_findings; it may be gone there after another analysis
    reason TEXT NOT NULL,
    created_ns INTEGER NOT NULL,
    PRIMARY KEY (run_id, finding)
) STRICT, WITHOUT ROWID;

ALTER TABLE run ADD COLUMN finalized_ns INTEGER;
-- Ranks that were there when its tables were made last.
ALTER TABLE run ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;
