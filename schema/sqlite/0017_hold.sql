-- SPDX-License-Identifier: Apache-2.0
-- What a key stands for, whom a run belongs to, and a row to try writing with.

-- The hash is of the bytes, the run, the rank and all fields now, not of the request's head.
UPDATE upload_key SET request = NULL;
ALTER TABLE resumable ADD COLUMN request INTEGER; -- a hash of its metadata; NULL unknown
