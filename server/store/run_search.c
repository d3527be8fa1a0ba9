// SPDX-License-Identifier: Apache-2.0
#include "server/store/run_search.h"

enum {
    PIECE = 3,
    MOST_PIECES = 16, // that are compared; the last ones, as names differ at their end
};

// --- letters ------------------------------------------------------------------------------------

// The index has letters in lower case. Here that is known of ASCII, and of Kana, Han and Hangul,
// which have none.
static bool has_known_case(unsigned char byte)
{
    return byte < 0xc0 || (byte >= 0xe3 && byte < 0xee && byte != 0xea);
}

static bool starts_letter(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

// The bytes of up to three letters.
static struct str piece_at(struct str text, size_t at)
{
    size_t end = at, letters = 0;
    for (; end < text.len; end++) {
        letters += starts_letter(text.at[end]);
        if (letters > PIECE)
            break;
    }
    return (struct str){text.at + at, end - at};
}

static bool is_known(struct str piece)
{
    for (size_t i = 0; i < piece.len; i++)
        if (!has_known_case((unsigned char)piece.at[i]))
            return false;
    return true;
}

static size_t count_letters(struct str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len; i++)
        letters += starts_letter(text.at[i]);
    return letters;
}

static bool lower(struct str text, struct arena *arena, struct str *into, struct err *err)
{
    char *copy = arena_alloc(arena, text.len + 1, err);
    for (size_t i = 0; copy && i < text.len; i++) {
        char c = text.at[i];
        copy[i] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
    }
    *into = (struct str){copy, text.len};
    return copy;
}

// --- pieces -------------------------------------------------------------------------------------

static void put_range(struct writing *to, struct str piece)
{
    writing_put_text(to, "FROM run_text_index_piece WHERE term >= ?", piece);
    writing_put_text(to, " AND term <= ? || char(1114111)", piece);
}

static bool count_piece(struct run_filters *filters, struct str piece, uint64_t most,
                        uint64_t *runs, struct err *err)
{
    struct writing count = run_filters_begin(filters);
    writing_put(&count, "SELECT count(*) FROM (SELECT 1 ");
    put_range(&count, piece);
    writing_put_i64(&count, " LIMIT ?) AS bounded", (int64_t)most);
    return writing_read_numbers(filters->db, &count, runs, 1, err);
}

static bool try_piece(struct run_filters *filters, struct str piece, uint64_t *fewest,
                      struct err *err)
{
    uint64_t runs;
    if (!count_piece(filters, piece, *fewest, &runs, err))
        return false;
    if (runs < *fewest)
        filters->piece = piece;
    *fewest = runs;
    return true;
}

// Where every piece is common, the whole search is left to the index.
static bool choose_rarest(struct run_filters *filters, struct str text, struct err *err)
{
    uint64_t fewest = RUN_FILTERS_MANY + 1;
    size_t left = count_letters(text) - PIECE + 1;
    bool ok = true;
    for (size_t at = 0; ok && left > 0 && fewest > 0; at++) {
        struct str piece = piece_at(text, at);
        if (!starts_letter(text.at[at]))
            continue;
        if (left <= MOST_PIECES && is_known(piece))
            ok = try_piece(filters, piece, &fewest, err);
        left--;
    }
    return ok;
}

bool run_search_choose(struct run_filters *filters, struct err *err)
{
    struct str text;
    if (filters->db->kind != &db_sqlite)
        return true;
    if (!lower(filters->query->search, filters->arena, &text, err))
        return false;
    if (count_letters(text) > PIECE)
        return choose_rarest(filters, text, err);
    filters->piece = is_known(text) ? text : STR("");
    return true;
}

// --- statements ---------------------------------------------------------------------------------

static void find_by_piece(struct writing *to, const struct run_filters *filters)
{
    writing_put(to, "SELECT run_id FROM (SELECT DISTINCT doc ");
    put_range(to, filters->piece);
    writing_put_text(to,
                     ") AS part CROSS JOIN run_text ON run_text.id = part.doc "
                     "WHERE run_text.text LIKE ? ESCAPE '\\'",
                     filters->pattern);
}

// One or two letters of which lower case is not known: the index would find none.
static void find_by_text(struct writing *to, const struct run_filters *filters)
{
    writing_put_text(to, "SELECT run_id FROM run_text WHERE text LIKE ? ESCAPE '\\'",
                     filters->pattern);
}

// The index takes no ESCAPE: it finds what the pattern may mean, of which the text itself decides.
static void find_by_index(struct writing *to, const struct run_filters *filters)
{
    writing_put_text(to,
                     "SELECT run_id FROM run_text_index AS part CROSS JOIN run_text "
                     "ON run_text.id = part.rowid WHERE part.text LIKE ?",
                     filters->loose);
    writing_put_text(to, " AND run_text.text LIKE ? ESCAPE '\\'", filters->pattern);
}

// A SELECT hides the letters from PostgreSQL, which would go through all runs where most have them,
// and take the letters of each.
static void find_by_letters(struct writing *to, const struct run_filters *filters)
{
    writing_put_text(to,
                     "SELECT run_id FROM run_text "
                     "WHERE run_text_letters(text) @> (SELECT run_text_letters(?))",
                     filters->query->search);
    writing_put_text(to, " AND text LIKE ? ESCAPE '\\'", filters->pattern);
}

// Whether pg_trgm has a piece of it.
static bool has_word(struct str text)
{
    size_t letters = 0;
    for (size_t i = 0; i < text.len && letters < PIECE; i++) {
        char letter = (char)(text.at[i] | 0x20);
        bool is_of_word = str_is_digit(text.at[i]) || (letter >= 'a' && letter <= 'z');
        letters = is_of_word ? letters + 1 : 0;
    }
    return letters == PIECE;
}

void run_search_find(struct writing *to, const struct run_filters *filters, size_t at)
{
    bool is_sqlite = filters->db->kind == &db_sqlite;
    (void)at;
    if (filters->piece.len)
        find_by_piece(to, filters);
    else if (is_sqlite && count_letters(filters->query->search) < PIECE)
        find_by_text(to, filters);
    else if (is_sqlite || has_word(filters->query->search))
        find_by_index(to, filters);
    else
        find_by_letters(to, filters);
}

void run_search_estimate(struct writing *to, const struct run_filters *filters)
{
    if (!filters->piece.len) {
        run_search_find(to, filters, 0);
        return;
    }
    writing_put(to, "SELECT DISTINCT doc ");
    put_range(to, filters->piece);
}

void run_search_check(struct writing *to, const struct run_filters *filters, size_t at)
{
    (void)at;
    writing_put_text(to,
                     " AND EXISTS (SELECT 1 FROM run_text WHERE run_id = run.id "
                     "AND text LIKE ? ESCAPE '\\')",
                     filters->pattern);
}
