// SPDX-License-Identifier: Apache-2.0
// Compares the settable clock with the monotonic one.
#include "server/care/retention.h"

#include "ingest/base/log.h"

#define HOUR_NS ((int64_t)3600 * 1000000000)
#define DAY_NS  (24 * HOUR_NS)

#define LEAST_PAUSE_NS (HOUR_NS / 6)

#define CATCH_UP 12           // times the speed of real time, at least
#define PACE_NS  (2 * DAY_NS) // time in which all of it would be trusted at the current pace

void retention_init(struct retention *retention, int64_t believed_ns, int64_t steady_ns)
{
    *retention = (struct retention){.believed_ns = believed_ns, .steady_ns = steady_ns};
}

static void hold(struct retention *retention, int64_t leap_ns)
{
    if (!retention->is_held)
        log_warn("the clock is %lld hours ahead of the time that this service saw pass: until it "
                 "is believed nothing is deleted for its age; set the clock if it is wrong",
                 (long long)(leap_ns / HOUR_NS));
    retention->is_held = true;
}

// How much more is trusted after this long: the longer the jump, the more.
static int64_t catch_up(int64_t leap_ns, int64_t passed_ns)
{
    double share = (double)passed_ns / (double)PACE_NS;
    if (share >= 1)
        return leap_ns;
    int64_t part_ns = (int64_t)((double)leap_ns * share);
    return part_ns > passed_ns * CATCH_UP ? part_ns : passed_ns * CATCH_UP;
}

static int64_t leap_of(const struct retention *retention, int64_t wall_ns, int64_t passed_ns)
{
    return wall_ns - retention->believed_ns - passed_ns;
}

int64_t retention_pause_ns(int64_t took_ns)
{
    enum { SHARE = 100 };
    return took_ns * SHARE > LEAST_PAUSE_NS ? took_ns * SHARE : LEAST_PAUSE_NS;
}

int64_t retention_clock_ns(const struct retention *retention, int64_t wall_ns, int64_t steady_ns)
{
    int64_t passed_ns = steady_ns - retention->steady_ns;
    bool is_believed = leap_of(retention, wall_ns, passed_ns) <= DAY_NS;
    return is_believed ? wall_ns : retention->believed_ns + passed_ns;
}

bool retention_may_delete(struct retention *retention, int64_t wall_ns, int64_t steady_ns)
{
    int64_t passed_ns = steady_ns - retention->steady_ns;
    int64_t leap_ns = leap_of(retention, wall_ns, passed_ns);
    if (leap_ns <= DAY_NS) {
        retention_init(retention, wall_ns, steady_ns);
        return true;
    }
    hold(retention, leap_ns);
    int64_t more_ns = catch_up(leap_ns, passed_ns);
    retention->believed_ns += passed_ns + (more_ns < leap_ns ? more_ns : leap_ns);
    retention->steady_ns = steady_ns;
    return false;
}
