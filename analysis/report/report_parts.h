// SPDX-License-Identifier: Apache-2.0
// A report as a file of parts: some rows of one table, saved and compressed separately, so that
// passing tables on takes the memory of one part, never of a report.
#ifndef ANALYSIS_REPORT_PARTS_H
#define ANALYSIS_REPORT_PARTS_H

#include "analysis/report/report.h"

#define REPORT_PART_ROWS       ((size_t)1024)
#define REPORT_PART_BYTES      ((size_t)1 << 20)  // of cells and texts, unless one row has more
#define REPORT_PART_MOST_BYTES ((size_t)64 << 20) // saved or compressed; no row is this large

struct report_part {
    const struct table_desc *desc;
    unsigned table;  // its place in the list
    uint64_t number; // within its table; part 0 holds the first rows, or none
    struct str frame;
};

// Appends a report's tables, all of `known`, to a file.
MUST_CHECK bool report_parts_write(const struct report *report,
                                   const struct table_desc *const *known, int fd, struct err *err);

// Appends a part that is already compressed.
MUST_CHECK bool report_part_write(const struct report_part *part, int fd, struct err *err);

// The same in a nameless file in memory, for few rows. -1 on failure; the caller closes it.
MUST_CHECK int report_parts_hold(const struct report *report, const struct table_desc *const *known,
                                 struct err *err);

struct report_block {
    char *at;
    size_t cap;
};

// Reads such a file from its start. Nothing in it is trusted.
struct report_parts {
    int fd;
    const struct table_desc *const *known;
    uint64_t at, end;                 // positions
    uint64_t next[REPORT_MAX_TABLES]; // number of each table's next part
    struct report_part part;
    struct report_block frame;
};

// Pair with report_parts_close.
void report_parts_open(struct report_parts *parts, int fd, const struct table_desc *const *known);
void report_parts_close(struct report_parts *parts);

// The next part is parts->part until the next call; *found false at the end. ERR_FORMAT when what
// follows is not a part, or out of the order of its table.
MUST_CHECK bool report_parts_next(struct report_parts *parts, bool *found, struct err *err);

// Adds the rows of a part to a report. ERR_FORMAT when it holds anything else, or
// more than REPORT_PART_ROWS.
MUST_CHECK bool report_part_load(const struct report_part *part, struct report *report,
                                 struct err *err);

// Adds the tables of `known` in a compressed report of at most max_bytes. ERR_FORMAT when damaged.
MUST_CHECK bool report_unpack(struct str frame, size_t max_bytes,
                              const struct table_desc *const *known, struct report *report,
                              struct err *err);

#endif
