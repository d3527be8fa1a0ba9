// SPDX-License-Identifier: Apache-2.0
// What the file of a run does not say, but all its rows and devices imply.
#ifndef INGEST_LINKS_LINK_SETTLE_H
#define INGEST_LINKS_LINK_SETTLE_H

#include "ingest/evidence/evidence.h"
#include "ingest/source/format.h"

// Units of tables, as bytes/s and ns.
#define LINK_GB 1e9
#define LINK_US 1e3

// A run of which nothing is known.
struct link_run link_empty_run(const char *tool, uint64_t pos);
struct link_row link_empty_row(uint32_t run, uint64_t pos);

// Adds a row if it has figures.
MUST_CHECK bool link_add_row(struct evidence *evidence, const struct link_row *row,
                             struct err *err);

// After the last row of the file: the ranks and nodes of each run by its devices; ranks and
// collective, if still unknown, by the columns and by bus bandwidth / algorithm bandwidth, which
// for n ranks is 2(n-1)/n of an all_reduce and (n-1)/n of a reduce_scatter (doc/PERFORMANCE.md of
// nccl-tests). ERR_FORMAT if there is no row at all.
MUST_CHECK bool link_settle(struct evidence *evidence, struct err *err);

#endif
