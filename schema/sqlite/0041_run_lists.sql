-- SPDX-License-Identifier: Apache-2.0
-- Counts and pages of runs come from an index alone, which leaves out what is in the bin. SQLite
-- also reads the column of that condition, so it is in the index. And traces that an older program
-- analyzed are found at start without a scan.
DROP INDEX run_by_created;
DROP INDEX run_by_name;
DROP INDEX run_by_project;
DROP INDEX run_by_series;
DROP INDEX run_by_status;
CREATE INDEX run_by_created ON stored_run (created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_name ON stored_run (name, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_project ON stored_run (project, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_series ON stored_run (series, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_status ON stored_run (status, created_ns DESC, id, deleted_ns)
    WHERE deleted_ns IS NULL;
CREATE INDEX run_by_analysis ON stored_run (analysis_version) WHERE deleted_ns IS NULL;
CREATE INDEX trace_by_analysis ON trace (analysis_version) WHERE state = 'done';
