// SPDX-License-Identifier: Apache-2.0
// Sentences in a buffer of fixed size.
#include "analysis/compare/words.h"

#include <stdarg.h>
#include <stdio.h>

void words_say(struct words *words, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = sizeof words->text - words->len;
    int written = vsnprintf(words->text + words->len, room, format, args);
    va_end(args);
    if (written > 0)
        words->len += (size_t)written < room ? (size_t)written : room - 1;
}
