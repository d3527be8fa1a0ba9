-- SPDX-License-Identifier: Apache-2.0
-- An index of the letters of runs' texts and of any two beside each other, for searches in which
-- pg_trgm's index finds nothing: it knows three letters or digits of one word. Texts end with two
-- line ends, as those of SQLite.
UPDATE run_text SET text = text || '

';
CREATE FUNCTION run_text_letters(text TEXT) RETURNS TEXT[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY(
        SELECT DISTINCT unnest(ARRAY[letter, letter || next]) FROM (
            SELECT letter, lead(letter, 1, '') OVER (ORDER BY place) AS next
            FROM unnest(string_to_array(lower(text COLLATE "C"), NULL))
            WITH ORDINALITY AS one (letter, place)) AS pairs);
CREATE INDEX run_text_by_letter ON run_text USING gin (run_text_letters(text));
