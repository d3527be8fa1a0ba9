-- SPDX-License-Identifier: Apache-2.0
-- What triggers did is done by store_derived.c, for every kind of database. The two that protect
-- the audit log stay: no other row follows from them.
DROP TRIGGER blob_back;
DROP TRIGGER blob_gone;
DROP TRIGGER input_gone;
DROP TRIGGER input_unpacked;
DROP TRIGGER job_counted;
DROP TRIGGER job_counted_again;
DROP TRIGGER job_due;
DROP TRIGGER job_of_deleted_run;
DROP TRIGGER job_uncounted;
DROP TRIGGER run_is_deleted;
DROP TRIGGER run_is_point;
DROP TRIGGER run_is_restored;
DROP TRIGGER run_joins_series;
DROP TRIGGER run_leaves_series;
DROP TRIGGER run_moves;
DROP TRIGGER trace_counted;
DROP TRIGGER trace_counted_again;
DROP TRIGGER trace_gone;
DROP TRIGGER trace_uncounted;
DROP TRIGGER trace_world_size_known;
