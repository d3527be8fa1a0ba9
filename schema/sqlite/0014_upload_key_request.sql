-- SPDX-License-Identifier: Apache-2.0
-- A key that comes again with another upload is told from one that repeats its own.

ALTER TABLE upload_key ADD COLUMN request INTEGER; -- a hash of what it was sent with; NULL unknown
