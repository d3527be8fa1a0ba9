// SPDX-License-Identifier: Apache-2.0
// Which runs go because of age or size, and why the others stay: a pure function of rules, runs and
// the time.
#ifndef SERVER_RETENTION_PLAN_H
#define SERVER_RETENTION_PLAN_H

#include "server/store/store_bin.h"

#define RETENTION_MAX_DAYS ((int64_t)36500)

struct retention_rules {
    int64_t days;        // runs older than this go to the bin; 0: no limit
    uint64_t size_bytes; // most that runs outside the bin may take, the oldest go; 0: no limit
    int64_t newest;      // this many of the newest runs of each series always stay
    int64_t every_days;  // the first run of a series in each span of this many days stays, unless
                         // the size is exceeded without it; 0: none
    int64_t bin_days;    // runs in the bin longer than this go for good
};

// ERR_USAGE, naming the invalid rule.
MUST_CHECK bool retention_check(const struct retention_rules *rules, struct err *err);

enum retention_fate {
    STAYS,          // no rule applies
    STAYS_BASELINE, // pinned by people
    STAYS_BUSY,     // its analysis is not done
    STAYS_NEWEST,
    STAYS_EVERY,
    STAYS_IN_BIN,
    GOES_FOR_AGE,  // to the bin
    GOES_FOR_SIZE, // to the bin
    GOES_FOR_GOOD, // from the bin
};
bool retention_goes(enum retention_fate fate);
const char *retention_reason(enum retention_fate fate); // "older than 90 days" is "age", ...

struct retention_plan {
    enum retention_fate *fates; // of each run
    uint64_t bin_bytes;         // of what goes to the bin
    uint64_t free_bytes;        // of what goes for good: disk space freed at once
    uint64_t over_bytes;        // what stays although it exceeds size_bytes
};

// runs: by since_ns. The plan lives in the arena.
MUST_CHECK bool retention_plan(const struct retention_rules *rules, const struct stored_list *runs,
                               int64_t now_ns, struct arena *arena, struct retention_plan *plan,
                               struct err *err);

#endif
