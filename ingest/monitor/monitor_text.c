// SPDX-License-Identifier: Apache-2.0
#include "ingest/monitor/monitor_text.h"

#include "ingest/evidence/log_book.h"
#include "ingest/logs/log_text.h"

#include <math.h>

// --- cells --------------------------------------------------------------------------------------

static bool add_cell(struct monitor_cells *cells, struct str cell)
{
    cells->more = cells->count == MONITOR_MOST_CELLS;
    if (cells->more)
        return false;
    cells->at[cells->count++] = cell;
    return true;
}

// The length of the cell at the start of a text.
static size_t cell_length(struct str text, char separator)
{
    bool quoted = text.len && text.at[0] == '"';
    const char *end = NULL;
    if (quoted) {
        const char *close = text.len > 1 ? memchr(text.at + 1, '"', text.len - 1) : NULL;
        size_t from = close ? (size_t)(close - text.at) : text.len;
        end = memchr(text.at + from, separator, text.len - from);
    } else if (text.len) {
        end = memchr(text.at, separator, text.len);
    }
    return end ? (size_t)(end - text.at) : text.len;
}

static struct str unquoted(struct str cell)
{
    bool quoted = cell.len > 1 && cell.at[0] == '"' && cell.at[cell.len - 1] == '"';
    return quoted ? (struct str){cell.at + 1, cell.len - 2} : cell;
}

// Where the comma is the decimal mark, programs save tables with semicolons.
char monitor_separator(struct str header)
{
    return header.len && memchr(header.at, ';', header.len) ? ';' : ',';
}

void monitor_split(struct str line, char separator, struct monitor_cells *cells)
{
    cells->count = 0;
    cells->more = false;
    for (;;) {
        while (line.len && *line.at == ' ')
            line = log_from(line, 1);
        size_t len = cell_length(line, separator);
        struct str cell = log_trim((struct str){line.at, len});
        if (!add_cell(cells, unquoted(cell)) || len == line.len)
            return;
        line = log_from(line, len + 1);
    }
}

static size_t count_blanks(struct str text)
{
    size_t count = 0;
    while (count < text.len && (text.at[count] == ' ' || text.at[count] == '\t'))
        count++;
    return count;
}

void monitor_split_blanks(struct str line, struct monitor_cells *cells)
{
    cells->count = 0;
    cells->more = false;
    for (line = log_trim(line); line.len; line = log_from(line, count_blanks(line))) {
        size_t len = 0;
        while (len < line.len && line.at[len] != ' ' && line.at[len] != '\t')
            len++;
        if (!add_cell(cells, (struct str){line.at, len}))
            return;
        line = log_from(line, len);
    }
}

void monitor_join_lists(struct monitor_cells *cells)
{
    size_t count = 0;
    bool open = false;
    for (size_t i = 0; i < cells->count; i++) {
        struct str cell = cells->at[i];
        if (open) {
            struct str *list = &cells->at[count - 1];
            list->len = (size_t)(cell.at + cell.len - list->at);
        } else {
            cells->at[count++] = cell;
        }
        open = (open || (cell.len && cell.at[0] == '[')) &&
               !(cell.len && cell.at[cell.len - 1] == ']');
    }
    cells->count = count;
}

// --- units --------------------------------------------------------------------------------------

#define UNIT(name, dimension, factor)                        \
    {                                                        \
        {name, sizeof(name) - 1}, SAMPLE_##dimension, factor \
    }
static const struct {
    struct str name; // in any case
    enum sample_dimension dimension;
    double factor;
} units[] = {
    UNIT("%", PERCENT, 1),
    UNIT("ratio", PERCENT, 100),
    UNIT("bool", PERCENT, 100),
    UNIT("B", BYTES, 1),
    UNIT("Byte", BYTES, 1),
    UNIT("Bytes", BYTES, 1),
    UNIT("KiB", BYTES, 0x1p10),
    UNIT("MiB", BYTES, 0x1p20),
    UNIT("GiB", BYTES, 0x1p30),
    // GPU tools that print these divide by powers of 1024
    UNIT("KB", BYTES, 0x1p10),
    UNIT("MB", BYTES, 0x1p20),
    UNIT("GB", BYTES, 0x1p30),
    UNIT("W", WATTS, 1),
    UNIT("mW", WATTS, 1e-3),
    UNIT("uW", WATTS, 1e-6),
    UNIT("J", JOULES, 1),
    UNIT("mJ", JOULES, 1e-3),
    UNIT("uJ", JOULES, 1e-6),
    UNIT("kJ", JOULES, 1e3),
    UNIT("C", CELSIUS, 1),
    UNIT("\xC2\xB0\x43", CELSIUS, 1), // with a degree sign
    UNIT("Hz", MEGAHERTZ, 1e-6),
    UNIT("kHz", MEGAHERTZ, 1e-3),
    UNIT("MHz", MEGAHERTZ, 1),
    UNIT("GHz", MEGAHERTZ, 1e3),
    UNIT("s", SECONDS, 1),
    UNIT("ms", SECONDS, 1e-3),
    UNIT("us", SECONDS, 1e-6),
    UNIT("ns", SECONDS, 1e-9),
    UNIT("B/s", BYTES_PER_S, 1),
    UNIT("KB/s", BYTES_PER_S, 1e3),
    UNIT("MB/s", BYTES_PER_S, 1e6),
    UNIT("GB/s", BYTES_PER_S, 1e9),
    UNIT("KiB/s", BYTES_PER_S, 0x1p10),
    UNIT("MiB/s", BYTES_PER_S, 0x1p20),
    UNIT("Mb/s", BYTES_PER_S, 1e6 / 8),
    UNIT("Mbps", BYTES_PER_S, 1e6 / 8),
    UNIT("Gb/s", BYTES_PER_S, 1e9 / 8),
    UNIT("bits", BITS, 1),
    UNIT("1", COUNT, 1),
};

