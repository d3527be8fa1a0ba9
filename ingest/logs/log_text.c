// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_text.h"

#include "ingest/evidence/log_book.h"

#include <math.h>
#include <stdlib.h>

struct str log_from(struct str text, size_t at)
{
    return at < text.len ? (struct str){text.at + at, text.len - at} : (struct str){"", 0};
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

struct str log_trim(struct str text)
{
    while (text.len && is_space(*text.at))
        text = log_from(text, 1);
    while (text.len && is_space(text.at[text.len - 1]))
        text.len--;
    return text;
}

// --- numbers ------------------------------------------------------------------------------------

enum { MOST_DIGITS = 64 };

// Copies the digits of a number without commas between thousands; returns where it ends in text.
static size_t copy_number(struct str text, char *digits)
{
    size_t at = 0, count = 0;
    bool exponent = false;
    for (; at < text.len && count + 1 < MOST_DIGITS; at++) {
        char c = text.at[at], before = at ? text.at[at - 1] : ' ';
        bool thousands = c == ',' && is_digit(before) && at + 3 < text.len &&
                         is_digit(text.at[at + 1]) && is_digit(text.at[at + 2]) &&
                         is_digit(text.at[at + 3]) && !exponent;
        bool sign = (c == '-' || c == '+') && (at == 0 || (before | 32) == 'e');
        bool marks_exponent = (c | 32) == 'e' && is_digit(before) && !exponent;
        if (thousands)
            continue;
        if (!is_digit(c) && c != '.' && !sign && !marks_exponent)
            break;
        exponent = exponent || marks_exponent;
        digits[count++] = c;
    }
    digits[count] = '\0';
    return at;
}

// 15 digits and powers of ten up to 22 are exact as doubles, so their quotient or product is
// rounded once, as strtod does.
static bool quick_number(const char *at, double *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_EXACT = 15, MOST_POWER = 22 };
    int64_t mantissa = 0;
    int digits = 0, power = 0, exponent = 0;
    bool negative = *at == '-', point = false;
    for (at += negative; is_digit(*at) || (*at == '.' && !point); at++) {
        point = point || *at == '.';
        if (*at == '.')
            continue;
        mantissa = digits < MOST_EXACT ? mantissa * 10 + (*at - '0') : mantissa;
        digits++;
        power -= point;
    }
    if ((*at | 32) == 'e') {
        bool down = *++at == '-';
        for (at += down || *at == '+'; is_digit(*at) && exponent < 100; at++)
            exponent = exponent * 10 + (*at - '0');
        power += down ? -exponent : exponent;
    }
    if (*at || !digits || digits > MOST_EXACT || power > MOST_POWER || power < -MOST_POWER)
        return false;
    double magnitude = (double)mantissa;
    *number = power < 0 ? magnitude / powers[-power] : magnitude * powers[power];
    *number = negative ? -*number : *number;
    return true;
}

// What follows a number: a multiple, or a unit of bytes.
static double multiple_of(struct str rest)
{
    static const struct {
        const char *word;
        double factor;
    } words[] = {{"GiB", 0x1p30}, {"GB", 0x1p30}, {"MiB", 0x1p20}, {"MB", 0x1p20}, {"TiB", 0x1p40},
                 {"K", 1e3},      {"M", 1e6},     {"B", 1e9},      {"T", 1e12}};
    rest = log_from(rest, rest.len > 1 && is_space(*rest.at));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct str word = str_of(words[i].word);
        if (str_starts_with(rest, word) && (rest.len == word.len || !is_letter(rest.at[word.len])))
            return words[i].factor;
    }
    return 1;
}

static bool word_number(struct str text, double *number)
{
    bool negative = text.len && *text.at == '-';
    text = log_from(text, negative);
    struct str word = {text.at, text.len < 3 ? text.len : 3};
    *number = str_equal_nocase(word, STR("inf")) ? (negative ? -INFINITY : INFINITY) : (double)NAN;
    return isinf(*number) || str_equal_nocase(word, STR("nan"));
}

bool log_number(struct str text, double *number)
{
    char digits[MOST_DIGITS], *end;
    while (text.len && (is_space(*text.at) || *text.at == '\'' || *text.at == '"'))
        text = log_from(text, 1);
    size_t used = copy_number(text, digits);
    if (!digits[0] || (digits[0] == '-' && !digits[1]))
        return word_number(text, number);
    if (!quick_number(digits, number)) {
        *number = strtod(digits, &end);
        if (end == digits || *end)
            return false;
    }
    *number *= multiple_of(log_from(text, used));
    return true;
}

// --- colors -------------------------------------------------------------------------------------

// The length of a color at a place: "\x1b[36m", or "[36m" without its escape character.
static size_t color_at(struct str text, size_t at)
{
    size_t i = at + (text.at[at] == '\x1b');
    bool escaped = i > at;
    if (i >= text.len || text.at[i] != '[')
        return 0;
    for (i++; i < text.len && (is_digit(text.at[i]) || text.at[i] == ';'); i++)
        continue;
    if (i >= text.len || text.at[i] != 'm' || (!escaped && i - at > 3))
        return 0;
    return i + 1 - at;
}

