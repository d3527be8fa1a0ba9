// SPDX-License-Identifier: Apache-2.0
// Whether the clock can be trusted when it says that runs are old enough to delete.
#ifndef SERVER_RETENTION_H
#define SERVER_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

struct retention {
    int64_t believed_ns; // time of day, since 1970
    int64_t steady_ns;   // when that was, by the monotonic clock
    bool is_held;        // the clock has jumped
};

// believed_ns is the last time trusted by an earlier process.
void retention_init(struct retention *retention, int64_t believed_ns, int64_t steady_ns);

// False while the time of day is more than a day ahead of what the monotonic clock implies, so that
// someone can correct it, or stop the deletion. The trusted time catches up meanwhile, at least
// half a day per hour; it is kept across restarts, so this also works on a machine that never runs
// for a day. Meant to be called repeatedly.
bool retention_may_delete(struct retention *retention, int64_t wall_ns, int64_t steady_ns);

// How long to wait after a look at all runs, which took so long: at least ten minutes, and long
// enough that looks take one percent of the time, however many runs there are.
int64_t retention_pause_ns(int64_t took_ns);

// The time used to decide what is too old: the time of day, while it is trusted.
int64_t retention_clock_ns(const struct retention *retention, int64_t wall_ns, int64_t steady_ns);

#endif
