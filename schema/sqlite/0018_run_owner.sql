-- SPDX-License-Identifier: Apache-2.0
-- Who made a run: others need the right to change runs before they may add to it.

ALTER TABLE run ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- '': nobody known

-- Of runs from before that was noted: who brought all their traces.
UPDATE run SET owner = coalesce((
    SELECT min(trace_owner.who) FROM trace LEFT JOIN trace_owner ON trace_owner.trace_id = trace.id
    WHERE trace.run_id = run.id
    HAVING count(DISTINCT trace_owner.who) = 1 AND count(*) = count(trace_owner.who)), '');

-- To count those that nobody has sent a trace for.
CREATE INDEX run_empty_by_owner ON run (owner) WHERE received = 0;
