// SPDX-License-Identifier: Apache-2.0
// Lines of standard input, of bounded length, until its end or until someone else stops it.
#ifndef SERVER_LINE_READER_H
#define SERVER_LINE_READER_H

#include "ingest/base/buf.h"

#define LINE_MAX_BYTES ((size_t)256 * 1024)

struct line_reader {
    int fd, stop_fd; // stop_fd: readable once reading should end; -1 none
    struct buf text; // read, of which `used` was given out
    size_t used;
};

// The next line without its end; a longer one than LINE_MAX_BYTES is given as an empty one. False
// at the end, or when it was stopped. The line is valid until the next call.
bool line_reader_next(struct line_reader *reader, struct str *line);
void line_reader_free(struct line_reader *reader);

#endif
