// SPDX-License-Identifier: Apache-2.0
// Table cells for a terminal.
#ifndef SERVER_SHOWN_H
#define SERVER_SHOWN_H

#include "analysis/report/report.h"

#include <stdio.h>

#define SHOWN_LINE_WIDTH 96

// 0 without a table.
size_t shown_rows(const struct table *table);

// Values of a column; 0 if it is empty.
double shown_ms(const struct table *table, size_t row, unsigned column);
double shown_percent(const struct table *table, size_t row, unsigned column);

// At most width bytes, cut at a whole character; control characters could send commands to a
// terminal.
void shown_put(FILE *out, struct str value, size_t width);

// Same for a stable word such as data_loading, as people write it.
void shown_words(FILE *out, struct str word, size_t width);

// Wraps words to lines of SHOWN_LINE_WIDTH with an indent.
void shown_wrap(FILE *out, struct str value, int indent);

// "s", or nothing after 1.
const char *shown_plural(int64_t number);

#endif
