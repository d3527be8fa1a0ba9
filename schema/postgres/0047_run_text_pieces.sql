-- SPDX-License-Identifier: Apache-2.0
-- An index of the letters of runs' texts and of any two beside each other, for searches in which
-- pg_trgm's index finds nothing: it knows three letters or digits of one word. Texts end with two
-- line ends, as those of SQLite.
UPDATE run_text SET text = text || '

';
CREATE FUNCTION run_text_letters(text TEXT) RETURNS TEXT[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 10000
    RETURN (
        SELECT letters || ARRAY(
            SELECT letter || next FROM unnest(letters, letters[2:]) AS pair (letter, next)
            WHERE next IS NOT NULL)
        FROM (SELECT string_to_array(lower(text COLLATE "C"), NULL) AS letters) AS one);
CREATE INDEX run_text_by_letter ON run_text USING gin (run_text_letters(text));
