-- SPDX-License-Identifier: Apache-2.0
-- Tables in parts, so that nobody needs one of them whole.

-- What comes after a table's first rows: saved reports like those of trace_table, in this order.
CREATE TABLE trace_table_part (
    trace_id TEXT NOT NULL REFERENCES trace (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    part INTEGER NOT NULL CHECK (part > 0),
    report BLOB NOT NULL,
    PRIMARY KEY (trace_id, name, part)
) STRICT;
