// SPDX-License-Identifier: Apache-2.0
#include "server/care/progress.h"

#include "ingest/base/clock.h"

#include <unistd.h>

#define TELL_EVERY_NS INT64_C(1000000000)

bool progress_is_due(struct progress *progress)
{
    int64_t now_ns = clock_mono_ns();
    bool is_due = now_ns - progress->last_word_ns >= TELL_EVERY_NS;
    if (is_due)
        progress->last_word_ns = now_ns;
    return is_due;
}

void progress_end_line(const struct progress *progress)
{
    fputs(isatty(fileno(progress->out)) ? "\033[K\r" : "\n", progress->out);
    fflush(progress->out);
}
