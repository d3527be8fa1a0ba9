// SPDX-License-Identifier: Apache-2.0
#include "analysis/replay/change_order.h"

bool change_is_of_host(const struct change *change)
{
    return change->of == CHANGE_OF_HOST || change->of == CHANGE_OF_LOADING ||
           change->of == CHANGE_OF_PROFILER;
}

bool change_is_whole_host(const struct change *change)
{
    return change->of == CHANGE_OF_HOST && str_equal(change->pattern, STR("*"));
}

// First what work takes whatever others say, then what is taken off parts of nodes, then what is
// added, and what scales the rest last.
static int turn_of(const struct change *change)
{
    if (change_is_of_host(change) && !change_is_whole_host(change))
        return 1;
    switch (change->action) {
    case CHANGE_SET:
    case CHANGE_ROOFLINE:
    case CHANGE_COUNTERPART: return 0;
    case CHANGE_ADD: return 2;
    case CHANGE_SCALE:
    case CHANGE_DROP:
    case CHANGE_OVERLAP: break;
    }
    return 3;
}

// Equal only if nothing distinguishes them.
static int compare_changes(const struct change *a, const struct change *b)
{
    int order = turn_of(a) - turn_of(b);
    order = order ? order : (a->factor > b->factor) - (a->factor < b->factor);
    order = order ? order : (a->set_ns > b->set_ns) - (a->set_ns < b->set_ns);
    order = order ? order : (int)a->action - (int)b->action;
    order = order ? order : (int)a->of - (int)b->of;
    return order ? order : str_compare(a->pattern, b->pattern);
}

void change_order(const struct change_list *list, uint32_t turns[CHANGE_MOST])
{
    for (uint32_t c = 0; c < list->count; c++) {
        uint32_t at = c;
        for (; at > 0 && compare_changes(&list->at[turns[at - 1]], &list->at[c]) > 0; at--)
            turns[at] = turns[at - 1];
        turns[at] = c;
    }
}
