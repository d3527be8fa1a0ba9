-- SPDX-License-Identifier: Apache-2.0
-- Indexes of the queue without jobs that ended, which a claim would go through. Those that were
-- running in a crash are few: whether there is one is asked with each claim. The state is no column
-- of the first two: PostgreSQL knows it from their condition, and would not search by what follows.
-- The queue's is for statements that compare due_ns alone: while it is short others look cheap with
-- it, too, and their plans, which are kept, would later go through all that waits.
DROP INDEX job_queue;
CREATE INDEX job_queue ON job (due_ns, id) WHERE state = 'queued' AND due_ns IS NOT NULL;
CREATE INDEX job_running ON job (run_id, kind, coalesce(trace_id, '')) WHERE state = 'running';
CREATE INDEX job_crashed ON job (state, due_ns, id) WHERE crashes > 0;
