// SPDX-License-Identifier: Apache-2.0
// Cells of monitors' lines: where they are, and the numbers, units and times in them.
#ifndef INGEST_MONITOR_MONITOR_TEXT_H
#define INGEST_MONITOR_MONITOR_TEXT_H

#include "ingest/evidence/samples.h"

enum { MONITOR_MOST_CELLS = 1024, MONITOR_MOST_TEXT = 256 };

struct monitor_cells {
    struct str at[MONITOR_MOST_CELLS]; // without blanks around them
    size_t count;
    bool more; // the line has more cells
};

// What a header has between its columns: semicolons if it has any, else commas.
char monitor_separator(struct str header);
// Cells between separators; one in quotes may hold some.
void monitor_split(struct str line, char separator, struct monitor_cells *cells);
void monitor_split_blanks(struct str line, struct monitor_cells *cells);

// Makes one cell of those that a list without quotes was split into, "[0" and "0]".
void monitor_join_lists(struct monitor_cells *cells);

// What a number counts.
struct monitor_scale {
    enum sample_dimension dimension;
    double factor;   // to the dimension's unit
    struct str unit; // "MiB"; "" unknown
};

// Sets the scale to a unit of its dimension, "MiB" or "KB/s". False if that is none.
bool monitor_unit(struct str unit, struct monitor_scale *scale);

// "memory.used" of "memory.used [MiB]"; *unit is empty if none is known.
struct str monitor_name(struct str column, struct str *unit);

// "97 %", "0x04", "(1300Mhz)", "P0" in the dimension's unit, of that scale if it says none; NAN if
// there is no number, or one of another dimension.
double monitor_value(struct str cell, struct monitor_scale scale);

// "" if it is longer than any name or number.
struct str monitor_short_text(struct str text);

// "612,34" with a point; anything else as it is.
struct str monitor_with_point(struct str cell, char text[32]);

// "2025/06/13 00:27:52.195", or seconds or milliseconds since 1970. False if it is neither.
bool monitor_time(struct str text, int64_t *time_ns, enum sample_clock *clock);

#endif
