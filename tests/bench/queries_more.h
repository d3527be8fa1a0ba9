// SPDX-License-Identifier: Apache-2.0
// Many more runs in a filled store, as copies of its rows.
#ifndef TESTS_BENCH_QUERIES_MORE_H
#define TESTS_BENCH_QUERIES_MORE_H

#include "server/db/db.h"

// Adds so many runs to the database at a path that nobody has open, each with all rows that one of
// its runs that are done has, but for tables of reports, traces but one, and jobs, which a service
// forgets. They are spread over two years and over a series for every hundred runs; every series
// has an alert. Ids are in order, so that pages of tables fill one after the other; when they were
// created is not.
MUST_CHECK bool queries_more(const char *path, int64_t count, struct err *err);

#endif
