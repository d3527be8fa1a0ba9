// SPDX-License-Identifier: Apache-2.0
// Logging with a single write per line, so that lines of several threads never mix.
#include "ingest/base/log.h"
#include "ingest/base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

PRINTF_LIKE(2, 0)
static void line(const char *level, const char *fmt, va_list args)
{
    char text[1024];
    char when[CLOCK_RFC3339_SIZE];
    clock_rfc3339(clock_wall_ns(), when);
    int used = snprintf(text, sizeof text, "%s %s ", when, level);
    size_t room = sizeof text - (size_t)used - 1;
    int len = vsnprintf(text + used, room, fmt, args);
    size_t end = (size_t)used + (len < 0 ? 0 : (size_t)len >= room ? room - 1 : (size_t)len);
    for (char *c = text + used; c < text + end; c++)
        if ((unsigned char)*c < 0x20)
            *c = ' '; // a name from outside must not forge a second line
    text[end++] = '\n';
    if (write(STDERR_FILENO, text, end) < 0)
        return; // nowhere left to say it
}

void log_info(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("info", fmt, args);
    va_end(args);
}

void log_warn(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("warn", fmt, args);
    va_end(args);
}

void log_error(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    line("error", fmt, args);
    va_end(args);
}
