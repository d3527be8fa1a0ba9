// SPDX-License-Identifier: Apache-2.0
#include "ingest/logs/log_text.h"

#include "ingest/evidence/log_book.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_NUMBER = 64 };

struct str log_trim(struct str text)
{
    while (text.len && (*text.at == ' ' || *text.at == '\t'))
        text = log_from(text, 1);
    while (text.len && memchr(" \t\r\n", text.at[text.len - 1], 4))
        text.len--;
    return text;
}

// --- numbers ------------------------------------------------------------------------------------

// The digits of a number, which need not fit.
struct digits {
    uint64_t sum;
    int exponent; // of ten
    bool negative, any, exact;
};

static void take_digit(struct digits *digits, char c)
{
    const uint64_t most = (uint64_t)1 << 53;
    digits->any = true;
    digits->exact = digits->exact && digits->sum < most / 10 - 1;
    if (digits->exact)
        digits->sum = digits->sum * 10 + (uint64_t)(c - '0');
}

bool log_is_group(struct str text, size_t at)
{
    return at + 3 < text.len && text.at[at] == ',' && str_is_digit(text.at[at + 1]) &&
           str_is_digit(text.at[at + 2]) && str_is_digit(text.at[at + 3]) &&
           !(at + 4 < text.len && str_is_digit(text.at[at + 4]));
}

// "7,123.5"; where it ends.
static size_t take_digits(struct str text, size_t at, struct digits *digits)
{
    bool fraction = false;
    for (; at < text.len; at++) {
        char c = text.at[at];
        if (str_is_digit(c)) {
            take_digit(digits, c);
            digits->exponent -= fraction;
        } else if (c == '.' && !fraction) {
            fraction = true;
        } else if (fraction || !digits->any || !log_is_group(text, at)) {
            break;
        }
    }
    return at;
}

// "E-04"; where it ends.
static size_t take_exponent(struct str text, size_t at, struct digits *digits)
{
    size_t from = at + 1;
    int exponent = 0;
    if (at >= text.len || (text.at[at] | 0x20) != 'e')
        return at;
    bool negative = from < text.len && text.at[from] == '-';
    from += from < text.len && (text.at[from] == '-' || text.at[from] == '+');
    if (from >= text.len || !str_is_digit(text.at[from]))
        return at;
    for (; from < text.len && str_is_digit(text.at[from]); from++)
        exponent = exponent < 10000 ? exponent * 10 + (text.at[from] - '0') : exponent;
    digits->exponent += negative ? -exponent : exponent;
    return from;
}

// For digits that are not exact in a double: removes commas and lets the library read them.
static bool read_slowly(struct str text, double *number)
{
    char copy[MOST_NUMBER], *end;
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == ',')
            continue;
        if (len + 1 == sizeof copy)
            return false;
        copy[len++] = text.at[i];
    }
    copy[len] = '\0';
    *number = strtod(copy, &end);
    return *end == '\0';
}

static bool to_number(const struct digits *digits, struct str text, double *number)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { MOST_POWER = sizeof powers / sizeof *powers - 1 };
    int exponent = digits->exponent;
    if (!digits->exact || exponent > MOST_POWER || exponent < -MOST_POWER)
        return read_slowly(text, number);
    double sum = (double)digits->sum;
    sum = exponent < 0 ? sum / powers[-exponent] : sum * powers[exponent];
    *number = digits->negative ? -sum : sum;
    return true;
}

static size_t word_length(struct str text)
{
    size_t len = 0;
    while (len < text.len && (text.at[len] | 0x20) >= 'a' && (text.at[len] | 0x20) <= 'z')
        len++;
    return len;
}

static enum log_number read_word(struct str text, bool negative, double *number, struct str *rest)
{
    struct str word = {text.at, word_length(text)};
    *rest = log_from(text, word.len);
    if (str_equal_nocase(word, STR("nan")))
        *number = NAN;
    else if (str_equal_nocase(word, STR("inf")) || str_equal_nocase(word, STR("infinity")))
        *number = negative ? -INFINITY : INFINITY;
    else
        return LOG_NO_NUMBER;
    return LOG_NUMBER;
}

