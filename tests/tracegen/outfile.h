// SPDX-License-Identifier: Apache-2.0
// An output file that takes text at memory speed and writes it plain, gzip or zstd compressed.
#pragma once

#include "tests/tracegen/respace.h"

#include <stddef.h>
#include <stdint.h>

enum outfile_format { OUTFILE_JSON, OUTFILE_GZ, OUTFILE_ZST };

struct outfile;

// Prints the message to stderr and ends the program with exit code 1.
_Noreturn void outfile_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Zeroed memory; ends the program if there is none.
void *outfile_memory(size_t count, size_t size);

// The caller ends it with outfile_close. Any write error ends the program. With a spacing other
// than SPACING_AS_WRITTEN the text must be JSON.
struct outfile *outfile_open(const char *path, enum outfile_format format, enum spacing spacing);

// Room for at least `size` bytes (at most 1 MiB); pass the end of what was written to
// outfile_commit before the next reservation.
char *outfile_reserve(struct outfile *out, size_t size);
void outfile_commit(struct outfile *out, const char *end);

// Bytes of text committed so far, including white space, before compression.
uint64_t outfile_text_bytes(const struct outfile *out);

void outfile_close(struct outfile *out);
