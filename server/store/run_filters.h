// SPDX-License-Identifier: Apache-2.0
// The filters of a list of runs. Where a filter has few runs they are found by its index; where
// each has many, runs are looked at in the order that is asked for. Nothing is counted beyond
// RUN_FILTERS_MANY of one filter; of several, which are looked up run by run, only the newest are
// counted.
#ifndef SERVER_RUN_FILTERS_H
#define SERVER_RUN_FILTERS_H

#include "server/store/store_sql.h"
#include "server/store/writing.h"

enum { RUN_FILTERS_MANY = 5000 };

// Word for word as in the index figure_by_value: what the list of runs shows. No IN: SQLite would
// build its set for each row that it writes.
#define ORDERED_FIGURES                                               \
    "(metric = 'attention_ns' OR metric = 'busy_share' OR "           \
    "metric = 'exposed_comm_ns' OR metric = 'exposed_comm_share' OR " \
    "metric = 'exposed_memory_ns' OR metric = 'findings' OR "         \
    "metric = 'gemm_ns' OR metric = 'hfu' OR "                        \
    "metric = 'idle_host_wait_ns' OR metric = 'idle_other_ns' OR "    \
    "metric = 'loss' OR metric = 'memory_share' OR "                  \
    "metric = 'mfu' OR metric = 'other_compute_ns' OR "               \
    "metric = 'power_w' OR metric = 'step_median_ns' OR "             \
    "metric = 'tflops_per_gpu' OR metric = 'tokens_per_j' OR "        \
    "metric = 'tokens_per_s_per_gpu' OR metric = 'unrecorded_ns')"

// Whether the index has this one.
bool run_figure_is_ordered(struct str metric);

struct run_filter {
    const struct filter_kind *kind;
    size_t at;     // which of its tags
    uint64_t runs; // it has alone, up to RUN_FILTERS_MANY + 1
};

// The first five are given.
struct run_filters {
    struct db *db;
    const struct run_query *query;
    struct str pattern; // of its search
    struct str loose;   // the same without a character for escapes: may match more
    struct arena *arena;
    struct str piece; // by which the search finds its runs (run_search); "": by all of it
    struct run_filter *all;
    size_t count;
    const struct run_filter *few; // the one that finds all runs; NULL: each has many
};

// Reads what the query asks for, and finds out which filter has few runs.
MUST_CHECK bool run_filters_open(struct run_filters *filters, struct err *err);

// Sets total and total_is_least, where no filter has few runs.
MUST_CHECK bool run_filters_count(struct run_filters *filters, struct run_list *list,
                                  struct err *err);

struct writing run_filters_begin(const struct run_filters *filters);
// "FROM run WHERE ... ": the runs that match.
void run_filters_put(struct writing *to, const struct run_filters *filters);
// " AND ...": conditions for rows of run.
void run_filters_put_checks(struct writing *to, const struct run_filters *filters);
// The same of those alone that look for a facet (run_facets), or of all others.
void run_filters_put_facet_checks(struct writing *to, const struct run_filters *filters,
                                  bool are_facets);
void run_filters_put_page(struct writing *to, uint64_t limit, uint64_t offset);

// Adds the ids that a statement finds to the list.
MUST_CHECK bool run_filters_read_ids(const struct run_filters *filters, struct writing *from,
                                     struct run_list *list, struct err *err);
// Where a filter has few: the statement finds all of them, of which the page is kept.
MUST_CHECK bool run_filters_read_few(const struct run_filters *filters, struct writing *from,
                                     struct run_list *list, struct err *err);
// Whether facets (run_facets) lead to a page sooner than looking at the runs, where all sort keys
// are facets, or there are none.
MUST_CHECK bool run_filters_suit_facets(struct run_filters *filters, bool *suit, struct err *err);

#endif
