// SPDX-License-Identifier: Apache-2.0
// An object per line.
#include "server/exports/export.h"

static void put_rows(const struct export_view *view, const struct table *rows, uint64_t before,
                     struct buf *out)
{
    (void)before;
    for (size_t row = 0; row < rows->row_count; row++) {
        export_json_row(view, rows, row, out);
        buf_putc(out, '\n');
    }
}

const struct table_export export_ndjson = {.word = "ndjson",
                                           .accept = "application/x-ndjson",
                                           .type = "application/x-ndjson",
                                           .rows = put_rows};
