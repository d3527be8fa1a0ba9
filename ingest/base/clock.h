// SPDX-License-Identifier: Apache-2.0
// Time of day and elapsed time in nanoseconds.
#ifndef INGEST_BASE_CLOCK_H
#define INGEST_BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_RFC3339_SIZE 25 // "2026-01-02T03:04:05.678Z" and its NUL

int64_t clock_wall_ns(void); // since 1970, UTC
int64_t clock_mono_ns(void); // for durations

// UTC with milliseconds.
void clock_rfc3339(int64_t wall_ns, char out[CLOCK_RFC3339_SIZE]);

#endif
