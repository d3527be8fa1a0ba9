// SPDX-License-Identifier: Apache-2.0
// Which rows of a table to return: filters, search, order and a page of them. The store answers it
// in SQL for run tables, table_select in memory for reports that were loaded completely.
#ifndef SERVER_TABLE_QUERY_H
#define SERVER_TABLE_QUERY_H

#include "analysis/report/report.h"

struct sort_key {
    struct str column;
    bool descending; // nulls come last either way
};

// column = value, the value as text from a URL. Several filters on one column mean "or".
struct table_filter {
    struct str column;
    struct str value; // decimal text for numbers, "true" or "false" for booleans
};

#define TABLE_QUERY_MAX_SORTS   4
#define TABLE_QUERY_MAX_FILTERS 32
#define TABLE_QUERY_NO_LIMIT    UINT64_MAX

struct table_query {
    bool (*also_sorts_by)(struct str name);       // besides columns of the table; NULL
    struct sort_key sorts[TABLE_QUERY_MAX_SORTS]; // none: the order in which rows were written
    unsigned sort_count;
    struct table_filter filters[TABLE_QUERY_MAX_FILTERS];
    unsigned filter_count;
    struct str search; // substring of any text column, ASCII case ignored; empty: all rows
    uint64_t limit, offset;
};

// One page of the rows that match.
struct table_page {
    struct table table;  // strings and cells live in the arena passed in
    uint64_t total;      // rows that match, on all pages
    bool total_is_least; // not all were counted
    uint64_t offset; // of the first row here; the next page, if any, starts at offset + row_count
};

// ERR_USAGE if a sort or filter names an unknown column (it lists the known ones), or if a value is
// invalid for its column.
MUST_CHECK bool table_query_check(const struct table_query *query, const struct table_desc *desc,
                                  struct err *err);

// Whether rows can be sorted by that.
bool table_query_sorts_by(const struct table_query *query, const struct table_desc *desc,
                          struct str name);

// Rows of a table in memory, whose strings the page shares.
MUST_CHECK bool table_select(const struct table *from, const struct table_query *query,
                             struct arena *arena, struct table_page *page, struct err *err);

#endif
