// SPDX-License-Identifier: Apache-2.0
// Clocks.
#include "ingest/base/clock.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NS_PER_S 1000000000

static int64_t now_ns(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

int64_t clock_wall_ns(void)
{
    return now_ns(CLOCK_REALTIME);
}

int64_t clock_mono_ns(void)
{
    return now_ns(CLOCK_MONOTONIC);
}

void clock_rfc3339(int64_t wall_ns, char out[CLOCK_RFC3339_SIZE])
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    unsigned millis = (unsigned)(wall_ns % NS_PER_S / 1000000) % 1000;
    struct tm utc;
    char day[21] = "0000-00-00T00:00:00";
    if (gmtime_r(&seconds, &utc))
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(out, CLOCK_RFC3339_SIZE, "%.19s.%03uZ", day, millis);
}
