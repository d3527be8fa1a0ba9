-- SPDX-License-Identifier: Apache-2.0
-- The role of all traces in an archive, by its upload; '': unknown.
ALTER TABLE input ADD COLUMN role TEXT NOT NULL DEFAULT '';
