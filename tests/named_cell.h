// SPDX-License-Identifier: Apache-2.0
// Cells by the names that users see, so that a test notices when one changes.
#ifndef TESTS_NAMED_CELL_H
#define TESTS_NAMED_CELL_H

#include "analysis/report/report.h"

static inline const struct cell *named_cell(const struct table *table, size_t row, const char *name)
{
    int place = table_column(table->desc, str_of(name));
    assert(place >= 0 && row < table->row_count);
    return &table->cells[row * table->desc->column_count + (size_t)place];
}

#endif
