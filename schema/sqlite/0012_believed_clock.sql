-- SPDX-License-Identifier: Apache-2.0
-- The clock's time that was believed last: one that leapt deletes nothing for its age.
CREATE TABLE believed_clock (
    only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    at_ns INTEGER NOT NULL
) STRICT;

-- What was written last came at a time that was believed.
INSERT INTO believed_clock
    SELECT 1, max(at_ns) FROM (SELECT max(created_ns) AS at_ns FROM run
        UNION ALL SELECT max(checked_ns) FROM database_check) HAVING max(at_ns) IS NOT NULL;
