// SPDX-License-Identifier: Apache-2.0
// Whether the clock can be believed when it says that runs are old enough to go.
#ifndef SERVER_RETENTION_H
#define SERVER_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

struct retention {
    int64_t believed_ns; // time of day, since 1970
    int64_t steady_ns;   // when that was, by the clock that nobody sets
    bool is_held;        // the clock has leapt
};

// believed_ns is what a process before this one believed last.
void retention_init(struct retention *retention, int64_t believed_ns, int64_t steady_ns);

// False while the time of day is more than a day ahead of where the steady clock would have it, so
// that somebody can set it right, or stop what deletes. What is believed catches up meanwhile, at
// least half a day in an hour; kept over restarts it does so on a machine, too, that never runs for
// a day. Asked again and again.
bool retention_may_delete(struct retention *retention, int64_t wall_ns, int64_t steady_ns);

// The time by which something is too old: that of day, while it is believed.
int64_t retention_clock_ns(const struct retention *retention, int64_t wall_ns, int64_t steady_ns);

#endif
