// SPDX-License-Identifier: Apache-2.0
// Finds a rank in a file name, starting with the last part of a path.
#include "server/store/rank_name.h"

#include <ctype.h>

enum { MAX_DIGITS = 7 };

static bool is_letter(char c)
{
    return isalpha((unsigned char)c) != 0;
}

// The number at `at`, unless a letter follows; -1 if there is none.
static int64_t number_at(struct str text, size_t at)
{
    size_t end = at;
    int64_t value = 0;
    while (end < text.len && str_is_digit(text.at[end]) && end - at <= MAX_DIGITS)
        value = value * 10 + (text.at[end++] - '0');
    bool is_number = end > at && end - at <= MAX_DIGITS;
    return is_number && (end == text.len || !is_letter(text.at[end])) ? value : -1;
}

static bool begins_word(struct str text, size_t at)
{
    return at == 0 || !is_letter(text.at[at - 1]);
}

// "rank", optionally one of - _ = [, and a number.
static int64_t after_rank(struct str text, size_t at)
{
    struct str rest = {text.at + at, text.len - at};
    if (rest.len < 5 || !str_equal_nocase((struct str){rest.at, 4}, STR("rank")))
        return -1;
    size_t digits = at + 4;
    digits += strchr("-_=[", text.at[digits]) != NULL;
    return number_at(text, digits);
}

// Whether a time since 1970 and a hyphen end there: "1767900123.45-".
static bool follows_time(struct str text, size_t at)
{
    enum { DIGITS = 10 };
    if (at < DIGITS + 1 || text.at[at - 1] != '-')
        return false;
    size_t from = at - 1, digits = 0;
    while (from > 0 && (str_is_digit(text.at[from - 1]) || text.at[from - 1] == '.'))
        from--;
    while (str_is_digit(text.at[from + digits]))
        digits++;
    return digits == DIGITS;
}

// SGLang's places within a job, which has one rank per place of the tensor parallel group unless
// it has stages: "1767900123.45-TP-3-DP-0". In names of people TP-8 is the size of that group,
// also in "qwen2-TP-8".
static int64_t after_tp(struct str text, size_t at)
{
    struct str rest = {text.at + at, text.len - at};
    return str_starts_with(rest, STR("TP-")) && follows_time(text, at) &&
                   str_find(rest, STR("-PP-")) == SIZE_MAX
               ? number_at(text, at + 3)
               : -1;
}

// A word made of r and a number, after a separator: "_r12".
static int64_t after_r(struct str text, size_t at)
{
    if (at == 0 || !strchr("_-.", text.at[at - 1]) || tolower((unsigned char)text.at[at]) != 'r')
        return -1;
    return number_at(text, at + 1);
}

// "report", a separator, and a number that ends the name.
static int64_t after_report(struct str text, size_t at)
{
    static const struct str word = {"report", 6};
    struct str rest = {text.at + at, text.len - at};
    size_t end = at + word.len + 1;
    if (end >= text.len || !str_equal_nocase((struct str){rest.at, word.len}, word) ||
        !strchr("-_.=", text.at[end - 1]))
        return -1;
    int64_t number = number_at(text, end);
    end = str_digits_end(text, end);
    return end == text.len || text.at[end] == '.' ? number : -1;
}

static int64_t last_match(struct str part, int64_t (*match)(struct str, size_t))
{
    for (size_t at = part.len; at-- > 0;) {
        int64_t rank = begins_word(part, at) ? match(part, at) : -1;
        if (rank >= 0)
            return rank;
    }
    return -1;
}

static int64_t rank_of_part(struct str part, bool is_file)
{
    int64_t rank = last_match(part, after_rank);
    if (rank < 0)
        rank = last_match(part, after_r);
    if (rank < 0 && is_file)
        rank = last_match(part, after_tp);
    return rank < 0 && is_file ? last_match(part, after_report) : rank;
}

struct rank_name rank_name_of(struct str path)
{
    struct rank_name name = {-1, {"", 0}};
    struct str rest = path;
    while (name.rank < 0 && rest.len > 0) {
        const char *slash = memrchr(rest.at, '/', rest.len);
        size_t begin = slash ? (size_t)(slash - rest.at) + 1 : 0;
        bool is_file = rest.len == path.len;
        name.rank = rank_of_part((struct str){rest.at + begin, rest.len - begin}, is_file);
        if (name.rank >= 0 && !is_file)
            name.folder = (struct str){path.at, rest.len + 1};
        rest.len = begin ? begin - 1 : 0;
    }
    return name;
}
