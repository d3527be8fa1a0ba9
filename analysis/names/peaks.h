// SPDX-License-Identifier: Apache-2.0
// What devices can do at most: a built-in table (peaks.tsv), and rows added by the user.
#ifndef ANALYSIS_PEAKS_H
#define ANALYSIS_PEAKS_H

#include "analysis/names/dtype.h"
#include "ingest/base/arena.h"

// One row; 0 if a figure is unknown.
struct peak {
    struct str device;              // start of the device's name, without "NVIDIA "
    int64_t memory_gib;             // only devices with this much memory; 0: any
    double tflops[PRECISION_COUNT]; // dense, 1e12 operations per second
    double tbps;                    // memory, 1e12 bytes per second
};

struct peaks {
    struct peak *rows;
    size_t count;
};

// The built-in file.
extern const struct str peaks_builtin;

// Reads a table; texts and rows live in arena. ERR_FORMAT names the line.
MUST_CHECK bool peaks_parse(struct str text, struct arena *arena, struct peaks *peaks,
                            struct err *err);

// Same for a file of at most 1 MiB.
MUST_CHECK bool peaks_read(const char *path, struct arena *arena, struct peaks *peaks,
                           struct err *err);

// The row whose name is the longest prefix of the device's, in whole words; the first one of
// equals. A part of a device (a slice of MIG, a partition) is only found by a row that names it.
// NULL if there is none, it has no figure, or there is no table. memory_bytes 0: unknown.
const struct peak *peaks_find(const struct peaks *peaks, struct str gpu, int64_t memory_bytes);

#endif
