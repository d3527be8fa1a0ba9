-- SPDX-License-Identifier: Apache-2.0
-- Which runs have a piece of three letters, as rows of a view of the index, in the order of pieces:
-- the rarest piece of a search finds its runs, and one or two letters are how pieces begin. Two
-- more line ends end each text, so that each of its letters begins a piece.
UPDATE run_text SET text = text || '

';
INSERT INTO run_text_index (run_text_index) VALUES ('rebuild');
CREATE VIRTUAL TABLE run_text_index_piece USING fts5vocab(run_text_index, instance);
