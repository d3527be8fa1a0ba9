// SPDX-License-Identifier: Apache-2.0
// SQLite databases; which of their formats are read follows from their tables.
#include "ingest/source/format.h"

const struct format format_sqlite = {
    .name = "sqlite",
    .what = "an SQLite database",
    .advice = "it has none of the tables that Nsight Systems, rocprofv3 or rocmProfileData write",
    .kind = FORMAT_DATABASE,
    .access = FORMAT_SEEK,
    .ending = ".sqlite",
    .magic = {"SQLite format 3", sizeof "SQLite format 3"}, // with its NUL
};
