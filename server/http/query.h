// SPDX-License-Identifier: Apache-2.0
// Percent-decoding, and the parameters after a '?'.
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include "ingest/base/arena.h"

#define QUERY_MAX_PARAMS 64

struct query_param {
    struct str name, value;
};

struct query {
    struct query_param *params; // in the order given
    size_t count;
};

// Decodes %XX, and '+' as a space if plus_is_space. ERR_USAGE for a broken escape, invalid UTF-8,
// and control characters. The result lives in arena.
MUST_CHECK bool query_decode(struct str text, bool plus_is_space, struct arena *arena,
                             struct str *decoded, struct err *err);

// Splits "a=1&b=2". ERR_USAGE as above and for more than QUERY_MAX_PARAMS.
MUST_CHECK bool query_parse(struct str text, struct arena *arena, struct query *query,
                            struct err *err);

// The last parameter of that name; at is NULL if there is none.
struct str query_get(const struct query *query, const char *name);
// The same; "" if there is none.
struct str query_text(const struct query *query, const char *name);

// ERR_USAGE, listing the known ones, if a parameter is not in the NULL-terminated list.
MUST_CHECK bool query_allow(const struct query *query, const char *const *known, struct err *err);

// A parameter as an integer within bounds; fallback if it is absent.
struct query_int {
    const char *name;
    int64_t fallback, min, max;
};
MUST_CHECK bool query_get_int(const struct query *query, struct query_int what, int64_t *value,
                              struct err *err);

// A parameter as a finite decimal number within bounds; fallback if it is absent.
struct query_number {
    const char *name;
    double fallback, min, max;
};
MUST_CHECK bool query_get_number(const struct query *query, struct query_number what, double *value,
                                 struct err *err);

// Seconds of "90", "30s", "5m", "2h", "14d".
MUST_CHECK bool query_duration(struct str text, int64_t *seconds, struct err *err);

#endif
