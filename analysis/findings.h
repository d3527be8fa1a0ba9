// SPDX-License-Identifier: Apache-2.0
// Rules that look for time which a step could save.
#ifndef ANALYSIS_FINDINGS_H
#define ANALYSIS_FINDINGS_H

#include "analysis/facts.h"
#include "analysis/time_text.h"

// What a rule looks at.
struct finding_case {
    const struct facts *facts;
    const struct report *report; // the tables so far
    struct arena *arena;         // for texts
    int64_t steps;               // steady steps, 1 or more
    int64_t step_ns;             // their mean
    const char *per;             // "per step", or "in the whole window" without step marks
};

// What it found. Texts live in the case's arena or are constant.
struct finding {
    const char *title;
    int64_t cost_ns; // per steady step, an upper bound
    const char *confidence;
    const char *severity; // NULL: by the cost's share of the step
    const char *evidence; // JSON array
    const char *advice;   // NULL: the rule's
};

struct finding_rule {
    const char *name;
    const char *why, *advice, *method, *false_alarms;
    // Sets *fires and, when it does, *finding.
    bool (*check)(const struct finding_case *the_case, bool *fires, struct finding *finding,
                  struct err *err);
};

// Thresholds, all in one place. Shares are of the mean steady step.
#define FINDING_STARVED_SHARE     0.05       // idle time waiting for the host
#define FINDING_EXPOSED_SHARE     0.05       // communication that nothing hides
#define FINDING_TINY_CALLS        20         // short compute kernels per step
#define FINDING_TINY_CALLS_SHARE  0.50       // of compute kernels are short
#define FINDING_TINY_SHARE        0.05       // short kernels and the waits for them
#define FINDING_TINY_WAIT_NS      100000     // of one wait at most: a launch takes no longer
#define FINDING_OVERLAP_SHARE     0.50       // of communication is hidden, below this it is low
#define FINDING_OVERLAP_COMM      0.05       // communication, below this overlap does not matter
#define FINDING_COPY_SHARE        0.01       // blocking copies and the waits behind them
#define FINDING_LEAK_HIGH_BYTES   1e8        // per step: severity high from here
#define FINDING_LEAK_MEDIUM_BYTES 1e6        // severity medium from here
#define FINDING_MEMORY_FULL_SHARE 0.92       // of a device's memory was reserved
#define FINDING_HEADROOM_SHARE    0.50       // of a device's memory was never reserved
#define FINDING_FRAGMENT_SHARE    0.20       // of reserved memory unused at the peak
#define FINDING_FRAGMENT_BYTES    1000000000 // the same in bytes
#define FINDING_HIGH_SHARE        0.20       // severity high from here
#define FINDING_MEDIUM_SHARE      0.05       // severity medium from here

extern const struct finding_rule finding_gpu_starved;
extern const struct finding_rule finding_tiny_kernels;
extern const struct finding_rule finding_exposed_communication;
extern const struct finding_rule finding_low_overlap;
extern const struct finding_rule finding_blocking_copies;
extern const struct finding_rule finding_memory_leak;
extern const struct finding_rule finding_memory_full;
extern const struct finding_rule finding_memory_headroom;
extern const struct finding_rule finding_memory_fragmentation;
extern const struct finding_rule finding_data_quality;

// A part of the step as percent, for titles and facts.
double findings_percent(const struct finding_case *the_case, int64_t ns);

// total per steady step as "12" or "12.5"; text has room for 32 bytes, which it returns.
const char *findings_per_step(const struct finding_case *the_case, int64_t total, char text[32]);

// [{"fact": fact, "href": href}] in the case's arena; NULL with ERR_LIMIT.
const char *findings_fact(const struct finding_case *the_case, const char *href, struct err *err,
                          const char *fact, ...) PRINTF_LIKE(4, 5);

#endif