enum log_number log_number(struct str text, double *number, struct str *rest)
{
    text = log_trim(text);
    struct digits digits = {.exact = true};
    size_t sign = text.len && (*text.at == '-' || *text.at == '+');
    digits.negative = sign && *text.at == '-';
    size_t end = take_digits(text, sign, &digits);
    if (!digits.any)
        return read_word(log_from(text, sign), digits.negative, number, rest);
    end = take_exponent(text, end, &digits);
    *rest = log_from(text, end);
    return to_number(&digits, (struct str){text.at, end}, number) ? LOG_NUMBER : LOG_GARBLED;
}

bool log_is_number(struct str text, double *number)
{
    struct str rest;
    return log_number(text, number, &rest) == LOG_NUMBER && rest.len == 0;
}

bool log_count(struct str text, int64_t *count, struct str *rest)
{
    size_t at = 0;
    *count = 0;
    while (at < text.len && text.at[at] == ' ')
        at++;
    size_t from = at;
    for (; at < text.len && str_is_digit(text.at[at]); at++)
        if (__builtin_mul_overflow(*count, 10, count) ||
            __builtin_add_overflow(*count, text.at[at] - '0', count))
            return false;
    *rest = log_from(text, at);
    return at > from;
}

// --- colors -------------------------------------------------------------------------------------

// The length of "[1;36m" at the start; 0 if there is none. With its escape character any code is
// one, without it only that of a color.
static size_t code_length(struct str text, bool escaped)
{
    size_t i = 1;
    if (text.len < 2 || *text.at != '[')
        return 0;
    while (i < text.len && (str_is_digit(text.at[i]) || text.at[i] == ';' || text.at[i] == '?'))
        i++;
    bool ends = i < text.len &&
                (escaped ? text.at[i] >= '@' && text.at[i] <= '~' : text.at[i] == 'm' && i > 1);
    return ends ? i + 1 : 0;
}

// Where the next code starts, and how long it is; the length of the text without one.
static size_t find_code(struct str text, char first, size_t *len)
{
    size_t at = 0;
    for (const char *found; at < text.len; at++) {
        found = memchr(text.at + at, first, text.len - at);
        if (!found)
            break;
        at = (size_t)(found - text.at);
        bool escaped = first == '\x1b';
        *len = code_length(log_from(text, at + escaped), escaped) + escaped;
        if (*len)
            return at;
    }
    return text.len;
}

struct str log_uncolored(struct str text, char *room, size_t cap)
{
    if (text.len == 0)
        return text;
    char first = memchr(text.at, '\x1b', text.len) ? '\x1b' : '[';
    size_t len = 0, code = 0, at = find_code(text, first, &code);
    if (at == text.len)
        return text;
    for (struct str rest = text; rest.len; at = find_code(rest, first, &code)) {
        size_t count = at < cap - len ? at : cap - len;
        memcpy(room + len, rest.at, count);
        len += count;
        rest = log_from(rest, at + code);
    }
    return (struct str){room, len};
}

// --- progress bars ------------------------------------------------------------------------------

// "17:04" or "1:17:04" at the start.
static double clock_seconds(struct str text)
{
    int64_t part;
    double seconds = 0;
    while (log_count(text, &part, &text)) {
        seconds = seconds * 60 + (double)part;
        if (!str_starts_with(text, STR(":")))
            break;
        text = log_from(text, 1);
    }
    return seconds;
}

// Of a rate below 1 per second, of which Lightning prints two decimals: where it is that of all
// steps so far, the mean of those says more. 0: too few digits.
static double seconds_at(double rate, double elapsed, int64_t steps)
{
    const double half = 0.0051; // of the last decimal, and a little
    double mean = steps > 0 ? elapsed / (double)steps : 0;
    if (mean > 0 && fabs(1 / mean - rate) <= half && rate < half * elapsed)
        return mean;
    return rate < 0.1 ? 0 : 1 / rate;
}

// "1.50s/it" or "2.31it/s" of a bar that began so long ago; 0 if it is neither.
static double seconds_per_step(struct str text, double elapsed, int64_t steps)
{
    double number;
    struct str rest;
    if (log_number(text, &number, &rest) != LOG_NUMBER || !(number >= 0))
        return 0;
    if (str_starts_with(rest, STR("s/it")))
        return number;
    if (!str_starts_with(rest, STR("it/s")))
        return 0;
    return number < 1 ? seconds_at(number, elapsed, steps) : 1 / number;
}

