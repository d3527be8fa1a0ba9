// SPDX-License-Identifier: Apache-2.0
// Matching with AVX-512: x86-64 servers since 2017.
#include "ingest/kineto/kineto_match.h"

#if defined(__x86_64__)

const char *kineto_match_avx512(struct kineto_layouts *layouts, const char *at,
                                struct event_fields *fields, const char **brace)
{
    return match_event(layouts, at, fields, brace);
}

#endif