// "MB/s" and "Mb/s" differ only by case, but "Mhz" is written in any.
bool monitor_unit(struct str unit, struct monitor_scale *scale)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].dimension != scale->dimension || !str_equal_nocase(unit, units[i].name))
            continue;
        found = found == SIZE_MAX || str_equal(unit, units[i].name) ? i : found;
    }
    if (found == SIZE_MAX)
        return false;
    scale->factor = units[found].factor;
    scale->unit = units[found].name;
    return true;
}

static bool is_unit(struct str text)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (str_equal_nocase(text, units[i].name))
            return true;
    return false;
}

struct str monitor_name(struct str column, struct str *unit)
{
    *unit = STR("");
    if (column.len < 3 || !memchr("])", column.at[column.len - 1], 2))
        return column;
    char open = column.at[column.len - 1] == ']' ? '[' : '(';
    const char *at = memrchr(column.at, open, column.len);
    if (!at)
        return column;
    size_t from = (size_t)(at - column.at);
    struct str inside = {at + 1, column.len - from - 2};
    if (!is_unit(inside))
        return column;
    *unit = inside;
    return log_trim((struct str){column.at, from});
}

// --- values -------------------------------------------------------------------------------------

static double bits_of(struct str digits)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < digits.len; i++) {
        char c = (char)(digits.at[i] | 0x20);
        bool is_letter = c >= 'a' && c <= 'f';
        if (digits.len > 16 || (!str_is_digit(digits.at[i]) && !is_letter))
            return NAN;
        bits = bits << 4 | (uint64_t)(is_letter ? c - 'a' + 10 : digits.at[i] - '0');
    }
    return digits.len ? (double)bits : NAN;
}

static struct str without_brackets(struct str cell)
{
    bool in = cell.len > 1 && cell.at[0] == '(' && cell.at[cell.len - 1] == ')';
    return in ? log_trim((struct str){cell.at + 1, cell.len - 2}) : cell;
}

struct str monitor_short_text(struct str text)
{
    return text.len <= MONITOR_MOST_TEXT ? text : STR("");
}

struct str monitor_with_point(struct str cell, char text[32])
{
    const char *comma = memchr(cell.at, ',', cell.len);
    if (!comma || comma == cell.at || cell.len > 31 || !str_is_digit(comma[-1]) ||
        comma + 1 == cell.at + cell.len || !str_is_digit(comma[1]) ||
        memchr(cell.at, '.', cell.len))
        return cell;
    memcpy(text, cell.at, cell.len);
    text[comma - cell.at] = '.';
    return (struct str){text, cell.len};
}

// "1,980 MHz" without commas before three digits; anything else as it is.
static struct str without_thousands(struct str cell, char text[32])
{
    size_t len = 0;
    if (cell.len > 31 || !str_is_digit(cell.at[0]) || !memchr(cell.at, ',', cell.len))
        return cell;
    for (size_t i = 0; i < cell.len; i++) {
        size_t digits = 0;
        while (i + 1 + digits < cell.len && str_is_digit(cell.at[i + 1 + digits]))
            digits++;
        if (cell.at[i] != ',')
            text[len++] = cell.at[i];
        else if (digits != 3)
            return cell;
    }
    return (struct str){text, len};
}

double monitor_value(struct str cell, struct monitor_scale scale)
{
    double number;
    struct str rest;
    char text[32];
    if (cell.len == 0)
        return NAN;
    cell = without_thousands(cell, text);
    if (cell.at[0] == '(')
        cell = without_brackets(cell);
    if (scale.dimension == SAMPLE_BITS && str_starts_with(cell, STR("0x")))
        return bits_of(log_from(cell, 2));
    if (scale.dimension == SAMPLE_COUNT && cell.at[0] == 'P')
        cell = log_from(cell, 1);
    if (log_number(cell, &number, &rest) != LOG_NUMBER || !isfinite(number))
        return NAN;
    rest = log_trim(rest);
    if (rest.len && !str_equal(rest, scale.unit) && !monitor_unit(rest, &scale))
        return NAN;
    return number * scale.factor;
}

// --- times --------------------------------------------------------------------------------------

// The time that a number stands for, in the unit that makes it a plausible year.
static bool time_of_number(double number, int64_t *time_ns)
{
    double ns = number < 1e11 ? 1e9 : number < 1e14 ? 1e6 : number < 1e17 ? 1e3 : 1;
    if (!(number > 1e8) || number * ns >= 9.2e18)
        return false;
    *time_ns = ns == 1e9
                   ? (int64_t)number * 1000000000 + (int64_t)round((number - floor(number)) * 1e9)
                   : (int64_t)round(number * ns);
    return true;
}

bool monitor_time(struct str text, int64_t *time_ns, enum sample_clock *clock)
{
    double number;
    *clock = SAMPLE_CLOCK_UTC;
    if (log_is_number(text, &number))
        return isfinite(number) && time_of_number(number, time_ns);
    struct log_prefix prefix = log_prefix_of(text);
    *clock = prefix.utc ? SAMPLE_CLOCK_UTC : SAMPLE_CLOCK_LOCAL;
    *time_ns = prefix.time_ns;
    return prefix.time_ns != LOG_NO_TIME;
}
