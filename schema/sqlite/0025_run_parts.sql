-- SPDX-License-Identifier: Apache-2.0
-- Tables of runs are stored as those of traces are; what lists, trends and sorts need of them is in
-- one table of figures. conversions.c moves the rows of the run_* tables here.

-- The first rows of a table, as in trace_table.
CREATE TABLE run_table (
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    report BLOB NOT NULL,
    PRIMARY KEY (run_id, name)
) STRICT;
-- What follows them, as in trace_table_part.
CREATE TABLE run_table_part (
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    part INTEGER NOT NULL CHECK (part > 0),
    report BLOB NOT NULL,
    PRIMARY KEY (run_id, name, part)
) STRICT;

-- Numbers of a run by name: figures of its headline rank, and what people gave as numbers (meta.*).
CREATE TABLE figure (
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    metric TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run_id, metric)
) STRICT, WITHOUT ROWID;
