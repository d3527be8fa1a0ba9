// SPDX-License-Identifier: Apache-2.0
// Flight Recorder dumps among inspected files, and what they say together.
#ifndef SERVER_HANG_DUMPS_H
#define SERVER_HANG_DUMPS_H

#include "ingest/evidence/evidence.h"
#include "server/cli/inspected.h"

struct hang_dump_file {
    struct evidence evidence;
    struct inspected *seen;
    struct hang_dump_file *next;
};

struct hang_dumps {
    struct arena *arena;
    struct budget budget; // of all dumps together
    struct hang_dump_file *first, **last;
    size_t count;
};

void hang_dumps_init(struct hang_dumps *dumps, uint64_t memory_bytes, struct arena *arena);
void hang_dumps_free(struct hang_dumps *dumps);

// Whether files of the format are dumps.
bool hang_dumps_take(const struct format *format);

// Reads a dump, keeps it and reports its figures. The source stays the caller's.
MUST_CHECK bool hang_dumps_read(struct hang_dumps *dumps, struct inspected *seen,
                                struct source *source, struct err *err);

// Diagnoses what was read: the verdict, its tables and figures go to *file, and to the files of
// dumps why they are left out.
MUST_CHECK bool hang_dumps_diagnose(const struct hang_dumps *dumps, struct inspected *file,
                                    struct err *err);

#endif
