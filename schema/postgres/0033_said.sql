-- SPDX-License-Identifier: Apache-2.0
-- What people say and keep: comments on runs, and addresses of pages under a short link.
CREATE TABLE comment (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'c_')),
    run_id TEXT COLLATE "C" NOT NULL REFERENCES stored_run (id) ON DELETE CASCADE,
    place TEXT COLLATE "C" NOT NULL, -- '': the whole run; 'findings/ID', 'kernels/NAME': a row
    author TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    created_ns BIGINT NOT NULL
);
CREATE INDEX comment_by_run ON comment (run_id, created_ns, id);

CREATE TABLE saved_view (
    id TEXT COLLATE "C" PRIMARY KEY CHECK (starts_with(id, 'v_')),
    name TEXT COLLATE "C" NOT NULL, -- '': a short link without a name
    address TEXT COLLATE "C" NOT NULL,
    author TEXT COLLATE "C" NOT NULL,
    created_ns BIGINT NOT NULL
);
CREATE UNIQUE INDEX saved_view_once ON saved_view (address, name);
CREATE INDEX saved_view_by_name ON saved_view (name, id) WHERE name <> '';
CREATE INDEX saved_view_links ON saved_view (created_ns, id) WHERE name = '';