static bool read_bar(struct str text, struct log_bar *bar)
{
    struct str rest;
    *bar = (struct log_bar){0};
    if (!log_count(text, &bar->step, &rest) || !str_starts_with(rest, STR("/")) ||
        !log_count(log_from(rest, 1), &bar->total, &rest) || !str_starts_with(rest, STR(" [")) ||
        bar->step > bar->total)
        return false;
    size_t close = str_find(rest, STR("]")), comma = str_find(rest, STR(","));
    double elapsed = clock_seconds(log_from(rest, 2));
    if (comma < close)
        bar->seconds = seconds_per_step(log_from(rest, comma + 1), elapsed, bar->step);
    return close != SIZE_MAX;
}

bool log_bar_find(struct str *text, struct log_bar *bar)
{
    for (const char *blank; text->len && (blank = memchr(text->at, ' ', text->len));) {
        bool starts = blank > text->at && memchr("|%", blank[-1], 2);
        *text = log_from(*text, (size_t)(blank - text->at) + 1);
        if (starts && read_bar(*text, bar))
            return true;
    }
    return false;
}

bool log_bar_of(struct str text, bool first, struct log_bar *bar)
{
    bool any = false;
    struct log_bar found;
    while (!(any && first) && log_bar_find(&text, &found)) {
        *bar = found;
        any = true;
    }
    return any;
}

// --- times --------------------------------------------------------------------------------------

struct stamp {
    int64_t year, month, day, hour, minute, second, ns;
};

// A number of exactly so many digits at `at`, which moves.
static bool take_part(struct str text, size_t *at, size_t count, int64_t *part)
{
    *part = 0;
    if (*at + count > text.len)
        return false;
    for (size_t i = 0; i < count; i++, ++*at) {
        if (!str_is_digit(text.at[*at]))
            return false;
        *part = *part * 10 + (text.at[*at] - '0');
    }
    return true;
}

static bool take_any(struct str text, size_t *at, const char *of)
{
    bool is = *at < text.len && text.at[*at] && strchr(of, text.at[*at]);
    *at += is;
    return is;
}

// "11/20/2025", as loggers of nanotron and Transformers print it.
static bool take_us_date(struct str text, size_t *at, struct stamp *stamp)
{
    return take_part(text, at, 2, &stamp->month) && take_any(text, at, "/") &&
           take_part(text, at, 2, &stamp->day) && take_any(text, at, "/") &&
           take_part(text, at, 4, &stamp->year);
}

// "2025-11-20" or "20251120"
static bool take_iso_date(struct str text, size_t *at, struct stamp *stamp)
{
    if (!take_part(text, at, 4, &stamp->year))
        return false;
    bool dashes = take_any(text, at, "-/");
    return take_part(text, at, 2, &stamp->month) && take_any(text, at, "-/") == dashes &&
           take_part(text, at, 2, &stamp->day);
}

static bool take_date(struct str text, size_t *at, struct stamp *stamp)
{
    bool us = *at + 2 < text.len && text.at[*at + 2] == '/';
    return (us ? take_us_date(text, at, stamp) : take_iso_date(text, at, stamp)) &&
           stamp->month >= 1 && stamp->month <= 12 && stamp->day >= 1 && stamp->day <= 31 &&
           stamp->year >= 1970 && stamp->year < 2262;
}

static bool take_time(struct str text, size_t *at, struct stamp *stamp)
{
    bool is = take_part(text, at, 2, &stamp->hour) && take_any(text, at, ":") &&
              take_part(text, at, 2, &stamp->minute) && take_any(text, at, ":") &&
              take_part(text, at, 2, &stamp->second) && stamp->hour < 24 && stamp->minute < 60 &&
              stamp->second <= 60;
    if (!is || *at + 1 >= text.len || !str_is_digit(text.at[*at + 1]) || !take_any(text, at, ".,"))
        return is;
    for (int64_t unit = 100000000; *at < text.len && str_is_digit(text.at[*at]); unit /= 10, ++*at)
        stamp->ns += (text.at[*at] - '0') * unit;
    return true;
}

// "02:00:50 PM"; some programs print "14:00:50 PM". Not "02:00:50 AMD".
static void take_half_of_day(struct str text, size_t *at, struct stamp *stamp)
{
    struct str half = log_from(text, *at);
    bool after_noon = str_starts_with(half, STR(" PM"));
    if ((!after_noon && !str_starts_with(half, STR(" AM"))) || word_length(log_from(half, 3)))
        return;
    if (stamp->hour <= 12)
        stamp->hour = stamp->hour % 12 + (after_noon ? 12 : 0);
    *at += 3;
}

