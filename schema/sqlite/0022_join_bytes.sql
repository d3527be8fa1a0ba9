-- SPDX-License-Identifier: Apache-2.0
-- How much joining a run's ranks reads, which decides where that is done.
ALTER TABLE trace ADD COLUMN join_bytes INTEGER; -- null: not known
