// SPDX-License-Identifier: Apache-2.0
// Searches of the texts of runs. Of a text of three letters or more, SQLite's index tells which
// three beside each other the fewest runs have; one or two letters are how such pieces begin.
// PostgreSQL has an index of words' pieces of three, and one of any one and two letters.
#ifndef SERVER_RUN_SEARCH_H
#define SERVER_RUN_SEARCH_H

#include "server/store/run_filters.h"

// Chooses by which piece of the search its runs are found.
MUST_CHECK bool run_search_choose(struct run_filters *filters, struct err *err);

// Rows for at least its runs, which are counted sooner.
void run_search_estimate(struct writing *to, const struct run_filters *filters);
void run_search_find(struct writing *to, const struct run_filters *filters, size_t at);
// A condition for a run that was found otherwise.
void run_search_check(struct writing *to, const struct run_filters *filters, size_t at);

#endif
