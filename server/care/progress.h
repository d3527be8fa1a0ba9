// SPDX-License-Identifier: Apache-2.0
// What a long command says while it works, once a second: one line that is written over on a
// terminal, else a line each.
#ifndef SERVER_PROGRESS_H
#define SERVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// {.out = ...}: it has said nothing yet.
struct progress {
    FILE *out;
    int64_t last_word_ns;
};

// Whether it is time to say something; then that is expected, and its end.
bool progress_is_due(struct progress *progress);
void progress_end_line(const struct progress *progress);

#endif