struct str log_plain(struct str text, char *room, size_t size)
{
    size_t len = 0;
    bool colored = memchr(text.at, '\x1b', text.len);
    for (size_t at = 0; !colored && at + 2 < text.len; at++)
        colored = text.at[at] == '[' && is_digit(text.at[at + 1]) && color_at(text, at);
    if (!colored)
        return text;
    for (size_t at = 0; at < text.len && len < size;) {
        size_t color = color_at(text, at);
        if (!color)
            room[len++] = text.at[at];
        at += color ? color : 1;
    }
    return (struct str){room, len};
}

// --- who and when -------------------------------------------------------------------------------

// Digits at a place; returns how many there are, at most nine count.
static size_t digits_at(struct str text, size_t at, int64_t *number)
{
    size_t count = 0;
    for (*number = 0; at + count < text.len && is_digit(text.at[at + count]) && count < 9; count++)
        *number = *number * 10 + (text.at[at + count] - '0');
    return count;
}

static int64_t rank_after(struct str before, struct str word)
{
    int64_t rank;
    size_t at = str_find(before, word);
    if (at == SIZE_MAX)
        return -1;
    at += word.len;
    at += at < before.len && memchr("- =", before.at[at], 3);
    return digits_at(before, at, &rank) ? rank : -1;
}

// "[1,3]<stdout>:" of mpirun, whose first number is the job's.
static int64_t rank_of_mpirun(struct str before)
{
    int64_t job, rank;
    size_t count = before.len && *before.at == '[' ? digits_at(before, 1, &job) : 0;
    size_t at = 1 + count;
    if (!count || at >= before.len || before.at[at] != ',' ||
        !(count = digits_at(before, at + 1, &rank)))
        return -1;
    return str_starts_with(log_from(before, at + 1 + count), STR("]<std")) ? rank : -1;
}

// "3: " of srun --label.
static int64_t rank_of_srun(struct str before)
{
    int64_t rank;
    struct str text = log_trim(before);
    size_t count = digits_at(text, 0, &rank);
    return count && count < text.len + 1 && str_starts_with(log_from(text, count), STR(":")) ? rank
                                                                                             : -1;
}

int64_t log_rank(struct str before)
{
    int64_t rank = rank_of_mpirun(before);
    rank = rank < 0 ? rank_of_srun(before) : rank;
    rank = rank < 0 ? rank_after(before, STR("rank")) : rank;
    rank = rank < 0 ? rank_after(before, STR("[default")) : rank;
    return rank < 0 ? rank_after(before, STR("worker")) : rank;
}

// Days from 1970 to a date of the Gregorian calendar, by Howard Hinnant's days_from_civil.
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = year / 400, of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

// Two digits after an optional separator.
static bool two_digits(struct str text, size_t *at, const char *separators, int64_t *number)
{
    *at += *at < text.len && strchr(separators, text.at[*at]) && text.at[*at];
    if (*at + 2 > text.len || !is_digit(text.at[*at]) || !is_digit(text.at[*at + 1]))
        return false;
    *number = (text.at[*at] - '0') * 10 + (text.at[*at + 1] - '0');
    *at += 2;
    return true;
}

static int64_t fraction_ns(struct str text, size_t at)
{
    int64_t ns = 0, unit = 100000000;
    if (at >= text.len || !strchr(".,", text.at[at]))
        return 0;
    for (at++; at < text.len && is_digit(text.at[at]) && unit; at++, unit /= 10)
        ns += (text.at[at] - '0') * unit;
    return ns;
}

// "2026-11-20 08:00:00.123456", "2026-11-20T08:00:00", "20261120 08:00:00" at a place.
static bool time_at(struct str text, size_t at, int64_t *ns)
{
    int64_t century, rest, month, day, hour, minute, second;
    if (!two_digits(text, &at, "", &century) || !two_digits(text, &at, "", &rest) ||
        !two_digits(text, &at, "-/", &month) || !two_digits(text, &at, "-/", &day) ||
        at >= text.len || !strchr(" T", text.at[at]) || !two_digits(text, &at, " T", &hour) ||
        !two_digits(text, &at, ":", &minute) || !two_digits(text, &at, ":", &second))
        return false;
    int64_t year = century * 100 + rest;
    if (year < 1980 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 ||
        minute > 59 || second > 60)
        return false;
    *ns = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    *ns = *ns * 1000000000 + fraction_ns(text, at);
    return true;
}

int64_t log_time(struct str before)
{
    int64_t ns;
    for (size_t at = 0; at + 17 <= before.len; at++)
        if (is_digit(before.at[at]) && (at == 0 || !is_digit(before.at[at - 1])) &&
            time_at(before, at, &ns))
            return ns;
    return LOG_NO_TIME;
}
