// SPDX-License-Identifier: Apache-2.0
// What a page without a server calls (web/standalone/worker.mjs).
#ifndef SERVER_STANDALONE_H
#define SERVER_STANDALONE_H

#include <stdint.h>

struct standalone;

struct standalone_answer {
    uint32_t status;
    const char *type;
    const char *body;
    uint32_t size; // of the body
};

// Analyzes files as the ranks of one run; each name ends with NUL, the list with an empty name.
// They must outlive the result. Files that cannot be read are reported on stderr; NULL: none could.
struct standalone *standalone_open(char *names);
void standalone_close(struct standalone *page);

// Answers GET of a path with its query. The answer is valid until the next call.
const struct standalone_answer *standalone_answer(struct standalone *page, const char *target);

#endif