// "Z" or "+01:00", the offset in seconds.
static bool take_zone(struct str text, size_t *at, int64_t *offset)
{
    int64_t hours, minutes;
    *offset = 0;
    if (take_any(text, at, "Z"))
        return true;
    bool west = *at < text.len && text.at[*at] == '-';
    if (!take_any(text, at, "+-") || !take_part(text, at, 2, &hours))
        return false;
    take_any(text, at, ":");
    if (!take_part(text, at, 2, &minutes) || hours > 14 || minutes > 59)
        return false;
    *offset = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

// Days since 1970 in the Gregorian calendar.
static int64_t days_of(const struct stamp *stamp)
{
    int64_t year = stamp->year - (stamp->month <= 2);
    int64_t month = (stamp->month + 9) % 12; // from March, so that leap days come last
    int64_t in_year = (153 * month + 2) / 5 + stamp->day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719468;
}

static bool take_stamp(struct str text, size_t *at, struct log_prefix *prefix)
{
    struct stamp stamp = {0};
    int64_t offset;
    if (!take_date(text, at, &stamp) || !take_any(text, at, " T_") || !take_time(text, at, &stamp))
        return false;
    take_half_of_day(text, at, &stamp);
    prefix->utc = take_zone(text, at, &offset);
    int64_t second = days_of(&stamp) * 86400 + stamp.hour * 3600 + stamp.minute * 60 +
                     stamp.second - (prefix->utc ? offset : 0);
    prefix->time_ns = second * 1000000000 + stamp.ns;
    return true;
}

static void find_time(struct str text, struct log_prefix *prefix)
{
    bool digit = false;
    for (size_t i = 0; i + 16 < text.len; i++) {
        size_t at = i;
        bool starts = !digit && str_is_digit(text.at[i]);
        digit = str_is_digit(text.at[i]);
        if (starts && take_stamp(text, &at, prefix))
            return;
    }
}

size_t log_stamp_length(struct str text)
{
    struct log_prefix prefix;
    size_t at = 0;
    return take_stamp(text, &at, &prefix) && prefix.utc && take_any(text, &at, " ") ? at : 0;
}

// --- ranks --------------------------------------------------------------------------------------

// "[rank7]", "[rank-7/8]", "[Rank 7]", "[Rank 7 | Local Rank 3]"
static bool take_rank(struct str text, int64_t *rank)
{
    struct str rest;
    if (text.len < 7 || !str_equal_nocase((struct str){text.at, 5}, STR("[rank")))
        return false;
    size_t at = text.at[5] == '-' || text.at[5] == ' ' ? 6 : 5;
    return log_count(log_from(text, at), rank, &rest) && rest.len && memchr("]/ ", *rest.at, 3);
}

// srun's "7: ", mpirun's "[1,7]<stdout>:" and SageMaker's "[1,mpirank:7,algo-1]<stdout>:"
static bool take_label(struct str text, int64_t *rank)
{
    static const struct str sagemaker = {"[1,mpirank:", 11};
    struct str rest;
    if (str_starts_with(text, sagemaker))
        return log_count(log_from(text, sagemaker.len), rank, &rest) &&
               str_starts_with(rest, STR(","));
    if (str_starts_with(text, STR("[1,")))
        return log_count(log_from(text, 3), rank, &rest) && str_starts_with(rest, STR("]<std"));
    return log_count(text, rank, &rest) && str_starts_with(rest, STR(": "));
}

static int64_t rank_of(struct str text)
{
    int64_t rank;
    size_t at;
    for (struct str rest = text;; rest = log_from(rest, at + 1)) {
        const char *open = rest.len ? memchr(rest.at, '[', rest.len) : NULL;
        if (!open)
            break;
        at = (size_t)(open - rest.at);
        if (take_rank(log_from(rest, at), &rank))
            return rank;
    }
    return take_label(log_from(text, log_stamp_length(text)), &rank) ? rank : -1;
}

struct log_prefix log_prefix_of(struct str text)
{
    enum { MOST_PREFIX = 256 };
    struct log_prefix prefix = {.rank = -1, .time_ns = LOG_NO_TIME};
    text.len = text.len < MOST_PREFIX ? text.len : MOST_PREFIX;
    prefix.rank = rank_of(text);
    find_time(text, &prefix);
    return prefix;
}
