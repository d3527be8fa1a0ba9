// SPDX-License-Identifier: Apache-2.0
// A sentence that grows piece by piece; what does not fit is cut.
#ifndef ANALYSIS_COMPARE_WORDS_H
#define ANALYSIS_COMPARE_WORDS_H

#include "ingest/base/err.h"
#include "ingest/base/str.h"

// Starts as {.len = 0}.
struct words {
    char text[1200];
    size_t len;
};

void words_say(struct words *words, const char *format, ...) PRINTF_LIKE(2, 3);

static inline struct str words_str(const struct words *words)
{
    return (struct str){words->text, words->len};
}

#endif
