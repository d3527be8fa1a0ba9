// SPDX-License-Identifier: Apache-2.0
// Times and counts for titles and sentences.
#ifndef ANALYSIS_TIME_TEXT_H
#define ANALYSIS_TIME_TEXT_H

#include <stdint.h>

struct time_text {
    char text[32];
};

// At least three significant digits, never an exponent: "1,234 ms", "11.7 ms", "0.25 ms"; below a
// tenth of a millisecond in microseconds, from ten seconds on in seconds, from ten minutes on in
// minutes, as on the pages: "1.76 us", "137 s".
struct time_text time_text(int64_t ns);

// The same in the unit of a shorter time beside it, where that takes at most four digits: "558 us"
// beside "20.1 us".
struct time_text time_text_beside(int64_t ns, int64_t other_ns);

struct count_text {
    char text[32];
};

// With commas between thousands: "3,928". For shares of a count also with decimals: "3,928.5".
struct count_text count_text(int64_t count);
struct count_text mean_text(double count, int decimals);

#endif
