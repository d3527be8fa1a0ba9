// SPDX-License-Identifier: Apache-2.0
// Reads lines from a descriptor.
#include "server/cli/line_reader.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { READ_BYTES = 16384 };

// Waits for more bytes; false at the end, or when it was stopped.
static bool fill(struct line_reader *reader)
{
    char bytes[READ_BYTES];
    struct pollfd waits[2] = {{.fd = reader->fd, .events = POLLIN},
                              {.fd = reader->stop_fd, .events = POLLIN}};
    while (poll(waits, 2, -1) < 0)
        if (errno != EINTR)
            return false;
    if (waits[1].revents)
        return false;
    ssize_t got = read(reader->fd, bytes, sizeof bytes);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    buf_add(&reader->text, bytes, (size_t)got);
    return got > 0 && !reader->text.failed;
}

// Drops what was given out.
static void drop_used(struct line_reader *reader)
{
    size_t left = reader->text.len - reader->used;
    if (reader->used && left)
        memmove(reader->text.at, reader->text.at + reader->used, left);
    reader->text.len = left;
    reader->used = 0;
}

// The end of the input, if it is a line without an end.
static bool take_rest(struct line_reader *reader, struct str *line)
{
    *line = (struct str){reader->text.at, reader->text.len};
    reader->used = reader->text.len;
    return line->len > 0;
}

bool line_reader_next(struct line_reader *reader, struct str *line)
{
    bool too_long = false;
    drop_used(reader);
    for (size_t looked = 0;;) {
        char *end = reader->text.len > looked
                        ? memchr(reader->text.at + looked, '\n', reader->text.len - looked)
                        : NULL;
        if (end) {
            size_t len = (size_t)(end - reader->text.at);
            reader->used = len + 1;
            *line = too_long ? STR("") : (struct str){reader->text.at, len};
            return true;
        }
        looked = reader->text.len;
        if (looked > LINE_MAX_BYTES) {
            too_long = true;
            reader->text.len = looked = 0;
        }
        if (!fill(reader))
            return take_rest(reader, line);
    }
}

void line_reader_free(struct line_reader *reader)
{
    buf_free(&reader->text);
}
