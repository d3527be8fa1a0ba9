// SPDX-License-Identifier: Apache-2.0
// Matching with the baseline instruction set.
#include "ingest/kineto/kineto_match.h"

const char *kineto_match_base(struct kineto_layouts *layouts, const char *at,
                              struct event_fields *fields, const char **brace)
{
    return match_event(layouts, at, fields, brace);
}
