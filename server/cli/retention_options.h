// SPDX-License-Identifier: Apache-2.0
// The retention rules as options of the service and of the dry run. Include options.h and
// retention_plan.h first.
#ifndef SERVER_RETENTION_OPTIONS_H
#define SERVER_RETENTION_OPTIONS_H

// Rows of an option table whose struct has its struct retention_rules at this offset.
// clang-format off
#define RETENTION_OPTIONS(at)                                                                      \
    {"--retain-days", "STEPSCOPE_RETAIN_DAYS", "0", "DAYS",                                        \
     "move older runs to the bin, except baselines; 0: keep all", NULL, OPTION_INT,                \
     (at) + offsetof(struct retention_rules, days)},                                               \
    {"--retain-size", "STEPSCOPE_RETAIN_SIZE", "0", "BYTES",                                       \
     "maximum size of runs outside the bin, the oldest move there; 0: no limit", NULL,             \
     OPTION_BYTES, (at) + offsetof(struct retention_rules, size_bytes)},                           \
    {"--retain-newest", "STEPSCOPE_RETAIN_NEWEST", "0", "COUNT",                                   \
     "newest runs of each series that are always kept", NULL, OPTION_INT,                          \
     (at) + offsetof(struct retention_rules, newest)},                                             \
    {"--retain-every", "STEPSCOPE_RETAIN_EVERY", "0", "DAYS",                                      \
     "interval in days: the first run of a series in each is kept at any age; 0: none", NULL,      \
     OPTION_INT, (at) + offsetof(struct retention_rules, every_days)},                             \
    {"--bin-days", "STEPSCOPE_BIN_DAYS", "30", "DAYS",                                             \
     "days that deleted runs stay in the bin, while the disk has room; 0: no bin", NULL,           \
     OPTION_INT, (at) + offsetof(struct retention_rules, bin_days)}
// clang-format on

#endif
