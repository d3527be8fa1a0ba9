-- SPDX-License-Identifier: Apache-2.0
-- Where a figure comes from: 'log', 'trace', 'monitor', 'computed' or 'typed'; '' until its run is
-- analyzed again.
ALTER TABLE figure ADD COLUMN source TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE figure SET source = 'typed' WHERE metric LIKE 'meta.%';
UPDATE figure SET source = 'log' WHERE metric LIKE 'log.%';
