-- SPDX-License-Identifier: Apache-2.0
-- How often a rank's clock was set while it recorded, by how much at most, and when.

ALTER TABLE run_clocks ADD COLUMN "jumps" INTEGER;
ALTER TABLE run_clocks ADD COLUMN "jump_ns" INTEGER;
ALTER TABLE run_clocks ADD COLUMN "jump_at_ns" INTEGER;
