-- SPDX-License-Identifier: Apache-2.0
-- What people say and keep: comments on runs, and addresses of pages under a short link.
CREATE TABLE comment (
    id TEXT PRIMARY KEY CHECK (id GLOB 'c_*'),
    run_id TEXT NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    place TEXT NOT NULL, -- '': the whole run; 'findings/ID', 'kernels/NAME': a row of a table
    author TEXT NOT NULL,
    text TEXT NOT NULL,
    created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX comment_by_run ON comment (run_id, created_ns, id);

CREATE TABLE saved_view (
    id TEXT PRIMARY KEY CHECK (id GLOB 'v_*'),
    name TEXT NOT NULL, -- '': a short link without a name
    address TEXT NOT NULL,
    author TEXT NOT NULL,
    created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX saved_view_once ON saved_view (address, name);
CREATE INDEX saved_view_by_name ON saved_view (name, id) WHERE name <> '';
CREATE INDEX saved_view_links ON saved_view (created_ns, id) WHERE name = '';
