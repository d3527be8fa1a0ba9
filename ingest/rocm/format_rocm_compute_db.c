// SPDX-License-Identifier: Apache-2.0
// The analysis database of rocprof-compute: metrics per kernel, without times. Its rows are
// counted.
#include "ingest/source/format.h"
#include "ingest/sqlite/table_reader.h"

#include <stdio.h>

enum { MOST_TABLES = 64, NAME_BYTES = 64 };

struct tables {
    unsigned count;
    char names[MOST_TABLES][NAME_BYTES];
};

static bool note_table(void *context, const char *name)
{
    struct tables *tables = context;
    bool fits = strlen(name) < NAME_BYTES && !strpbrk(name, IN);
    if (strncmp(name, "compute_", 8) == 0 && fits)
        snprintf(tables->names[tables->count++], NAME_BYTES, "%s", name);
    return tables->count < MOST_TABLES;
}

static bool count_rows(struct database *database, struct figures *figures, struct err *err)
{
    struct tables tables = {0};
    database_tables(database, note_table, &tables);
    for (unsigned i = 0; i < tables.count; i++) {
        int64_t count;
        if (!rows_count(database, tables.names[i], &count, err))
            return false;
        figures_add(figures, count, "rows" IN "%s", tables.names[i]);
    }
    return true;
}

static bool count(const struct format_input *input, struct err *err)
{
    struct table_reader tables;
    bool ok = table_reader_open(&tables, input, err) &&
              count_rows(tables.database, input->figures, err) &&
              table_reader_counted(&tables, err);
    table_reader_close(&tables);
    return ok;
}

const struct format format_rocm_compute_db = {
    .name = "rocprof-compute-db",
    .what = "an analysis database of rocprof-compute",
    .advice = "it has no times; record with rocprofv3",
    .kind = FORMAT_RECORDS,
    .access = FORMAT_SEEK,
    .tables = "compute_metadata",
    .count = count,
};
