// SPDX-License-Identifier: Apache-2.0
// Captures that someone wants, as a file, so that a service which starts again still asks for them.
#ifndef SERVER_CAPTURE_FILE_H
#define SERVER_CAPTURE_FILE_H

#include "server/agents/known_agents.h"

MUST_CHECK bool capture_file_save(const char *path, const struct wanted_capture *captures,
                                  size_t count, struct err *err);

// How many there are; none of a file that is missing or damaged, which is no reason not to start.
size_t capture_file_load(const char *path, struct wanted_capture captures[AGENTS_MOST_CAPTURES]);

#endif
