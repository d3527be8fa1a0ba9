-- SPDX-License-Identifier: Apache-2.0
-- What a change is expected to bring: an answer of a replay, kept with its run, so that the next
-- run of the series can say what came of it. Times are of a mean steady step.
CREATE TABLE promise (
    id TEXT PRIMARY KEY CHECK (id GLOB 'w_*'),
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    changes TEXT NOT NULL, -- as asked for, one a line
    base_ns INTEGER NOT NULL,
    step_ns INTEGER NOT NULL,
    low_ns INTEGER, -- NULL: there was no interval
    high_ns INTEGER,
    author TEXT NOT NULL,
    created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX promise_by_run ON promise (run_id, created_ns, id);
