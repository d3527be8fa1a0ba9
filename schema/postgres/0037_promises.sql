-- SPDX-License-Identifier: Apache-2.0
-- What a change is expected to bring: an answer of a replay, kept with its run, so that the next
-- run of the series can say what came of it. Times are of a mean steady step.
CREATE TABLE promise (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'w_')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    changes TEXT COLLATE "C" NOT NULL, -- as asked for, one a line
    base_ns BIGINT NOT NULL,
    step_ns BIGINT NOT NULL,
    low_ns BIGINT, -- NULL: there was no interval
    high_ns BIGINT,
    author TEXT COLLATE "C" NOT NULL,
    created_ns BIGINT NOT NULL
);
CREATE INDEX promise_by_run ON promise (run_id, created_ns, id);
