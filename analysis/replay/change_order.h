// SPDX-License-Identifier: Apache-2.0
// In which order changes apply, whatever the order in which someone lists them.
#ifndef ANALYSIS_CHANGE_ORDER_H
#define ANALYSIS_CHANGE_ORDER_H

#include "analysis/replay/change.h"

// Whether it selects time of threads; and whether all of it.
bool change_is_of_host(const struct change *change);
bool change_is_whole_host(const struct change *change);

// Fills the indices of the list's changes in the order in which they apply.
void change_order(const struct change_list *list, uint32_t turns[CHANGE_MOST]);

#endif
