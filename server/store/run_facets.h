// SPDX-License-Identifier: Apache-2.0
// Lists of runs by columns of few values: state, ranks, severity and GPU. There are few
// combinations of these, however many runs there are, and an index has the newest runs of each.
#ifndef SERVER_RUN_FACETS_H
#define SERVER_RUN_FACETS_H

#include "server/store/run_filters.h"

// Writes the sort keys from one on, each with a comma after it.
typedef void (*run_order)(struct writing *to, const struct run_query *query, unsigned from);

// A page of a list whose sort keys are all such columns. *done false: there are too many
// combinations, and nothing was read.
MUST_CHECK bool run_facets_list(struct run_filters *filters, run_order put_order, uint64_t limit,
                                struct run_list *list, bool *done, struct err *err);

#endif
