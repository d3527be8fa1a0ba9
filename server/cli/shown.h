// SPDX-License-Identifier: Apache-2.0
// Table cells for a terminal.
#ifndef SERVER_SHOWN_H
#define SERVER_SHOWN_H

#include "analysis/report/report.h"

#include <stdio.h>

#define SHOWN_LINE_WIDTH 96

// 0 without a table.
size_t shown_rows(const struct table *table);

// Values of a column; 0 or no text if it is empty.
double shown_ms(const struct table *table, size_t row, const char *column);
int64_t shown_count(const struct table *table, size_t row, const char *column);
double shown_percent(const struct table *table, size_t row, const char *column);
struct str shown_text(const struct table *table, size_t row, const char *column);
bool shown_is(const struct table *table, size_t row, const char *column, const char *word);

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
