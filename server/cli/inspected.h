// SPDX-License-Identifier: Apache-2.0
// What a file is and what is in it, found by reading it.
#ifndef SERVER_INSPECTED_H
#define SERVER_INSPECTED_H

#include "ingest/base/figures.h"
#include "ingest/file_parts.h"

struct inspected {
    const char *name;            // as given; for a member, its path in the archive
    const struct format *format; // NULL: unknown
    const struct format *layers[FORMAT_MAX_LAYERS]; // of compression, the outermost first
    unsigned layer_count;
    struct figures figures;
    struct err problem;               // why it is not read, or not to its end; ERR_NONE: no problem
    bool failed;                      // it could not be opened, or is damaged
    struct inspected *members, *next; // of an archive, in its order; of a folder, by name
    const char *verdict;              // on all members together, a sentence; NULL: none
    const char *tables;               // JSON of what it is based on; NULL: none
};

struct hang_dumps;

// Inspects a file; its errors are in *file. Flight Recorder dumps in an archive without traces are
// diagnosed together. Everything is allocated in the arena. False only if out
// of memory.
MUST_CHECK bool inspected_file(const char *path, uint64_t memory_bytes, struct arena *arena,
                               struct inspected *file, struct err *err);

// The same of one among others: Flight Recorder dumps in it are added to those, which also say how
// much memory there is, and diagnosed by the caller.
MUST_CHECK bool inspected_alone(const char *path, struct hang_dumps *dumps, struct inspected *file,
                                struct err *err);

// Why a file is not read, or not to its end, or that of the first damaged member of it; ERR_NONE:
// all could be read. Members that are something else than a trace are no failure.
enum err_code inspected_failure(const struct inspected *file);

#endif
