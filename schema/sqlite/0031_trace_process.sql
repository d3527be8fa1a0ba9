-- SPDX-License-Identifier: Apache-2.0
-- A file may hold several processes, each a trace of its own. Which one is the format's number for
-- it; 0: the file has one.
ALTER TABLE trace ADD COLUMN process INTEGER NOT NULL DEFAULT 0;
