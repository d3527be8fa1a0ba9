// SPDX-License-Identifier: Apache-2.0
// SQLite databases; which of their formats are read follows from their tables.
#include "ingest/format.h"

const struct format format_sqlite = {
    .name = "sqlite",
    .what = "an SQLite database",
    .advice = "its tables are those of no profiler; for Nsight Systems, export with nsys export "
              "--type sqlite",
    .kind = FORMAT_DATABASE,
    .access = FORMAT_SEEK,
    .ending = ".sqlite",
    .magic = {"SQLite format 3", sizeof "SQLite format 3"}, // with its NUL
};
