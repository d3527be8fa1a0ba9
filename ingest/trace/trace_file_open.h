// SPDX-License-Identifier: Apache-2.0
// An open trace file; a reader unpacks only the blocks it needs.
#ifndef INGEST_TRACE_TRACE_FILE_OPEN_H
#define INGEST_TRACE_TRACE_FILE_OPEN_H

#include "ingest/trace/trace_file_format.h"

struct trace_file;

// Opens the file, checks its header and where its blocks are; unpacks nothing. ERR_FORMAT if
// damaged, ERR_UNSUPPORTED if of another version, ERR_NOT_FOUND if it does not exist, ERR_IO. Not
// thread-safe.
MUST_CHECK struct trace_file *trace_file_open(const char *path, struct err *err);
// Same for a descriptor, which it takes over even on failure; name is for messages.
MUST_CHECK struct trace_file *trace_file_open_fd(int fd, const char *name, struct err *err);
void trace_file_close(struct trace_file *file); // NULL is allowed

const struct trace_file_header *trace_file_header(const struct trace_file *file);

// The number of elements in a section, and in one of its blocks (0 after the last).
uint64_t trace_file_count(const struct trace_file *file, enum section_id id);
size_t trace_file_block_count(const struct trace_file *file, enum section_id id, uint64_t block);

// Unpacks one block into room for its elements, whose values are not checked. ERR_FORMAT, ERR_IO.
MUST_CHECK bool trace_file_block(const struct trace_file *file, enum section_id id, uint64_t block,
                                 void *to, struct err *err);

// Unpacks a whole section into room for its elements.
MUST_CHECK bool trace_file_section(const struct trace_file *file, enum section_id id, void *to,
                                   struct err *err);

// Fails with "PATH is damaged: WHAT", ERR_FORMAT.
bool trace_file_damaged(const struct trace_file *file, const char *what, struct err *err);

#endif
