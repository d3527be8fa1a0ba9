-- SPDX-License-Identifier: Apache-2.0
-- What the processes of a trace do in a reinforcement learning job, by its upload; '': unknown.
ALTER TABLE trace ADD COLUMN role TEXT COLLATE "C" NOT NULL DEFAULT '';
