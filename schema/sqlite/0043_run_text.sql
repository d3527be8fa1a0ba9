-- SPDX-License-Identifier: Apache-2.0
-- What a search of runs looks in, as one text for each run, and an index of any three letters of
-- it, which is a table beside. The index of notes was for searches alone.
CREATE TABLE run_text (
    id INTEGER PRIMARY KEY,
    run_id TEXT NOT NULL UNIQUE REFERENCES stored_run (id) ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT;
INSERT INTO run_text (run_id, text)
SELECT id, coalesce(deleted_name, name) || '
' || project || '
' || coalesce(gpu, '') || '
' || note || '
' || coalesce((SELECT group_concat(pair, '
') FROM (SELECT "key" || '=' || value AS pair FROM run_tag WHERE run_id = stored_run.id
         ORDER BY "key") AS pairs), '')
FROM stored_run ORDER BY created_ns;
CREATE VIRTUAL TABLE run_text_index USING fts5(text, content = 'run_text',
    content_rowid = 'id', tokenize = 'trigram', detail = 'none', columnsize = 0);
INSERT INTO run_text_index (run_text_index) VALUES ('rebuild');
DROP INDEX run_by_note;
